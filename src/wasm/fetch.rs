//! Calls of judges: what is sent to a provider, what its answer says, and the runtime's own `fetch`.
//!
//! Nothing here waits. [`fetch_call`] hands the promise of the runtime on, and the answer comes back
//! through [`judge_call`], so that no call is lost when this instance is replaced while it is under way.
//!
//! What TypeScript gives is JSON text. The `settings` of an endpoint are `provider`, `baseUrl`, `model`,
//! `apiKey`, `accessToken`, `project`, `location`, `headers` and `inBrowser`.

use gloo_net::http::{Headers, Method, RequestBuilder};
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{RequestInit, RequestRedirect};

use super::unusable;
use crate::foundation::error::Result;
use crate::foundation::json::{Document, Json};
use crate::foundation::write::{Spelling, Write, Writer, copy, owned, to_json};
use crate::judge::prompt::{Value, simulated_user};
use crate::judge::provider::{
    Endpoint, Failure, HttpReply, Provider, Reply, Request, Usage, redact, vertex_evaluate,
};

#[wasm_bindgen]
extern "C" {
    /// The global function, looked up at each call and called without `this`. gloo-net's own `send` does
    /// the same, but panics where the promise is rejected with anything but an `Error`.
    #[wasm_bindgen(catch)]
    fn fetch(request: &web_sys::Request, init: &RequestInit) -> std::result::Result<Promise, JsValue>;
}

/// Posts a call by the runtime's `fetch` and gives its promise of a response. Redirects are not followed,
/// since they would carry keys to wherever they lead.
///
/// `init` holds the signal, and only that: gloo-net would panic if the runtime did not know it as one.
///
/// # Errors
/// What `fetch` throws; a text if the address is none.
#[wasm_bindgen(js_name = fetchCall, unchecked_return_type = "Promise<Response>")]
pub fn fetch_call(
    url: &str,
    headers: web_sys::Headers,
    #[wasm_bindgen(unchecked_param_type = "string")] body: JsValue,
    #[wasm_bindgen(unchecked_param_type = "{ signal: AbortSignal }")] init: &RequestInit,
) -> std::result::Result<Promise, JsValue> {
    let request = RequestBuilder::new(url)
        .method(Method::POST)
        .headers(Headers::from_raw(headers))
        .redirect(RequestRedirect::Manual)
        .body(body)
        // Headers and body are what they should be, so it is the address.
        .map_err(|_| "its address cannot be read")?;
    fetch(&request.into(), init)
}

/// What a provider's protocol makes of a call, as JSON text. `given` has `settings`, and:
///
/// - `request`, or nothing and the body of a call of Vertex AI's `evaluateInstances` in `body`: the call in the words
///   of the provider, a list of the address, the body, and the names and values of the headers in turn; or a failure
///   if they cannot be sent.
/// - `status`, `headers` and `now`, of the headers at least those of `REPLY_HEADERS` and the time in milliseconds
///   since 1970, and in `body` that of an answer: a reply with `text`, or a failure with `message`. Status 0 says that
///   there was no answer, for the reason `body`. With `evaluation: true` it is the answer to `evaluateInstances`; a
///   good one needs no reading here and gives an empty text.
/// - `redact`: the text `body` without what is secret about the endpoint, except for what the text `redact` holds too.
/// - `config`, a `judge_model_config`: what of it the provider is not sent, a list of sentences.
///
/// # Errors
/// `invalid_json`, `limit_exceeded`, `invalid_input` for what is not as it should be; the answer itself may be
/// anything.
#[wasm_bindgen(js_name = judgeCall)]
pub fn judge_call(given: &str, body: &str) -> Result<String> {
    let document = Document::parse(given)?;
    let given = document.root();
    let endpoint = endpoint(given)?;
    Ok(if let Some(known) = text(given, "redact") {
        redact(&endpoint, body, &known)
    } else if let Some(config) = given.get("config") {
        to_json(&endpoint.warnings(config), Spelling::Camel)
    } else if let Some(status) = given.get("status") {
        read(&endpoint, given, status, body)
    } else {
        match render(&endpoint, given, body) {
            Ok(texts) => to_json(&texts, Spelling::Camel),
            Err(failure) => to_json(&*failure, Spelling::Camel),
        }
    })
}

