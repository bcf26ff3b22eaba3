//! What can go wrong with a call to a judge, what to do about it, and whether asking again may help.
//!
//! A message never holds a key: every text from outside goes through [`redact`] before it is cut to
//! length. O(n) in the text for each secret.

use super::{Endpoint, HttpReply, Provider, is_credential, retry_after};
use crate::model::json::{Document, Json};

/// The longest text of a provider that is repeated in a message, in characters.
const LONGEST: usize = 400;

/// What kind of failure a call ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// There was no answer: no connection, or a browser refused to show the answer to the page.
    Network,
    /// The call took longer than it was given.
    Timeout,
    /// Too many requests or tokens; or the account has no quota left, which is not retryable.
    RateLimited,
    /// The server failed or is overloaded.
    Server,
    /// The key is missing, wrong, or not allowed to do this.
    Auth,
    /// The server does not accept the request.
    BadRequest,
    /// No such model, project or address.
    NotFound,
    /// The model or a filter refused to answer.
    Refused,
    /// The reply has no text.
    Empty,
    /// The reply was cut off before it had any text.
    Truncated,
    /// The reply is not what this provider replies.
    Malformed,
}

impl FailureKind {
    /// The name as it appears in JSON and in JavaScript.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::RateLimited => "rate_limited",
            Self::Server => "server",
            Self::Auth => "auth",
            Self::BadRequest => "bad_request",
            Self::NotFound => "not_found",
            Self::Refused => "refused",
            Self::Empty => "empty",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
        }
    }
}

/// A call that gave no reply, as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, in words, without keys.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Whether asking again may help.
    pub retryable: bool,
    /// How long the server asks to wait, in milliseconds, not negative.
    pub retry_after_ms: Option<f64>,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
}

impl Failure {
    /// A failure with what its kind says about trying again. `message` is redacted, shortened and
    /// follows the provider's name.
    pub(super) fn new(endpoint: &Endpoint, kind: FailureKind, message: &str) -> Self {
        use FailureKind::*;
        Self {
            kind,
            message: [endpoint.provider.label(), " ", &shortened(&redact(endpoint, message))].concat(),
            help: None,
            retryable: matches!(kind, Network | Timeout | RateLimited | Server | Empty | Malformed),
            retry_after_ms: None,
            status: None,
        }
    }

    pub(super) fn with_help(mut self, help: &str) -> Self {
        self.help = Some(help.into());
        self
    }

    /// No answer arrived: `fetch` rejected with `message`.
    ///
    /// In a browser that says nothing about the reason, which is mostly that the server does not
    /// allow pages of this origin; the help says what to do for this provider.
    #[must_use]
    pub fn network(endpoint: &Endpoint, message: &str, in_browser: bool) -> Self {
        let failure = Self::new(endpoint, FailureKind::Network, &["did not answer: ", message].concat());
        let advice = endpoint.provider.protocol().unreachable;
        failure.with_help(match (in_browser, endpoint.provider) {
            (true, Provider::Anthropic) if !endpoint.in_browser => {
                "Anthropic answers pages only if the header `anthropic-dangerous-direct-browser-access: true` \
                 is sent; set it in `headers`"
            }
            (true, _) => advice,
            (false, Provider::Ollama) => {
                "Start it with `ollama serve`, or set `baseUrl` to where it runs \
                 (http://127.0.0.1:11434 is tried)"
            }
            (false, _) => "Check the network, the proxy and `baseUrl`",
        })
    }

