//! What the agent did: results, inference results and failed runs.

use super::*;

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
fn the_status_of_a_run_that_is_unknown_is_an_error_rather_than_a_success() {
    let file = |status: &str| format!(r#"[{{"eval_case_id": "c", "status": {status}, "inferences": []}}]"#);
    for status in ["1", "1.0", "\"SUCCESS\"", "\"passed\"", "\"Completed\"", "0", "null"] {
        with_actual(&file(status), |runs| assert!(runs.first().unwrap().turns.is_some(), "{status}"));
    }
    for status in ["3", "-1", "true", "\"error\"", "\"cancelled\"", "\"NOT_EVALUATED\"", "\"\""] {
        let error = actual_error(&file(status)).to_string();
        assert!(error.starts_with("expected a status: 1 or 2, found "), "{error}");
        assert!(error.ends_with(" (at [0].status, line 1)"), "{error}");
    }
}

#[test]
fn what_this_package_adds_to_results_is_no_surprise() {
    let mut file = result_file(|status| json!(status));
    let of_case = &mut file["eval_case_results"][0];
    of_case["overall_eval_metric_results"][1]["reason"] = json!("the judge was silent");
    let of_turn = &mut of_case["eval_metric_result_per_invocation"][0]["eval_metric_results"][0];
    of_turn["explanation"] = json!({ "kind": "overlap" });
    let (warnings, text) = (Warnings::default(), file.to_string());
    ActualFile::read(parse(&text), "the file", &warnings).unwrap();
    assert_eq!(warnings.into_vec(), []);
    // google-adk has no place for it.
    let mut document = parse(&text);
    check(&mut document, &EvalSetResult::TYPE, &Warnings::default()).unwrap();
    let written = EvalSetResult::from_json(document.root()).to_json(Spelling::Snake);
    assert!(!written.contains("reason") && !written.contains("explanation"), "{written}");
}

#[test]
fn turns_before_a_failure_are_kept_apart_from_scored_turns() {
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
