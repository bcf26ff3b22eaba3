import { checkOptions } from "./known-options.js";
import { checkSize, wellFormed } from "./engine/checks.js";
import { unexpected } from "./engine/values.js";
import { engineGeneration, memoryBuffer, withEngine } from "./engine/instance.js";
import { dialectOf } from "./run/options.js";
import type { RougePairs } from "./generated/adk_metrics.js";
import type { Dialect } from "./types.js";

/** The share of words that two texts have in common. Each from 0 to 1. */
export interface Rouge {
  /** The share of the candidate's tokens that the reference has. */
  precision: number;
  /** The share of the reference's tokens that the candidate has. */
  recall: number;
  /** Their harmonic mean: the score of `response_match_score`. */
  fmeasure: number;
}

const encoder = /* @__PURE__ */ new TextEncoder();
const scorers: { [dialect in Dialect]?: { pairs: RougePairs; generation: number } } = {};

/**
 * ROUGE-1 of a candidate text against a reference, as `response_match_score` computes it.
 *
 * ```ts
 * rouge1("The weather in London is sunny", "It's sunny in London today").fmeasure; // → 0.5
 * ```
 *
 * @throws {AdkMetricsError} `invalid_input` for anything but text, `invalid_json` for half of a surrogate pair,
 * `limit_exceeded` for more than 256 MiB.
 */
export function rouge1(reference: string, candidate: string, options: { dialect?: Dialect } = {}): Rouge {
  if (typeof reference !== "string") throw unexpected("a string", reference, "reference");
  if (typeof candidate !== "string") throw unexpected("a string", candidate, "candidate");
  checkSize(reference.length + candidate.length, "reference and candidate");
  wellFormed(reference, "reference");
  wellFormed(candidate, "candidate");
  checkOptions(options, ["dialect"]);
  const dialect = dialectOf(options);
  return withEngine((engine) => {
    const generation = engineGeneration();
    let scorer = scorers[dialect];
    if (scorer?.generation !== generation) {
      scorer = { pairs: new engine.RougePairs(dialect === "adk-ts"), generation };
      scorers[dialect] = scorer;
    }
    const { pairs } = scorer;
    // A UTF-16 code unit takes at most three bytes of UTF-8.
    const room = 3 * (reference.length + candidate.length);
    const start = pairs.reserve(room);
    const target = new Uint8Array(memoryBuffer(), start, room);
    const first = encoder.encodeInto(reference, target).written;
    const second = encoder.encodeInto(candidate, target.subarray(first)).written;
    pairs.score(first, second);
    const [precision, recall, fmeasure] = new Float64Array(memoryBuffer(), pairs.scores(), 3) as unknown as [
      number,
      number,
      number,
    ];
    return { precision, recall, fmeasure };
  });
}
