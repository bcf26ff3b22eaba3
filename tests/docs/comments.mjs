// The samples in the doc comments of the package's sources. They show one thing, and leave out what every reader knows:
// here names of the package are imported, and the usual variables are there.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../package/support/package.mjs";

const FOLDER = "pkg-template/src";

/** What a name that samples use stands for. */
const USUAL = {
  apiKey: 'const apiKey = "a-key";',
  agent: "const agent: AgentFunction = async (message) => `You said: ${message}`;",
  auth: 'const auth = { getAccessToken: async () => "a-token" };',
  browserJudge: `Object.assign(globalThis, { LanguageModel: {
  availability: async () => "available",
  create: async () => ({ prompt: async () => '{ "explanation": "", "score": 1 }', destroy() {} }),
} });`,
  config: "const config = { criteria: { safety_v1: 1 } };",
  criteria: "const criteria = { response_match_score: 0.1 };",
  evalSet: 'const evalSet = readEvalSet(readFileSync("weather.evalset.json"));',
  evalSetId: "const evalSetId = evalSet.evalSetId;",
  evaluateConfig: 'const evaluateConfig = { evalMetrics: [{ metricName: "response_match_score", threshold: 0 }] };',
  actual: 'const actual = readFileSync("weather.actual.json");',
};

/** The files that samples name besides those of every page. */
const FILES = {
  "evals/weather.evalset.json": readFileSync(join(root, "examples/weather/weather.evalset.json"), "utf8"),
  "evals/weather.test.json": readFileSync(join(root, "examples/weather/weather.evalset.json"), "utf8"),
  "evals/test_config.json": '{ "criteria": { "response_match_score": 0.1 } }',
  "judge.jsonl": readFileSync(join(root, "examples/museum-guide/judge.jsonl"), "utf8"),
};

/** What stands before samples that expect something; they are run by Vitest. */
const EXPECT = `import "adk-metrics/vitest";
import { expect, test } from "vitest";
`;

/** The pages of samples that the sources are; `exported` are the names that the package has. */
export function readComments(exported) {
  const files = readdirSync(join(root, FOLDER), { recursive: true }).filter((file) => file.endsWith(".ts"));
  return files.sort().flatMap((file) => {
    const name = `${FOLDER}/${file}`;
    const text = readFileSync(join(root, name), "utf8");
    const samples = Array.from(text.matchAll(/^ *\* ```(.*)\n((?: *\*.*\n)*?) *\* ```$/gm), ([, info, body]) => {
      const line = text.slice(0, text.indexOf(body)).split("\n").length - 1;
      assert.equal(info, "ts", `${name}:${line}: samples in doc comments are ts`);
      const code = body.replaceAll(/^ *\* ?/gm, "").replaceAll(/^const /gm, "export const ");
      const flags = new Set(/"adk-metrics\/(web|slim)"/.test(code) ? ["browser"] : []);
      const prelude = preludeOf(code, exported);
      const sample = { name: `${name}:${line}`, line, language: "ts", flags };
      if (!code.includes("expect(")) return { ...sample, code, before: { code: prelude } };
      return {
        ...sample,
        file: `sample-${line}.test.ts`,
        code: `${EXPECT}${prelude}test("it", async () => {\n${code}});\n`,
      };
    });
    return samples.length > 0 ? [{ name, folder: "examples/weather", files: FILES, samples }] : [];
  });
}

/** What stands before a sample: imports of the names that it uses, and the usual variables. */
function preludeOf(code, exported) {
  const uses = (text, name) => new RegExp(`(?<!\\.)\\b${name}\\b(?!:)`).test(text);
  const variables = [];
  for (let more = code; more !== "";) {
    const found = Object.entries(USUAL).filter(([name, text]) => uses(more, name) && !variables.includes(text));
    more = found.map(([, text]) => text).join("\n");
    variables.unshift(...found.map(([, text]) => text));
  }
  const all = [...variables, code].join("\n");
  const own = exported.filter((name) => uses(all, name) && !new RegExp(`import .*\\b${name}\\b`).test(code));
  if (uses(all, "AgentFunction")) own.push("type AgentFunction");
  const imports = own.length > 0 ? [`import { ${own.join(", ")} } from "adk-metrics";`] : [];
  if (uses(all, "readFileSync")) imports.push('import { readFileSync } from "node:fs";');
  if (uses(code, "readFile")) imports.push('import { readFile } from "node:fs/promises";');
  return `${[...imports, ...variables].join("\n")}\n`;
}
