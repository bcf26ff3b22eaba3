//! Ollama's chat, `POST /api/chat`, in one piece rather than streamed.
//!
//! Source: <https://docs.ollama.com/api/chat>, and what `ollama` sends.

use super::config::{Entries, Settings};
use super::{Answer, Protocol, Request, Usage, messages, model_at, text_at, tokens, without_thoughts};
use crate::model::json::Json;

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "ollama",
    label: "Ollama",
    keys: "OLLAMA_API_KEY",
    unreachable: "Start Ollama with this page's origin in OLLAMA_ORIGINS, as in `OLLAMA_ORIGINS=https://example.com ollama \
                  serve`; a page served over https may in some browsers not ask 127.0.0.1 at all",
    not_found: "`ollama pull` fetches a model; `ollama list` shows those that are there",
    url: |endpoint, _| [&endpoint.base("http://127.0.0.1:11434", "api"), "/chat"].concat(),
    body,
    read,
};

fn body(request: &Request<'_>, model: &str, settings: &mut Settings) -> String {
    let mut body = Entries::default();
    body.text("model", model);
    body.json("messages", &messages(&settings.system, request.prompt));
    body.append(&settings.top);
    if let Some(schema) = request.response_schema {
        body.json("format", schema);
    }
    if !settings.nested.is_empty() {
        body.json("options", &settings.nested.object());
    }
    body.json("stream", "false");
    body.object()
}

fn read(body: Json<'_>) -> Option<Answer> {
    // Thoughts stand beside the content.
    Some(Answer {
        text: without_thoughts(text_at(body.get("message")?, "content")),
        truncated: text_at(body, "done_reason") == "length",
        usage: Usage {
            input: tokens(Some(body), &["prompt_eval_count"]),
            output: tokens(Some(body), &["eval_count"]),
            total: None,
        },
        model_version: model_at(body, "model"),
        ..Answer::default()
    })
}
