//! What goes to a provider and what comes back, in no provider's words. Apart, because hosts need these and nothing
//! else of this folder.

use crate::foundation::json::Json;

/// The headers of an answer that [`Endpoint::read`](super::Endpoint::read) looks at; a host needs to hand over no others.
pub const REPLY_HEADERS: [&str; 4] = ["retry-after", "retry-after-ms", "date", "x-should-retry"];

/// A question for a model, in no provider's words.
#[derive(Clone, Copy, Default)]
pub struct Request<'r> {
    /// The model to ask, unless the endpoint has one of its own.
    pub model: &'r str,
    /// The system prompt.
    pub system: Option<&'r str>,
    /// The question.
    pub prompt: &'r str,
    /// The JSON Schema of the reply, as JSON text. What every provider takes is `type`, `properties`,
    /// `required` with all properties, `additionalProperties: false`, `items` and `enum`.
    pub response_schema: Option<&'r str>,
    /// `judge_model_config`: an object with the names of Gemini's `GenerateContentConfig` in either
    /// spelling.
    pub config: Option<Json<'r>>,
}

/// A request ready to send, always with `POST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The whole address. It holds no key.
    pub url: String,
    /// Names in lower case, except where the user wrote them otherwise, and values.
    pub headers: Vec<(String, String)>,
    /// JSON.
    pub body: String,
    /// Whether the header `authorization: Bearer …` is missing, with the access token that the host gets for each request.
    pub needs_token: bool,
}

/// An answer as it arrived.
#[derive(Clone, Copy, Default)]
pub struct HttpReply<'r> {
    /// The HTTP status.
    pub status: u16,
    /// Names in any case and values; those in [`REPLY_HEADERS`] suffice.
    pub headers: &'r [(String, String)],
    /// The body as text.
    pub body: &'r str,
    /// The time in milliseconds since 1970, used where a date is told without the server's clock.
    pub now_ms: Option<f64>,
}

impl HttpReply<'_> {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }
}

/// What a model replied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The text, never empty, without thoughts.
    pub text: String,
    /// What it cost.
    pub usage: Usage,
    /// The model that replied, as it calls itself.
    pub model_version: Option<String>,
    /// Whether the reply was cut off, because a limit of tokens was reached.
    pub truncated: bool,
}

/// Tokens of one call, as far as the provider tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input: Option<u64>,
    /// Tokens written, thoughts included.
    pub output: Option<u64>,
    /// The provider's own total.
    pub total: Option<u64>,
}
