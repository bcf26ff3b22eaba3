import assert from "node:assert/strict";
import { test } from "node:test";
import { type Paint, renderFailures, renderMarkdown, renderTable } from "../../pkg-template/src/report/index.js";
import { displayWidth } from "../../pkg-template/src/report/text.js";
import { adkMatchers } from "../../pkg-template/src/testing/matchers.js";
import { emptySet, evalCase, evalSet, hostileSet, invocation, overlap, travelSet, turn } from "./fixtures.js";
import { hostileJudgedSet, judgedSet } from "./judged-fixtures.js";

const all = () => [travelSet(), hostileSet(), emptySet(), judgedSet(), hostileJudgedSet()];

/** A run of a case whose one response is `actual`. */
const run = (actual: string, evalId = "one") =>
  evalCase("set", evalId, [
    turn(invocation("Hello?", "good morning"), invocation("Hello?", actual), [overlap("good morning", actual)]),
  ]);

const headings = (text: string) => text.split("\n").filter((line) => /^[✗✓?]/u.test(line));

test("failures are those of the table, without the cases that passed", () => {
  const table = renderTable([travelSet()]);
  for (const part of renderFailures(travelSet()).trimEnd().split("\n\n")) assert.ok(table.includes(part), part);
});

test("there is nothing to show where everything passed", () => {
  assert.equal(renderFailures([evalSet("set", [run("good morning")]), emptySet()]), "");
});

test("runs that tell the same are shown once", () => {
  const text = renderFailures(
    evalSet(
      "set",
      ["no", "nope", "no", "good morning"].map((text) => run(text)),
    ),
  );
  assert.deepEqual(headings(text), ["✗ one (runs 1, 3)", "✗ one (run 2)"]);
  const same = renderFailures(evalSet("set", [run("no"), run("no"), run("no", "two")]));
  assert.deepEqual(headings(same), ["✗ one (2 of 2 runs)", "✗ two"]);
});

test("the table and Markdown show runs that tell the same once", () => {
  const set = evalSet("set", [
    ...["no", "nope", "no", "good morning"].map((text) => run(text)),
    ...["no", "no", "no"].map((text) => run(text, "two")),
  ]);
  assert.deepEqual(headings(renderTable(set)), ["✗ one (runs 1, 3)", "✗ one (run 2)", "✗ two (3 of 3 runs)"]);
  const summaries = renderMarkdown(set).matchAll(/<summary>(.*)<\/summary>/g);
  assert.deepEqual(
    [...summaries].map(([, summary = ""]) =>
      summary.replace(/<\/?code>/g, "").replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))),
    ),
    ["❌ one (runs 1, 3) failed", "❌ one (run 2) failed", "❌ two (3 of 3 runs) failed"],
  );
});

test("toPass counts cases, and runs beside them", () => {
  const runs = ["a", "b", "c", "d", "e"].flatMap((evalId) => [run("no", evalId), run("no", evalId)]);
  const matcher = adkMatchers.toPass.bind({ isNot: false });
  const { pass, message } = matcher(evalSet("set", runs));
  assert.equal(pass, false);
  assert.match(message(), /^5 of 5 cases did not pass \(10 of 10 runs\)\.$/m);
});

test("cases with one name in two evalsets are two cases", () => {
  assert.deepEqual(headings(renderFailures([evalSet("a", [run("no")]), evalSet("b", [run("no")])])), [
    "✗ a: one",
    "✗ b: one",
  ]);
});

test("no line of a failure is wider than asked, and nothing acts on the terminal", () => {
  for (const width of [60, 100]) {
    const text = renderFailures(all(), { width });
    for (const line of text.split("\n")) assert.ok(displayWidth(line) <= width, line);
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  }
});

test("colours may be anybody's", () => {
  const paint: Paint = (text, styles) => `<${styles.join()}>${text}</>`;
  const text = renderFailures(evalSet("set", [run("no")]), { color: paint });
  assert.ok(text.includes("<expected>- good morning</>"), text);
  assert.ok(text.includes("<actual>+ no</>"), text);
  assert.ok(text.includes("<red,bold>✗ one</>"), text);
});

test("a vote comes with what one of those against said", () => {
  const text = renderFailures(judgedSet());
  const votes = text.split("\n").filter((line) => /^ +sample \d, (?:invalid|unsafe)/.test(line));
  assert.ok(votes.length > 0, text);
});
