import { count, defused, oneLine, shorten } from "../report/text.js";
import type { JudgeProgress, Progress } from "../types.js";
import { paint } from "./process.js";
import { usageText } from "./tally.js";

const WIDTH = 24;
const INTERVAL_MS = 80;
/** A judge may take long for its first reply. */
const WAITING_MS = 500;
/** How long calls may fail without a reply before that is reported, and how often it is. */
const FAILING_MS = 1000;
const TELL_AGAIN_MS = 60_000;
/** Characters of a failure that are shown. */
const LONGEST_FAILURE = 500;

/** A bar on stderr, if that is a terminal. Runs that end at once never show it. */
export class ProgressBar {
  readonly #stream = process.stderr;
  #drawn = performance.now();
  #visible = false;

  #waiting: NodeJS.Timeout | undefined;
  /** Since when no call was answered, and when that may be told again. */
  #failingSince: number | undefined;
  #silentUntil = 0;

  /** Shows, until there is more to show, that an evalset waits for replies. */
  begin(name: string, calls: () => number): void {
    this.clear();
    if (!this.#stream.isTTY) return;
    const before = calls();
    this.#waiting = setInterval(() => {
      const made = calls() - before;
      if (made > 0) this.#draw(0, [count(made, "call"), "waiting for the first reply", name]);
    }, WAITING_MS);
  }

  /** Shows how far an evalset is, and what its judges did. */
  update(name: string, { done, total, judge }: Progress): void {
    clearInterval(this.#waiting);
    const now = performance.now();
    if (judge !== undefined) this.#tellFailure(judge, now);
    if (!this.#stream.isTTY || now - this.#drawn < INTERVAL_MS) return;
    this.#drawn = now;
    const parts = [`${done}/${total}`, name];
    if (judge !== undefined) {
      parts.splice(1, 0, `${usageText(judge)}${judge.leftMs === undefined ? "" : `, ${leftText(judge.leftMs)}`}`);
    }
    this.#draw(total === 0 ? 1 : done / total, parts);
  }

  /** Takes the bar away, so that something else can be written. */
  clear(): void {
    clearInterval(this.#waiting);
    if (this.#visible) this.#stream.write("\r\u001b[2K");
    this.#visible = false;
  }

  /** Says why there is no progress while failed calls are retried. */
  #tellFailure({ lastFailure, answered }: JudgeProgress, now: number): void {
    if (lastFailure === undefined) {
      this.#failingSince = undefined;
      return;
    }
    this.#failingSince ??= now;
    if (now - this.#failingSince < FAILING_MS || now < this.#silentUntil) return;
    this.#silentUntil = now + TELL_AGAIN_MS;
    const where = this.#stream.isTTY ? "\r\u001b[2K" : "";
    const since = answered === 0 ? "no call has been answered yet" : "no call has been answered recently";
    const why = defused(shorten(oneLine(lastFailure), LONGEST_FAILURE));
    this.#stream.write(`${where}${since}; the last one failed: ${why}\n`);
  }

  #draw(share: number, parts: readonly string[]): void {
    this.#visible = true;
    const full = Math.round(WIDTH * share);
    const bar = "█".repeat(full) + paint(this.#stream, "dim", "░".repeat(WIDTH - full));
    const room = Math.max(0, this.#stream.columns - WIDTH - 2);
    this.#stream.write(`\r\u001b[2K${bar} ${defused(shorten(parts.join(" · "), room))}`);
  }
}

/** `40 s left`, `12 min left`. */
function leftText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 100 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`;
}
