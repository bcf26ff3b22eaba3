/** What the command line says about itself. */

import { withEngine } from "../engine/instance.js";
import { api } from "./api.js";

export const COMMANDS = ["eval", "compare", "migrate", "playground"] as const;

/** A command by its name. */
export type Command = (typeof COMMANDS)[number];

export const HELP = `adk-metrics scores AI agents the way Google's Agent Development Kit does.

Usage
  adk-metrics eval <evalset>… --actual <file|folder>   score what an agent did
  adk-metrics compare <baseline results> <results>     find regressions
  adk-metrics migrate <old file>                       write an old evalset in today's schema
  adk-metrics playground                               look into evaluations in the browser

Try it
  adk-metrics eval travel.evalset.json --actual travel.actual.json
  adk-metrics eval travel.evalset.json --actual runs/ --format html --output report.html

  adk-metrics <command> --help     all about a command
  adk-metrics --version            the versions of this program and of the reference
`;

const EVAL_HELP = `Scores what an agent did against what was expected of it.

Usage
  adk-metrics eval <evalset>[:case1,case2]… [--actual <file|folder>]… [options]

Input
  <evalset>              An evalset in any form that ADK has ever written, or several. After a
                         colon the cases to score; all without it.
  --actual <path>        What the agent did: an evalset of actual conversations, ADK's evalset
                         results, inference results, a session, or OpenTelemetry traces as OTLP
                         in JSON or in lines of JSON. For several evalsets repeat it in the
                         same order, or name one folder. In a folder the runs of
                         foo.evalset.json are called foo.actual.json, foo.evalset_result.json,
                         foo.inferences.json, foo.session.json, foo.traces.json or
                         foo.traces.jsonl; also foo.evalset.json or foo.json if it is not the
                         folder of the evalset.
                         Default: the folder of the evalset.
  --config <file>        The metrics and their thresholds. Default: test_config.json beside the
                         evalset; without one ADK's own default, which is
                         tool_trajectory_avg_score 1.0 and response_match_score 0.8.

Scoring
  --dialect <name>       adk-python (default): the scores of google-adk.
                         adk-ts: those of @iqai/adk 0.5.9, for who moves over from it.
  --explain <which>      For which results to work out why: none, failures, all.
                         Default: what the chosen formats show.

Output
  --format <name>        table (default), json (ADK's evalset results), junit, md, csv, html.
                         May be repeated.
  --output <path>        Where to: a file, a folder/, or - for stdout, which is the default for
                         a single format. For several formats one --output each, in the same
                         order, or one name without ending: each format adds its own, which are
                         .txt .evalset_result.json .xml .md .csv .html. With json, several
                         evalsets need a folder, which gets a file for each.
  --print-detailed-results
                         The table shows every turn with its texts, calls and scores.

Judges
  --judge <who>          Who answers the questions of metrics that ask a judge: gemini, vertex,
                         openai (any server that speaks its protocol), anthropic, ollama, or
                         replay:<file>, which gives the replies of a recording and asks nobody.
                         Default: the provider of the model, by its name.
  --model <name>         The model to ask. Default: the judge_model of each criterion, which is
                         gemini-2.5-flash where it is absent.
  --concurrency <n>      How many calls are under way at a time. Default: 8.
  --record <file>        Records each reply as a line of JSON, for --judge replay:<file>. The file
                         must be new. What is recorded stays if the run is interrupted.

  Keys and addresses come from the environment, then from a file .env in the working directory:
  gemini     GOOGLE_API_KEY or GEMINI_API_KEY; GOOGLE_GEMINI_BASE_URL
  vertex     GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION (default: global) and a token, which is
             GOOGLE_OAUTH_ACCESS_TOKEN or what gcloud prints; or GOOGLE_API_KEY in express mode;
             GOOGLE_VERTEX_BASE_URL. Asked for gemini models too if GOOGLE_GENAI_USE_VERTEXAI is
             true. With --judge vertex, Vertex AI's evaluation service scores the metrics that
             google-adk leaves to it; with --record too, the judge does.
  openai     OPENAI_API_KEY; OPENAI_BASE_URL
  anthropic  ANTHROPIC_API_KEY; ANTHROPIC_BASE_URL
  ollama     OLLAMA_HOST (default with --judge ollama: 127.0.0.1:11434)

Metrics of this version
  tool_trajectory_avg_score   response_match_score    tool_parameter_match
  tool_trajectory_f1          tool_call_count_v1      inference_call_count_v1
  token_usage_v1              invocation_duration_v1

Metrics that ask a judge
  final_response_match_v2                         safety_v1
  rubric_based_final_response_quality_v1          response_evaluation_score
  rubric_based_tool_use_quality_v1                multi_turn_task_success_v1
  rubric_based_multi_turn_trajectory_quality_v1   multi_turn_trajectory_quality_v1
  hallucinations_v1                               multi_turn_tool_use_quality_v1
  per_turn_user_simulator_quality_v1

Exit status
    0  every case passed
    1  some case did not pass or was not evaluated, or a result is missing because calls of a
       judge failed
    2  the input or the command line cannot be used, an output cannot be written, or there is no
       judge for a metric that asks one
    3  a judge was asked, and not one call got a reply: no connection, a wrong key, an unknown
       model; or a recording had none of the replies
  130  interrupted by Ctrl-C: calls under way are cancelled, what is done is written

Examples
  adk-metrics eval evals/*.evalset.json --actual runs/
  adk-metrics eval travel.evalset.json:rome,oslo --actual travel.actual.json
  adk-metrics eval shop.evalset.json --actual run.json --format table --output - \\
                                                       --format junit --output junit.xml
  adk-metrics eval shop.evalset.json --judge openai --model gpt-4.1-mini --record judge.jsonl
  adk-metrics eval shop.evalset.json --judge replay:judge.jsonl

Results go to stdout, everything else to stderr; keys are never printed. NO_COLOR and FORCE_COLOR
are honoured.
`;

