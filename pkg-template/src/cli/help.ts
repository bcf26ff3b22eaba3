/** What the command line says about itself. */

import { withEngine } from "../engine/instance.js";
import { PLAIN_METRICS, PROMPTS } from "../generated/metrics.js";
import { api } from "./api.js";
import { ASKED_PROVIDERS, type AskedProvider, type Command, COMMANDS, optionsHelp } from "./options.js";
import { PROVIDERS } from "../generated/providers.js";

export { type Command, COMMANDS };

export const HELP = `adk-metrics scores AI agents the way Google's Agent Development Kit does.

Usage
  adk-metrics eval <evalset>… --actual <file|folder>   score what an agent did
  adk-metrics run --agent <module> <evalset>…          run an agent and score what it does
  adk-metrics record --agent <module> <evalset>…       run an agent and keep what it does
  adk-metrics batch submit|status|collect              ask judges in batches, at half the price
  adk-metrics merge <journals>…                        put the parts of a run together
  adk-metrics queue add|work|status|collect            evaluate with a fleet of workers
  adk-metrics compare <baseline results> <results>     find regressions
  adk-metrics calibrate <results>… --labels <file>     say how often the judge is right
  adk-metrics labels export <results>…                 choose verdicts for people to label
  adk-metrics migrate <old file>                       write an old evalset in today's schema
  adk-metrics playground                               explore evaluations in the browser
  adk-metrics completion bash|zsh|fish                 print a completion script for a shell

Try it
  adk-metrics eval travel.evalset.json --actual travel.actual.json
  adk-metrics eval travel.evalset.json --actual runs/ --format html --output report.html
  adk-metrics run --agent ./agent.ts travel.evalset.json

  adk-metrics <command> --help     all about a command
  adk-metrics --version, -v        the versions of this program and of the reference
`;

type Scored = "eval" | "run";

/** Parts of the help of several commands. */
const EVALSET_HELP = `  <evalset>              An evalset in any form that ADK has ever written, or several. After a
                         colon the cases to use; all without it. Also a folder (.), of which all
                         *.evalset.json and *.test.json are taken, at any depth but in
                         node_modules and the like; a pattern ("evals/**/*.evalset.json"); and,
                         as for adk eval, a folder, such as that of an agent, with ids of
                         evalsets in it (agent evalset1), or agent/evalset1.
`;

const agentHelp = (command: "run" | "record") => `${optionsHelp(command, "agent")}
  Node 22.18 and newer run TypeScript modules by themselves, as far as its types can be left out.
  Otherwise name your own loader: NODE_OPTIONS="--import tsx" npx adk-metrics run …
  What the agent prints goes to stderr. The model that plays the user where a case has a scenario
  is asked as judges are; user_simulator_config of the config has its settings.
`;

const scoringHelp = (command: Scored) => `Scoring
${optionsHelp(command, "scoring")}
What has to pass
${optionsHelp(command, "gates")}
  All that is given has to be reached; without any, every run of every case has to pass. A run that
  was not evaluated counts as not passed. stderr says what was reached, or by how much it was
  missed.

Output
${optionsHelp(command, "output")}
  Options of adk eval may be written as there: --config_file_path (which is --config),
  --print_detailed_results, --log_level. Underscores are as good as dashes.
`;

