// Completion and checking by the package's own schemas.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRequire } from "node:module";
import {
  descriptionAt,
  firstValue,
  isCamelCase,
  keysAt,
  proposedKeys,
  schemaErrors,
  type Schema,
  valuesAt,
} from "../../../www/src/editor/schema.js";
import { stepsOf } from "../../../www/src/editor/path.js";

const SCHEMA: Schema = {
  type: "object",
  properties: {
    match_type: { $ref: "#/definitions/Match", description: "How closely." },
    matchType: { $ref: "#/properties/match_type", suggestSortText: "~matchType" },
    ordered: { anyOf: [{ type: ["boolean", "null"] }, { type: "integer", minimum: 0, maximum: 1 }], default: true },
    items: {
      type: "array",
      items: { type: "object", required: ["id"], properties: { id: { type: "string" } }, additionalProperties: false },
    },
  },
  additionalProperties: false,
  definitions: { Match: { enum: ["EXACT", "IN_ORDER"] } },
};

const node = (value: unknown): Parameters<typeof schemaErrors>[2] => parse(JSON.stringify(value));

// What the page uses is the playground's own dependency.
const { parseTree } = createRequire(new URL("../../../www/package.json", import.meta.url))("jsonc-parser") as {
  parseTree(text: string): Parameters<typeof schemaErrors>[2];
};
const parse = parseTree;

describe("a schema", () => {
  test("finds any number of mistakes", () => {
    const items = Array.from({ length: 200_000 }, () => ({}));
    assert.equal(schemaErrors(SCHEMA, SCHEMA, node({ items })).length, items.length);
  });

  test("names the keys of an object, second spellings as such", () => {
    assert.deepEqual(
      keysAt(SCHEMA, []).map(({ key, isSecondSpelling }) => [key, isSecondSpelling]),
      [
        ["match_type", false],
        ["matchType", true],
        ["ordered", false],
        ["items", false],
      ],
    );
    assert.deepEqual(
      keysAt(SCHEMA, ["items", 0]).map(({ key }) => key),
      ["id"],
    );
  });

  test("names values, through references and alternatives", () => {
    assert.deepEqual(
      valuesAt(SCHEMA, ["matchType"]).map(({ value }) => value),
      ["EXACT", "IN_ORDER"],
    );
    assert.deepEqual(
      valuesAt(SCHEMA, ["ordered"]).map(({ value }) => value),
      [true, false],
    );
    assert.equal(descriptionAt(SCHEMA, ["match_type"]), "How closely.");
  });

  test("proposes the keys that are not there yet, in the spelling of the document", () => {
    const keys = (present: string[], isCamelCase: boolean) =>
      proposedKeys(SCHEMA, [], present, isCamelCase).map(({ key }) => key);
    assert.deepEqual(keys([], false), ["match_type", "ordered", "items"]);
    assert.deepEqual(keys([], true), ["matchType", "ordered", "items"]);
    assert.deepEqual(keys(["matchType", "items"], false), ["ordered"]);
    const documents = ['{"my_key": {"matchType": 1}}', '{"match_type": 1, "someKey": 1}', '{"items": []}'];
    assert.deepEqual(
      documents.map((text) => isCamelCase(SCHEMA, text)),
      [true, false, false],
    );
  });

  test("has a value to begin with for each of them", () => {
    const of = (key: string) => firstValue(SCHEMA, SCHEMA.properties?.[key] as Schema);
    assert.deepEqual([of("match_type"), of("ordered"), of("items")], ['"EXACT"', "true", "[]"]);
    assert.equal(firstValue(SCHEMA, { anyOf: [{ type: "number" }], defaultSnippets: [{ body: 0.8 }] }), "0.8");
    assert.equal(firstValue(SCHEMA, { type: ["string", "null"] }), '""');
    assert.equal(firstValue(SCHEMA, {}), "null");
  });

  test("says what must not be, and what must be just that", () => {
    const threshold: Schema = { anyOf: [{ type: "number" }, { not: { type: ["string", "number"] } }] };
    assert.deepEqual(
      ["high", 1, true].map((value) => schemaErrors(SCHEMA, threshold, node(value)).length),
      [1, 0, 0],
    );
    assert.deepEqual(
      [true, false].map((value) => schemaErrors(SCHEMA, { const: true }, node(value)).length),
      [0, 1],
    );
  });

  test("says what does not fit, and where", () => {
    const wrong = { match_type: "SOMEHOW", ordred: true, items: [{ name: "x" }] };
    const found = schemaErrors(SCHEMA, SCHEMA, node(wrong)).map(({ message }) => message);
    assert.deepEqual(found, [
      'expected "EXACT", "IN_ORDER"',
      "`ordred` is not known here",
      "`name` is not known here",
      "`id` is missing",
    ]);
  });

  test("lets pass what fits", () => {
    assert.deepEqual(schemaErrors(SCHEMA, SCHEMA, node({ matchType: "EXACT", ordered: 1, items: [{ id: "a" }] })), []);
    assert.deepEqual(schemaErrors(SCHEMA, SCHEMA, node({ ordered: 2 })).map(({ message }) => message).length, 1);
  });
});

test("the path of a mistake is a list of steps", () => {
  assert.deepEqual(stepsOf("evalSet: eval_cases[2].conversation[0].user_content"), [
    "eval_cases",
    2,
    "conversation",
    0,
    "user_content",
  ]);
  assert.deepEqual(stepsOf("config: criteria.response_match_score.treshold"), [
    "criteria",
    "response_match_score",
    "treshold",
  ]);
  assert.deepEqual(stepsOf("$"), []);
});
