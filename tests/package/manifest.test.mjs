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

test("every provider that forms offer has a judge, which takes the options of its form", () => {
  const offered = manifest.providers.filter(({ form }) => form.fields.length > 0);
  assert.deepEqual(Object.keys(adkMetrics.PROVIDER_JUDGES).sort(), offered.map(({ name }) => name).sort());
  for (const { name, form } of offered) {
    const valueOf = ({ option, choices, placeholder }) =>
      choices[0]?.[0] ?? (option === "baseUrl" ? placeholder || "https://example.com" : "some-text");
    for (const needed of form.needed) {
      const own = form.fields.filter(({ option }) => needed.includes(option) || !form.needed.flat().includes(option));
      const options = Object.fromEntries(own.map((field) => [field.option, valueOf(field)]));
      assert.equal(typeof adkMetrics.PROVIDER_JUDGES[name](options), "function", name);
    }
    const secrets = form.fields.filter(({ isSecret }) => isSecret).map(({ option }) => option);
    assert.deepEqual(
      secrets,
      form.fields.map(({ option }) => option).filter((option) => /key|token/i.test(option)),
    );
  }
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

test("no source of the package repeats the default model, the keys of records or the statuses of failures", () => {
  const { defaultModel, keys, statuses } = manifest;
  assert.deepEqual(statuses.REJECTED_STATUSES, [401, 403]);
  assert.ok(statuses.RETRIED_STATUSES.includes(429));
  const folder = join(root, "pkg-template/src");
  const found = [];
  for (const file of readdirSync(folder, { recursive: true }).map(String)) {
    if (!file.endsWith(".ts") || file.startsWith("generated")) continue;
    const code = readFileSync(join(folder, file), "utf8").replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*/gm, "");
    if (code.includes(defaultModel)) found.push(`${file}: ${defaultModel}`);
    for (const [name, pairs] of Object.entries(keys)) {
      if (pairs.filter(([, snake]) => code.includes(`"${snake}"`)).length > 2) found.push(`${file}: ${name}`);
    }
    if (/\b(?:status|retryable)\b[^\n]*\b(?:401|403|429)\b/.test(code)) found.push(`${file}: a status`);
  }
  assert.deepEqual(found, []);
});

test("options are taken and checked as the engine declares them, and no source lists them by hand", async () => {
  const { definitions } = JSON.parse(readFileSync(join(root, "target/schema/contract.schema.json"), "utf8"));
  const { RunOptions, RetryOptions, Budget } = definitions;
  const own = Object.entries(RunOptions.properties).filter(([, { "x-option": kind }]) => kind === "evaluator");
  const invocation = { userContent: { parts: [{ text: "Hi" }] }, finalResponse: { parts: [{ text: "Hello" }] } };
  const evalSet = { evalSetId: "set", evalCases: [{ evalId: "case", conversation: [invocation] }] };
  const evaluate = (options) => adkMetrics.evaluate({ evalSet, actual: evalSet, ...options });
  /** What an option surely is not, and how errors write it. */
  const wrong = ({ minimum, exclusiveMinimum }) => (minimum ?? exclusiveMinimum ?? 0) - 1;
  for (const [properties, within] of [
    [Object.fromEntries(own), undefined],
    [RetryOptions.properties, "retry"],
    [Budget.properties, "budget"],
  ]) {
    for (const [name, option] of Object.entries(properties)) {
      const options = { [name]: wrong(option) };
      const path = within === undefined ? name : `${within}: ${name}`;
      const given = within === undefined ? options : { [within]: options };
      await assert.rejects(evaluate(given), (error) => error.code === "invalid_input" && error.path.includes(path));
      if (option["x-default"] !== undefined) {
        const taken = { [name]: option["x-default"] };
        await evaluate(within === undefined ? taken : { [within]: taken });
      }
    }
  }
  const code = readFileSync(join(root, "pkg-template/src/known-options.ts"), "utf8");
  for (const [name] of own) assert.doesNotMatch(code, new RegExp(`\\b${name}\\b`));
});