/** The variables of providers that need more, or less, than a key. */
const PROVIDER_HELP: Readonly<Record<string, string>> = {
  vertex: `GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION (default: global) and a token, which is
             GOOGLE_OAUTH_ACCESS_TOKEN or what gcloud prints; or GOOGLE_API_KEY in express mode;
             GOOGLE_VERTEX_BASE_URL. Asked for gemini models too if GOOGLE_GENAI_USE_VERTEXAI is
             true. With --judge vertex, Vertex AI's evaluation service scores the metrics that
             google-adk leaves to it; with --record too, the judge does.`,
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
  Keys and addresses come from the environment, then from a file .env: beside the agent (or above
  it, up to the working directory), then in the working directory. Only the names below are read
  from it, and an address in it is asked only with a key from the same file, never with gcloud's
  token. A server that is not the provider's own is named on stderr.
${ASKED_PROVIDERS.map((provider) => `  ${provider.padEnd(11)}${PROVIDER_HELP[provider] ?? keyedHelp(provider)}\n`).join("")}`;

const METRICS_HELP = `Metrics of this version
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
    0  every case passed; with --min-pass-rate and the like, they were reached
    1  some case did not pass or was not evaluated, or a result is missing because a judge gave
       no reply that can be read or a metric of your own failed; with --min-pass-rate and the
       like, one was not reached
    2  the input or the command line cannot be used, an output cannot be written, there is no
       judge for a metric that asks one, or with --strict there is a warning
    3  a judge was asked, and not one call got a reply: no connection, a wrong key, an unknown
       model; or a recording had none of the replies
  130  interrupted by Ctrl-C: calls under way are cancelled, what is done is written
  143  interrupted by SIGTERM, likewise
`;

const STREAMS_HELP = `Results go to stdout, everything else to stderr; keys are never printed. NO_COLOR and FORCE_COLOR
are honoured.
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
  adk-metrics eval shop.evalset.json --judge openai --model gpt-4.1-mini --record judge.jsonl
  adk-metrics eval shop.evalset.json --judge replay:judge.jsonl
  adk-metrics eval shop.evalset.json --metrics ./politeness.mjs

${STREAMS_HELP}`;

const RUN_HELP = `Runs an agent on the cases of evalsets, each in a session of its own, and scores what it does. What
is wrong with evalsets, metrics and judges is said before the agent is run.

Usage
  adk-metrics run --agent <module> <evalset>[:case1,case2]… [options]

The agent
${agentHelp("run")}
Input
${EVALSET_HELP}${optionsHelp("run", "input")}
${scoringHelp("run")}
${judgesHelp("run")}
${METRICS_HELP}
${EXIT_HELP}       (once more ends the scoring of what the agent has done)

Examples
  adk-metrics run --agent ./agent.ts evals/*.evalset.json
  adk-metrics run --agent ./agents.mjs#weather travel.evalset.json:rome --num-runs 3
  adk-metrics run --agent ./agent.ts travel.evalset.json --format junit --output junit.xml

${STREAMS_HELP}`;

const RECORD_HELP = `Runs an agent on the cases of evalsets and writes what it does, without scoring it: ADK's inference
results, which eval scores as often as you like.

Usage
  adk-metrics record --agent <module> <evalset>[:case1,case2]… [--output <file|folder>] [options]

The agent
${agentHelp("record")}
Input and output
${EVALSET_HELP}${optionsHelp("record", "output", "input", "scoring")}
Simulated users
${optionsHelp("record", "judges", "spending")}
Exit status
    0  the agent was run to the end in every case
    1  it failed in some; what it did before that is written, with the reason
    2  the input or the command line cannot be used, or an output cannot be written
  130  interrupted by Ctrl-C: the runs that were done are written
  143  interrupted by SIGTERM, likewise

Example
  adk-metrics record --agent ./agent.ts evals/*.evalset.json --output runs/
  adk-metrics eval evals/*.evalset.json --actual runs/
`;

const BATCH_HELP = `Asks judges through the batch interfaces of their providers, and leaves in between.

Usage
  adk-metrics batch submit <evalset>… [--actual <file|folder>]… --cache <folder> [options]
  adk-metrics batch status --cache <folder>
  adk-metrics batch collect --cache <folder>

submit sends the questions that have no reply in the cache, as far as they are known: of a vote as
many samples as may decide it. status says how far the batches are. collect keeps the replies of
those that are over; status does so too. Then submit once more asks what follows from them, until
nothing is left to ask, and eval --cache <folder> scores. eval --batch does all of that by itself.

Input
${optionsHelp("batch", "input")}
Judges
${optionsHelp("batch", "judges", "spending", "scoring")}
Exit status
    0  it is done, whatever became of the batches
    2  the input or the command line cannot be used, or the provider refused

Example
  adk-metrics batch submit travel.evalset.json --cache replies
  adk-metrics batch status --cache replies
  adk-metrics eval travel.evalset.json --cache replies --batch
`;

const MERGE_HELP = `Puts the parts of eval, run or record (--shard) together to what the whole would have come to.
Nobody is asked, no agent is run and no keys are needed: all answers are in the journals. Evalsets,
configs and what the agent did are read again, from where the parts read them. Modules of metrics
have to be named again.

Usage
  adk-metrics merge <journals>… [options]

${optionsHelp("merge", "input", "scoring")}
What has to pass
${optionsHelp("merge", "gates")}
  What is not given is as in the command of the parts.

Output
${optionsHelp("merge", "output")}
Exit status
    0  every case passed; with --min-pass-rate and the like, they were reached
    1  some case did not pass or was not evaluated
    2  a part is missing, was interrupted or is of other inputs, or an output cannot be written

Example
  adk-metrics run --agent ./agent.ts evals/*.evalset.json --shard 1/2 --journal part-1.jsonl
  adk-metrics run --agent ./agent.ts evals/*.evalset.json --shard 2/2 --journal part-2.jsonl
  adk-metrics merge part-*.jsonl --format junit --output junit.xml
`;

const QUEUE_HELP = `Evaluates with a fleet of workers: every run of a case is a job of a queue on Redis or PostgreSQL.
Needs the packages bullmq and ioredis, or bullmq and pg.

Usage
  adk-metrics queue add <evalset>… [--actual <path>]… [options]
  adk-metrics queue work [--agent <module>] [--judge <who>] [options]
  adk-metrics queue status [--watch]
  adk-metrics queue collect [--format <name>]… [--output <path>]… [options]

add puts in what is not there yet: the same command again is harmless, raises the budget and tries
once more what failed for good. work does jobs until none is left; SIGTERM and Ctrl-C let it finish
what is under way. A worker that is killed loses its place and nothing that was paid for. collect
writes what one process would have written. Evalsets, configs and what the agent did are files with
the same paths everywhere; keys are in the environment of each worker, and never in the queue.

The queue
${optionsHelp("queue", "queue")}
add: what is evaluated, and what it may cost
${optionsHelp("queue", "input", "spending")}
work: the agent and the judge
${optionsHelp("queue", "agent", "judges")}
collect, and how is scored
${optionsHelp("queue", "output", "gates", "scoring")}
Exit status
    0  add, work, status: it is done, or the budget is spent; collect: every case passed
    1  collect: some case did not pass or was not evaluated
    2  the queue cannot be reached, or this worker cannot do the jobs: files, agent or judge are
       missing or others than those of the queue
  130, 143  interrupted by Ctrl-C or SIGTERM: what was under way is done

Example
  export ADK_METRICS_QUEUE=redis://localhost:6379
  adk-metrics queue add evals/*.evalset.json --max-calls 10000
  adk-metrics queue work --agent ./agent.ts --judge gemini --concurrency 8
  adk-metrics queue collect --format junit --output junit.xml
`;

const COMPARE_HELP = `Compares the results of a run with those of a baseline: which cases regressed, by how much each
metric changed, and whether that may be chance.

Usage
  adk-metrics compare <baseline results> <results> [options]

Input
  Two files of evalset results in any spelling, as eval --format json or ADK writes them; or two
  folders, whose files *.evalset_result.json go together by name. Cases go together by eval id,
  metrics by name. A case that was run repeatedly counts once, with the mean of its scores and
  the share of its runs that pass.

A case regresses if it passed and now fails or is not evaluated, and is fixed if it now passes. A
case whose own verdict is the same is worse or better by what became of its metrics, which are shown
beneath it. What became of calls, tokens and seconds is shown, but is no regression; nor is a case
or a metric that only one of the runs has, which is named.

How often cases pass is compared over all of their runs. For it and for each metric there is the
mean difference over the cases with its 95% confidence interval, a paired bootstrap with 10,000
resamples. A metric got better or worse if the interval leaves out 0, and if a difference like
that comes about by chance in at most one of twenty comparisons of equal agents, for all metrics
together: that takes at least six cases that changed. Otherwise the change may well be chance and
is called unclear; the report says how large a difference would have shown. docs/statistics.md
tells more.

Options
${optionsHelp("compare", "output", "scoring")}
Exit status
    0  no case regressed
    1  some case regressed; with --fail-on-drop also: some metric got worse, or no longer passes
       in some case
    2  the input or the command line cannot be used, the two runs have no case in common, or an
       output cannot be written

Examples
  adk-metrics eval travel.evalset.json --format json --output results/
  adk-metrics compare baseline/travel.evalset_result.json results/travel.evalset_result.json
  adk-metrics compare baseline/ results/ --format md >> "$GITHUB_STEP_SUMMARY"
`;

const CALIBRATE_HELP = `Says how often a judge is right: compares its verdicts with labels that people gave.

Usage
  adk-metrics calibrate <results>… --labels <file> [options]
  adk-metrics calibrate --compare <results A> <results B> --labels <file> [options]

Input
  Results as eval --format json or ADK writes them, or folders of such. Add --explain all to eval,
  and they keep how the samples of judges voted, which tells how many samples are worth asking.
${optionsHelp("calibrate", "input")}
Labels that cannot be used are named; the others count. docs/calibration.md says what the figures
mean.

Options
${optionsHelp("calibrate", "output", "scoring")}
Exit status
    0  it is done
    2  the input or the command line cannot be used, no label can be used, an output cannot be
       written, or with --strict there is a warning

Examples
  adk-metrics eval shop.evalset.json --explain all --format json --output shop.json
  adk-metrics labels export shop.json --random --blind --count 60 --output labels.csv
  adk-metrics calibrate shop.json --labels labels.csv
  adk-metrics calibrate --compare large.json small.json --labels labels.csv
`;

const LABELS_HELP = `Chooses verdicts of a judge for people to label, in a file that they fill in and calibrate reads.

Usage
  adk-metrics labels export <results>… [--output <file>] [options]

Those come first that look doubtful: of which samples disagree, or whose score is near the
threshold. With --random they are drawn, so that they stand for all. Each row of the CSV has the
question, the answer and the rule that is judged by. Write pass or fail (or a score) into the column
label, and who says so into annotator if there are several of you.

Options
${optionsHelp("labels", "input", "output", "scoring")}
Examples
  adk-metrics labels export shop.json --output labels.csv
  adk-metrics labels export shop.json --random --blind --count 60 --output labels.csv
`;

const MIGRATE_HELP = `Converts an evalset in any form to today's ADK schema.

Usage
  adk-metrics migrate <old file> [--output <file>] [--force]

Old forms are lists of queries (*.test.json) and of named lists of queries (*.evalset.json), as
ADK wrote them before it had a schema. The new evalset is named after the file: old.test.json
becomes the evalset old.

Options
${optionsHelp("migrate", "output", "scoring")}
Example
  adk-metrics migrate lights.test.json --output lights.evalset.json
`;

const PLAYGROUND_HELP = `Serves the playground: open evalsets in the browser, score them, and see why cases fail.

Usage
  adk-metrics playground [<results or folder>…] [--port <n>] [--open]

It comes with this package and is served to this machine only. What you open in the page stays in
the browser; it connects only to the judge that you name there.

With files or folders, the page opens them: results as they are, evalsets to be scored. It follows
them, so new results appear as they are written. The files are only read, and only by a page with
the token of the address that is printed.

Options
${optionsHelp("playground", "server", "scoring")}
Examples
  adk-metrics playground --open
  adk-metrics playground results/ --open
`;

const COMPLETION_HELP = `Prints a script that completes commands, options, their values and files in a shell.

Usage
  adk-metrics completion bash|zsh|fish

The script completes adk-metrics, which a global installation provides, or an alias such as
alias adk-metrics="npx adk-metrics".

Options
${optionsHelp("completion", "scoring")}
Install it
  bash   adk-metrics completion bash > ~/.local/share/bash-completion/completions/adk-metrics
  zsh    adk-metrics completion zsh > ~/.zfunc/_adk-metrics, with fpath+=(~/.zfunc) before compinit
         in ~/.zshrc
  fish   adk-metrics completion fish > ~/.config/fish/completions/adk-metrics.fish
`;

/** All about each command. */
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
