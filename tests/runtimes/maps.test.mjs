// Source maps: they lead to the TypeScript at its address, and no tool complains about them.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { decode } from "@jridgewell/sourcemap-codec";
import esbuild from "esbuild";
import { build as buildVite, createLogger, createServer } from "vite";
import webpack from "webpack";
import { manifest, root } from "../package/support/package.mjs";
import { makeProject } from "./project.mjs";

const ADDRESS = `https://raw.githubusercontent.com/adk-metrics/adk-metrics/v${manifest.version}/pkg-template/src/`;
const sourceFolder = join(root, "pkg-template/src");

let project;
let dist;

before(async () => {
  project = await makeProject();
  dist = join(project.folder, "node_modules/adk-metrics/dist");
  project.write({
    "all.mjs":
      'import * as adk from "adk-metrics"; import * as report from "adk-metrics/report"; export { adk, report };',
    "index.html": '<script type="module" src="all.mjs"></script>',
  });
});
after(() => project?.remove());

const mapsOf = (kind) =>
  readdirSync(join(dist, kind))
    .filter((name) => name.endsWith(".map"))
    .map((name) => JSON.parse(readFileSync(join(dist, kind, name), "utf8")));

/** The places of the sources that a stack names, innermost first. */
const framesOf = (stack) =>
  [...stack.matchAll(/^ +at (?<name>.+) \((?<address>https:.+):(?<line>\d+):(?<column>\d+)\)$/gm)].map(({ groups }) => {
    assert.ok(groups.address.startsWith(ADDRESS), groups.address);
    return { ...groups, path: groups.address.slice(ADDRESS.length) };
  });

const lineOf = ({ path, line }) => readFileSync(join(sourceFolder, path), "utf8").split("\n")[line - 1];

