// What is in the packed package: what users can reach, and nothing else.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { after, before, test } from "node:test";
import { makeProject } from "./project.mjs";

let project;
let installed;

before(async () => {
  project = await makeProject();
  installed = join(project.folder, "node_modules/adk-metrics");
});
after(() => project?.remove());

const read = (path) => readFileSync(join(installed, path), "utf8");
const withoutComments = (text) => text.replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, "");

function files() {
  return readdirSync(installed, { recursive: true })
    .map((path) => String(path).split(sep).join("/"))
    .filter((path) => statSync(join(installed, path)).isFile());
}

/** Everything that an object holds as texts, however deep. */
const textsOf = (value) => (typeof value === "string" ? [value] : Object.values(value).flatMap(textsOf));

/** The files and folders that a file names: what it imports, its source map, and what it reads. */
function namedBy(path) {
  if (!/\.[jt]s$/.test(path)) return [];
  const text = read(path);
  const names = path.endsWith(".d.ts")
    ? [...text.matchAll(/\b(?:from|import)\s*\(?\s*["'](\.[^"']+)\.js["']/g)].map(([, name]) => `${name}.d.ts`)
    : [
        ...text.matchAll(/(?:\bfrom|\bimport\(?|\brequire\(|\bURL\() *"(\.[^"]+)"/g),
        ...text.matchAll(/^\/\/# sourceMappingURL=(.+)$/gm),
      ].map(([, name]) => name);
  return names.map((name) =>
    relative(installed, join(installed, dirname(path), name))
      .split(sep)
      .join("/"),
  );
}

test("every file can be reached", () => {
  const { exports, bin, main, types } = JSON.parse(read("package.json"));
  const all = files();
  const entries = textsOf([exports, bin, main, types]).flatMap((target) => {
    const path = target.replace(/^\.\//, "");
    const [start, end] = path.split("*");
    return end === undefined ? [path] : all.filter((file) => file.startsWith(start) && file.endsWith(end));
  });
  const reached = new Set(entries);
  for (const path of reached) {
    for (const name of namedBy(path)) {
      const inside = all.filter((file) => file.startsWith(`${name}/`));
      for (const file of inside.length > 0 ? inside : [name]) reached.add(file);
    }
  }
  const always = [
    "package.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "THIRD_PARTY_LICENSES.md",
    "dist/cjs/package.json",
  ];
  assert.deepEqual(all.filter((path) => !reached.has(path) && !always.includes(path)).sort(), []);
  assert.deepEqual(
    [...reached].filter((path) => !all.includes(path)),
    [],
  );
});

test("no declaration says any", () => {
  for (const path of files().filter((file) => file.endsWith(".d.ts"))) {
    assert.doesNotMatch(withoutComments(read(path)), /[:<|&,(=]\s*any\b/, path);
  }
});

test("the engine is in it once as it is and once inlined, for ES modules", () => {
  const inlined = files().filter((path) => path.endsWith(".js") && /"[^"]{100000,}"/.test(read(path)));
  assert.deepEqual(
    inlined.map((path) => dirname(path)),
    ["dist/esm"],
  );
  assert.equal(files().filter((path) => path.endsWith(".wasm")).length, 1);
});

test("what is marked as having side effects is there", () => {
  const { sideEffects } = JSON.parse(read("package.json"));
  const all = files();
  assert.deepEqual(
    sideEffects.filter((path) => !all.includes(path.replace(/^\.\//, ""))),
    [],
  );
});

test("classes and functions are called what they are exported as", async () => {
  const asModule = (entry) => `import * as all from "${entry}"; print(all);`;
  // Newer versions of Node load ES modules for `require` as well.
  const asCommonJs = (entry) =>
    `import { createRequire } from "node:module";
    print(createRequire(import.meta.url)("./node_modules/adk-metrics/dist/cjs/${entry.split("/")[1] ?? "index"}.js"));`;
  for (const [entry, ...ways] of [
    ["adk-metrics", asModule, asCommonJs],
    ["adk-metrics/report", asModule, asCommonJs],
    ["adk-metrics/interop", asModule, asCommonJs],
    ["adk-metrics/calibration", asModule],
    ["adk-metrics/queue", asModule],
  ]) {
    for (const program of ways.map((way) => way(entry))) {
      const print = `function print(all) {
        for (const [name, one] of Object.entries(all)) if (typeof one === "function") console.log(name, one.name);
      }`;
      project.write({ "names.mjs": `${program}\n${print}\n` });
      const printed = await project.run(process.execPath, ["names.mjs"]);
      const pairs = printed
        .trim()
        .split("\n")
        .map((line) => line.split(" "));
      assert.ok(pairs.length >= 4, printed);
      for (const [exported, own] of pairs) assert.equal(own, exported);
    }
  }
});

test("an error that nobody catches is not lost in the code that Node prints with it", () => {
  const request = "{ evalSet: {}, actual: {}, criteria: { no_metric: 1 } }";
  project.write({
    "uncaught.mjs": `import { evaluate } from "adk-metrics"; await evaluate(${request});`,
    "uncaught.cjs": `require("adk-metrics").evaluate(${request});`,
  });
  for (const program of ["uncaught.mjs", "uncaught.cjs"]) {
    const { stderr } = spawnSync(process.execPath, [program], { cwd: project.folder, encoding: "utf8" });
    assert.match(stderr, /there is no metric `no_metric`/);
    assert.ok(stderr.length < 5000, `${program}: ${stderr.length} characters`);
  }
});
