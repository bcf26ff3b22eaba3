import { shorten } from "../report/text.js";
import type { Progress } from "../types.js";
import { paint } from "./process.js";
import { usageText } from "./tally.js";

const WIDTH = 24;
const INTERVAL_MS = 80;

/** A bar on stderr, if that is a terminal. Runs that end at once never show it. */
export class ProgressBar {
  readonly #stream = process.stderr;
  #drawn = performance.now();
  #visible = false;

  /** Shows how far an evalset is, and what its judges did. */
  update(name: string, { done, total, judge }: Progress): void {
    const now = performance.now();
    if (!this.#stream.isTTY || now - this.#drawn < INTERVAL_MS) return;
    this.#drawn = now;
    this.#visible = true;
    const full = total === 0 ? WIDTH : Math.round((WIDTH * done) / total);
    const bar = "█".repeat(full) + paint(this.#stream, "dim", "░".repeat(WIDTH - full));
    const parts = [`${done}/${total}`, name];
    if (judge !== undefined) {
      parts.splice(1, 0, `${usageText(judge)}${judge.leftMs === undefined ? "" : `, ${leftText(judge.leftMs)}`}`);
    }
    const room = Math.max(0, this.#stream.columns - WIDTH - 2);
    this.#stream.write(`\r\u001b[2K${bar} ${shorten(parts.join(" · "), room)}`);
  }

  /** Takes the bar away, so that something else can be written. */
  clear(): void {
    if (this.#visible) this.#stream.write("\r\u001b[2K");
    this.#visible = false;
  }
}

/** `40 s left`, `12 min left`. */
function leftText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  return seconds < 100 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`;
}
