//! Errors, odd answers and when to retry.

use super::*;

#[test]
fn errors_are_read_in_every_shape() {
    use FailureKind::*;
    use Provider::*;
    for (provider, status, body, kind, retryable, said) in [
        (
            Gemini,
            429,
            r#"{"error":{"code":429,"message":"Slow down.","status":"RESOURCE_EXHAUSTED"}}"#,
            RateLimited,
            true,
            "Gemini answered 429 RESOURCE_EXHAUSTED: Slow down.",
        ),
        (
            Gemini,
            400,
            r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#,
            Auth,
            false,
            "Gemini answered 400 INVALID_ARGUMENT: API key not valid.",
        ),
        (
            Vertex,
            503,
            r#"[{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}]"#,
            Overloaded,
            true,
            "Vertex AI answered 503 UNAVAILABLE: Overloaded",
        ),
        (
            Vertex,
            403,
            r#"{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"}}"#,
            Auth,
            false,
            "Vertex AI answered 403 PERMISSION_DENIED: No.",
        ),
        (
            OpenAiChat,
            401,
            r#"{"error":{"message":"Wrong key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            Auth,
            false,
            "OpenAI answered 401 invalid_api_key: Wrong key",
        ),
        (
            OpenAiChat,
            429,
            r#"{"error":{"message":"No quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            RateLimited,
            false,
            "OpenAI answered 429 insufficient_quota: No quota",
        ),
        (
            OpenAiChat,
            400,
            r#"{"error":{"message":"Filtered","type":null,"param":"prompt","code":"content_filter"}}"#,
            Refused,
            false,
            "OpenAI answered 400 content_filter: Filtered",
        ),
        (
            OpenAiChat,
            404,
            r#"{"object":"error","message":"No such model","type":"NotFoundError","code":404}"#,
            NotFound,
            false,
            "OpenAI answered 404 NotFoundError: No such model",
        ),
        (
            OpenAiChat,
            422,
            r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#,
            BadRequest,
            false,
            r#"OpenAI answered 422: [{"loc":["body"],"msg":"field required"}]"#,
        ),
        (
            OpenAiChat,
            200,
            r#"{"error":{"message":"Upstream is slow","code":429}}"#,
            RateLimited,
            true,
            "OpenAI answered 429: Upstream is slow",
        ),
        (
            OpenAiResponses,
            200,
            r#"{"status":"failed","error":{"code":"server_error","message":"Oh"},"output":[]}"#,
            Server,
            true,
            "OpenAI answered 500 server_error: Oh",
        ),
        (
            Anthropic,
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Overloaded,
            true,
            "Anthropic answered 529 overloaded_error: Overloaded",
        ),
        (OpenAiChat, 529, "", Overloaded, false, "OpenAI answered 529"),
        (
            Anthropic,
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Big"}}"#,
            BadRequest,
            false,
            "Anthropic answered 413 request_too_large: Big",
        ),
        (
            Ollama,
            404,
            r#"{"error":"model 'x' not found"}"#,
            NotFound,
            false,
            "Ollama answered 404: model 'x' not found",
        ),
        (Ollama, 500, "", Server, true, "Ollama answered 500"),
        (Gemini, 408, "", Timeout, true, "Gemini answered 408"),
        (
            Gemini,
            502,
            "<html>\n  <title>502  Bad Gateway</title></html>",
            Server,
            true,
            "Gemini answered 502: <html>   <title>502  Bad Gateway</title></html>",
        ),
        (Gemini, 504, "{\"error\": {\"cod", Server, true, "Gemini answered 504: {\"error\": {\"cod"),
        (Gemini, 501, "", Server, false, "Gemini answered 501"),
        (Gemini, 302, "", BadRequest, false, "Gemini answered 302"),
    ] {
        let failure = failure(provider, status, &[], body);
        assert_eq!(
            (failure.kind, failure.retryable, failure.message.as_str()),
            (kind, retryable, said),
            "{body}"
        );
        assert_eq!(failure.status, Some(status));
    }
}

#[test]
fn other_content_of_a_reply_is_not_an_error() {
    let body = json!({ "error": null, "detail": "x", "object": "error", "message": { "content": "Yes." } });
    assert_eq!(read(Provider::Ollama, &body).map(|reply| reply.text), Ok("Yes.".into()));
}

