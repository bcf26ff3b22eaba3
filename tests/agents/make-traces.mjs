// Runs agents of both libraries with scripted models and writes what their own telemetry exports, and their sessions,
// for the tests in ../interop: `node make-traces.mjs`.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { JsonTraceSerializer } from "@opentelemetry/otlp-transformer";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { call, LIBRARIES, say, sky } from "./libraries.mjs";

const folder = fileURLToPath(new URL("../interop/traces/", import.meta.url));
mkdirSync(folder, { recursive: true });

const CONVERSATIONS = { paris: ["Weather in Paris?", "And in London and Oslo?"], bill: ["I want to pay my bill."] };

const exporter = new InMemorySpanExporter();
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));

const script =
  (transfer) =>
  ({ user, responses }) => {
    if (user.includes("bill")) return call(["transfer_to_agent", { [transfer]: "billing" }]);
    const cities = ["Paris", "London", "Oslo"].filter((city) => user.includes(city));
    if (responses.length === 0) return call(...cities.map((city) => ["get_weather", { city }]));
    return say(`It is ${responses.map(({ response }, at) => `${response.sky} in ${cities[at]}`).join(" and ")}.`);
  };

for (const library of LIBRARIES) {
  const name = library.name === "@google/adk" ? "google-adk-js" : "adk-ts";
  await record(library, name);
  if (library.name !== "@google/adk") continue;
  process.env.ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS = "false";
  await record(library, `${name}-no-content`);
  delete process.env.ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS;
}

async function record(library, name) {
  exporter.reset();
  const agent = library.agent({
    name: "weather",
    instruction: "Tell the weather.",
    tools: [library.tool("get_weather", sky)],
    subAgents: [
      library.agent({ name: "billing", instruction: "Say the sum.", script: () => say("You owe 12 euros.") }),
    ],
    script: script(library.name === "@google/adk" ? "agentName" : "agent_name"),
  });
  const runner = library.runner(agent);
  const key = (sessionId) =>
    library.name === "@google/adk"
      ? [{ appName: "own_app", userId: "user", sessionId }]
      : ["own_app", "user", sessionId];
  const sessions = [];
  for (const [sessionId, messages] of Object.entries(CONVERSATIONS)) {
    if (library.name === "@google/adk") await runner.sessionService.createSession(...key(sessionId));
    else await runner.sessionService.createSession("own_app", "user", {}, sessionId);
    for (const text of messages) {
      const newMessage = { role: "user", parts: [{ text }] };
      for await (const _ of runner.runAsync({ userId: "user", sessionId, newMessage }));
    }
    sessions.push(await runner.sessionService.getSession(...key(sessionId)));
  }
  const request = JsonTraceSerializer.serializeRequest(exporter.getFinishedSpans());
  writeFileSync(join(folder, `${name}.json`), request);
  if (!name.endsWith("-no-content")) {
    writeFileSync(join(folder, `${name}.session.json`), `${JSON.stringify(sessions, null, 1)}\n`);
  }
}
