/** Every option of every command: parsing, help and completion are made from this table. */

import type { Provider } from "../judges/endpoint.js";
import { PROVIDERS } from "../generated/providers.js";
import { DEFAULT_CRITERIA, DEFAULT_MODEL } from "../generated/metrics.js";
import { OPTION_HELP, OPTION_RULES } from "../generated/options.js";
import { REPORT_FORMATS, type ReportFormat } from "../report/formats.js";
import type { Option } from "./arguments.js";
import { LOG_LEVELS } from "./process.js";

export const COMMANDS = [
  "eval",
  "run",
  "record",
  "batch",
  "merge",
  "queue",
  "compare",
  "calibrate",
  "labels",
  "migrate",
  "playground",
  "completion",
] as const;

/** A command by its name. */
export type Command = (typeof COMMANDS)[number];

/** Who can be asked by `--judge`. */
export const ASKED_PROVIDERS = (Object.keys(PROVIDERS) as Provider[]).filter(isAsked);

/** A provider that `--judge` names. */
export type AskedProvider = Exclude<Provider, "openai-responses">;

/** Whether `--judge` names it: one of OpenAI's two protocols is enough. */
function isAsked(provider: Provider): provider is AskedProvider {
  return provider !== "openai-responses";
}

/** The shells that `completion` writes for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** ADK's criteria for evalsets without a config, in words. */
export const DEFAULT_CRITERIA_TEXT = Object.entries(DEFAULT_CRITERIA)
  .map(([name, threshold]) => `${name} ${Number(threshold).toFixed(1)}`)
  .join(" and ");

/** Which package's scores each dialect gives, for the help. */
const DIALECTS = wordsOf("dialect")
  .map((word, index) => `${word}: as ${OPTION_RULES.dialect.names?.[index]}`)
  .join("; ");

/** What an option may be. */
function wordsOf(option: keyof typeof OPTION_RULES): readonly string[] {
  return OPTION_RULES[option].words ?? [];
}

/** The formats of a report. */
export const FORMATS = Object.keys(REPORT_FORMATS) as ReportFormat[];

/** The formats of a comparison. */
export const COMPARISON_FORMATS = FORMATS.filter((format) => REPORT_FORMATS[format].comparison !== undefined);

/** The formats of a calibration. */
export const CALIBRATION_FORMATS = ["table", "json", "md", "html"] as const;

/** The endings of files by format, in a list for users: `.txt .json .xml`. */
export function shortEndings(formats: readonly ReportFormat[]): string {
  return formats.map((format) => /\.\w+$/.exec(REPORT_FORMATS[format].ending)?.[0]).join(" ");
}

/** Formats, each with what it is. */
function described(formats: readonly ReportFormat[]): string {
  return formats.map((format) => `${format} (${REPORT_FORMATS[format].about})`).join(", ");
}

/** The parts of a command's help that list options. */
export type OptionGroup =
  "agent" | "input" | "scoring" | "gates" | "output" | "judges" | "spending" | "queue" | "server";

/** An option, of one or several commands. */
export interface OptionEntry {
  readonly name: string;
  /** The section of the help that lists it. */
  readonly group: OptionGroup;
  /** The commands that take it. */
  readonly commands: readonly Command[];
  /** What its value is called; a switch has none. */
  readonly value?: string;
  /** What the value may be, for completion. */
  readonly words?: readonly string[];
  /** Whether the value may be a path. */
  readonly takesPath?: boolean;
  /** Whether it may be given several times. */
  readonly isRepeatable?: boolean;
  /** The letter that it may be written as. */
  readonly short?: string;
  /** What it does. */
  readonly help: string;
}

const SCORED = ["eval", "run"] as const;
const RESULTS = ["eval", "run", "merge", "queue"] as const;
const RUN = ["run", "record"] as const;
const JUDGED = ["eval", "run", "record"] as const;
const JOURNALED = ["eval", "run", "record"] as const;
/** Where judges may be asked by batches. */
const BATCHED = ["eval", "run", "batch"] as const;

/** Who can be asked by `--judge`, besides a module. */
const ASKED = [...ASKED_PROVIDERS, "replay:"];
const IN_BATCHES = ["gemini", "openai", "anthropic"];

const DEFAULT_MODEL_HELP = `${DEFAULT_MODEL} if it has none; from 1 December 2026, the Gemini API answers with another model in its place.`;

