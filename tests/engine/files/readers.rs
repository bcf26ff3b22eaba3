//! Every shape of file that is read, and what is said about those that cannot be.

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
    with(&file.runs())
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

#[test]
fn snake_case_and_camel_case_say_the_same() {
    let snake: Value = serde_json::from_str(SNAKE).unwrap();
    assert_eq!(same_numbers(eval_set(SNAKE)), same_numbers(snake));
    assert_eq!(eval_set(CAMEL), eval_set(SNAKE));
}

#[test]
fn spellings_may_be_mixed_within_one_object() {
    let mixed = SNAKE
        .replace("\"eval_set_id\"", "\"evalSetId\"")
        .replace("\"user_content\"", "\"userContent\"")
        .replace("\"tool_uses\"", "\"toolUses\"")
        .replace("\"prompt_token_count\"", "\"promptTokenCount\"");
    assert_ne!(mixed, SNAKE);
    assert_eq!(eval_set(&mixed), eval_set(SNAKE));
}

#[test]
fn what_a_tool_was_given_or_a_session_holds_is_never_respelled() {
    let camel = eval_set_file(SNAKE).set().to_json(Spelling::Camel);
    for kept in [
        r#"{"max_results": 1, "deepKey": {"a_b": 1}}"#,
        r#"{"snake_case": 1}"#,
        r#"{"last_city": "Rome"}"#,
        r#"{"last_city": "Oslo"}"#,
        r#"{"web_search_queries": ["q"]}"#,
    ] {
        assert!(camel.contains(kept), "{kept} in {camel}");
    }
    assert!(camel.contains(r#""toolUses""#) && !camel.contains(r#""tool_uses""#));
}

#[test]
fn an_invocation_needs_no_more_than_the_users_words() {
    let least = r#"{"eval_set_id": "s", "eval_cases": [
        {"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}]}"#;
    let nulls = r#"{"eval_set_id": "s", "name": null, "description": null, "creation_timestamp": null, "eval_cases": [
        {"eval_id": "c", "session_input": null, "creation_timestamp": null, "rubrics": null,
         "final_session_state": null, "conversation_scenario": null, "conversation": [
          {"invocation_id": null, "user_content": {"parts": [{"text": "Hi"}], "role": null}, "final_response": null,
           "intermediate_data": null, "creation_timestamp": null, "duration": null, "model_duration": null,
           "tool_duration": null, "rubrics": null, "app_details": null}]}]}"#;
    assert_eq!(eval_set(nulls), eval_set(least));
}

#[test]
fn parts_may_carry_nulls_for_every_kind_of_part() {
    let part = |part: &str| {
        eval_set(&format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [
                {{"user_content": {{"parts": [{part}]}}}}]}}]}}"#
        ))
    };
    let nulls = r#"{"video_metadata": null, "thought": null, "inline_data": null, "file_data": null,
        "thought_signature": null, "function_call": null, "code_execution_result": null, "executable_code": null,
        "function_response": null, "text": "Hi"}"#;
    assert_eq!(part(nulls), part(r#"{"text": "Hi"}"#));
}

#[test]
fn parts_may_be_null() {
    let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
        {"user_content": {"parts": null, "role": "user"}, "final_response": {"role": "model"}}]}]}"#;
    let file = eval_set_file(set);
    let turns = file.set().eval_cases().iter().next().unwrap().turns().unwrap();
    assert_eq!(turns.iter().next().unwrap().final_text(), "");
}

#[test]
fn parts_of_other_kinds_are_kept() {
    let part = json!({ "inline_data": { "mime_type": "image/png", "data": "AA==" } });
    let set = json!({ "eval_set_id": "s", "eval_cases": [{ "eval_id": "c", "conversation": [
        { "user_content": { "parts": [part] } }] }] });
    assert_eq!(
        eval_set(&set.to_string())["eval_cases"][0]["conversation"][0]["user_content"]["parts"][0],
        part
    );
}

