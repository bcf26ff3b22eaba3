// Checks across all pages: links are valid, and every metric has its guide.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, test } from "node:test";
import { importEntry, packageFolder, root } from "../package/support/package.mjs";

const { checkInputs, DEFAULT_METRIC_EVALUATOR_REGISTRY } = await importEntry();

const read = (file) => readFileSync(join(root, file), "utf8");
const docs = readdirSync(join(root, "docs"), { recursive: true }).filter((file) => file.endsWith(".md"));
const PAGES = ["README.md", "HACKING.md", "pkg-template/README.md", "examples/README.md"].concat(
  docs.map((file) => join("docs", file)).sort(),
);

/** The repository's own pages on GitHub; what follows is a path. */
const GITHUB = /^https:\/\/github\.com\/adk-metrics\/adk-metrics\/(?:blob|tree)\/main\//;

/** A page without its blocks of code, where brackets are no links and `#` begins no heading. */
const prose = (text) => text.replaceAll(/^ *```.*?^ *```$/gms, "");

/** The anchors that GitHub gives a page's headings. */
function anchorsOf(file) {
  const headings = prose(read(file)).matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, text]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("the links", () => {
  for (const page of PAGES) {
    const targets = Array.from(prose(read(page)).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target);
    test(`of ${page} lead somewhere`, () => {
      for (const target of targets) {
        const isOurs = GITHUB.test(target);
        if (/^[a-z]+:/.test(target) && !isOurs) continue;
        const [path, anchor] = target.replace(GITHUB, "").split("#");
        const file = path === "" ? page : normalize(isOurs ? path : join(dirname(page), path));
        assert.ok(existsSync(join(root, file)), target);
        if (anchor !== undefined) assert.ok(anchorsOf(file).includes(anchor), target);
      }
    });
    if (page === "pkg-template/README.md") {
      test(`of ${page} work on npmjs.com, where the package has no other page`, () => {
        assert.deepEqual(
          targets.filter((target) => !/^(https:|#)/.test(target)),
          [],
        );
      });
    }
  }
});

const METRICS = DEFAULT_METRIC_EVALUATOR_REGISTRY.getRegisteredMetrics().map(({ metricName }) => metricName);

/** The metrics that each table of settings is about: those of the heading before it, or of the whole page. */
function* settingsOf(file) {
  const page = read(file);
  const sections = page.split(/^(?=#+ )/m);
  const metricsOf = (text) => METRICS.filter((name) => new RegExp(`^#+ ${name}$`, "m").test(text));
  for (const section of sections) {
    const [, rows] = /^\| setting +\| values +\| default +\|\n\|[ -|]+\|\n((?:\|.*\n)+)/m.exec(section) ?? [];
    if (rows === undefined) continue;
    const own = metricsOf(section);
    const settings = rows
      .trim()
      .split("\n")
      .map((row) => row.split("|"))
      .map((cells) => [cells[1].trim().replaceAll("`", ""), cells.at(-2).trim().replaceAll("`", "")]);
    // The multi_turn metrics share a table; those of rubrics the page.
    const family = metricsOf(page).filter((name) => file.includes("rubrics") || name.startsWith("multi_turn"));
    yield { metrics: own.length > 0 ? own : family, settings };
  }
}

describe("the settings", () => {
  const files = readdirSync(join(root, "docs/metrics")).map((file) => `docs/metrics/${file}`);
  const tables = files.flatMap((file) => [...settingsOf(file)]);
  /** Defaults that are said in words. */
  const WORDS = { required: 1, none: [], "five samples": { num_samples: 5 }, "gemini-2.5-flash": {} };

  /** A setting by its name and its default, in JSON; what is said in words has none in the schema. */
  const { definitions } = JSON.parse(readFileSync(join(packageFolder, "schema/config.schema.json"), "utf8"));
  const ofSchema = (metricName) =>
    Object.entries(definitions[metricName].properties)
      .filter(([name, { $ref }]) => !/[A-Z]/.test(name) && $ref !== "#/definitions/NotRead")
      .map(([name, setting]) => [name, setting.default]);

  for (const { metrics, settings } of tables) {
    for (const metricName of metrics) {
      test(`of ${metricName} are those of the schema, with its defaults`, () => {
        const schema = new Map(ofSchema(metricName));
        assert.deepEqual(settings.map(([name]) => name).sort(), [...schema.keys()].sort());
        for (const [name, text] of settings) {
          const expected = schema.get(name);
          if (expected !== undefined)
            assert.equal(text, typeof expected === "string" ? expected : JSON.stringify(expected));
        }
      });
      test(`of ${metricName} exist, and take what is said to be their default`, async () => {
        const valueOf = (text) => {
          if (text in WORDS) return WORDS[text];
          return /^(true|false|[\d.]+|\{.*\})$/.test(text) ? JSON.parse(text) : text;
        };
        // What is required has no default: a threshold that is among the scores of every metric.
        const criterion = Object.fromEntries(settings.map(([name, text]) => [name, valueOf(text)]));
        const criteria = { [metricName]: criterion };
        const { warnings } = await checkInputs({ criteria });
        assert.deepEqual(warnings, []);
      });
    }
  }

  test("are told of every metric that has some, but the threshold of response_match_score", () => {
    const told = tables.flatMap(({ metrics }) => metrics);
    const silent = METRICS.filter((name) => !told.includes(name));
    const efficiency = METRICS.filter((name) => read("docs/metrics/efficiency.md").includes(`## ${name}`));
    assert.deepEqual(silent, ["response_match_score", ...efficiency]);
  });
});

describe("the guide to the metrics", () => {
  const index = read("docs/metrics.md");
  for (const metricName of METRICS) {
    test(`has a section on ${metricName}`, () => {
      const [, file] = new RegExp(`^\\| \\[\`${metricName}\`\\]\\((\\S+)#${metricName}\\)`, "m").exec(index) ?? [];
      assert.ok(file, `docs/metrics.md has no row for ${metricName}`);
      const page = read(join("docs", file));
      assert.match(page, new RegExp(`^#+ ${metricName}$`, "m"));
      for (const part of ["**Use ", "**Score", "**Caveats**", "xample"])
        assert.ok(page.includes(part), `${file}: ${part}`);
    });
  }
});

describe("models", () => {
  // https://developers.openai.com/api/docs/deprecations and https://platform.claude.com/docs/en/about-claude/model-deprecations,
  // in November 2026: what is retired until January 2027, and what is not developed any more.
  const OLD =
    /\bgpt-(?:3\.5|4|5)(?![.\w]*\.6)[\w.-]*|\bo[134]-\w+|\bclaude-(?:[0-3]|(?:haiku|opus|sonnet)-4)[\w.-]*|\bgemini-[12]\.[\w.-]*/g;
  /** What google-adk asks by default, and what is retired with it: it is named where that is said. */
  const DEFAULTS = ["gemini-2.5-flash", "gemini-2.5-pro"];
  const help = (file) => read(file).match(/^ *\* .*$|"[^"\n]*"|`[^`]*`|'[^'\n]*'/gm) ?? [];
  const sources = readdirSync(join(root, "pkg-template/src"), { recursive: true })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("generated"))
    .map((file) => join("pkg-template/src", file));

  test("of pages, help and examples will still be there next year", () => {
    for (const file of [...PAGES, ...sources]) {
      const text = file.endsWith(".ts") ? help(file).join("\n") : read(file);
      const old = (text.match(OLD) ?? []).filter((name) => !DEFAULTS.includes(name));
      assert.deepEqual(old, [], file);
    }
    const examples = readdirSync(join(root, "examples"), { recursive: true }).filter((file) => /\.jsonl?$/.test(file));
    for (const file of examples) assert.doesNotMatch(read(join("examples", file)), OLD, file);
  });

  test("of samples are not the default, which is retired on 1 December 2026", () => {
    for (const page of PAGES) {
      for (const [block] of read(page).matchAll(/^ *```.*?^ *```$/gms)) {
        assert.ok(!DEFAULTS.some((name) => block.includes(name)), `${page}: ${block.slice(0, 200)}`);
      }
    }
  });

  test("of samples are named wherever a provider is asked", () => {
    // A line may go on in the next, a call over several lines.
    const commands = /--judge (?:gemini|openai|anthropic|vertex|ollama)\b(?:[^\n]|(?<=\\)\n)*/g;
    const calls = /\b(?:gemini|openai|anthropic|vertex|ollama)Judge\((?=\{)[^;]*?\}\)/g;
    for (const file of [...PAGES, ...sources]) {
      const samples = file.endsWith(".ts")
        ? (read(file).match(/^ *\* .*$/gm) ?? [])
        : [...read(file).matchAll(/^ *```.*?^ *```$/gms)].map(([block]) => block);
      for (const sample of samples) {
        const asked = [...(sample.match(commands) ?? []), ...(sample.match(calls) ?? [])];
        const unnamed = asked.filter((text) => !/--model |--config \S*judge|model/.test(text));
        assert.deepEqual(unnamed, [], file);
      }
    }
  });
});

test("a percentage has no space, in the pages and in what the package and the playground say", () => {
  const sources = ["pkg-template/src", "www/src"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((file) => /\.(tsx?|txt|md)$/.test(file))
      .map((file) => join(folder, file)),
  );
  for (const file of [...PAGES, "CHANGELOG.md", ...sources]) {
    for (const line of read(file).split("\n")) {
      // A remainder is of a name or has a space on both sides: `at % 2`, `(7 * at) % 5`.
      assert.doesNotMatch(line, /[\d}][ \u{a0}\u{202f}]%|["'`>][ \u{a0}\u{202f}]%["'`<]/u, `${file}: ${line.trim()}`);
    }
  }
});
