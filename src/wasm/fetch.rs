//! Requests to providers: rendering them, sending them with the runtime's own `fetch`, and reading raw answers.
//!
//! A run renders and reads its calls itself (`evaluation`); the functions here are for judges that are called outside a run.
//! Nothing here awaits or keeps state: [`fetch_call`] returns the runtime's promise, so that no call is lost if this
//! instance is replaced during the request.

use gloo_net::http::{Headers, Method, RequestBuilder};
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{RequestInit, RequestRedirect};

use super::contract::{EndpointSettings, Entries, HttpAnswer, HttpCall, JudgeOutcome, RetryAdvice};
use super::from_js::from_value;
use super::to_value;
use crate::foundation::json::{Document, Json};
use crate::judge::prompt::{PromptValue, simulated_user};
use crate::judge::provider::{
    Endpoint, HostAnswer, HostFailure, HttpReply, Provider, Query, Request, advice,
};

#[wasm_bindgen]
extern "C" {
    /// The global function, looked up at each call and called without `this`. gloo-net's own `send` does
    /// the same, but panics where the promise is rejected with anything but an `Error`.
    #[wasm_bindgen(catch)]
    fn fetch(request: &web_sys::Request, init: &RequestInit) -> std::result::Result<Promise, JsValue>;
}

/// Posts a request by the runtime's `fetch` and returns its promise of a response. Redirects are not followed,
/// since they would send keys to another server.
///
/// `init` holds the signal, and only that: gloo-net would panic if the runtime did not know it as one.
///
/// # Errors
/// What `fetch` throws; a string if the URL is invalid.
#[wasm_bindgen(js_name = fetchCall, unchecked_return_type = "Promise<Response>")]
pub fn fetch_call(
    url: &str,
    headers: web_sys::Headers,
    #[wasm_bindgen(unchecked_param_type = "Uint8Array")] body: JsValue,
    #[wasm_bindgen(unchecked_param_type = "{ signal: AbortSignal }")] init: &RequestInit,
) -> std::result::Result<Promise, JsValue> {
    let request = RequestBuilder::new(url)
        .method(Method::POST)
        .headers(Headers::from_raw(headers))
        .redirect(RequestRedirect::Manual)
        .body(body)
        // Headers and body are valid, so it is the URL.
        .map_err(|_| "its address cannot be read")?;
    fetch(&request.into(), init)
}

/// The HTTP request for a question, given as the JSON of a request; or for an evaluation, given as the body of a call to
/// Vertex AI's `evaluateInstances`.
///
/// # Errors
/// The error in the question. If it cannot be sent, a failure is returned as by `readAnswer`.
#[wasm_bindgen(js_name = renderCall, unchecked_return_type = "HttpRequest | JudgeOutcome")]
pub fn render_call(
    #[wasm_bindgen(unchecked_param_type = "EndpointSettings")] settings: JsValue,
    question: Vec<u8>,
    evaluation: bool,
) -> Result<JsValue, JsValue> {
    with_question(settings, question, evaluation, |endpoint, asked| match endpoint.ask(asked) {
        Ok(http) => to_value(&HttpCall::from(http)),
        Err(failure) => to_value(&JudgeOutcome::from(Err(failure))),
    })
}

/// Reads the answer to a request of [`render_call`].
///
/// # Errors
/// The error in the question. The answer itself may be anything.
#[wasm_bindgen(js_name = readAnswer, unchecked_return_type = "JudgeOutcome")]
pub fn read_answer(
    #[wasm_bindgen(unchecked_param_type = "EndpointSettings")] settings: JsValue,
    question: Vec<u8>,
    evaluation: bool,
    #[wasm_bindgen(unchecked_param_type = "HttpAnswer")] answer: JsValue,
    body: Vec<u8>,
) -> Result<JsValue, JsValue> {
    let answer: HttpAnswer = from_value(answer)?;
    with_question(settings, question, evaluation, |endpoint, asked| {
        to_value(&JudgeOutcome::from(
            answer.with_host_answer(&decode_lossy(&body), |answer| endpoint.take(asked, answer)),
        ))
    })
}

/// The origin of a judge's server.
///
/// # Errors
/// None.
#[wasm_bindgen(js_name = endpointOrigin)]
pub fn endpoint_origin(
    #[wasm_bindgen(unchecked_param_type = "EndpointSettings")] settings: JsValue,
) -> Result<String, JsValue> {
    let settings: EndpointSettings = from_value(settings)?;
    Ok(Endpoint::from(settings).origin())
}

