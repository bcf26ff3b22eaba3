//! Requests and replies independent of a provider.

use crate::foundation::json::Json;

/// The response headers that [`Endpoint::read`](super::Endpoint::read) reads. A host need not pass others.
pub const REPLY_HEADERS: [&str; 4] = ["retry-after", "retry-after-ms", "date", "x-should-retry"];

/// A question for a model, independent of the provider.
#[derive(Clone, Copy, Default)]
pub struct Request<'r> {
    /// The model to ask, unless the endpoint has one of its own.
    pub model: &'r str,
    /// The system prompt.
    pub system: Option<&'r str>,
    /// The question.
    pub prompt: &'r str,
    /// The JSON Schema of the reply, as JSON text. All providers support `type`, `properties`, `required` with
    /// all properties, `additionalProperties: false`, `items` and `enum`.
    pub response_schema: Option<&'r str>,
    /// `judge_model_config`: an object with the names of Gemini's `GenerateContentConfig`, in either spelling.
    pub config: Option<Json<'r>>,
}

/// An HTTP request ready to send. The method is always `POST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The complete URL. It contains no key.
    pub url: String,
    /// Names and values. Names are in lower case, except where the user wrote them otherwise.
    pub headers: Vec<(String, String)>,
    /// JSON.
    pub body: String,
    /// Whether the header `authorization: Bearer …` is missing. The host adds it with a fresh access token.
    pub needs_token: bool,
}

/// An HTTP response.
#[derive(Clone, Copy, Default)]
pub struct HttpReply<'r> {
    /// The HTTP status.
    pub status: u16,
    /// Names in any case, and values. Those in [`REPLY_HEADERS`] suffice.
    pub headers: &'r [(String, String)],
    /// The body as text.
    pub body: &'r str,
    /// The current time in milliseconds since 1970, used if a date is given without the server's clock.
    pub now_ms: Option<f64>,
}

impl HttpReply<'_> {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }
}

/// A model's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The text; never empty, without thoughts.
    pub text: String,
    /// The tokens used.
    pub usage: TokenCounts,
    /// The model that replied, by its own account.
    pub model_version: Option<String>,
    /// Whether the reply was cut off at a token limit.
    pub truncated: bool,
}

/// The tokens of one call, as far as the provider reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Input tokens, cached ones included.
    pub input: Option<u64>,
    /// Output tokens, thoughts included.
    pub output: Option<u64>,
    /// The total as reported by the provider.
    pub total: Option<u64>,
}
