// What the entries share whose engine somebody has to bring.
import { loadFailure, requireWebAssembly } from "../engine/instance.js";

/** What the engine can be made of: the bytes of the `.wasm`, an answer that brings them, or the compiled module. */
export type EngineSource = BufferSource | Response | WebAssembly.Module;

let engine: BufferSource | WebAssembly.Module | undefined;
let loading: Promise<void> | undefined;

/** The engine that was brought. */
export function broughtEngine(): BufferSource | WebAssembly.Module {
  if (engine === undefined) throw new Error("call `await init()` first");
  return engine;
}

/** Takes the engine without waiting; what came first stays. */
export function setEngine(source: BufferSource | WebAssembly.Module): void {
  engine ??= source;
}

/** Fetches what is an address. */
export function sourceAt(
  source: string | URL | EngineSource | Promise<EngineSource>,
): EngineSource | Promise<EngineSource> {
  return typeof source === "string" || source instanceof URL ? fetch(source) : source;
}

/** Compiles the engine once; what failed can be tried again. */
export function loadOnce(source: () => EngineSource | Promise<EngineSource>): Promise<void> {
  loading ??= load(source).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(source: () => EngineSource | Promise<EngineSource>): Promise<void> {
  requireWebAssembly();
  try {
    setEngine(await compile(await source()));
  } catch (cause) {
    throw loadFailure(cause);
  }
}

async function compile(source: EngineSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (!(source instanceof Response)) return WebAssembly.compile(source);
  if (!source.ok) throw new Error(`${source.url} was answered with status ${source.status}`);
  // A stream is compiled only if the server names its type.
  const isNamed = source.headers.get("content-type")?.toLowerCase() === "application/wasm";
  return isNamed ? WebAssembly.compileStreaming(source) : WebAssembly.compile(await source.arrayBuffer());
}
