// Two runs compared: how it is shown in every format, and what that takes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importEntry } from "./support/package.mjs";
import { caseOf, isOfComparison, scored, setOf } from "./support/comparisons.mjs";

const { compareRuns, EvalStatus } = await importEntry();
const report = await importEntry("./report");
const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;

const STATUSES = [PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL];

const sample = () =>
  compareRuns(
    setOf([
      caseOf("broken", { quality: 0.9, token_usage_v1: [INFORMATIONAL, 1200] }, { turns: [{ quality: 0.9 }] }),
      caseOf("fixed", { quality: 0.1, token_usage_v1: [INFORMATIONAL, 800] }),
      caseOf("steady", { quality: 0.7, token_usage_v1: [INFORMATIONAL, 900] }),
      caseOf("left", { quality: 1 }),
    ]),
    setOf([
      caseOf("broken", { quality: 0.2, token_usage_v1: [INFORMATIONAL, 1100] }, { turns: [{ quality: 0.2 }] }),
      caseOf("fixed", { quality: 1, token_usage_v1: [INFORMATIONAL, 800] }),
      caseOf("steady", { quality: 0.7, token_usage_v1: [INFORMATIONAL, 900] }),
    ]),
  );

test("a table shows metrics, then what changed, then where it got worse", () => {
  const table = report.renderComparisonTable(sample());
  assert.match(table, /^set {2}3 cases: 1 regressed, 1 fixed, 1 unchanged\n/);
  assert.match(table, /\n {2}warning: cases in the baseline only: left\n/);
  assert.match(table, /\n {2}quality +3 +0\.5667 +0\.6333 +\+0\.0667 +-0\.\d{4} … \+0\.\d{4} +unclear\n/);
  assert.match(table, /\n {2}tokens +3 +966\.7 +933\.3 +-33\.3 +-100 … 0 +unclear\n/);
  assert.match(table, /\n {2}✗ broken +quality +0\.9000 +0\.2000 +-0\.7000 +passed → failed\n/);
  assert.match(table, /\n✗ broken\n {2}passed → failed\n {2}quality: 0\.9000 → 0\.2000, passed → failed\n {4}turn 1: /);
  assert.match(table, /\n1 regression in 3 cases\n$/);
  assert.doesNotMatch(table, /steady|\u001b/);
  assert.match(
    report.renderComparisonTable(sample(), { color: true }),
    /\u001b\[31;1m1 regression in 3 cases\u001b\[0m/,
  );
});

test("Markdown shows the same", () => {
  const markdown = report.renderComparisonMarkdown([sample(), sample()]);
  assert.match(markdown, /^## ❌ Comparison with the baseline: 2 regressions in 6 cases of 2 evalsets\n/);
  assert.match(
    markdown,
    /\n\| <code>quality<\/code> \| 3 \| 0\.5667 \| 0\.6333 \| \+0\.0667 \| .* \| 1 \| 1 \| unclear \|\n/,
  );
  assert.match(markdown, /<details><summary>❌ <code>broken<\/code> passed → failed<\/summary>/);
  assert.match(markdown, /\n- Turn 1: 0\.9000 → 0\.2000, passed → failed\n/);
  assert.match(
    report.renderComparisonMarkdown(compareRuns(scored([1]), scored([1]))),
    /^## ✅ .* no regression in 1 case\n/,
  );
});

test("Markdown keeps within its limits and says what it left out", () => {
  const [before, after] = [1, 0].map((score) => scored(Array(3000).fill(score)));
  const comparison = compareRuns(before, after, { resamples: 100 });
  const markdown = report.renderComparisonMarkdown(comparison, { maxBytes: 20_000 });
  assert.ok(Buffer.byteLength(markdown) <= 20_000);
  assert.match(markdown, /sections left out to stay within 20,000 bytes/);
  assert.match(report.renderComparisonMarkdown(comparison, { maxRows: 5 }), /… and 2,995 more cases\./);
});

test("CSV has a row for each case, metric and changed turn", () => {
  const [header, ...rows] = report.renderComparisonCsv(sample()).trimEnd().split("\r\n");
  assert.equal(
    header,
    "evalSetId,evalId,turn,metricName,change,baselineScore,currentScore,difference,baselineThreshold,currentThreshold,baselineStatus,currentStatus",
  );
  assert.equal(rows[0], "set,broken,,,regressed,,,,,,passed,failed");
  assert.equal(rows[2], "set,broken,1,quality,,0.9,0.2,-0.7,0.5,0.5,passed,failed");
  assert.equal(rows.length, 3 * 3 + 1);
});

test("JSON is the comparison itself", () => {
  assert.deepEqual(JSON.parse(report.renderComparisonJson(sample())), sample());
  assert.deepEqual(JSON.parse(report.renderComparisonJson([sample()])), [sample()]);
});

test("text of results is inert in every format", () => {
  const attack =
    '=1+1\u001b]0;owned\u0007\u009b31m\u202e</summary><script>alert(1)</script>|`*[a](javascript:b)`"\n# heading\r\n@cmd';
  const run = (score, more) => ({
    ...setOf(
      [
        caseOf(attack, { [attack]: score }, { turns: [{ [attack]: score }], reason: attack }),
        caseOf(`${attack}${more}`, { [attack]: 1, [`${attack}${more}`]: 1 }),
      ],
      { evalSetId: `${attack}${more}` },
    ),
    judges: [{ metricName: attack, scoredBy: "judge", model: `${attack}${more}` }],
  });
  const comparison = compareRuns(run(1, "a"), run(0, "b"));
  const table = report.renderComparisonTable(comparison, { details: true });
  assert.doesNotMatch(table, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.ok(table.split("\n").every((line) => [...line].length <= 100));
  const markdown = report.renderComparisonMarkdown(comparison);
  assert.doesNotMatch(
    markdown,
    /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e`]|<script|\n# |\]\(|javascript:/,
  );
  const tags = new Set([...markdown.matchAll(/<\/?[a-z]+/g)].map(([tag]) => tag.replace("/", "")));
  assert.deepEqual([...tags].sort(), ["<code", "<details", "<summary"]);
  const csv = report.renderComparisonCsv(comparison);
  assert.doesNotMatch(csv, /(?:^|,|\r\n)"?[=@+]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.ok(csv.includes("\"'=1+1"));
  const json = report.renderComparisonJson(comparison);
  assert.doesNotMatch(json, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.deepEqual(JSON.parse(json), comparison);
});

test("what is no comparison is an error", () => {
  for (const render of Object.values(report).filter(isOfComparison)) {
    for (const wrong of [undefined, 3, {}, scored([1]), [sample(), null]]) {
      assert.throws(() => render(wrong), { name: "AdkMetricsError", code: "invalid_input" });
    }
  }
});

test("every status is known to every format", () => {
  for (const before of STATUSES) {
    for (const after of STATUSES) {
      const [one, other] = [before, after].map((status) => setOf([caseOf("a", { m: [status, 1] })]));
      const comparison = compareRuns(one, other);
      for (const render of Object.values(report).filter(isOfComparison)) {
        assert.doesNotMatch(render(comparison), /undefined|NaN/);
      }
    }
  }
});

/** How often functions that are given to the methods of arrays are called, and maps are looked into. */
function workOf(act) {
  let number = 0;
  const counted = (owner, name, wrap) => {
    const own = owner[name];
    owner[name] = function (...given) {
      return own.apply(this, wrap(given));
    };
    return () => (owner[name] = own);
  };
  const callbacks = ([callback, ...rest]) => {
    if (typeof callback !== "function") return [callback, ...rest];
    const one = (...given) => {
      number += 1;
      return callback(...given);
    };
    return [one, ...rest];
  };
  const looks = (given) => {
    number += 1;
    return given;
  };
  const undo = ["sort", "filter", "find", "map", "flatMap", "some", "every", "reduce"].map((name) =>
    counted(Array.prototype, name, callbacks),
  );
  undo.push(counted(Map.prototype, "get", looks));
  try {
    act();
  } finally {
    for (const one of undo) one();
  }
  return number;
}

const GROWING = {
  "runs and turns of one case": (size) => {
    const turns = Array.from({ length: size }, () => ({}));
    return [caseOf("a", { quality: 1 }, { turns }), ...turns.map(() => caseOf("a", { quality: 1 }))];
  },
  "cases, each with a metric of its own": (size) =>
    Array.from({ length: size }, (_, at) => caseOf(`case ${at}`, { [`metric ${at}`]: 1 })),
  "runs that disagree, each with a metric of its own": (size) =>
    Array.from({ length: size }, (_, at) => caseOf("a", { [`metric ${at}`]: at % 2 })),
};

for (const [name, cases] of Object.entries(GROWING)) {
  test(`the work for ${name} grows with their number`, () => {
    const [some, twice] = [200, 400].map((size) => {
      const run = setOf(cases(size));
      return workOf(() => compareRuns(run, run, { resamples: 100 }));
    });
    assert.ok(twice < 2.5 * some, `${some}, then ${twice}`);
  });
}

test("the work for a report grows with the number of cases, each with a metric of its own", () => {
  for (const render of Object.values(report).filter(isOfComparison)) {
    const [some, twice] = [200, 400].map((size) => {
      const [before, after] = [1, 0].map((score) =>
        setOf(Array.from({ length: size }, (_, at) => caseOf(`case ${at}`, { [`metric ${at}`]: score }))),
      );
      const comparison = compareRuns(before, after, { resamples: 100 });
      return workOf(() => render(comparison));
    });
    assert.ok(twice < 2.5 * some, `${some}, then ${twice}`);
  }
});

test("150000 runs of one case are compared", () => {
  const run = setOf(Array.from({ length: 150_000 }, () => caseOf("a", { quality: 1 })));
  assert.equal(compareRuns(run, run).baseline.runs, 150_000);
});

test("how often cases pass is said in words, with what would have shown", () => {
  const runs = (...cases) =>
    setOf(cases.flatMap((found, at) => [...found].map((one) => caseOf(`c${at}`, { quality: one === "p" ? 1 : 0 }))));
  const few = compareRuns(runs("ppp", "ppp", "ppf", "ppp"), runs("ppf", "ppp", "fff", "ppp"));
  assert.match(
    report.renderComparisonTable(few, { width: 400 }),
    /4 cases like these are too few to detect any difference with 80% probability/,
  );
  const others = Array(6).fill("ppp");
  const unclear = compareRuns(runs("ppp", "ppp", "ppf", "ppp", ...others), runs("ppf", "ppp", "fff", "ppp", ...others));
  const said =
    /87% of runs pass, before 97% \(10 points less; 95% interval from \d+ points less to no change\); 0 cases pass more often, 2 less often, which may be chance/;
  const shows =
    /with 10 cases like these, a difference of 23 points is detected with 80(?:%|&#37;) probability, a smaller one less often/;
  const texts = [report.renderComparisonTable(unclear, { width: 400 }), report.renderComparisonMarkdown(unclear)];
  for (const text of texts) {
    assert.match(
      text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code)),
      said,
    );
    assert.match(text, shows);
  }
  assert.match(
    texts[0],
    /\n {2}"unclear" may be chance; smallest differences that are detected with 80% probability: quality 0\.22\d\d\n/,
  );
  assert.match(texts[1], /\| Would show \|.*\n.*\n\| <code>quality<\/code> .* \| 0\.22\d\d \| 0 \| 2 \| unclear \|\n/);
  const sure = report.renderComparisonTable(compareRuns(runs(..."pppppppp"), runs(..."ffffffpp")), { width: 400 });
  assert.match(
    sure,
    /25% of cases pass, before 100% .* 0 cases pass more often, 6 less often, which is unlikely to be chance\n/,
  );
  assert.doesNotMatch(sure, /like these show|may be chance/);
  const scores = (name, ...all) => setOf(all.map((score, at) => caseOf(`c${at}`, { [name]: score })));
  const wouldShow = (name) =>
    report.renderComparisonMarkdown(compareRuns(scores(name, 0, 1, 1, 0, 1, 0), scores(name, 1, 0.1, 0, 1, 0, 1)));
  assert.match(wouldShow("response_match_score"), /\| – \| 3 \| 3 \| unclear \|\n/, "more than the scale has room for");
  assert.match(wouldShow("quality"), /\| \d\.\d{4} \| 3 \| 3 \| unclear \|\n/, "a scale that is not known");
  const same = report.renderComparisonTable(compareRuns(runs("p"), runs("p")), { width: 400 });
  assert.match(same, /100% of cases pass, before 100%; every case passes as often as before\n/);
});

test("cases without a verdict are left out of how often cases pass, and it is said how many", () => {
  const run = (...scores) => setOf(scores.map((quality, at) => caseOf(`c${at}`, { quality })));
  const textOf = (before, after) => report.renderComparisonTable(compareRuns(before, after), { width: 400 });
  assert.match(
    textOf(run(1, 1, 1, 1, 1), run(1, 1, 1, undefined, undefined)),
    /100% of cases pass, before 100%, leaving out 2 of 5 cases without a verdict in one run or both; every other case passes as often as before\n/,
  );
  const fewer = textOf(run(1, 1, 1), run(0, 0, undefined));
  assert.match(fewer, /before 100%, leaving out 1 of 3 cases without a verdict in one run or both \(100 points less; /);
  assert.match(fewer, /less; 95% interval: 100 points less\); /, "both ends are the same");
});
