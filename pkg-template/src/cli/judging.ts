/** The judges of one run of the command: made when a metric needs them, watched, and recorded if asked to. */

import { EvalStatus } from "../enums.js";
import { provideEnvironment } from "../judges/default.js";
import { recordJudge } from "../judges/index.js";
import { calibrationsText, judgesText, simulatorText } from "../report/judged.js";
import { count } from "../report/text.js";
import type { EvaluatorOptions, EvalSetResult, Judge } from "../types.js";
import type { Arguments } from "./arguments.js";
import { type JudgeChoice, JudgeMaker } from "./judge.js";
import type { Mistake } from "./mistakes.js";
import { ExitStatus, note, noticeText, paint, warn } from "./process.js";
import { Recorder } from "./recorder.js";
import { Tally, unjudged } from "./tally.js";

/** The options that are without effect where nobody is asked. */
const FOR_JUDGES = ["judge", "model", "record", "cache", "max-calls", "max-tokens", "max-cost"] as const;

/** Who answers the questions of metrics, and what came of it. */
export class Judging {
  readonly #choice: JudgeChoice;
  readonly #maker: JudgeMaker;
  readonly #recorder: Recorder | undefined;
  readonly #tally = new Tally();
  readonly #watched = new Map<Judge, Judge>();

  /**
   * Becomes the source of judges of this process; to be made before the package is loaded, which would become it itself.
   *
   * @param stop Ends the run, since a recording cannot go on.
   * @throws {Mistake} for a recording that cannot be read or written.
   */
  constructor(choice: JudgeChoice, stop: () => void) {
    this.#choice = choice;
    this.#maker = new JudgeMaker(choice);
    this.#recorder = choice.record === undefined ? undefined : new Recorder(choice.record, stop);
    provideEnvironment((model) => this.#judgeFor(model));
  }

  /** Loads the judge of the user's own, if one is named. @throws {Mistake} if there is none. */
  async load(): Promise<void> {
    await this.#maker.load();
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
   * What the options of an evaluation say of it.
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
   * @param given What the command was given that is for judges.
   */
  report(results: readonly EvalSetResult[], isShown: boolean, given: Arguments): void {
    const text = judgesText(results);
    const users = simulatorText(results);
    for (const line of [text, calibrationsText(results), users]) if (line !== undefined && !isShown) note(line);
    const unused = FOR_JUDGES.filter((name) => given.has(name)).map((name) => `--${name}`);
    if (text === undefined && users === undefined && unused.length > 0) {
      note(`no metric asked a judge, so ${new Intl.ListFormat("en").format(unused)} had no effect`);
    }
    const cached = results.reduce((sum, { judgeUsage }) => sum + (judgeUsage?.cached ?? 0), 0);
    if (this.#recorder !== undefined && this.cache !== undefined && cached > 0) {
      const were = cached === 1 ? "1 reply was in the cache, and is" : `${cached} replies were in the cache, and are`;
      warn(`${were} not in the recording: without the cache it would have all`);
    }
    this.reportRecording();
  }

  /** Says on stderr what became of the recording. */
  reportRecording(): void {
    if (this.#recorder?.isWritten === true) note(`recorded ${this.#recorder.file}`);
    else if (this.#recorder !== undefined && this.#recorder.failure === undefined) note("nothing was recorded");
  }

  /** Which status the judges' failures end the command with, if any; says so on stderr. */
  failure(results: readonly EvalSetResult[]): ExitStatus | undefined {
    if (this.#tally.isUnreached) {
      const { message = reasonIn(results), help } = this.#tally.lastFailure ?? {};
      const why = message === undefined ? "" : `: ${message}`;
      const text = { message: `no call of the judge got a reply${why}`, location: undefined, help };
      process.stderr.write(noticeText(paint(process.stderr, "red", "error:"), text));
      return ExitStatus.Unreached;
    }
    const missing = unjudged(results);
    if (missing === 0) return undefined;
    warn(`${count(missing, "result")} of judged metrics could not be evaluated, since calls failed`);
    return ExitStatus.Failed;
  }

  #judgeFor(model: string): Judge {
    const judge = this.#maker.judgeFor(model);
    const known = this.#watched.get(judge);
    if (known !== undefined) return known;
    const recorder = this.#recorder;
    const recorded = recorder === undefined ? judge : recordJudge(judge, recorder);
    const watched = this.#tally.watch(recorded);
    this.#watched.set(judge, watched);
    return watched;
  }
}

/** Why the first result that is missing is. */
function reasonIn(results: readonly EvalSetResult[]): string | undefined {
  const metrics = results.flatMap(({ evalCaseResults }) =>
    evalCaseResults.flatMap((one) => one.overallEvalMetricResults),
  );
  return metrics.find((metric) => metric.evalStatus === EvalStatus.NOT_EVALUATED)?.reason;
}
