/** The help of the command line. */

import { withEngine } from "../engine/instance.js";
import { PLAIN_METRICS, PROMPTS } from "../generated/metrics.js";
import { api } from "./api.js";
import {
  ASKED_PROVIDERS,
  type AskedProvider,
  type Command,
  COMMANDS,
  FOR_ALL,
  namedHelp,
  optionsHelp,
  subcommandHelp,
} from "./options.js";
import { PROVIDERS } from "../generated/providers.js";

export { type Command, COMMANDS };

export const HELP = `adk-metrics scores AI agents the way Google's Agent Development Kit does.

Usage
  adk-metrics eval <evalset>… --actual <file|folder>   score what an agent did
  adk-metrics run --agent <module> <evalset>…          run an agent and score what it does
  adk-metrics record --agent <module> <evalset>…       run an agent and save what it does
  adk-metrics batch submit|status|collect              ask judges in batches, for half the price
  adk-metrics merge <journals>…                        combine the shards of a run
  adk-metrics queue add|work|status|collect            evaluate with many workers
  adk-metrics compare <baseline results> <results>     find regressions
  adk-metrics calibrate <results>… --labels <file>     measure how often the judge is right
  adk-metrics labels export <results>…                 choose verdicts for people to label
  adk-metrics migrate <old file>                       convert an old evalset to the current schema
  adk-metrics playground                               explore evaluations in the browser
  adk-metrics completion bash|zsh|fish                 print a completion script for a shell

Try it
  adk-metrics eval travel.evalset.json --actual travel.actual.json
  adk-metrics eval travel.evalset.json --actual runs/ --format html --output report.html
  adk-metrics run --agent ./agent.ts travel.evalset.json

  adk-metrics <command> --help     help for a command
  adk-metrics --version, -v        the versions of this program and of google-adk
`;

type Scored = "eval" | "run";

/** Parts of the help of several commands. */
const EVALSET_HELP = `  <evalset>              One or more evalsets, in any format that ADK has ever written. To select
                         cases, list them after a colon. Also a folder (.), for all its
                         *.evalset.json and *.test.json files at any depth, except in node_modules
                         and similar folders; a pattern ("evals/**/*.evalset.json"); or, as with
                         adk eval, a folder such as an agent's, followed by the ids of evalsets in
                         it (agent evalset1), or agent/evalset1.
`;

const agentHelp = (command: "run" | "record") => `${optionsHelp(command, "agent")}
  Node 22.18 and newer run TypeScript modules directly if their types can be stripped. Otherwise
  specify a loader: NODE_OPTIONS="--import tsx" npx adk-metrics run …
  The agent's output goes to stderr. In cases with a scenario, a model plays the user. It is called
  like a judge; its settings are in the config's user_simulator_config.
`;

const scoringHelp = (command: Scored) => `Scoring
${optionsHelp(command, "scoring")}
Gates: what has to pass
${optionsHelp(command, "gates")}
  All of these that you set have to be reached. If you set none, every run of every case has to
  pass. A run that was not evaluated, or lacks the verdict of a judge, counts as not passed. stderr
  shows what was reached, or by how much it was missed.

Output
${optionsHelp(command, "output")}
  The options of adk eval work too: --config_file_path (the same as --config),
  --print_detailed_results, --log_level. You may write underscores instead of dashes.
`;

/** The variables of providers that need more, or less, than a key. */
const PROVIDER_HELP: Readonly<Record<string, string>> = {
  vertex: `GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION (default: global) and a token:
             GOOGLE_OAUTH_ACCESS_TOKEN, or the output of gcloud; or GOOGLE_API_KEY in express mode;
             GOOGLE_VERTEX_BASE_URL. Also used for gemini models if GOOGLE_GENAI_USE_VERTEXAI is
             true. With --judge vertex, Vertex AI's evaluation service scores the metrics that
             google-adk delegates to it; if you also set --record, the judge scores them.`,
  ollama: "OLLAMA_HOST (default with --judge ollama: 127.0.0.1:11434)",
};

