//! Calls of judges: what is sent to a provider, what its answer says, and the runtime's own `fetch`.
//!
//! Nothing here waits. [`fetch_call`] hands the promise of the runtime on, and the answer comes back
//! through [`read_call`], so that no call is lost when this instance is replaced while it is under way.
//!
//! What TypeScript gives is JSON text. The `settings` of an endpoint are `provider`, `baseUrl`, `model`,
//! `apiKey`, `accessToken`, `project`, `location`, `headers` and `inBrowser`.

use gloo_net::http::{Headers, Method, RequestBuilder};
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{RequestInit, RequestRedirect};

use super::unusable;
use crate::judge::provider::{
    Endpoint, Failure, HttpReply, Provider, Reply, Request, Usage, vertex_evaluate,
};
use crate::model::error::Result;
use crate::model::json::{Document, Json};
use crate::model::write::{Spelling, Write, Writer, to_json};

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

/// A call in the words of the provider: the address, the body, and the names and values of the headers in
/// turn. It is given as `{settings, request}`, or `{settings, instances}` with the body of a call of Vertex
/// AI's `evaluateInstances`.
///
/// # Errors
/// `invalid_json`, `limit_exceeded`, `invalid_input` for what is not as it should be.
#[wasm_bindgen(js_name = renderCall)]
pub fn render_call(given: &str) -> Result<Vec<String>> {
    let document = Document::parse(given)?;
    let given = document.root();
    let endpoint = endpoint(given)?;
    let http = match text(given, "instances") {
        Some(body) => vertex_evaluate::render(&endpoint, body),
        None => {
            let request = given.get("request").unwrap_or(given);
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
    };
    let mut texts = vec![http.url, http.body];
    for (name, value) in http.headers {
        texts.push(name);
        texts.push(value);
    }
    Ok(texts)
}

/// What of a `judge_model_config` the provider is not sent, one sentence each. It is given as
/// `{settings, config}`.
///
/// # Errors
/// As [`render_call`].
#[wasm_bindgen(js_name = configWarnings)]
pub fn config_warnings(given: &str) -> Result<Vec<String>> {
    let document = Document::parse(given)?;
    let given = document.root();
    let config = given.get("config").unwrap_or(Json::NULL);
    Ok(endpoint(given)?.warnings(config))
}

/// What came of a call: a reply with `text`, or a failure with `message`, as JSON text. It is given as
/// `{settings, status, headers, now}`, of the headers at least those of `REPLY_HEADERS` and the time in
/// milliseconds since 1970; with `evaluation: true` for `evaluateInstances`, whose good answers need no
/// reading here and give an empty text. Status 0 says that there was no answer, for the reason `body`.
///
/// # Errors
/// As [`render_call`]; the answer itself may be anything.
#[wasm_bindgen(js_name = readCall)]
pub fn read_call(given: &str, body: &str) -> Result<String> {
    let document = Document::parse(given)?;
    let given = document.root();
    let endpoint = endpoint(given)?;
    let headers = texts(given);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    let number = |key: &str| given.get(key).and_then(Json::as_f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of doubles saturate")]
    let status = number("status").unwrap_or_default() as u16;
    let reply = HttpReply { status, headers: &headers, body, now_ms: number("now") };
    let read = if status == 0 {
        Err(Failure::network(&endpoint, body, endpoint.in_browser))
    } else if given.get("evaluation").is_some() {
        vertex_evaluate::check(&endpoint, &reply).map(|()| String::new())
    } else {
        endpoint.read(&reply).map(|reply| to_json(&reply, Spelling::Camel))
    };
    Ok(read.unwrap_or_else(|failure| to_json(&failure, Spelling::Camel)))
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
    object.get(key).and_then(Json::as_str).map(Into::into)
}

/// The headers of an object, by their names.
#[inline(never)]
fn texts(object: Json<'_>) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let Some(headers) = object.get("headers") else { return texts };
    for (name, value) in headers.entries() {
        if let Some(value) = value.as_str() {
            texts.push((name.into(), value.into()));
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
