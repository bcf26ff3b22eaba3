/** The judges that the worker asks, by what the user chose. */

import {
  AdkMetricsError,
  type AdkMetricsErrorCode,
  anthropicJudge,
  geminiJudge,
  type Judge,
  type JudgeRequest,
  ollamaJudge,
  openaiJudge,
  replayJudge,
  vertexJudge,
  type VertexOptions,
} from "adk-metrics/web";
import type { JudgeChoice, PageJudge, ServiceChoice } from "./protocol.js";
import { present } from "./runs.js";

/**
 * Makes a judge; none where nobody is to be asked.
 *
 * @param inPage Asks the browser's own model, which only the page can reach.
 * @param fetch What stands in for the worker's `fetch`.
 */
export function judgeOf(choice: JudgeChoice, inPage?: PageJudge, fetch?: typeof globalThis.fetch): Judge | undefined {
  switch (choice.kind) {
    case "none":
      return undefined;
    case "recording":
      return replayJudge(choice.text);
    case "browser":
      return inPage === undefined ? undefined : askedInPage(inPage);
    default: {
      const { kind, model, baseUrl, apiKey, api, project, location, accessToken } = choice;
      const common = present({ model, baseUrl, fetch });
      switch (kind) {
        case "gemini":
          return geminiJudge({ apiKey: apiKey ?? "", ...common });
        case "anthropic":
          return anthropicJudge({ apiKey: apiKey ?? "", ...common });
        case "openai":
          return openaiJudge({ ...present({ api, apiKey }), ...common });
        case "ollama":
          return ollamaJudge({ ...present({ apiKey }), ...common });
        case "vertex":
          return vertexJudge({ ...present({ apiKey, project, location, accessToken }), ...common });
      }
    }
  }
}

/** The servers that a judge and the evaluation service are asked at. What the settings lack is thrown. */
export async function originsOf(judge: JudgeChoice, service?: ServiceChoice): Promise<string[]> {
  const found = await Promise.all([
    originOf(judge),
    ...(service === undefined ? [] : [originOf({ kind: "vertex", ...service })]),
  ]);
  return [...new Set(found.flatMap((origin) => origin ?? []))];
}

/** None if nothing leaves the page. */
async function originOf(choice: JudgeChoice): Promise<string | undefined> {
  if (choice.kind === "none" || choice.kind === "recording" || choice.kind === "browser") return undefined;
  let asked: string | undefined;
  const catching: typeof fetch = (input) => {
    asked = new URL(input instanceof Request ? input.url : input).origin;
    return Promise.reject(new Error("not sent"));
  };
  const judge = judgeOf(choice, undefined, catching);
  await judge?.(QUESTION, { signal: new AbortController().signal }).catch(() => {});
  return asked;
}

const QUESTION: JudgeRequest = {
  id: "0",
  metricName: "safety_v1",
  purpose: "score",
  invocationIndex: 0,
  stepIndex: 0,
  sampleIndex: 0,
  model: "model",
  prompt: "?",
};

/** What the service says to everything, in both forms that it has for scores. */
const SCORED = JSON.stringify({ metricResults: [{ score: 1 }], coherenceResult: { score: 1 } });

/**
 * A stand-in for Vertex AI's evaluation service that asks nobody.
 *
 * @param note Is told of each question: by its metric, as Vertex AI calls it, and the JSON that would be sent.
 */
export function serviceAnswering(note: (metric: string, body: string) => void): VertexOptions {
  return {
    apiKey: "none",
    fetch: async (_address, init) => {
      const body = String(init?.body);
      const { metrics } = JSON.parse(body) as { metrics?: { predefinedMetricSpec?: { metricSpecName?: string } }[] };
      // The one metric without a specification.
      note(metrics?.[0]?.predefinedMetricSpec?.metricSpecName ?? "response_evaluation_score", body);
      return new Response(SCORED, { headers: { "content-type": "application/json" } });
    },
  };
}

let calls = 0;

function askedInPage(inPage: PageJudge): Judge {
  return async (request, { signal }) => {
    const call = (calls += 1);
    const cancel = (): void => inPage.cancel(call);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const answer = await inPage.ask(call, request);
      if (answer.ok) return answer.value;
      const { code, message, help, retryable } = answer.problem;
      const known = code === "unexpected" ? "judge_failed" : (code satisfies AdkMetricsErrorCode);
      throw new AdkMetricsError(known, message, present({ help, retryable }));
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}
