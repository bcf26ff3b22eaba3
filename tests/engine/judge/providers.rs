//! The protocols of the providers: what is sent, held against `tests/providers/ours.json`, which the
//! tests of that folder hold against the official SDKs; and what is read from replies and errors in the
//! shapes that providers really send.

mod failures;
mod replies;
mod requests;
mod secrets;
mod tokens;
mod vertex;

use adk_metrics::foundation::json::Document;
use adk_metrics::judge::provider::vertex_evaluate::{self, Instance, VertexEvaluation, VertexRubric};
use adk_metrics::judge::provider::{
    Endpoint, Failure, FailureKind, HttpReply, HttpRequest, Provider, Reply, Request, TokenCounts, redact,
};
use serde_json::{Value, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/providers/");

fn endpoint(provider: Provider) -> Endpoint {
    Endpoint { api_key: Some("sk-secret-1".into()), ..Endpoint::new(provider) }
}

fn read(provider: Provider, body: &Value) -> Result<Reply, Box<Failure>> {
    answer(provider, 200, &[], &body.to_string())
}

fn answer(
    provider: Provider,
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Reply, Box<Failure>> {
    let headers = owned(headers);
    endpoint(provider).read(&HttpReply { status, headers: &headers, body, now_ms: None })
}

fn owned(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().map(|&(name, value)| (name.into(), value.into())).collect()
}

fn failure(provider: Provider, status: u16, headers: &[(&str, &str)], body: &str) -> Box<Failure> {
    answer(provider, status, headers, body).unwrap_err()
}

fn rendered(provider: Provider, config: &str) -> Value {
    let config = Document::parse(config).unwrap();
    let request = Request { model: "m", prompt: "p", config: Some(config.root()), ..Request::default() };
    serde_json::from_str(&endpoint(provider).render(&request).unwrap().body).unwrap()
}

fn warnings(provider: Provider, config: &str) -> Vec<String> {
    endpoint(provider).warnings(Document::parse(config).unwrap().root())
}

// What is sent

fn endpoint_of(json: &Value) -> Endpoint {
    let text = |key: &str| json[key].as_str().map(str::to_owned);
    Endpoint {
        api_key: text("apiKey"),
        bearer: text("bearer"),
        base_url: text("baseUrl"),
        project: text("project"),
        location: text("location"),
        in_browser: json["inBrowser"].as_bool().unwrap_or(false),
        ..Endpoint::new(Provider::parse(json["provider"].as_str().unwrap()).unwrap())
    }
}

fn as_json(name: &Value, request: &HttpRequest) -> Value {
    let headers: serde_json::Map<_, _> =
        request.headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    let body: Value = serde_json::from_str(&request.body).unwrap();
    json!({ "name": name, "url": request.url, "headers": headers, "body": body })
}
