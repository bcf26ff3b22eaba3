// What a sample finds in place of the world, loaded before it: providers of models are played by a loopback server, and
// nothing else can be reached. `__sample` writes down what lines with an arrow come to.

import { appendFileSync } from "node:fs";
import { format, inspect } from "node:util";

const { SAMPLE_MODELS, SAMPLE_SHOWN } = process.env;

const PROVIDERS = [
  "https://generativelanguage.googleapis.com",
  "https://aiplatform.googleapis.com",
  "https://api.openai.com",
  "https://api.anthropic.com",
  "http://127.0.0.1:11434",
];

const reach = globalThis.fetch;
globalThis.fetch = async (resource, init) => {
  const asked = resource instanceof Request ? resource : undefined;
  const url = new URL(asked?.url ?? resource);
  if (url.protocol === "data:") return reach(resource, init);
  const isProvider = PROVIDERS.includes(url.origin) || url.hostname.endsWith("-aiplatform.googleapis.com");
  if (!isProvider && !["127.0.0.1", "localhost"].includes(url.hostname)) {
    throw new TypeError(`fetch failed: samples cannot reach ${url.origin}`);
  }
  const there = isProvider ? new URL(url.pathname + url.search, SAMPLE_MODELS) : url;
  return reach(asked ? new Request(there, asked) : there, init);
};

const note = (line, text) => appendFileSync(SAMPLE_SHOWN, `${JSON.stringify([line, text])}\n`);

globalThis.__sample = (line, value) => note(line, inspect(value, { depth: 10, breakLength: Infinity }));
globalThis.__sample.log = (line, ...values) => {
  note(line, format(...values));
  console.log(...values);
};
