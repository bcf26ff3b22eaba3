// The published JSON Schemas, held by a validator against files, and the config's against the reader: it takes what the
// reader takes without a warning, and nothing else. A number in text can be any: whether it is in the range of its
// metric's scores, only the reader says.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Ajv } from "ajv";
import editor from "vscode-json-languageservice";
import { importEntry, testFile } from "./support/package.mjs";

const { evaluate, Evaluator, MetricEvaluatorRegistry, readEvalSet, resultsToAdkJson } = await importEntry();
const { getLanguageService, TextDocument } = editor;
const root = new URL("../../", import.meta.url).pathname;

/** What editors read besides JSON Schema's own words. */
const EDITOR_WORDS = ["defaultSnippets", "doNotSuggest", "enumDescriptions", "errorMessage", "suggestSortText"];
const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false });
ajv.addVocabulary(EDITOR_WORDS);
const schemas = Object.fromEntries(
  ["evalset", "results", "config"].map((kind) => [
    kind,
    JSON.parse(readFileSync(join(root, `pkg/schema/${kind}.schema.json`), "utf8")),
  ]),
);
const validators = Object.fromEntries(Object.entries(schemas).map(([kind, schema]) => [kind, ajv.compile(schema)]));

/** What is wrong with a value, by its schema; nothing if it fits. */
function problems(kind, value) {
  return validators[kind](value)
    ? []
    : validators[kind].errors.map(({ instancePath, message, params }) =>
        [instancePath, message, params.additionalProperty].filter(Boolean).join(" "),
      );
}

const examples = readdirSync(join(root, "examples"), { recursive: true }).map((file) => join(root, "examples", file));
const read = (file) => JSON.parse(readFileSync(file, "utf8"));

describe("the schemas of files", () => {
  for (const [kind, name] of [
    ["evalset", /\.evalset\.json$|\.actual\.json$/],
    ["config", /test_config\.json$/],
    ["results", /\.evalset_result\.json$/],
  ]) {
    test(`take every example: ${kind}`, () => {
      // Lists are evalsets in an old form.
      const files = examples.filter((file) => name.test(file) && !Array.isArray(read(file)));
      assert.ok(files.length > 0);
      for (const file of files) {
        const value = read(file);
        // google-adk stores results as JSON inside a JSON string too, which no schema looks into.
        assert.deepEqual(problems(kind, typeof value === "string" ? JSON.parse(value) : value), [], file);
      }
    });
  }

  test("take what the package writes, in both spellings", async () => {
    const [evalSet, actual] = ["evalset", "actual"].map((what) =>
      readFileSync(join(root, `examples/weather/weather.${what}.json`), "utf8"),
    );
    const result = await evaluate({ evalSet, actual });
    assert.deepEqual(problems("results", JSON.parse(resultsToAdkJson(result))), []);
    assert.deepEqual(problems("evalset", JSON.parse(JSON.stringify(readEvalSet(evalSet)))), []);
  });

  test("say what is wrong with a file", () => {
    const turn = { user_content: { parts: [{ text: "Hi" }] } };
    const set = (evalCase) => ({ eval_set_id: "s", eval_cases: [evalCase] });
    assert.deepEqual(problems("evalset", set({ eval_id: "c", conversation: [turn] })), []);
    assert.deepEqual(problems("evalset", { $schema: "./evalset.json", evalSetId: "s", evalCases: [] }), []);
    for (const wrong of [
      set({ eval_id: "c" }),
      set({ conversation: [turn] }),
      set({ eval_id: "c", conversation: [{ ...turn, final_answer: {} }] }),
      set({ eval_id: "c", conversation: [{ ...turn, intermediate_data: { tool_uses: [{ name: 1 }] } }] }),
      { eval_cases: [] },
      { eval_set_id: "s", evalSetId: "s", eval_cases: [] },
    ]) {
      assert.notDeepEqual(problems("evalset", wrong), [], JSON.stringify(wrong));
    }
  });

  test("describe every key once, in the spelling of google-adk first", () => {
    for (const [kind, schema] of Object.entries(schemas)) {
      for (const { place, properties } of objectsIn(schema)) {
        for (const [key, property] of Object.entries(properties)) {
          const where = `${kind}: ${place}/${key}`;
          const [, snake] = /\/properties\/(\w+)$/.exec(property.$ref ?? "") ?? [];
          if (snake !== undefined) assert.equal(camelCase(snake), key, where);
          else if (!/[A-Z]/.test(key)) assert.ok(describedBy(schema, property), where);
        }
      }
    }
  });
});

