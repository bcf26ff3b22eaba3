import { type NoOptions, refuseOptions } from "../known-options.js";
import { isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import type { Judge, JudgeRequest } from "../types.js";
import { failureOf } from "./failure.js";
import { checkJudge, identityOf, makeJudge, makesJudges } from "./judge.js";
import { replyOf } from "./reply.js";
import { isUnsent, markUnsent } from "./unsent.js";
import { definedProperties } from "../lists.js";

/** A judge of a panel. */
export interface PanelMember {
  /** What results call it. */
  name: string;
  judge: Judge;
}

/**
 * A judge that is several of them, from two to nine. Each is asked as many samples of a question as `num_samples` says. The
 * majority of all samples decides, or the median where they are grades; `hallucinations_v1` asks the first one alone. Voting
 * ends as soon as the missing samples cannot change the verdict, those of a judge that fails too.
 *
 * ```ts
 * const judge = panelJudge([openaiJudge({ apiKey, model: "gpt-6-luna" }), ollamaJudge({ model: "llama3.2" })]);
 * ```
 *
 * @throws {AdkMetricsError} `invalid_input` for anything else than judges that can be told apart, by models or names.
 */
export const panelJudge = /* @__PURE__ */ makesJudges(
  "panelJudge",
  (judges: readonly Judge[], options?: NoOptions): Judge => {
    refuseOptions(options);
    const given = reading("judges", () => (Array.isArray(judges) ? [...(judges as readonly Judge[])] : []));
    if (given.length < 2 || given.length > 9) {
      const { message, path = "judges" } = unexpected("a list of two to nine judges", judges, "judges");
      const counted = Array.isArray(judges) ? `expected two to nine judges, found ${given.length}` : message;
      throw new AdkMetricsError("invalid_input", counted, { path });
    }
    const members = given.map((judge, at): PanelMember => {
      checkJudge(judge, `judges[${at}]`);
      const { panel, model, functionName } = identityOf(judge);
      const name = panel === undefined ? model || functionName : undefined;
      if (name) return { name, judge };
      throw new AdkMetricsError(
        "invalid_input",
        "a judge of a panel needs a `model` of its own, and a function a name",
        {
          path: `judges[${at}]`,
          help: "To ask one judge for several models, list them as `judge_models` in the criterion instead",
        },
      );
    });
    return panelOf(members);
  },
);

/** @throws {AdkMetricsError} `invalid_input` if two have the same name. */
export function panelOf(members: readonly PanelMember[]): Judge {
  const panel = members.map(({ name }) => name);
  const twice = panel.find((name, at) => panel.indexOf(name) < at);
  if (twice !== undefined) {
    throw new AdkMetricsError("invalid_input", `two judges of the panel have the name ${twice}`, {
      help: "For more replies of the same model, set `num_samples`",
    });
  }
  const identities = members.map(({ judge }) => identityOf(judge));
  const identity = {
    model: panel.join(", "),
    panel,
    members,
    label: `panel of ${identities.map(({ label = "" }) => label).join(", ")}`,
    isReplay: identities.every(({ isReplay }) => isReplay === true),
    hasFunction: identities.some(({ hasFunction }) => hasFunction === true),
    variant: { panel: identities.map(({ variant = {} }) => variant) },
    notSent: (settings: object) => [...new Set(identities.flatMap(({ notSent }) => notSent?.(settings) ?? []))],
  };
  return makeJudge(identity, async (request, signal) => {
    const { name, judge } = members[request.sampleIndex % members.length] as PanelMember;
    try {
      const addressed: JudgeRequest = { ...request, model: identityOf(judge).model ?? name };
      return replyOf(await judge(addressed, { signal }));
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = ofMember(name, error);
      throw isUnsent(error) ? markUnsent(failure) : failure;
    }
  });
}

/** The failure of one of several, with its name. */
function ofMember(name: string, cause: unknown): AdkMetricsError {
  const { code, message, help, status, retryable, retryAfterMs } = failureOf(cause, name);
  return new AdkMetricsError(code, message.startsWith(name) ? message : `${name}: ${message}`, {
    retryable: isObject(cause) && retryable === true,
    ...definedProperties({ help, status, retryAfterMs }),
    cause,
  });
}
