/** The official SDKs, each called with one of this folder's cases. */
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";
import OpenAI from "openai";
import { baseUrl } from "./server.mjs";

/** A call of each SDK to a server: `(url, endpoint, parameters) => the text of the reply`. */
export const SDKS = {
  async gemini(url, { apiKey }, params) {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
    return (await client.models.generateContent(params)).text;
  },
  async vertex(url, { apiKey, bearer, project, location }, params) {
    const authClient = { getRequestHeaders: async () => new Headers({ authorization: `Bearer ${bearer}` }) };
    const identity = apiKey ? { apiKey } : { project, location, googleAuthOptions: { authClient } };
    const client = new GoogleGenAI({ vertexai: true, ...identity, httpOptions: { baseUrl: url } });
    return (await client.models.generateContent(params)).text;
  },
  async openai(url, { apiKey }, params) {
    const client = new OpenAI({ apiKey, baseURL: baseUrl(url, "openai"), maxRetries: 0 });
    return (await client.chat.completions.create(params)).choices[0].message.content;
  },
  async "openai-responses"(url, { apiKey }, params) {
    const client = new OpenAI({ apiKey, baseURL: baseUrl(url, "openai-responses"), maxRetries: 0 });
    return (await client.responses.create(params)).output_text;
  },
  async anthropic(url, { apiKey, inBrowser }, params) {
    const options = { apiKey, baseURL: url, maxRetries: 0, dangerouslyAllowBrowser: inBrowser };
    return (await new Anthropic(options).messages.create(params)).content.find(({ type }) => type === "text").text;
  },
  async ollama(url, _endpoint, params) {
    return (await new Ollama({ host: url }).chat(params)).message.content;
  },
};