function keyedHelp(provider: AskedProvider): string {
  const { keys, address } = PROVIDERS[provider];
  return `${keys.join(" or ")}; ${address}`;
}

const judgesHelp = (command: Scored) => `Judges
${optionsHelp(command, "judges")}
Spending
${optionsHelp(command, "spending")}
  Keys and addresses come from the environment, else from a .env file: beside the agent (or above
  it, up to the working directory), else in the working directory. Only the variables below are
  read from it, and an address in it is used only with a key from the same file, never with
  gcloud's token. stderr names any server that is not the provider's own.
${ASKED_PROVIDERS.map((provider) => `  ${provider.padEnd(11)}${PROVIDER_HELP[provider] ?? keyedHelp(provider)}\n`).join("")}`;

const METRICS_HELP = `Metrics
${inColumns(3, PLAIN_METRICS)}
Metrics that ask a judge
${inColumns(2, Object.keys(PROMPTS))}`;

/** Names in columns, one below the other. */
function inColumns(count: number, names: readonly string[]): string {
  const length = Math.ceil(names.length / count);
  const columns = Array.from({ length: count }, (_, at) => names.slice(at * length, (at + 1) * length));
  const widths = columns.map((column) => Math.max(...column.map((name) => name.length)) + 3);
  const rows = Array.from({ length }, (_, row) =>
    columns.map((column, at) => (column[row] ?? "").padEnd(widths[at] ?? 0)).join(""),
  );
  return rows.map((row) => `  ${row.trimEnd()}\n`).join("");
}

const EXIT_HELP = `Exit status
    0  every case passed; if there are gates, all were reached
    1  a case did not pass or was not evaluated, or a result is missing because a judge gave no
       readable reply or one of your own metrics failed; if there are gates, one was not reached
    2  the input or the command line is invalid, an output cannot be written, a metric needs a
       judge and there is none, or there is a warning with --strict
    3  no call of a judge or a simulated user got a reply: no connection, a wrong key, an unknown
       model; or a recording contained none of the replies; calls for advisory metrics do not count
  130  interrupted by Ctrl-C: calls in progress are cancelled, finished results are written
  143  interrupted by SIGTERM, likewise
`;

const STREAMS_HELP = `Results go to stdout, everything else to stderr. Keys are never printed. NO_COLOR and FORCE_COLOR
work as usual.
`;

const EVAL_HELP = `Scores what an agent did against what was expected of it.

Usage
  adk-metrics eval <evalset>[:case1,case2]… [--actual <file|folder>]… [options]

Input
${EVALSET_HELP}${optionsHelp("eval", "input")}
${scoringHelp("eval")}
${judgesHelp("eval")}
${METRICS_HELP}
${EXIT_HELP}
Examples
  adk-metrics eval evals/*.evalset.json --actual runs/
  adk-metrics eval travel.evalset.json:rome,oslo --actual travel.actual.json
  adk-metrics eval shop.evalset.json --actual run.json --format table --output - \\
                                                       --format junit --output junit.xml
  adk-metrics eval shop.evalset.json --judge openai --model gpt-6-luna --record judge.jsonl
  adk-metrics eval shop.evalset.json --judge replay:judge.jsonl
  adk-metrics eval shop.evalset.json --metrics ./politeness.mjs

${STREAMS_HELP}`;

const RUN_HELP = `Runs an agent on the cases of evalsets, each in its own session, and scores what it does. Errors in
evalsets, metrics and judges are reported before the agent is run.

Usage
  adk-metrics run --agent <module> <evalset>[:case1,case2]… [options]

The agent
${agentHelp("run")}
Input
${EVALSET_HELP}${optionsHelp("run", "input")}
${scoringHelp("run")}
${judgesHelp("run")}
${METRICS_HELP}
${EXIT_HELP}       (a second Ctrl-C or SIGTERM also stops the scoring of finished runs)

Examples
  adk-metrics run --agent ./agent.ts evals/*.evalset.json
  adk-metrics run --agent ./agents.mjs#weather travel.evalset.json:rome --num-runs 3

${STREAMS_HELP}`;

