/** Pass rates as people would find them, estimated from a judge's verdicts and some labels. */

import { normalQuantile, studentQuantile } from "../statistics/distributions.js";
import type { Estimate } from "../statistics/estimates.js";
import { sum } from "./agreement.js";
import type { PoweredEstimate } from "./types.js";

/** A share, and of how many. */
export interface Share {
  share: number;
  count: number;
}

/**
 * The pass rate corrected for the judge's errors (W. J. Rogan and B. Gladen, 1978), with the interval of Z. Lang and
 * J. Reiczigel (2014), as C. Lee et al. apply it to judges (How to Correctly Report LLM-as-a-Judge Evaluations,
 * arXiv 2511.21140). Undefined for a judge that does no better than chance, whose verdicts say nothing.
 *
 * @param passed The share of all verdicts that the judge passes.
 * @param sensitivity What it passes of what people pass.
 * @param specificity What it fails of what people fail.
 */
export function corrected(
  passed: Share,
  sensitivity: Share,
  specificity: Share,
  confidence: number,
): Estimate | undefined {
  const gain = sensitivity.share + specificity.share - 1;
  const z = normalQuantile((1 + confidence) / 2);
  const z2 = z * z;
  const p = adjusted(passed, z2 / 2);
  const [q1, q0] = [adjusted(sensitivity, 1), adjusted(specificity, 1)];
  const adjustedGain = q0.share + q1.share - 1;
  if (!(gain > 1e-9) || !(adjustedGain > 1e-9)) return undefined;
  const middle = (p.share + q0.share - 1) / adjustedGain;
  const shift = 2 * z2 * (middle * varianceOf(q1) - (1 - middle) * varianceOf(q0));
  const error =
    Math.sqrt(varianceOf(p) + (1 - middle) ** 2 * varianceOf(q0) + middle ** 2 * varianceOf(q1)) / adjustedGain;
  return {
    value: within((passed.share + specificity.share - 1) / gain),
    low: within(middle + shift - z * error),
    high: within(middle + shift + z * error),
  };
}

/** A share with as many passes and as many fails added. */
function adjusted({ share, count }: Share, added: number): Share {
  return { share: (share * count + added) / (count + 2 * added), count: count + 2 * added };
}

const varianceOf = ({ share, count }: Share): number => (share * (1 - share)) / count;

const within = (share: number): number => Math.min(1, Math.max(0, share));

/** A verdict, and whether people pass it where they were asked. */
export interface Judged {
  passes: boolean;
  people?: boolean;
  group: string;
}

/**
 * The share that people would pass, from the labels of some verdicts and the judge's verdict on the others: prediction-powered
 * inference (A. Angelopoulos et al., PPI++, arXiv 2311.01453), with the weight that makes the interval narrowest. It is never much
 * wider than that of the labels alone, however bad the judge. Student's distribution takes the place of the normal one, which is too narrow for few labels. Undefined
 * unless two cases are labelled, and others not.
 */
export function predictionPowered(all: readonly Judged[], confidence: number): PoweredEstimate | undefined {
  const labelled = all.filter(({ people }) => people !== undefined);
  const others = all.filter(({ people }) => people === undefined);
  const [n, N] = [labelled.length, others.length];
  if (n < 2 || N === 0) return undefined;
  const [judge, people] = [labelled.map(({ passes }) => Number(passes)), labelled.map((one) => Number(one.people))];
  const [ofLabelled, ofOthers] = [sum(judge) / n, sum(others.map(({ passes }) => Number(passes))) / N];
  const peopleMean = sum(people) / n;
  const covariance = sum(judge.map((one, at) => (one - ofLabelled) * ((people[at] as number) - peopleMean))) / n;
  const mean = (n * ofLabelled + N * ofOthers) / (n + N);
  const variance = ((mean * (1 - mean)) / (n + N - 1)) * (n + N);
  const weight = variance === 0 ? 0 : within(covariance / ((1 + n / N) * variance));
  const value = weight * ofOthers + peopleMean - weight * ofLabelled;
  const influenceOf = ({ passes, people: label }: Judged): number =>
    label === undefined
      ? (weight * (Number(passes) - ofOthers)) / N
      : (Number(label) - weight * Number(passes) - (peopleMean - weight * ofLabelled)) / n;
  const influences = new Map<string, number>();
  for (const one of all) influences.set(one.group, (influences.get(one.group) ?? 0) + influenceOf(one));
  const error = Math.sqrt(sum([...influences.values()].map((own) => own * own)));
  const labelledGroups = new Set(labelled.map(({ group }) => group)).size;
  if (labelledGroups < 2) return undefined;
  const half = studentQuantile((1 + confidence) / 2, labelledGroups - 1) * error;
  return { value: within(value), low: within(value - half), high: within(value + half), weight };
}
