// Builds the package and scores the agents of examples/ with its command line, as a user would. Judges are replayed from
// recordings: nobody is asked, and no key is needed.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { judgedExamples, recordingFile, staleRecordings } from "./record-examples.mjs";
import { fail, root } from "./setup.mjs";

const SHOWN = "museum-guide";
const RECORDING = "demo/judge.jsonl";
const REPORT = "demo/report.html";
const cli = join(root, "pkg/dist/esm/cli.js");

await build();
const stale = await staleRecordings();
if (stale.length > 0) {
  fail(`other prompts than today's were recorded in ${stale.join(", ")}`, "Run: node scripts/record-examples.mjs");
}

score([`examples/${SHOWN}/${SHOWN}.evalset.json`, "--judge", `replay:${recordingFile(SHOWN)}`]);

command("cat examples/*/judge.jsonl >", RECORDING);
mkdirSync(join(root, "demo"), { recursive: true });
writeFileSync(
  join(root, RECORDING),
  judgedExamples.map((name) => readFileSync(join(root, recordingFile(name)), "utf8")).join(""),
);

const files = readdirSync(join(root, "examples"), { recursive: true }).map((file) => join("examples", file));
const evalSets = [".evalset.json", ".test.json"].flatMap((ending) =>
  files.filter((file) => file.endsWith(ending)).sort(),
);
const options = ["--judge", `replay:${RECORDING}`, "--format", "html", "--output", REPORT];
const status = score([...evalSets, ...options], ["examples/*/*.evalset.json", "examples/*/*.test.json", ...options]);

console.log(`
The exit status was ${status}, since some of the examples fail. They are meant to; examples/README.md says why. What the
judges say in them was written by hand for this project, not by a model.

Open ${join(root, REPORT)} in a browser: one file that loads nothing else.
  • choose "Failed" at the top, then open incident: each sentence of an answer, and what contradicts it
  • child_seat: an agent that failed since the simulated user left the plan
  • audio_guide and lighthouse_lamp: close votes, what each judge said, and how many were asked
  • two_cities: which argument of which call was wrong
  • train_to_oslo: several turns, tokens and seconds
`);

/** Scores evalsets, showing the arguments as a user would type them; gives the exit status. */
function score(given, shown = given) {
  command("npx adk-metrics eval", ...shown);
  console.log("");
  const { status } = spawnSync(process.execPath, [cli, "eval", ...given], { cwd: root, stdio: "inherit" });
  if (status !== 0 && status !== 1) fail(`the command line exited with ${status}`);
  return status;
}

function command(...words) {
  console.log(`\n$ ${words.join(" ")}`);
}