const RECORD_HELP = `Runs an agent on the cases of evalsets and writes what it does, without scoring it, as ADK's
inference results. eval can then score them as often as you like.

Usage
  adk-metrics record --agent <module> <evalset>[:case1,case2]… [--output <file|folder>] [options]

The agent
${agentHelp("record")}
Input and output
${EVALSET_HELP}${optionsHelp("record", "output", "input", "scoring")}
Simulated users
${optionsHelp("record", "judges", "spending")}
Exit status
    0  the agent finished every case
    1  it failed in some cases; what it did before that is written, with the reason
    2  the input or the command line is invalid, an output cannot be written, or there is a warning
       with --strict
  130  interrupted by Ctrl-C: finished runs are written
  143  interrupted by SIGTERM, likewise

Example
  adk-metrics record --agent ./agent.ts evals/*.evalset.json --output runs/
  adk-metrics eval evals/*.evalset.json --actual runs/
`;

const BATCH_HELP = `Asks judges through their providers' batch APIs, without waiting for the replies.

Usage
  adk-metrics batch submit <evalset>… [--actual <file|folder>]… --cache <folder> [options]
  adk-metrics batch submit --journal <file> --cache <folder> [options]
  adk-metrics batch status|collect --cache <folder> [--judge <judge>]

submit sends the questions that have no reply in the cache yet; for a vote, as many samples as may
decide it. status shows how far the batches are. Both status and collect store the replies of
finished batches in the cache. They know whom each batch was sent to: pass --judge only if submit
got a module as --judge. OpenAI, Anthropic and the Gemini API have batches. Then run submit again
to ask the follow-up questions, until nothing is left to ask. eval --cache <folder> scores. eval
--batch does all of that in one command. With --journal, submit asks about the runs in the journal
of run, which scores with --batch --resume.

Input
${optionsHelp("batch", "input")}
Judges
${optionsHelp("batch", "judges", "spending", "scoring")}
Exit status
    0  done, whether or not the batches succeeded
    2  the input or the command line is invalid, the provider refused, or there is a warning with
       --strict

Example
  adk-metrics batch submit travel.evalset.json --cache replies
  adk-metrics batch status --cache replies
  adk-metrics eval travel.evalset.json --cache replies --batch
`;

const MERGE_HELP = `Combines the shards (--shard) of eval, run or record into the results of the undivided command. It
asks no judge, runs no agent and needs no keys: all replies are in the journals. Evalsets, configs
and what the agent did are read again, from where the shards read them. Modules of your own metrics
have to be specified again.

Usage
  adk-metrics merge <journals>… [options]

${optionsHelp("merge", "input", "scoring")}
Gates: what has to pass
${optionsHelp("merge", "gates")}
  The default of each option is the value in the shards' command.

Output
${optionsHelp("merge", "output")}
Exit status
    0  every case passed; if there are gates, all were reached
    1  a case did not pass or was not evaluated; if there are gates, one was not reached
    2  a shard is missing, was interrupted or had other inputs, an output cannot be written, or
       there is a warning with --strict
    3  in no shard did a judge, also of an advisory metric, or simulated user reply to a call

Example
  adk-metrics run --agent ./agent.ts evals/*.evalset.json --shard 1/2 --journal shard-1.jsonl
  adk-metrics run --agent ./agent.ts evals/*.evalset.json --shard 2/2 --journal shard-2.jsonl
  adk-metrics merge shard-*.jsonl --format junit --output junit.xml
`;

