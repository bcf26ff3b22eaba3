//! What holds for every input: writing then reading changes nothing, and no input traps.

mod robustness;
mod round_trip;

use crate::support::{scoring, spelling};
use adk_metrics::foundation::error::{Error, Result};
use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::foundation::write::{Spelling, pretty};
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::content::{Content, FunctionCall, FunctionResponse, Part};
use adk_metrics::model::evalset::{ConversationScenario, EvalCase, EvalSet, EvalSetFile, SessionInput};
use adk_metrics::model::invocation::{
    IntermediateData, IntermediateResponse, IntermediateSummary, Invocation, InvocationEvent,
    InvocationEvents, Rubric, RubricContent, UsageMetadata,
};
use adk_metrics::model::results::EvalSetResult;
use adk_metrics::model::shape::{List, Record, View, Warnings, check};
use adk_metrics::run::{Plan, PlanOptions};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use spelling::camel_case;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

const SPELLINGS: [Spelling; 2] = [Spelling::Snake, Spelling::Camel];

/// So many random cases, without a file of past failures.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

// ---- evalsets of any content

/// What a file may hold, as it is made up here: the model that views have to agree with.
#[derive(Clone, Debug)]
enum Node {
    Text(String),
    Flag(bool),
    Seconds(f64),
    Count(i64),
    Free(Json<'static>),
    List(Vec<Node>),
    /// Fields by their keys in `snake_case`, in the order written, then keys that are no fields.
    Record(Vec<(&'static str, Node)>, Vec<(String, Json<'static>)>),
}

/// In which order the keys of a record stand.
#[derive(Clone, Copy, Debug)]
enum Order {
    AsWritten,
    Reversed,
}

impl Node {
    fn get(&self, key: &str) -> Option<&Self> {
        let Self::Record(fields, _) = self else { return None };
        fields.iter().find(|(name, _)| *name == key).map(|(_, node)| node)
    }

    fn to_json(&self, spelling: Spelling, order: Order) -> String {
        match self {
            Self::Text(text) => serde_json::to_string(text).unwrap(),
            Self::Flag(flag) => flag.to_string(),
            Self::Seconds(seconds) => format!("{seconds:?}"),
            Self::Count(count) => count.to_string(),
            Self::Free(json) => json.raw().to_owned(),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(|item| item.to_json(spelling, order)).collect();
                format!("[{}]", items.join(","))
            }
            Self::Record(fields, others) => {
                let fields = fields.iter().map(|(snake, node)| {
                    let key =
                        if spelling == Spelling::Snake { (*snake).to_owned() } else { camel_case(snake) };
                    format!("\"{key}\":{}", node.to_json(spelling, order))
                });
                let others = others
                    .iter()
                    .map(|(key, json)| format!("{}:{}", serde_json::to_string(key).unwrap(), json.raw()));
                let mut entries: Vec<_> = fields.chain(others).collect();
                if let Order::Reversed = order {
                    entries.reverse();
                }
                format!("{{{}}}", entries.join(","))
            }
        }
    }
}

/// Free-form objects with what a reader might stumble over.
static OBJECTS: LazyLock<Document<'static>> = LazyLock::new(|| {
    let text = r#"[{}, {"a_b": 1, "aB": 1.0, "": null}, {"big": 123456789012345678901234567890, "small": -0.0, "e": 1E2},
        {"nested": [[{"text": "\"\\\u0000é😀"}], true, null]}, {"toolUses": [], "tool_uses": []}]"#;
    Document::parse(text).unwrap()
});

fn any_object() -> impl Strategy<Value = Json<'static>> {
    let all: Vec<_> = OBJECTS.root().items().collect();
    proptest::sample::select(all)
}

fn text() -> BoxedStrategy<Node> {
    prop_oneof!["[a-z ]{0,12}", any::<String>(), Just("日本語\u{2028}\"\\\n".to_owned())]
        .prop_map(Node::Text)
        .boxed()
}

fn object() -> BoxedStrategy<Node> {
    any_object().prop_map(Node::Free).boxed()
}

fn seconds() -> BoxedStrategy<Node> {
    let seconds = prop_oneof![
        Just(0.0),
        Just(1.5),
        -1e300..1e300_f64,
        any::<f64>().prop_filter("finite", |x| x.is_finite())
    ];
    seconds.prop_map(Node::Seconds).boxed()
}