const camelCase = (key) => key.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Every schema of an object in a schema that has properties with keys of their own. */
function* objectsIn(schema, place = "#") {
  if (schema === null || typeof schema !== "object") return;
  const { properties } = schema;
  const isNarrowing = place.includes("/oneOf");
  if (properties !== undefined && !isNarrowing) yield { place, properties };
  for (const [key, value] of Object.entries(schema)) yield* objectsIn(value, `${place}/${key}`);
}

function describedBy(schema, { description, $ref }) {
  if (description !== undefined || $ref === undefined) return description;
  return describedBy(schema, at(schema, $ref));
}

const at = (schema, reference) =>
  reference
    .split("/")
    .slice(1)
    .reduce((value, key) => value[key], schema);

/** What the reader makes of a config: nothing, or what it refuses or warns of. */
async function reading(text) {
  const registry = new MetricEvaluatorRegistry();
  class Own extends Evaluator {
    evaluateInvocations() {
      return { overallEvalStatus: 3, perInvocationResults: [] };
    }
  }
  // A schema cannot know which metrics are registered, so all are.
  const { criteria, custom_metrics, customMetrics } = JSON.parse(text) ?? {};
  const own = Object.keys(custom_metrics ?? customMetrics ?? {});
  const nothing = '{"eval_set_id":"s","eval_cases":[]}';
  try {
    for (const name of new Set([...Object.keys(criteria ?? {}).filter((name) => !isBuiltIn(name)), ...own])) {
      registry.registerEvaluator({ metricName: name, metricValueInfo: {} }, Own);
    }
    const { warnings = [] } = await evaluate({
      evalSet: nothing,
      actual: nothing,
      config: text,
      registry,
      judge: async () => "",
    });
    // That there is nothing to score is no fault of the config.
    const ofConfig = warnings.filter(({ path }) => path !== "evalSet");
    return ofConfig.map(({ message, path }) => `${path}: ${message}`);
  } catch (error) {
    return [`${error.path}: ${error.message}`];
  }
}

const { properties: metrics, patternProperties: otherNames } = schemas.config.properties.criteria;
const isBuiltIn = (name) =>
  name in metrics || Object.keys(otherNames).some((pattern) => new RegExp(pattern).test(name));

/** Whether all that the reader says is about thresholds out of range, and the config has numbers in text. */
const isThresholdInText = (text, byReader) =>
  /"\s*[-+.\d][^"]*"/.test(text) && byReader.every((said) => /score reaches the threshold/.test(said));

/** Compares schema and reader over configs; returns those in which they differ. */
async function differences(configs) {
  const found = [];
  for (const { name, text } of configs) {
    const bySchema = problems("config", JSON.parse(text));
    const byReader = await reading(text);
    if ((bySchema.length === 0) !== (byReader.length === 0)) found.push({ name, text, bySchema, byReader });
  }
  return found;
}

