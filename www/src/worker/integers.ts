/**
 * Integers beyond 2^53, which JavaScript's numbers round: their digits are looked up in the files that were scored, and in
 * the differences that the engine found. They cross to the page as `bigint`.
 */

import type { EvalCaseResult, FunctionCall } from "adk-metrics";
import { exactJson as writtenJson } from "../ui/json.js";

/** A file of a run, as far as it is text. */
type Text = unknown;

/** The files of a run in which digits are looked up. */
export interface Texts {
  evalSet: Text;
  actual: Text;
}

/** Whether a number may be another integer, rounded. */
function isRounded(value: unknown): value is number {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** A case with the digits of its calls' integers as far as they are known; the case itself if nothing was rounded. */
export function withExactIntegers(result: EvalCaseResult, texts: Texts | undefined, callsOf: CallsOf): EvalCaseResult {
  if (!allCalls(result, callsOf).some(({ args }) => hasRounded(args))) return result;
  const exact = structuredClone(result);
  for (const { expectedInvocation, actualInvocation, evalMetricResults } of exact.evalMetricResultPerInvocation) {
    const expected = expectedInvocation === undefined ? [] : callsOf(expectedInvocation);
    const actual = callsOf(actualInvocation);
    for (const { args } of expected) if (isContainer(args)) restore(args, literalsOf(texts?.evalSet));
    for (const { args } of actual) if (isContainer(args)) restore(args, literalsOf(texts?.actual));
    for (const entry of evalMetricResults.flatMap(({ explanation }) => explanation?.alignment ?? [])) {
      for (const difference of entry.differences ?? []) {
        const path = stepsOf(difference.path);
        const sides = [
          ["expected", expected[entry.expectedIndex ?? -1]],
          ["actual", actual[entry.actualIndex ?? -1]],
        ] as const;
        for (const [side, call] of sides) {
          const digits = call === undefined ? undefined : digitsAt(call, path, difference[side]);
          if (digits !== undefined) difference[side] = digits;
        }
      }
    }
  }
  return exact;
}

/** JSON of a value whose integers have the digits that they have in a text, as far as these are known. */
export function exactJson(value: unknown, text: Text): string {
  const literals = literalsOf(text);
  const exact = structuredClone({ value });
  restore(exact, literals);
  return writtenJson(exact.value) ?? "";
}

type CallsOf = (
  invocation: EvalCaseResult["evalMetricResultPerInvocation"][number]["actualInvocation"],
) => FunctionCall[];

function allCalls({ evalMetricResultPerInvocation: turns }: EvalCaseResult, callsOf: CallsOf): FunctionCall[] {
  return turns.flatMap(({ expectedInvocation, actualInvocation }) => [
    ...(expectedInvocation === undefined ? [] : callsOf(expectedInvocation)),
    ...callsOf(actualInvocation),
  ]);
}

type Container = Record<string | number, unknown>;

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

function hasRounded(value: unknown): boolean {
  return isRounded(value) || (isContainer(value) && Object.values(value).some(hasRounded));
}

/** Puts integers in the place of rounded numbers that can be nothing else. */
function restore(container: Container, literals: ReadonlyMap<number, string | undefined>): void {
  for (const [key, value] of Object.entries(container)) {
    if (isContainer(value)) restore(value, literals);
    else if (isRounded(value)) {
      const literal = literals.get(value);
      if (literal !== undefined) container[key] = BigInt(literal);
    }
  }
}

/**
 * The integer of a difference, which the engine writes as a string, and which is then put into the call. Undefined for
 * what was no integer there.
 */
function digitsAt({ args }: FunctionCall, path: readonly (string | number)[], written: unknown): bigint | undefined {
  if (typeof written !== "string" || !/^-?\d+$/.test(written)) return undefined;
  let container: unknown = args;
  for (const step of path.slice(0, -1)) container = isContainer(container) ? container[step] : undefined;
  const [last] = path.slice(-1);
  if (!isContainer(container) || last === undefined) return undefined;
  const there = container[last];
  if (typeof there !== "bigint" && !isRounded(there)) return undefined;
  const integer = BigInt(written);
  if (Number(integer) !== Number(there)) return undefined;
  container[last] = integer;
  return integer;
}

/** The steps of a path such as `a.b[1]["c.d"]`. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(([, index, quoted, name]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? (name ?? "") : (JSON.parse(quoted) as string);
  });
}

const known = new WeakMap<Uint8Array, ReadonlyMap<number, string | undefined>>();

/** The integers of a file that JavaScript rounds, by what they are rounded to; undefined where several are possible. */
function literalsOf(text: Text): ReadonlyMap<number, string | undefined> {
  if (typeof text === "string") return findLiterals(text);
  if (!(text instanceof Uint8Array)) return new Map();
  const found = known.get(text) ?? findLiterals(new TextDecoder().decode(text));
  known.set(text, found);
  return found;
}

function findLiterals(text: string): ReadonlyMap<number, string | undefined> {
  const found = new Map<number, string | undefined>();
  for (const [literal] of text.matchAll(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
    if (literal.length < 4) continue;
    const value = Number(literal);
    if (!isRounded(value)) continue;
    const isOnly = /^-?\d+$/.test(literal) && (!found.has(value) || found.get(value) === literal);
    found.set(value, isOnly ? literal : undefined);
  }
  return found;
}
