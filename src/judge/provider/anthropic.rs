//! Anthropic's messages, `POST /v1/messages`.
//!
//! Source: <https://platform.claude.com/docs/en/api/messages>, and what `@anthropic-ai/sdk` sends. Since
//! the API version 2026-10-21 temperature and its like are refused, and the key is sent as a bearer
//! token; a user who sets the header `anthropic-version` to the older one gets its parameters and
//! headers.

use super::config::{Entries, Settings};
use super::{Answer, Protocol, Request, Usage, messages, model_at, text_at, tokens};
use crate::model::json::Json;

/// The API version these requests are written for.
pub(super) const VERSION: &str = "2026-10-21";
/// The version before.
pub(super) const OLDER_VERSION: &str = "2023-06-01";
/// Anthropic wants a limit; no judgement is longer.
const MAX_TOKENS: u64 = 8192;

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "anthropic",
    label: "Anthropic",
    keys: "ANTHROPIC_API_KEY",
    unreachable: "There is no network, or the server did not allow this page's origin. Anthropic allows every origin \
                  unless the organisation forbids it; a server at `baseUrl` has to allow the headers `authorization`, \
                  `content-type`, `anthropic-version` and `anthropic-dangerous-direct-browser-access`",
    not_found: "Check the name of the model",
    url: |endpoint, _| [&endpoint.base("https://api.anthropic.com", "v1"), "/messages"].concat(),
    body,
    read,
};

fn body(request: &Request<'_>, model: &str, settings: &mut Settings) -> String {
    let mut body = Entries::default();
    body.text("model", model);
    if !settings.system.is_empty() {
        body.text("system", &settings.system);
    }
    body.json("messages", &messages("", request.prompt));
    if !settings.limited {
        body.json("max_tokens", &MAX_TOKENS.saturating_add(settings.thinking_budget).to_string());
    }
    body.append(&settings.top);
    let mut output = Entries::default();
    if !settings.effort.is_empty() {
        output.text("effort", settings.effort);
    }
    if let Some(schema) = request.response_schema {
        output.json("format", &[r#"{"type":"json_schema","schema":"#, schema, "}"].concat());
    }
    if !output.is_empty() {
        body.json("output_config", &output.object());
    }
    body.object()
}

fn read(body: Json<'_>) -> Option<Answer> {
    let usage = body.get("usage");
    let mut answer = Answer {
        usage: Usage {
            input: tokens(usage, &["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]),
            output: tokens(usage, &["output_tokens"]),
            total: None,
        },
        model_version: model_at(body, "model"),
        ..Answer::default()
    };
    // Blocks of other types are thoughts.
    for block in body.get("content")?.items() {
        if text_at(block, "type") == "text" {
            answer.text.push_str(&text_at(block, "text"));
        }
    }
    match text_at(body, "stop_reason").as_str() {
        "refusal" => {
            let details = body.get("stop_details");
            let said =
                |key: &str| details.map(|details| text_at(details, key)).filter(|text| !text.is_empty());
            answer.refusal = said("explanation").or_else(|| said("category")).or(Some("refusal".into()));
        }
        "max_tokens" | "model_context_window_exceeded" => answer.truncated = true,
        _ => {}
    }
    Some(answer)
}
