import { AdkMetricsError } from "../errors.js";
import { __wbg_reset_state, initSync } from "../generated/adk_metrics.js";
import * as engineExports from "./exports.js";

/** The engine's exports. */
export type Engine = typeof engineExports;

let load: (() => BufferSource | WebAssembly.Module) | undefined;
let memory: WebAssembly.Memory | undefined;
let generation = 0;
/** The engine's memory as it was last looked at by {@link giveMemoryBack}. */
let known: ArrayBufferLike | undefined;
/** The number of nested calls of the engine: a call may lead to another. */
let depth = 0;

/** The runs that are open, which have what they read in the engine's memory. Those that were forgotten do not count. */
const openRuns = new Set<WeakRef<object>>();

/**
 * The most memory that an idle engine keeps, in bytes. Memory of WebAssembly grows and never shrinks, so beyond
 * this the engine is restarted: a large input would take it for the life of the process.
 */
const MOST_IDLE_MEMORY = 64 * 2 ** 20;

/** Says where the `.wasm` is; each entry of the package does this once. Nothing is loaded before it is needed. */
export function provideModule(source: () => BufferSource | WebAssembly.Module): void {
  load ??= source;
}

/** As {@link provideModule}, instead of what was provided before: nothing has been loaded from there yet. */
export function replaceModule(source: () => BufferSource | WebAssembly.Module): void {
  load = source;
}

/** The engine, started if it is not running. */
function start(): Engine {
  if (memory === undefined) {
    if (load === undefined) throw new AdkMetricsError("engine_unavailable", "no entry point of the package was loaded");
    requireWebAssembly();
    try {
      if (generation > 0) __wbg_reset_state();
      else {
        const source = load();
        initSync({ module: source instanceof WebAssembly.Module ? source : new WebAssembly.Module(source) });
      }
      memory = initSync(undefined as never).memory;
    } catch (cause) {
      throw loadFailure(cause);
    }
  }
  return engineExports;
}

/** @throws {AdkMetricsError} `engine_unavailable` where there is no WebAssembly at all. */
export function requireWebAssembly(): void {
  if (typeof WebAssembly !== "undefined") return;
  throw new AdkMetricsError("engine_unavailable", "this runtime has no WebAssembly, which the engine needs", {
    help: "Node with --jitless, Safari in Lockdown Mode and React Native with Hermes do not have it: score elsewhere",
  });
}

/** The error for an engine that does not load. */
export function loadFailure(cause: unknown): AdkMetricsError {
  const isBlocked = cause instanceof WebAssembly.CompileError;
  return new AdkMetricsError("engine_unavailable", `the engine could not be loaded: ${String(cause)}`, {
    ...(isBlocked ? { help: "A Content-Security-Policy has to allow 'wasm-unsafe-eval'" } : {}),
    cause,
  });
}

/** The engine's memory; get it again after each call, which may have moved it. */
export function memoryBuffer(): ArrayBufferLike {
  start();
  return (memory as WebAssembly.Memory).buffer;
}

/** Changes whenever the engine is restarted; objects of an older generation are gone. */
export function engineGeneration(): number {
  return generation;
}

/**
 * Works with the engine. A trap is a bug of ours and leaves the instance unusable: it is replaced, and the caller
 * gets `engine_crashed`. Everything else passes.
 */
export function withEngine<T>(work: (engine: Engine) => T): T {
  const engine = start();
  depth += 1;
  try {
    return work(engine);
  } catch (error) {
    if (!isTrap(error)) throw error;
    restart();
    throw new AdkMetricsError(
      "engine_crashed",
      `the engine crashed: ${isPanic(error) ? error.message : String(error)}`,
      {
        help: "This is a bug in adk-metrics; please report it with the input at https://github.com/adk-metrics/adk-metrics/issues. The engine was restarted",
        cause: error,
      },
    );
  } finally {
    depth -= 1;
    giveMemoryBack();
  }
}

/** Keeps the engine as it is for an object that lives in it, until {@link release} is given what this returns. */
export function keep(object: object): WeakRef<object> {
  const kept = new WeakRef(object);
  openRuns.add(kept);
  return kept;
}

/** Nothing is left in the engine of an object that it was kept for. */
export function release(kept: WeakRef<object>): void {
  openRuns.delete(kept);
  giveMemoryBack();
}

/** Restarts the engine if its memory is large and nothing in it is needed any more. */
function giveMemoryBack(): void {
  // A buffer that is known is cheap to ask, also on each call for a pair of short texts. It has no bytes once memory has grown.
  if (depth > 0 || (known !== undefined && known.byteLength !== 0 && known.byteLength <= MOST_IDLE_MEMORY)) return;
  known = memory?.buffer;
  if (known === undefined || known.byteLength <= MOST_IDLE_MEMORY) return;
  for (const kept of openRuns) {
    if (kept.deref() !== undefined) return;
    openRuns.delete(kept);
  }
  restart();
}

/** Works with an object of the engine, then frees it; not after a trap, which takes the whole instance along. */
export function freeing<T extends { free(): void }, R>(object: T, work: (object: T) => R): R {
  let result: R;
  try {
    result = work(object);
  } catch (error) {
    if (!isTrap(error)) object.free();
    throw error;
  }
  object.free();
  return result;
}

/** Replaces the instance by a new one of the same module; if that fails, the next call tries again, and throws. */
function restart(): void {
  generation += 1;
  memory = known = undefined;
  try {
    start();
  } catch {
    // What the engine found is worth more than this error.
  }
}

/** Besides traps, panics and a stack overflow inside the engine leave it in an unknown state. */
function isTrap(error: unknown): boolean {
  return error instanceof WebAssembly.RuntimeError || isPanic(error) || isStackOverflow(error);
}

/** The exception that a panic of the engine becomes: `panicked at src/run/mod.rs:12:34:`, and why. */
function isPanic(error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith("panicked at ");
}

/** A `RangeError` in V8 and JavaScriptCore, an `InternalError` in Firefox. */
function isStackOverflow(error: unknown): boolean {
  if (error instanceof RangeError) return /call stack/i.test(error.message);
  return error instanceof Error && error.name === "InternalError" && /recursion/i.test(error.message);
}
