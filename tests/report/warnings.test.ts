// What results warn of, in every renderer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { REPORT_FORMATS } from "../../pkg-template/src/report/index.js";
import * as report from "../../pkg-template/src/report/index.js";
import { resultLines } from "../../pkg-template/src/stored-results.js";
import { EvalStatus } from "../../pkg-template/src/enums.js";
import type { EvalSetResult } from "../../pkg-template/src/types.js";
import { travelSet } from "./fixtures.js";

const WARNINGS = [
  { code: "invalid_input", message: "alpha is ignored", path: "config: beta", line: 7, help: "Do gamma" },
  { code: "invalid_input", message: "delta is left out" },
  { code: "custom_metric_failed", message: "epsilon threw", path: "evalSet: zeta", help: "Mend eta" },
] satisfies EvalSetResult["warnings"];
const WORDS = ["alpha is ignored", "config: beta", "delta is left out", "epsilon threw", "evalSet: zeta"];
const HELP = ["Do gamma", "Mend eta"];

/** Characters that Markdown would read stand there as numbers. */
const plain = (markdown: string) => markdown.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

/** Every renderer of results. */
const RENDERERS: Readonly<Record<string, (set: EvalSetResult) => string>> = {
  renderTable: (set) => report.renderTable(set),
  renderFailures: (set) => report.renderFailures(set),
  renderMarkdown: (set) => plain(report.renderMarkdown(set)),
  renderHtml: (set) => report.renderHtml(set),
  renderCsv: (set) => report.renderCsv(set),
  renderJUnit: (set) => report.renderJUnit(set),
  resultLines: (set) => [...resultLines(set)].join(""),
};

const passing = (): EvalSetResult => {
  const set = travelSet();
  const evalCaseResults = set.evalCaseResults.filter(({ finalEvalStatus }) => finalEvalStatus === EvalStatus.PASSED);
  return { ...set, evalCaseResults: evalCaseResults.slice(0, 1) };
};

test("the renderers here are all there are", () => {
  const exported = Object.keys(report).filter((name) => /^render(?!Comparison)/.test(name));
  assert.deepEqual(
    exported.sort(),
    Object.keys(RENDERERS)
      .filter((name) => name !== "resultLines")
      .sort(),
  );
});

for (const [name, render] of Object.entries(RENDERERS)) {
  test(`${name} shows every warning, its place and what to do`, () => {
    const text = render({ ...travelSet(), warnings: WARNINGS });
    for (const word of [...WORDS, ...HELP]) assert.ok(text.includes(word), word);
  });

  const isEmpty = name === "renderFailures";
  test(`${name} shows ${isEmpty ? "no warning" : "them"} where all passes`, () => {
    const text = render({ ...passing(), warnings: WARNINGS });
    if (isEmpty) assert.equal(text, "");
    else for (const word of WORDS) assert.ok(text.includes(word), word);
  });
}

test("so does every format of the command line", () => {
  for (const [format, { render }] of Object.entries(REPORT_FORMATS)) {
    if (render === undefined) continue;
    const text = plain([...render({ ...travelSet(), warnings: WARNINGS }, {})].join(""));
    for (const word of WORDS) assert.ok(text.includes(word), `${format}: ${word}`);
  }
});
