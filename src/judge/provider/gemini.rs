//! The Gemini API: `POST /v1/models/{model}:generateContent`.
//!
//! Source: <https://ai.google.dev/api/generate-content>, and what `@google/genai` sends. The key goes
//! into a header, never into the address. Vertex AI has the same body at another address.

use super::config::{Entries, Settings};
use super::{Answer, Endpoint, Protocol, Request, Usage, escape, model_at, text_at, tokens};
use crate::model::json::Json;

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "gemini",
    label: "Gemini",
    keys: "GOOGLE_API_KEY or GEMINI_API_KEY",
    unreachable: "Gemini answers web pages, so look for a network that is down, a blocker, a content security policy, \
                  or a server at `baseUrl` that does not allow this page's origin",
    not_found: "Check the name of the model and whether this key may use it",
    url,
    body,
    read,
};

fn url(endpoint: &Endpoint, model: &str) -> String {
    let mut url = endpoint.base("https://generativelanguage.googleapis.com", "v1");
    let whole = model.starts_with("models/") || model.starts_with("tunedModels/");
    url.push_str(if whole { "/" } else { "/models/" });
    escape(model, &mut url);
    url.push_str(":generateContent");
    url
}

pub(super) fn body(request: &Request<'_>, _model: &str, settings: &mut Settings) -> String {
    if let Some(schema) = request.response_schema {
        settings.nested.text("responseMimeType", "application/json");
        settings.nested.json("responseJsonSchema", schema);
    }
    let mut body = Entries::default();
    body.json("contents", &["[", &content("user", request.prompt), "]"].concat());
    if !settings.system.is_empty() {
        body.json("systemInstruction", &content("user", &settings.system));
    }
    body.append(&settings.top);
    if !settings.nested.is_empty() {
        body.json("generationConfig", &settings.nested.object());
    }
    body.object()
}

/// A content of one text; without a role if that is empty.
pub(super) fn content(role: &str, text: &str) -> String {
    let mut part = Entries::default();
    part.text("text", text);
    let mut content = Entries::default();
    content.json("parts", &["[", &part.object(), "]"].concat());
    if !role.is_empty() {
        content.text("role", role);
    }
    content.object()
}

pub(super) fn read(body: Json<'_>) -> Option<Answer> {
    let usage = body.get("usageMetadata");
    let mut answer = Answer {
        usage: Usage {
            input: tokens(usage, &["promptTokenCount", "toolUsePromptTokenCount"]),
            output: tokens(usage, &["candidatesTokenCount", "thoughtsTokenCount"]),
            total: tokens(usage, &["totalTokenCount"]),
        },
        model_version: model_at(body, "modelVersion"),
        ..Answer::default()
    };
    let feedback = body.get("promptFeedback");
    let candidates = body.get("candidates");
    let Some(candidate) = candidates.and_then(|candidates| candidates.items().next()) else {
        // A blocked prompt has no candidates, nor has a reply that got lost.
        if let Some(feedback) = feedback {
            let reason = text_at(feedback, "blockReason");
            let message = text_at(feedback, "blockReasonMessage");
            let said = if message.is_empty() { reason } else { [reason, message].join(": ") };
            answer.refusal = (!said.is_empty()).then(|| ["the prompt was blocked, ", &said].concat());
        }
        let known = candidates.or(feedback).or(usage).or_else(|| body.get("responseId"));
        return known.map(|_| answer);
    };
    if let Some(parts) = candidate.get("content").and_then(|content| content.get("parts")) {
        for part in parts.items() {
            let text = text_at(part, "text");
            let thought = part.get("thought").and_then(Json::as_bool).unwrap_or(false);
            if thought || text.is_empty() {
                continue;
            }
            // As google-adk joins the parts of a content.
            if !answer.text.is_empty() {
                answer.text.push('\n');
            }
            answer.text.push_str(&text);
        }
    }
    let reason = text_at(candidate, "finishReason");
    match reason.as_str() {
        "MAX_TOKENS" | "CONTINUATION" => answer.truncated = true,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => {
            let message = text_at(candidate, "finishMessage");
            answer.refusal = Some(if message.is_empty() { reason } else { [reason, message].join(": ") });
        }
        _ => {}
    }
    Some(answer)
}
