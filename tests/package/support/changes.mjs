// One change of each kind that HACKING.md lists, in the files that it names.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** For each change the text of new files; and for files that are there what is put before a text, or replaces a pattern. */
export const CHANGES = {
  "a deterministic metric": {
    "src/metrics/turn_count.rs": `//! \`turn_count_v1\`: how many turns there were. Informational.

use super::{Case, Evaluation, Metric, MetricInfo, Scoring, TurnEvaluation, TurnPair, efficiency};
use crate::foundation::error::Result;
use crate::model::config::MetricConfig;

struct TurnCount;

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "turn_count_v1",
    class: "TurnCountV1Evaluator",
    description: "How many turns there were.",
    ..MetricInfo::informational("turns", build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Metric>> {
    efficiency::informational(metric_config)?;
    Ok(Box::new(TurnCount))
}

impl Metric for TurnCount {
    fn turn<'a>(&self, _: &Case<'a>, _: TurnPair<'a>, _: &mut Scoring) -> Result<TurnEvaluation<'a>> {
        Ok(efficiency::reported(Some(1.0), "there are no turns"))
    }

    fn conclude<'a>(&self, _: &Case<'a>, turns: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
        efficiency::conclude_mean(turns, "there are no turns")
    }
}
`,
    "src/metrics/mod.rs": [
      ["mod user_simulator_quality;", "mod turn_count;\n"],
      ["    final_response_match::INFO,", "    turn_count::INFO,\n"],
    ],
  },
  "a judged metric": {
    "src/metrics/tact.rs": `//! \`tact_v1\`: how tactful the response is.

use super::MetricInfo;
use super::judged::Judged;
use super::vertex_scored::{self, VertexMetric};
use crate::foundation::error::Result;
use crate::judge::prompt::TACT;
use crate::model::config::MetricConfig;

static METRIC: VertexMetric = VertexMetric::from_zero_to_one(&TACT);

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "tact_v1",
    class: "TactV1Evaluator",
    description: "How tactful the response is.",
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    vertex_scored::build(metric_config, &METRIC)
}
`,
    "src/metrics/mod.rs": [
      ["mod token_usage;", "mod tact;\n"],
      ["    multi_turn_task_success::INFO,", "    tact::INFO,\n"],
    ],
    "src/judge/prompt/tact.txt": "How tactful is this?\n{{response}}\n{{reply_format}}\n",
    "src/judge/prompt/mod.rs": [
      [
        "/// Every prompt.\n",
        `/// Of \`tact_v1\`.
pub static TACT: Prompt = Prompt { id: "tact_v1", text: include_str!("tact.txt"), needed: &["response"], ..SAFETY };

`,
      ],
      ["    &TOOL_USE_QUALITY,\n", "    &TACT,\n"],
      [/(?<=ALL: \[&Prompt; )\d+/, (count) => String(Number(count) + 1)],
    ],
  },
  "a provider of models": {
    "src/judge/provider/mistral.rs": `//! Mistral's chat completions.

#[cfg(feature = "schema")]
use super::{FormField, ProviderManifest};
use super::{Protocol, ReplyPaths, UsagePaths, openai_chat};

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "mistral",
    label: "Mistral",
    keys: "MISTRAL_API_KEY",
    #[cfg(feature = "schema")]
    manifest: ProviderManifest {
        keys: &["MISTRAL_API_KEY"],
        address: "MISTRAL_BASE_URL",
        models: "^mistral-",
        title: "Mistral",
        form: &[FormField::new("model", "Model"), FormField::secret("apiKey", "Key")],
        needed: &[&["apiKey"]],
        missing: "The key is missing.",
        ..ProviderManifest::EMPTY
    },
    url: |endpoint, _| [&endpoint.base("https://api.mistral.ai", "v1"), "/chat/completions"].concat(),
    paths: ReplyPaths {
        own: &["choices"],
        stop: "choices/0/finish_reason",
        refusal: "refusal",
        why: &[],
        usage: UsagePaths { input: &["usage/prompt_tokens"], output: &["usage/completion_tokens"], total: &["usage/total_tokens"] },
        model: "model",
    },
    ..openai_chat::PROTOCOL
};
`,
    "src/judge/provider/mod.rs": [
      ["mod ollama;", "mod mistral;\n"],
      ["    /// Ollama's `/api/chat`.\n", "    /// Mistral's chat completions.\n    Mistral,\n"],
      [/(?<=ALL: \[Self; )\d+/, (count) => String(Number(count) + 1)],
      [/(?<=Self::Anthropic, )(?=Self::Ollama)/, "Self::Mistral, "],
      ["            Self::Ollama =>", "            Self::Mistral => &mistral::PROTOCOL,\n"],
    ],
    "pkg-template/src/judges/providers.ts": [
      [
        "/**\n * A judge that asks Ollama.",
        `/** A judge that asks Mistral. */
export function mistralJudge(options: ProviderJudgeOptions): Judge {
  return providerJudge(providerEndpoint("mistral", optionsOf(options, PROVIDER_OPTIONS), "Keys are made there"));
}

`,
      ],
      ["  /** Ollama. */\n", "  /** Mistral. */\n  mistral: mistralJudge,\n"],
    ],
  },
  "a report format": {
    "pkg-template/src/report/names.ts": `import { type Results, listOf } from "./results.js";

/** The names of evalsets, one a line. */
export function renderNames(results: Results): string {
  return listOf(results).map(({ evalSetId }) => evalSetId + "\\n").join("");
}
`,
    "pkg-template/src/report/formats.ts": [
      ["import type { Results }", 'import { renderNames } from "./names.js";\n'],
      [
        "  csv: {",
        `  names: {
    label: "Names",
    about: "of evalsets",
    ending: ".names",
    mediaType: "text/plain",
    fileNames: /\\.names$/i,
    signature: /^names/,
    explains: "none",
    render: renderNames,
  },
`,
      ],
    ],
  },
  "a screen": {
    "www/src/screens/recipes/recipes.tsx": `import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Title } from "../../ui/title.js";
import { engine } from "../../worker/client.js";

export default function Recipes() {
  const said = useSignal("");
  useEffect(() => void engine.recipe("cake").then((text) => (said.value = text)), []);
  return (
    <div>
      <Title>Recipes</Title>
      <p id="recipe">{said.value}</p>
    </div>
  );
}
`,
    "www/src/screens/table.ts": [
      ["} satisfies", '  recipes: { title: "Recipes", load: () => import("./recipes/recipes.js") },\n'],
    ],
    "www/src/worker/recipes.ts": `/** What the worker offers to the screen of recipes. */
export interface Recipes {
  recipe(name: string): Promise<string>;
}

export const recipes: Recipes = { recipe: async (name) => \`Bake the \${name}.\` };
`,
    "www/src/worker/parts.ts": [
      ["import type { Run, ScoredSet }", 'import type { Recipes } from "./recipes.js";\n'],
      [" {}\n\n/** What the parts are given", ", Recipes"],
      [
        "    ...lazy<Exporting>",
        '    ...lazy<Recipes>(["recipe"], async () => (await import("./recipes.js")).recipes),\n',
      ],
    ],
  },
  "an option of the command line": {
    "pkg-template/src/cli/options.ts": [
      [
        '  { name: "open",',
        '  { name: "loud", group: "server", commands: ["playground"], help: "Says it in capitals." },\n',
      ],
    ],
    "pkg-template/src/cli/playground.ts": [
      ['  if (given.has("open"))', '  if (given.has("loud")) note(address.toUpperCase());\n'],
    ],
  },
  "a setting of a criterion": {
    "src/metrics/tool_trajectory_f1.rs": [
      [
        "    /// Whether calls have to come in the expected order.\n",
        '    /// Whether everything is right.\n    LENIENT: bool = false, "lenient" | "lenient";\n',
      ],
      ["    ordered: bool,\n}", "    lenient: bool,\n"],
      ["        ordered: metric_config.setting", "        lenient: metric_config.setting(LENIENT, read_flag)?,\n"],
      [
        "        let mut turn = TurnEvaluation::scored(f1.score,",
        "        let score = if self.lenient { 1.0 } else { f1.score };\n        let _ = score;\n",
      ],
      ["f1.score, self.threshold);", "if self.lenient { 1.0 } else { f1.score }, self.threshold); //"],
    ],
  },
  "a field of evalsets": {
    "src/model/evalset.rs": [
      [
        "        /// Rubrics for every turn.\n",
        '        /// Who wrote it.\n        author: Option<Cow<\'a, str>> = "author" | "author";\n',
      ],
    ],
  },
  "a rule of the tokenizer": {
    "src/text/adk_python.rs": [
      [
        "    tokens::tokenize(text, false, &mut Scanner::new",
        '    let text = text.strip_suffix(" (sic)").unwrap_or(text);\n',
      ],
    ],
  },
  "a new google-adk": {
    "src/lib.rs": [[/(?<=REFERENCE_VERSION: &str = ")[^"]+/, "9.8.7"]],
    "tests/parity/requirements.txt": [[/(?<=google-adk\[eval\]==).+/, "9.8.7"]],
  },
};

/** Makes changes in a copy of the tree. */
export function apply(files, copy) {
  for (const [file, change] of Object.entries(files)) {
    const path = join(copy, file);
    if (typeof change === "string") {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, change);
      continue;
    }
    let text = readFileSync(path, "utf8");
    for (const [place, put] of change) {
      assert.ok(text.split(place).length > 1, `${file} has no ${place}`);
      text = text.replace(place, typeof place === "string" ? () => put + place : put);
    }
    writeFileSync(path, text);
  }
}

/** Rust that shows that what was added to the crate works. */
export const RUST_TEST = `#![allow(clippy::all, clippy::pedantic)]

#[path = "engine/support/judging.rs"]
mod judging;
#[path = "engine/support/replay.rs"]
mod replay;

use adk_metrics::foundation::json::Document;
use adk_metrics::foundation::write::Spelling;
use adk_metrics::judge::provider::{Endpoint, Provider, Request};
use adk_metrics::metrics::Dialect;
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::shape::{Record, Warnings};
use adk_metrics::run::{Options, Plan, PlanOptions, Run};
use serde_json::json;

fn score(metric: serde_json::Value) -> Option<f64> {
    let call = |name: &str| json!([{
        "userContent": { "parts": [{ "text": "Hi" }] },
        "intermediateData": { "toolUses": [{ "name": name, "args": {} }], "intermediateResponses": [] },
    }]);
    let [metric, actual, expected] =
        [metric, call("a"), call("b")].map(|json| Document::parse(json.to_string()).unwrap());
    let mut replayer = replay::Replayer::new(Dialect::AdkPython);
    replayer.evaluate(metric.root(), actual.root(), expected.root()).unwrap().score
}

#[test]
fn a_deterministic_metric_scores() {
    assert_eq!(score(json!({ "metricName": "turn_count_v1" })), Some(1.0));
}

#[test]
fn a_judged_metric_asks_and_scores() {
    let conversation = json!([{
        "userContent": { "parts": [{ "text": "Hi" }] },
        "finalResponse": { "parts": [{ "text": "What do you want?" }] },
    }]);
    let set = json!({ "evalSetId": "set", "evalCases": [{ "evalId": "case", "conversation": conversation }] });
    let [evalset, actual] = [(); 2].map(|()| Document::parse(set.to_string()).unwrap());
    let warnings = Warnings::default();
    let config = json!({ "criteria": { "tact_v1": { "threshold": 0.5, "judge_model_options": { "num_samples": 1 } } } });
    let mut config = Document::parse(config.to_string()).unwrap();
    let plan = Plan::from_config(&mut config, PlanOptions::default(), &warnings).unwrap();
    let expected = EvalSetFile::read(evalset, "set", &warnings).unwrap();
    let actual = ActualFile::read(actual, "set", &warnings).unwrap();
    let mut run = Run::new(expected.set(), actual.runs(), plan, Options::default());
    let (results, asked) = judging::drive(
        &mut run,
        &|question, _| {
            assert!(question.prompt.contains("How tactful is this?") && question.prompt.contains("What do you want?"));
            Some(r#"{"explanation": "Curt.", "score": 0.25}"#.to_owned())
        },
        false,
    );
    assert_eq!(asked, 1);
    assert_eq!(results[0].metrics.iter().find_map(|metric| metric.score), Some(0.25));
}

#[test]
fn a_field_is_read_and_written() {
    let case = r#"{"eval_id": "case", "author": "Ada", "conversation": []}"#;
    let set = format!(r#"{{"eval_set_id": "set", "eval_cases": [{case}]}}"#);
    let warnings = Warnings::default();
    let file = EvalSetFile::read(Document::parse(set).unwrap(), "set", &warnings).unwrap();
    let cases: Vec<_> = file.set().eval_cases().iter().collect();
    assert_eq!(cases[0].author().as_deref(), Some("Ada"));
    assert!(file.set().to_json(Spelling::Camel).contains(r#""author":"Ada""#));
    assert!(warnings.into_vec().is_empty());
}

#[test]
fn a_provider_is_asked() {
    let mut endpoint = Endpoint::new(Provider::parse("mistral").unwrap());
    endpoint.api_key = Some("key".into());
    let config = Document::parse(r#"{"maxOutputTokens": 9}"#.to_owned()).unwrap();
    let request = Request { model: "m", prompt: "?", config: Some(config.root()), ..Request::default() };
    let http = endpoint.render(&request).unwrap();
    assert_eq!(http.url, "https://api.mistral.ai/v1/chat/completions");
    assert!(http.headers.contains(&("authorization".to_owned(), "Bearer key".to_owned())));
    assert!(http.body.contains(r#"_tokens":9"#), "{}", http.body);
}

#[test]
fn a_setting_is_read() {
    let metric = |lenient: bool| json!({
        "metricName": "tool_trajectory_f1", "threshold": 1.0, "criterion": { "lenient": lenient },
    });
    assert_eq!((score(metric(false)), score(metric(true))), (Some(0.0), Some(1.0)));
}

#[test]
fn a_rule_of_the_tokenizer_counts() {
    assert_eq!(adk_metrics::text::rouge1("tea", "tea (sic)").fmeasure, 1.0);
}

/// What \`cargo xtask schema\` writes.
#[test]
fn the_package_is_generated_from_it() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/schema");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, json: serde_json::Value| std::fs::write(folder.join(name), format!("{json:#}\\n")).unwrap();
    for (name, schema) in adk_metrics::schema::all() {
        write(&format!("{name}.schema.json"), schema);
    }
    write("contract.schema.json", adk_metrics::wasm::contract());
    write("columns.json", adk_metrics::wasm::columns());
    write("manifest.json", adk_metrics::schema::manifest());
}

#[test]
fn the_reference_is_another() {
    assert_eq!(adk_metrics::REFERENCE_VERSION, "9.8.7");
}
`;
