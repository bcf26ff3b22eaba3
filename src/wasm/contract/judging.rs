//! Calls of judges: what the host is to send, what it reports, and what that comes to.

use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use super::{Bytes, Entries, RawJson};
use crate::judge::calls;
use crate::judge::provider::{Endpoint, Failure, HttpRequest, Provider, Reply, TokenCounts};
use crate::wasm::saturating_u64;

/// Where and as whom a provider is asked. It holds keys: nothing that is printed or stored may hold it.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct EndpointSettings {
    /// Whose protocol the server speaks.
    #[serde(deserialize_with = "provider")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schemas::provider"))]
    provider: Provider,
    /// The address without the path of the method; the provider's own if absent.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "provider")))]
    base_url: Option<String>,
    /// The model to ask, whatever the request names.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "provider")))]
    model: Option<String>,
    /// The provider's key.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "provider")))]
    api_key: Option<String>,
    /// A bearer token, for Vertex AI.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "vertex")))]
    access_token: Option<String>,
    /// Whether the host gets a token for each request instead.
    #[serde(default)]
    token_per_call: bool,
    /// The Google Cloud project, for Vertex AI.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "vertex")))]
    project: Option<String>,
    /// The Google Cloud region, for Vertex AI.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "vertex")))]
    location: Option<String>,
    /// Further headers.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "provider")))]
    headers: Entries,
    /// Whether requests leave from a page.
    in_browser: bool,
}

fn provider<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Provider, D::Error> {
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
            token_per_call: settings.token_per_call,
        }
    }
}

/// A question for a judge, as every judge is given it.
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
    /// What to report with.
    pub(in crate::wasm) call: u32,
    /// Which metric asks, which case and which run of it this is about.
    pub(in crate::wasm) metric: u32,
    pub(in crate::wasm) case: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) run: Option<u32>,
    /// The SHA-256 of the prompt.
    pub(in crate::wasm) digest: &'t str,
    /// The question in no provider's words.
    pub(in crate::wasm) request: JudgeRequest<'t>,
    /// The same as its endpoint is asked it, if the metric has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) http: Option<HttpCall>,
}

/// A request as it goes over the wire, always with `POST`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "HttpRequest"))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct HttpCall {
    /// The whole address.
    url: String,
    /// Names and values. They hold keys.
    headers: Vec<(String, String)>,
    /// JSON in UTF-8.
    body: Bytes,
    /// Whether `authorization: Bearer …` is missing, with the access token that the host gets for each request.
    needs_token: bool,
}

impl From<HttpRequest> for HttpCall {
    fn from(HttpRequest { url, headers, body, needs_token }: HttpRequest) -> Self {
        Self { url, headers, body: Bytes(body.into_bytes()), needs_token }
    }
}

/// What came of a request over the wire, besides the body of the answer, which crosses as bytes.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(in crate::wasm) enum HttpAnswer {
    /// The server answered. Possibly only the beginning of the body of an error is there.
    Answered {
        status: u16,
        /// Those that the engine looks at, as far as they are there.
        headers: Entries,
        /// Milliseconds since 1970.
        now: f64,
    },
    /// There was no answer.
    Nothing {
        reason: String,
        /// Whether the same request may be answered later.
        may_pass: bool,
    },
    /// The host does not take the answer, or did not send the request.
    Failed(HostFailure),
}

/// Why the host, or a judge that is a function of the user's, gave no reply.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct HostFailure {
    pub(in crate::wasm) message: String,
    /// What to do about it.
    pub(in crate::wasm) help: Option<String>,
    /// Whether asking again may help.
    pub(in crate::wasm) retryable: bool,
    /// How long to wait before, in milliseconds.
    pub(in crate::wasm) retry_after_ms: Option<f64>,
    /// The HTTP status of the answer, if there was one.
    pub(in crate::wasm) status: Option<u16>,
}

/// The tokens of a reply, as far as they are known.
#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TokenCounts"))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct Tokens {
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<f64>,
}

impl From<Tokens> for TokenCounts {
    fn from(tokens: Tokens) -> Self {
        let count = |number: Option<f64>| number.map(saturating_u64);
        Self {
            input: count(tokens.input_tokens),
            output: count(tokens.output_tokens),
            total: count(tokens.total_tokens),
        }
    }
}

/// What a raw answer came to: a reply or a failure, which is what everybody is told.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(in crate::wasm) enum JudgeOutcome {
    Reply {
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        usage: Option<Tokens>,
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
    },
}

impl From<Result<Reply, Box<Failure>>> for JudgeOutcome {
    fn from(outcome: Result<Reply, Box<Failure>>) -> Self {
        match outcome {
            Ok(Reply { text, usage, model_version, .. }) => {
                #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
                let count = |count: Option<u64>| count.map(|count| count as f64);
                let TokenCounts { input, output, total } = usage;
                let tokens = Tokens {
                    input_tokens: count(input),
                    output_tokens: count(output),
                    total_tokens: count(total),
                };
                Self::Reply { text, usage: usage.tokens().map(|_| tokens), model_version }
            }
            Err(failure) => {
                let Failure { message, help, retryable, retry_after_ms, status, .. } = *failure;
                Self::Failure { message, retryable, help, retry_after_ms, status }
            }
        }
    }
}

/// How far the calls of judges are.
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
    lost: u32,
    unreported: u32,
    input_tokens: f64,
    output_tokens: f64,
    /// In the unit of the prices; 0 without any.
    cost: f64,
    /// How long the samples asked so far will take, if that can be told.
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
            lost: found.lost,
            unreported: found.unreported,
            input_tokens: found.usage.input_tokens as f64,
            output_tokens: found.usage.output_tokens as f64,
            cost: found.cost,
            left_ms: found.left_ms,
        }
    }
}

/// What the headers of any server's answer say of asking again.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct RetryAdvice {
    pub(in crate::wasm) retryable: bool,
    /// In milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::wasm) retry_after_ms: Option<f64>,
}
