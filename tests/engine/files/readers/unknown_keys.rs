//! Keys that nothing reads: misspelt ones, those of somewhere else, and those that are left out or kept with a warning.

use super::*;

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
            set_of(r#"{"user_content": {}, "app_details": {"agent_details": {"a": {"system_instruction": "Be kind."}}}}"#),
            "`system_instruction` is not a key of an agent's details \
             (at eval_cases[0].conversation[0].app_details.agent_details.a.system_instruction, line 1). \
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
            r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [], "sesion_input": {}}]}"#
                .into(),
            "`sesion_input` is not a key of an eval case (at eval_cases[0].sesion_input, line 1). \
             Did you mean `session_input`?",
        ),
        (
            r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [], "session_input": {"sate": {}}}]}"#
                .into(),
            "`sate` is not a key of a session input (at eval_cases[0].session_input.sate, line 1). \
             Did you mean `state`?",
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
fn a_misspelt_key_is_an_error_in_every_form_of_actual_runs() {
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
fn objects_with_only_unknown_keys_are_rejected_instead_of_counting_as_empty() {
    for (turn, message) in [
        (
            r#"{"userContent": {"role": "user", "content": "What is 1 + 2?"}}"#,
            "`content` is not a key of a content, and there is nothing else in it to score \
             (at eval_cases[0].conversation[0].userContent.content, line 1). \
             Its keys are role and parts, as in {\"role\": \"user\", \"parts\": [{\"text\": \"…\"}]}",
        ),
        (
            r#"{"userContent": {}, "tools": [{"id": "1", "name": "add", "arguments": {}}]}"#,
            "`tools` is not a key of an invocation (at eval_cases[0].conversation[0].tools, line 1). \
             Did you mean `intermediate_data.tool_uses`?",
        ),
        (
            r#"{"userContent": {}, "answer": "3"}"#,
            "`answer` is not a key of an invocation, and there is nothing else in it to score \
             (at eval_cases[0].conversation[0].answer, line 1). \
             Its keys are user_content, final_response and intermediate_data",
        ),
        (
            r#"{"user_content": {}, "intermediate_data": {"steps": []}}"#,
            "`steps` is not a key of intermediate data, and there is nothing else in it to score \
             (at eval_cases[0].conversation[0].intermediate_data.steps, line 1). \
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
            "`type` is not a key of a part, and there is nothing else in it to score \
             (at eval_cases[0].conversation[0].user_content.parts[0].type, line 1). \
             Its keys are text, function_call and function_response",
        ),
    ] {
        assert_eq!(eval_set_error(&set_of(turn)).to_string(), message);
    }
}

/// A part without anything that google-adk has a field for, in every place that has parts.
#[test]
fn a_part_with_nothing_but_unknown_keys_is_no_empty_part() {
    const KEYS: &str = "Its keys are text, function_call and function_response";
    for (part, key) in [
        (r#"{"body": "y"}"#, "body"),
        (r#"{"type": "text", "value": "y"}"#, "type"),
        (r#"{"type": "tool_use", "name": "delete_account", "input": {}}"#, "type"),
        (r#"{"text": null, "inlineData": null, "body": "y"}"#, "body"),
        (r#"{"thought": true, "summary": "y"}"#, "summary"),
    ] {
        let unread = format!("`{key}` is not a key of a part, and there is nothing else in it to score");
        for turn in [
            format!(r#"{{"user_content": {{"parts": [{{"text": "Hi"}}, {part}]}}}}"#),
            format!(r#"{{"user_content": {{}}, "final_response": {{"parts": [{part}]}}}}"#),
            format!(
                r#"{{"userContent": {{}}, "intermediateData": {{"invocationEvents": [
                    {{"author": "agent", "content": {{"parts": [{part}]}}}}]}}}}"#
            ),
            format!(
                r#"{{"user_content": {{}}, "intermediate_data": {{"intermediate_responses": [["agent", [{part}]]]}}}}"#
            ),
        ] {
            for error in [
                eval_set_error(&set_of(&turn)),
                actual_error(&set_of(&turn)),
                actual_error(&format!(r#"[{{"eval_id": "c", "inferences": [{turn}]}}]"#)),
            ] {
                assert_eq!((error.message.as_str(), error.help.as_deref()), (unread.as_str(), Some(KEYS)));
                assert!(error.path.as_ref().is_some_and(|path| path.ends_with(key)), "{error}");
            }
        }
        let session = format!(
            r#"{{"id": "s", "events": [{{"author": "user", "content": {{"parts": [{{"text": "Hi"}}]}}}},
                {{"author": "agent", "content": {{"parts": [{part}]}}}}]}}"#
        );
        assert_eq!(actual_error(&session).message, unread);
    }
}

/// What belongs into the content of an event, beside it.
#[test]
fn parts_outside_of_an_events_content_are_an_error_in_every_kind_of_event() {
    let content = r#""content": {"parts": [{"text": "y"}]}, "#;
    for (beside, key, content) in [
        (r#""parts": [{"text": "y"}]"#, "parts", ""),
        (r#""parts": [{"function_call": {"name": "f"}}]"#, "parts", content),
        (r#""text": "y""#, "text", r#""content": null, "#),
        (r#""function_call": {"name": "f"}"#, "function_call", ""),
        (r#""functionResponse": {"name": "f"}"#, "functionResponse", ""),
        (r#""message": {"text": "y"}"#, "message", ""),
        (r#""text": "n""#, "text", content),
        (r#""text": "yy""#, "text", content),
        (r#""text": 5"#, "text", content),
        (r#""function_call": {"name": "f"}"#, "function_call", content),
        (r#""functionCall": {"name": "f"}"#, "functionCall", content),
        (r#""function_response": {"name": "f"}"#, "function_response", content),
        (r#""toolCalls": [{"name": "f"}]"#, "toolCalls", content),
        (r#""function_calls": [{"name": "f"}]"#, "function_calls", ""),
    ] {
        let event = format!(r#"{{"author": "agent", {content}{beside}}}"#);
        let turn =
            format!(r#"{{"user_content": {{}}, "intermediate_data": {{"invocation_events": [{event}]}}}}"#);
        let session = format!(
            r#"{{"id": "s", "events": [{{"author": "user", "content": {{"parts": [{{"text": "Hi"}}]}}}}, {event}]}}"#
        );
        for error in [eval_set_error(&set_of(&turn)), actual_error(&set_of(&turn)), actual_error(&session)] {
            assert_eq!(error.message, format!("`{key}` is not a key of an event"));
            assert_eq!(error.help.as_deref(), Some("Did you mean `content.parts`?"));
            assert!(error.path.as_ref().is_some_and(|path| path.ends_with(key)), "{error}");
        }
    }
    // What the content says too, as the text that ADK-TS writes beside it, or what says nothing.
    let texts = [r#"{"text": "y"}"#, r#"{"text": "t", "thought": true}, {"text": "y"}, {"text": "z"}"#];
    for (parts, beside) in [
        (texts[0], r#""text": "y""#),
        (texts[0], r#""text": " y\n""#),
        (texts[0], r#""text": """#),
        (texts[0], r#""text": null, "functionCall": null, "toolCalls": []"#),
        (texts[1], r#""text": "yz""#),
        (texts[1], r#""text": "y\nz""#),
        (texts[1], r#""text": "tyz""#),
    ] {
        let session = format!(
            r#"{{"id": "s", "events": [{{"author": "user", "content": {{"parts": []}}}},
                {{"author": "agent", "content": {{"parts": [{parts}]}}, {beside}}}]}}"#
        );
        let answer = if parts == texts[0] { "y" } else { "t\ny\nz" };
        assert_eq!(actual(&session), [summary(None, Some("s"), None, &[answer])], "{beside}");
    }
}

#[test]
fn a_part_of_any_kind_that_google_adk_has_is_read() {
    let kinds = [
        "media_resolution",
        "code_execution_result",
        "executable_code",
        "file_data",
        "inline_data",
        "thought_signature",
        "video_metadata",
        "tool_call",
        "tool_response",
        "part_metadata",
        "audio_transcription",
        "media_processing",
        "speech_metadata",
    ];
    let turn = |part: &str| format!(r#"{{"user_content": {{"parts": [{part}]}}, "final_response": {{}}}}"#);
    for kind in kinds {
        for key in [kind.to_owned(), camel(kind)] {
            for part in [format!(r#"{{"{key}": {{}}}}"#), format!(r#"{{"note": 1, "{key}": {{}}}}"#)] {
                assert!(try_eval_set(&set_of(&turn(&part))).is_ok(), "{part}");
            }
        }
    }
    for part in [
        "{}",
        r#"{"thought": true}"#,
        r#"{"text": null}"#,
        r#"{"text": "", "body": "y"}"#,
        r#"{"body": null}"#,
    ] {
        assert!(try_eval_set(&set_of(&turn(part))).is_ok(), "{part}");
    }
}

/// `camelCase` of `snake_case`.
fn camel(snake: &str) -> String {
    let mut words = snake.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |camel, word| {
        let (initial, rest) = word.split_at(1);
        camel + &initial.to_ascii_uppercase() + rest
    })
}

#[test]
fn a_misspelt_key_of_either_form_of_intermediate_data_is_an_error() {
    for (data, key, meant) in [
        (r#"{"invocation_events": [], "tool_use": [{"name": "f"}]}"#, "tool_use", "tool_uses"),
        (r#"{"tooluses": [{"name": "f"}], "invocation_events": []}"#, "tooluses", "tool_uses"),
        (r#"{"invocation_events": [], "tool_uses_": [{"name": "f"}]}"#, "tool_uses_", "tool_uses"),
        (r#"{"invocation_events": [], "toolUse": [{"name": "f"}]}"#, "toolUse", "toolUses"),
        (r#"{"invocation_events": [], "tool_response": []}"#, "tool_response", "tool_responses"),
        (r#"{"tool_uses": [], "invocation_event": []}"#, "invocation_event", "invocation_events"),
        (r#"{"invocation_event": []}"#, "invocation_event", "invocation_events"),
        (r#"{"invocationEvent": []}"#, "invocationEvent", "invocationEvents"),
        (r#"{"tools": [{"name": "f", "arguments": {}}]}"#, "tools", "tool_uses"),
        (r#"{"tool_uses": [], "tools": [{"name": "f"}]}"#, "tools", "tool_uses"),
        (r#"{"invocation_events": [], "toolCalls": [{"name": "f"}]}"#, "toolCalls", "toolUses"),
    ] {
        let turn = format!(r#"{{"user_content": {{}}, "intermediate_data": {data}}}"#);
        for error in [eval_set_error(&set_of(&turn)), actual_error(&set_of(&turn))] {
            assert_eq!(
                error.to_string(),
                format!(
                    "`{key}` is not a key of intermediate data \
                     (at eval_cases[0].conversation[0].intermediate_data.{key}, line 1). Did you mean `{meant}`?"
                )
            );
        }
    }
}

#[test]
fn keys_of_intermediate_data_are_rejected_in_the_turn_itself() {
    for (key, meant) in [
        ("tool_uses", "intermediate_data.tool_uses"),
        ("toolUses", "intermediateData.toolUses"),
        ("tool_use", "intermediate_data.tool_uses"),
        ("tool_responses", "intermediate_data.tool_responses"),
        ("intermediate_responses", "intermediate_data.intermediate_responses"),
        ("invocation_events", "intermediate_data.invocation_events"),
        ("invocationEvents", "intermediateData.invocationEvents"),
        ("tools", "intermediate_data.tool_uses"),
        ("toolCalls", "intermediateData.toolUses"),
    ] {
        let hi = r#"{"role": "user", "parts": [{"text": "Hi"}]}"#;
        let call = r#"{"id": "1", "name": "add", "arguments": {"a": 1}}"#;
        let turn = format!(r#"{{"userContent": {hi}, "finalResponse": {hi}, "{key}": [{call}]}}"#);
        for error in [eval_set_error(&set_of(&turn)), actual_error(&set_of(&turn))] {
            assert_eq!(
                error.to_string(),
                format!(
                    "`{key}` is not a key of an invocation (at eval_cases[0].conversation[0].{key}, line 1). Did you mean `{meant}`?"
                )
            );
        }
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

/// Keys that ADKs write and that are not read here resemble none that is.
#[test]
fn other_keys_that_adk_libraries_write_are_accepted() {
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

#[test]
fn token_counts_under_other_names_are_warned_of() {
    let warnings = |usage: &str| {
        let event = format!(r#"{{"author": "a", "usage_metadata": {usage}}}"#);
        let events = format!(r#"{{"invocation_events": [{event}, {event}]}}"#);
        eval_set_warnings(&set_of(&format!(r#"{{"user_content": {{}}, "intermediate_data": {events}}}"#)))
    };
    let warning = |key: &str| {
        let path = "eval_cases[0].conversation[0].intermediate_data.invocation_events[0].usage_metadata";
        format!("`{key}` is not a key of usage metadata and is not read (at {path}.{key}, line 1)")
    };
    let live = r#"{"prompt_token_count": 5, "response_token_count": 2}"#;
    assert_eq!(warnings(live), [warning("response_token_count")]);
    assert_eq!(warnings(r#"{"output_tokens": 2, "total_tokens": 2}"#), [warning("output_tokens")]);
    let google = r#"{"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": null, "totalTokenCount": 7,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}], "trafficType": "ON_DEMAND"}"#;
    assert_eq!(warnings(google), [""; 0]);
}
