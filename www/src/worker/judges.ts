/** The judges that the worker asks, by what the user chose. */

import {
  AdkMetricsError,
  type AdkMetricsErrorCode,
  anthropicJudge,
  geminiJudge,
  type Judge,
  judgeOrigin,
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
 */
export function judgeOf(choice: JudgeChoice, inPage?: PageJudge): Judge | undefined {
  switch (choice.kind) {
    case "none":
      return undefined;
    case "recording":
      return replayJudge(choice.text);
    case "browser":
      return inPage === undefined ? undefined : askedInPage(inPage);
    default: {
      const { kind, model, baseUrl, apiKey, api, project, location, accessToken } = choice;
      const common = present({ model, baseUrl });
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
export function originsOf(judge: JudgeChoice, service?: ServiceChoice): string[] {
  const found = [originOf(judge), ...(service === undefined ? [] : [originOf({ kind: "vertex", ...service })])];
  return [...new Set(found.flatMap((origin) => origin ?? []))];
}

/** None if nothing leaves the page. */
function originOf(choice: JudgeChoice): string | undefined {
  if (choice.kind === "none" || choice.kind === "recording" || choice.kind === "browser") return undefined;
  const judge = judgeOf(choice);
  return judge && judgeOrigin(judge);
}

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