    /// What an answer with an error says; nothing if it holds a reply.
    pub(super) fn answered(
        endpoint: &Endpoint,
        reply: &HttpReply<'_>,
        body: Option<Json<'_>>,
    ) -> Option<Self> {
        let ok = (200..300).contains(&reply.status);
        let error = body.and_then(error_of);
        if ok && error.is_none() {
            return None;
        }
        let get = |key: &str| error.and_then(|error| error.get(key));
        let word = |key: &str| get(key).and_then(Json::as_str).unwrap_or_default();
        // Some gateways answer 200 and say in the body what it would have been.
        let told = get("code").and_then(Json::as_number).and_then(|code| code.parse().ok());
        let codes = [word("status"), word("code"), word("type")];
        let has = |code: &str| codes.iter().any(|found| found == code);
        let status = match told {
            _ if !ok => reply.status,
            Some(told @ 400..=599) => told,
            _ if has("rate_limit_exceeded") => 429,
            _ if has("server_error") => 500,
            _ => 400,
        };
        let detail =
            |key: &str| get("details").and_then(|details| details.items().find_map(|item| item.get(key)));

        let mut message = ["answered ", &status.to_string()].concat();
        if let Some(code) = codes.iter().find(|code| !code.is_empty()) {
            message.extend([" ", code]);
        }
        let said = match error {
            Some(error) => error
                .as_str()
                .or_else(|| get("message").and_then(Json::as_str))
                .unwrap_or_else(|| error.raw().into()),
            None => reply.body.into(),
        };
        message.push_str(if said.is_empty() { "" } else { ": " });
        message.push_str(&said);

        use FailureKind::*;
        let exhausted = has("insufficient_quota");
        let bad_key =
            detail("reason").is_some_and(|reason| reason.as_str().is_some_and(|r| r == "API_KEY_INVALID"));
        let kind = match status {
            _ if bad_key => Auth,
            _ if has("content_filter") || has("invalid_prompt") || has("content_policy_violation") => Refused,
            401 | 403 => Auth,
            404 => NotFound,
            408 => Timeout,
            429 => RateLimited,
            500.. => Server,
            _ => BadRequest,
        };
        let mut failure = Self::new(endpoint, kind, &message);
        failure.status = Some(reply.status);
        failure.retryable = match reply.header("x-should-retry") {
            Some("true") => true,
            Some("false") => false,
            _ => {
                matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
                    || status == 529 && endpoint.provider == Provider::Anthropic
            }
        } && !exhausted;
        failure.retry_after_ms =
            retry_after::milliseconds(reply, detail("retryDelay").and_then(Json::as_str).as_deref());
        failure.help = match kind {
            Auth => {
                let keys = endpoint.provider.protocol().keys;
                Some(["Check ", keys, "; it must be allowed to use this model"].concat())
            }
            _ if exhausted => Some("The account has no quota left: waiting does not help".into()),
            NotFound => Some(endpoint.provider.protocol().not_found.into()),
            BadRequest => get("param").and_then(Json::as_str).map(|param| {
                ["The model does not take `", &param, "` as it was given: see judge_model_config"].concat()
            }),
            _ => None,
        };
        Some(failure)
    }
}

/// The error in a body: `{"error": {…}}`, `{"error": "…"}`, a list of one of these, or the shapes of
/// servers that speak another's protocol (`{"object": "error", "message": …}`, `{"detail": …}`).
fn error_of(body: Json<'_>) -> Option<Json<'_>> {
    let body = body.items().next().unwrap_or(body);
    let named = body.get("error").or_else(|| body.get("detail")).filter(|error| !error.is_null());
    let is_error = |key: &str| body.get(key).and_then(Json::as_str).is_some_and(|value| value == "error");
    named.or_else(|| is_error("object").then_some(body))
}

/// A reply that is not JSON, or not of the provider's shape.
pub(super) fn malformed(endpoint: &Endpoint, reply: &HttpReply<'_>) -> Failure {
    let body = reply.body.trim_start();
    let mut failure = if body.is_empty() {
        Failure::new(endpoint, FailureKind::Malformed, "answered without a body")
    } else if Document::parse(body).is_err() {
        Failure::new(endpoint, FailureKind::Malformed, &["answered what is not JSON: ", body].concat())
    } else {
        Failure::new(
            endpoint,
            FailureKind::Malformed,
            &["answered in a shape that is not its own: ", body].concat(),
        )
    };
    if body.starts_with('<') {
        failure = failure.with_help("A web page answered: check `baseUrl`, and any proxy in between");
    }
    failure.status = Some(reply.status);
    failure
}

/// The text without anything that is secret about the endpoint: keys, header values, credentials in
/// the address.
pub(super) fn redact(endpoint: &Endpoint, text: &str) -> String {
    /// Shorter values of other headers are words such as `true` or a version.
    const SHORTEST_HEADER: usize = 12;
    let mut secrets: Vec<&str> = Vec::new();
    secrets.extend(endpoint.api_key.as_deref());
    secrets.extend(endpoint.bearer.as_deref());
    for (name, value) in &endpoint.headers {
        let value = value.strip_prefix("Bearer ").unwrap_or(value);
        if value.len() >= SHORTEST_HEADER || is_credential(name) {
            secrets.push(value);
        }
    }
    let base = endpoint.base_url.as_deref().unwrap_or_default();
    let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
    secrets.extend(authority.split_once('@').map(|(credentials, _)| credentials));
    secrets.extend(base.split_once('?').map(|(_, query)| query));
    // A secret that holds another has to go first.
    secrets.sort_unstable_by_key(|secret| usize::MAX - secret.len());
    let mut text = text.to_owned();
    for secret in secrets {
        if !secret.is_empty() && text.contains(secret) {
            text = text.replace(secret, "[redacted]");
        }
    }
    text
}

/// The text on one line, cut to [`LONGEST`].
fn shortened(text: &str) -> String {
    let mut short = String::new();
    let mut length = 0;
    let mut pending_space = false;
    for character in text.trim().chars() {
        if character.is_ascii_whitespace() {
            pending_space = true;
            continue;
        }
        length += 1 + usize::from(pending_space);
        if length > LONGEST {
            short.push('…');
            break;
        }
        if std::mem::take(&mut pending_space) {
            short.push(' ');
        }
        short.push(character);
    }
    short
}
