//! The protocols of the judges' providers, without I/O: questions become HTTP requests, and answers become
//! replies or failures.
//!
//! Each provider is one file with a `Protocol`: its URL, the body of a request, the format of a reply.
//!
//! - `endpoint`: what all providers share — headers, reading answers, refusals, empty and truncated replies.
//! - `exchange`: one question with its raw outcome, secrets redacted (`redact`).
//! - `config`: the table that maps the parameters of `judge_model_config`.
//! - `failure`, `retry_after`: the meaning of failures, and when to retry.
//! - `vertex_evaluate`: Vertex AI's evaluation service, which is not a model.
//! - `tokens`: control tokens of chat templates in judged text.
//!
//! ```
//! use adk_metrics::judge::provider::{Endpoint, HttpReply, Provider, Request};
//!
//! let mut endpoint = Endpoint::new(Provider::OpenAiChat);
//! endpoint.api_key = Some("sk-…".into());
//!
//! let request = Request { model: "gpt-6-luna", prompt: "Is it valid?", ..Request::default() };
//! let http = endpoint.render(&request).unwrap();
//! assert_eq!(http.url, "https://api.openai.com/v1/chat/completions");
//! assert_eq!(http.body, r#"{"model":"gpt-6-luna","messages":[{"role":"user","content":"Is it valid?"}]}"#);
//!
//! let body = r#"{"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}"#;
//! let reply = endpoint.read(&HttpReply { status: 200, body, ..HttpReply::default() }).unwrap();
//! assert_eq!(reply.text, "Yes.");
//! ```

mod anthropic;
mod config;
mod endpoint;
mod exchange;
mod failure;
mod gemini;
mod json_path;
mod message;
mod ollama;
mod openai_chat;
mod openai_responses;
mod redact;
mod retired;
mod retry_after;
mod tokens;
mod vertex;
pub mod vertex_evaluate;

use super::reply::scan::find;
use crate::foundation::json::Json;
use crate::foundation::write::ObjectBuilder;
#[cfg(feature = "schema")]
pub(crate) use config::Type as ParameterType;
use config::{MappedSettings, ParameterNames};
pub(crate) use config::{THINKING, is_name, is_parameter, parameters};
pub use endpoint::Endpoint;
pub use exchange::{HostAnswer, HostFailure, Query};
pub use failure::{Failure, FailureKind, advice};
#[cfg(feature = "schema")]
pub(crate) use failure::{kind_from_status, may_pass};
pub use message::{HttpReply, HttpRequest, REPLY_HEADERS, Reply, Request, TokenCounts};
pub use redact::redact;

/// A provider's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// The Gemini API of Google AI Studio: `generateContent`.
    Gemini,
    /// Vertex AI (Gemini Enterprise Agent Platform): `generateContent`.
    Vertex,
    /// OpenAI's chat completions, and every server compatible with it.
    OpenAiChat,
    /// OpenAI's responses.
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Ollama's `/api/chat`.
    Ollama,
}

/// What defines a provider: data and three pure functions.
struct Protocol {
    /// The name in code and configs.
    name: &'static str,
    /// The name in messages.
    label: &'static str,
    /// The settings that messages ask users to set.
    keys: &'static str,
    /// What the package knows without asking the engine.
    #[cfg(feature = "schema")]
    manifest: ProviderManifest,
    /// Its names for model parameters.
    parameters: ParameterNames,
    /// Why a web page may get no answer, and what to do about it.
    unreachable: &'static str,
    /// What to do if the model is not found.
    not_found: &'static str,
    /// The URL for a model.
    url: fn(&Endpoint, &str) -> String,
    /// The request body for a model.
    body: fn(&Request<'_>, &str, &mut MappedSettings) -> String,
    /// Where a reply has the values that every provider reports.
    paths: ReplyPaths,
    /// Reads the text, and refusals within it.
    read: fn(Json<'_>, &mut DraftReply),
}

/// What the package knows of a provider without asking the engine. The WebAssembly does not carry it.
#[cfg(feature = "schema")]
#[derive(Clone, Copy)]
struct ProviderManifest {
    /// The environment variables for keys, as the provider's own clients read them, in order of precedence.
    keys: &'static [&'static str],
    /// The environment variable for the URL.
    address: &'static str,
    /// A JavaScript regular expression for the names of its models; empty if names do not identify it.
    models: &'static str,
    /// One for the names of models that it surely does not have at its own address; empty if it may have any.
    foreign: &'static str,
    /// How forms ask for the judge's options; no form offers the provider if this is empty.
    form: &'static [FormField],
    /// What the form calls the provider.
    title: &'static str,
    /// Sets of options. Users have to give one of the sets.
    needed: &'static [&'static [&'static str]],
    /// What forms say if none is.
    missing: &'static str,
}

#[cfg(feature = "schema")]
impl ProviderManifest {
    /// A provider that no setting identifies and no form offers.
    const EMPTY: Self = Self {
        keys: &[],
        address: "",
        models: "",
        foreign: "",
        form: &[],
        title: "",
        needed: &[],
        missing: "",
    };
}

/// What forms say of the model that is asked at Google's.
#[cfg(feature = "schema")]
const DEFAULT_MODEL: &str = "Empty: the one that the config names, else gemini-2.5-flash; from 1 December 2026, the Gemini API answers with another model in its place.";

/// How a form asks for an option of a judge.
#[cfg(feature = "schema")]
#[derive(Clone, Copy)]
struct FormField {
    option: &'static str,
    label: &'static str,
    placeholder: &'static str,
    hint: &'static str,
    /// Its values and their names, if only these are possible; the first is the default.
    choices: &'static [(&'static str, &'static str)],
    is_secret: bool,
}

#[cfg(feature = "schema")]
impl FormField {
    const fn new(option: &'static str, label: &'static str) -> Self {
        Self { option, label, placeholder: "", hint: "", choices: &[], is_secret: false }
    }

    const fn placeholder(self, placeholder: &'static str) -> Self {
        Self { placeholder, ..self }
    }

    /// A key or a token, which is shown and stored by nobody who was not asked to.
    const fn secret(option: &'static str, label: &'static str) -> Self {
        Self { is_secret: true, ..Self::new(option, label) }
    }

    const fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }
}

/// Paths in a reply, as for `json_path::get`.
struct ReplyPaths {
    /// A body without any of these is not in the provider's format.
    own: &'static [&'static str],
    /// The stop reason.
    stop: &'static str,
    /// A string here is a refusal.
    refusal: &'static str,
    /// Further explanations of a refusal.
    why: &'static [&'static str],
    usage: UsagePaths,
    /// The model's own name.
    model: &'static str,
}

