/** Every option of every command: parsing, help and completion are made from this table. */

import type { Provider } from "../judges/endpoint.js";
import { PROVIDERS } from "../generated/providers.js";
import { DEFAULT_CRITERIA } from "../generated/metrics.js";
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

/** Whose scores each dialect gives, in words. */
const DIALECTS = wordsOf("dialect")
  .map((word, index) => `${word}: those of ${OPTION_RULES.dialect.names?.[index]}`)
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
  /** The part of the help that it stands in. */
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

export const OPTIONS: readonly OptionEntry[] = [
  {
    name: "agent",
    group: "agent",
    commands: [...RUN, "queue"],
    value: "<module>",
    takesPath: true,
    help: "The module of the agent, which is its default export or the one called agent or rootAgent; or ./agent.ts#name; or a folder with an agent.ts. An agent or runner of ADK-TS or @google/adk, what build() gives, a function that makes one of these, or a function from a message to the answer.",
  },
  {
    name: "num-runs",
    group: "agent",
    commands: [...RUN, "queue"],
    value: "<n>",
    help: "How often to run each case. Default: 2, as in AgentEvaluator.",
  },
  {
    name: "parallelism",
    group: "agent",
    commands: RUN,
    value: "<n>",
    help: "How many conversations to run at a time. Default: 4.",
  },
  {
    name: "turn-timeout",
    group: "agent",
    commands: [...RUN, "queue"],
    value: "<s>",
    help: "How many seconds the agent may take for a turn, and to load. Default: 300.",
  },
  {
    name: "session",
    group: "agent",
    commands: RUN,
    value: "<file>",
    takesPath: true,
    help: "The session that evalsets in the old form (*.test.json) begin with.",
  },
  {
    name: "actual",
    group: "input",
    commands: [...BATCHED, "queue"],
    value: "<path>",
    takesPath: true,
    isRepeatable: true,
    help: "What the agent did: an evalset of actual conversations, ADK's evalset results, inference results, a session or its events, or OpenTelemetry traces as OTLP in JSON or in lines of JSON. For several evalsets repeat it in the same order, or name one folder. In a folder the runs of foo.evalset.json are called foo.actual.json, foo.evalset_result.json, foo.inferences.json, foo.session.json, foo.traces.json or foo.traces.jsonl; also foo.evalset.json or foo.json if it is not the folder of the evalset. Default: the folder of the evalset.",
  },
  {
    name: "config",
    group: "input",
    commands: [...SCORED, "batch", "queue"],
    value: "<file>",
    takesPath: true,
    help: `The metrics and their thresholds. Default: test_config.json beside the evalset; without one, ADK's own default, which is ${DEFAULT_CRITERIA_TEXT}.`,
  },
  {
    name: "config",
    group: "input",
    commands: ["record"],
    value: "<file>",
    takesPath: true,
    help: "Where user_simulator_config is. Default: test_config.json beside the evalset.",
  },
  {
    name: "metrics",
    group: "input",
    commands: [...SCORED, "batch", "merge", "queue"],
    value: "<module>",
    takesPath: true,
    isRepeatable: true,
    help: "A JavaScript module whose exports are metrics of your own. May be repeated. Names in custom_metrics of the config that are paths (./metrics.mjs#politeness) are relative to the config, and only modules that are named here are loaded.",
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
    help: `For which results to work out why: ${wordsOf("explain").join(", ")}. Default: what the chosen formats show.`,
  },
  {
    name: "strict",
    group: "scoring",
    commands: RESULTS,
    help: "Warnings are errors: those that are known before anything is run or asked end the command there; others set the exit status to 2 when the results are written.",
  },
  {
    name: "strict",
    group: "scoring",
    commands: ["record", "compare", "calibrate", "migrate"],
    help: "Warnings are errors: the exit status is 2 if there are any.",
  },
  {
    name: "threads",
    group: "scoring",
    commands: ["eval"],
    value: "<n>",
    help: "How many threads score JSON lines that are not kept in memory; each takes some 100 MB. Default: 2, if there are as many cores; 1 for few lines, and where judges are asked.",
  },
  {
    name: "bail",
    group: "scoring",
    commands: SCORED,
    help: "Stop at the first case that does not pass. The results so far are written, and stderr says how many cases were left out.",
  },
  {
    name: "min-pass-rate",
    group: "gates",
    commands: RESULTS,
    value: "<share>",
    help: "The share of runs that have to pass, from 0 to 1, instead of all: 0.9.",
  },
  {
    name: "min-pass-hat",
    group: "gates",
    commands: RESULTS,
    value: "<k>=<share>",
    isRepeatable: true,
    help: "How likely k runs of a case all have to pass (pass^k): 3=0.8. Every case has to be run k times or more. May be repeated.",
  },
  {
    name: "allow-flaky",
    group: "gates",
    commands: RESULTS,
    help: "It is enough that each case passes in one of its runs.",
  },
  {
    name: "advisory",
    group: "gates",
    commands: [...SCORED, "queue"],
    value: "<metric>",
    isRepeatable: true,
    help: "A metric that is reported and decides nothing: cases pass or fail by the others. May be repeated.",
  },
  {
    name: "watch",
    group: "scoring",
    commands: SCORED,
    help: "Score again whenever a file that is read changes: evalsets, configs, what the agent did, and the modules of agents, metrics and judges. Ctrl-C ends it, with the exit status of the last run.",
  },
  {
    name: "log-level",
    group: "scoring",
    commands: RESULTS,
    value: "<level>",
    words: LOG_LEVELS,
    help: "warning, error and critical leave out the notes on stderr; debug shows where errors come from. Default: info.",
  },
  {
    name: "format",
    group: "output",
    commands: RESULTS,
    value: "<name>",
    words: FORMATS,
    isRepeatable: true,
    help: `${described(FORMATS)}. May be repeated. Default: what the ending of --output names (${shortEndings(FORMATS)}), else table.`,
  },
  {
    name: "output",
    group: "output",
    commands: RESULTS,
    value: "<path>",
    takesPath: true,
    isRepeatable: true,
    help: `Where to write: a file, a folder/, or - for stdout, which is the default for a single format. For several formats give one --output each, in the same order, or one name without ending: each format adds its own, which are ${FORMATS.map((format) => REPORT_FORMATS[format].ending).join(" ")}. With json, several evalsets need a folder, which gets a file for each.`,
  },
  {
    name: "force",
    group: "output",
    commands: [...RESULTS, "compare"],
    help: "Overwrite an output that is not an older report of this program. Those are overwritten anyway.",
  },
  {
    name: "print-detailed-results",
    group: "output",
    commands: RESULTS,
    help: "The table shows every turn with its texts, calls and scores.",
  },
  {
    name: "output",
    group: "output",
    commands: ["record"],
    value: "<path>",
    takesPath: true,
    help: "Where to write: a file, a folder/, or - for stdout, which is the default. In a folder what was done in foo.evalset.json is called foo.inferences.json.",
  },
  {
    name: "journal",
    group: "output",
    commands: JOURNALED,
    value: "<file>",
    takesPath: true,
    help: "Keeps what is paid for and settled in a file of JSON lines: replies of judges, answers of metrics of your own, runs of the agent. The same command goes on from there, after whatever ended it: nothing that has a reply is asked again, and the results are those of a run that was never interrupted.",
  },
  {
    name: "resume",
    group: "output",
    commands: JOURNALED,
    help: "Only go on: it is an error if the file of --journal is not there.",
  },
  {
    name: "shard",
    group: "output",
    commands: JOURNALED,
    value: "<n>/<count>",
    help: "Take only this part of the cases, counted from 1: 3/16; merge puts the parts together. auto takes the number of a Cloud Run task (CLOUD_RUN_TASK_INDEX and _COUNT), auto/16 that of a Kubernetes Indexed Job (JOB_COMPLETION_INDEX). Needs --journal.",
  },
  {
    name: "balance",
    group: "output",
    commands: JOURNALED,
    value: "<file>",
    takesPath: true,
    isRepeatable: true,
    help: "Earlier results or journals: parts are made to take equally long by how long each case took there. The same for every part. May be repeated.",
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
    commands: [...JUDGED, "batch", "queue"],
    value: "<who>",
    words: [...ASKED_PROVIDERS, "replay:"],
    takesPath: true,
    help: `Who answers the questions of metrics that ask a judge: ${ASKED_PROVIDERS.join(", ").replace("openai", "openai (any server that speaks its protocol)")}; replay:<file>, which gives the replies of a recording and asks nobody; or ./judge.mjs, a module of your own whose default export, or export called judge, is one (./judge.mjs#name for another). Default: the provider of the model, by its name.`,
  },
  {
    name: "model",
    group: "judges",
    commands: [...JUDGED, "batch", "queue"],
    value: "<name>",
    help: "The model to ask. Default: the judge_model of each criterion, or gemini-2.5-flash if it has none, which the Gemini API retires on 1 December 2026.",
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
    help: "When a vote of samples ends: exact, when the missing ones cannot change it; none, when all are asked; or a risk such as 0.01, also when all would decide otherwise with a chance below it, by how samples voted on the metric's first 20 questions. Default: exact.",
  },
  {
    name: "record",
    group: "judges",
    commands: JUDGED,
    value: "<file>",
    takesPath: true,
    help: "Records each reply as a line of JSON, for --judge replay:<file>. The file must be new. What is recorded stays if the run is interrupted.",
  },
  {
    name: "cache",
    group: "judges",
    commands: [...SCORED, "batch"],
    value: "<folder>",
    takesPath: true,
    help: "Keeps the judges' replies in a folder, and takes from there what was asked before: an eval that was interrupted asks only what has no reply yet. run runs the agent again. Several commands may share the folder at the same time.",
  },
  {
    name: "batch",
    group: "judges",
    commands: SCORED,
    help: "Asks judges through the batch interface of OpenAI, Anthropic or the Gemini API, which ask half the price and answer within a day: what is open is sent, waited for and kept in --cache (or in adk-metrics-replies), then what follows from the replies. The same command again goes on where it was interrupted. run first runs the agent in all cases, and needs --journal to keep that.",
  },
  {
    name: "batch-fallback",
    group: "judges",
    commands: BATCHED,
    value: "<how>",
    words: ["batch", "live"],
    help: "What becomes of questions that a batch could not answer and that may be asked again: batch (in another one, three times at most) or live (one by one when the batches are over, at the full price, as is what follows from them). Default: batch.",
  },
  {
    name: "batch-size",
    group: "judges",
    commands: BATCHED,
    value: "<n>",
    help: "The most questions of one batch, for servers that take fewer than their protocol's 50,000 or 100,000.",
  },
  {
    name: "batch-poll",
    group: "judges",
    commands: SCORED,
    value: "<s>",
    help: "How many seconds to wait between two looks at a batch. Default: 30.",
  },
  {
    name: "price",
    group: "spending",
    commands: [...JUDGED, "queue"],
    value: "<model>=<input>,<output>",
    isRepeatable: true,
    help: "What a million tokens of a model's input and output cost, in the currency of your choice. The reports then say what the judges cost. May be repeated.",
  },
  {
    name: "dry-run",
    group: "spending",
    commands: SCORED,
    help: "Say how many calls of judges and how many tokens it would take at least, at most and likely, with --price also how much money, and end there: nothing is asked, run or written.",
  },
  {
    name: "max-calls",
    group: "spending",
    commands: [...JUDGED, "batch", "queue"],
    value: "<n>",
    help: "How many calls the judges of the whole command may make. What is not scored by then is not evaluated.",
  },
  {
    name: "max-tokens",
    group: "spending",
    commands: [...JUDGED, "queue"],
    value: "<n>",
    help: "How many tokens they may use in all.",
  },
  {
    name: "max-cost",
    group: "spending",
    commands: [...JUDGED, "queue"],
    value: "<amount>",
    help: "How much they may cost in all. Needs the price of every model that is asked.",
  },
  {
    name: "queue",
    group: "queue",
    commands: ["queue"],
    value: "<url>",
    help: "Where the queue is: redis://host:6379, rediss://… or postgres://user@host/database. Default: ADK_METRICS_QUEUE of the environment, where a password is not shown to others.",
  },
  {
    name: "name",
    group: "queue",
    commands: ["queue"],
    value: "<name>",
    help: "What tells it from other queues there, each of which has one evaluation. Default: evaluation.",
  },
  {
    name: "limit",
    group: "queue",
    commands: ["queue"],
    value: "<n>/<s>",
    help: "add: how many runs of cases all workers together may begin in how many seconds: 600/60.",
  },
  {
    name: "priority",
    group: "queue",
    commands: ["queue"],
    value: "<n>",
    isRepeatable: true,
    help: "add: which evalset comes first: repeat it, a number from 1 for each in their order. The lower one comes first. Default: in their order.",
  },
  {
    name: "attempts",
    group: "queue",
    commands: ["queue"],
    value: "<n>",
    help: "add: how often a run is tried whose judges gave no reply, with growing pauses. Then its verdicts are missing, with the reason. Default: 3.",
  },
  {
    name: "concurrency",
    group: "queue",
    commands: ["queue"],
    value: "<n>",
    help: "work: how many runs of cases are under way at a time. Default: 4.",
  },
  {
    name: "wait",
    group: "queue",
    commands: ["queue"],
    help: "work: wait for more when all is done, and for the first evaluation.",
  },
  {
    name: "lease",
    group: "queue",
    commands: ["queue"],
    value: "<s>",
    help: "work: after how many seconds without a sign of life others take over what a worker had. The same for all. Default: 30.",
  },
  {
    name: "watch",
    group: "queue",
    commands: ["queue"],
    help: "status: show it as it changes, until all is done.",
  },
  {
    name: "partial",
    group: "queue",
    commands: ["queue"],
    help: "collect: take what is done as it is; what is not counts as not evaluated. Needless where the budget is spent.",
  },
  {
    name: "clear",
    group: "queue",
    commands: ["queue"],
    help: "collect: remove the queue, with its replies, when the results are written.",
  },
  {
    name: "format",
    group: "output",
    commands: ["compare"],
    value: "<name>",
    words: COMPARISON_FORMATS,
    isRepeatable: true,
    help: `${COMPARISON_FORMATS.join(", ")}. May be repeated. Default: what the ending of --output names (${shortEndings(COMPARISON_FORMATS)}), else table.`,
  },
  {
    name: "output",
    group: "output",
    commands: ["compare"],
    value: "<path>",
    takesPath: true,
    isRepeatable: true,
    help: "Where to write: a file, a folder/, or - for stdout, which is the default for a single format. For several formats give one --output each, in the same order.",
  },
  {
    name: "print-detailed-results",
    group: "output",
    commands: ["compare"],
    help: "The table shows the turns of every case that changed, not only of those that got worse.",
  },
  {
    name: "fail-on-drop",
    group: "output",
    commands: ["compare"],
    help: "Also exit with 1 if some metric got worse, as said above, or no longer passes in some case, although no case regressed.",
  },
  {
    name: "labels",
    group: "input",
    commands: ["calibrate"],
    value: "<file>",
    takesPath: true,
    help: "What people say: CSV with the columns case, turn, metric, rubric and label, optionally annotator, run and evalset; or the same as JSON or lines of JSON. A label is pass or fail, 1 or 0, yes or no, or a score of the metric's scale.",
  },
  {
    name: "compare",
    group: "input",
    commands: ["calibrate"],
    help: "Compares two judges: the results are two files of the same conversations, each judged by one of them.",
  },
  {
    name: "format",
    group: "output",
    commands: ["calibrate"],
    value: "<name>",
    words: CALIBRATION_FORMATS,
    help: "table, json (every figure), md (Markdown) or html. Default: by the output's ending, else table.",
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
    help: "How many verdicts to label. Default: 50.",
  },
  {
    name: "metric",
    group: "input",
    commands: ["labels"],
    value: "<name>",
    isRepeatable: true,
    help: "Only verdicts of this metric. May be repeated. Default: the metrics that ask a judge.",
  },
  {
    name: "random",
    group: "input",
    commands: ["labels"],
    help: "Draw verdicts at random instead of the most doubtful first. Only such labels tell of all verdicts: pass rates are made from them alone.",
  },
  {
    name: "seed",
    group: "input",
    commands: ["labels"],
    value: "<n>",
    help: "Where the drawing begins: a whole number. The same seed draws the same. Default: 0.",
  },
  {
    name: "blind",
    group: "output",
    commands: ["labels"],
    help: "Leave out what the judge said, so that it does not sway people.",
  },
  {
    name: "force",
    group: "output",
    commands: ["calibrate", "labels"],
    help: "Overwrite the output if it exists. Labels that are filled in would be lost.",
  },
  {
    name: "port",
    group: "server",
    commands: ["playground"],
    value: "<n>",
    help: "Where to listen. Default: 4747; 0 takes a free port.",
  },
  { name: "open", group: "server", commands: ["playground"], help: "Opens the page in the browser." },
  { name: "help", group: "scoring", commands: COMMANDS, short: "h", help: "Show this help." },
];

/** The options of a command. */
export function entriesOf(command: Command): OptionEntry[] {
  return OPTIONS.filter(({ commands }) => commands.includes(command));
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
