// Growing is cheap: one of each kind of change that HACKING.md lists is made in a copy of the tree, in the files that it
// names and no others, and is there afterwards. It compiles the crate once more, which takes a minute.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { root } from "./support/package.mjs";

const skip = process.env.ALL_SUITES === "true" || process.env.CI === "true" ? false : "it compiles the crate again";

/** What is written for each change: the text of a new file, or what is put before a text of one that is there. */
const CHANGES = {
  "a deterministic metric": {
    "src/metrics/turn_count.rs": `//! \`turn_count_v1\`: how many turns there were. Informational.

use super::{Case, Evaluation, Metric, MetricInfo, Scoring, efficiency};
use crate::foundation::error::Result;
use crate::model::config::Setup;

struct TurnCount;

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "turn_count_v1",
    class: "TurnCountV1Evaluator",
    description: "How many turns there were.",
    ..MetricInfo::informational("turns", build)
};

fn build(setup: &Setup<'_, '_>) -> Result<Box<dyn Metric>> {
    efficiency::informational(setup)?;
    Ok(Box::new(TurnCount))
}

impl Metric for TurnCount {
    fn evaluate<'a>(&self, case: &Case<'a>, _: &mut Scoring) -> Result<Evaluation<'a>> {
        Ok(efficiency::values(case.actual, "there are no turns", |_| Some(1.0)))
    }
}
`,
    "src/metrics/mod.rs": [
      ["mod user_simulator_quality;", "mod turn_count;\n"],
      ["    final_response_match::INFO,", "    turn_count::INFO,\n"],
    ],
  },
  "a judged metric": {
    "src/metrics/tact.rs": `//! \`tact_v1\`: how tactful the response is.

use super::MetricInfo;
use super::judged::Judged;
use super::scored::{self, Family};
use crate::foundation::error::Result;
use crate::judge::prompt::TACT;
use crate::model::config::Setup;

static FAMILY: Family = Family::from_zero_to_one(&TACT);

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "tact_v1",
    class: "TactV1Evaluator",
    description: "How tactful the response is.",
    ..MetricInfo::judged(build)
};

fn build(setup: &Setup<'_, '_>) -> Result<Box<dyn Judged>> {
    scored::build(setup, &FAMILY)
}
`,
    "src/metrics/mod.rs": [
      ["mod token_usage;", "mod tact;\n"],
      ["    multi_turn_task_success::INFO,", "    tact::INFO,\n"],
    ],
    "src/judge/prompt/tact.txt": "How tactful is this?\n{{response}}\n{{reply_format}}\n",
    "src/judge/prompt/mod.rs": [
      [
        "/// Every prompt.\n",
        `/// Of \`tact_v1\`.
pub static TACT: Prompt = Prompt { id: "tact_v1", text: include_str!("tact.txt"), needed: &["response"], ..SAFETY };

`,
      ],
      ["    &TOOL_USE_QUALITY,\n", "    &TACT,\n"],
    ],
  },
  "a report format": {
    "pkg-template/src/report/names.ts": `import { type Results, listOf } from "./results.js";

/** The names of evalsets, one a line. */
export function renderNames(results: Results): string {
  return listOf(results).map(({ evalSetId }) => evalSetId + "\\n").join("");
}
`,
    "pkg-template/src/report/formats.ts": [
      ["import type { Results }", 'import { renderNames } from "./names.js";\n'],
      [
        "  csv: {",
        `  names: {
    label: "Names",
    about: "of evalsets",
    ending: ".names",
    mediaType: "text/plain",
    fileNames: /\\.names$/i,
    signature: /^names/,
    explains: "none",
    render: renderNames,
  },
`,
      ],
    ],
  },
};

