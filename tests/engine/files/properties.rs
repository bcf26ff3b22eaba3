//! What holds for every input: writing then reading changes nothing, and no input traps.

use crate::support::{scoring, spelling};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

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

fn part() -> BoxedStrategy<Node> {
    open_record(vec![
        optional("text", text()),
        optional("thought", any::<bool>().prop_map(Node::Flag).boxed()),
        optional("function_call", function_call()),
        optional("function_response", function_response()),
    ])
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

// ---- what views show of them

/// What can be compared with the model.
trait Agrees {
    fn agrees(&self, node: Option<&Node>) -> bool;
}

impl Agrees for Cow<'_, str> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Text(text)) if text == self)
    }
}

impl Agrees for bool {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Flag(flag)) if flag == self)
    }
}

impl Agrees for f64 {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Seconds(seconds)) if seconds.to_bits() == self.to_bits())
    }
}

impl Agrees for i64 {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Count(count)) if count == self)
    }
}

impl Agrees for Json<'_> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        matches!(node, Some(Node::Free(json)) if json.raw() == self.raw())
    }
}

impl<T: Agrees> Agrees for Option<T> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        match self {
            Some(view) => view.agrees(node),
            None => node.is_none(),
        }
    }
}

impl<'a, T: View<'a> + Agrees> Agrees for List<'a, T> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        let Some(Node::List(nodes)) = node else { return false };
        self.len() == nodes.len() && self.iter().zip(nodes).all(|(view, node)| view.agrees(Some(node)))
    }
}

impl Agrees for IntermediateData<'_> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        match self {
            Self::Events(events) => events.agrees(node),
            Self::Summary(summary) => summary.agrees(node),
        }
    }
}

impl Agrees for IntermediateResponse<'_> {
    fn agrees(&self, node: Option<&Node>) -> bool {
        let Some(Node::List(nodes)) = node else { return false };
        self.author().agrees(nodes.first()) && self.parts().agrees(nodes.get(1))
    }
}

macro_rules! records_agree {
    ($( $record:ident: $($field:ident),*; )*) => {$(
        impl Agrees for $record<'_> {
            fn agrees(&self, node: Option<&Node>) -> bool {
                let Some(node) = node else { return false };
                $( self.$field().agrees(node.get(stringify!($field).trim_start_matches("r#"))) )&&*
            }
        }
    )*};
}

records_agree! {
    EvalSet: eval_set_id, name, description, eval_cases, creation_timestamp;
    EvalCase: eval_id, conversation, conversation_scenario, session_input, creation_timestamp, rubrics,
        final_session_state;
    ConversationScenario: starting_prompt, conversation_plan, user_persona;
    SessionInput: app_name, user_id, session_id, state;
    Rubric: rubric_id, rubric_content, description, r#type;
    RubricContent: text_property;
    Invocation: invocation_id, user_content, final_response, intermediate_data, creation_timestamp, duration,
        model_duration, tool_duration, rubrics, app_details;
    InvocationEvents: invocation_events;
    InvocationEvent: author, content, grounding_metadata, usage_metadata, model_version;
    UsageMetadata: prompt_token_count, tool_use_prompt_token_count, candidates_token_count,
        thoughts_token_count, cached_content_token_count;
    IntermediateSummary: tool_uses, tool_responses, intermediate_responses;
    Content: parts, role;
    Part: text, thought, function_call, function_response;
    FunctionCall: id, name, args;
    FunctionResponse: id, name, response;
}

fn read_set<'t>(json: &'t str, warnings: &Warnings) -> EvalSetFile<'t> {
    EvalSetFile::read(Document::parse(json).unwrap(), "", warnings).unwrap()
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn writing_then_reading_gives_the_same_evalset_in_both_spellings(set in eval_set()) {
        for (spelling, order) in
            SPELLINGS.into_iter().flat_map(|spelling| [(spelling, Order::AsWritten), (spelling, Order::Reversed)])
        {
            let json = set.to_json(spelling, order);
            let warnings = Warnings::default();
            let file = read_set(&json, &warnings);
            prop_assert_eq!(unexpected(warnings), [] as [Error; 0]);
            prop_assert!(file.set().agrees(Some(&set)), "{}", json);
            for spelling in SPELLINGS {
                prop_assert_eq!(file.set().to_json(spelling), set.to_json(spelling, Order::AsWritten), "{}", json);
            }
        }
    }

    #[test]
    fn laying_out_changes_nothing(set in eval_set()) {
        let written = set.to_json(Spelling::Snake, Order::AsWritten);
        let laid_out = pretty(Document::parse(written.as_str()).unwrap().root());
        let file = read_set(&laid_out, &Warnings::default());
        // Free-form objects are equal as values, though not as written.
        prop_assert_eq!(without_space(&file.set().to_json(Spelling::Snake)), without_space(&written));
    }

    #[test]
    fn an_evalset_against_itself_is_scored_to_the_end(set in eval_set()) {
        let written = set.to_json(Spelling::Snake, Order::AsWritten);
        evaluate(&written, &written);
    }
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

