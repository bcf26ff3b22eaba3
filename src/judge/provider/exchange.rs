//! One question and its outcome: the request for a provider, and the reply or failure in its raw answer.
//! Secrets of the endpoint that servers, runtimes or models repeat are redacted here, for all callers.
//!
//! O(n) in the question and the answer, for each secret.

use super::redact::redact;
use super::{
    Endpoint, Failure, FailureKind, HttpReply, HttpRequest, Reply, Request, TokenCounts, failure,
    vertex_evaluate,
};
use crate::judge::calls;

/// What to ask.
#[derive(Clone, Copy)]
pub enum Query<'q> {
    /// A question for a model.
    Question(Request<'q>),
    /// The body of a request to Vertex AI's `evaluateInstances`.
    Evaluation(&'q str),
}

/// The outcome of a request as the host reports it.
#[derive(Clone, Copy)]
pub enum HostAnswer<'r> {
    /// The server answered.
    Http(HttpReply<'r>),
    /// There was no answer.
    Nothing {
        /// The reason that the host gives.
        reason: &'r str,
        /// Whether the same request may succeed later.
        may_pass: bool,
    },
    /// The host rejected the answer, or did not send the request.
    Refused(HostFailure<'r>),
}

/// A failure described by the host: its own, or that of a judge written as a function by the user.
#[derive(Clone, Copy, Default)]
pub struct HostFailure<'r> {
    /// What happened.
    pub message: &'r str,
    /// What the user can do about it.
    pub help: Option<&'r str>,
    /// Whether a retry may help.
    pub retryable: bool,
    /// How long to wait before a retry, in milliseconds.
    pub retry_after_ms: Option<f64>,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
}

impl Endpoint {
    /// The HTTP request to send.
    ///
    /// # Errors
    /// As [`Endpoint::render`].
    pub fn ask(&self, asked: Query<'_>) -> Result<HttpRequest, Box<Failure>> {
        match asked {
            Query::Question(request) => self.render(&request),
            Query::Evaluation(body) => vertex_evaluate::render(self, body.to_owned()),
        }
    }

    /// Reads an answer and redacts the endpoint's secrets in it, except where the question contains them too.
    /// The reply to an evaluation is the service's own JSON.
    ///
    /// # Errors
    /// As [`Endpoint::read`]; and whatever prevented an answer.
    pub fn take(&self, asked: Query<'_>, answer: HostAnswer<'_>) -> Result<Reply, Box<Failure>> {
        let http = match answer {
            HostAnswer::Http(http) => http,
            HostAnswer::Nothing { reason, may_pass } => {
                let mut failure = Failure::network(self, reason, self.in_browser);
                failure.retryable &= may_pass;
                return Err(failure);
            }
            HostAnswer::Refused(failed) => {
                let help = failed.help.map(|help| redact(self, help, ""));
                let message = redact(self, failed.message, "");
                return Err(Failure::from_host(&HostFailure {
                    message: &message,
                    help: help.as_deref(),
                    ..failed
                }));
            }
        };
        let mut reply = match asked {
            Query::Question(_) => self.read(&http)?,
            Query::Evaluation(_) => {
                vertex_evaluate::check(self, &http)?;
                let text = http.body.to_owned();
                Reply { text, usage: TokenCounts::default(), model_version: None, truncated: false }
            }
        };
        // Rendered only if there is anything to redact.
        let mut question: Option<String> = None;
        for text in [Some(&mut reply.text), reply.model_version.as_mut()].into_iter().flatten() {
            let clean = redact(self, text, "");
            if clean != *text {
                let known =
                    question.get_or_insert_with(|| self.ask(asked).map(|http| http.body).unwrap_or_default());
                *text = redact(self, text, known);
            }
        }
        Ok(reply)
    }
}

impl Failure {
    /// A failure that the host reports.
    #[must_use]
    pub fn from_host(failed: &HostFailure<'_>) -> Box<Self> {
        let kind = match failed.status {
            None => FailureKind::Network,
            // The server answered, but not with a reply.
            Some(200..=299) => FailureKind::Malformed,
            Some(status) => failure::kind_from_status(status.into()),
        };
        Box::new(Self {
            kind,
            message: failed.message.to_owned(),
            help: failed.help.map(str::to_owned),
            retryable: failed.retryable,
            retry_after_ms: failed.retry_after_ms.filter(|wait| *wait >= 0.0),
            status: failed.status,
            usage: TokenCounts::default(),
        })
    }

    /// Message and help in one string.
    #[must_use]
    pub fn message_with_help(&self) -> String {
        match &self.help {
            Some(help) => format!("{}. {help}", self.message.strip_suffix('.').unwrap_or(&self.message)),
            None => self.message.clone(),
        }
    }

    /// Whether the server rejects the credentials. A retry with the same key cannot succeed.
    #[must_use]
    pub fn is_auth(&self) -> bool {
        self.kind == FailureKind::Auth
    }

    /// Whether the server rejected the request itself, and will do so again.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        use FailureKind::*;
        !self.retryable && matches!(self.kind, Auth | BadRequest | NotFound | RateLimited)
    }

    /// Whether the answer is not in the provider's format, as that of a wrong address.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        self.kind == FailureKind::Malformed
    }

    /// What the failure means for retries.
    #[must_use]
    pub fn to_call_failure(&self) -> calls::CallFailure {
        use FailureKind::*;
        calls::CallFailure {
            retryable: self.retryable,
            rate_limited: self.retryable && matches!(self.kind, RateLimited | Overloaded),
            disconnected: self.kind == Network,
            retry_after_ms: self.retry_after_ms,
            usage: self.usage.tokens().unwrap_or_default(),
        }
    }
}

impl TokenCounts {
    /// Whether the tokens of the reply are known, at least as a part of the total. A server that counts none reports none.
    #[must_use]
    pub fn knows_output(self) -> bool {
        self.output.is_none() && self.total.unwrap_or_default() > 0
            || self.tokens().unwrap_or_default().output_tokens > 0
    }

    /// The tokens of both sides, if any are known. What a total has beyond the sides that are known is the other side's,
    /// else the output's: some servers count thoughts in the total alone. If only the total is known, it counts as input.
    #[must_use]
    pub fn tokens(self) -> Option<calls::Usage> {
        let Self { input, output, total } = self;
        if input.is_none() && output.is_none() && total.is_none() {
            return None;
        }
        let rest = |of: Option<u64>| total.unwrap_or_default().saturating_sub(of.unwrap_or_default());
        let input_tokens = input.unwrap_or_else(|| rest(output));
        let output_tokens = rest(Some(input_tokens)).max(output.unwrap_or_default());
        Some(calls::Usage { input_tokens, output_tokens })
    }
}
