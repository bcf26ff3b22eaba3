// google-adk as a contender: its evaluators run in a Python of the user's choosing, over the first cases of a dataset.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstCases } from "./datasets.mjs";

const SCRIPT = fileURLToPath(new URL("../python/bench.py", import.meta.url));
/** Enough for a stable median and little enough for a stemmer in Python. */
const WORDS_PER_SIDE = 20_000;

const casesFor = ({ size, cases }) => Math.min(cases, Math.max(5, Math.round(WORDS_PER_SIDE / size)));

/** google-adk reads camelCase from the eval case downwards, but an evalset's own keys in snake_case only. */
function inPythonSchema({ evalSetId, name, evalCases, creationTimestamp }) {
  return JSON.stringify({ eval_set_id: evalSetId, name, eval_cases: evalCases, creation_timestamp: creationTimestamp });
}

/**
 * Runs benches/python/bench.py over the datasets with the Python named by ADK_PYTHON.
 *
 * @returns {Promise<object[]>} per dataset `{ name, subset, version, scores, objects, bytes }`, the last two in seconds per run;
 *   empty, with a note on stderr, if ADK_PYTHON is not set.
 */
export async function google(datasets, rounds) {
  const python = process.env.ADK_PYTHON;
  if (!python) {
    console.error("google-adk is skipped: set ADK_PYTHON to a Python that has google-adk[eval]");
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-bench-"));
  try {
    const subsets = datasets.map((dataset) => firstCases(dataset, casesFor(dataset)));
    const manifest = subsets.map(({ name, metric, evalSet, actual }, index) => {
      const files = { evalSet: join(folder, `${index}.evalset.json`), actual: join(folder, `${index}.actual.json`) };
      writeFileSync(files.evalSet, inPythonSchema(evalSet));
      writeFileSync(files.actual, inPythonSchema(actual));
      return { name, metric, ...files };
    });
    writeFileSync(join(folder, "manifest.json"), JSON.stringify({ rounds, datasets: manifest }));
    const output = execFileSync(python, [SCRIPT, join(folder, "manifest.json")], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      maxBuffer: 1 << 28,
    });
    return JSON.parse(output).map((one, index) => ({ ...one, subset: subsets[index] }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
