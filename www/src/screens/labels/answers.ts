/** What a verdict can be labelled as. */

import type { VerdictToLabel } from "adk-metrics/calibration";

/** A label that can be given, and its key. */
export interface Answer {
  key: string;
  label: boolean | number;
  word: string;
}

/** The labels that a verdict can get. */
export function answersOf({ scale, rubricId }: Pick<VerdictToLabel, "scale" | "rubricId">): Answer[] {
  if (scale === undefined) {
    const [yes, no] = rubricId === undefined ? ["Pass", "Fail"] : ["Met", "Not met"];
    return [
      { key: "y", label: true, word: yes as string },
      { key: "n", label: false, word: no as string },
    ];
  }
  return Array.from({ length: scale.most - scale.least + 1 }, (_, index) => {
    const score = scale.least + index;
    return { key: String(score), label: score, word: String(score) };
  });
}
