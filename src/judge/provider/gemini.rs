//! The Gemini API: `POST /v1/models/{model}:generateContent`.
//!
//! Source: <https://ai.google.dev/api/generate-content>, and what `@google/genai` sends. The key is sent as a
//! header, never in the URL. Vertex AI uses the same body with another URL.

use super::config::{MappedSettings, ParameterNames};
use super::json_path::{for_each, get, is_true, string};
#[cfg(feature = "schema")]
use super::{DEFAULT_MODEL, FormField, ProviderManifest};
use super::{DraftReply, Endpoint, Protocol, ReplyPaths, Request, UsagePaths, escape};
use crate::foundation::json::Json;
use crate::foundation::write::{ObjectBuilder, Raw};

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "gemini",
    label: "Gemini",
    keys: "GOOGLE_API_KEY or GEMINI_API_KEY",
    #[cfg(feature = "schema")]
    manifest: ProviderManifest {
        keys: &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        address: "GOOGLE_GEMINI_BASE_URL",
        models: "^(?:gemini|gemma|learnlm)-",
        foreign: "^(?:gpt|claude)[-/]",
        title: "Gemini",
        form: &[
            FormField::new("model", "Model").placeholder("gemini-3.5-flash-lite").hint(DEFAULT_MODEL),
            FormField::secret("apiKey", "Key")
                .hint("From aistudio.google.com/apikey. It is sent to Google alone."),
            FormField::new("baseUrl", "Another address")
                .placeholder("https://generativelanguage.googleapis.com"),
        ],
        needed: &[&["apiKey"]],
        missing: "The key is missing.",
    },
    parameters: ParameterNames::Google,
    unreachable: "Gemini answers pages: look for a network that is down, a blocker or a content security policy",
    not_found: "Check the name of the model",
    url,
    body,
    paths: REPLY_PATHS,
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

pub(super) fn body(request: &Request<'_>, _model: &str, settings: &mut MappedSettings) -> String {
    if let Some(schema) = request.response_schema {
        settings.nested.add("responseMimeType", &"application/json");
        settings.nested.add("responseJsonSchema", &Raw(schema));
    }
    let mut body = ObjectBuilder::default().with("contents", &[content("user", request.prompt)]);
    if !settings.system.is_empty() {
        body.add("systemInstruction", &content("user", &settings.system));
    }
    body.append(std::mem::take(&mut settings.top));
    if !settings.nested.is_empty() {
        body.add("generationConfig", &settings.nested);
    }
    body.to_json()
}

/// A content with one text; without a role if that is empty.
pub(super) fn content(role: &str, text: &str) -> ObjectBuilder {
    let content = ObjectBuilder::default().with("parts", &[ObjectBuilder::default().with("text", &text)]);
    if role.is_empty() { content } else { content.with("role", &role) }
}

pub(super) const REPLY_PATHS: ReplyPaths = ReplyPaths {
    // A blocked prompt has no candidates, and neither has a lost reply.
    own: &["candidates", "promptFeedback", "usageMetadata", "responseId"],
    stop: "candidates/0/finishReason",
    refusal: "promptFeedback/blockReason",
    why: &["promptFeedback/blockReasonMessage", "candidates/0/finishMessage"],
    usage: UsagePaths {
        input: &["usageMetadata/promptTokenCount", "usageMetadata/toolUsePromptTokenCount"],
        output: &["usageMetadata/candidatesTokenCount", "usageMetadata/thoughtsTokenCount"],
        total: &["usageMetadata/totalTokenCount"],
    },
    model: "modelVersion",
};

pub(super) fn read(body: Json<'_>, answer: &mut DraftReply) {
    if get(body, REPLY_PATHS.refusal).is_some() {
        answer.refusal.push_str("the prompt was blocked, ");
    }
    for_each(body, "candidates/0/content/parts", &mut |part| {
        let said = string(part, "text");
        if !said.is_empty() && !is_true(part, "thought") {
            // Parts are joined as google-adk joins them.
            if !answer.text.is_empty() {
                answer.text.push('\n');
            }
            answer.text.push_str(&said);
        }
    });
}
