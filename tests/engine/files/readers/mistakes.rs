//! Errors about evalsets and runs: values of a wrong kind, and what is missing or given twice.

use super::*;

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
fn warnings_in_inference_results_are_passed_on() {
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
