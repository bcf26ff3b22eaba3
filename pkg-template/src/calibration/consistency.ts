/** How often samples of one question agree, and what fewer or more samples would have given. */

import { sum } from "./agreement.js";
import type { Consistency, SampleCount } from "./types.js";

/** The votes of the samples of one question, each for or against; without what could not be read. */
export interface SampledQuestion {
  yes: number;
  no: number;
  /** How many samples were asked, also those that could not be read. */
  asked: number;
  /** How many might have been. */
  of: number;
  /** What people say, where they were asked. */
  people?: boolean | undefined;
}

/**
 * What votes say. The verdict of s samples is counted over all ways to draw s of those that were asked. A vote that was stopped
 * early ended with the sample that settled it, so this one is drawn last (J. B. S. Haldane, On a method of estimating
 * frequencies, 1945); with more samples its verdict stays. More samples than were asked are foreseen by a beta-binomial
 * distribution for what people pass and one for what they fail, fitted by moments, unless votes were stopped early.
 *
 * @param isMajority Whether verdicts are majorities; means have no such count.
 */
export function consistencyOf(questions: readonly SampledQuestion[], isMajority: boolean): Consistency | undefined {
  const several = questions.filter(({ yes, no }) => yes + no > 1);
  if (several.length === 0) return undefined;
  const most = Math.max(...several.map(({ of }) => of));
  const stoppedEarly = several.filter(({ asked, of }) => asked < of).length;
  const votes = several.map((all) => ({ all, drawn: isMajority && stoppedEarly > 0 ? withoutLast(all) : all }));
  const labelled = several.filter(({ people }) => people !== undefined);
  const counts: SampleCount[] = [];
  for (let samples = 1; samples <= most && isMajority && counts.length < MOST_COUNTS; samples += 1) {
    const same = votes.map((one) => rightness(passChance(one, samples), one.all.yes > one.all.no));
    const right = votes.flatMap((one) =>
      one.all.people === undefined ? [] : rightness(passChance(one, samples), one.all.people),
    );
    counts.push({
      samples,
      same: sum(same) / same.length,
      ...(right.length === 0 ? {} : { right: sum(right) / right.length }),
      isForeseen: false,
    });
  }
  if (isMajority && stoppedEarly === 0 && labelled.length >= LEAST_FORESEEN) {
    for (const samples of [most + 2, most + 4, 2 * most + 1].filter((one, at, all) => all.indexOf(one) === at)) {
      const right = foreseen(labelled, samples);
      if (right !== undefined) counts.push({ samples, right, isForeseen: true });
    }
  }
  return {
    questions: several.length,
    split: several.filter(({ yes, no }) => yes > 0 && no > 0).length,
    agreement: sum(votes.map(pairAgreement)) / votes.length,
    stoppedEarly,
    counts,
  };
}

/** The votes on a question, and those of them that came in no order that says anything. */
interface Votes {
  all: SampledQuestion;
  drawn: SampledQuestion;
}

/** The votes before the last one, where that settled the verdict: as many were for it, or against it, as a majority takes. */
function withoutLast(one: SampledQuestion): SampledQuestion {
  const { yes, no, of } = one;
  const toPass = Math.floor(of / 2) + 1;
  if (yes === toPass) return { ...one, yes: yes - 1 };
  return no === of - toPass + 1 ? { ...one, no: no - 1 } : one;
}

/** Nobody reads a longer row. */
const MOST_COUNTS = 15;
/** With fewer labels there is nothing to fit. */
const LEAST_FORESEEN = 10;

const rightness = (passes: number, shouldPass: boolean): number => (shouldPass ? passes : 1 - passes);

/** How often two of the votes agree that were drawn; of a pair, whether both do. */
function pairAgreement({ all, drawn }: Votes): number {
  const { yes, no } = drawn.yes + drawn.no > 1 ? drawn : all;
  const n = yes + no;
  return (yes * (yes - 1) + no * (no - 1)) / (n * (n - 1));
}

/** How likely a majority of samples that are drawn from the votes is for it; a tie is against. */
function passChance({ all, drawn }: Votes, samples: number): number {
  const { yes, no } = drawn;
  const n = yes + no;
  if (samples > n || samples === all.yes + all.no) return all.yes > all.no ? 1 : 0;
  let chance = 0;
  for (let k = Math.floor(samples / 2) + 1; k <= Math.min(samples, yes); k += 1) {
    if (samples - k > no) continue;
    chance += Math.exp(logChoose(yes, k) + logChoose(no, samples - k) - logChoose(n, samples));
  }
  return chance;
}

function logChoose(n: number, k: number): number {
  let log = 0;
  for (let at = 1; at <= k; at += 1) log += Math.log((n - k + at) / at);
  return log;
}

/** How often a majority of samples would be right, by a distribution of how likely a sample is for it. */
function foreseen(labelled: readonly SampledQuestion[], samples: number): number | undefined {
  let right = 0;
  for (const people of [true, false]) {
    const ofLabel = labelled.filter((one) => one.people === people);
    if (ofLabel.length === 0) continue;
    if (ofLabel.length < 2) return undefined;
    const { chance, correlation } = momentsOf(ofLabel);
    right += ofLabel.length * rightness(majorityChance(chance, correlation, samples), people);
  }
  return right / labelled.length;
}

/**
 * How likely a sample is for it, and how far samples of one question go together: the intraclass correlation by the analysis of
 * variance, which are the moments of a beta-binomial distribution.
 */
export function momentsOf(questions: readonly SampledQuestion[]): { chance: number; correlation: number } {
  const sizes = questions.map(({ yes, no }) => yes + no);
  const total = sum(sizes);
  const groups = questions.length;
  const chance = sum(questions.map(({ yes }) => yes)) / total;
  const between =
    sum(questions.map(({ yes, no }) => (yes + no) * (yes / (yes + no) - chance) ** 2)) / Math.max(1, groups - 1);
  const within = sum(questions.map(({ yes, no }) => (yes * no) / (yes + no))) / Math.max(1, total - groups);
  const usual = (total - sum(sizes.map((size) => size * size)) / total) / Math.max(1, groups - 1);
  const scale = between + (usual - 1) * within;
  return { chance, correlation: scale > 0 ? Math.min(1, Math.max(0, (between - within) / scale)) : 0 };
}

/** How likely a majority of samples is for it, for a beta-binomial distribution; a tie is against. */
export function majorityChance(chance: number, correlation: number, samples: number): number {
  if (correlation > 1 - 1e-9) return chance;
  // As products, which hold for a correlation of 0 as well.
  const step = correlation / (1 - correlation);
  const rising = (share: number, count: number): number => {
    let log = 0;
    for (let at = 0; at < count; at += 1) log += Math.log(share + at * step);
    return log;
  };
  let sumOf = 0;
  for (let k = Math.floor(samples / 2) + 1; k <= samples; k += 1) {
    sumOf += Math.exp(logChoose(samples, k) + rising(chance, k) + rising(1 - chance, samples - k) - rising(1, samples));
  }
  return Math.min(1, sumOf);
}