/// Paths of token counts; those of several paths are added up.
#[derive(Clone, Copy)]
struct UsagePaths {
    input: &'static [&'static str],
    output: &'static [&'static str],
    total: &'static [&'static str],
}

/// The contents of a body before they are checked.
#[derive(Default)]
struct DraftReply {
    text: String,
    /// What the model or a filter says instead of a reply.
    refusal: String,
}

impl Provider {
    /// Every provider, in the order of the enum.
    pub const ALL: [Self; 6] =
        [Self::Gemini, Self::Vertex, Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Ollama];

    /// Finds a provider by name: `gemini`, `vertex`, `openai` (chat completions), `openai-responses`,
    /// `anthropic`, `ollama`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// The name in code and configs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.protocol().name
    }

    /// The name in messages.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.protocol().label
    }

    /// What the package knows of the provider without asking the engine.
    #[cfg(feature = "schema")]
    pub(crate) fn manifest(self) -> serde_json::Value {
        let Protocol { name, label, manifest, .. } = self.protocol();
        let ProviderManifest { keys, address, models, foreign, form, title, needed, missing } = manifest;
        let field = |field: &FormField| {
            let FormField { option, label, placeholder, hint, choices, is_secret } = field;
            serde_json::json!({
                "option": option, "label": label, "placeholder": placeholder, "hint": hint, "choices": choices,
                "isSecret": is_secret,
            })
        };
        serde_json::json!({
            "name": name, "label": label, "keys": keys, "address": address, "models": models,
            "foreign": foreign, "origin": Endpoint::new(self).origin(),
            "form": {
                "title": title, "needed": needed, "missing": missing,
                "hasDefaultModel": self.is_gemini(),
                "fields": form.iter().map(field).collect::<Vec<_>>(),
            },
        })
    }

    /// Whether the protocol is Gemini's `generateContent`.
    fn is_gemini(self) -> bool {
        matches!(self, Self::Gemini | Self::Vertex)
    }

    fn protocol(self) -> &'static Protocol {
        match self {
            Self::Gemini => &gemini::PROTOCOL,
            Self::Vertex => &vertex::PROTOCOL,
            Self::OpenAiChat => &openai_chat::PROTOCOL,
            Self::OpenAiResponses => &openai_responses::PROTOCOL,
            Self::Anthropic => &anthropic::PROTOCOL,
            Self::Ollama => &ollama::PROTOCOL,
        }
    }
}

/// Appends a path segment, escaping characters that would end or change the path.
fn escape(text: &str, path: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' | b'@' => {
                path.push(char::from(byte));
            }
            _ => {
                path.push('%');
                for digit in [byte >> 4, byte & 15] {
                    path.push(char::from(if digit < 10 { b'0' + digit } else { b'A' - 10 + digit }));
                }
            }
        }
    }
}

/// The messages of a chat: the system prompt, if it belongs there, and the question.
fn messages(system: &str, prompt: &str) -> Vec<ObjectBuilder> {
    let mut messages = Vec::new();
    for (role, content) in [("system", system), ("user", prompt)] {
        if role == "user" || !content.is_empty() {
            messages.push(ObjectBuilder::default().with("role", &role).with("content", &content));
        }
    }
    messages
}

/// The prompt for servers that may interpret control tokens of chat templates: each token is broken.
#[must_use]
pub fn without_tokens(prompt: &str) -> String {
    tokens::broken(prompt).unwrap_or_else(|| prompt.to_owned())
}

/// A reply to such a prompt, with quoted tokens restored.
#[must_use]
pub fn with_tokens(reply: String) -> String {
    tokens::mended(reply)
}

/// The text without the thoughts that some servers put before it.
fn without_thoughts(text: String) -> String {
    const END: &str = "</think>";
    let trimmed = text.trim();
    let end = if trimmed.starts_with("<think>") { find(trimmed, END, 0) } else { None };
    match end.and_then(|end| trimmed.get(end + END.len()..)) {
        Some(said) => said.trim().to_owned(),
        None => text,
    }
}
