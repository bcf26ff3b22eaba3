/** `import "adk-metrics/jest"`: the matchers in Jest's global `expect`, and in its types. */

import { type AdkMatchers, adkMatchers } from "./matchers.js";

/** Without Jest's globals, tests extend the `expect` that they import. */
const { expect } = globalThis as { expect?: { extend?(matchers: object): void } };
expect?.extend?.(adkMatchers);

export {
  type AdkMatcherFunctions,
  type AdkMatchers,
  adkMatchers,
  type MatcherResult,
  type Passable,
  type PassEvalSetOptions,
} from "./matchers.js";

declare global {
  namespace jest {
    interface Matchers<R, T = {}> extends AdkMatchers<R> {}
  }
}

/** @ts-ignore: the module is there only if the tests can use `@jest/globals`. */
declare module "expect" {
  interface Matchers<R extends void | Promise<void>, T = unknown> extends AdkMatchers<R> {}
}
