//! The protocols of the judges' providers, without I/O: a question becomes an HTTP request, and the
//! answer to it a reply or a failure.
//!
//! One file a provider; each is a `Protocol`: where it is, how a request is written, what a reply
//! looks like. What they share is here: headers, the order in which an answer is read, and what
//! becomes of refusals, empty and truncated replies. The parameters of `judge_model_config` are
//! mapped by one table (`config.rs`); what failures mean is in `failure.rs`.
//!
//! ```
//! use adk_metrics::judge::provider::{Endpoint, HttpReply, Provider, Request};
//!
//! let mut endpoint = Endpoint::new(Provider::OpenAiChat);
//! endpoint.api_key = Some("sk-…".into());
//!
//! let request = Request { model: "gpt-5", prompt: "Is it valid?", ..Request::default() };
//! let http = endpoint.render(&request).unwrap();
//! assert_eq!(http.url, "https://api.openai.com/v1/chat/completions");
//! assert_eq!(http.body, r#"{"model":"gpt-5","messages":[{"role":"user","content":"Is it valid?"}]}"#);
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
use config::{Entries, Names, Settings};
pub(crate) use config::{is_name, parameters};
pub use endpoint::Endpoint;
pub use exchange::{HostAnswer, HostFailure, Query};
pub use failure::{Failure, FailureKind, advice};
pub use message::{HttpReply, HttpRequest, REPLY_HEADERS, Reply, Request, Usage};
pub use redact::redact;

/// Whose protocol is spoken.
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

/// What makes a provider: data and three pure functions.
struct Protocol {
    /// The name users write.
    name: &'static str,
    /// The name users read.
    label: &'static str,
    /// What has to be set, for messages.
    keys: &'static str,
    /// Its environment variables.
    #[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "the manifest has them"))]
    variables: Variables,
    /// Matches the names of its models, as a regular expression of JavaScript; empty where names do not tell.
    #[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "the manifest has them"))]
    models: &'static str,
    /// How it calls the parameters of models.
    parameters: Names,
    /// Why a page may be without an answer, and what to do.
    unreachable: &'static str,
    /// What to do when the model is not found.
    not_found: &'static str,
    /// The address for a model.
    url: fn(&Endpoint, &str) -> String,
    /// The body for a model.
    body: fn(&Request<'_>, &str, &mut Settings) -> String,
    /// Where a reply has what every provider tells.
    paths: ReplyPaths,
    /// Reads the text, and refusals that stand within it.
    read: fn(Json<'_>, &mut Draft),
}

/// Environment variables, as the provider's own clients read them.
#[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "the manifest has them"))]
struct Variables {
    /// Those of keys, in the order in which they are looked for.
    keys: &'static [&'static str],
    /// That of the address.
    address: &'static str,
}

/// Paths into a reply, as `json_path::get` takes them.
struct ReplyPaths {
    /// A body that has none of these is not the provider's.
    own: &'static [&'static str],
    /// Why the model stopped.
    stop: &'static str,
    /// A text here is a refusal.
    refusal: &'static str,
    /// Why it refused, in more words.
    why: &'static [&'static str],
    /// Tokens in, out, and in all.
    usage: [&'static [&'static str]; 3],
    /// What the model calls itself.
    model: &'static str,
}

/// What a body says, before it is judged.
#[derive(Default)]
struct Draft {
    text: String,
    /// What the model or the filter says instead of a proper text.
    refusal: String,
}

impl Provider {
    /// Every provider, in the order of the enum.
    pub const ALL: [Self; 6] =
        [Self::Gemini, Self::Vertex, Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Ollama];

    /// The provider with a name: `gemini`, `vertex`, `openai` (chat completions), `openai-responses`,
    /// `anthropic`, `ollama`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.name() == name)
    }

    /// The name users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.protocol().name
    }

    /// The name users read.
    #[must_use]
    pub fn label(self) -> &'static str {
        self.protocol().label
    }

    /// What the package knows of the provider without asking the engine.
    #[cfg(feature = "schema")]
    pub(crate) fn manifest(self) -> serde_json::Value {
        let Protocol { name, label, variables, models, url, .. } = self.protocol();
        let address = url(&Endpoint::new(self), "model");
        let origin: Vec<_> = address.splitn(4, '/').take(3).collect();
        serde_json::json!({
            "name": name, "label": label, "keys": variables.keys, "address": variables.address,
            "models": models, "origin": origin.join("/"),
        })
    }

    /// Whether the protocol is Gemini's `generateContent`.
    fn is_gemini(self) -> bool {
        matches!(self, Self::Gemini | Self::Vertex)
    }

    #[inline(never)]
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

/// Part of a path, with what would end the path or change it escaped.
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

/// The messages of a chat: the system prompt, where it stands among them, and the question.
fn messages(system: &str, prompt: &str) -> String {
    let mut messages = String::from("[");
    for (role, content) in [("system", system), ("user", prompt)] {
        if role == "user" || !content.is_empty() {
            let mut message = Entries::default();
            message.string("role", role);
            message.string("content", content);
            messages.push_str(if messages.len() > 1 { "," } else { "" });
            messages.push_str(&message.object());
        }
    }
    messages.push(']');
    messages
}

/// A prompt as servers get it that may read control tokens of chat templates in it: each is broken up.
#[must_use]
pub fn without_tokens(prompt: &str) -> String {
    tokens::broken(prompt).unwrap_or_else(|| prompt.to_owned())
}

/// A reply to such a prompt, with the tokens that it quotes as they were.
#[must_use]
pub fn with_tokens(reply: String) -> String {
    tokens::mended(reply)
}

/// A text without the thoughts that some servers write before it.
fn without_thoughts(text: String) -> String {
    const END: &str = "</think>";
    let trimmed = text.trim();
    let end = if trimmed.starts_with("<think>") { find(trimmed, END, 0) } else { None };
    match end.and_then(|end| trimmed.get(end + END.len()..)) {
        Some(said) => said.trim().to_owned(),
        None => text,
    }
}
