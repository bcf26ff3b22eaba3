// The two libraries behind one interface: agents with scripted models, behind each library's own model interface.

import { setTimeout as wait } from "node:timers/promises";
import * as google from "@google/adk";
import adkTs from "@iqai/adk";
import { z } from "zod";

export const USAGE = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
export const MODEL_MS = 20;
export const TOOL_MS = 40;

/** A model's reply that is a text. */
export const say = (text) => ({ role: "model", parts: [{ text }] });
/** A model's reply that calls tools. */
export const call = (...calls) => ({
  role: "model",
  parts: calls.map(([name, args]) => ({ functionCall: { name, args } })),
});

/** What a script sees: the user's last words, the tools' responses after them, and the system's instructions. */
function situation(request) {
  const contents = request.contents.filter(({ parts }) => parts?.length > 0);
  const responses = contents
    .at(-1)
    .parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));
  const texts = contents.filter(({ role }) => role === "user").flatMap(({ parts }) => parts.map(({ text }) => text));
  return {
    user: texts.filter((text) => text !== undefined && !/^(For context|\[)/.test(text)).at(-1),
    responses,
    turns: contents.length,
    system: String(request.config?.systemInstruction ?? ""),
  };
}

async function* replies(script, request, Response) {
  await wait(MODEL_MS);
  const content = await script(situation(request));
  yield new Response({ content, usageMetadata: USAGE, modelVersion: "scripted-1", turnComplete: true });
}

class AdkTsModel extends adkTs.BaseLlm {
  constructor(script) {
    super("scripted");
    this.script = script;
  }
  async *generateContentAsyncImpl(request) {
    yield* replies(this.script, request, adkTs.LlmResponse);
  }
}

class GoogleModel extends google.BaseLlm {
  constructor(script) {
    super({ model: "scripted" });
    this.script = script;
  }
  async *generateContentAsync(request) {
    yield* replies(this.script, request, Object);
  }
  connect() {
    throw new Error("not live");
  }
}

const CITY = z.object({ city: z.string().describe("A city") });

export const LIBRARIES = [
  {
    name: "@iqai/adk",
    agent: ({ script, ...config }) =>
      new adkTs.LlmAgent({ description: `The agent ${config.name}`, model: new AdkTsModel(script), ...config }),
    tool: (name, execute) =>
      adkTs.createTool({
        name,
        description: `The tool that is called ${name}`,
        schema: CITY,
        fn: async (args, context) => {
          await wait(TOOL_MS);
          return execute(args, context);
        },
      }),
    sequential: (name, subAgents) => new adkTs.SequentialAgent({ name, description: "One after another", subAgents }),
    parallel: (name, subAgents) => new adkTs.ParallelAgent({ name, description: "All at once", subAgents }),
    loop: (name, subAgents, maxIterations) =>
      new adkTs.LoopAgent({ name, description: "Again and again", subAgents, maxIterations }),
    runner: (agent) =>
      new adkTs.Runner({ appName: "own_app", agent, sessionService: new adkTs.InMemorySessionService() }),
    BaseAgent: adkTs.BaseAgent,
    // Its sub-agents do not see their own tools' responses once they begin a turn, and ask for them again and again.
    subAgentsBeginTurns: false,
  },
  {
    name: "@google/adk",
    agent: ({ script, ...config }) =>
      new google.LlmAgent({ description: `The agent ${config.name}`, model: new GoogleModel(script), ...config }),
    tool: (name, execute) =>
      new google.FunctionTool({
        name,
        description: `The tool that is called ${name}`,
        parameters: CITY,
        execute: async (args, context) => {
          await wait(TOOL_MS);
          return execute(args, context);
        },
      }),
    sequential: (name, subAgents) => new google.SequentialAgent({ name, description: "One after another", subAgents }),
    parallel: (name, subAgents) => new google.ParallelAgent({ name, description: "All at once", subAgents }),
    loop: (name, subAgents, maxIterations) =>
      new google.LoopAgent({ name, description: "Again and again", subAgents, maxIterations }),
    runner: (agent) =>
      new google.Runner({ appName: "own_app", agent, sessionService: new google.InMemorySessionService() }),
    BaseAgent: google.BaseAgent,
    subAgentsBeginTurns: true,
  },
];

/** The tool and the script of an agent that looks the weather up and says it. */
export const sky = ({ city }) => ({ sky: city === "Paris" ? "sunny" : "grey" });
export const weatherScript = ({ user, responses }) => {
  const city = /Paris|London/.exec(user)?.[0] ?? "nowhere";
  return responses.length === 0
    ? call(["get_weather", { city }])
    : say(`It is ${responses[0].response.sky} in ${city}.`);
};
export const weatherAgent = (library, config = {}) =>
  library.agent({
    name: "weather_agent",
    instruction: "Tell the weather.",
    tools: [library.tool("get_weather", sky)],
    script: weatherScript,
    ...config,
  });