const COMPARE_HELP = `Compares the results of a run with those of a baseline: which cases regressed, by how much each
metric changed, and whether that may be chance.

Usage
  adk-metrics compare <baseline results> <results> [options]

Input
  Two files of evalset results in any spelling, as eval --format json or ADK writes them; or two
  folders, whose files *.evalset_result.json go together by name. Cases go together by eval id,
  metrics by name. A case that was run repeatedly counts once, with the mean of its scores.

A case regresses if it passed, or one of its metrics did, and now fails or is not evaluated. What
became of calls, tokens and seconds is shown, but is no regression; nor is a case or a metric that
only one of the runs has, which is named.

For each metric there is the mean difference over the cases with its 95% confidence interval, a
paired bootstrap with 10,000 resamples. It got better or worse if the interval leaves out 0 and at
least six cases changed; otherwise the change may well be chance and is called unclear.

Options
  --format <name>        table (default), json, md, csv. May be repeated.
  --output <path>        Where to: a file, a folder/, or - for stdout, which is the default for a
                         single format. For several formats one --output each, in the same order.
  --print-detailed-results
                         The table shows the turns of every case that changed, not only of those
                         that got worse.
  --fail-on-drop         Exit with 1 too if some metric got worse, as said above, although no case
                         regressed.

Exit status
    0  no case regressed
    1  some case regressed; with --fail-on-drop also: some metric got worse
    2  the input or the command line cannot be used, the two runs have no case in common, or an
       output cannot be written

Examples
  adk-metrics eval travel.evalset.json --format json --output results/
  adk-metrics compare baseline/travel.evalset_result.json results/travel.evalset_result.json
  adk-metrics compare baseline/ results/ --format md >> "$GITHUB_STEP_SUMMARY"
`;

const MIGRATE_HELP = `Writes an evalset of any form in today's ADK schema.

Usage
  adk-metrics migrate <old file> [--output <file>] [--force]

Old forms are lists of queries (*.test.json) and of named lists of queries (*.evalset.json), as
ADK wrote them before it had a schema. The new evalset is named after the file: old.test.json
becomes the evalset old.

Options
  --output <file>        Where to. Default: stdout.
  --force                Overwrite the output if it is there already.

Example
  adk-metrics migrate lights.test.json --output lights.evalset.json
`;

const PLAYGROUND_HELP = `Serves the playground: open evalsets in the browser, score them, and see why cases fail.

Usage
  adk-metrics playground [--port <n>] [--open]

It comes with this package and is served to this machine only. What you open in the page stays in
the browser; it connects to nobody but the judge that you name there.

Options
  --port <n>             Where to listen. Default: 4747; 0 takes a free port.
  --open                 Opens the page in the browser.

Example
  adk-metrics playground --open
`;

/** All about each command. */
export const HELPS: Readonly<Record<Command, string>> = {
  eval: EVAL_HELP,
  compare: COMPARE_HELP,
  migrate: MIGRATE_HELP,
  playground: PLAYGROUND_HELP,
};

/** The versions of this program and of the reference. */
export async function versionText(): Promise<string> {
  await api();
  const [version, reference] = withEngine((engine) => engine.versions());
  return `adk-metrics ${version} (scores like google-adk ${reference})\n`;
}