describe("the schema of configs", () => {
  test("takes what the reader takes, on every recorded config", async () => {
    const recorded = JSON.parse(testFile("parity/vectors/config.json")).configs.filter(({ text }) => parses(text));
    assert.ok(recorded.length > 250, `${recorded.length} configs`);
    const reasons = [
      // Of what the reader keeps without looking into it, the schema says what google-adk takes.
      ["custom metrics are google-adk's", ({ name }) => /^beside criteria (6|7|8|13)$/.test(name)],
      ["so are the settings of simulated users and live models", ({ name }) => /^beside criteria (18|22)$/.test(name)],
      ["a judge's model takes or refuses its settings", ({ text }) => text.includes('"temperature":"hot"')],
      // These a schema cannot say.
      ["a number beyond the range of doubles", ({ text }) => text.includes("1e400")],
      ["a key that resembles a setting of a judge's model", ({ text }) => text.includes('"temprature"')],
      ["a threshold in text that is out of range", ({ text, byReader }) => isThresholdInText(text, byReader)],
      ["a metric without a name, which cannot be registered", ({ byReader }) => /has no name/.test(byReader)],
      ["an id twice in a list", ({ byReader }) => /is given twice/.test(byReader)],
    ];
    const unexplained = (await differences(recorded)).filter((d) => !reasons.some(([, covers]) => covers(d)));
    assert.deepEqual(unexplained, []);
  });

  test("takes what the reader takes, for every setting of every metric in both spellings", async () => {
    const values = [
      null,
      true,
      false,
      0,
      1,
      2,
      3,
      -1,
      0.5,
      1000,
      1001,
      "",
      "1",
      "x",
      "yes",
      "No",
      [],
      {},
      { x: 1 },
      ["x"],
    ];
    const configs = [];
    const add = (criteria, name) => configs.push({ name, text: JSON.stringify({ criteria }) });
    for (const name of Object.keys(metrics)) {
      const { properties = {} } = schemas.config.definitions[name];
      for (const value of values) add({ [name]: value }, name);
      for (const key of Object.keys(properties)) {
        const words = JSON.stringify([resolved(properties[key])]).matchAll(/"enum":(\[[^\]]*\])/g);
        const own = [...words].flatMap(([, list]) => JSON.parse(list));
        for (const value of [...values, ...own, ...own.map(String).map((word) => word.toLowerCase())]) {
          add({ [name]: { threshold: 0.5, [key]: value } }, `${name}.${key}`);
        }
      }
      const options = schemas.config.definitions.JudgeModelOptions.properties;
      for (const key of "judge_model_options" in properties ? Object.keys(options) : []) {
        for (const value of values) {
          add({ [name]: { threshold: 0.5, judge_model_options: { [key]: value } } }, `${name}: ${key}`);
        }
      }
    }
    assert.ok(configs.length > 3000, `${configs.length} configs`);
    // What a setting lacks beside it to have an effect is no matter of a schema.
    const isWithoutEffect = ({ bySchema, byReader }) =>
      bySchema.length === 0 && [byReader].flat().every((words) => /`numeric_tolerance` has no effect/.test(words));
    assert.deepEqual(
      (await differences(configs)).filter((one) => !isWithoutEffect(one)),
      [],
    );
  });

  test("takes the thresholds that decide something, and 0", async () => {
    const configs = [];
    for (const name of Object.keys(metrics)) {
      for (const threshold of [-1, -0.001, 0, 0.001, 0.5, 0.999, 1, 1.001, 4.999, 5, 5.001, 1e9, true, false]) {
        for (const criterion of [threshold, { threshold }]) {
          configs.push({ name, text: JSON.stringify({ criteria: { [name]: criterion } }) });
        }
      }
    }
    assert.deepEqual(await differences(configs), []);
    const takes = (criteria) => problems("config", { criteria }).length === 0;
    assert.deepEqual(
      [-1, 0, 1, 5].map((threshold) => takes({ response_match: { threshold } })),
      [false, true, true, false],
    );
    assert.deepEqual(
      [-1, 0, 0.8, 1, 5, 6].map((threshold) => takes({ response_evaluation_score: threshold })),
      [false, true, false, true, true, false],
    );
    assert.ok(takes({ my_own_metric: 100 }));
  });

  test("leaves it to the reader whether a number in text is in range", async () => {
    const text = JSON.stringify({ criteria: { response_match_score: "5" } });
    assert.deepEqual(problems("config", JSON.parse(text)), []);
    assert.match((await reading(text)).join(), /no score reaches the threshold 5/);
  });

  test("knows every metric, by ADK-TS's names too", async () => {
    const names = new MetricEvaluatorRegistry().getRegisteredMetrics().map(({ metricName }) => metricName);
    assert.deepEqual(Object.keys(metrics).sort(), [...names].sort());
    assert.ok(isBuiltIn("TOOL_TRAJECTORY_AVG_SCORE"));
    const page = readFileSync(join(root, "docs/metrics.md"), "utf8");
    const others = Object.keys(otherNames).flatMap((pattern) => pattern.match(/\w+/g));
    const legacy = others.filter((name) => name !== name.toUpperCase());
    assert.ok(legacy.includes("safety") && legacy.includes("response_match"));
    for (const name of legacy) assert.ok(page.includes(`\`${name}\``), `docs/metrics.md has no ${name}`);
  });

  test("marks a misspelt setting and a misspelt option", () => {
    for (const criterion of [{ match_typ: "EXACT" }, { judge_model_options: [] }, { match_type: "sorted" }]) {
      const criteria = { hallucinations_v1: { threshold: 0.5, ...criterion } };
      assert.notDeepEqual(problems("config", { criteria }), []);
    }
  });
});

