/** What agents did, in the forms that the engine reads. */

import { withoutLines } from "./result-lines.js";
import { withoutTraceFormat } from "./traces.js";

/** Converts traces and results as JSON lines; other files are returned as they are. */
export async function readableActual(bytes: Uint8Array): Promise<Uint8Array> {
  return withoutTraceFormat(withoutLines(bytes));
}