/// A document as readers of configs and results take it.
fn unwrapped(bytes: &[u8]) -> Result<Document<'_>> {
    Ok(Document::from_bytes(bytes)?.unwrapped()?.0)
}

/// The warnings but for those of what a well-written evalset can say: keys that are kept although nothing reads them (of a
/// persona, or slips), no case at all, and cases without an id.
fn unexpected(warnings: Warnings) -> Vec<Error> {
    const EXPECTED: [&str; 3] = ["is not read", "has no case", "has an empty eval id"];
    let mut warnings = warnings.into_vec();
    warnings.retain(|warning| !EXPECTED.iter().any(|words| warning.message.contains(words)));
    warnings
}

/// Calls every reader; what they accept, they also write such that it reads again the same.
fn read_everything(bytes: &[u8]) {
    if unwrapped(bytes).is_err() {
        return;
    }
    let document = || unwrapped(bytes).unwrap();
    let warnings = Warnings::default();
    if let Ok(file) = EvalSetFile::read(document(), "name", &warnings) {
        let written = SPELLINGS.map(|spelling| file.set().to_json(spelling));
        for json in &written {
            let warnings = Warnings::default();
            let read = EvalSetFile::read(Document::parse(json.as_str()).unwrap(), "name", &warnings);
            let read = read.unwrap_or_else(|error| panic!("{error}: {json}"));
            assert_eq!(SPELLINGS.map(|spelling| read.set().to_json(spelling)), written);
            assert_eq!(unexpected(warnings), []);
        }
    }
    let mut results = document();
    if check(&mut results, &EvalSetResult::TYPE, &warnings).is_ok() {
        let written = SPELLINGS.map(|spelling| EvalSetResult::from_json(results.root()).to_json(spelling));
        for json in &written {
            let warnings = Warnings::default();
            let mut read = Document::parse(json.as_str()).unwrap();
            check(&mut read, &EvalSetResult::TYPE, &warnings)
                .unwrap_or_else(|error| panic!("{error}: {json}"));
            let again = SPELLINGS.map(|spelling| EvalSetResult::from_json(read.root()).to_json(spelling));
            assert_eq!(again, written);
            assert_eq!(warnings.into_vec(), []);
        }
    }
    if let Ok(file) = ActualFile::read(document(), "name", &warnings) {
        drop(file.runs());
    }
    drop(Plan::from_config(
        &mut document(),
        PlanOptions { custom: &["mine".into()], ..PlanOptions::default() },
        &warnings,
    ));
    drop(Plan::from_metric(&mut document(), PlanOptions::default(), &warnings));
    drop(pretty(document().root()));
    for warning in warnings.into_vec() {
        drop(warning.to_string());
    }
}

/// Scores one file against another with all metrics that compute a score themselves.
fn evaluate(expected: &str, actual: &str) {
    let mut config = Document::parse(DOCUMENTS[6].as_str()).unwrap();
    let plan = Plan::from_config(&mut config, PlanOptions::default(), &Warnings::default()).unwrap();
    assert!(scoring::score(expected, actual, plan).unwrap_or(true), "no metric asks anybody");
}