/// What `tests/providers/server.mjs` plays, which the SDKs understand.
#[test]
fn the_loopback_servers_answers_are_read_as_what_they_play() {
    use FailureKind::*;
    let replies: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{FOLDER}replies.json")).unwrap()).unwrap();
    for recorded in replies.as_array().unwrap() {
        let provider = Provider::parse(recorded["provider"].as_str().unwrap()).unwrap();
        let played = recorded["answer"].as_str().unwrap();
        let headers: Vec<(&str, &str)> = recorded["headers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|header| (header[0].as_str().unwrap(), header[1].as_str().unwrap()))
            .collect();
        let status = u16::try_from(recorded["status"].as_u64().unwrap()).unwrap();
        let found = answer(provider, status, &headers, recorded["body"].as_str().unwrap());
        let expected = match played {
            "text" | "text after thoughts" | "text in parts" | "truncated text" => {
                let text = match (played, provider) {
                    ("truncated text", _) => "Ye",
                    ("text in parts", Provider::Gemini | Provider::Vertex) => "Yes\n.",
                    _ => "Yes.",
                };
                let reply = found.unwrap();
                assert_eq!((reply.text.as_str(), reply.truncated), (text, played == "truncated text"));
                assert!(
                    reply.usage.input > Some(0)
                        && reply.usage.output > Some(0)
                        && reply.model_version.is_some()
                );
                continue;
            }
            "blocked" | "refusal" if provider != Provider::Ollama => Refused,
            "blocked" | "refusal" | "empty" => Empty,
            "truncated" => Truncated,
            "malformed" | "html" => Malformed,
            "auth" | "forbidden" => Auth,
            "bad_request" => BadRequest,
            "not_found" => NotFound,
            "timeout" => Timeout,
            "server" | "bad_gateway" | "gateway_timeout" => Server,
            "unavailable" | "overloaded" => Overloaded,
            _ => RateLimited,
        };
        let failure = found.unwrap_err();
        assert_eq!(failure.kind, expected, "{provider:?} {played}");
        let wait = match played {
            "rate_limit with Retry-After" => Some(2000.0),
            "rate_limit with retry-after-ms" => Some(250.0),
            "rate_limit with RetryInfo" if matches!(provider, Provider::Gemini | Provider::Vertex) => {
                Some(1500.0)
            }
            _ => None,
        };
        assert_eq!(failure.retry_after_ms, wait, "{provider:?} {played}");
    }
}

#[test]
fn a_parameter_that_the_model_refuses_is_named_in_the_help() {
    let body = r#"{"error":{"message":"Unsupported value","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}"#;
    let help = failure(Provider::OpenAiChat, 400, &[], body).help.unwrap();
    assert!(help.contains("`temperature`") && help.contains("judge_model_config"));
}

#[test]
fn bodies_that_are_no_reply_are_malformed_and_asked_again() {
    for (body, said) in [
        ("", "without a body"),
        ("{\"candidates\": [{\"conte", "other than JSON"),
        ("data: {\"candidates\": []}\n\n", "other than JSON"),
        ("<!doctype html><p>Sign in</p>", "other than JSON"),
        ("{}", "an unknown format"),
        ("[]", "an unknown format"),
        ("null", "an unknown format"),
        (
            "{\"candidates\": 3, \"choices\": {}, \"output\": 1, \"content\": 2, \"message\": [}",
            "other than JSON",
        ),
    ] {
        for provider in Provider::ALL {
            let failure = failure(provider, 200, &[], body);
            assert_eq!(
                (failure.kind, failure.retryable),
                (FailureKind::Malformed, true),
                "{provider:?} {body}"
            );
            assert!(failure.message.contains(said), "{}", failure.message);
            assert_eq!(failure.help.is_some(), body.starts_with('<'));
        }
    }
}

#[test]
fn no_reply_makes_a_reader_fail() {
    let shapes = [
        json!({ "candidates": [], "choices": [], "output": [], "content": [], "message": {} }),
        json!({ "candidates": [3], "choices": [{ "message": 3 }], "output": [3, { "type": "message" }], "content": [3], "message": 3 }),
        json!({ "candidates": [{ "content": { "parts": [null, 3, {}] } }], "choices": [{ "message": { "content": [3] } }],
                "output": [{ "type": "message", "content": 3 }], "content": [{ "type": "text", "text": 3 }],
                "message": { "content": 3 }, "usage": 3, "usageMetadata": [], "model": 3 }),
    ];
    for shape in shapes {
        for provider in Provider::ALL {
            assert_eq!(read(provider, &shape).unwrap_err().kind, FailureKind::Empty, "{provider:?} {shape}");
        }
    }
}

#[test]
fn the_wait_is_read_from_headers_and_bodies() {
    let info = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[
        {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[]},
        {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"36.5s"}]}}"#;
    let date = ("Date", "Sat, 21 Nov 2026 04:30:00 GMT");
    for (headers, body, expected) in [
        (&[][..], "", None),
        (&[("Retry-After", "7")], "", Some(7000.0)),
        (&[("retry-after", "1.5")], "", Some(1500.0)),
        (&[("retry-after", "-3")], "", Some(0.0)),
        (&[("retry-after", "soon")], "", None),
        (&[("retry-after-ms", "250"), ("retry-after", "7")], "", Some(250.0)),
        (&[("retry-after", "Sat, 21 Nov 2026 04:30:09 GMT"), date], "", Some(9000.0)),
        (&[("retry-after", "Sat, 21 Nov 2026 04:29:00 GMT"), date], "", Some(0.0)),
        (&[], info, Some(36500.0)),
        (&[("retry-after", "7")], info, Some(7000.0)),
    ] {
        assert_eq!(failure(Provider::Gemini, 429, headers, body).retry_after_ms, expected, "{headers:?}");
    }
    let dated = HttpReply {
        status: 503,
        headers: &owned(&[("retry-after", "Sat, 21 Nov 2026 04:30:09 GMT")]),
        body: "",
        now_ms: Some(1_795_235_400_000.0),
    };
    assert_eq!(endpoint(Provider::Gemini).read(&dated).unwrap_err().retry_after_ms, Some(9000.0));
}

