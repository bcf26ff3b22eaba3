/** `--batch` and `batch`: judges are asked through the batch interfaces of their providers. */

import { closest } from "../closest.js";
import type { ScoringOptions } from "../agents/evaluation.js";
import { BatchGatherer, manyReaders } from "../batches/gather.js";
import { modelAtProvider } from "../judges/environment.js";
import type { JournalSection } from "../journal/section.js";
import { BatchFolder } from "../batches/folder.js";
import { noBatches } from "../batches/protocols.js";
import { BatchStore } from "../batches/store.js";
import { amountText, count, safeLine } from "../report/text.js";
import { FOLDER, MOST_OPEN, noteQuestions } from "../modules/in-batches.js";
import type { Budget, EvaluateRequest, JudgeCache, MetricRegistry } from "../types.js";
import { selectedIds } from "./agent-runs.js";
import { api } from "./api.js";
import { type Arguments, countOf, oneOf, parseArguments } from "./arguments.js";
import { budgetOf } from "./budget.js";
import { actualFiles, kindOf } from "./files.js";
import { insteadOfActual } from "./find.js";
import { type Input, mayAskJudges, readInputs, selectionsOf } from "./inputs.js";
import type { Interruption } from "./interruption.js";
import { judgeChoiceOf } from "./judge.js";
import { Judging, reportUseless, uselessForJudges } from "./judging.js";
import { inFiles, Mistake } from "./mistakes.js";
import { optionsOf } from "./options.js";
import { ExitStatus, note, refusedByStrict, warn, warningCount } from "./process.js";
import { planOf, portionsFor, registriesOf, sayUnusedMetrics } from "./source.js";
import { definedProperties } from "../lists.js";

/** The default of `--batch-poll`, in seconds. */
const POLL_S = 30;

/** What is to be judged. */
export interface BatchWork {
  inputs: readonly Input[];
  /** What is asked about of the portion of an input with these numbers: all of it by default. */
  partOf?: ((portion: Input, at: number, number: number) => Promise<Part> | Part) | undefined;
  registries: readonly MetricRegistry[];
  options: ScoringOptions;
  judging: Judging;
  budget: Budget;
  /** Whether any metric asks a judge, once that is known. */
  asksJudges?: boolean;
}

/** What is asked about of a portion. */
export interface Part {
  /** What a journal has of it is not asked again. */
  section?: JournalSection;
  /** The ids of cases; all by default. */
  evalIds?: readonly string[];
}

/** The options that are without effect where no batch is sent. */
const FOR_BATCHES = ["batch-size", "batch-fallback"];

/**
 * Asks every question of an evaluation by batches.
 *
 * @returns The cache with the replies, if there are questions; undefined if a signal ended the wait.
 */
export async function askInBatches(
  work: BatchWork,
  given: Arguments,
  stop: Interruption,
): Promise<{ cache?: JudgeCache } | undefined> {
  // Then there is no folder to make.
  if (!work.inputs.some(mayAskJudges)) return {};
  const { folder, cache } = await cacheOf(given);
  const signal = stop.phase();
  const store = await storeOf(folder, cache, work.judging, given, signal);
  try {
    const gatherer = gathererOf(store, cache, given, work.budget);
    for (let isDone = false; !isDone;) {
      await store.wait();
      isDone = (await gather(work, gatherer, store, cache, signal)) === 0;
    }
    store.forgetFailures();
    gatherer.isGathering = false;
    work.judging.gatherer = gatherer;
    sayTotals(store, work.budget);
    return { cache };
  } catch (error) {
    if (!signal.aborted) throw error;
    const left = store.records().length;
    note(`interrupted: ${batchesText(left)} in progress; run the same command again to continue with the replies`);
    return undefined;
  } finally {
    store.close();
  }
}

/** Warns of batches whose replies an evaluation does not wait for. */
export function warnOfBatches(cache: string): void {
  const records = new BatchFolder(cache).records();
  if (records.length === 0) return;
  const questions = count(
    records.reduce((sum, { rows }) => sum + rows, 0),
    "question",
  );
  const many = records.length > 1;
  warn(
    `${batchesText(records.length)} with ${questions} ${many ? "are" : "is"} in progress: any of them that this command asks too are asked twice, and paid for twice`,
    cache,
    `Add --batch to wait for the replies, or first run adk-metrics batch collect --cache ${cache}`,
  );
}

