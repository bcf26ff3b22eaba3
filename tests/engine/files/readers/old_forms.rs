//! The two old forms of evalsets.

use super::*;

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
    assert_eq!(warnings, ["the evalset has no cases: there is nothing to score (at $)"]);
}
