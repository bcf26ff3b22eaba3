// Growing is cheap: one of each kind of change that HACKING.md lists is made in a copy of the tree, in the files that it
// names and no others, and works there. It compiles the crate once more, which takes half a minute: the test that tries what
// was added in Rust also exports what the package is generated from, as `cargo xtask schema` does.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { CHROMIUM, CHROMIUM_FLAGS, NO_CHROMIUM } from "../../scripts/chromium.mjs";
import { apply, CHANGES, RUST_TEST } from "./support/changes.mjs";
import { mustRun, root } from "./support/package.mjs";

const skip = process.env.ALL_SUITES === "true" || process.env.CI === "true" ? false : "it compiles the crate again";

/** The files that HACKING.md lists for a change. */
function listed(change) {
  const guide = readFileSync(join(root, "HACKING.md"), "utf8");
  const [, code = ""] = guide.match(new RegExp(`^\\| ${change} +\\|([^|]*)\\|`, "m")) ?? [];
  const own = [...code.matchAll(/`([^`]+)`/g)].map(([, file]) => file);
  return code.includes("those two") ? [...listed("a deterministic metric"), ...own] : own;
}

/** A file of a change as HACKING.md writes it. */
const general = (file) =>
  file
    .replace(/turn_count|\btact\b|(?<=metrics\/)tool_trajectory_f1/, "<metric>")
    .replace(/names\.ts$/, "<format>.ts")
    .replace(/mistral/, "<provider>")
    .replace(/recipes/g, "<screen>")
    .replace(/playground\.ts$/, "<command>.ts");

describe("a change touches the files that HACKING.md lists", () => {
  for (const [change, files] of Object.entries(CHANGES)) {
    test(change, () => assert.deepEqual(Object.keys(files).map(general).sort(), listed(change).sort()));
  }
});

test("one file of code and the readmes name the version of google-adk", () => {
  const [, version] = /google-adk\[eval\]==(.+)/.exec(
    readFileSync(join(root, "tests/parity/requirements.txt"), "utf8"),
  );
  const folders = ["*.md", "docs", "src", "xtask", "pkg-template", "scripts", "www", "examples", "tests/parity/*.py"];
  const except = [":!*package-lock.json", ":!CHANGELOG.md"];
  const { stdout } = spawnSync("git", ["grep", "-lF", version, "--", ...folders, ...except], {
    cwd: root,
    encoding: "utf8",
  });
  assert.deepEqual(stdout.split("\n").filter(Boolean).sort(), ["README.md", "pkg-template/README.md", "src/lib.rs"]);
});

/** Asks the sources of the package for what is added. */
const FOUND = `
  import { parseArguments } from "./pkg-template/src/cli/arguments.ts";
  import { HELPS } from "./pkg-template/src/cli/help.ts";
  import { entriesOf, optionsOf } from "./pkg-template/src/cli/options.ts";
  import { PrebuiltMetrics, PROMPTS, UNITS } from "./pkg-template/src/generated/metrics.ts";
  import { ENGINE_CLASSES } from "./pkg-template/src/generated/registry.ts";
  import { DOTENV_NAMES } from "./pkg-template/src/judges/dotenv.ts";
  import { endpointOf } from "./pkg-template/src/judges/endpoint.ts";
  import { judgeFromEnvironment } from "./pkg-template/src/judges/environment.ts";
  import * as exported from "./pkg-template/src/judges/index.ts";
  import { REPORT_FORMATS } from "./pkg-template/src/report/index.ts";
  const { provider, model } = endpointOf(judgeFromEnvironment("mistral-small", { MISTRAL_API_KEY: "key" }));
  const results = { evalSetId: "a", evalSetResultId: "b", creationTimestamp: 0, evalCaseResults: [] };
  console.log(JSON.stringify({
    names: PrebuiltMetrics,
    prompts: PROMPTS,
    units: UNITS,
    classes: ENGINE_CLASSES.map(([name, { name: className }]) => [name, className]),
    provider,
    model,
    isExported: "mistralJudge" in exported && "mistral" in exported.PROVIDER_JUDGES,
    variables: DOTENV_NAMES,
    report: REPORT_FORMATS.names.render(results, {}),
    formats: entriesOf("eval").find(({ name }) => name === "format").words,
    isLoud: parseArguments(["--loud"], optionsOf("playground")).has("loud"),
    helps: HELPS,
  }));`;

describe("what is added in these files works", { skip }, () => {
  let copy;
  /** What the tests of the engine print. */
  let engine;
  /** What the package has, in one process: loading its sources takes seconds. */
  let found;
  before(() => {
    copy = mkdtempSync(join(tmpdir(), "adk-metrics-changes-"));
    const parts = [
      "src",
      "xtask",
      "benches",
      "fuzz",
      "pkg-template",
      "scripts",
      "examples",
      "www",
      "tests/engine/support",
      "tests/parity",
    ];
    const isCopied = (path) => !/[\\/](?:node_modules|dist|vectors)$/.test(path);
    for (const part of [...parts, "Cargo.toml", "Cargo.lock", ".cargo", "rust-toolchain.toml", "package.json"])
      cpSync(join(root, part), join(copy, part), { recursive: true, filter: isCopied });
    for (const part of ["node_modules", "www/node_modules", "pkg"]) symlinkSync(join(root, part), join(copy, part));
    for (const files of Object.values(CHANGES)) apply(files, copy);
    writeFileSync(join(copy, "tests/changes.rs"), RUST_TEST);
    // These few tests take no time worth optimising for, as the other tests' profile does.
    const tests = ["test", "--quiet", "--locked", "--features", "schema,wasm", "--test", "changes"];
    engine = run("cargo", [...tests, "--config", "profile.dev.package.adk-metrics.opt-level=0"]);
    const make = 'process.argv[1] = ""; await (await import("./scripts/build.mjs")).writeGenerated("target/schema");';
    run(process.execPath, ["--input-type=module", "--eval", make]);
    found = valueOf(FOUND);
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  function run(command, given, folder = ".") {
    const env = { ...process.env, CARGO_INCREMENTAL: "0", CARGO_TARGET_DIR: join(root, "target") };
    const { status, stdout, stderr } = spawnSync(command, given, { cwd: join(copy, folder), env, encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  }

  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const valueOf = (code) =>
    JSON.parse(run(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", code]));

  test("the engine: metrics, judged or not, a setting, a field, a rule of the tokenizer, a reference", () => {
    assert.match(engine, /test result: ok\. 8 passed/);
  });

  test("the package's types hold", () => {
    run(process.execPath, [tsc, "--noEmit", "-p", "pkg-template"]);
  });

  test("the enum, the classes, the registry, the prompts and the help have the metrics", () => {
    assert.equal(found.names.TURN_COUNT_V1, "turn_count_v1");
    assert.equal(found.units.turn_count_v1, "turns");
    assert.deepEqual(found.prompts.tact_v1, { score: "tact_v1" });
    const classes = Object.fromEntries(found.classes);
    assert.deepEqual([classes.turn_count_v1, classes.tact_v1], ["TurnCountV1Evaluator", "TactV1Evaluator"]);
    for (const word of ["turn_count_v1", "tact_v1"]) assert.ok(found.helps.eval.includes(word), word);
  });

  test("a provider is told by the name of a model, its variables are known, and forms offer it", () => {
    assert.deepEqual([found.provider, found.model, found.isExported], ["mistral", "mistral-small", true]);
    assert.ok(found.variables.includes("MISTRAL_API_KEY") && found.variables.includes("MISTRAL_BASE_URL"));
    assert.match(found.helps.eval, /mistral +MISTRAL_API_KEY; MISTRAL_BASE_URL/);
  });

  test("a report format: the package renders it, the command line offers it", () => {
    assert.equal(found.report, "a\n");
    assert.ok(found.formats.includes("names"));
    for (const word of ["names (of evalsets)", ".names"]) assert.ok(found.helps.eval.includes(word), word);
  });

  test("an option is parsed, and the command's help has it", () => {
    assert.equal(found.isLoud, true);
    assert.match(found.helps.playground, /--loud +Says it in capitals\./);
  });

  test("a setting and a field are in the types and the schemas", () => {
    const generated = (file) => readFileSync(join(copy, "pkg-template/src/generated", file), "utf8");
    assert.match(generated("criteria.ts"), /lenient\?: boolean/);
    assert.match(generated("shapes.ts"), /author\?: string/);
  });

  test(
    "a screen is in the navigation, and its part of the worker answers",
    { skip: mustRun ? false : NO_CHROMIUM },
    async () => {
      run(process.execPath, [join(root, "www/node_modules/typescript/bin/tsc"), "--noEmit"], "www");
      run(process.execPath, [join(root, "www/node_modules/vite/bin/vite.js"), "build", "--logLevel", "warn"], "www");
      const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
      const server = createServer((request, response) => {
        const path = new URL(request.url, "http://localhost").pathname.replace(/\/$/, "/index.html");
        response.setHeader("content-type", types[extname(path)] ?? "application/octet-stream");
        response.end(readFileSync(join(copy, "www/dist", path)));
      });
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
      try {
        const page = await browser.newPage();
        await page.goto(`http://127.0.0.1:${server.address().port}/`);
        await page.getByRole("navigation").getByRole("link", { name: "Recipes" }).click();
        await page.getByText("Bake the cake.").waitFor();
        assert.match(await page.title(), /^Recipes/);
      } finally {
        await browser.close();
        server.close();
      }
    },
  );
});
