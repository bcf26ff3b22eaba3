/** The protocol between page and worker: the examples. */

import type { Outcome } from "./protocol.js";

/** The files of an example with a judge; its replies come without the questions. */
export interface JudgedExample {
  evalSet: string;
  actual: string;
  config: string;
  replies: string;
}

/** The worker's functions for examples. */
export interface Examples {
  /** The whole recording of an example. */
  recordingOf(example: JudgedExample): Promise<Outcome<string>>;
}
