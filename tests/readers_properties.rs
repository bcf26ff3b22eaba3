//! What holds for every input: writing then reading changes nothing, and no input traps.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::borrow::Cow;
use std::sync::LazyLock;

use adk_metrics::metrics::Explain;
use adk_metrics::model::actual::read_actual;
use adk_metrics::model::content::{Content, FunctionCall, FunctionResponse, Part};
use adk_metrics::model::error::{Error, Result};
use adk_metrics::model::evalset::{ConversationScenario, EvalCase, EvalSet, SessionInput};
use adk_metrics::model::invocation::{
    IntermediateData, IntermediateResponse, IntermediateSummary, Invocation, InvocationEvent,
    InvocationEvents, Rubric, RubricContent, UsageMetadata,
};
use adk_metrics::model::json::{Document, Json};
use adk_metrics::model::read::{At, Warnings};
use adk_metrics::model::results::EvalSetResult;
use adk_metrics::model::write::{Spelling, pretty, to_json};
use adk_metrics::run::{Action, Options, Plan, Run};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

/// So many random cases, without a file of past failures.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

// ---- evalsets of any content

/// Free-form objects with what a reader might stumble over.
static OBJECTS: LazyLock<Document<'static>> = LazyLock::new(|| {
    let text = r#"[{}, {"a_b": 1, "aB": 1.0, "": null}, {"big": 123456789012345678901234567890, "small": -0.0, "e": 1E2},
        {"nested": [[{"text": "\"\\\u0000é😀"}], true, null]}, {"toolUses": [], "tool_uses": []}]"#;
    Document::parse(text).unwrap()
});

type Text = Cow<'static, str>;

fn text() -> impl Strategy<Value = Text> {
    prop_oneof!["[a-z ]{0,12}", any::<String>(), Just("日本語\u{2028}\"\\\n".to_owned())].prop_map(Cow::Owned)
}

fn object() -> impl Strategy<Value = Json<'static>> {
    let all: Vec<_> = OBJECTS.root().items().collect();
    proptest::sample::select(all)
}

/// Unknown keys, which are kept.
fn other() -> impl Strategy<Value = Vec<(Text, Json<'static>)>> {
    of(("x [a-zé\"]{0,5}", object()))
        .prop_map(|entry| entry.into_iter().map(|(key, json)| (Cow::Owned(key), json)).collect())
}

fn seconds() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(1.5),
        -1e300..1e300_f64,
        any::<f64>().prop_filter("finite", |x| x.is_finite())
    ]
}

fn function_call() -> impl Strategy<Value = FunctionCall<'static>> {
    (of(text()), of(text()), of(object())).prop_map(|(id, name, args)| FunctionCall { id, name, args })
}

fn function_response() -> impl Strategy<Value = FunctionResponse<'static>> {
    (of(text()), of(text()), of(object()), other()).prop_map(|(id, name, response, other)| FunctionResponse {
        id,
        name,
        response,
        other,
    })
}

fn part() -> impl Strategy<Value = Part<'static>> {
    (of(text()), of(any::<bool>()), of(function_call()), of(function_response()), other()).prop_map(
        |(text, thought, function_call, function_response, other)| Part {
            text,
            thought,
            function_call,
            function_response,
            other,
        },
    )
}

fn content() -> impl Strategy<Value = Content<'static>> {
    (of(vec(part(), 0..3)), of(text())).prop_map(|(parts, role)| Content { parts, role })
}

fn usage() -> impl Strategy<Value = UsageMetadata<'static>> {
    (vec(of(any::<i64>()), 5), other()).prop_map(|(counts, other)| UsageMetadata {
        prompt_token_count: counts[0],
        tool_use_prompt_token_count: counts[1],
        candidates_token_count: counts[2],
        thoughts_token_count: counts[3],
        cached_content_token_count: counts[4],
        other,
    })
}

fn event() -> impl Strategy<Value = InvocationEvent<'static>> {
    (text(), of(content()), of(object()), of(usage()), of(text())).prop_map(
        |(author, content, grounding_metadata, usage_metadata, model_version)| InvocationEvent {
            author,
            content,
            grounding_metadata,
            usage_metadata,
            model_version,
        },
    )
}

