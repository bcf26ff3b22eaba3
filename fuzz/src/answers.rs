//! Any answer of a provider can be read: a reply has text, a failure says what happened, and neither contains
//! the key.

use adk_metrics::judge::provider::{
    Endpoint, HostAnswer, HttpReply, Provider, Query, Request, vertex_evaluate,
};

const KEY: &str = "sk-secret-0123456789";
const STATUSES: [u16; 9] = [200, 200, 200, 201, 400, 401, 404, 429, 503];
const RETRY_AFTER: [Option<&str>; 4] =
    [None, Some("7"), Some("Wed, 21 Oct 2015 07:28:00 GMT"), Some("-1e999")];

/// The input is a byte for the provider, one for the status, one for the retry delay, and the body.
pub fn check(input: &[u8]) {
    let [provider, status, retry, body @ ..] = input else { return };
    let Ok(body) = std::str::from_utf8(body) else { return };
    let pick = |byte: &u8, of: usize| usize::from(*byte) % of;
    let Some(&provider) = Provider::ALL.get(pick(provider, Provider::ALL.len())) else { return };
    let Some(&status) = STATUSES.get(pick(status, STATUSES.len())) else { return };
    let wait = RETRY_AFTER.get(pick(retry, RETRY_AFTER.len())).copied().flatten();
    let headers: Vec<_> = wait.map(|wait| ("retry-after".to_owned(), wait.to_owned())).into_iter().collect();
    let reply = HttpReply { status, headers: &headers, body, now_ms: Some(1_445_412_000_000.0) };
    let endpoint =
        Endpoint { api_key: Some(KEY.into()), project: Some("project".into()), ..Endpoint::new(provider) };
    let request = Request { model: "model", prompt: "prompt", ..Request::default() };
    match endpoint.take(Query::Question(request), HostAnswer::Http(reply)) {
        Ok(reply) => assert!(!reply.text.contains(KEY)),
        Err(failure) => {
            let words = failure.message_with_help();
            assert!(!words.is_empty() && !words.contains(KEY), "{words}");
            let wait = failure.to_call_failure().retry_after_ms;
            assert!(wait.is_none_or(|wait| wait >= 0.0), "{wait:?}");
        }
    }
    if provider == Provider::Vertex {
        drop(vertex_evaluate::check(&endpoint, &reply));
        if let Some(evaluation) = vertex_evaluate::parse(body) {
            assert!(evaluation.score.is_none_or(f64::is_finite), "{evaluation:?}");
        }
    }
}
