//! What can go wrong with a judge call, what the user can do about it, and whether a retry may help.
//!
//! Messages never contain a key: all foreign text goes through `redact.rs` before it is shortened. O(n) in the
//! text, for each secret.

use std::borrow::Cow;

use super::json_path::{for_each, get, string, string_at, tokens};
use super::redact::{BEGINNING, redact_beginning};
use super::{Endpoint, HttpReply, Provider, TokenCounts, retry_after};
use crate::foundation::json::{Document, Json};

/// The most characters of a provider's text that a message repeats.
const MAX_TEXT_CHARS: usize = 400;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// There was no answer: no connection, or a browser withheld the answer from the page.
    Network,
    /// The call exceeded its time limit.
    Timeout,
    /// Too many requests or tokens; or the account has no quota left, which cannot be retried.
    RateLimited,
    /// The server failed.
    Server,
    /// The server is overloaded.
    Overloaded,
    /// The key is missing, wrong, or lacks permission.
    Auth,
    /// The server rejects the request.
    BadRequest,
    /// There is no such model, project or address.
    NotFound,
    /// The model or a filter refused to answer.
    Refused,
    /// The reply has no text.
    Empty,
    /// The reply was cut off before it had any text.
    Truncated,
    /// The answer is not in the provider's format.
    Malformed,
}

/// An error code of a provider that says more than the status of the answer.
struct KnownError {
    code: &'static str,
    /// The status it corresponds to, if the answer's is 200.
    status: u16,
    /// The kind of failure; [`FailureKind::Auth`] and [`FailureKind::Refused`] take precedence over the status.
    kind: FailureKind,
}

impl KnownError {
    const fn new(code: &'static str, status: u16, kind: FailureKind) -> Self {
        Self { code, status, kind }
    }
}

static KNOWN_ERRORS: [KnownError; 7] = [
    KnownError::new("API_KEY_INVALID", 400, FailureKind::Auth),
    KnownError::new("insufficient_quota", 429, FailureKind::RateLimited),
    KnownError::new("rate_limit_exceeded", 429, FailureKind::RateLimited),
    KnownError::new("server_error", 500, FailureKind::Server),
    KnownError::new("content_filter", 400, FailureKind::Refused),
    KnownError::new("invalid_prompt", 400, FailureKind::Refused),
    KnownError::new("content_policy_violation", 400, FailureKind::Refused),
];

impl FailureKind {
    /// The name in JSON and JavaScript.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::RateLimited => "rate_limited",
            Self::Server => "server",
            Self::Overloaded => "overloaded",
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

/// A call without a reply, as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, in words, without keys.
    pub message: String,
    /// What the user can do about it.
    pub help: Option<String>,
    /// Whether a retry may help.
    pub retryable: bool,
    /// How long the server asks to wait, in milliseconds; never negative.
    pub retry_after_ms: Option<f64>,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The tokens that the answer reports nevertheless.
    pub usage: TokenCounts,
}

impl Failure {
    /// A failure that is retryable if its kind is. `message` comes in pieces; it is redacted, shortened and
    /// prefixed with the name of the provider or the server.
    pub(super) fn new(endpoint: &Endpoint, kind: FailureKind, message: &[&str]) -> Box<Self> {
        use FailureKind::*;
        Box::new(Self {
            kind,
            message: [&endpoint.label(), " ", &shown(endpoint, &message.concat())].concat(),
            help: None,
            retryable: matches!(
                kind,
                Network | Timeout | RateLimited | Server | Overloaded | Empty | Malformed
            ),
            retry_after_ms: None,
            status: None,
            usage: TokenCounts::default(),
        })
    }

    pub(super) fn with_help(mut self: Box<Self>, help: &str) -> Box<Self> {
        self.help = Some(help.to_owned());
        self
    }

    pub(super) fn with_status(mut self: Box<Self>, reply: &HttpReply<'_>) -> Box<Self> {
        self.status = Some(reply.status);
        self
    }

    /// No answer arrived: `fetch` rejected with `message`.
    ///
    /// In a browser the message does not say why. Mostly the server does not allow pages of this origin; the
    /// help says what to do for this provider.
    #[must_use]
    pub fn network(endpoint: &Endpoint, message: &str, in_browser: bool) -> Box<Self> {
        let failure = Self::new(endpoint, FailureKind::Network, &["did not answer: ", message]);
        let advice = endpoint.provider.protocol().unreachable;
        failure.with_help(match (in_browser, endpoint.provider) {
            (true, Provider::Anthropic) if !endpoint.in_browser => {
                "Anthropic answers pages that send `anthropic-dangerous-direct-browser-access: true` in `headers`"
            }
            (true, _) => advice,
            (false, Provider::Ollama) => {
                "Start it with `ollama serve`, or set `baseUrl` to where it runs"
            }
            (false, _) => "Check the network, the proxy and `baseUrl`",
        })
    }

