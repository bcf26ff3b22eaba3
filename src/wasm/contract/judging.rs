//! Judge calls: the requests that the host sends, what it reports back, and the resulting replies or failures.

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use super::{Bytes, Entries, RawJson};
use crate::judge::calls;
use crate::judge::provider::{self, Endpoint, Failure, HttpRequest, Provider, Reply};
use crate::wasm::saturating_u64;

/// The server and the credentials of a provider. It contains keys, so it must never be printed or stored.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct EndpointSettings {
    /// The provider; it determines the protocol.
    #[serde(deserialize_with = "provider_by_name")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schemas::provider"))]
    provider: Provider,
    /// The base URL; the provider's own if absent.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "provider")))]
    base_url: Option<String>,
    /// The model to ask instead of the request's model.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "provider")))]
    model: Option<String>,
    /// The provider's key.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "provider")))]
    api_key: Option<String>,
    /// A bearer token, for Vertex AI.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "vertex")))]
    access_token: Option<String>,
    /// Whether the host gets a token for each request instead.
    token_per_call: Option<bool>,
    /// The Google Cloud project, for Vertex AI.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "vertex")))]
    project: Option<String>,
    /// The Google Cloud region, for Vertex AI.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "vertex")))]
    location: Option<String>,
    /// Additional headers.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "provider")))]
    headers: Entries,
    /// Whether a web page sends the requests.
    in_browser: bool,
}

fn provider_by_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Provider, D::Error> {
    let name = String::deserialize(deserializer)?;
    Provider::parse(&name).ok_or_else(|| de::Error::custom("`provider` is not a provider"))
}

impl From<EndpointSettings> for Endpoint {
    fn from(settings: EndpointSettings) -> Self {
        Self {
            provider: settings.provider,
            api_key: settings.api_key,
            bearer: settings.access_token,
            base_url: settings.base_url,
            model: settings.model,
            headers: settings.headers.0,
            project: settings.project,
            location: settings.location,
            in_browser: settings.in_browser,
            token_per_call: settings.token_per_call == Some(true),
        }
    }
}

/// A question for a judge, independent of the provider.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct JudgeRequest<'t> {
    pub(in crate::wasm) id: String,
    pub(in crate::wasm) metric_name: &'t str,
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schemas::purpose"))]
    pub(in crate::wasm) purpose: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) eval_id: Option<&'t str>,
    pub(in crate::wasm) invocation_index: u32,
    pub(in crate::wasm) step_index: u32,
    pub(in crate::wasm) sample_index: u32,
    pub(in crate::wasm) model: &'t str,
    pub(in crate::wasm) prompt: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) response_schema: Option<RawJson<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) generation_config: Option<RawJson<'t>>,
}

/// A call of a judge for the host to make.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct JudgeCall<'t> {
    /// The id of the call, for reporting its outcome.
    pub(in crate::wasm) call: u32,
    /// The index of the metric that asks, of the case, and of the run of the case.
    pub(in crate::wasm) metric: u32,
    pub(in crate::wasm) case: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) run: Option<u32>,
    /// The SHA-256 of the prompt.
    pub(in crate::wasm) digest: &'t str,
    /// The question, independent of the provider.
    pub(in crate::wasm) request: JudgeRequest<'t>,
    /// The question as a request to the metric's endpoint, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) http: Option<HttpCall>,
}

/// An HTTP request. The method is always `POST`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "HttpRequest"))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct HttpCall {
    /// The complete URL.
    url: String,
    /// Names and values. They contain keys.
    headers: Vec<(String, String)>,
    /// JSON in UTF-8.
    body: Bytes,
    /// Whether the host has to add `authorization: Bearer …` with an access token.
    needs_token: bool,
}

impl From<HttpRequest> for HttpCall {
    fn from(HttpRequest { url, headers, body, needs_token }: HttpRequest) -> Self {
        Self { url, headers, body: Bytes(body.into_bytes()), needs_token }
    }
}

/// The outcome of an HTTP request, without the body of the response, which crosses as bytes.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(in crate::wasm) enum HttpAnswer {
    /// The server answered. The body of an error may be cut off.
    Answered {
        status: u16,
        /// The headers that the engine reads, if present.
        headers: Entries,
        /// Milliseconds since 1970.
        now: f64,
    },
    /// There was no answer.
    Nothing {
        reason: String,
        /// Whether the same request may succeed later.
        may_pass: bool,
    },
    /// The host rejected the answer, or did not send the request.
    Failed(HostFailure),
}

