/** Work that can stop at each `yield`, so that the thread does something else before it goes on. */
export type Steps<T> = Generator<undefined, T, undefined>;

/**
 * How long the thread is kept at most before it is left to others, in milliseconds. With the current step
 * that makes 25 at most: a page may not be kept from painting for longer.
 */
const LONGEST_STRETCH = 20;

/** The time since the thread was last left to others. */
export class Stretch {
  #began = performance.now();

  /** Whether it is the turn of others. */
  get isOver(): boolean {
    return performance.now() - this.#began > LONGEST_STRETCH;
  }

  /** Leaves the thread to others, some turns of the event loop long. */
  async leave(turns = 1): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    this.#began = performance.now();
  }
}

/**
 * Waits for the next turn of the event loop, by a timer only where nothing else is there: browsers wait 4 ms for each timer
 * of a chain, and a second or more in a hidden tab.
 */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") {
      setImmediate(resolve);
    } else if (typeof MessageChannel === "function") {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        // An open port would keep the process.
        port1.close();
        resolve();
      };
      port2.postMessage(undefined);
    } else {
      setTimeout(resolve);
    }
  });
}

/** Does work to its end. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Does work to its end, and leaves the thread to others on the way. Undefined if it was cancelled meanwhile. */
export async function inTurns<T>(steps: Steps<T>, stretch?: Stretch): Promise<T>;
export async function inTurns<T>(steps: Steps<T>, stretch: Stretch, isCancelled: () => boolean): Promise<T | undefined>;
export async function inTurns<T>(
  steps: Steps<T>,
  stretch = new Stretch(),
  isCancelled = () => false,
): Promise<T | undefined> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (!stretch.isOver) continue;
    await stretch.leave();
    if (isCancelled()) return undefined;
  }
}

/** How many bytes are copied at a time. */
const COPIED_AT_ONCE = 2 ** 22;

/** Pieces of bytes as one. */
export function* joinedInSteps(pieces: readonly Uint8Array[]): Steps<Uint8Array> {
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  let next = COPIED_AT_ONCE;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
    if (at < next) continue;
    next = at + COPIED_AT_ONCE;
    yield;
  }
  return bytes;
}