    /// The failure in an answer; `None` if the answer has a reply.
    pub(super) fn answered(
        endpoint: &Endpoint,
        reply: &HttpReply<'_>,
        body: Option<Json<'_>>,
    ) -> Option<Box<Self>> {
        let ok = (200..300).contains(&reply.status);
        let error = body.and_then(|body| error_in(body, ok));
        if ok && error.is_none() {
            return None;
        }
        let named = NamedError::read(error);
        // Some gateways answer 200 and give the actual status in the body.
        let told = error.and_then(|error| tokens(error, &["code"]));
        let status = match (told, named.known) {
            _ if !ok => u64::from(reply.status),
            (Some(told @ 400..=599), _) => told,
            (_, Some(known)) => u64::from(known.status),
            _ => 400,
        };
        let kind = match named.known {
            Some(KnownError { kind: kind @ (FailureKind::Refused | FailureKind::Auth), .. }) => *kind,
            _ => kind_from_status(status),
        };
        let said = said(error, reply);
        let message = [
            "answered ",
            &status.to_string(),
            if named.code.is_empty() { "" } else { " " },
            &named.code,
            if said.is_empty() { "" } else { ": " },
            &said,
        ];
        let exhausted = named.known.is_some_and(|known| known.code == "insufficient_quota");
        let mut failure = Self::new(endpoint, kind, &message).with_status(reply);
        failure.retryable = match reply.header("x-should-retry") {
            _ if exhausted => false,
            Some("true") => true,
            Some("false") => false,
            // Only Anthropic has a status of its own for being overloaded.
            _ => may_pass(status) && (status != 529 || endpoint.provider == Provider::Anthropic),
        };
        failure.retry_after_ms = retry_after::milliseconds(reply, named.delay.as_deref());
        let protocol = endpoint.provider.protocol();
        let parameter = text_at(error, "param");
        let help = match kind {
            _ if exhausted => ["The account has no quota left: waiting does not help", "", ""],
            FailureKind::Auth => ["Check ", protocol.keys, "; it must be allowed to use this model"],
            FailureKind::NotFound => [protocol.not_found, "", ""],
            FailureKind::BadRequest if !parameter.is_empty() => {
                ["The model does not take `", &parameter, "` as it was given: see judge_model_config"]
            }
            _ => return Some(failure),
        };
        Some(failure.with_help(&help.concat()))
    }
}

/// What an error calls itself.
#[derive(Default)]
struct NamedError {
    /// The first name that it has.
    code: String,
    /// The first of its names that says more than the status.
    known: Option<&'static KnownError>,
    /// How long to wait before another attempt, as a duration such as `1.5s`.
    delay: Option<String>,
}

impl NamedError {
    fn read(error: Option<Json<'_>>) -> Self {
        let mut named = Self::default();
        // The paths of Google, OpenAI and Anthropic.
        for path in ["status", "code", "type"] {
            named.note(text_at(error, path));
        }
        if let Some(error) = error {
            for_each(error, "details", &mut |detail| {
                named.note(string(detail, "reason"));
                named.delay = string_at(detail, "retryDelay").or(named.delay.take());
            });
        }
        named
    }

    fn note(&mut self, name: String) {
        self.known = self.known.or_else(|| KNOWN_ERRORS.iter().find(|known| known.code == name));
        if self.code.is_empty() {
            self.code = name;
        }
    }
}

/// What an error says: its message, else all of it, else the body.
fn said<'a>(error: Option<Json<'a>>, reply: &HttpReply<'a>) -> Cow<'a, str> {
    let Some(error) = error else { return Cow::Borrowed(reply.body) };
    match [string(error, "message"), string(error, "")].into_iter().find(|text| !text.is_empty()) {
        Some(text) => Cow::Owned(text),
        None => Cow::Borrowed(error.raw()),
    }
}

/// The kind of failure for a status.
pub(crate) fn kind_from_status(status: u64) -> FailureKind {
    use FailureKind::*;
    match status {
        401 | 403 => Auth,
        404 => NotFound,
        408 => Timeout,
        429 => RateLimited,
        503 | 529 => Overloaded,
        500.. => Server,
        _ => BadRequest,
    }
}

/// Whether the same request may succeed after this status: those that google-adk retries, and "overloaded".
pub(crate) fn may_pass(status: u64) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 529)
}

/// What an answer of any server says about retries: whether one may help, and how long to wait before it, in
/// milliseconds. `retry_delay` is a duration such as `1.5s` from the body, if there is one.
#[must_use]
pub fn advice(reply: &HttpReply<'_>, retry_delay: Option<&str>) -> (bool, Option<f64>) {
    (may_pass(reply.status.into()), retry_after::milliseconds(reply, retry_delay))
}

fn text_at(error: Option<Json<'_>>, path: &str) -> String {
    error.map_or_else(String::new, |error| string(error, path))
}

/// The error in a body: `{"error": {…}}`, `{"error": "…"}`, a list with one of these, or the shapes of servers
/// that implement another's protocol (`{"object": "error", "message": …}`, `{"detail": …}`).
fn error_in(body: Json<'_>, ok: bool) -> Option<Json<'_>> {
    let body = get(body, "0").unwrap_or(body);
    match get(body, "error") {
        None if !ok => get(body, "detail").or_else(|| (string(body, "object") == "error").then_some(body)),
        error => error,
    }
}

/// The failure for an answer that is not JSON, or not in the provider's format.
pub(super) fn malformed(endpoint: &Endpoint, reply: &HttpReply<'_>) -> Box<Failure> {
    let body = reply.body.trim();
    let said = match Document::parse(body) {
        _ if body.is_empty() => "answered without a body",
        Ok(_) => "answered in an unknown format: ",
        Err(_) => "answered with something other than JSON: ",
    };
    let failure = Failure::new(endpoint, FailureKind::Malformed, &[said, body]).with_status(reply);
    if body.starts_with('<') {
        return failure.with_help("A web page answered: check `baseUrl`, and any proxy in between");
    }
    failure
}

/// The text on one line, shortened to [`MAX_TEXT_CHARS`], with the endpoint's secrets redacted.
fn shown(endpoint: &Endpoint, text: &str) -> String {
    let text = text.trim();
    let safe = redact_beginning(endpoint, text);
    let mut shown: String = safe
        .chars()
        .take(MAX_TEXT_CHARS)
        .map(|character| if character.is_ascii_whitespace() { ' ' } else { character })
        .collect();
    if safe.chars().nth(MAX_TEXT_CHARS).is_some() || text.len() > BEGINNING {
        shown.push('…');
    }
    shown
}
