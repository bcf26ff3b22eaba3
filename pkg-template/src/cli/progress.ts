import { shorten } from "../report/text.js";
import { paint } from "./process.js";

const WIDTH = 24;
const INTERVAL_MS = 80;

/** A bar on stderr, if that is a terminal. Runs that end at once never show it. */
export class ProgressBar {
  readonly #stream = process.stderr;
  #drawn = performance.now();
  #visible = false;

  /** Shows how far an evalset is. */
  update(name: string, done: number, total: number): void {
    const now = performance.now();
    if (!this.#stream.isTTY || now - this.#drawn < INTERVAL_MS) return;
    this.#drawn = now;
    this.#visible = true;
    const full = total === 0 ? WIDTH : Math.round((WIDTH * done) / total);
    const bar = "█".repeat(full) + paint(this.#stream, "dim", "░".repeat(WIDTH - full));
    const room = Math.max(0, this.#stream.columns - WIDTH - 24);
    this.#stream.write(`\r\u001b[2K${bar} ${done}/${total} ${shorten(name, room)}`);
  }

  /** Takes the bar away, so that something else can be written. */
  clear(): void {
    if (this.#visible) this.#stream.write("\r\u001b[2K");
    this.#visible = false;
  }
}