const PRICE_HELP = "Prices of a million input tokens and a million output tokens of a model, in any currency.";

function judgeHelp(who: string, words: readonly string[]): string {
  const named = words.filter((word) => word !== "replay:").join(", ");
  const providers = named.replace("openai", "openai (or any server with its protocol)");
  const recording = words.includes("replay:") ? " replay:<file>, which takes the replies from a recording;" : "";
  return `${who}: ${providers};${recording} or your own module, ./judge.mjs, whose default export or export called judge is a judge (./judge.mjs#name for another export). Default: the provider of the model, by the model's name.`;
}

export const OPTIONS: readonly OptionEntry[] = [
  {
    name: "agent",
    group: "agent",
    commands: [...RUN, "queue"],
    value: "<module>",
    takesPath: true,
    help: "The agent's module: a file, a folder with an agent.ts, or ./agent.ts#name for a named export. Without a name, the agent is the default export or the one called agent or rootAgent. It may be an agent or runner of ADK-TS or @google/adk, the result of build(), a function that creates one of these, or a function that answers a message.",
  },
  {
    name: "num-runs",
    group: "agent",
    commands: [...RUN, "queue"],
    value: "<n>",
    help: "Number of runs per case. Default: 2, as in AgentEvaluator.",
  },
  {
    name: "parallelism",
    group: "agent",
    commands: RUN,
    value: "<n>",
    help: "Number of conversations in progress at a time. Default: 4.",
  },
  {
    name: "turn-timeout",
    group: "agent",
    commands: [...RUN, "queue"],
    value: "<s>",
    help: "Timeout in seconds for a turn, and for loading the agent. It cannot stop a loop that never awaits anything; neither can Ctrl-C. Default: 300.",
  },
  {
    name: "session",
    group: "agent",
    commands: RUN,
    value: "<file>",
    takesPath: true,
    help: "The initial session of evalsets in the old format (*.test.json).",
  },
  {
    name: "actual",
    group: "input",
    commands: ["eval", "batch", "queue"],
    value: "<path>",
    takesPath: true,
    isRepeatable: true,
    help: "What the agent did: an evalset of actual conversations, ADK's evalset results, inference results, a session or its events, or OpenTelemetry traces (OTLP as JSON or JSON lines). For several evalsets, repeat it in the same order, or specify one folder. In a folder, the file for foo.evalset.json is foo.actual.json, foo.evalset_result.json, foo.inferences.json, foo.session.json, foo.traces.json or foo.traces.jsonl; or, if it is not the evalset's own folder, foo.evalset.json or foo.json. Default: the evalset's folder.",
  },
  {
    name: "config",
    group: "input",
    commands: [...SCORED, "batch", "queue"],
    value: "<file>",
    takesPath: true,
    help: `The metrics and their thresholds. Default: test_config.json beside the evalset, else ADK's default: ${DEFAULT_CRITERIA_TEXT}.`,
  },
  {
    name: "config",
    group: "input",
    commands: ["record"],
    value: "<file>",
    takesPath: true,
    help: "The file with user_simulator_config. Default: test_config.json beside the evalset.",
  },
  {
    name: "metrics",
    group: "input",
    commands: [...SCORED, "batch", "merge", "queue"],
    value: "<module>",
    takesPath: true,
    isRepeatable: true,
    help: "A JavaScript module that exports your own metrics. May be repeated. Paths in custom_metrics of the config (./metrics.mjs#politeness) are relative to the config, and only modules specified here are loaded.",
  },
  {
    name: "dialect",
    group: "scoring",
    commands: [...SCORED, "queue"],
    value: "<name>",
    words: wordsOf("dialect"),
    help: `${OPTION_HELP.dialect} ${DIALECTS}.`,
  },
  {
    name: "explain",
    group: "scoring",
    commands: RESULTS,
    value: "<which>",
    words: wordsOf("explain"),
    help: `Which results to explain: ${wordsOf("explain").join(", ")}. Default: those that the chosen formats show.`,
  },
  {
    name: "strict",
    group: "scoring",
    commands: RESULTS,
    help: "Treat warnings as errors: early ones stop the command before anything is run or asked; after later ones, the exit status is 2.",
  },
  {
    name: "strict",
    group: "scoring",
    commands: ["batch", "record", "compare", "calibrate", "migrate"],
    help: "Treat warnings as errors: if there are any, the exit status is 2.",
  },
  {
    name: "threads",
    group: "scoring",
    commands: ["eval"],
    value: "<n>",
    help: "Number of threads for JSON lines that are scored as they are read; each takes about 100 MB. Default: 2; 1 on a single core, for few lines, and if judges are asked.",
  },
  {
    name: "bail",
    group: "scoring",
    commands: SCORED,
    help: "Stop at the first case that does not pass. The results so far are written, with a warning that says what is missing.",
  },
  {
    name: "min-pass-rate",
    group: "gates",
    commands: RESULTS,
    value: "<share>",
    help: "The fraction of runs that have to pass, from 0 to 1, instead of all: 0.9.",
  },
  {
    name: "min-pass-hat",
    group: "gates",
    commands: RESULTS,
    value: "<k>=<share>",
    isRepeatable: true,
    help: "The lowest acceptable probability that k runs of a case all pass (pass^k): 3=0.8. Needs at least k runs of each case. May be repeated.",
  },
  {
    name: "allow-flaky",
    group: "gates",
    commands: RESULTS,
    help: "Each case only has to pass in one of its runs.",
  },
  {
    name: "advisory",
    group: "gates",
    commands: [...SCORED, "queue"],
    value: "<metric>",
    isRepeatable: true,
    help: "A metric that is reported but does not decide whether cases pass. May be repeated.",
  },
  {
    name: "group-by",
    group: "output",
    commands: RESULTS,
    value: "<what>",
    words: ["evalset", "tag:"],
    help: "Which cases depend on each other, so that the intervals in reports respect it: evalset (those of one evalset) or tag:<key> (those with the same value of this key, in the case or in the state of its session_input). Default: none.",
  },
  {
    name: "precision",
    group: "output",
    commands: RESULTS,
    value: "<share>",
    help: "How precise the pass rate is wanted to be: reports say how many cases or runs that takes. Default: 0.05 (5 points to either side), for cases that ran several times.",
  },
  {
    name: "watch",
    group: "scoring",
    commands: SCORED,
    help: "Score again whenever an input changes: evalsets, configs, what the agent did, and the modules of agents, metrics and judges. Ctrl-C stops it, with the exit status of the last run.",
  },
  {
    name: "log-level",
    group: "scoring",
    commands: RESULTS,
    value: "<level>",
    words: LOG_LEVELS,
    help: "warning, error and critical omit the notes on stderr; debug adds stack traces to errors. Default: info.",
  },
  {
    name: "format",
    group: "output",
    commands: RESULTS,
    value: "<name>",
    words: FORMATS,
    isRepeatable: true,
    help: `${described(FORMATS)}. May be repeated. Default: the format for the extension of --output (${shortEndings(FORMATS)}), else table.`,
  },
  {
    name: "output",
    group: "output",
    commands: RESULTS,
    value: "<path>",
    takesPath: true,
    isRepeatable: true,
    help: `Where to write: a file, a folder/, or - for stdout, which is the default for a single format. For several formats, specify one --output each, in the same order, or one name without extension, to which each format adds its own: ${FORMATS.map((format) => REPORT_FORMATS[format].ending).join(" ")}. With json, several evalsets need a folder, which gets a file for each.`,
  },
  {
    name: "force",
    group: "output",
    commands: [...RESULTS, "compare"],
    help: "Overwrite outputs that are not older reports of this program, which are overwritten anyway.",
  },
  {
    name: "print-detailed-results",
    group: "output",
    commands: RESULTS,
    help: "Show every turn in the table, with its texts, calls and scores.",
  },
  {
    name: "output",
    group: "output",
    commands: ["record"],
    value: "<path>",
    takesPath: true,
    help: "Where to write: a file, a folder/, or - for stdout, which is the default. In a folder, the file for foo.evalset.json is foo.inferences.json.",
  },
  {
    name: "journal",
    group: "output",
    commands: SCORED,
    value: "<file>",
    takesPath: true,
    help: "Save replies of judges, results of your own metrics and runs of the agent in a file of JSON lines. After an interruption, the same command continues from there, and asks no answered question again.",
  },
  {
    name: "journal",
    group: "output",
    commands: ["record"],
    value: "<file>",
    takesPath: true,
    help: "Save runs of the agent, and what simulated users say in them, in a file of JSON lines. After an interruption, the same command continues from there.",
  },
  {
    name: "journal",
    group: "input",
    commands: ["batch"],
    value: "<file>",
    takesPath: true,
    help: "Ask about the runs in this journal, which run wrote and which names the evalsets and the config. Questions that it has replies to are not asked again.",
  },
  {
    name: "resume",
    group: "output",
    commands: JOURNALED,
    help: "Continue only: it is an error if the file of --journal does not exist or is empty.",
  },
  {
    name: "shard",
    group: "output",
    commands: JOURNALED,
    value: "<n>/<count>",
    help: "Take only one shard of the cases, counted from 1: 3/16; merge combines the shards. auto reads the number of a Cloud Run task (CLOUD_RUN_TASK_INDEX and _COUNT), auto/16 that of a Kubernetes Indexed Job (JOB_COMPLETION_INDEX). Needs --journal.",
  },
  {
    name: "balance",
    group: "output",
    commands: JOURNALED,
    value: "<file>",
    takesPath: true,
    isRepeatable: true,
    help: "Earlier results or journals, whose times per case are used to make all shards take equally long. Pass the same files to every shard. May be repeated.",
  },
  {
    name: "output",
    group: "output",
    commands: ["migrate"],
    value: "<file>",
    takesPath: true,
    help: "Where to write. Default: stdout.",
  },
  { name: "force", group: "output", commands: ["record", "migrate"], help: "Overwrite the output if it exists." },
  {
    name: "judge",
    group: "judges",
    commands: [...SCORED, "queue"],
    value: "<who>",
    words: ASKED,
    takesPath: true,
    help: judgeHelp("The judge", ASKED),
  },
  {
    name: "judge",
    group: "judges",
    commands: ["batch"],
    value: "<who>",
    words: IN_BATCHES,
    takesPath: true,
    help: judgeHelp("The judge", IN_BATCHES),
  },
  {
    name: "judge",
    group: "judges",
    commands: ["record"],
    value: "<who>",
    words: ASKED,
    takesPath: true,
    help: judgeHelp("Who plays the users", ASKED),
  },
  {
    name: "model",
    group: "judges",
    commands: [...SCORED, "batch", "queue"],
    value: "<name>",
    help: `The model to ask. Default: the judge_model of each criterion, or ${DEFAULT_MODEL_HELP}`,
  },
  {
    name: "model",
    group: "judges",
    commands: ["record"],
    value: "<name>",
    help: `The model that plays the users. Default: the model in user_simulator_config, or ${DEFAULT_MODEL_HELP}`,
  },
  {
    name: "concurrency",
    group: "judges",
    commands: SCORED,
    value: "<n>",
    help: OPTION_HELP.concurrency,
  },
  {
    name: "early-stop",
    group: "judges",
    commands: SCORED,
    value: "<when>",
    help: "When a vote of samples ends: exact, as soon as the missing samples cannot change the verdict; none, after all samples; or a risk such as 0.01, as soon as the probability that they would change it is below that, estimated from the votes on the metric's first 20 questions. Default: exact.",
  },
  {
    name: "early-stop",
    group: "judges",
    commands: ["queue"],
    value: "<when>",
    help: "When a vote of samples ends: exact, as soon as the missing samples cannot change the verdict; or none, after all samples. Default: exact.",
  },
  {
    name: "record",
    group: "judges",
    commands: JUDGED,
    value: "<file>",
    takesPath: true,
    help: "Record each reply as a line of JSON, for --judge replay:<file>. The file must be new. It keeps its replies if the run is interrupted.",
  },
  {
    name: "cache",
    group: "judges",
    commands: [...SCORED, "batch"],
    value: "<folder>",
    takesPath: true,
    help: "Keep the judges' replies in a folder and reuse them: eval asks only questions that have no reply yet. run runs the agent again. Several commands may use the same folder at the same time.",
  },
  {
    name: "batch",
    group: "judges",
    commands: SCORED,
    help: "Ask judges through the batch API of OpenAI, Anthropic or Gemini, which costs half and answers within a day: sends the open questions, waits for the replies, keeps them in --cache (or in adk-metrics-replies), then asks the follow-up questions. After an interruption, the same command continues. run first runs the agent in all cases, and needs --journal to keep its runs.",
  },
  {
    name: "batch-fallback",
    group: "judges",
    commands: BATCHED,
    value: "<how>",
    words: ["batch", "live"],
    help: "How to repeat questions that failed in a batch: batch (in another batch, at most three times) or live (by single calls after the batches, at the full price, like their follow-up questions). Default: batch.",
  },
  {
    name: "batch-size",
    group: "judges",
    commands: BATCHED,
    value: "<n>",
    help: "Maximum number of questions per batch, for servers that accept fewer than their protocol's 50,000 or 100,000.",
  },
  {
    name: "batch-poll",
    group: "judges",
    commands: SCORED,
    value: "<s>",
    help: "Seconds to wait before checking a batch again. Default: 30.",
  },
  {
    name: "price",
    group: "spending",
    commands: [...SCORED, "queue"],
    value: "<model>=<input>,<output>",
    isRepeatable: true,
    help: `${PRICE_HELP} Reports then show the cost of the judges. May be repeated.`,
  },
  {
    name: "price",
    group: "spending",
    commands: ["record"],
    value: "<model>=<input>,<output>",
    isRepeatable: true,
    help: `${PRICE_HELP} stderr then shows the cost of the simulated users. May be repeated.`,
  },
  {
    name: "dry-run",
    group: "spending",
    commands: SCORED,
    help: "Only estimate the calls of judges and their tokens (and with --price, their cost): at least, likely and at most. Asks, runs and writes nothing.",
  },
  {
    name: "max-calls",
    group: "spending",
    commands: SCORED,
    value: "<n>",
    help: "Maximum number of calls of judges in the whole command. Results that are missing then are not evaluated.",
  },
  {
    name: "max-calls",
    group: "spending",
    commands: ["queue"],
    value: "<n>",
    help: "Maximum number of calls of judges, of all workers together. Results that are missing then are not evaluated.",
  },
  {
    name: "max-calls",
    group: "spending",
    commands: ["batch"],
    value: "<n>",
    help: "Maximum number of questions that are sent.",
  },
  {
    name: "max-calls",
    group: "spending",
    commands: ["record"],
    value: "<n>",
    help: "Maximum number of calls for simulated users. Runs that would need more fail.",
  },
  {
    name: "max-tokens",
    group: "spending",
    commands: [...SCORED, "queue"],
    value: "<n>",
    help: "Maximum number of tokens that the judges may use.",
  },
  {
    name: "max-tokens",
    group: "spending",
    commands: ["record"],
    value: "<n>",
    help: "Maximum number of tokens that simulated users may use.",
  },
  {
    name: "max-cost",
    group: "spending",
    commands: [...SCORED, "queue"],
    value: "<amount>",
    help: "Maximum cost of the judges. Needs a --price for every model that is asked.",
  },
  {
    name: "max-cost",
    group: "spending",
    commands: ["record"],
    value: "<amount>",
    help: "Maximum cost of the simulated users. Needs a --price for every model that is asked.",
  },
  {
    name: "queue",
    group: "queue",
    commands: ["queue"],
    value: "<url>",
    help: "The queue's database: redis://host:6379, rediss://… or postgres://user@host/database. Default: the environment's ADK_METRICS_QUEUE, which hides a password from other users.",
  },
  {
    name: "name",
    group: "queue",
    commands: ["queue"],
    value: "<name>",
    help: "The queue's name in that database. Each queue has one evaluation. Default: evaluation.",
  },
  {
    name: "limit",
    group: "queue",
    commands: ["queue"],
    value: "<n>/<s>",
    help: "Maximum number of runs that all workers together may start in a number of seconds: 600/60.",
  },
  {
    name: "priority",
    group: "queue",
    commands: ["queue"],
    value: "<n>",
    isRepeatable: true,
    help: "Priority of the evalsets, from 1; lower numbers run first. Repeat it for each evalset, in the same order. Default: in the order of the evalsets.",
  },
  {
    name: "attempts",
    group: "queue",
    commands: ["queue"],
    value: "<n>",
    help: "Number of attempts for a run whose judges do not reply, with growing delays. After the last one, its verdicts are missing, with the reason. Default: 3.",
  },
  {
    name: "concurrency",
    group: "queue",
    commands: ["queue"],
    value: "<n>",
    help: "Number of runs in progress at the same time. Default: 4.",
  },
  {
    name: "wait",
    group: "queue",
    commands: ["queue"],
    help: "Wait for an evaluation, and for more runs when all are done.",
  },
  {
    name: "lease",
    group: "queue",
    commands: ["queue"],
    value: "<s>",
    help: "Seconds without a heartbeat after which other workers take over a worker's runs. Use the same for all workers. Default: 30.",
  },
  {
    name: "watch",
    group: "queue",
    commands: ["queue"],
    help: "Update the display until everything is done.",
  },
  {
    name: "partial",
    group: "queue",
    commands: ["queue"],
    help: "Write the finished results now; unfinished ones count as not evaluated. Not needed if the budget is spent.",
  },
  {
    name: "clear",
    group: "queue",
    commands: ["queue"],
    help: "Delete the queue and its replies after the results are written.",
  },
  {
    name: "format",
    group: "output",
    commands: ["compare"],
    value: "<name>",
    words: COMPARISON_FORMATS,
    isRepeatable: true,
    help: `${COMPARISON_FORMATS.join(", ")}. May be repeated. Default: the format for the extension of --output (${shortEndings(COMPARISON_FORMATS)}), else table.`,
  },
  {
    name: "output",
    group: "output",
    commands: ["compare"],
    value: "<path>",
    takesPath: true,
    isRepeatable: true,
    help: "Where to write: a file, a folder/, or - for stdout, which is the default for a single format. For several formats, specify one --output each, in the same order.",
  },
  {
    name: "print-detailed-results",
    group: "output",
    commands: ["compare"],
    help: "Show the turns of every changed case in the table, not only of those that got worse.",
  },
  {
    name: "fail-on-drop",
    group: "output",
    commands: ["compare"],
    help: "Also exit with 1 if a metric got worse (see above) or no longer passes in some case, even if no case regressed.",
  },
  {
    name: "labels",
    group: "input",
    commands: ["calibrate"],
    value: "<file>",
    takesPath: true,
    help: "The human labels: CSV with the columns case, turn, metric, rubric and label, and optionally annotator, run and evalset; or the same as JSON or JSON lines. A label is pass or fail, 1 or 0, yes or no, or a score on the metric's scale.",
  },
  {
    name: "judge-model",
    group: "input",
    commands: ["calibrate"],
    value: "<model>",
    help: "The model that judged, for results that do not name their judge, such as those of google-adk. A calibration can only be kept (json) if it is about one judge.",
  },
  {
    name: "compare",
    group: "input",
    commands: ["calibrate"],
    help: "Compare two judges: pass two results of the same conversations, each from one judge.",
  },
  {
    name: "format",
    group: "output",
    commands: ["calibrate"],
    value: "<name>",
    words: CALIBRATION_FORMATS,
    help: "table, json (every figure), md (Markdown) or html. Default: the format for the output's extension, else table.",
  },
  {
    name: "output",
    group: "output",
    commands: ["calibrate"],
    value: "<file>",
    takesPath: true,
    help: "Where to write. Default: stdout.",
  },
  {
    name: "output",
    group: "output",
    commands: ["labels"],
    value: "<file>",
    takesPath: true,
    help: "The file to fill in. Default: stdout.",
  },
  {
    name: "count",
    group: "input",
    commands: ["labels"],
    value: "<n>",
    help: "Number of verdicts to label. Default: 50.",
  },
  {
    name: "metric",
    group: "input",
    commands: ["labels"],
    value: "<name>",
    isRepeatable: true,
    help: "Only verdicts of this metric. May be repeated. Default: the metrics that ask a judge, or all if none does.",
  },
  {
    name: "random",
    group: "input",
    commands: ["labels"],
    help: "Choose verdicts at random instead of the most doubtful first. Only random labels represent all verdicts: pass rates are estimated from them alone.",
  },
  {
    name: "seed",
    group: "input",
    commands: ["labels"],
    value: "<n>",
    help: "Seed of --random, a whole number. The same seed chooses the same verdicts. Default: 0.",
  },
  {
    name: "blind",
    group: "output",
    commands: ["labels"],
    help: "Leave out the judge's verdicts, so that they do not influence the people who label.",
  },
  {
    name: "force",
    group: "output",
    commands: ["calibrate", "labels"],
    help: "Overwrite the output if it exists. Labels in it are lost.",
  },
  {
    name: "port",
    group: "server",
    commands: ["playground"],
    value: "<n>",
    help: "The port to listen on. Default: 4747; 0 chooses a free one.",
  },
  { name: "open", group: "server", commands: ["playground"], help: "Open the page in the browser." },
  {
    name: "open",
    group: "output",
    commands: SCORED,
    help: "Then show the results in the playground, in the browser, until Ctrl-C. The exit status is that of the evaluation.",
  },
  { name: "help", group: "scoring", commands: COMMANDS, short: "h", help: "Show this help." },
];