/// The calls of a turn with this intermediate data, and whether it has events.
fn calls(intermediate_data: &str) -> (Vec<String>, bool) {
    let text = format!(r#"{{"user_content": {{"parts": []}}, "intermediate_data": {intermediate_data}}}"#);
    let mut document = parse(&text);
    check(&mut document, &Invocation::TYPE, &Warnings::default()).unwrap();
    let turn = Invocation::from_json(document.root());
    let names = turn.tool_calls().iter().map(|call| call.name.as_deref().unwrap_or("?").to_owned()).collect();
    (names, turn.events().is_some())
}

#[test]
fn intermediate_data_is_a_summary_or_events() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let call = |name: &str| {
        format!(r#"{{"author": "a", "content": {{"parts": [{{"functionCall": {{"name": "{name}"}}}}]}}}}"#)
    };
    for (data, expected) in [
        ("null".to_owned(), (names(&[]), false)),
        ("{}".to_owned(), (names(&[]), false)),
        (r#"{"tool_uses": null}"#.to_owned(), (names(&[]), false)),
        (
            r#"{"tool_uses": [{"name": "f"}, {"name": "g"}], "intermediate_responses": []}"#.to_owned(),
            (names(&["f", "g"]), false),
        ),
        (r#"{"invocation_events": []}"#.to_owned(), (names(&[]), true)),
        (format!(r#"{{"invocationEvents": [{}, {}]}}"#, call("f"), call("g")), (names(&["f", "g"]), true)),
        (r#"{"invocation_events": null, "tool_uses": [{"name": "f"}]}"#.to_owned(), (names(&["f"]), false)),
        (r#"{"invocation_events": [{"author": "a"}], "tool_uses": null}"#.to_owned(), (names(&[]), true)),
    ] {
        assert_eq!(calls(&data), expected, "{data}");
    }
}

#[test]
fn a_persona_is_an_id_or_an_object() {
    for persona in [json!("EXPERT"), json!({ "id": "EXPERT", "behaviors": [] })] {
        let scenario =
            json!({ "starting_prompt": "Hi", "conversation_plan": "Ask.", "user_persona": persona });
        let set = json!({ "eval_set_id": "s", "eval_cases": [{ "eval_id": "c", "conversation_scenario": scenario }] });
        assert_eq!(eval_set(&set.to_string())["eval_cases"][0]["conversation_scenario"], scenario);
    }
}

#[test]
fn a_byte_order_mark_and_a_document_in_a_string_are_read() {
    assert_eq!(eval_set(&format!("\u{feff}{SNAKE}")), eval_set(SNAKE));
    let wrapped = serde_json::to_string(SNAKE).unwrap();
    let (inner, was_wrapped) = Document::parse(wrapped).unwrap().unwrapped().unwrap();
    assert!(was_wrapped);
    assert_eq!(eval_set(inner.root().raw()), eval_set(SNAKE));
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

#[test]
fn a_list_of_rows_is_one_case_named_after_the_file() {
    let set = eval_set(ROWS);
    assert_eq!((&set["eval_set_id"], &set["name"]), (&json!("the file"), &json!("the file")));
    assert_eq!(
        set["eval_cases"],
        json!([{ "eval_id": "the file", "conversation": rows_as_conversation(), "creation_timestamp": 0.0 }])
    );
}

#[test]
fn a_list_of_named_rows_is_a_case_each() {
    let text = format!(
        r#"[{{"name": "a", "data": {ROWS}, "initial_session": {{"state": {{"k": 1}}, "app_name": "home", "user_id": "u"}}}},
            {{"name": "b", "data": [], "initial_session": {{}}}}]"#
    );
    let cases = eval_set(&text)["eval_cases"].clone();
    assert_eq!(cases[0]["eval_id"], "a");
    assert_eq!(cases[0]["conversation"], rows_as_conversation());
    assert_eq!(cases[0]["session_input"], json!({ "app_name": "home", "user_id": "u", "state": { "k": 1 } }));
    assert_eq!(cases[1], json!({ "eval_id": "b", "conversation": [], "creation_timestamp": 0.0 }));
}

#[test]
fn an_old_form_that_is_too_deep_for_todays_is_refused_without_a_line_that_it_does_not_have() {
    let rows = |depth: usize| {
        let value = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!(
            r#"[{{"query":"q","expected_tool_use":[{{"tool_name":"t","tool_input":{{"a":{value}}}}}],"reference":"r"}}]"#
        )
    };
    assert!(EvalSetFile::read(parse(&rows(190)), "the file", &Warnings::default()).is_ok());
    let error = eval_set_error(&rows(195));
    assert_eq!((error.code, error.line), (ErrorCode::LimitExceeded, None));
}

#[test]
fn an_empty_list_is_an_evalset_without_cases() {
    let (set, warnings) = try_eval_set("[]").unwrap();
    assert_eq!(set["eval_cases"], json!([]));
    assert_eq!(warnings, ["the evalset has no case: there is nothing to score (at $)"]);
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

#[test]
fn statuses_are_integers_or_words_in_any_case() {
    let read = |file: &Value| {
        let text = file.to_string();
        let mut document = parse(&text);
        check(&mut document, &EvalSetResult::TYPE, &Warnings::default()).unwrap();
        EvalSetResult::from_json(document.root()).to_json(Spelling::Snake)
    };
    let integers = read(&result_file(|status| json!(status)));
    assert_eq!(read(&result_file(word)), integers);
    assert_eq!(read(&result_file(|status| json!(word(status).as_str().unwrap().to_lowercase()))), integers);
    assert!(integers.contains(r#""final_eval_status":2"#));
}

#[test]
fn results_hold_what_the_agent_did() {
    let file = result_file(|status| json!(status)).to_string();
    let found = [summary(Some("c"), Some("x"), Some("u"), &["Hello"])];
    assert_eq!(actual(&file), found);
    let wrapped = Document::parse(serde_json::to_string(&file).unwrap()).unwrap().unwrapped().unwrap().0;
    assert_eq!(actual(wrapped.root().raw()), found);
}

#[test]
fn an_unknown_status_is_an_error() {
    let mut document = parse(
        r#"{"eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": [{"final_eval_status": "MAYBE"}]}"#,
    );
    let error = check(&mut document, &EvalSetResult::TYPE, &Warnings::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"expected a status: 1, 2, 3 or 4, found the string "MAYBE" (at eval_case_results[0].final_eval_status, line 1)"#
    );
}

// ---- what the agent did

#[test]
fn evalsets_of_actual_conversations_are_read_old_forms_too() {
    let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c",
        "session_input": {"app_name": "", "user_id": "", "session_id": "x"},
        "conversation": [{"user_content": {"parts": []}, "final_response": {"parts": [{"text": "Hello"}]}}]}]}"#;
    assert_eq!(actual(set), [summary(Some("c"), Some("x"), None, &["Hello"])]);
    assert_eq!(actual(ROWS), [summary(Some("the file"), None, None, &["It is off.", ""])]);
}

#[test]
fn inference_results_come_as_a_list_in_an_object_or_alone() {
    let one = r#"{"app_name": "home", "eval_set_id": "s", "eval_case_id": "c", "session_id": "x", "user_id": "u",
        "status": 1, "inferences": [{"user_content": {"parts": []}, "final_response": {"parts": [{"text": "Hello"}]}}]}"#;
    let found = [summary(Some("c"), Some("x"), Some("u"), &["Hello"])];
    assert_eq!(actual(one), found);
    assert_eq!(actual(&format!("[{one}]")), found);
    assert_eq!(actual(&format!(r#"{{"inference_results": [{one}]}}"#)), found);
    assert_eq!(actual(&format!(r#"{{"inferenceResults": [{one}]}}"#)), found);
    assert_eq!(
        actual(
            &one.replace("eval_case_id", "evalCaseId")
                .replace("session_id", "sessionId")
                .replace("user_id", "userId")
        ),
        found
    );
}

#[test]
fn a_failed_inference_has_no_turns_but_a_reason() {
    for status in ["2", "\"FAILURE\"", "\"failure\""] {
        let text = format!(
            r#"[{{"eval_case_id": "c", "status": {status}, "error_message": "quota", "inferences": []}}]"#
        );
        with_actual(&text, |runs| {
            let run = runs.first().unwrap();
            assert_eq!((run.turns.is_none(), run.error_message.as_deref()), (true, Some("quota")));
        });
    }
}

#[test]
fn what_a_failed_run_did_is_kept_apart_from_what_is_scored() {
    let text = r#"[{"eval_case_id": "c", "status": 2, "inferences": [{"user_content": {"parts": [{"text": "Hi"}]}}]}]"#;
    with_actual(text, |runs| {
        let run = runs.first().unwrap();
        assert_eq!((run.turns.is_none(), run.before_failure.map(Turns::len)), (true, Some(1)));
    });
    with_actual(&text.replace("2,", "1,"), |runs| {
        let run = runs.first().unwrap();
        assert_eq!((run.turns.map(Turns::len), run.before_failure.is_none()), (Some(1), true));
    });
}

#[test]
fn a_run_that_failed_in_stored_results_stays_failed() {
    let results = |status: u8, metrics: &str| {
        format!(
            r#"{{"eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": [{{"eval_id": "c",
            "final_eval_status": {status}, "overall_eval_metric_results": [{metrics}], "eval_metric_result_per_invocation":
            [{{"actual_invocation": {{"user_content": {{"parts": [{{"text": "Hi"}}]}}}}}}]}}]}}"#
        )
    };
    let metric = r#"{"metric_name": "m", "eval_status": 2}"#;
    for (status, metrics, failed) in [(2, "", true), (2, metric, false), (3, "", false)] {
        with_actual(&results(status, metrics), |runs| {
            let run = runs.first().unwrap();
            assert_eq!((run.turns.is_none(), run.before_failure.is_some()), (failed, failed));
        });
    }
}

#[test]
fn a_session_may_name_its_case_and_several_may_come_in_a_list() {
    let session = |id: &str, case: &str| {
        format!(
            r#"{{"id": "{id}", "app_name": "home", "user_id": "u", "state": {{}}{case}, "last_update_time": 1,
            "events": [{{"author": "agent", "invocation_id": "i", "content": {{"parts": [{{"text": "Hello"}}]}}}}]}}"#
        )
    };
    let (plain, named) = (session("x", ""), session("y", r#", "eval_id": "c""#));
    assert_eq!(actual(&plain), [summary(None, Some("x"), Some("u"), &["Hello"])]);
    assert_eq!(
        actual(&format!("[{plain}, {named}]")),
        [
            summary(None, Some("x"), Some("u"), &["Hello"]),
            summary(Some("c"), Some("y"), Some("u"), &["Hello"])
        ]
    );
}

#[test]
fn sessions_of_both_libraries_for_typescript_are_read_as_these_store_them() {
    let session = r#"{"id": "x", "appName": "home", "userId": "u", "state": {}, "lastUpdateTime": 1795257488386,
        "events": [
            {"author": "user", "invocationId": "i", "timestamp": 1795257488386,
             "content": {"role": "user", "parts": [{"text": "And in London and Oslo?"}]}},
            {"author": "weather", "invocationId": "i", "longRunningToolIds": {},
             "content": {"parts": [{"functionCall": {"id": "1", "name": "a"}}, {"functionCall": {"id": "2", "name": "a"}}]}},
            {"author": "weather", "invocationId": "8e1d030b",
             "content": {"parts": [{"functionResponse": {"id": "1"}}, {"functionResponse": {"id": "2"}}]}},
            {"author": "weather", "invocationId": "i", "longRunningToolIds": {},
             "content": {"parts": [{"text": "Grey"}]}}]}"#;
    assert_eq!(actual(session), [summary(None, Some("x"), Some("u"), &["Grey"])]);
}

#[test]
fn the_events_of_a_session_by_themselves_are_one_run() {
    let events = r#"[
        {"author": "user", "invocationId": "i", "content": {"role": "user", "parts": [{"text": "Hello?"}]}},
        {"author": "weather", "invocationId": "i", "content": {"parts": [{"functionCall": {"name": "a"}}]}},
        {"author": "weather", "invocationId": "i", "content": {"parts": [{"text": "Grey"}]}},
        {"author": "weather", "invocationId": "j", "content": {"parts": [{"text": "Blue"}]}}]"#;
    assert_eq!(actual(events), [summary(None, None, None, &["Grey", "Blue"])]);
}

#[test]
fn anything_else_is_an_error_that_names_what_is_read() {
    for text in ["{}", "7", r#"{"conversation": []}"#] {
        let error = actual_error(text);
        let expected = "expected what the agent did: an evalset, evalset results, inference results or a session, found ";
        assert!(error.message.starts_with(expected), "{error}");
    }
}

#[test]
fn a_scenario_is_nothing_that_an_agent_did() {
    let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c",
        "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Ask."}}]}"#;
    let error = actual_error(set);
    assert_eq!(error.message, r#""c" is a scenario; what the agent did needs a conversation"#);
}

// ---- sessions: what google-adk makes of these events

fn user(text: &str, more: Value) -> Value {
    event(more, json!({ "author": "user", "content": { "parts": [{ "text": text }] }, "timestamp": 1.5 }))
}

fn agent(parts: Value, more: Value) -> Value {
    event(more, json!({ "author": "agent", "content": { "parts": parts }, "timestamp": 2.0 }))
}

/// An event of invocation `i` with `more` instead of and besides the usual.
fn event(more: Value, usual: Value) -> Value {
    let mut event = json!({ "invocation_id": "i" });
    for object in [usual, more] {
        event.as_object_mut().unwrap().extend(object.as_object().unwrap().clone());
    }
    event
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

/// Asserts the final response and the events of a turn that begins with "hi".
fn assert_turn(events: &[Value], final_parts: Value, kept: Value) {
    let mut all = vec![user("hi", json!({}))];
    all.extend_from_slice(events);
    let expected =
        json!([{ "id": "i", "time": 1.5, "user": [{ "text": "hi" }], "final": final_parts, "events": kept }]);
    assert_eq!(turns(&all), expected);
}

fn text(text: &str) -> Value {
    json!([{ "text": text }])
}

fn call() -> Value {
    json!([{ "function_call": { "id": "1", "name": "f", "args": { "x": 1 } } }])
}

fn response() -> Value {
    json!([{ "function_response": { "id": "1", "name": "f", "response": { "ok": true } } }])
}

#[test]
fn the_final_response_is_not_repeated_among_the_events() {
    let plain = json!({});
    assert_turn(&[agent(text("hello"), plain.clone())], text("hello"), json!([["agent", null]]));
    assert_turn(
        &[agent(call(), plain.clone()), agent(response(), plain.clone()), agent(text("done"), plain)],
        text("done"),
        json!([["agent", call()], ["agent", response()], ["agent", null]]),
    );
}

#[test]
fn events_are_grouped_by_invocation_in_order_of_their_first_event() {
    let other = || json!({ "invocation_id": "j", "timestamp": 3.5 });
    let found = turns(&[
        user("one", json!({})),
        user("two", other()),
        agent(text("first"), json!({})),
        agent(text("second"), other()),
    ]);
    assert_eq!(
        found,
        json!([
            { "id": "i", "time": 1.5, "user": text("one"), "final": text("first"), "events": [["agent", null]] },
            { "id": "j", "time": 3.5, "user": text("two"), "final": text("second"), "events": [["agent", null]] },
        ])
    );
}

#[test]
fn of_several_agents_the_last_has_the_final_word() {
    assert_turn(
        &[
            agent(text("from sub"), json!({ "author": "sub" })),
            agent(text("from root"), json!({ "author": "root" })),
        ],
        text("from root"),
        json!([["sub", text("from sub")], ["root", null]]),
    );
}

#[test]
fn a_final_response_with_text_wins_over_one_without() {
    let audio = || json!([{ "inline_data": { "mime_type": "audio/wav", "data": "AA==" } }]);
    let plain = || json!({});
    assert_turn(
        &[agent(text("text"), plain()), agent(audio(), plain())],
        text("text"),
        json!([["agent", null], ["agent", audio()]]),
    );
    assert_turn(
        &[agent(audio(), plain()), agent(text("text"), plain())],
        text("text"),
        json!([["agent", audio()], ["agent", null]]),
    );
    assert_turn(
        &[agent(text("first"), plain()), agent(text(""), plain())],
        text("first"),
        json!([["agent", null]]),
    );
    assert_turn(&[agent(text(""), plain())], text(""), json!([]));
}

#[test]
fn partial_events_and_trailing_code_results_are_not_final() {
    assert_turn(
        &[agent(text("par"), json!({ "partial": true })), agent(text("partial"), json!({}))],
        text("partial"),
        json!([["agent", text("par")], ["agent", null]]),
    );
    let result = json!({ "code_execution_result": { "outcome": "OUTCOME_OK", "output": "4" } });
    let last = json!([{ "text": "x" }, result]);
    assert_turn(&[agent(last.clone(), json!({}))], Value::Null, json!([["agent", last]]));
    let first = json!([{ "text": "x" }]);
    assert_turn(&[agent(first.clone(), json!({}))], first, json!([["agent", null]]));
}

#[test]
fn calls_are_final_only_if_nothing_can_follow() {
    let waiting = json!([{ "text": "waiting" }, { "function_call": { "id": "1", "name": "f" } }]);
    // The calls of the final event stay among the events, where they are counted.
    assert_turn(
        &[agent(waiting.clone(), json!({ "long_running_tool_ids": ["1"] }))],
        waiting.clone(),
        json!([["agent", waiting]]),
    );
    assert_turn(
        &[agent(call(), json!({})), agent(response(), json!({ "actions": { "skip_summarization": true } }))],
        response(),
        json!([["agent", call()], ["agent", null]]),
    );
}

#[test]
fn an_error_ends_the_turn_unless_a_tool_is_called() {
    let failed = || json!({ "error_code": "SAFETY" });
    assert_turn(&[agent(response(), failed())], response(), json!([["agent", null]]));
    assert_turn(&[agent(response(), json!({ "errorCode": "SAFETY" }))], response(), json!([["agent", null]]));
    assert_turn(&[agent(call(), failed())], Value::Null, json!([["agent", call()]]));
    assert_turn(&[agent(json!([]), failed())], Value::Null, json!([]));
}

#[test]
fn the_user_is_known_in_any_case_and_the_last_words_count() {
    let found = turns(&[
        user("hi", json!({ "author": "User" })),
        user("again", json!({ "timestamp": 4.0 })),
        json!({ "author": "user", "invocation_id": "i", "timestamp": 9.0 }),
        agent(text("hello"), json!({})),
    ]);
    assert_eq!((&found[0]["user"], &found[0]["time"]), (&text("again"), &json!(4.0)));
    let alone = turns(&[agent(text("hello"), json!({}))]);
    assert_eq!((&alone[0]["user"], &alone[0]["time"]), (&Value::Null, &json!(0.0)));
}

#[test]
fn events_without_content_stay_only_for_their_sources() {
    let grounded =
        event(json!({}), json!({ "author": "agent", "grounding_metadata": { "web_search_queries": ["q"] } }));
    let empty = event(json!({}), json!({ "author": "agent" }));
    assert_turn(
        &[grounded, empty, agent(text("done"), json!({}))],
        text("done"),
        json!([["agent", null], ["agent", null]]),
    );
}

// ---- errors

#[test]
fn an_error_says_what_where_and_on_which_line() {
    let set = |turn: &str| {
        format!(
            "{{\"eval_set_id\": \"s\",\n \"eval_cases\": [\n  {{\"eval_id\": \"c\", \"conversation\": [\n   {turn}\n  ]}}\n ]}}"
        )
    };
    for (turn, message) in [
        (
            "{\"user_content\": {\"parts\": [{\"text\": \"a\"},\n {\"text\": 3}]}}",
            "expected a string, found the number 3 \
             (at eval_cases[0].conversation[0].user_content.parts[1].text, line 5)",
        ),
        (
            "{\"userContent\": {\"parts\": {}}}",
            "expected an array, found an object (at eval_cases[0].conversation[0].userContent.parts, line 4)",
        ),
        (
            "{\"user_contents\": {\"parts\": []}}",
            "`user_contents` is not a key of an invocation \
             (at eval_cases[0].conversation[0].user_contents, line 4). Did you mean `user_content`?",
        ),
        ("{}", "`user_content` is missing (at eval_cases[0].conversation[0], line 4)"),
        (
            "{\"user_content\": {}, \"userContent\": {}}",
            "`user_content` is given twice, also as `userContent` (at eval_cases[0].conversation[0], line 4). \
             Keep one of the two",
        ),
        (
            "{\"user_content\": {}, \"intermediate_data\": {\"tool_uses\": [{\"name\": \"f\", \"args\": [1]}]}}",
            "expected an object, found an array \
             (at eval_cases[0].conversation[0].intermediate_data.tool_uses[0].args, line 4)",
        ),
        (
            "{\"user_content\": {}, \"intermediate_data\": {\"tool_uses\": [], \"invocation_events\": []}}",
            "`invocation_events` and `tool_uses` are both given \
             (at eval_cases[0].conversation[0].intermediate_data, line 4). Keep one of the two",
        ),
        (
            "{\"user_content\": {}, \"intermediate_data\": 3}",
            "expected an object (intermediate data), found the number 3 \
             (at eval_cases[0].conversation[0].intermediate_data, line 4)",
        ),
        (
            "{\"user_content\": {}, \"intermediate_data\": {\"intermediate_responses\": [[\"agent\"]]}}",
            "expected an author and a list of parts, found an array \
             (at eval_cases[0].conversation[0].intermediate_data.intermediate_responses[0], line 4)",
        ),
        (
            "{\"user_content\": {}, \"duration\": 1e400}",
            "expected a number, found the number 1e400 (at eval_cases[0].conversation[0].duration, line 4)",
        ),
        (
            "[]",
            "expected an object (an invocation), found an array (at eval_cases[0].conversation[0], line 4)",
        ),
    ] {
        let error = eval_set_error(&set(turn));
        assert_eq!(error.code, ErrorCode::InvalidInput);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_case_has_a_conversation_or_a_scenario() {
    let set = |case: &str| {
        format!(
            "{{\"eval_set_id\": \"s\", \"evalCases\": [{{\"eval_id\": \"a\", \"conversation\": []}},\n{case}]}}"
        )
    };
    let scenario = r#""conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Ask."}"#;
    assert_eq!(
        eval_set_error(&set(r#"{"eval_id": "b"}"#)).to_string(),
        "an eval case has either `conversation` or `conversation_scenario`; in \"b\" neither is there \
         (at evalCases[1], line 2)"
    );
    assert_eq!(
        eval_set_error(&set(&format!(r#"{{"eval_id": "b", "conversation": [], {scenario}}}"#))).to_string(),
        "an eval case has either `conversation` or `conversation_scenario`; in \"b\" both are there \
         (at evalCases[1], line 2)"
    );
    assert!(try_eval_set(&set(&format!(r#"{{"eval_id": "b", "conversation": null, {scenario}}}"#))).is_ok());
}

#[test]
fn an_id_that_two_cases_have_is_an_error_that_names_both_places() {
    let turns = r#""conversation": [{"user_content": {"parts": [{"text": "hi"}]}}]"#;
    let row = r#"[{"query": "q", "expected_tool_use": [], "reference": "r"}]"#;
    for (text, path, line, message) in [
        (
            format!(
                "{{\"eval_set_id\": \"s\", \"eval_cases\": [\n{{\"eval_id\": \"a\", {turns}}},\n{{\"eval_id\": \"b\", {turns}}},\n\
                 {{\"evalId\": \"\\u0061\", {turns}}}]}}"
            ),
            "eval_cases[2].evalId",
            4,
            r#"the eval id "a" is already used at eval_cases[0].eval_id (line 2)"#,
        ),
        (
            format!("[{{\"name\": \"a\", \"data\": {row}}},\n{{\"name\": \"a\", \"data\": {row}}}]"),
            "[1].name",
            2,
            r#"the eval id "a" is already used at [0].name (line 1)"#,
        ),
    ] {
        let error = eval_set_error(&text);
        assert_eq!(error.code, ErrorCode::InvalidInput);
        assert_eq!((error.path.as_deref(), error.line), (Some(path), Some(line)));
        assert_eq!(error.message, message);
        assert_eq!(
            actual(&text).len(),
            text.matches('a').count().min(2) + usize::from(text.contains("evalId"))
        );
    }
}

#[test]
fn something_else_than_an_evalset_is_named_as_such() {
    assert_eq!(
        eval_set_error("7").to_string(),
        "expected an evalset: an object with `eval_cases`, or a list in an old form, found the number 7 \
         (at $, line 1)"
    );
    assert_eq!(eval_set_error("{}").to_string(), "`eval_set_id` is missing (at $, line 1)");
    assert_eq!(
        eval_set_error(r#"[{"querry": "Hi"}]"#).to_string(),
        "`querry` is not a key of a turn of an old evalset (at [0].querry, line 1). Did you mean `query`?"
    );
}

#[test]
fn an_unknown_key_is_left_out_with_a_warning() {
    let set = "{\"eval_set_id\": \"s\", \"eval_cases\": [{\"eval_id\": \"c\", \"conversation\": []}],\n \"owner\": \"me\", \"nothing\": null}";
    assert_eq!(
        eval_set_warnings(set),
        ["`owner` is not a key of an evalset and is left out (at owner, line 2)"]
    );
}

/// An evalset of one case with one turn.
fn set_of(turn: &str) -> String {
    format!(r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{turn}]}}]}}"#)
}

#[test]
fn a_misspelt_key_is_an_error_that_suggests_the_right_one() {
    for (text, message) in [
        (
            set_of(r#"{"user_content": {}, "intermediate_data": {"tool_use": []}}"#),
            "`tool_use` is not a key of intermediate data \
             (at eval_cases[0].conversation[0].intermediate_data.tool_use, line 1). Did you mean `tool_uses`?",
        ),
        (
            set_of(r#"{"userContent": {}, "finalRespons": {"parts": []}}"#),
            "`finalRespons` is not a key of an invocation \
             (at eval_cases[0].conversation[0].finalRespons, line 1). Did you mean `finalResponse`?",
        ),
        (
            set_of(r#"{"user_content": {"part": [{"text": "Hi"}]}}"#),
            "`part` is not a key of a content \
             (at eval_cases[0].conversation[0].user_content.part, line 1). Did you mean `parts`?",
        ),
        (
            set_of(r#"{"user_content": {"parts": [{"txt": "Hi"}]}}"#),
            "`txt` is not a key of a part \
             (at eval_cases[0].conversation[0].user_content.parts[0].txt, line 1). Did you mean `text`?",
        ),
        (
            set_of(r#"{"user_content": {}, "intermediate_data": {"tool_uses": [{"name": "f", "arg": {}}]}}"#),
            "`arg` is not a key of a tool call \
             (at eval_cases[0].conversation[0].intermediate_data.tool_uses[0].arg, line 1). Did you mean `args`?",
        ),
        (
            set_of(r#"{"user_content": {}, "app_details": {"agent_detail": {}}}"#),
            "`agent_detail` is not a key of app details \
             (at eval_cases[0].conversation[0].app_details.agent_detail, line 1). Did you mean `agent_details`?",
        ),
        (
            set_of(r#"{"userContent": {}, "appDetails": {"agentDetails": {"a": {"name": "a", "toolDeclaration": []}}}}"#),
            "`toolDeclaration` is not a key of an agent's details \
             (at eval_cases[0].conversation[0].appDetails.agentDetails.a.toolDeclaration, line 1). \
             Did you mean `toolDeclarations`?",
        ),
        (
            set_of(r#"{"user_content": {}, "app_details": {"agent_details": {"a": {"instruction": "Be kind."}}}}"#),
            "`instruction` is not a key of an agent's details \
             (at eval_cases[0].conversation[0].app_details.agent_details.a.instruction, line 1). \
             Did you mean `instructions`?",
        ),
        (
            set_of(r#"{"user_content": {}, "app_details": {"agent_details": {"a": {"instructions": ["Be kind."]}}}}"#),
            "expected a string, found an array \
             (at eval_cases[0].conversation[0].app_details.agent_details.a.instructions, line 1)",
        ),
        (
            set_of(r#"{"user_content": {}, "app_details": {"agent_details": [{"name": "a"}]}}"#),
            "expected an object (agents by their names), found an array \
             (at eval_cases[0].conversation[0].app_details.agent_details, line 1)",
        ),
        (
            r#"{"eval_set_id": "s", "eval_cases": [], "desciption": "d"}"#.into(),
            "`desciption` is not a key of an evalset (at desciption, line 1). Did you mean `description`?",
        ),
        (
            r#"[{"name": "c", "data": [{"query": "Hi", "expected_tool_uses": []}]}]"#.into(),
            "`expected_tool_uses` is not a key of a turn of an old evalset \
             (at [0].data[0].expected_tool_uses, line 1). Did you mean `expected_tool_use`?",
        ),
        (
            r#"[{"name": "c", "data": [], "initial_sesion": {}}]"#.into(),
            "`initial_sesion` is not a key of a case of an old evalset \
             (at [0].initial_sesion, line 1). Did you mean `initial_session`?",
        ),
        (
            r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation_scenario": {"starting_prompt": "Hi",
                "conversation_plan": "Ask.", "user_persona": {"id": "P", "behaviours": []}}}]}"#
                .into(),
            "`behaviours` is not a key of a persona \
             (at eval_cases[0].conversation_scenario.user_persona.behaviours, line 2). Did you mean `behaviors`?",
        ),
    ] {
        let error = eval_set_error(&text);
        assert_eq!((error.code, error.to_string().as_str()), (ErrorCode::InvalidInput, message));
    }
}

#[test]
fn a_misspelt_key_is_an_error_in_whatever_says_what_the_agent_did() {
    for (text, message) in [
        (
            r#"[{"eval_case_id": "c", "inference": []}]"#,
            "`inference` is not a key of an inference result (at [0].inference, line 1). \
             Did you mean `inferences`?",
        ),
        (
            r#"{"id": "s", "events": [{"auther": "user"}]}"#,
            "`auther` is not a key of an event (at events[0].auther, line 1). Did you mean `author`?",
        ),
        (
            r#"{"id": "s", "userid": "u", "usr_id": "u", "events": []}"#,
            "`userid` is not a key of a session (at userid, line 1). Did you mean `user_id`?",
        ),
        (
            r#"{"eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": [
                {"eval_id": "c", "final_eval_status": 1, "sesion_id": "x"}]}"#,
            "`sesion_id` is not a key of a case result (at eval_case_results[0].sesion_id, line 2). \
             Did you mean `session_id`?",
        ),
    ] {
        let error = actual_error(text);
        assert_eq!((error.code, error.to_string().as_str()), (ErrorCode::InvalidInput, message));
    }
}

#[test]
fn a_misspelt_key_that_google_adk_keeps_is_kept_with_a_warning() {
    let set = json!({ "eval_set_id": "s", "creation_timestamp": 0.0, "eval_cases": [{
        "eval_id": "c", "creation_timestamp": 0.0, "conversation": [], "sesion_input": {},
        "session_input": { "app_name": "a", "user_id": "u", "sate": {} },
    }] });
    let (written, mut warnings) = try_eval_set(&set.to_string()).unwrap();
    assert_eq!(written, set);
    warnings.sort();
    assert_eq!(
        warnings,
        [
            "`sate` is not a key of a session input and is not read \
             (at eval_cases[0].session_input.sate, line 1). Did you mean `state`?",
            "`sesion_input` is not a key of an eval case and is not read \
             (at eval_cases[0].sesion_input, line 1). Did you mean `session_input`?",
        ]
    );
}

#[test]
fn what_says_something_under_keys_that_are_not_read_does_not_count_as_empty() {
    for (turn, message) in [
        (
            r#"{"userContent": {"role": "user", "content": "What is 1 + 2?"}}"#,
            "a content has `parts`, here is `content`, so nothing of it would be read \
             (at eval_cases[0].conversation[0].userContent.content, line 1). \
             Write {\"role\": \"user\", \"parts\": [{\"text\": \"…\"}]}",
        ),
        (
            r#"{"userContent": {}, "tools": [{"id": "1", "name": "add", "arguments": {}}]}"#,
            "`tools` is not a key of an invocation, and there is nothing else in it to score \
             (at eval_cases[0].conversation[0].tools, line 1). \
             Its keys are user_content, final_response and intermediate_data",
        ),
        (
            r#"{"user_content": {}, "intermediate_data": {"tools": []}}"#,
            "`tools` is not a key of intermediate data, and there is nothing else in it to score \
             (at eval_cases[0].conversation[0].intermediate_data.tools, line 1). \
             Its keys are tool_uses, tool_responses and intermediate_responses, or invocation_events",
        ),
        (
            r#"{"user_content": {}, "intermediate_data": {"tool_uses": [{"name": "add", "arguments": {"a": 1}}]}}"#,
            "`arguments` is not a key of a tool call \
             (at eval_cases[0].conversation[0].intermediate_data.tool_uses[0].arguments, line 1). \
             Did you mean `args`?",
        ),
        (
            r#"{"user_content": {}, "intermediate_data": {"tool_uses": [{"tool": "add", "args": {}}]}}"#,
            "`tool` is not a key of a tool call \
             (at eval_cases[0].conversation[0].intermediate_data.tool_uses[0].tool, line 1). \
             Did you mean `name`?",
        ),
        (
            r#"{"user_content": {"parts": [{"type": "text", "content": "Hi"}]}}"#,
            "`content` is not a key of a part \
             (at eval_cases[0].conversation[0].user_content.parts[0].content, line 1). Did you mean `text`?",
        ),
    ] {
        assert_eq!(eval_set_error(&set_of(turn)).to_string(), message);
    }
}

#[test]
fn unknown_keys_are_kept_where_google_adk_keeps_them() {
    let set = json!({ "eval_set_id": "s", "creation_timestamp": 0.0, "eval_cases": [{
        "eval_id": "c", "creation_timestamp": 0.0, "conversation": [], "team": { "a_b": 1 },
        "session_input": { "app_name": "a", "user_id": "u", "locale": "it" },
    }] });
    assert_eq!(eval_set(&set.to_string()), set);
}

#[test]
fn one_warning_a_message_and_at_most_100() {
    let keys: String = (0..300).map(|i| format!(", \"key {i}\": 1")).collect();
    let set = format!("{{\"eval_set_id\": \"s\", \"eval_cases\": []{keys}}}");
    assert_eq!(eval_set_warnings(&set).len(), 100);
    let call = r#"{"name": "f", "color": 1}"#;
    let set = format!(
        r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [
            {{"user_content": {{}}, "intermediate_data": {{"tool_uses": [{call}, {call}]}}}}]}}]}}"#
    );
    assert_eq!(eval_set_warnings(&set).len(), 1);
}

#[test]
fn what_the_writer_of_inference_results_warns_of_is_passed_on() {
    let result =
        r#"{"eval_id": "a", "inferences": [], "warnings": ["turn 1: a tool ran", "turn 2: it failed"]}"#;
    for file in [format!("[{result}]"), result.to_owned(), format!(r#"{{"inference_results": [{result}]}}"#)]
    {
        let warnings = Warnings::default();
        ActualFile::read(parse(&file), "the file", &warnings).unwrap();
        let found: Vec<_> = warnings.into_vec().into_iter().map(|warning| warning.message.clone()).collect();
        assert_eq!(found, ["turn 1: a tool ran", "turn 2: it failed"], "{file}");
    }
}

/// Keys that ADKs write and that are not read here resemble none that is.
#[test]
fn keys_that_adks_write_beside_those_that_are_read_are_no_mistakes() {
    let part = r#"{"text": "Hi", "thought_signature": "", "inline_data": {}, "file_data": {}, "video_metadata": {},
        "executable_code": {}, "media_resolution": {}, "tool_call": {},
        "tool_response": {}, "part_metadata": {}}"#;
    let event = format!(
        r#"{{"id": "1", "invocation_id": "i", "author": "agent", "timestamp": 1, "turn_complete": true, "branch": "b",
        "content": {{"role": "model", "parts": [{part}]}}, "error_message": "", "interrupted": false,
        "finish_reason": "STOP", "custom_metadata": {{}}, "citation_metadata": {{}}, "cache_metadata": {{}},
        "avg_logprobs": 0, "logprobs_result": {{}}, "input_transcription": {{}}, "output_transcription": {{}},
        "live_session_resumption_update": {{}}, "interaction_id": "x", "long_running_tool_ids": [],
        "usage_metadata": {{"total_token_count": 3, "prompt_tokens_details": [], "cache_tokens_details": [],
            "candidates_tokens_details": [], "tool_use_prompt_tokens_details": [], "traffic_type": "T",
            "response_token_count": 1}}}}"#
    );
    let session = format!(
        r#"{{"id": "s", "app_name": "a", "user_id": "u", "state": {{}}, "last_update_time": 1, "events": [{event}]}}"#
    );
    assert_eq!(actual(&session), [summary(None, Some("s"), Some("u"), &["Hi"])]);
}

// ---- configs

/// The names and thresholds of a config's metrics but the efficiency ones, or what is wrong with it.
fn config(text: &str) -> (Result<Vec<(String, f64)>>, Vec<String>) {
    let warnings = Warnings::default();
    let plan = Plan::from_config(
        &mut parse(text),
        PlanOptions { custom: &["mine".into()], ..PlanOptions::default() },
        &warnings,
    );
    let metrics = plan.map(|plan| {
        let own = plan.metrics.into_iter().filter_map(|metric| Some((metric.name, metric.threshold?)));
        own.collect()
    });
    (metrics, warnings.into_vec().iter().map(ToString::to_string).collect())
}

fn config_error(text: &str) -> String {
    config(text).0.unwrap_err().to_string()
}

#[test]
fn thresholds_come_bare_or_in_a_criterion_in_either_spelling() {
    let found = |threshold: f64| Ok(vec![("tool_trajectory_avg_score".to_owned(), threshold)]);
    for (value, threshold) in [
        ("0.5", 0.5),
        ("\" 0.5 \"", 0.5),
        ("true", 1.0),
        (r#"{"threshold": 0.5}"#, 0.5),
        (r#"{"threshold": "0.5", "match_type": "in-order", "ignore_args": true}"#, 0.5),
        (r#"{"threshold": 0, "matchType": 2, "ignoreArgs": "off"}"#, 0.0),
    ] {
        for name in ["tool_trajectory_avg_score", "TOOL_TRAJECTORY_AVG_SCORE"] {
            let text = format!(r#"{{"criteria": {{"{name}": {value}}}}}"#);
            assert_eq!(config(&text), (found(threshold), vec![]), "{text}");
        }
    }
}

#[test]
fn what_else_a_config_may_hold_is_accepted() {
    let text = r#"{"$schema": "x", "criteria": {"mine": 0.5}, "custom_metrics": {"mine": {"code_config": {"name": "f"}}},
        "userSimulatorConfig": {"model": "m"}, "live_model_config": null}"#;
    let (metrics, warnings) = config(text);
    assert_eq!(metrics, Ok(vec![("mine".to_owned(), 0.5)]));
    assert!(warnings.is_empty(), "{warnings:?}");
}

const NO_CRITERION: &str = "there is no criterion, so nothing could pass or fail (at $, line 1). \
    A config looks like {\"criteria\": {\"tool_trajectory_avg_score\": 1.0, \"response_match_score\": 0.8}}: \
    metrics by name, each with its threshold";

#[test]
fn a_config_without_a_criterion_is_refused() {
    for text in [
        "{}",
        r#"{"criteria": {}}"#,
        r#"{"criteria": null}"#,
        r#"{"metrics": {"response_match_score": 1}}"#,
        r#"{"user_simulator_config": {"model": "m"}}"#,
    ] {
        assert_eq!(config_error(text), NO_CRITERION, "{text}");
    }
    let mut counted = parse(r#"{"criteria": {}}"#);
    let plan_options = PlanOptions { count_only: true, ..PlanOptions::default() };
    assert!(Plan::from_config(&mut counted, plan_options, &Warnings::default()).is_ok());
}

#[test]
fn metrics_at_the_top_of_a_config_are_criteria() {
    let (metrics, warnings) = config(
        r#"{"TOOL_TRAJECTORY_AVG_SCORE": 1, "response_match_score": {"threshold": 0.5}, "mine": "0.25",
            "user_simulator_config": {}, "team": "x"}"#,
    );
    let found = |name: &str, threshold: f64| (name.to_owned(), threshold);
    assert_eq!(
        metrics,
        Ok(vec![
            found("tool_trajectory_avg_score", 1.0),
            found("response_match_score", 0.5),
            found("mine", 0.25)
        ])
    );
    assert_eq!(warnings, ["`team` is not a key of an eval config and is left out (at team, line 2)"]);
    assert_eq!(
        config_error(r#"{"response_match_scor": 1}"#),
        "there is no metric `response_match_scor` (at response_match_scor, line 1). \
         Did you mean `response_match_score`?"
    );
}

#[test]
fn a_metric_beside_criteria_is_refused() {
    assert_eq!(
        config_error(r#"{"criteria": {"mine": 1}, "safety_v1": 1}"#),
        "the metric `safety_v1` stands beside `criteria`, where no metric is read (at safety_v1, line 1). \
         Put it inside `criteria`"
    );
}

#[test]
fn a_misspelt_key_of_a_config_is_an_error() {
    for (text, message) in [
        (
            r#"{"criterion": {"mine": 1}}"#,
            "`criterion` is not a key of an eval config (at criterion, line 1). Did you mean `criteria`?",
        ),
        (
            r#"{"criteria": {"mine": 1}, "userSimulatorConfg": {}}"#,
            "`userSimulatorConfg` is not a key of an eval config (at userSimulatorConfg, line 1). \
             Did you mean `userSimulatorConfig`?",
        ),
        (
            r#"{"criteria": {"mine": 1}, "user_simulator_config": {"max_allowed_invocation": 3}}"#,
            "`max_allowed_invocation` is not a key of `user_simulator_config` \
             (at user_simulator_config.max_allowed_invocation, line 1). Did you mean `max_allowed_invocations`?",
        ),
        (
            r#"{"criteria": {"mine": 1}, "user_simulator_config": {"max_allowed_invocations": "3"}}"#,
            "expected a whole number, found the string \"3\" \
             (at user_simulator_config.max_allowed_invocations, line 1)",
        ),
        (
            r#"{"criteria": {"final_response_match_v2": {"threshold": 1, "judge_model_options":
                {"judge_model_config": {"temprature": 0}}}}}"#,
            "a model has no setting `temprature` (at \
             criteria.final_response_match_v2.judge_model_options.judge_model_config.temprature, line 2). \
             Did you mean `temperature`?",
        ),
    ] {
        assert_eq!(config_error(text), message);
    }
    let unknown = r#"{"criteria": {"mine": 1}, "user_simulator_config": {"mood": "bad"}}"#;
    assert_eq!(
        config(unknown).1,
        ["`mood` is not a key of `user_simulator_config` and is left out \
          (at user_simulator_config.mood, line 1)"]
    );
}

#[test]
fn metrics_of_ones_own_keep_their_names_and_hide_those_of_the_engine() {
    let names = |text| {
        let custom = ["mine".into(), "BLEU".into(), "safety_v1".into()];
        let plan_options = PlanOptions { custom: &custom, ..PlanOptions::default() };
        let plan = Plan::from_config(&mut parse(text), plan_options, &Warnings::default()).unwrap();
        let hosted = plan.metrics.into_iter().filter(|metric| matches!(metric.scorer, MetricScorer::Host));
        hosted.map(|metric| metric.name).collect::<Vec<_>>()
    };
    let text = r#"{"criteria": {"BLEU": 0.5, "MINE": 0.5, "safety_v1": 1, "response_match_score": 1}}"#;
    assert_eq!(names(text), ["BLEU", "mine", "safety_v1"]);
}

#[test]
fn a_metric_of_custom_metrics_has_to_be_registered_whatever_its_name() {
    for name in ["yours", "response_match_score"] {
        let text = format!(
            r#"{{"criteria": {{"{name}": 0.5}}, "custom_metrics": {{"{name}": {{"code_config": {{"name": "a.b.c"}}}}}}}}"#
        );
        assert_eq!(
            config_error(&text),
            format!(
                "the function `a.b.c` of the metric `{name}` is not registered (at custom_metrics.{name}, line 1). \
                 Register the metric, or allow its JavaScript module (loadCustomMetrics, --metrics)"
            )
        );
    }
    let elsewhere =
        r#"{"criteria": {"mine": 1}, "custom_metrics": {"yours": {"code_config": {"name": "a.b"}}}}"#;
    assert_eq!(config(elsewhere).0, Ok(vec![("mine".to_owned(), 1.0)]));
    assert!(config_error(r#"{"criteria": {"mines": 1}}"#).ends_with("Did you mean `mine`?"));
}

#[test]
fn a_file_may_name_its_schema_and_a_value_in_it_may_not() {
    let set = r#"{"$schema": "x", "eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": []}], "schema": "x"}"#;
    assert_eq!(
        eval_set_warnings(set),
        ["`schema` is not a key of an evalset and is left out (at schema, line 1)"]
    );
    let turn = r#"{"$schema": "x", "user_content": {}}"#;
    let set =
        format!(r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{turn}]}}]}}"#);
    assert_eq!(eval_set_warnings(&set).len(), 1);
}

#[test]
fn settings_that_cannot_be_used_are_errors_with_advice() {
    for (criteria, message) in [
        (
            r#"{"tool_trajectory_avg_score": {}}"#,
            "the metric `tool_trajectory_avg_score` needs a threshold (at criteria.tool_trajectory_avg_score, line 1). \
             For example: {\"tool_trajectory_avg_score\": 0.8}",
        ),
        (
            r#"{"response_match_scor": 1}"#,
            "there is no metric `response_match_scor` (at criteria.response_match_scor, line 1). \
             Did you mean `response_match_score`?",
        ),
        (
            r#"{"wholly_else": 1}"#,
            "there is no metric `wholly_else` (at criteria.wholly_else, line 1). \
             Register a metric of your own under this name (on the command line: --metrics), or leave it out",
        ),
        (
            r#"{"tool_trajectory_avg_score": {"threshold": 1, "match_typ": "EXACT"}}"#,
            "`tool_trajectory_avg_score` has no setting `match_typ` \
             (at criteria.tool_trajectory_avg_score.match_typ, line 1). Did you mean `match_type`?",
        ),
        (
            r#"{"tool_trajectory_avg_score": {"threshold": 1, "match_type": "sorted"}}"#,
            "expected EXACT, IN_ORDER or ANY_ORDER, found the string \"sorted\" \
             (at criteria.tool_trajectory_avg_score.match_type, line 1)",
        ),
        (
            r#"{"response_match_score": [0.5]}"#,
            "expected a threshold: a number, or an object with `threshold`, found an array \
             (at criteria.response_match_score, line 1)",
        ),
        (
            r#"{"response_match_score": {"threshold": "high"}}"#,
            "expected a number, found the string \"high\" (at criteria.response_match_score.threshold, line 1)",
        ),
        (
            r#"{"token_usage_v1": 100}"#,
            "`token_usage_v1` is only counted, so it takes no threshold \
             (at criteria.token_usage_v1, line 1). Leave it out of `criteria`: it is reported for every evaluation",
        ),
    ] {
        assert_eq!(config_error(&format!(r#"{{"criteria": {criteria}}}"#)), message);
    }
}

#[test]
fn settings_that_are_ignored_are_warned_of() {
    let text = r#"{"criteria": {"tool_trajectory_avg_score":
        {"threshold": 1, "colour": "red", "match_type": "EXACT", "matchType": "ANY_ORDER"}}}"#;
    let (metrics, warnings) = config(text);
    assert!(metrics.is_ok());
    assert_eq!(
        warnings,
        [
            "`match_type` is also given as `matchType`, which counts (at criteria.tool_trajectory_avg_score, line 2)",
            "`tool_trajectory_avg_score` has no setting `colour`; it is ignored \
             (at criteria.tool_trajectory_avg_score.colour, line 2)",
        ]
    );
}