/// Why the host, or a judge that is a function written by the user, gave no reply.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct HostFailure {
    pub(in crate::wasm) message: String,
    /// What to do about it.
    pub(in crate::wasm) help: Option<String>,
    /// Whether a retry may help.
    pub(in crate::wasm) retryable: bool,
    /// How long to wait before a retry, in milliseconds.
    pub(in crate::wasm) retry_after_ms: Option<f64>,
    /// The HTTP status of the answer, if there was one.
    pub(in crate::wasm) status: Option<u16>,
}

/// The token counts of a reply, as far as they are known.
#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct TokenCounts {
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<f64>,
}

impl From<TokenCounts> for provider::TokenCounts {
    fn from(tokens: TokenCounts) -> Self {
        let count = |number: Option<f64>| number.map(saturating_u64);
        Self {
            input: count(tokens.input_tokens),
            output: count(tokens.output_tokens),
            total: count(tokens.total_tokens),
        }
    }
}

impl TokenCounts {
    /// What is known; `None` if that is nothing.
    fn of(usage: provider::TokenCounts) -> Option<Self> {
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
        let count = |count: Option<u64>| count.map(|count| count as f64);
        let provider::TokenCounts { input, output, total } = usage;
        usage.tokens().map(|_| Self {
            input_tokens: count(input),
            output_tokens: count(output),
            total_tokens: count(total),
        })
    }
}

/// The reply or the failure in a raw answer.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(in crate::wasm) enum JudgeOutcome {
    Reply {
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<TokenCounts>,
        #[serde(skip_serializing_if = "Option::is_none")]
        model_version: Option<String>,
    },
    Failure {
        message: String,
        retryable: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        help: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<TokenCounts>,
    },
}

impl From<Result<Reply, Box<Failure>>> for JudgeOutcome {
    fn from(outcome: Result<Reply, Box<Failure>>) -> Self {
        match outcome {
            Ok(Reply { text, usage, model_version, .. }) => {
                Self::Reply { text, usage: TokenCounts::of(usage), model_version }
            }
            Err(failure) => {
                let Failure { message, help, retryable, retry_after_ms, status, usage, .. } = *failure;
                Self::Failure {
                    message,
                    retryable,
                    help,
                    retry_after_ms,
                    status,
                    usage: TokenCounts::of(usage),
                }
            }
        }
    }
}

/// The progress of the judge calls.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CallProgress"))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct Progress {
    calls: u32,
    answered: u32,
    failed: u32,
    retried: u32,
    in_flight: u32,
    asked: u32,
    queued: u32,
    cached: u32,
    saved: u32,
    /// How many of the saved samples might have changed a verdict, at least.
    saved_at_risk: u32,
    /// Verdicts of votes that ended before they were certain.
    verdicts_at_risk: u32,
    /// Replies, also those from a cache, of which nothing could be read.
    unread: u32,
    lost: u32,
    unsent: u32,
    unreported: u32,
    input_tokens: f64,
    output_tokens: f64,
    /// In the unit of the prices; 0 without any.
    cost: f64,
    /// The estimated time until the samples asked so far are answered; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_ms: Option<f64>,
}

impl From<calls::Progress> for Progress {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn from(found: calls::Progress) -> Self {
        Self {
            calls: found.calls,
            answered: found.answered,
            failed: found.failed,
            retried: found.retried,
            in_flight: found.in_flight,
            asked: found.asked,
            queued: found.queued,
            cached: found.cached,
            saved: found.saved,
            saved_at_risk: found.saved_at_risk,
            verdicts_at_risk: found.verdicts_at_risk,
            unread: found.unread,
            lost: found.lost,
            unsent: found.unsent,
            unreported: found.unreported,
            input_tokens: found.usage.input_tokens as f64,
            output_tokens: found.usage.output_tokens as f64,
            cost: found.cost,
            left_ms: found.left_ms,
        }
    }
}

/// What the response headers of any server say about a retry.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct RetryAdvice {
    pub(in crate::wasm) retryable: bool,
    /// In milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) retry_after_ms: Option<f64>,
}