/** The options of a command. */
export function entriesOf(command: Command): OptionEntry[] {
  return OPTIONS.filter(({ commands }) => commands.includes(command));
}

/** The commands with subcommands, and which of its options each of these takes, besides those that all take. */
export const SUBCOMMANDS: Readonly<Partial<Record<Command, Readonly<Record<string, readonly string[]>>>>> = {
  batch: {
    submit: namesOf("batch"),
    status: ["judge", "cache"],
    collect: ["judge", "cache"],
  },
  queue: {
    add: [
      ...["actual", "config", "num-runs", "dialect", "early-stop", "advisory"],
      ...["price", "max-calls", "max-tokens", "max-cost"],
      ...["limit", "priority", "attempts"],
    ],
    work: ["agent", "turn-timeout", "metrics", "judge", "model", "concurrency", "lease", "wait"],
    status: ["watch"],
    collect: [
      ...[
        "metrics",
        "explain",
        "strict",
        "min-pass-rate",
        "min-pass-hat",
        "allow-flaky",
        "log-level",
        "group-by",
        "precision",
      ],
      ...["format", "output", "force", "print-detailed-results", "partial", "clear"],
    ],
  },
  labels: { export: namesOf("labels") },
};

/** The options that all subcommands take. */
export const FOR_ALL: readonly string[] = ["queue", "name", "help"];

