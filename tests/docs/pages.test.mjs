// What holds of the pages as a whole: links lead somewhere, and every metric has its guide.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, test } from "node:test";
import { importEntry, root } from "../package/support/package.mjs";

const { DEFAULT_METRIC_EVALUATOR_REGISTRY } = await importEntry();

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

describe("the guide to the metrics", () => {
  const index = read("docs/metrics.md");
  for (const { metricName } of DEFAULT_METRIC_EVALUATOR_REGISTRY.getRegisteredMetrics()) {
    test(`has a section on ${metricName}`, () => {
      const [, file] = new RegExp(`^\\| \\[\`${metricName}\`\\]\\((\\S+)#${metricName}\\)`, "m").exec(index) ?? [];
      assert.ok(file, `docs/metrics.md has no row for ${metricName}`);
      const page = read(join("docs", file));
      assert.match(page, new RegExp(`^#+ ${metricName}$`, "m"));
      for (const part of ["**Use ", "**Score", "**Mind**", "xample"])
        assert.ok(page.includes(part), `${file}: ${part}`);
    });
  }
});