#[test]
fn a_server_may_say_whether_to_ask_again() {
    assert!(!failure(Provider::OpenAiChat, 500, &[("X-Should-Retry", "false")], "").retryable);
    assert!(failure(Provider::OpenAiChat, 409, &[("x-should-retry", "true")], "").retryable);
}

#[test]
fn keys_never_appear_in_failures() {
    let endpoint = Endpoint {
        api_key: Some("sk-ant-api03-abc".into()),
        bearer: Some("ya29.token".into()),
        base_url: Some("https://user:pass@host/v1?sig=s1g".into()),
        headers: vec![
            ("api-key".into(), "0123456789abcdef".into()),
            ("authorization".into(), "Bearer other-token".into()),
        ],
        ..Endpoint::new(Provider::OpenAiChat)
    };
    let echo = "sk-ant-api03-abc ya29.token user:pass sig=s1g 0123456789abcdef other-token";
    let long = format!("{}{echo}", "x".repeat(395));
    let bodies = [
        json!({ "error": { "message": echo } }).to_string(),
        echo.into(),
        long,
        json!({ "a": echo }).to_string(),
    ];
    let mut failures =
        vec![Failure::network(&endpoint, echo, true), Failure::network(&endpoint, echo, false)];
    for body in &bodies {
        for status in [200, 401] {
            let reply = HttpReply { status, body, ..HttpReply::default() };
            failures.push(endpoint.read(&reply).unwrap_err());
            failures.push(vertex_evaluate::check(&endpoint, &reply).unwrap_err());
        }
    }
    for failure in failures {
        let told = format!("{failure:?}");
        for secret in ["sk-ant", "ya29", "user:pass", "s1g", "01234", "other-token"] {
            assert!(!told.contains(secret), "{told}");
        }
    }
    assert!(!format!("{endpoint:?}").contains("ya29"));
}

#[test]
fn long_texts_of_providers_are_cut() {
    let failure = failure(Provider::Gemini, 500, &[], &"é ".repeat(100_000));
    assert!(failure.message.chars().count() < 420 && failure.message.ends_with('…'));
}

#[test]
fn no_answer_is_explained_for_each_provider() {
    for (provider, in_browser, said) in [
        (Provider::Anthropic, true, "anthropic-dangerous-direct-browser-access"),
        (Provider::Ollama, true, "OLLAMA_ORIGINS"),
        (Provider::Ollama, false, "ollama serve"),
        (Provider::OpenAiChat, true, "Access-Control-Allow-Origin"),
        (Provider::Gemini, true, "content security policy"),
        (Provider::Vertex, true, "origin"),
        (Provider::Gemini, false, "network"),
    ] {
        let failure = Failure::network(&endpoint(provider), "Failed to fetch", in_browser);
        assert_eq!((failure.kind, failure.retryable, failure.status), (FailureKind::Network, true, None));
        assert_eq!(failure.message, format!("{} did not answer: Failed to fetch", provider.label()));
        assert!(failure.help.unwrap().contains(said));
    }
}

#[test]
fn a_server_of_ones_own_is_not_called_by_the_providers_name() {
    for (base_url, message) in [
        ("http://127.0.0.1:8102/v1", "The server at 127.0.0.1:8102 did not answer: x"),
        ("https://me:secret@models.example/v1?key=secret", "The server at models.example did not answer: x"),
        ("https://api.openai.com/v1", "OpenAI did not answer: x"),
        (
            "https://api.openai.com.evil.example",
            "The server at api.openai.com.evil.example did not answer: x",
        ),
    ] {
        let endpoint = Endpoint { base_url: Some(base_url.to_owned()), ..endpoint(Provider::OpenAiChat) };
        assert_eq!(Failure::network(&endpoint, "x", false).message, message);
        let config = Document::parse(r#"{"topK": 1}"#).unwrap();
        let server = message.split(" did not").next().unwrap();
        assert_eq!(
            endpoint.warnings(config.root()),
            [format!("{server} is not sent `topK`: it has no such parameter or value")]
        );
    }
}