function namesOf(command: Command): string[] {
  return entriesOf(command).map(({ name }) => name);
}

/** The options of a command, or of one of its subcommands. */
export function entriesFor(command: Command, subcommand: string): OptionEntry[] {
  const taken = [...FOR_ALL, ...(SUBCOMMANDS[command]?.[subcommand] ?? [])];
  return entriesOf(command).filter(({ name }) => taken.includes(name));
}

/** The help of the options that a subcommand takes and not all do. */
export function subcommandHelp(command: Command, subcommand: string): string {
  return namedHelp(command, SUBCOMMANDS[command]?.[subcommand] ?? []);
}

/** The help of some options of a command, in the order of the table. */
export function namedHelp(command: Command, names: readonly string[]): string {
  return entriesOf(command)
    .filter(({ name }) => names.includes(name))
    .map(entryHelp)
    .join("");
}

/** The commands that take an option. */
export function commandsWith(option: string): readonly Command[] {
  return OPTIONS.flatMap(({ name, commands }) => (name === option ? commands : []));
}

/** The options of a command, for parsing. */
export function optionsOf(command: Command): Readonly<Record<string, Option>> {
  const options = entriesOf(command).map(({ name, value, isRepeatable }): [string, Option] => [
    name,
    { type: value === undefined ? "boolean" : "string", ...(isRepeatable === true ? { multiple: true } : {}) },
  ]);
  return Object.fromEntries(options.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const INDENT = 25;
const WIDTH = 100;

/** The help of these groups of a command's options, in the order of the table. */
export function optionsHelp(command: Command, ...groups: readonly OptionGroup[]): string {
  const entries = entriesOf(command);
  return groups.flatMap((group) => entries.filter((entry) => entry.group === group).map(entryHelp)).join("");
}

function entryHelp({ name, value, short, help }: OptionEntry): string {
  const title = `  --${name}${short === undefined ? "" : `, -${short}`}${value === undefined ? "" : ` ${value}`}`;
  const lines = wrapped(help, WIDTH - INDENT);
  const isShort = title.length < INDENT - 1;
  const first = isShort ? `${title.padEnd(INDENT)}${lines.shift() ?? ""}` : title;
  return [first, ...lines.map((line) => " ".repeat(INDENT) + line)].join("\n") + "\n";
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