const QUEUE_HELP = `Evaluates with any number of workers: every run of a case is a job in a queue on Redis or
PostgreSQL. Needs the packages bullmq and ioredis, or bullmq and pg.

Usage
  adk-metrics queue add <evalset>… [--actual <path>]… [options]
  adk-metrics queue work [--agent <module>] [--judge <who>] [options]
  adk-metrics queue status [--watch]
  adk-metrics queue collect [--format <name>]… [--output <path>]… [options]

add adds the jobs that the queue does not have yet. Running it again is safe: it sets a larger
budget and retries jobs that failed permanently. work does jobs until none are left; after SIGTERM
or Ctrl-C, it finishes those in progress. If a worker is killed, others redo its jobs without asking
paid questions again. All workers read evalsets, configs and what the agent did from the same paths.
Keys come from each worker's environment and are never in the queue.

Options of all of them
${namedHelp("queue", FOR_ALL)}
add: what is evaluated, and what it may cost
${subcommandHelp("queue", "add")}
work: the agent and the judge
${subcommandHelp("queue", "work")}
status
${subcommandHelp("queue", "status")}
collect: outputs, gates and scoring
${subcommandHelp("queue", "collect")}
Exit status
    0  add, work, status: done, or the budget is spent; collect: every case passed
    1  collect: a case did not pass or was not evaluated
    2  the queue cannot be reached, or this worker cannot do its jobs: files, agent or judge are
       missing, or not the ones that the queue expects
  130, 143  interrupted by Ctrl-C or SIGTERM: the runs in progress were finished

Example
  export ADK_METRICS_QUEUE=redis://localhost:6379
  adk-metrics queue add evals/*.evalset.json --max-calls 10000
  adk-metrics queue work --agent ./agent.ts --judge gemini --model gemini-3.5-flash-lite
  adk-metrics queue collect --format junit --output junit.xml
`;

const COMPARE_HELP = `Compares results with those of a baseline: which cases regressed, how much each metric changed, and
whether the change may be chance.

Usage
  adk-metrics compare <baseline results> <results> [options]

Input
  Two files of evalset results, as ADK or eval --format json or jsonl writes them; or two folders,
  whose *.evalset_result.json and *.results.jsonl files are paired by name. If a folder has the same
  results in both formats, they count once. Cases are paired by eval id, metrics by name. A case
  with several runs counts once, with its mean scores and the fraction of its runs that pass.

A case regressed if it passed before and now fails or is not evaluated, and is fixed if it now
passes. A case with an unchanged verdict is worse or better according to its metrics. Changes in
calls, tokens and seconds, and cases and metrics that only one side has, are no regressions.

For the pass rate and for each metric, the report shows the mean difference over the cases with its
95% confidence interval. A metric got better or worse if the change is significant, which takes at
least six changed cases; others are unclear. See docs/statistics.md.

Options
${optionsHelp("compare", "output", "scoring")}
Exit status
    0  no case regressed
    1  a case regressed; with --fail-on-drop also: a metric got worse, or no longer passes in some
       case
    2  the input or the command line is invalid, the results have no case in common, an output
       cannot be written, or there is a warning with --strict

Examples
  adk-metrics compare baseline/travel.evalset_result.json results/travel.evalset_result.json
  adk-metrics compare baseline/ results/ --format md >> "$GITHUB_STEP_SUMMARY"
`;

const CALIBRATE_HELP = `Measures how often a judge is right, by comparing its verdicts with human labels.

Usage
  adk-metrics calibrate <results>… --labels <file> [options]
  adk-metrics calibrate --compare <results A> <results B> --labels <file> [options]

Input
  Results as ADK or eval --format json or jsonl writes them, folders of *.evalset_result.json or
  *.results.jsonl, or the journal of eval or run. With eval --explain all, and in journals, there
  are the votes of the judge's samples, which show how many samples are worthwhile.
${optionsHelp("calibrate", "input")}
Labels that cannot be used are listed; the others count. docs/calibration.md explains the numbers.

Options
${optionsHelp("calibrate", "output", "scoring")}
Exit status
    0  done
    2  the input or the command line is invalid, no label can be used, an output cannot be written,
       or there is a warning with --strict

Examples
  adk-metrics eval shop.evalset.json --explain all --format json --output shop.json
  adk-metrics labels export shop.json --random --blind --count 60 --output labels.csv
  adk-metrics calibrate shop.json --labels labels.csv
  adk-metrics calibrate --compare large.json small.json --labels labels.csv
`;

