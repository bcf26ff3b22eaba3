// The engine compiled natively as a contender: what WebAssembly and the way to JavaScript cost.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Runs `cargo bench --bench native` over the datasets, outside the turns of the others.
 *
 * @returns {number[][]} per dataset its samples in milliseconds per run; empty, with a note on stderr, without cargo.
 */
export function native(datasets, rounds) {
  const folder = mkdtempSync(join(tmpdir(), "adk-metrics-native-"));
  try {
    for (const [index, { evalSetBytes, actualBytes, metric }] of datasets.entries()) {
      const { metricName, threshold } = metric;
      writeFileSync(join(folder, `${index}.evalset.json`), evalSetBytes);
      writeFileSync(join(folder, `${index}.actual.json`), actualBytes);
      writeFileSync(join(folder, `${index}.config.json`), JSON.stringify({ criteria: { [metricName]: threshold } }));
    }
    const output = execFileSync(
      "cargo",
      ["bench", "--locked", "--quiet", "--bench", "native", "--", folder, String(rounds)],
      {
        cwd: root,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    return JSON.parse(output).map((seconds) => seconds.map((one) => one * 1e3));
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    console.error("the native engine is skipped: cargo is not found");
    return [];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