/** Runs `batch submit`, `batch status` and `batch collect`. */
export async function batchCommand(args: readonly string[]): Promise<ExitStatus> {
  const given = parseArguments(args, optionsOf("batch"));
  const [word = "", ...rest] = given.positionals;
  if (word === "") {
    throw new Mistake("batch needs a subcommand", {
      help: "Use submit, status or collect: adk-metrics batch submit travel.evalset.json --cache replies",
    });
  }
  const words = ["submit", "status", "collect"];
  if (!words.includes(word)) {
    const meant = closest(word, words);
    throw new Mistake(`unknown command \`batch ${word}\``, {
      help:
        meant === undefined ? `The commands are batch ${words.join(", batch ")}` : `Did you mean \`batch ${meant}\`?`,
    });
  }
  const what = word;
  checkBatches(given);
  if (what !== "submit") refuseInputs(given, what, rest);
  const judging = new Judging(judgeChoiceOf(given), () => {});
  if (what !== "submit") checkFolder(given);
  const { inputs, partOf } = what === "submit" ? await inputsOf(given, rest) : { inputs: [] };
  const registries = await registriesOf(inputs, given.all("metrics"));
  if (given.has("metrics")) await sayUnusedMetrics(inputs, registries, given.all("metrics"));
  if (what === "submit" && !inputs.some(mayAskJudges)) {
    reportUseless(uselessForJudges(given, FOR_BATCHES), given);
    note("no metric asks a judge: there is nothing to send");
    return statusOf(given);
  }
  const { folder, cache } = await cacheOf(given);
  await judging.load();
  const { signal } = new AbortController();
  const store = await storeOf(folder, cache, judging, given, signal);
  try {
    if (what === "submit") {
      const budget = budgetOf(given);
      const options = judging.options();
      const { failure } = await store.update();
      const work: BatchWork = { inputs, partOf, registries, options, judging, budget };
      const gatherer = gathererOf(store, cache, given, budget);
      await gather(work, gatherer, store, cache, signal);
      if (!work.asksJudges) reportUseless(uselessForJudges(given, FOR_BATCHES), given);
      await store.send();
      if (failure !== undefined) throw failure;
    } else {
      await sayLooks(store, what === "collect");
    }
    const left = store.records().length;
    if (given.has("journal")) note(`to score, run the run's command again with --batch --cache ${folder}`);
    if (left === 0) note("no batches in progress; adk-metrics eval --batch uses the collected replies");
    else
      note(
        `${batchesText(left)} in progress${what === "status" ? "" : "; adk-metrics batch status shows the progress"}`,
      );
    return statusOf(given);
  } finally {
    store.close();
  }
}

function statusOf(given: Arguments): ExitStatus {
  return given.has("strict") && warningCount() > 0 ? refusedByStrict() : ExitStatus.Passed;
}

/** The inputs of `batch submit`. */
async function inputsOf(given: Arguments, positionals: string[]): Promise<Pick<BatchWork, "inputs" | "partOf">> {
  if (given.has("journal")) return await (await import("./journaled-runs.js")).journaledRuns(given, positionals);
  const sets = selectionsOf({ ...given, positionals }, "batch submit travel.evalset.json --cache replies");
  const names = sets.map(({ file }) => file);
  const files = actualFiles(given.all("actual"), names, (file) => insteadOfActual(file, positionals));
  return { inputs: await readInputs(sets, files, given.one("config")) };
}

async function sayLooks(store: BatchStore, sends: boolean): Promise<void> {
  const { looks, failure } = await store.update(sends);
  for (const { record, state, done, failure: own } of looks) {
    const progress = done === undefined ? "" : `, ${done} of ${record.rows} done`;
    // The error follows.
    const known = own !== undefined && own === failure ? "unknown" : state + progress;
    process.stdout.write(`${safeLine(`${record.id ?? record.name}  ${record.label}  ${record.model}  ${known}`)}\n`);
  }
  if (failure !== undefined) throw failure;
}

/** @throws {Mistake} if there is no folder that batches could be in. */
function checkFolder(given: Arguments): void {
  const folder = given.one("cache") ?? FOLDER;
  if (kindOf(folder) !== undefined) return;
  throw new Mistake("the folder of replies does not exist, so no batch was sent from it", {
    location: folder,
    help: "Pass the folder that batch submit or eval --batch used as --cache",
  });
}

/** @throws {Mistake} for evalsets and options that only `batch submit` reads. */
function refuseInputs(given: Arguments, what: string, evalSets: readonly string[]): void {
  const names = ["actual", "journal", "config", "metrics", "model", "max-calls", ...FOR_BATCHES];
  const useless = names.find((name) => given.has(name));
  const named = useless === undefined ? evalSets[0] : `--${useless}`;
  if (named === undefined) return;
  throw new Mistake(`${named} has no effect on batch ${what}`, {
    help: "The folder of --cache knows which questions were sent. To send questions, use batch submit",
  });
}

/**
 * @param isRun Whether the command runs an agent first.
 * @throws {Mistake} for options that have no meaning for batches.
 */