const LABELS_HELP = `Chooses verdicts of a judge for people to label, and writes a file for them to fill in, which
calibrate reads.

Usage
  adk-metrics labels export <results>… [--output <file>] [options]

The most doubtful verdicts come first: those whose samples disagree, or whose score is close to the
threshold. With --random, they are a random sample of all verdicts. Each row of the CSV has the
question, the answer and the rule to judge by. Write pass or fail (or a score) into the column label
and, if several people label, your name into annotator.

Options
${optionsHelp("labels", "input", "output", "scoring")}
Examples
  adk-metrics labels export shop.json --output labels.csv
  adk-metrics labels export shop.json --random --blind --count 60 --output labels.csv
`;

const MIGRATE_HELP = `Converts an evalset in any format to ADK's current schema.

Usage
  adk-metrics migrate <old file> [--output <file>] [--force]

Old formats are lists of queries (*.test.json) and of named lists of queries (*.evalset.json), which
ADK wrote before it had a schema. The new evalset is named after the file: old.test.json becomes the
evalset old.

Options
${optionsHelp("migrate", "output", "scoring")}
Example
  adk-metrics migrate lights.test.json --output lights.evalset.json
`;

const PLAYGROUND_HELP = `Serves the playground: open evalsets in the browser, score them, and see why cases fail.

Usage
  adk-metrics playground [<results or folder>…] [--port <n>] [--open]

The playground is part of this package and serves this machine only. What you open in the page stays
in the browser, which connects only to the judge that you set there.

If you pass files or folders, the page opens them: it shows results and scores evalsets. It follows
their changes, so new results appear as they are written. The files are only read, and only by pages
with the token in the printed address.

Options
${optionsHelp("playground", "server", "scoring")}
Examples
  adk-metrics playground --open
  adk-metrics playground results/ --open
`;

const COMPLETION_HELP = `Prints a script that completes commands, options, their values and files in a shell.

Usage
  adk-metrics completion bash|zsh|fish

The script completes adk-metrics, so install the package globally or define an alias:
alias adk-metrics="npx adk-metrics"

Options
${optionsHelp("completion", "scoring")}
To install it
  bash   adk-metrics completion bash > ~/.local/share/bash-completion/completions/adk-metrics
  zsh    adk-metrics completion zsh > ~/.zfunc/_adk-metrics, with fpath+=(~/.zfunc) before compinit
         in ~/.zshrc
  fish   adk-metrics completion fish > ~/.config/fish/completions/adk-metrics.fish
`;

/** The help of each command. */
export const HELPS: Readonly<Record<Command, string>> = {
  eval: EVAL_HELP,
  run: RUN_HELP,
  record: RECORD_HELP,
  batch: BATCH_HELP,
  merge: MERGE_HELP,
  queue: QUEUE_HELP,
  compare: COMPARE_HELP,
  calibrate: CALIBRATE_HELP,
  labels: LABELS_HELP,
  migrate: MIGRATE_HELP,
  playground: PLAYGROUND_HELP,
  completion: COMPLETION_HELP,
};

/** The versions of this program and of the reference. */
export async function versionText(): Promise<string> {
  await api();
  const { engineVersion, referenceVersion } = withEngine((engine) => engine.engineInfo());
  return `adk-metrics ${engineVersion} (scores like google-adk ${referenceVersion})\n`;
}
