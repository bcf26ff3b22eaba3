//! Every shape of file that is read, and what is said about those that cannot be.

mod config;
mod mistakes;
mod old_forms;
mod runs;
mod sessions;
mod shapes;
mod unknown_keys;

use adk_metrics::foundation::error::{Error, ErrorCode, Result};
use adk_metrics::foundation::json::Document;
use adk_metrics::foundation::write::Spelling;
use adk_metrics::model::actual::{ActualFile, ActualRun};
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::invocation::{Invocation, Turns};
use adk_metrics::model::results::{EvalSetResult, EvalStatus};
use adk_metrics::model::shape::{Record, View, Warnings, check};
use adk_metrics::run::{MetricScorer, Plan, PlanOptions};
use serde_json::{Value, json};

fn parse(text: &str) -> Document<'_> {
    Document::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn eval_set_file(text: &str) -> EvalSetFile<'_> {
    EvalSetFile::read(parse(text), "the file", &Warnings::default()).unwrap()
}

/// Reads an evalset and writes it as google-adk would, with what was warned of.
fn try_eval_set(text: &str) -> Result<(Value, Vec<String>)> {
    let warnings = Warnings::default();
    let file = EvalSetFile::read(parse(text), "the file", &warnings)?;
    let written = serde_json::from_str(&file.set().to_json(Spelling::Snake)).unwrap();
    Ok((written, warnings.into_vec().iter().map(ToString::to_string).collect()))
}

fn eval_set(text: &str) -> Value {
    let (set, warnings) = try_eval_set(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(warnings, [""; 0]);
    set
}

fn eval_set_error(text: &str) -> Error {
    try_eval_set(text).err().unwrap_or_else(|| panic!("accepted: {text}"))
}

fn eval_set_warnings(text: &str) -> Vec<String> {
    try_eval_set(text).unwrap().1
}

/// Reads what the agent did and hands it to `with`.
fn with_actual<T>(text: &str, with: impl FnOnce(&[ActualRun<'_>]) -> T) -> T {
    let file = ActualFile::read(parse(text), "the file", &Warnings::default()).unwrap();
    with(&file.runs().collect::<Vec<_>>())
}

fn actual_error(text: &str) -> Error {
    ActualFile::read(parse(text), "the file", &Warnings::default())
        .err()
        .unwrap_or_else(|| panic!("accepted: {text}"))
}

/// Id, session, user, and the final texts of each run.
type Summary = (Option<String>, Option<String>, Option<String>, Option<Vec<String>>);

fn actual(text: &str) -> Vec<Summary> {
    with_actual(text, |runs| {
        let owned = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let texts = |turns: Turns<'_>| turns.iter().map(|turn| turn.final_text().into_owned()).collect();
        runs.iter()
            .map(|run| {
                (owned(&run.eval_id), owned(&run.session_id), owned(&run.user_id), run.turns.map(texts))
            })
            .collect()
    })
}

fn summary(id: Option<&str>, session: Option<&str>, user: Option<&str>, texts: &[&str]) -> Summary {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    (owned(id), owned(session), owned(user), Some(texts.iter().map(|text| (*text).to_owned()).collect()))
}

// ---- evalsets

const SNAKE: &str = r#"{"eval_set_id": "s", "name": "n", "description": "d", "creation_timestamp": 1.5, "eval_cases": [
  {"eval_id": "c", "creation_timestamp": 2.5,
   "session_input": {"app_name": "home", "user_id": "u", "session_id": "x", "state": {"last_city": "Rome"}},
   "rubrics": [{"rubric_id": "r", "rubric_content": {"text_property": "Polite."}, "type": "TOOL_USE_QUALITY"}],
   "final_session_state": {"last_city": "Oslo"},
   "conversation": [
    {"invocation_id": "i", "creation_timestamp": 3.5, "duration": 2, "model_duration": 1.5, "tool_duration": 0.25,
     "user_content": {"role": "user", "parts": [{"text": "Hi"}]},
     "final_response": {"role": "model", "parts": [{"text": "Hm", "thought": true}, {"text": "Hello"}]},
     "intermediate_data": {
      "tool_uses": [{"id": "1", "name": "find", "args": {"max_results": 1, "deepKey": {"a_b": 1}}}],
      "tool_responses": [{"id": "1", "name": "find", "response": {"snake_case": 1}}],
      "intermediate_responses": [["agent", [{"text": "One moment."}]]]},
     "app_details": {"agent_details": {"agent": {"name": "agent", "instructions": "Be brief."}}}},
    {"invocation_id": "j", "creation_timestamp": 4.5,
     "user_content": {"role": "user", "parts": [{"text": "And?"}]},
     "intermediate_data": {"invocation_events": [
      {"author": "agent", "model_version": "m",
       "content": {"role": "model", "parts": [{"function_call": {"name": "find", "args": {"max_results": 2}}}]},
       "grounding_metadata": {"web_search_queries": ["q"]},
       "usage_metadata": {"prompt_token_count": 1, "candidates_token_count": 2, "thoughts_token_count": 3}}]}}]},
  {"eval_id": "d", "creation_timestamp": 0.0, "conversation_scenario":
   {"starting_prompt": "Hi", "conversation_plan": "Ask.", "user_persona": {"id": "P", "description": "d"}}}]}"#;

const CAMEL: &str = r#"{"evalSetId": "s", "name": "n", "description": "d", "creationTimestamp": 1.5, "evalCases": [
  {"evalId": "c", "creationTimestamp": 2.5,
   "sessionInput": {"appName": "home", "userId": "u", "sessionId": "x", "state": {"last_city": "Rome"}},
   "rubrics": [{"rubricId": "r", "rubricContent": {"textProperty": "Polite."}, "type": "TOOL_USE_QUALITY"}],
   "finalSessionState": {"last_city": "Oslo"},
   "conversation": [
    {"invocationId": "i", "creationTimestamp": 3.5, "duration": 2, "modelDuration": 1.5, "toolDuration": 0.25,
     "userContent": {"role": "user", "parts": [{"text": "Hi"}]},
     "finalResponse": {"role": "model", "parts": [{"text": "Hm", "thought": true}, {"text": "Hello"}]},
     "intermediateData": {
      "toolUses": [{"id": "1", "name": "find", "args": {"max_results": 1, "deepKey": {"a_b": 1}}}],
      "toolResponses": [{"id": "1", "name": "find", "response": {"snake_case": 1}}],
      "intermediateResponses": [["agent", [{"text": "One moment."}]]]},
     "appDetails": {"agent_details": {"agent": {"name": "agent", "instructions": "Be brief."}}}},
    {"invocationId": "j", "creationTimestamp": 4.5,
     "userContent": {"role": "user", "parts": [{"text": "And?"}]},
     "intermediateData": {"invocationEvents": [
      {"author": "agent", "modelVersion": "m",
       "content": {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"max_results": 2}}}]},
       "groundingMetadata": {"web_search_queries": ["q"]},
       "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}}]}}]},
  {"evalId": "d", "creationTimestamp": 0.0, "conversationScenario":
   {"startingPrompt": "Hi", "conversationPlan": "Ask.", "userPersona": {"id": "P", "description": "d"}}}]}"#;

/// As a JavaScript program would compare them: `2` and `2.0` are one number.
fn same_numbers(mut value: Value) -> Value {
    fn visit(value: &mut Value) {
        match value {
            Value::Number(number) => *value = json!(number.as_f64().unwrap()),
            Value::Array(items) => items.iter_mut().for_each(visit),
            Value::Object(entries) => entries.values_mut().for_each(visit),
            _ => {}
        }
    }
    visit(&mut value);
    value
}

// ---- old forms

const ROWS: &str = r#"[
  {"query": "Turn it off.", "reference": "It is off.",
   "expected_tool_use": [{"tool_name": "switch", "tool_input": {"device_id": 2, "onOff": false}}],
   "expected_intermediate_agent_responses": [{"author": "helper", "text": "Switching."}]},
  {"query": "Thanks."}]"#;

