/** `labels export`: the verdicts that are worth labelling, in a file that people fill in. */

import { labelSheet } from "../calibration/index.js";
import { closest } from "../closest.js";
import { AdkMetricsError } from "../errors.js";
import { REPORT_FORMATS } from "../report/formats.js";
import { countOf, parseArguments } from "./arguments.js";
import { filesOf, outputOf } from "./calibrate.js";
import { readResultsOrJournal } from "./journal-results.js";
import { inFile, Mistake } from "./mistakes.js";
import { FORMATS, optionsOf } from "./options.js";
import { ExitStatus, note } from "./process.js";
import { writeFile, writeOut } from "./write.js";

const HELP = "adk-metrics labels export shop.evalset_result.json --output labels.csv";

/** Runs `labels`. */
export async function labelsCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("labels"));
  const [what, ...results] = given.positionals;
  if (what !== "export") {
    const isMeant = what !== undefined && closest(what, ["export"]) !== undefined;
    throw new Mistake(what === undefined ? "labels needs a subcommand" : `unknown command \`labels ${what}\``, {
      help: isMeant ? "Did you mean `export`?" : HELP,
    });
  }
  const files = filesOf(results, HELP);
  const output = outputOf(given, files);
  const format = output === undefined ? undefined : FORMATS.find((name) => REPORT_FORMATS[name].fileNames.test(output));
  if (format !== undefined && format !== "csv") {
    throw new Mistake("labels are always written as CSV", {
      location: output,
      help: "Choose a file that ends with .csv",
    });
  }
  const count = given.one("count");
  const seed = given.one("seed");
  if (seed !== undefined && !given.has("random")) throw new Mistake("--seed has no effect without --random");
  if (seed !== undefined && !/^-?\d{1,15}$/.test(seed)) {
    throw new Mistake(`--seed cannot be \`${seed}\``, { help: "Expected a whole number" });
  }
  const metrics = given.all("metric");
  const contents = files.map(readResultsOrJournal);
  let sheet: string;
  try {
    sheet = labelSheet(contents, {
      ...(count === undefined ? {} : { count: countOf("count", count) }),
      ...(seed === undefined ? {} : { seed: Number(seed) }),
      ...(metrics.length === 0 ? {} : { metrics }),
      random: given.has("random"),
      blind: given.has("blind"),
    });
  } catch (error) {
    const index = /^results\[(\d+)\]/.exec((error as AdkMetricsError).path ?? "")?.[1] ?? "0";
    throw inFile(error, files[Number(index)] ?? HELP, (error as AdkMetricsError).path);
  }
  if (metrics.length === 0 && !contents.some(namesJudges)) {
    note("the results name no metric that asks a judge, so verdicts of all metrics are included");
  }
  if (output === undefined) await writeOut(sheet);
  else {
    await writeFile(output, sheet);
    note(`wrote ${output}: write pass or fail (or a score) into the column label, then run calibrate`);
  }
  return ExitStatus.Passed;
}

/** Whether results name a judge; those in pieces do so in their first line. */
function namesJudges(results: ReturnType<typeof readResultsOrJournal>): boolean {
  const [head] = results instanceof Uint8Array ? [results] : results;
  return head !== undefined && Buffer.from(head).includes('"judges"');
}
