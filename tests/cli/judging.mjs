// Evaluations with a judge on the command line: two cases, a judge of which one is wrong, and every provider on a loopback
// server.

import { baseUrl, startServer } from "../providers/server.mjs";
import { BARE, CLOCK, run } from "./command.mjs";

/** Signals and shell scripts are nothing for Windows. */
export const posix = { skip: process.platform === "win32" };

export const KEY = "key-that-nobody-may-see-4711";

/** The criteria of a config, with the options of the judge. */
export const judged = (options = {}, more = {}) => ({
  criteria: {
    final_response_match_v2: { threshold: 1, judge_model_options: { num_samples: 1, ...options } },
    ...more,
  },
});
/** The two cases, and a config whose metric asks the judge once in each. */
export const FILES = { ...CLOCK, "test_config.json": judged() };
export const ask = ["eval", "clock.evalset.json"];

const verdict = (isValid) =>
  JSON.stringify({ reasoning: "Compared.", is_the_agent_response_valid: isValid ? "valid" : "invalid" });
/** Finds the answer of `late` wrong. */
export const fair = ({ prompt }) => verdict(!prompt.includes("I do not know."));

/** A server that plays every provider, closed after the test. */
export async function server(t, options = {}) {
  const started = await startServer({ reply: fair, ...options });
  t.after(() => started.close());
  return started;
}

/** `evalId: status` of every case in results in ADK's schema. */
export const statuses = (json) =>
  Object.fromEntries(JSON.parse(json).eval_case_results.map((one) => [one.eval_id, one.final_eval_status]));
/** What a fair judge finds. */
export const FAIR = { noon: 1, late: 2 };

/** The environment in which a provider is the server. */
export const at = {
  gemini: ({ url }) => ({ GOOGLE_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url }),
  vertex: ({ url }) => ({
    GOOGLE_CLOUD_PROJECT: "clocks",
    GOOGLE_CLOUD_LOCATION: "europe-west1",
    GOOGLE_OAUTH_ACCESS_TOKEN: KEY,
    GOOGLE_VERTEX_BASE_URL: url,
  }),
  openai: ({ url }) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: baseUrl(url, "openai") }),
  anthropic: ({ url }) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
  ollama: ({ url }) => ({ OLLAMA_HOST: url }),
};

export const MODELS = {
  gemini: "gemini-2.5-pro",
  vertex: "gemini-2.5-pro",
  openai: "gpt-4.1-mini",
  anthropic: "claude-haiku-4-5",
  ollama: "llama3.2",
};

/** Runs with a judge; the results are those in ADK's schema on stdout. */
export const judge = (cwd, args, env) => run([...ask, ...args, "--format", "json"], { cwd, env: { ...BARE, ...env } });