fn rows_as_conversation() -> Value {
    let turn = |number: usize, query: &str, reference: &str, data: Value| {
        json!({
            "invocation_id": format!("turn-{number}"),
            "user_content": { "parts": [{ "text": query }], "role": "user" },
            "final_response": { "parts": [{ "text": reference }], "role": "model" },
            "intermediate_data": data,
            "creation_timestamp": 0.0,
        })
    };
    let first = json!({
        "tool_uses": [{ "name": "switch", "args": { "device_id": 2, "onOff": false } }],
        "tool_responses": [],
        "intermediate_responses": [["helper", [{ "text": "Switching." }]]],
    });
    let second = json!({ "tool_uses": [], "tool_responses": [], "intermediate_responses": [] });
    json!([turn(1, "Turn it off.", "It is off.", first), turn(2, "Thanks.", "", second)])
}

// ---- results

/// A result file, its statuses spelled by `status`.
fn result_file(status: impl Fn(u8) -> Value) -> Value {
    let turn = |text: &str| json!({ "user_content": { "parts": [] }, "final_response": { "parts": [{ "text": text }] } });
    json!({
        "eval_set_result_id": "r", "eval_set_id": "s", "creation_timestamp": 1.5,
        "eval_case_results": [{
            "eval_set_id": "s", "eval_id": "c", "final_eval_status": status(2), "session_id": "x", "user_id": "u",
            "overall_eval_metric_results": [
                { "metric_name": "response_match_score", "threshold": 0.5, "score": 0.25, "eval_status": status(2) },
                { "metric_name": "safety_v1", "threshold": 1, "eval_status": status(3) },
                { "metric_name": "tool_call_count_v1", "score": 0, "eval_status": status(4) },
            ],
            "eval_metric_result_per_invocation": [{
                "actual_invocation": turn("Hello"), "expected_invocation": turn("Hi"),
                "eval_metric_results": [{ "metric_name": "response_match_score", "threshold": 0.5, "score": 0.25,
                    "eval_status": status(2) }],
            }],
        }],
    })
}

fn word(status: u8) -> Value {
    json!(EvalStatus::ALL[usize::from(status) - 1].1)
}

/// The turns of a session: id, time, the parts of user and agent, and each event's author and parts.
fn turns(events: &[Value]) -> Value {
    let session = json!({ "id": "x", "events": events }).to_string();
    with_actual(&session, |runs| {
        let turns = runs.first().unwrap().turns.unwrap().iter();
        let turns = turns.map(|turn| -> Value {
            let turn: Value = serde_json::from_str(&turn.to_json(Spelling::Snake)).unwrap();
            let events = turn["intermediate_data"]["invocation_events"].as_array().unwrap().iter();
            let events = events.map(|event| json!([event["author"], event["content"]["parts"]]));
            json!({
                "id": turn["invocation_id"],
                "time": turn["creation_timestamp"],
                "user": turn["user_content"]["parts"],
                "final": turn["final_response"]["parts"],
                "events": events.collect::<Value>(),
            })
        });
        turns.collect()
    })
}
