import { isEngineError, errorOf } from "../errors.js";
import { type Engine, withEngine } from "./instance.js";

/** What turns a mistake into an error. */
export interface ErrorContext {
  /** Whether an input was text, so that lines mean something. */
  hasLines(input: string | undefined): boolean;
}

/** Works with the engine; its mistakes become errors. */
export function call<T>({ hasLines }: ErrorContext, work: (engine: Engine) => T): T {
  try {
    return withEngine(work);
  } catch (error) {
    throw isEngineError(error) ? errorOf(error, hasLines) : error;
  }
}