fn intermediate_data() -> impl Strategy<Value = IntermediateData<'static>> {
    let responses = vec((text(), vec(part(), 0..2)), 0..2);
    let summary = (of(vec(function_call(), 0..3)), vec(function_response(), 0..2), responses);
    prop_oneof![
        vec(event(), 0..3)
            .prop_map(|invocation_events| IntermediateData::Events(InvocationEvents { invocation_events })),
        summary.prop_map(|(tool_uses, tool_responses, responses)| {
            let responses = responses.into_iter().map(|(author, parts)| IntermediateResponse(author, parts));
            let intermediate_responses = responses.collect();
            IntermediateData::Summary(IntermediateSummary {
                tool_uses,
                tool_responses,
                intermediate_responses,
            })
        }),
    ]
}

fn rubric() -> impl Strategy<Value = Rubric<'static>> {
    (text(), of(text()), of(text()), of(text())).prop_map(
        |(rubric_id, text_property, description, r#type)| Rubric {
            rubric_id,
            rubric_content: RubricContent { text_property },
            description,
            r#type,
        },
    )
}

fn invocation() -> impl Strategy<Value = Invocation<'static>> {
    let times = (seconds(), of(seconds()), of(seconds()), of(seconds()));
    let said = (content(), of(content()), of(intermediate_data()));
    (text(), said, times, of(vec(rubric(), 0..2)), of(object())).prop_map(
        |(invocation_id, said, times, rubrics, app_details)| Invocation {
            invocation_id,
            user_content: said.0,
            final_response: said.1,
            intermediate_data: said.2,
            creation_timestamp: times.0,
            duration: times.1,
            model_duration: times.2,
            tool_duration: times.3,
            rubrics,
            app_details,
            ..Invocation::default()
        },
    )
}

fn session_input() -> impl Strategy<Value = SessionInput<'static>> {
    (text(), text(), of(text()), of(object()), other()).prop_map(
        |(app_name, user_id, session_id, state, other)| SessionInput {
            app_name,
            user_id,
            session_id,
            state,
            other,
        },
    )
}

fn eval_case() -> impl Strategy<Value = EvalCase<'static>> {
    let scenario =
        (text(), text(), of(object())).prop_map(|(starting_prompt, conversation_plan, user_persona)| {
            ConversationScenario { starting_prompt, conversation_plan, user_persona }
        });
    let course = prop_oneof![
        4 => vec(invocation(), 0..3).prop_map(Ok),
        1 => scenario.prop_map(Err),
    ];
    (text(), course, of(session_input()), seconds(), of(vec(rubric(), 0..2)), of(object()), other()).prop_map(
        |(eval_id, course, session_input, creation_timestamp, rubrics, final_session_state, other)| {
            let (conversation, conversation_scenario) = match course {
                Ok(conversation) => (Some(conversation), None),
                Err(scenario) => (None, Some(scenario)),
            };
            EvalCase {
                eval_id,
                conversation,
                conversation_scenario,
                session_input,
                creation_timestamp,
                rubrics,
                final_session_state,
                other,
            }
        },
    )
}

