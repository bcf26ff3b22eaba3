//! OpenAI's chat completions, `POST /chat/completions`, which most other servers speak as well.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat>, and what `openai` sends.

use super::config::{Entries, Settings};
use super::{
    Answer, Endpoint, Protocol, Request, Usage, messages, model_at, text_at, tokens, without_thoughts,
};
use crate::model::json::Json;

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "openai",
    label: "OpenAI",
    keys: "OPENAI_API_KEY",
    unreachable: UNREACHABLE,
    not_found: NOT_FOUND,
    url: |endpoint, _| url(endpoint, "/chat/completions"),
    body,
    read,
};

pub(super) const UNREACHABLE: &str = "The server did not allow this page's origin, or there is no network. A compatible server has to send \
     `Access-Control-Allow-Origin` and allow the headers `authorization` and `content-type`; otherwise ask \
     from a server of your own and set `baseUrl` to that, which also keeps the key out of the page";
pub(super) const NOT_FOUND: &str =
    "Check the name of the model, and that `baseUrl` ends with the version, as in http://127.0.0.1:8000/v1";

pub(super) fn url(endpoint: &Endpoint, path: &str) -> String {
    [&endpoint.base("https://api.openai.com/v1", ""), path].concat()
}

fn body(request: &Request<'_>, model: &str, settings: &mut Settings) -> String {
    let mut body = Entries::default();
    body.text("model", model);
    body.json("messages", &messages(&settings.system, request.prompt));
    body.append(&settings.top);
    if let Some(schema) = request.response_schema {
        let format =
            [r#"{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":"#, schema, "}}"];
        body.json("response_format", &format.concat());
    }
    body.object()
}

fn read(body: Json<'_>) -> Option<Answer> {
    let usage = body.get("usage");
    let mut answer = Answer {
        usage: Usage {
            input: tokens(usage, &["prompt_tokens"]),
            output: tokens(usage, &["completion_tokens"]),
            total: tokens(usage, &["total_tokens"]),
        },
        model_version: model_at(body, "model"),
        ..Answer::default()
    };
    let Some(choice) = body.get("choices")?.items().next() else { return Some(answer) };
    let message = choice.get("message")?;
    if let Some(content) = message.get("content") {
        match content.as_str() {
            Some(text) => answer.text = without_thoughts(text.into_owned()),
            // Some servers write a list, with thoughts as parts of another type.
            None => {
                for part in content.items() {
                    answer.text.push_str(&text_at(part, "text"));
                }
            }
        }
    }
    let refusal = text_at(message, "refusal");
    match text_at(choice, "finish_reason").as_str() {
        _ if !refusal.is_empty() => answer.refusal = Some(refusal),
        "content_filter" => answer.refusal = Some("content_filter".into()),
        "length" => answer.truncated = true,
        _ => {}
    }
    Some(answer)
}
