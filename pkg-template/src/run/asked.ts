import type { EngineError } from "../generated/contract.js";
import type { JudgeReply } from "../types.js";

/** The most replies that are kept for questions of the same run. */
const MOST_REPLIES = 10_000;

/** The warning that replies were forgotten. */
export const FORGOTTEN: EngineError = {
  code: "limit_exceeded",
  message: `more than ${MOST_REPLIES.toLocaleString("en")} questions were asked, and only the latest replies are kept: a question identical to an older one is asked and paid for again`,
  help: "Pass a larger `cache`, such as memoryCache({ maxEntries: 100_000 }), or --cache on the command line",
};

/** The questions of one run that were put to a judge, so that none is asked twice. */
export class AskedQuestions {
  /** The reply to each, oldest first; undefined if there is none, so that it is asked again. */
  readonly #replies = new Map<string, Promise<JudgeReply | undefined>>();

  /** Whether replies were given up to make room for newer ones: their questions would be asked again. */
  hasForgotten = false;

  /** The reply to a question that was asked, once it is there; undefined for one that was not asked. */
  get(question: string): Promise<JudgeReply | undefined> | undefined {
    return this.#replies.get(question);
  }

  /**
   * Notes that a question is asked, until its signal aborts: judges need not listen to it.
   *
   * @returns Takes the reply; undefined if it may be asked again.
   */
  begin(question: string, signal: AbortSignal): (reply: JudgeReply | undefined) => void {
    let settle!: (reply: JudgeReply | undefined) => void;
    const reply = new Promise<JudgeReply | undefined>((resolve) => (settle = resolve));
    this.#replies.set(question, reply);
    const [oldest] = this.#replies.size > MOST_REPLIES ? this.#replies.keys() : [];
    if (oldest !== undefined) {
      this.#replies.delete(oldest);
      this.hasForgotten = true;
    }
    const end = (found: JudgeReply | undefined): void => {
      if (found === undefined && this.#replies.get(question) === reply) this.#replies.delete(question);
      settle(found);
    };
    signal.addEventListener("abort", () => end(undefined), { once: true });
    return end;
  }
}