/// A prompt for a model of which nobody knows how it reads control tokens of chat templates: each is broken up.
#[wasm_bindgen(js_name = withoutTokens)]
#[must_use]
pub fn without_tokens(prompt: &str) -> String {
    crate::judge::provider::without_tokens(prompt)
}

/// A reply to such a prompt, with the tokens that it quotes as they were.
#[wasm_bindgen(js_name = withTokens)]
#[must_use]
pub fn with_tokens(reply: String) -> String {
    crate::judge::provider::with_tokens(reply)
}

/// The prompt for a model that plays the user. Plan and history are material, behind a fence.
#[wasm_bindgen(js_name = userPrompt)]
#[must_use]
pub fn user_prompt(template: &str, plan: &str, history: &str, persona: &str, stop_signal: &str) -> String {
    let value = |name, text, is_fenced| Value { name, text, is_fenced };
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

fn render(
    endpoint: &Endpoint,
    given: Json<'_>,
    body: &str,
) -> std::result::Result<Vec<String>, Box<Failure>> {
    let http = match given.get("request") {
        None => vertex_evaluate::render(endpoint, copy(body)),
        Some(request) => {
            let model = text(request, "model").unwrap_or_default();
            let prompt = text(request, "prompt").unwrap_or_default();
            endpoint.render(&Request {
                model: &model,
                system: text(request, "system").as_deref(),
                prompt: &prompt,
                response_schema: request.get("responseSchema").map(Json::raw),
                config: request.get("generationConfig"),
            })
        }
    }?;
    let mut texts = vec![http.url, http.body];
    for (name, value) in http.headers {
        texts.push(name);
        texts.push(value);
    }
    Ok(texts)
}

fn read(endpoint: &Endpoint, given: Json<'_>, status: Json<'_>, body: &str) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of doubles saturate")]
    let status = status.as_f64().unwrap_or_default() as u16;
    let now_ms = given.get("now").and_then(Json::as_f64);
    let reply = HttpReply { status, headers: &texts(given), body, now_ms };
    let failure = if status == 0 {
        Failure::network(endpoint, body, endpoint.in_browser)
    } else if given.get("evaluation").is_some() {
        match vertex_evaluate::check(endpoint, &reply) {
            Ok(()) => return String::new(),
            Err(failure) => failure,
        }
    } else {
        match endpoint.read(&reply) {
            Ok(reply) => return to_json(&reply, Spelling::Camel),
            Err(failure) => failure,
        }
    };
    to_json(&*failure, Spelling::Camel)
}

fn endpoint(given: Json<'_>) -> Result<Endpoint> {
    let settings = given.get("settings").unwrap_or(given);
    let provider = text(settings, "provider").and_then(|name| Provider::parse(&name));
    let mut endpoint = Endpoint::new(provider.ok_or_else(|| unusable("provider", "a provider"))?);
    for (key, field) in [
        ("apiKey", &mut endpoint.api_key),
        ("accessToken", &mut endpoint.bearer),
        ("baseUrl", &mut endpoint.base_url),
        ("model", &mut endpoint.model),
        ("project", &mut endpoint.project),
        ("location", &mut endpoint.location),
    ] {
        *field = text(settings, key);
    }
    endpoint.headers = texts(settings);
    endpoint.in_browser = settings.get("inBrowser").and_then(Json::as_bool) == Some(true);
    Ok(endpoint)
}

#[inline(never)]
fn text(object: Json<'_>, key: &str) -> Option<String> {
    object.get(key).and_then(Json::as_str).map(owned)
}

/// The headers of an object, by their names.
#[inline(never)]
fn texts(object: Json<'_>) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let Some(headers) = object.get("headers") else { return texts };
    for (name, value) in headers.entries() {
        if let Some(value) = value.as_str() {
            texts.push((owned(name), owned(value)));
        }
    }
    texts
}

impl Write for Reply {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("text", &self.text);
        object.entry("usage", &self.usage);
        object.optional("modelVersion", &self.model_version);
        object.end();
    }
}

impl Write for Usage {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        for (key, count) in
            [("inputTokens", self.input), ("outputTokens", self.output), ("totalTokens", self.total)]
        {
            object.optional(key, &count.and_then(|count| i64::try_from(count).ok()));
        }
        object.end();
    }
}

impl Write for Failure {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("message", &self.message);
        object.entry("retryable", &self.retryable);
        object.optional("retryAfterMs", &self.retry_after_ms);
        object.optional("help", &self.help);
        object.end();
    }
}
