/** `--open`: the results of a command in the playground, with the files that they are of. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REPORT_FORMATS } from "../report/formats.js";
import type { Arguments } from "./arguments.js";
import type { Input } from "./inputs.js";
import { Mistake } from "./mistakes.js";
import type { Destination } from "./outputs.js";
import { showInPlayground } from "./playground.js";
import { ExitStatus } from "./process.js";

/** Options that leave no results to show. */
const WITHOUT = ["dry-run", "shard"];

export class Shown {
  readonly #files: string[] = [];

  /** @throws {Mistake} for options that it does not go with. */
  constructor(given: Arguments) {
    const other = WITHOUT.find((name) => given.has(name));
    if (other === undefined) return;
    throw new Mistake(`--open and --${other} cannot be used together`, { help: `Leave out --open or --${other}` });
  }

  /** Shows the JSON lines among the outputs, or adds such an output, which goes when the command ends. */
  plan(planned: Destination[], names: readonly string[]): void {
    const written = planned.find(({ format, file }) => format === "jsonl" && file !== undefined)?.file;
    if (written !== undefined) {
      this.#files.push(written);
      return;
    }
    const folder = mkdtempSync(join(tmpdir(), "adk-metrics-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    const name = names.length === 1 ? names[0] : "evaluation";
    const file = join(folder, `${name}${REPORT_FORMATS.jsonl.ending}`);
    planned.push({ format: "jsonl", file, isTemporary: true });
    this.#files.push(file);
  }

  /** Shows the files of inputs, too: a case can be corrected where its results are. */
  addInputs(inputs: readonly Input[]): void {
    const files = inputs.flatMap(({ files: { evalSet, actual, config } }) => [evalSet, actual, config]);
    this.#files.push(...new Set(files.filter((file) => file !== undefined)));
  }

  /** Shows the results until a signal comes, unless the command was interrupted already. */
  async show(status: ExitStatus): Promise<void> {
    if (status !== ExitStatus.Interrupted && status !== ExitStatus.Terminated) await showInPlayground(this.#files);
  }
}
