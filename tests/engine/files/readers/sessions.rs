//! Sessions and their events as turns.

use super::*;

/// The same recordings hold the package's recorder of live agents to google-adk (`tests/agents/vectors.test.ts`).
#[test]
fn a_turn_is_what_google_adk_makes_of_its_events() {
    let recordings = include_str!("../../../agents/recordings.jsonl");
    for line in recordings.lines() {
        let recording: Value = serde_json::from_str(line).unwrap();
        let session = json!({ "id": "x", "events": recording["events"] }).to_string();
        with_actual(&session, |runs| {
            let turn = runs.first().unwrap().turns.unwrap().iter().next();
            let turn = turn.map_or_else(|| "{}".to_owned(), |turn| turn.to_json(Spelling::Camel));
            let turn: Value = serde_json::from_str(&turn).unwrap();
            let no_events = json!({ "invocationEvents": [] });
            let data = turn.get("intermediateData").unwrap_or(&no_events);
            assert_eq!(turn.get("finalResponse"), recording["invocation"].get("finalResponse"), "{line}");
            assert_eq!(data, &recording["invocation"]["intermediateData"], "{line}");
        });
    }
}

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
fn the_last_agent_gives_the_final_response() {
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