describe("a source map", () => {
  test("names sources that are published with the version, and holds none", () => {
    assert.ok(mapsOf("esm").length > 0);
    assert.deepEqual(mapsOf("cjs"), [], "Node loads ES modules for `require` as well");
    for (const { sourceRoot, sources, sourcesContent } of mapsOf("esm")) {
      assert.equal(sourceRoot, ADDRESS);
      assert.equal(sourcesContent, undefined);
      assert.ok(sources.length > 0);
      for (const source of sources) assert.ok(existsSync(join(sourceFolder, source)), source);
      assert.ok(
        sources.every((source) => !source.startsWith("generated/")),
        "what is generated is in no repository",
      );
    }
  });

  // Reports, journals, statistics and the command line have none: none of them is on a stack below what users wrote.
  test("has a place for every line that calls what users wrote, or could fail there", () => {
    const mapped = new Map();
    for (const map of mapsOf("esm")) {
      for (const [, path, line] of decode(map.mappings).flat()) {
        if (path === undefined) continue;
        const source = map.sources[path];
        mapped.set(source, (mapped.get(source) ?? new Set()).add(line + 1));
      }
    }
    const missing = [];
    for (const path of ["evaluate.ts", "errors.ts", "judges/send.ts", "agents/run.ts", "testing/matchers.ts"]) {
      readFileSync(join(sourceFolder, path), "utf8")
        .split("\n")
        .forEach((text, index) => {
          if (/^ +(?:throw|return) \w+\(/.test(text) && !mapped.get(path)?.has(index + 1))
            missing.push(`${path}:${index + 1}`);
        });
    }
    assert.deepEqual(missing, []);
  });
});

describe("Node shows where an error came from", () => {
  const NAMES = "{ evaluate, geminiJudge, readEvalSet }";
  const PROGRAMS = {
    "mistakes.mjs": `import ${NAMES} from "adk-metrics";`,
    "mistakes.cjs": `const ${NAMES} = require("adk-metrics");`,
  };
  const program = `(async () => {
    const mistakes = [
      () => readEvalSet("nonsense"),
      () => geminiJudge({ model: "" }),
      () => evaluate({ evalSet: "{}", actual: 5, criteria: {} }),
    ];
    const stacks = [];
    for (const mistake of mistakes) {
      try { await mistake(); } catch (error) { stacks.push(error.stack); }
    }
    console.log(JSON.stringify(stacks));
  })();`;
  before(() => {
    const whole = ([file, imports]) => [file, `${imports} ${program}`];
    project.write(Object.fromEntries(Object.entries(PROGRAMS).map(whole)));
  });

  for (const file of Object.keys(PROGRAMS)) {
    test(`in TypeScript: its file and line (${file})`, async () => {
      const stacks = JSON.parse(await project.run(process.execPath, ["--enable-source-maps", file]));
      assert.equal(stacks.length, 3);
      for (const stack of stacks) {
        const frames = framesOf(stack);
        assert.ok(frames.length >= 2, stack);
        assert.match(lineOf(frames[0]), /AdkMetricsError\(|throw /, stack);
        // Functions have short names, so that only what calls them can be told: a line with a call.
        for (const caller of frames.slice(1)) assert.match(lineOf(caller), /\w\(|yield\* |\.next\(/, stack);
      }
      assert.match(stacks[0], / at readEvalSet \(.+adk-schema\.ts:/);
      assert.match(stacks[2], / at evaluate \(.+evaluate\.ts:/);
    });

    test(`without maps: the names that users know (${file})`, async () => {
      const stacks = JSON.parse(await project.run(process.execPath, [file]));
      for (const [index, name] of ["readEvalSet", "geminiJudge", "evaluate"].entries()) {
        assert.match(stacks[index], /^AdkMetricsError: /);
        assert.match(stacks[index], new RegExp(` at (?:Module\\.)?${name} \\(`));
      }
    });
  }
});

describe("nothing is wrong with source maps", () => {
  const isOurs = (source) => source.startsWith(ADDRESS);

  test("to webpack with source-map-loader, which takes the addresses over", async () => {
    const stats = await new Promise((resolve, reject) =>
      webpack(
        {
          mode: "development",
          devtool: "source-map",
          context: project.folder,
          entry: "./all.mjs",
          output: { path: join(project.folder, "webpack") },
          module: {
            rules: [{ test: /\.m?js$/, enforce: "pre", use: fileURLToPath(import.meta.resolve("source-map-loader")) }],
          },
        },
        (error, result) => (error ? reject(error) : resolve(result)),
      ),
    );
    const { warnings, errors } = stats.toJson({ all: false, warnings: true, errors: true });
    assert.deepEqual([...warnings, ...errors], []);
    const { sources } = JSON.parse(readFileSync(join(project.folder, "webpack/main.js.map"), "utf8"));
    assert.ok(sources.filter(isOurs).length > 10);
  });

  test("to esbuild, which takes the addresses over", async () => {
    const { warnings, outputFiles } = await esbuild.build({
      absWorkingDir: project.folder,
      entryPoints: ["all.mjs"],
      bundle: true,
      format: "esm",
      sourcemap: "external",
      outdir: "esbuild",
      write: false,
      logLevel: "silent",
    });
    assert.deepEqual(warnings, []);
    const map = outputFiles.find(({ path }) => path.endsWith(".map"));
    assert.ok(JSON.parse(map.text).sources.filter(isOurs).length > 10);
  });

  /** Vite's logger, which keeps what it is told of source maps, sources and anything else that is wrong. */
  function listening() {
    const said = [];
    const customLogger = createLogger("silent");
    for (const level of ["warn", "warnOnce", "error"]) {
      customLogger[level] = (message) => {
        if (!message.includes("Some chunks are larger than")) said.push(message);
      };
    }
    return { customLogger, said };
  }

  test("to Vite when it builds", async () => {
    const { customLogger, said } = listening();
    await buildVite({
      root: project.folder,
      configFile: false,
      customLogger,
      build: { sourcemap: true, outDir: "vite" },
    });
    assert.deepEqual(said, []);
  });

  for (const [how, optimizeDeps] of [
    ["the package bundled", { include: ["adk-metrics", "adk-metrics/report"], noDiscovery: true }],
    ["the package as it is", { exclude: ["adk-metrics"], noDiscovery: true }],
  ]) {
    test(`to Vite when it serves ${how}`, async () => {
      const { customLogger, said } = listening();
      const server = await createServer({
        root: project.folder,
        configFile: false,
        customLogger,
        optimizeDeps,
        server: { middlewareMode: true, hmr: false, ws: false },
        cacheDir: `vite-${Object.keys(optimizeDeps)[0]}`,
      });
      try {
        const addresses = new Set(["/all.mjs"]);
        for (const address of addresses) {
          await server.transformRequest(address);
          const { importedModules } = await server.moduleGraph.getModuleByUrl(address);
          for (const { url } of importedModules) addresses.add(url);
        }
        assert.ok(addresses.size > 3, [...addresses].join());
        assert.deepEqual(said, []);
      } finally {
        await server.close();
      }
    });
  }
});