fn list(item: BoxedStrategy<Node>, most: usize) -> BoxedStrategy<Node> {
    vec(item, 0..=most).prop_map(Node::List).boxed()
}

type Field = (&'static str, BoxedStrategy<Option<Node>>);

fn required(key: &'static str, value: BoxedStrategy<Node>) -> Field {
    (key, value.prop_map(Some).boxed())
}

fn optional(key: &'static str, value: BoxedStrategy<Node>) -> Field {
    (key, of(value).boxed())
}

fn record(fields: Vec<Field>) -> BoxedStrategy<Node> {
    let (keys, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    let entries = move |values: Vec<Option<Node>>| {
        let entries = keys.iter().zip(values).filter_map(|(key, value)| Some((*key, value?)));
        Node::Record(entries.collect(), Vec::new())
    };
    values.prop_map(entries).boxed()
}

/// A record that keeps unknown keys.
fn open_record(fields: Vec<Field>) -> BoxedStrategy<Node> {
    let other = of(("x [a-zé\"]{0,5}", any_object()));
    let with_other = |(record, other): (Node, Option<(String, Json<'static>)>)| match record {
        Node::Record(fields, _) => Node::Record(fields, other.into_iter().collect()),
        other => other,
    };
    (record(fields), other).prop_map(with_other).boxed()
}

fn function_call() -> BoxedStrategy<Node> {
    record(vec![optional("id", text()), optional("name", text()), optional("args", object())])
}

fn function_response() -> BoxedStrategy<Node> {
    open_record(vec![optional("id", text()), optional("name", text()), optional("response", object())])
}

/// A part. Unknown keys alone are an error.
fn part() -> BoxedStrategy<Node> {
    let fields = vec![
        optional("text", text()),
        optional("thought", any::<bool>().prop_map(Node::Flag).boxed()),
        optional("function_call", function_call()),
        optional("function_response", function_response()),
    ];
    let without_others_alone = |node| match node {
        Node::Record(fields, _) if fields.iter().all(|(key, _)| *key == "thought") => {
            Node::Record(fields, Vec::new())
        }
        other => other,
    };
    open_record(fields).prop_map(without_others_alone).boxed()
}

fn content() -> BoxedStrategy<Node> {
    record(vec![optional("parts", list(part(), 2)), optional("role", text())])
}

fn usage() -> BoxedStrategy<Node> {
    let count = || any::<i64>().prop_map(Node::Count).boxed();
    open_record(vec![
        optional("prompt_token_count", count()),
        optional("tool_use_prompt_token_count", count()),
        optional("candidates_token_count", count()),
        optional("thoughts_token_count", count()),
        optional("cached_content_token_count", count()),
    ])
}

fn event() -> BoxedStrategy<Node> {
    record(vec![
        required("author", text()),
        optional("content", content()),
        optional("grounding_metadata", object()),
        optional("usage_metadata", usage()),
        optional("model_version", text()),
    ])
}

fn intermediate_data() -> BoxedStrategy<Node> {
    let response = (text(), list(part(), 1)).prop_map(|(author, parts)| Node::List(vec![author, parts]));
    let summary = record(vec![
        optional("tool_uses", list(function_call(), 2)),
        required("tool_responses", list(function_response(), 1)),
        required("intermediate_responses", list(response.boxed(), 1)),
    ]);
    prop_oneof![record(vec![required("invocation_events", list(event(), 2))]), summary].boxed()
}

fn rubric() -> BoxedStrategy<Node> {
    record(vec![
        required("rubric_id", text()),
        required("rubric_content", record(vec![optional("text_property", text())])),
        optional("description", text()),
        optional("type", text()),
    ])
}

fn invocation() -> BoxedStrategy<Node> {
    record(vec![
        required("invocation_id", text()),
        required("user_content", content()),
        optional("final_response", content()),
        optional("intermediate_data", intermediate_data()),
        required("creation_timestamp", seconds()),
        optional("duration", seconds()),
        optional("model_duration", seconds()),
        optional("tool_duration", seconds()),
        optional("rubrics", list(rubric(), 1)),
        optional("app_details", object()),
    ])
}

fn session_input() -> BoxedStrategy<Node> {
    open_record(vec![
        required("app_name", text()),
        required("user_id", text()),
        optional("session_id", text()),
        optional("state", object()),
    ])
}

fn eval_case() -> BoxedStrategy<Node> {
    let case = |course: Field| {
        open_record(vec![
            required("eval_id", text()),
            course,
            optional("session_input", session_input()),
            required("creation_timestamp", seconds()),
            optional("rubrics", list(rubric(), 1)),
            optional("final_session_state", object()),
        ])
    };
    let scenario = record(vec![
        required("starting_prompt", text()),
        required("conversation_plan", text()),
        optional("user_persona", object()),
    ]);
    prop_oneof![
        4 => case(required("conversation", list(invocation(), 2))),
        1 => case(required("conversation_scenario", scenario)),
    ]
    .boxed()
}

fn has_own_ids(cases: &Node) -> bool {
    let Node::List(cases) = cases else { return false };
    let ids = cases.iter().filter_map(|case| match case.get("eval_id") {
        Some(Node::Text(id)) => Some(id),
        _ => None,
    });
    ids.collect::<HashSet<_>>().len() == cases.len()
}

fn eval_set() -> BoxedStrategy<Node> {
    record(vec![
        required("eval_set_id", text()),
        optional("name", text()),
        optional("description", text()),
        required(
            "eval_cases",
            list(eval_case(), 2).prop_filter("each case has an id of its own", has_own_ids).boxed(),
        ),
        required("creation_timestamp", seconds()),
    ])
}

fn read_set<'t>(json: &'t str, warnings: &Warnings) -> EvalSetFile<'t> {
    EvalSetFile::read(Document::parse(json).unwrap(), "", warnings).unwrap()
}

/// Without white space outside strings.
fn without_space(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    json.chars()
        .filter(|c| {
            let kept = in_string || !c.is_ascii_whitespace();
            in_string ^= *c == '"' && !escaped;
            escaped = in_string && *c == '\\' && !escaped;
            kept
        })
        .collect()
}

// ---- any input at all

/// Every kind of document there is.
static DOCUMENTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let shapes = Document::parse(include_str!("../../parity/vectors/shapes.json")).unwrap();
    let shape = |key: &str| shapes.root().get("documents").unwrap().get(key).unwrap().raw().to_owned();
    let turn = r#"{"user_content":{"parts":[{"text":"Hi"}]},"final_response":{"parts":[{"text":"Hello"}]}}"#;
    let event = r#"{"author":"agent","invocation_id":"i","content":{"parts":[{"text":"Hello"}]}}"#;
    let row =
        r#"{"query":"Hi","reference":"Hello","expected_tool_use":[{"tool_name":"f","tool_input":{"a":1}}]}"#;
    vec![
        shape("eval_set"),
        shape("eval_set_result"),
        format!("[{row}]"),
        format!(r#"[{{"name":"c","data":[{row}],"initial_session":{{"state":{{}}}}}}]"#),
        format!(r#"[{{"eval_case_id":"c1","status":1,"inferences":[{turn}]}}]"#),
        format!(r#"{{"id":"s","events":[{event}]}}"#),
        r#"{"criteria":{"tool_trajectory_avg_score":{"threshold":1,"match_type":"IN_ORDER"},"response_match_score":0.5,
            "tool_parameter_match":{"threshold":0.5,"per_arg_strategies":{"a":"numeric"},"numeric_tolerance":0.1},
            "tool_trajectory_f1":{"threshold":0.5,"match_mode":"name_only"}}}"#
            .to_owned(),
        r#"{"metric_name":"response_match_score","threshold":0.5,"criterion":{"threshold":0.8}}"#.to_owned(),
        r#""{\"eval_set_id\":\"s\",\"eval_cases\":[]}""#.to_owned(),
    ]
});

/// The warnings but for those of what a well-written evalset can say: keys that are kept although nothing reads them (of a
/// persona, or slips), no case at all, and cases without an id.
fn unexpected(warnings: Warnings) -> Vec<Error> {
    const EXPECTED: [&str; 3] = ["is not read", "has no case", "has an empty eval id"];
    let mut warnings = warnings.into_vec();
    warnings.retain(|warning| !EXPECTED.iter().any(|words| warning.message.contains(words)));
    warnings
}

/// Scores one file against another with all metrics that compute a score themselves.
fn evaluate(expected: &str, actual: &str) {
    let mut config = Document::parse(DOCUMENTS[6].as_str()).unwrap();
    let plan = Plan::from_config(&mut config, PlanOptions::default(), &Warnings::default()).unwrap();
    assert!(scoring::score(expected, actual, plan).unwrap_or(true), "no metric asks anybody");
}
