//! OpenAI's responses, `POST /responses`.
//!
//! Source: <https://platform.openai.com/docs/api-reference/responses>, and what `openai` sends.

use super::config::{Entries, Settings};
use super::openai_chat::{NOT_FOUND, UNREACHABLE, url};
use super::{Answer, Protocol, Request, Usage, model_at, text_at, tokens};
use crate::model::json::Json;

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "openai-responses",
    label: "OpenAI",
    keys: "OPENAI_API_KEY",
    unreachable: UNREACHABLE,
    not_found: NOT_FOUND,
    url: |endpoint, _| url(endpoint, "/responses"),
    body,
    read,
};

fn body(request: &Request<'_>, model: &str, settings: &mut Settings) -> String {
    let mut body = Entries::default();
    body.text("model", model);
    if !settings.system.is_empty() {
        body.text("instructions", &settings.system);
    }
    body.text("input", request.prompt);
    // Judgements need not be kept by the provider, as they are unless one says so.
    body.json("store", "false");
    body.append(&settings.top);
    if let Some(schema) = request.response_schema {
        let format =
            [r#"{"format":{"type":"json_schema","name":"reply","strict":true,"schema":"#, schema, "}}"];
        body.json("text", &format.concat());
    }
    body.object()
}

fn read(body: Json<'_>) -> Option<Answer> {
    let usage = body.get("usage");
    let mut answer = Answer {
        usage: Usage {
            input: tokens(usage, &["input_tokens"]),
            output: tokens(usage, &["output_tokens"]),
            total: tokens(usage, &["total_tokens"]),
        },
        model_version: model_at(body, "model"),
        ..Answer::default()
    };
    // Items of other types are reasoning and tool calls.
    for item in body.get("output")?.items() {
        let Some(content) = item.get("content").filter(|_| text_at(item, "type") == "message") else {
            continue;
        };
        for part in content.items() {
            if text_at(part, "type") == "refusal" {
                answer.refusal = Some(text_at(part, "refusal"));
            } else {
                answer.text.push_str(&text_at(part, "text"));
            }
        }
    }
    match text_at(body.get("incomplete_details").unwrap_or(body), "reason").as_str() {
        "max_output_tokens" => answer.truncated = true,
        "content_filter" => answer.refusal = Some("content_filter".into()),
        _ => {}
    }
    Some(answer)
}