/// Whether and when to retry, given the response of a server that another library called.
///
/// # Errors
/// None.
#[wasm_bindgen(js_name = retryAdvice, unchecked_return_type = "RetryAdvice")]
pub fn retry_advice(
    status: u16,
    #[wasm_bindgen(unchecked_param_type = "Readonly<Record<string, string>>")] headers: JsValue,
    retry_delay: Option<String>,
    now: f64,
) -> Result<JsValue, JsValue> {
    let Entries(headers) = from_value(headers)?;
    let reply = HttpReply { status, headers: &headers, body: "", now_ms: Some(now) };
    let (retryable, retry_after_ms) = advice(&reply, retry_delay.as_deref());
    to_value(&RetryAdvice { retryable, retry_after_ms })
}

/// The notice about a model that its provider is about to replace, or has replaced, by another one.
#[wasm_bindgen]
#[must_use]
pub fn retirement(
    #[wasm_bindgen(unchecked_param_type = "EndpointSettings[\"provider\"]")] provider: &str,
    model: &str,
    now: f64,
) -> Option<String> {
    Provider::parse(provider).and_then(|provider| Endpoint::new(provider).retirement(model, now))
}

/// A prompt with every control token of chat templates broken up, for models that may interpret them.
#[wasm_bindgen(js_name = withoutTokens)]
#[must_use]
pub fn without_tokens(prompt: &str) -> String {
    crate::judge::provider::without_tokens(prompt)
}

/// The reply to such a prompt, with the tokens that it quotes restored.
#[wasm_bindgen(js_name = withTokens)]
#[must_use]
pub fn with_tokens(reply: String) -> String {
    crate::judge::provider::with_tokens(reply)
}

/// The prompt for a model that simulates the user. Plan and history are untrusted and therefore fenced.
#[wasm_bindgen(js_name = userPrompt)]
#[must_use]
pub fn user_prompt(template: &str, plan: &str, history: &str, persona: &str, stop_signal: &str) -> String {
    let value = |name, text, is_fenced| PromptValue { name, text, is_fenced };
    simulated_user(
        template,
        &[
            value("conversation_plan", plan, true),
            value("conversation_history", history, true),
            value("persona", persona, false),
            value("stop_signal", stop_signal, false),
        ],
    )
}

impl HttpAnswer {
    /// Calls `work` with the answer as the type that the providers' protocols read.
    pub(super) fn with_host_answer<T>(self, body: &str, work: impl FnOnce(HostAnswer<'_>) -> T) -> T {
        match &self {
            Self::Answered { status, headers, now } => {
                let headers = &headers.0;
                work(HostAnswer::Http(HttpReply { status: *status, headers, body, now_ms: Some(*now) }))
            }
            Self::Nothing { reason, may_pass } => work(HostAnswer::Nothing { reason, may_pass: *may_pass }),
            Self::Failed(failed) => work(HostAnswer::Refused(failed.as_host_failure())),
        }
    }
}

impl super::contract::HostFailure {
    pub(super) fn as_host_failure(&self) -> HostFailure<'_> {
        HostFailure {
            message: &self.message,
            help: self.help.as_deref(),
            retryable: self.retryable,
            retry_after_ms: self.retry_after_ms,
            status: self.status,
        }
    }
}

/// Decodes the body of an answer like `Response.text()`: without a byte order mark, invalid bytes replaced.
pub(super) fn decode_lossy(body: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body))
}

fn with_question<T>(
    settings: JsValue,
    question: Vec<u8>,
    evaluation: bool,
    work: impl FnOnce(&Endpoint, Query<'_>) -> Result<T, JsValue>,
) -> Result<T, JsValue> {
    let endpoint = Endpoint::from(from_value::<EndpointSettings>(settings)?);
    if evaluation {
        return work(&endpoint, Query::Evaluation(&decode_lossy(&question)));
    }
    let document = Document::from_bytes(question)?;
    let request = document.root();
    let text = |key| request.get(key).and_then(Json::as_str);
    let (model, prompt, system) = (text("model"), text("prompt"), text("system"));
    let asked = Request {
        model: model.as_deref().unwrap_or_default(),
        system: system.as_deref(),
        prompt: prompt.as_deref().unwrap_or_default(),
        response_schema: request.get("responseSchema").map(Json::raw),
        config: request.get("generationConfig"),
    };
    work(&endpoint, Query::Question(asked))
}
