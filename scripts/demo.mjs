// Builds the package and scores the agents of examples/ with its command line, as a user would.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { fail, root } from "./setup.mjs";

const REPORT = "demo/report.html";

await build();

const files = readdirSync(join(root, "examples"), { recursive: true }).map((file) => join("examples", file));
const evalSets = [".evalset.json", ".test.json"].flatMap((ending) =>
  files.filter((file) => file.endsWith(ending)).sort(),
);
const shown = "examples/*/*.evalset.json examples/*/*.test.json";
const outputs = ["--format", "table", "--output", "-", "--format", "html", "--output", REPORT];
console.log(`\n$ npx adk-metrics eval ${shown} ${outputs.join(" ")}\n`);
const cli = join(root, "pkg/dist/esm/cli.js");
const { status } = spawnSync(process.execPath, [cli, "eval", ...evalSets, ...outputs], { cwd: root, stdio: "inherit" });
if (status !== 0 && status !== 1) fail(`the command line exited with ${status}`);

console.log(`
The exit status was ${status}, since some of the examples fail. They are meant to; examples/README.md says why.

Open ${join(root, REPORT)} in a browser: one file that loads nothing else.
  • choose "Failed" at the top, then open two_cities: which argument of which call was wrong
  • storm_warning: the words that the answer shares with the expected one are marked
  • train_to_oslo: several turns, tokens and seconds
`);
