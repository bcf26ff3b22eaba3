import { isEngineMistake, ofMistake } from "../errors.js";
import { type Engine, withEngine } from "./instance.js";

/** What turns a mistake into an error. */
export interface MistakeContext {
  /** Whether an input was text, so that lines mean something. */
  hasLines(input: string | undefined): boolean;
}

/** Works with the engine; its mistakes become errors. */
export function call<T>({ hasLines }: MistakeContext, work: (engine: Engine) => T): T {
  try {
    return withEngine(work);
  } catch (error) {
    throw isEngineMistake(error) ? ofMistake(error, hasLines) : error;
  }
}
