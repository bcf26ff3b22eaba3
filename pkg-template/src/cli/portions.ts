/** Results that are too large to be read at once are scored some cases at a time. */

import { casesOf } from "../compare/pieces.js";
import { concatenated, LARGE_BYTES } from "../result-lines.js";
import { isObject } from "../engine/values.js";
import type { EvalSetResult } from "../types.js";
import { readPieces, sizeOf } from "./files.js";
import type { Input } from "./inputs.js";
import { Mistake } from "./mistakes.js";

/** About how many bytes of cases are scored at once. */
const PORTION_BYTES = 32 * 1024 * 1024;

const NAME = "file of what the agent did";

/** Whether a file is one of results, in ADK's schema, that is to be scored in portions. */
export function isLargeResults(file: string): boolean {
  if (sizeOf(file) <= LARGE_BYTES) return false;
  const [first] = casesOf(beginning(file), []);
  return first !== undefined;
}

/** The beginning of a file, up to and with the first case: enough to tell results from traces. */
function* beginning(file: string): Generator<Uint8Array> {
  let size = 0;
  for (const piece of readPieces(file, NAME)) {
    yield piece;
    size += piece.length;
    if (size >= PORTION_BYTES) return;
  }
}

/**
 * The portions of an evalset whose actual conversations are large results. Each has some of their cases; the last one has the
 * cases of the evalset that they lack.
 *
 * @param ids The ids of the cases that are to be scored.
 * @throws {Mistake} at the end, for what is not complete JSON.
 */
export function* portionsOf(input: Input, file: string, ids: readonly string[]): Generator<Input> {
  const left = new Set(ids);
  const selected: ReadonlySet<string> = new Set(ids);
  const rest: Uint8Array[] = [];
  let cases: Uint8Array[] = [];
  let evalIds = new Set<string>();
  let size = 0;
  let firstCase = 0;
  const portion = (): Input => {
    const separated = cases.flatMap((one, at) => (at === 0 ? [one] : [SEPARATOR, one]));
    const own = [...evalIds].filter((id) => selected.has(id));
    return {
      ...input,
      files: { ...input.files, firstCase },
      actual: concatenated([HEAD, ...separated, TAIL]),
      selection: { ...input.selection, evalIds: own },
    };
  };
  for (const one of casesOf(readPieces(file, NAME), rest)) {
    const id = idOf(one, file);
    // A portion ends between two cases, not between two runs of one.
    if (size >= PORTION_BYTES && (id === undefined || !evalIds.has(id))) {
      yield portion();
      firstCase += cases.length;
      [cases, evalIds, size] = [[], new Set(), 0];
    }
    cases.push(one);
    size += one.length;
    if (id === undefined) continue;
    evalIds.add(id);
    left.delete(id);
  }
  if (cases.length > 0) yield portion();
  [cases, evalIds] = [[], left];
  if (left.size > 0) yield portion();
  parsed(concatenated(rest), file);
}

const encoder = new TextEncoder();
const HEAD = encoder.encode('{"eval_set_result_id":"","eval_set_id":"","eval_case_results":[');
const SEPARATOR = encoder.encode(",");
const TAIL = encoder.encode("]}");

function idOf(one: Uint8Array, file: string): string | undefined {
  const result = parsed(one, file);
  if (!isObject(result)) return undefined;
  const { eval_id: old, evalId = old } = result as Record<string, unknown>;
  return typeof evalId === "string" ? evalId : undefined;
}

function parsed(json: Uint8Array, file: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(json));
  } catch (error) {
    throw new Mistake(`the ${NAME} is not complete JSON: ${(error as Error).message}`, {
      location: file,
      help: "It may have been cut off while it was written. The runs before that are scored",
    });
  }
}

/** The cases in the order of the evalset, whichever portion they were in. */
export function inOrder(result: EvalSetResult, ids: readonly string[]): EvalSetResult {
  const positions = new Map(ids.map((id, at) => [id, at]));
  const positionOf = ({ evalId }: { evalId: string }) => positions.get(evalId) ?? ids.length;
  return { ...result, evalCaseResults: [...result.evalCaseResults].sort((a, b) => positionOf(a) - positionOf(b)) };
}
