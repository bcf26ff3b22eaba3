// What the engine lists, the package has from the manifest that the Rust code exports; nothing of it is written by hand.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { importEntry, root } from "./support/package.mjs";

const adkMetrics = await importEntry();
const manifest = JSON.parse(readFileSync(join(root, "target/schema/manifest.json"), "utf8"));
const names = manifest.metrics.map(({ name }) => name);

test("the package has every metric of the manifest: a member of the enum, a class, a place in the registry", () => {
  const registered = adkMetrics.DEFAULT_METRIC_EVALUATOR_REGISTRY;
  assert.deepEqual(
    registered.getRegisteredMetrics().map(({ metricName }) => metricName),
    names,
  );
  for (const { name, legacyNames, className, description, takesCriterion } of manifest.metrics) {
    for (const each of [name, ...legacyNames]) {
      assert.equal(adkMetrics.PrebuiltMetrics[each.toUpperCase()], each);
      const evaluator = registered.getEvaluator({ metricName: each, threshold: 1 });
      assert.equal(evaluator.constructor, adkMetrics[className], each);
    }
    const info = adkMetrics[className].getMetricInfo(name);
    assert.equal(info.metricName, name);
    assert.equal(info.description, description);
    assert.equal(info.requiresThreshold, takesCriterion);
  }
});

test("evalsets without a config are scored by the default criteria of the manifest", async () => {
  assert.deepEqual(Object.entries(adkMetrics.DEFAULT_CRITERIA), manifest.defaultCriteria);
  const invocation = { userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } };
  const evalSet = { evalSetId: "set", evalCases: [{ evalId: "case", conversation: [invocation] }] };
  const { evalCaseResults } = await adkMetrics.evaluate({ evalSet, actual: evalSet });
  const scored = evalCaseResults[0].overallEvalMetricResults.filter(({ threshold }) => threshold !== undefined);
  const criteria = Object.fromEntries(scored.map(({ metricName, threshold }) => [metricName, threshold]));
  assert.deepEqual(criteria, Object.fromEntries(manifest.defaultCriteria));
});

test("no source of the package lists metrics by hand", () => {
  const folder = join(root, "pkg-template/src");
  const files = readdirSync(folder, { recursive: true }).map(String);
  const lists = [];
  for (const file of files.filter((file) => file.endsWith(".ts") && !file.startsWith("generated"))) {
    const code = readFileSync(join(folder, file), "utf8").replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*/gm, "");
    const named = names.filter((name) => code.includes(`"${name}"`) || code.includes(`.${name.toUpperCase()}`));
    if (named.length > 2) lists.push(`${file}: ${named.join(", ")}`);
  }
  assert.deepEqual(lists, []);
});