export function checkBatches(given: Arguments, isRun = false): void {
  if (isRun && !given.has("journal")) {
    throw new Mistake("run --batch needs a journal, which keeps what the agent did until the batches are over", {
      help: "--journal <file>: the same command continues from it, however long the batches take",
    });
  }
  const why: Readonly<Record<string, string>> = {
    record: "a recording contains the replies to single calls",
    bail: "a batch asks all questions at once",
    "max-tokens": "the tokens of a batch are known only when it is done",
    "max-cost": "the cost of a batch is known only when it is done",
  };
  for (const [name, reason] of Object.entries(why)) {
    if (given.has(name)) {
      const help = name.startsWith("max") ? "--max-calls limits how many questions are sent" : undefined;
      throw new Mistake(`--${name} cannot be used with batches: ${reason}`, { help });
    }
  }
  const judge = given.one("judge") ?? "";
  if (judge.startsWith("replay:"))
    throw new Mistake("a recording cannot be asked in batches: it already contains its replies");
  if (judge === "vertex" || judge === "ollama") throw noBatches(judge);
}

async function cacheOf(given: Arguments): Promise<{ folder: string; cache: JudgeCache }> {
  const { fileCache } = await api();
  const folder = given.one("cache") ?? FOLDER;
  if (!given.has("cache")) note(`replies are kept in ${folder}`);
  return { folder, cache: fileCache(folder) };
}

async function storeOf(
  folder: string,
  cache: JudgeCache,
  judging: Judging,
  given: Arguments,
  signal: AbortSignal,
): Promise<BatchStore> {
  const [size, poll] = [given.one("batch-size"), given.one("batch-poll")];
  return BatchStore.open(folder, {
    cache,
    endpointOf: (record) => judging.endpointOf(record),
    say: note,
    signal,
    pollMs: 1000 * (poll === undefined ? POLL_S : secondsOf(poll)),
    ...(size === undefined ? {} : { maxRows: countOf("batch-size", size) }),
  });
}

function secondsOf(value: string): number {
  const seconds = Number(value);
  if (/^[\d.]+$/.test(value) && seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw new Mistake(`--batch-poll cannot be \`${value}\``, { help: "Expected a number of seconds above 0" });
}

function gathererOf(store: BatchStore, cache: JudgeCache, given: Arguments, { calls }: Budget): BatchGatherer {
  const fallback = oneOf("batch-fallback", given.one("batch-fallback") ?? "batch", ["batch", "live"] as const);
  return new BatchGatherer(store, cache, fallback === "live", MOST_OPEN, calls);
}

/**
 * Goes through the evaluation as far as the replies in the cache lead, and notes what it would ask next.
 *
 * @returns How many questions were noted.
 */
async function gather(
  work: BatchWork,
  gatherer: BatchGatherer,
  store: BatchStore,
  cache: JudgeCache,
  signal: AbortSignal,
): Promise<number> {
  const { inputs, partOf, registries, options, judging } = work;
  judging.gatherer = gatherer;
  for (const [at, input] of inputs.entries()) {
    const registry = registries[at] as MetricRegistry;
    let number = 0;
    for (const portion of await portionsFor(input, {}, false)) {
      const { section, evalIds } = (await partOf?.(portion, at, number)) ?? {};
      number += 1;
      if (evalIds?.length === 0) continue;
      const request: EvaluateRequest = {
        ...options,
        ...planOf(portion),
        cache: manyReaders(cache),
        actual: portion.actual ?? new Uint8Array(),
        registry,
        ...(section === undefined ? {} : { journal: section }),
        ...definedProperties({ evalIds }),
      };
      try {
        const asksJudges = await noteQuestions(gatherer, request, signal, () => selectedIds(portion));
        work.asksJudges ||= asksJudges;
      } catch (error) {
        throw signal.aborted ? error : inFiles(error, portion.files);
      }
    }
  }
  return store.finish();
}

function batchesText(amount: number): string {
  return amount === 1 ? "1 batch" : `${amountText(amount)} batches`;
}

/** Says on stderr how many questions and tokens the batches took, at half the price. */
function sayTotals({ totals }: BatchStore, { prices = {} }: Budget): void {
  const { batches, questions, replies, tokens } = totals;
  if (replies === 0 && batches === 0) return;
  let [input, output, cost] = [0, 0, 0];
  let isPriced = tokens.size > 0;
  for (const [model, used] of tokens) {
    input += used.input;
    output += used.output;
    // A criterion may name the provider before the model, and --price does as the criterion.
    const names = Object.keys(prices);
    const name = names.find((one) => one === model) ?? names.find((one) => modelAtProvider(one) === model);
    const price = name === undefined ? undefined : prices[name];
    if (price === undefined) isPriced = false;
    else cost += (used.input * price.inputPerMillion + used.output * price.outputPerMillion) / 2e6;
  }
  const parts = [
    `${count(questions, "question")} sent in ${batchesText(batches)}`,
    `${amountText(replies)} answered`,
    `${amountText(input)} tokens in, ${amountText(output)} out`,
    ...(isPriced ? [`cost ${amountText(cost, 4)} at the half price that providers charge for batches`] : []),
  ];
  note(`batches: ${parts.join(", ")}`);
}
