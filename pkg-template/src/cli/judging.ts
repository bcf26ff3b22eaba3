/** The judges of one command: made when a metric needs them, counted, and recorded with `--record`. */

import { EvalStatus } from "../enums.js";
import { provideEnvironment } from "../judges/default.js";
import { type Endpoint, endpointOf } from "../judges/endpoint.js";
import { recordJudge } from "../judges/index.js";
import { calibrationsText, judgesText, simulatorText } from "../report/usage.js";
import type { EvaluatorOptions, EvalSetResult, Judge, JudgeUsage } from "../types.js";
import type { Arguments } from "./arguments.js";
import { type JudgeChoice, JudgeMaker } from "./judge.js";
import { Mistake, Mistakes } from "./mistakes.js";
import { ExitStatus, note, noticeText, paint, warn } from "./process.js";
import { Recorder } from "./recorder.js";
import { isUnjudged, type Reach, Tally, VERTEX } from "./tally.js";

/** The options that limit what is spent. */
const LIMITS = ["max-calls", "max-tokens", "max-cost"] as const;

/** The options that are without effect where no judge is asked. */
export const FOR_JUDGES = ["judge", "model", "early-stop", "record", "cache", "batch", ...LIMITS] as const;

/** What has no effect, and why, in a sentence. */
export type Useless = Pick<Mistake, "message"> & Partial<Pick<Mistake, "location" | "help">>;

/** Which of these options are given and have no effect, if any. */
export function uselessIn(why: string, given: Arguments, names: readonly string[]): Useless[] {
  const useless = names.filter((name) => given.has(name)).map((name) => `--${name}`);
  const verb = useless.length === 1 ? "has" : "have";
  const message = `${why}, so ${new Intl.ListFormat("en").format(useless)} ${verb} no effect`;
  return useless.length === 0 ? [] : [{ message }];
}

/** The options for judges, where no metric asks one. */
export function uselessForJudges(given: Arguments, names: readonly string[] = []): Useless[] {
  // Custom metrics are as many at a time as --concurrency says, too.
  const others = given.has("metrics") ? names : [...names, "concurrency"];
  return uselessIn("no metric asks a judge", given, [...FOR_JUDGES, ...others]);
}

/** Warns of what has no effect. @throws {Mistakes} of it, with `--strict`. */
export function reportUseless(useless: readonly Useless[], given: Arguments): void {
  if (given.has("strict") && useless.length > 0) {
    throw new Mistakes(useless.map(({ message, ...details }) => new Mistake(message, details)));
  }
  for (const { message, location, help } of useless) warn(message, location, help);
}

/** What is between metrics and their judges. */
export interface Gatherer {
  /** Whether questions are gathered, so that no call counts. */
  readonly isGathering: boolean;
  judgeOf(judge: Judge): Judge;
}

/** Makes the judges, and says how their calls ended. */
export class Judging {
  /** What gathers the questions of batches. */
  gatherer: Gatherer | undefined;
  readonly #choice: JudgeChoice;
  readonly #maker: JudgeMaker;
  readonly #recorder: Recorder | undefined;
  readonly #tally = new Tally();
  readonly #watched = new Map<Judge, Judge>();

  /**
   * Provides the judges of this process. Must be made before the package is loaded, which would provide them itself.
   *
   * @param stop Ends the run, because a recording cannot continue.
   * @throws {Mistake} for a recording that cannot be read or written.
   */
  constructor(choice: JudgeChoice, stop: () => void) {
    this.#choice = choice;
    this.#maker = new JudgeMaker(choice);
    this.#recorder = choice.record === undefined ? undefined : new Recorder(choice.record, stop);
    provideEnvironment(
      (model) => this.#judgeFor(model),
      () => this.#maker.fixed,
    );
  }

  /** Loads the user's judge, if one is named. @throws {Mistake} if there is none. */
  async load(): Promise<void> {
    await this.#maker.load();
  }

  /** The endpoint of a batch's model. */
  endpointOf({ provider, model }: { provider: string; model: string }): Endpoint {
    const judge = this.#maker.judgeFor(`${provider.replace(/-responses$/, "")}/${model}`, false);
    const endpoint = endpointOf(judge);
    if (endpoint !== undefined) return endpoint;
    throw new Mistake("this judge does not support batches", { help: "Choose the judge that the batch was sent to" });
  }

  /** The folder that keeps replies from run to run, if one is named. */
  get cache(): string | undefined {
    return this.#choice.cache;
  }

  /** How many calls of judges were made. */
  get calls(): number {
    return this.#tally.calls;
  }

