/** `import "adk-metrics/vitest"`: the matchers in Vitest's `expect`, and in its types. */

import { expect } from "vitest";
import { type AdkMatchers, adkMatchers } from "./matchers.js";

expect.extend(adkMatchers);

export {
  type AdkMatcherFunctions,
  type AdkMatchers,
  adkMatchers,
  type MatcherResult,
  type Passable,
  type PassEvalSetOptions,
} from "./matchers.js";

declare global {
  namespace Chai {
    // Every version of Vitest gives its assertions the members of Chai's. Its own interfaces have other type parameters
    // in every version, and interfaces with other parameters do not merge.
    interface Assertion extends AdkMatchers {}
  }
}