fn eval_set() -> impl Strategy<Value = EvalSet<'static>> {
    (text(), of(text()), of(text()), vec(eval_case(), 0..3), seconds()).prop_map(
        |(eval_set_id, name, description, eval_cases, creation_timestamp)| EvalSet {
            eval_set_id,
            name,
            description,
            eval_cases,
            creation_timestamp,
        },
    )
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn writing_then_reading_gives_the_same_evalset_in_both_spellings(set in eval_set()) {
        for spelling in [Spelling::Snake, Spelling::Camel] {
            let written = to_json(&set, spelling);
            let document = Document::parse(written.as_str()).unwrap();
            let warnings = Warnings::default();
            let read = EvalSet::read_any(At::root(document.root(), &warnings), "");
            prop_assert_eq!(read.as_ref(), Ok(&set), "{}", written);
            prop_assert_eq!(warnings.into_vec(), [] as [Error; 0]);
        }
    }

    #[test]
    fn laying_out_changes_nothing(set in eval_set()) {
        let written = to_json(&set, Spelling::Snake);
        let document = Document::parse(written.as_str()).unwrap();
        let laid_out = pretty(document.root());
        let document = Document::parse(laid_out.as_str()).unwrap();
        let read = EvalSet::read_any(At::root(document.root(), &Warnings::default()), "").unwrap();
        // Free-form objects are equal as values, though not as written.
        prop_assert_eq!(without_space(&to_json(&read, Spelling::Snake)), without_space(&written));
    }

    #[test]
    fn an_evalset_against_itself_is_scored_to_the_end(set in eval_set()) {
        let written = to_json(&set, Spelling::Snake);
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
    let shapes = Document::parse(include_str!("parity/vectors/shapes.json")).unwrap();
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

/// Calls every reader; what they accept, they also write such that it reads again the same.
fn read_everything(bytes: &[u8]) {
    let Ok(document) = Document::from_bytes(bytes) else { return };
    let Ok((document, _)) = document.unwrapped() else { return };
    let warnings = Warnings::default();
    let at = At::root(document.root(), &warnings);
    if let Ok(set) = EvalSet::read_any(at, "name") {
        for spelling in [Spelling::Snake, Spelling::Camel] {
            let written = to_json(&set, spelling);
            let document = Document::parse(written.as_str()).unwrap();
            let read = EvalSet::read_any(At::root(document.root(), &Warnings::default()), "name");
            assert_eq!(read.as_ref(), Ok(&set), "{written}");
        }
    }
    if let Ok(results) = EvalSetResult::read_any(at) {
        let written = to_json(&results, Spelling::Camel);
        let document = Document::parse(written.as_str()).unwrap();
        let read = EvalSetResult::read_any(At::root(document.root(), &Warnings::default()));
        assert_eq!(read.as_ref(), Ok(&results), "{written}");
    }
    drop(read_actual(at, "name"));
    drop(Plan::of_config(at, &["mine".into()]));
    drop(Plan::of_metric(at, &[]));
    drop(pretty(document.root()));
    for warning in warnings.into_vec() {
        drop(warning.to_string());
    }
}

/// Scores one file against another with every metric that the engine has.
fn evaluate(expected: &str, actual: &str) {
    let config = &DOCUMENTS[6];
    let outcome = (|| -> Result<()> {
        let (expected, actual, config) =
            (Document::parse(expected)?, Document::parse(actual)?, Document::parse(config.as_str())?);
        let warnings = Warnings::default();
        let plan = Plan::of_config(At::root(config.root(), &warnings), &[])?;
        let set = EvalSet::read_any(At::root(expected.root(), &warnings), "name")?;
        let runs = read_actual(At::root(actual.root(), &warnings), "name")?;
        let mut run = Run::new(set, runs, plan, Options { explain: Explain::All, ..Options::default() });
        while let Action::Case(case) = run.poll(0.0) {
            for evaluation in case.metrics {
                let turns = evaluation.turns.iter().map(|turn| (turn.score, &turn.reason));
                for (score, reason) in turns.chain([(evaluation.score, &evaluation.reason)]) {
                    assert!(score.is_some() || reason.is_some(), "no score and no reason");
                    assert!(score.is_none_or(f64::is_finite), "{score:?}");
                }
            }
        }
        assert!(matches!(run.poll(0.0), Action::Finished));
        Ok(())
    })();
    drop(outcome);
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
        let parsed = Document::parse(document.as_str()).unwrap().unwrapped().expect("JSON").0;
        let warnings = Warnings::default();
        let at = At::root(parsed.root(), &warnings);
        let read = read_actual(at, "").is_ok()
            || EvalSet::read_any(at, "").is_ok()
            || Plan::of_metric(at, &[]).is_ok()
            || Plan::of_config(at, &[]).is_ok_and(|plan| plan.metrics.len() > 4);
        assert!(read, "{document}");
    }
}