  /**
   * The options of an evaluation that are about judges.
   *
   * @throws {Mistake} that says what the environment lacks.
   */
  options(): Pick<EvaluatorOptions, "vertex"> {
    const vertex = this.#maker.evaluationService();
    return vertex === undefined ? {} : { vertex: this.#tally.watchVertex(vertex) };
  }

  /** What could not be recorded where it should be. */
  unrecorded(): Mistake[] {
    const failure = this.#recorder?.failure;
    return failure === undefined ? [] : [failure];
  }

  /**
   * Says on stderr what the judges did.
   *
   * @param isShown Whether the results on stdout say it themselves.
   * @param given The arguments, among which those for judges have no effect unless `asksJudges`.
   */
  report(results: readonly EvalSetResult[], isShown: boolean, given: Arguments, asksJudges: boolean): void {
    const text = judgesText(results);
    const users = simulatorText(results);
    for (const line of [text, calibrationsText(results), users]) if (line !== undefined && !isShown) note(line);
    if (!asksJudges && text === undefined) for (const { message } of uselessForJudges(given)) warn(message);
    if ((text ?? users) !== undefined) this.sayFree(given);
    const cached = results.reduce((sum, { judgeUsage }) => sum + (judgeUsage?.cached ?? 0), 0);
    if (this.#recorder !== undefined && this.cache !== undefined && cached > 0) {
      const were = cached === 1 ? "1 reply was in the cache, and is" : `${cached} replies were in the cache, and are`;
      warn(`${were} missing from the recording; to record every reply, leave out --cache`);
    }
    this.reportRecording();
  }

  /** Says on stderr which limits a recording leaves without effect. */
  sayFree(given: Arguments): void {
    if (this.#choice.replay === undefined) return;
    for (const { message } of uselessIn("a recording costs nothing", given, LIMITS)) note(message);
  }

  /** Reports on stderr whether the recording succeeded. */
  reportRecording(): void {
    if (this.#recorder?.isWritten === true) note(`recorded ${this.#recorder.file}`);
    else if (this.#recorder !== undefined && this.#recorder.failure === undefined) note("nothing was recorded");
  }

  /**
   * Which status the judges' failures end the command with, if any.
   *
   * @param isMerged Whether the calls are those of the results, which others made.
   * @param isIncomplete Whether a verdict is missing although a judge was to be asked.
   */
  failure(
    results: readonly EvalSetResult[],
    isMerged: boolean,
    isIncomplete = isUnjudged(results),
  ): ExitStatus | undefined {
    // The replies of batches are in the cache: they are reused, without a call.
    const hasBatches = this.gatherer !== undefined && results.some(({ judgeUsage }) => (judgeUsage?.cached ?? 0) > 0);
    const { isUnreached, who, lastFailure } = isMerged ? callsIn(results) : this.#tally.reach(advisoryIn(results));
    if (isUnreached && !hasBatches) {
      const { message = reasonIn(results), help } = lastFailure ?? {};
      const why = message === undefined ? "" : `: ${message}`;
      const text = { message: `no call of the ${who} got a reply${why}`, location: undefined, help };
      process.stderr.write(noticeText(paint(process.stderr, "red", "error:"), text));
      return ExitStatus.Unreached;
    }
    // The results warn of it.
    return isIncomplete ? ExitStatus.Failed : undefined;
  }

  #judgeFor(model: string): Judge {
    const asked = this.#maker.judgeFor(model);
    const judge = this.gatherer?.judgeOf(asked) ?? asked;
    if (this.gatherer?.isGathering === true) return judge;
    const known = this.#watched.get(judge);
    if (known !== undefined) return known;
    const recorder = this.#recorder;
    const recorded = recorder === undefined ? judge : recordJudge(judge, recorder);
    const isOwn = this.#choice.module !== undefined;
    const watched = this.#tally.watch(recorded, isOwn ? undefined : endpointOf(asked));
    this.#watched.set(judge, watched);
    return watched;
  }
}

/** The judged metrics that decide nothing; those of Vertex AI together, as `VERTEX`. */
function advisoryIn(results: readonly EvalSetResult[]): Set<string> {
  const deciding = new Set<string>();
  const advisory = new Set<string>();
  for (const { judges = [], advisory: names = [] } of results) {
    for (const { metricName, scoredBy } of judges) {
      const name = scoredBy === "vertex" ? VERTEX : metricName;
      (names.includes(metricName) ? advisory : deciding).add(name);
    }
  }
  for (const name of deciding) advisory.delete(name);
  return advisory;
}

/** Whether any of the calls that results count got a reply, and who was asked. */
function callsIn(results: readonly EvalSetResult[]): Reach {
  const ofUsers = results.flatMap(({ simulatorUsage }) => simulatorUsage ?? []);
  // A recording takes no call: what it has are reused replies, and what it lacks are lost samples.
  const lookups = ({ lost, unsent = 0 }: JudgeUsage) => lost - unsent;
  const ofJudges = results.flatMap(({ judgeUsage, judges = [], advisory = [] }) =>
    judgeUsage !== undefined &&
    (judgeUsage.calls > 0 || lookups(judgeUsage) > 0) &&
    !judges.every(({ metricName }) => advisory.includes(metricName))
      ? [judgeUsage]
      : [],
  );
  const replies = [
    ...ofUsers.flatMap(({ calls, answered }) => (calls > 0 ? [answered] : [])),
    ...ofJudges.map(({ calls, answered, cached }) => (calls > 0 ? answered : cached)),
  ];
  const isUnreached = replies.length > 0 && replies.every((amount) => amount === 0);
  return { isUnreached, who: ofJudges.length > 0 ? "judge" : "simulated user" };
}

/** Why the first missing result is missing. */
function reasonIn(results: readonly EvalSetResult[]): string | undefined {
  const metrics = results.flatMap(({ evalCaseResults }) =>
    evalCaseResults.flatMap((one) => one.overallEvalMetricResults),
  );
  return metrics.find((metric) => metric.evalStatus === EvalStatus.NOT_EVALUATED)?.reason;
}
