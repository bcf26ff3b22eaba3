//! Replies of models.

use super::*;

// What is read

fn reply(text: &str, usage: (u64, u64, Option<u64>), model: &str) -> Reply {
    Reply {
        text: text.into(),
        usage: TokenCounts { input: Some(usage.0), output: Some(usage.1), total: usage.2 },
        model_version: Some(model.into()),
        truncated: false,
    }
}

#[test]
fn replies_are_read_without_thoughts() {
    use Provider::*;
    let gemini = json!({
        "candidates": [{ "content": { "role": "model", "parts": [
            { "text": "Let me think.", "thought": true }, { "text": "one" }, { "text": "" },
            { "functionCall": { "name": "f" } }, { "text": "two", "thoughtSignature": "x" } ] },
            "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 2, "thoughtsTokenCount": 5, "totalTokenCount": 17 },
        "modelVersion": "gemini-2.5-flash", "responseId": "x" });
    let expected = reply("one\ntwo", (10, 7, Some(17)), "gemini-2.5-flash");
    assert_eq!(read(Gemini, &gemini), Ok(expected.clone()));
    assert_eq!(read(Vertex, &gemini), Ok(expected));

    let chat = json!({
        "id": "x", "object": "chat.completion", "model": "gpt-5-2026",
        "choices": [{ "index": 0, "finish_reason": "stop", "logprobs": null,
            "message": { "role": "assistant", "content": "one two", "refusal": null, "reasoning_content": "hm" } }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17 } });
    assert_eq!(read(OpenAiChat, &chat), Ok(reply("one two", (10, 7, Some(17)), "gpt-5-2026")));

    let responses = json!({
        "object": "response", "status": "completed", "error": null, "incomplete_details": null, "model": "gpt-5-2026",
        "output": [
            { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }],
              "content": [{ "type": "reasoning_text", "text": "hm" }] },
            { "type": "message", "role": "assistant", "content": [
                { "type": "output_text", "text": "one ", "annotations": [] }, { "type": "output_text", "text": "two" } ] } ],
        "usage": { "input_tokens": 10, "output_tokens": 7, "total_tokens": 17 } });
    assert_eq!(read(OpenAiResponses, &responses), Ok(reply("one two", (10, 7, Some(17)), "gpt-5-2026")));

    let anthropic = json!({
        "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn", "stop_details": null,
        "content": [ { "type": "thinking", "thinking": "hm", "signature": "" }, { "type": "redacted_thinking", "data": "" },
                     { "type": "text", "text": "one " }, { "type": "text", "text": "two" } ],
        "usage": { "input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 7, "output_tokens": 7 } });
    assert_eq!(read(Anthropic, &anthropic), Ok(reply("one two", (10, 7, None), "claude-x")));

    let ollama = json!({
        "model": "qwen3", "created_at": "x", "done": true, "done_reason": "stop",
        "message": { "role": "assistant", "content": "one two", "thinking": "hm" },
        "prompt_eval_count": 10, "eval_count": 7 });
    assert_eq!(read(Ollama, &ollama), Ok(reply("one two", (10, 7, None), "qwen3")));
}

#[test]
fn tokens_that_only_the_total_counts_are_those_of_the_other_side_or_of_the_output() {
    for (input, output, total, sides) in [
        (Some(10), Some(2), Some(17), (10, 7)),
        (Some(10), Some(0), Some(17), (10, 7)),
        (Some(10), Some(2), Some(12), (10, 2)),
        (Some(10), Some(2), Some(5), (10, 2)),
        (Some(10), Some(2), None, (10, 2)),
        (Some(10), None, Some(17), (10, 7)),
        (None, Some(2), Some(17), (15, 2)),
        (None, None, Some(17), (17, 0)),
        (Some(10), None, None, (10, 0)),
    ] {
        let counts = TokenCounts { input, output, total };
        let found = counts.tokens().map(|tokens| (tokens.input_tokens, tokens.output_tokens));
        assert_eq!(found, Some(sides), "{counts:?}");
        assert_eq!(counts.knows_output(), sides.1 > 0 || total == Some(17), "{counts:?}");
    }
}

#[test]
fn thoughts_in_the_text_and_lists_of_parts_are_understood_of_compatible_servers() {
    let content = |content: Value| {
        read(Provider::OpenAiChat, &json!({ "choices": [{ "message": { "content": content } }] }))
            .map(|reply| reply.text)
    };
    assert_eq!(content(json!("\n<think>is_valid: no</think>\n\nyes")), Ok("yes".into()));
    assert_eq!(content(json!("yes <think>no</think>")), Ok("yes <think>no</think>".into()));
    assert_eq!(
        content(
            json!([{ "type": "thinking", "thinking": [{ "text": "hm" }] }, { "type": "text", "text": "yes" }])
        ),
        Ok("yes".into())
    );
}

/// The bodies with which each provider says that there is no proper reply.
#[test]
fn refusals_blocks_empty_and_truncated_replies_are_told_apart() {
    use FailureKind::*;
    use Provider::*;
    let gemini = |candidate: Value| json!({ "candidates": [candidate], "responseId": "x" });
    let chat = |message: Value, reason: &str| json!({ "choices": [{ "message": message, "finish_reason": reason }] });
    for (provider, body, kind, said) in [
        (
            Gemini,
            json!({ "promptFeedback": { "blockReason": "SAFETY" }, "usageMetadata": {} }),
            Refused,
            "blocked, SAFETY",
        ),
        (
            Vertex,
            json!({ "promptFeedback": { "blockReason": "MODEL_ARMOR", "blockReasonMessage": "No." } }),
            Refused,
            "MODEL_ARMOR: No.",
        ),
        (Gemini, gemini(json!({ "finishReason": "SAFETY", "index": 0 })), Refused, "SAFETY"),
        (
            Gemini,
            gemini(json!({ "content": { "parts": [{ "text": "half" }] }, "finishReason": "RECITATION" })),
            Refused,
            "RECITATION",
        ),
        (Gemini, gemini(json!({ "content": {}, "finishReason": "MAX_TOKENS" })), Truncated, "cut off"),
        (
            Gemini,
            gemini(json!({ "content": { "role": "model" }, "finishReason": "STOP" })),
            Empty,
            "without any text",
        ),
        (Gemini, gemini(json!({ "finishReason": "OTHER" })), Empty, "without any text"),
        (
            Gemini,
            json!({ "usageMetadata": { "promptTokenCount": 1 }, "modelVersion": "g" }),
            Empty,
            "without any text",
        ),
        (OpenAiChat, chat(json!({ "content": null, "refusal": "I can't." }), "stop"), Refused, "I can't."),
        (OpenAiChat, chat(json!({ "content": "" }), "content_filter"), Refused, "content_filter"),
        (OpenAiChat, chat(json!({ "content": "" }), "length"), Truncated, "cut off"),
        (OpenAiChat, chat(json!({ "content": null }), "stop"), Empty, "without any text"),
        (OpenAiChat, json!({ "choices": [] }), Empty, "without any text"),
        (
            OpenAiResponses,
            json!({ "output": [{ "type": "message", "content": [{ "type": "refusal", "refusal": "No." }] }] }),
            Refused,
            "No.",
        ),
        (
            OpenAiResponses,
            json!({ "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" },
            "output": [{ "type": "reasoning", "summary": [] }] }),
            Truncated,
            "cut off",
        ),
        (
            OpenAiResponses,
            json!({ "status": "incomplete", "incomplete_details": { "reason": "content_filter" }, "output": [] }),
            Refused,
            "content_filter",
        ),
        (OpenAiResponses, json!({ "status": "completed", "output": [] }), Empty, "without any text"),
        (
            Anthropic,
            json!({ "content": [], "stop_reason": "refusal",
            "stop_details": { "type": "refusal", "category": "cyber", "explanation": "Harm." } }),
            Refused,
            "Harm.",
        ),
        (
            Anthropic,
            json!({ "content": [], "stop_reason": "refusal", "stop_details": null }),
            Refused,
            "refusal",
        ),
        (
            Anthropic,
            json!({ "content": [{ "type": "thinking", "thinking": "hm" }], "stop_reason": "max_tokens" }),
            Truncated,
            "cut off",
        ),
        (Anthropic, json!({ "content": [], "stop_reason": "end_turn" }), Empty, "without any text"),
        (
            Ollama,
            json!({ "message": { "content": "", "thinking": "hm" }, "done_reason": "length" }),
            Truncated,
            "cut off",
        ),
        (Ollama, json!({ "message": { "content": "" }, "done_reason": "load" }), Empty, "without any text"),
    ] {
        let failure = read(provider, &body).unwrap_err();
        assert_eq!((failure.kind, failure.retryable), (kind, kind == Empty), "{body}");
        assert!(failure.message.contains(said), "{}", failure.message);
        assert_eq!(failure.status, Some(200));
    }
}

#[test]
fn a_reply_that_was_cut_off_is_kept_and_marked() {
    use Provider::*;
    for (provider, body) in [
        (
            Gemini,
            json!({ "candidates": [{ "content": { "parts": [{ "text": "half" }] }, "finishReason": "MAX_TOKENS" }] }),
        ),
        (OpenAiChat, json!({ "choices": [{ "message": { "content": "half" }, "finish_reason": "length" }] })),
        (
            OpenAiResponses,
            json!({ "incomplete_details": { "reason": "max_output_tokens" },
            "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "half" }] }] }),
        ),
        (Anthropic, json!({ "content": [{ "type": "text", "text": "half" }], "stop_reason": "max_tokens" })),
        (Ollama, json!({ "message": { "content": "half" }, "done_reason": "length" })),
    ] {
        let reply = read(provider, &body).unwrap();
        assert_eq!((reply.text.as_str(), reply.truncated), ("half", true));
    }
}