#[derive(Clone, Debug)]
enum Mutation {
    Delete(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
    /// Puts one value of the document in the place of another.
    Transplant(prop::sample::Index, prop::sample::Index),
    /// Puts something else in the place of a value.
    Replace(prop::sample::Index, &'static str),
}

const REPLACEMENTS: [&str; 14] = [
    "null",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"x\"",
    "-1",
    "1e308",
    "1e400",
    "0.1",
    "[[]]",
    "{\"\":{}}",
    "99999999999999999999999",
    "\"\\ud83d\\ude00\"",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    let bytes = prop_oneof![
        vec(any::<u8>(), 0..4),
        proptest::sample::select(vec!["\"", "{", "}", "[", "]", ",", ":", "\\", "null", "\\ud800"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    let place = any::<prop::sample::Index>;
    prop_oneof![
        1 => (place(), 1..8_usize).prop_map(|(at, length)| Mutation::Delete(at, length)),
        1 => (place(), bytes).prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        1 => (place(), 1..40_usize).prop_map(|(at, length)| Mutation::Repeat(at, length)),
        6 => (place(), place()).prop_map(|(to, from)| Mutation::Transplant(to, from)),
        6 => (place(), proptest::sample::select(REPLACEMENTS.to_vec()))
            .prop_map(|(at, value)| Mutation::Replace(at, value)),
    ]
}

/// Where every value of a document stands.
fn spans(json: Json<'_>, all: &mut Vec<(usize, usize)>) {
    let (start, end) = json.span();
    all.push((start as usize, end as usize));
    json.items().for_each(|item| spans(item, all));
    json.entries().for_each(|(_, value)| spans(value, all));
}

fn mutate(mut bytes: Vec<u8>, mutation: &Mutation) -> Vec<u8> {
    let range = |at: &prop::sample::Index, length: usize| {
        let start = at.index(bytes.len().max(1)).min(bytes.len());
        start..(start + length).min(bytes.len())
    };
    let mut values = Vec::new();
    if let Ok(document) = Document::from_bytes(bytes.as_slice()) {
        spans(document.root(), &mut values);
    }
    match mutation {
        Mutation::Delete(at, length) => drop(bytes.drain(range(at, *length))),
        Mutation::Insert(at, more) => drop(bytes.splice(range(at, 0), more.clone())),
        Mutation::Repeat(at, length) => {
            let range = range(at, *length);
            let again = bytes[range.clone()].to_vec();
            bytes.splice(range.start..range.start, again);
        }
        Mutation::Transplant(to, from) if !values.is_empty() => {
            let (start, end) = *from.get(&values);
            let value = bytes[start..end].to_vec();
            let (start, end) = *to.get(&values);
            bytes.splice(start..end, value);
        }
        Mutation::Replace(at, value) if !values.is_empty() => {
            let (start, end) = *at.get(&values);
            bytes.splice(start..end, value.bytes());
        }
        Mutation::Transplant(..) | Mutation::Replace(..) => {}
    }
    bytes
}

proptest! {
    #![proptest_config(cases(1024))]

    #[test]
    fn random_bytes_trap_no_reader(bytes in vec(any::<u8>(), 0..64)) {
        read_everything(&bytes);
    }

    #[test]
    fn random_json_traps_no_reader(text in r#"[\[\]{}",:0-9eE+\-. truefalsn\\u0dé]{0,48}"#) {
        read_everything(text.as_bytes());
    }

    #[test]
    fn mutated_documents_trap_no_reader_and_no_metric(
        which in any::<prop::sample::Index>(),
        mutations in vec(mutation(), 1..5),
    ) {
        let document = which.get(&DOCUMENTS);
        let bytes = mutations.iter().fold(document.clone().into_bytes(), mutate);
        read_everything(&bytes);
        let mutated = String::from_utf8_lossy(&bytes);
        evaluate(document, &mutated);
        evaluate(&mutated, document);
        evaluate(&mutated, &mutated);
    }
}

#[test]
fn every_document_is_read_by_some_reader() {
    for document in DOCUMENTS.iter() {
        let parsed = || unwrapped(document.as_bytes()).expect("JSON");
        let warnings = Warnings::default();
        let read = ActualFile::read(parsed(), "", &warnings).is_ok()
            || EvalSetFile::read(parsed(), "", &warnings).is_ok()
            || Plan::from_metric(&mut parsed(), PlanOptions::default(), &warnings).is_ok()
            || Plan::from_config(&mut parsed(), PlanOptions::default(), &warnings)
                .is_ok_and(|plan| plan.metrics.len() > 4);
        assert!(read, "{document}");
    }
}
