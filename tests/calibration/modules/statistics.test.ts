// What calibrations are made of, against scipy, statsmodels, scikit-learn, krippendorff and ppi_py, and how often intervals
// contain what they estimate.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { alphaOf, kappaOf, pairedDifference, shareOf } from "../../../pkg-template/src/calibration/agreement.js";
import { consistencyOf, majorityChance, momentsOf } from "../../../pkg-template/src/calibration/consistency.js";
import { corrected, predictionPowered } from "../../../pkg-template/src/calibration/corrected.js";
import { signTest } from "../../../pkg-template/src/statistics/significance.js";
import { coverage, leftOut, randomOf } from "../../statistics/modules/simulation.js";

const vectors = JSON.parse(readFileSync(new URL("../vectors.json", import.meta.url), "utf8"));

function close(found: number | undefined, expected: number, what: unknown): void {
  const isClose = found !== undefined && Math.abs(found - expected) <= 1e-9 * Math.max(1, Math.abs(expected));
  assert.ok(isClose, `${found} instead of ${expected}: ${JSON.stringify(what)}`);
}

const alone = <T extends object>(items: T[]): (T & { group: string })[] =>
  items.map((item, at) => ({ ...item, group: String(at) }));

const labelledBy = (units: number[][]) => units.map((categories, at) => ({ categories, group: String(at) }));

describe("as well-known packages find it", () => {
  test("Cohen's kappa, plain and weighted, with its interval", () => {
    for (const one of vectors.kappas) {
      const pairs = alone((one.judge as number[]).map((judge, at) => ({ judge, people: one.people[at] as number })));
      const found = kappaOf(pairs, one.categories, one.squared, 0.95);
      close(found?.value, one.value, one);
      close(found?.low, one.low, one);
      close(found?.high, one.high, one);
    }
  });

  test("Krippendorff's alpha of labels and of ranks, also with gaps", () => {
    for (const one of vectors.alphas) {
      close(alphaOf(labelledBy(one.units), one.categories, one.ordinal, 0.95)?.value, one.value, one);
    }
  });

  test("the interval of Krippendorff's alpha, but for what the draws change", () => {
    for (const one of vectors.alpha_intervals) {
      const found = alphaOf(labelledBy(one.units), one.categories, one.ordinal, 0.95);
      const isClose = (["low", "high"] as const).every(
        (end) => Math.abs((found?.[end] ?? Infinity) - one[end]) < 0.025,
      );
      assert.ok(isClose, `${JSON.stringify(found)} instead of ${one.low} to ${one.high}`);
    }
  });

  test("the exact test of McNemar", () => {
    for (const one of vectors.mcnemars) close(signTest(one.first, one.second), one.p, one);
  });

  test("prediction-powered inference", () => {
    for (const one of vectors.powered) {
      const labelled = (one.judge as number[]).map((judge, at) => ({
        passes: judge === 1,
        people: one.labels[at] === 1,
      }));
      const others = (one.others as number[]).map((judge) => ({ passes: judge === 1 }));
      const found = predictionPowered(alone([...labelled, ...others]), 0.95);
      close(found?.value, one.value, one);
      close(found?.low, Math.max(0, one.low), one);
      close(found?.high, Math.min(1, one.high), one);
    }
  });

  test("the pass rate corrected for errors", () => {
    for (const one of vectors.corrected) {
      const found = corrected(
        { share: one.p, count: one.n },
        { share: one.q1, count: one.m1 },
        { share: one.q0, count: one.m0 },
        0.95,
      );
      close(found?.value, one.value, one);
      close(found?.low, one.low, one);
      close(found?.high, one.high, one);
    }
  });

  test("majorities of votes that go together", () => {
    for (const one of vectors.majorities)
      close(majorityChance(one.chance, one.correlation, one.samples), one.value, one);
  });
});

