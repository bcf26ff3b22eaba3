// A real model behind OpenAI's chat protocol on loopback: SmolLM2-135M-Instruct, run by llama.cpp. Replies with a
// `json_schema` are decoded by a grammar made from it.

import { createServer } from "node:http";
import { getLlama, LlamaChatSession, LlamaLogLevel } from "node-llama-cpp";
import { expressible } from "./grammar.mjs";

/** The most tokens of a reply; a model this small repeats itself until it is stopped. */
const MOST_TOKENS = 200;

/**
 * Starts the server. Requests are answered one after the other.
 *
 * @param model Path of a model as GGUF.
 * @param threads How many threads compute.
 * @returns `baseUrl`, `ignoreSchemas`, which may be set, `replies`, whether a schema bound each of them, and `close()`.
 */
export async function serveModel(model, { threads = 1 } = {}) {
  const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: threads });
  const loaded = await llama.loadModel({ modelPath: model });
  const context = await loaded.createContext({ contextSize: 6144, threads });
  const sequence = context.getSequence();
  const served = { ignoreSchemas: false, replies: [] };

  /** A reply as OpenAI's API writes it. */
  async function complete({
    messages,
    response_format: format,
    max_tokens: most,
    temperature = 0,
    seed = served.replies.length + 1,
  }) {
    const schema = served.ignoreSchemas ? undefined : format?.json_schema?.schema;
    const grammar = schema && (await llama.createGrammarForJsonSchema(expressible(schema)));
    const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
    const asked = messages.filter(({ role }) => role !== "system").map(({ content }) => content);
    const session = new LlamaChatSession({
      contextSequence: sequence,
      systemPrompt: system.join("\n"),
      autoDisposeSequence: false,
    });
    const { responseText, stopReason } = await session.promptWithMeta(asked.join("\n"), {
      grammar,
      // The grammar ends a reply with a schema.
      maxTokens: grammar ? undefined : Math.min(most ?? MOST_TOKENS, MOST_TOKENS),
      temperature,
      seed,
      trimWhitespaceSuffix: true,
    });
    session.dispose();
    served.replies.push(grammar !== undefined);
    const [inputTokens, outputTokens] = [asked.join("\n"), responseText].map((text) => loaded.tokenize(text).length);
    return {
      object: "chat.completion",
      model: "SmolLM2-135M-Instruct.Q4_1",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: responseText },
          finish_reason: stopReason === "maxTokens" ? "length" : "stop",
        },
      ],
      usage: {
        prompt_tokens: inputTokens,
        completion_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
      },
    };
  }

  let last = Promise.resolve();
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.url !== "/v1/chat/completions") return answer(404, { error: { message: `no ${request.url}` } });
    last = last
      .then(() => complete(JSON.parse(Buffer.concat(chunks).toString())))
      .then((body) => answer(200, body))
      .catch((error) => answer(400, { error: { message: error.message } }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  served.baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  served.close = async () => {
    server.close();
    server.closeAllConnections();
    await llama.dispose();
  };
  return served;
}
