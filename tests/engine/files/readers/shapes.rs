//! Evalsets of today: spellings, parts, intermediate data.

use super::*;

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
fn tool_arguments_and_session_state_are_never_respelled() {
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