describe("intervals of 95% contain the truth in at least 93% of 2,000 rounds", { skip: leftOut }, () => {
  const random = randomOf(5);
  const ids = Array.from({ length: 150 }, (_, at) => String(at));
  /** A judge that passes some of what is good and fails some of what is bad. */
  const drawn = (count: number, rate: number, sensitivity: number, specificity: number) =>
    Array.from({ length: count }, (_, at) => {
      const isGood = random() < rate;
      const isRight = random() < (isGood ? sensitivity : specificity);
      return { people: isGood, passes: isGood === isRight, group: ids[at] as string };
    });
  const judges = [
    ["a good judge", 0.7, 0.9, 0.85],
    ["a lenient judge", 0.6, 0.97, 0.6],
    ["a strict judge", 0.8, 0.75, 0.95],
  ] as const;

  for (const [name, rate, sensitivity, specificity] of judges) {
    // Also of results that were made later than the labels, of an agent that got worse.
    for (const now of [rate, rate / 2]) {
      test(`the corrected pass rate, of 300 verdicts with 80 others labelled: ${name}, ${now} pass`, () => {
        /** How often something comes about in so many trials. */
        const times = (count: number, chance: number) => {
          let found = 0;
          for (let at = 0; at < count; at += 1) if (random() < chance) found += 1;
          return found;
        };
        const share = coverage(now, () => {
          const good = times(80, rate);
          const shareOfTrials = (count: number, chance: number) => ({ share: times(count, chance) / count, count });
          return corrected(
            shareOfTrials(300, now * sensitivity + (1 - now) * (1 - specificity)),
            shareOfTrials(good, sensitivity),
            shareOfTrials(80 - good, specificity),
            0.95,
          );
        });
        assert.ok(share >= 0.93, `${share}`);
      });
    }

    test(`the corrected pass rate, of 300 verdicts of which 80 are labelled: ${name}`, () => {
      const shareIn = <P>(of: readonly P[], counts: (one: P) => boolean) => ({
        share: of.filter(counts).length / of.length,
        count: of.length,
      });
      const share = coverage(rate, () => {
        const all = drawn(300, rate, sensitivity, specificity);
        const labelled = all.slice(0, 80);
        return corrected(
          shareIn(all, ({ passes }) => passes),
          shareIn(
            labelled.filter(({ people }) => people),
            ({ passes }) => passes,
          ),
          shareIn(
            labelled.filter(({ people }) => !people),
            ({ passes }) => !passes,
          ),
          0.95,
        );
      });
      assert.ok(share >= 0.93, `${share}`);
    });

    test(`the prediction-powered pass rate, of 150 verdicts with 60 labelled: ${name}`, () => {
      const share = coverage(rate, () =>
        predictionPowered(
          drawn(150, rate, sensitivity, specificity).map((one, at) =>
            at < 60 ? one : { passes: one.passes, group: one.group },
          ),
          0.95,
        ),
      );
      assert.ok(share >= 0.93, `${share}`);
    });

    test(`kappa, sensitivity and specificity of 100 labels: ${name}`, () => {
      const passing = rate * sensitivity + (1 - rate) * (1 - specificity);
      const observed = rate * sensitivity + (1 - rate) * specificity;
      const expected = rate * passing + (1 - rate) * (1 - passing);
      const kappa = coverage((observed - expected) / (1 - expected), () =>
        kappaOf(
          drawn(100, rate, sensitivity, specificity).map((one) => ({
            ...one,
            judge: +one.passes,
            people: +one.people,
          })),
          2,
          false,
          0.95,
        ),
      );
      const sensitive = coverage(sensitivity, () =>
        shareOf(
          drawn(100, rate, sensitivity, specificity).filter(({ people }) => people),
          ({ passes }) => passes,
          0.95,
        ),
      );
      const specific = coverage(specificity, () =>
        shareOf(
          drawn(100, rate, sensitivity, specificity).filter(({ people }) => !people),
          ({ passes }) => !passes,
          0.95,
        ),
      );
      assert.ok(kappa >= 0.93, `kappa ${kappa}`);
      assert.ok(specific >= 0.93, `specificity ${specific}`);
      assert.ok(sensitive >= 0.93, `sensitivity ${sensitive}`);
    });
  }

  test("the difference of two judges, of 60 labels", () => {
    const share = coverage(0.1, () =>
      pairedDifference(
        Array.from({ length: 60 }, (_, at) => {
          // Hard cases are hard for both.
          const hardness = random() * 0.3;
          return { first: random() < 1 - hardness, second: random() < 0.9 - hardness, group: String(at) };
        }),
        0.95,
      ),
    );
    assert.ok(share >= 0.93, `${share}`);
  });

  for (const [name, count, people, rate, right] of [
    ["30 verdicts, two people who mostly agree", 30, 2, 0.5, 0.9],
    ["50 verdicts, three people, of which few verdicts fail", 50, 3, 0.8, 0.95],
    ["50 verdicts, two people who often disagree", 50, 2, 0.8, 0.75],
  ] as const) {
    test(`Krippendorff's alpha of ${name}`, () => {
      const share = coverage(trueAlpha(rate, right), () =>
        alphaOf(
          labelledBy(
            Array.from({ length: count }, () => {
              const isGood = random() < rate;
              return Array.from({ length: people }, () => Number(random() < right === isGood));
            }),
          ),
          2,
          false,
          0.95,
        ),
      );
      assert.ok(share >= 0.93, `${share}`);
    });
  }

  test("agreement where the turns of a case depend on each other: 40 cases with 4 turns", () => {
    const share = coverage(0.8, () => {
      const pairs = Array.from({ length: 40 }, (_, at) => {
        const own = random() < 0.5 ? 0.95 : 0.65;
        return Array.from({ length: 4 }, () => ({ isRight: random() < own, group: String(at) }));
      });
      return shareOf(pairs.flat(), ({ isRight }) => isRight, 0.95);
    });
    assert.ok(share >= 0.93, `${share}`);
  });
});