/** The files that HACKING.md lists for a change. */
function listed(change) {
  const guide = readFileSync(join(root, "HACKING.md"), "utf8");
  const [, code = ""] = guide.match(new RegExp(`^\\| ${change} +\\|([^|]*)\\|`, "m")) ?? [];
  const own = [...code.matchAll(/`([^`]+)`/g)].map(([, file]) => file);
  return code.includes("those two") ? [...listed("a deterministic metric"), ...own] : own;
}

describe("a change touches the files that HACKING.md lists", () => {
  for (const [change, files] of Object.entries(CHANGES)) {
    test(`${change}`, () => {
      const general = Object.keys(files).map((file) =>
        file.replace(/turn_count|\btact\b/, "<metric>").replace(/names\.ts$/, "<format>.ts"),
      );
      assert.deepEqual(general.sort(), listed(change).sort());
    });
  }
});

describe("what is added in these files is there", { skip }, () => {
  let copy;
  before(() => {
    copy = mkdtempSync(join(tmpdir(), "adk-metrics-changes-"));
    for (const part of [
      "src",
      "xtask",
      "benches",
      "pkg-template",
      "scripts",
      "Cargo.toml",
      "Cargo.lock",
      "package.json",
    ])
      cpSync(join(root, part), join(copy, part), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    for (const files of Object.values(CHANGES)) {
      for (const [file, change] of Object.entries(files)) {
        if (typeof change === "string") writeFileSync(join(copy, file), change);
        else for (const [place, text] of change) insert(join(copy, file), place, text);
      }
    }
    // The list of prompts has a length.
    const prompts = join(copy, "src/judge/prompt/mod.rs");
    const counted = readFileSync(prompts, "utf8").replace(
      /(ALL: \[&Prompt; )(\d+)/,
      (_, head, n) => head + (Number(n) + 1),
    );
    writeFileSync(prompts, counted);
    run("cargo", ["run", "--quiet", "--locked", "--package", "xtask", "--", "schema", join(copy, "schema")]);
    const make = `
      import { writeManifest } from "./scripts/manifest.mjs";
      import { writeCriteria } from "./scripts/types.mjs";
      writeManifest("schema/manifest.json", "pkg-template/src/generated");
      await writeCriteria("schema/config.schema.json", "pkg-template/src/generated/criteria.ts");`;
    run(process.execPath, ["--input-type=module", "--eval", make]);
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  function run(command, given) {
    const env = { ...process.env, CARGO_TARGET_DIR: join(root, "target") };
    const { status, stdout, stderr } = spawnSync(command, given, { cwd: copy, env, encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  }

  test("the package's types hold", () => {
    run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", "pkg-template"]);
  });

  test("the enum, the classes, the registry, the prompts and the help have it", () => {
    const look = `
      import { PrebuiltMetrics, PROMPTS, UNITS } from "./pkg-template/src/generated/metrics.ts";
      import { ENGINE_CLASSES } from "./pkg-template/src/generated/registry.ts";
      import { HELPS } from "./pkg-template/src/cli/help.ts";
      const classes = ENGINE_CLASSES.map(([name, { name: className }]) => [name, className]);
      console.log(JSON.stringify({ PrebuiltMetrics, PROMPTS, UNITS, classes, help: HELPS.eval }));`;
    const found = JSON.parse(run(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", look]));
    assert.equal(found.PrebuiltMetrics.TURN_COUNT_V1, "turn_count_v1");
    assert.equal(found.UNITS.turn_count_v1, "turns");
    assert.deepEqual(found.PROMPTS.tact_v1, { score: "tact_v1" });
    const classes = Object.fromEntries(found.classes);
    assert.deepEqual([classes.turn_count_v1, classes.tact_v1], ["TurnCountV1Evaluator", "TactV1Evaluator"]);
    for (const word of ["turn_count_v1", "tact_v1", "names (of evalsets)", ".names"])
      assert.ok(found.help.includes(word), word);
  });
});

function insert(file, place, text) {
  const before = readFileSync(file, "utf8");
  assert.ok(before.includes(place), `${file} has no ${place}`);
  writeFileSync(
    file,
    before.replace(place, () => text + place),
  );
}