describe("an editor with the schema of configs", () => {
  const service = getLanguageService({});
  service.configure({ validate: true, schemas: [{ uri: "config", fileMatch: ["*"], schema: schemas.config }] });
  const opened = (text) => TextDocument.create("file:///test_config.json", "json", 1, text);

  /** What is proposed where the mark stands, in the order in which it is shown. */
  async function proposals(text) {
    const document = opened(text.replace("▮", ""));
    const place = document.positionAt(text.indexOf("▮"));
    const { items } = await service.doComplete(document, place, service.parseJSONDocument(document));
    const rank = ({ sortText, label }) => sortText ?? label;
    return items.sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  }
  const labels = async (text) => (await proposals(text)).map(({ label }) => label);

  test("proposes every metric that takes a threshold, with what it measures", async () => {
    const proposed = await proposals('{"criteria": {▮}}');
    const known = new MetricEvaluatorRegistry().getRegisteredMetrics();
    const names = known.filter(({ requiresThreshold }) => requiresThreshold !== false).map((info) => info.metricName);
    assert.deepEqual(proposed.map(({ label }) => label).sort(), names.sort());
    for (const { label, documentation } of proposed)
      assert.match(String(documentation), /Score: [01] to [15]\./, label);
  });

  test("proposes settings in snake_case, then in camelCase, with their defaults", async () => {
    const proposed = await proposals('{"criteria": {"tool_trajectory_avg_score": {▮}}}');
    const [ignoreArgs, matchType, threshold, ...camel] = proposed;
    assert.deepEqual(
      [ignoreArgs, matchType, threshold, ...camel].map(({ label }) => label),
      ["ignore_args", "match_type", "threshold", "ignoreArgs", "matchType"],
    );
    assert.match(ignoreArgs.insertText, /false/);
    assert.match(matchType.insertText, /EXACT/);
    assert.deepEqual(await labels('{"criteria": {"hallucinations_v1": {"judge_model_options": {▮}}}}'), [
      ...["judge_model", "judge_model_config", "judge_models", "num_samples", "parallelism_limit"],
      ...["judgeModel", "judgeModelConfig", "judgeModels", "numSamples", "parallelismLimit"],
    ]);
  });

  test("proposes values with their meaning", async () => {
    const proposed = await proposals('{"criteria": {"tool_trajectory_avg_score": {"match_type": ▮}}}');
    assert.deepEqual(
      proposed
        .slice(0, 3)
        .map(({ label }) => label)
        .sort(),
      ['"ANY_ORDER"', '"EXACT"', '"IN_ORDER"'],
    );
    assert.match(String(proposed[1].documentation), /no others/);
    const strategies = await labels('{"criteria": {"tool_parameter_match": {"per_arg_strategies": {"city": ▮}}}}');
    assert.deepEqual(strategies, ['"casefold_exact"', '"contains"', '"exact"', '"numeric"']);
  });

  test("says what is wrong", async () => {
    const text = JSON.stringify({
      criteria: {
        tool_trajectory_f1: { threshold: 1, colour: 1, match_mode: "sorted" },
        token_usage_v1: 1,
        safety_v1: {},
      },
    });
    const document = opened(text);
    const found = await service.doValidation(document, service.parseJSONDocument(document));
    assert.deepEqual(found.map(({ message }) => message).sort(), [
      "It is always reported and takes no threshold.",
      'Missing property "threshold".',
      "Property colour is not allowed.",
      'Value is not accepted. Valid values: "name_and_required_args", "name_and_args", "name_only".',
    ]);
  });
});

function parses(text) {
  try {
    return text !== null && JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

function resolved(schema) {
  return schema.$ref === undefined ? schema : resolved(at(schemas.config, schema.$ref));
}