/** What alpha is for very many verdicts, of which a share passes, by people who are right so often. */
function trueAlpha(rate: number, right: number): number {
  const passing = rate * right + (1 - rate) * (1 - right);
  return 1 - (2 * right * (1 - right)) / (2 * passing * (1 - passing));
}

test("what fewer and more samples give is what drawing them gives", () => {
  const random = randomOf(9);
  // How likely a sample is right differs from question to question.
  const questions = Array.from({ length: 400 }, () => {
    const people = random() < 0.6;
    const right = 0.55 + 0.45 * random();
    return { people, isYes: () => random() < right === people };
  });
  const asked = questions.map(({ people, isYes }) => {
    const yes = Array.from({ length: 5 }, isYes).filter(Boolean).length;
    return { yes, no: 5 - yes, asked: 5, of: 5, people };
  });
  const simulated = (samples: number): number => {
    let right = 0;
    for (let round = 0; round < 20; round += 1) {
      for (const { people, isYes } of questions) {
        const yes = Array.from({ length: samples }, isYes).filter(Boolean).length;
        if (yes > samples - yes === people) right += 1;
      }
    }
    return right / 20 / questions.length;
  };
  const found = consistencyOf(asked, true);
  for (const { samples, right, isForeseen } of found?.counts ?? []) {
    assert.ok(
      Math.abs((right ?? 0) - simulated(samples)) < 0.04,
      `${samples} samples: ${right}, ${simulated(samples)}`,
    );
    assert.equal(isForeseen, samples > 5);
  }
  assert.deepEqual(
    found?.counts.map(({ samples }) => samples),
    [1, 2, 3, 4, 5, 7, 9, 11],
  );
  const { chance, correlation } = momentsOf(asked.filter(({ people }) => people));
  assert.ok(Math.abs(chance - 0.775) < 0.05 && correlation > 0 && correlation < 0.3, `${chance} ${correlation}`);
});

test("a vote that was stopped early counts as settled", () => {
  const found = consistencyOf(
    [
      { yes: 3, no: 0, asked: 3, of: 5 },
      { yes: 2, no: 3, asked: 5, of: 5 },
    ],
    true,
  );
  assert.deepEqual([found?.questions, found?.split, found?.stoppedEarly], [2, 1, 1]);
  assert.equal(found?.counts.at(-1)?.same, 1);
  // Of the five votes the last one settled it: of the four before, one pair in three agrees.
  close(found?.agreement, (1 + 1 / 3) / 2, found);
});

test("a reply that could not be read stopped no vote", () => {
  const read = Array.from({ length: 12 }, (_, at) => ({ yes: 3, no: 2, asked: 5, of: 5, people: at % 2 === 0 }));
  const found = consistencyOf([...read, { yes: 3, no: 1, asked: 5, of: 5, people: true }], true);
  assert.equal(found?.stoppedEarly, 0);
  assert.ok(found?.counts.some(({ isForeseen }) => isForeseen));
  close(found?.counts[0]?.same, (12 * 0.6 + 0.75) / 13, found);
});

test("votes that were stopped early say what all samples would have said", () => {
  const random = randomOf(11);
  for (const [of, chance] of [
    [5, 0.85],
    [5, 0.6],
    [3, 0.7],
    [7, 0.9],
    [4, 0.7],
  ] as const) {
    const toPass = Math.floor(of / 2) + 1;
    const vote = (isStopped: boolean) => {
      let [yes, no] = [0, 0];
      while (yes + no < of && !(isStopped && (yes === toPass || no === of - toPass + 1))) {
        if (random() < chance) yes += 1;
        else no += 1;
      }
      return { yes, no, asked: yes + no, of, people: true };
    };
    const [stopped, whole] = [true, false].map((isStopped) =>
      consistencyOf(
        Array.from({ length: 20_000 }, () => vote(isStopped)),
        true,
      ),
    );
    const isNear = (found = 0, expected = 0) => Math.abs(found - expected) < 0.015;
    const agreement = chance ** 2 + (1 - chance) ** 2;
    assert.ok(isNear(stopped?.agreement, agreement), `${of}, ${chance}: ${stopped?.agreement}, not ${agreement}`);
    for (const [at, { samples, right }] of (stopped?.counts ?? []).entries()) {
      const expected = whole?.counts[at]?.right;
      assert.ok(isNear(right, expected), `${of}, ${chance}, ${samples} samples: ${right}, not ${expected}`);
    }
    // How far questions differ cannot be told from what is left of their votes.
    assert.deepEqual([stopped?.counts.length, stopped?.counts.some(({ isForeseen }) => isForeseen)], [of, false]);
  }
});
