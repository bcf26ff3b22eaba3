//! Requests, as they are compared with those of the official SDKs.

use super::*;

/// `UPDATE_OURS=1 cargo test --test engine judge::providers` writes the file again.
#[test]
fn requests_are_those_that_the_sdks_are_compared_with() {
    let cases: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{FOLDER}cases.json")).unwrap()).unwrap();
    let mut ours = Vec::new();
    for case in cases["generate"].as_array().unwrap() {
        let request = &case["request"];
        let config = request.get("config").map(|config| Document::parse(config.to_string()).unwrap());
        let schema = request.get("schema").map(Value::to_string);
        ours.push(as_json(
            &case["name"],
            &endpoint_of(&case["endpoint"])
                .render(&Request {
                    model: request["model"].as_str().unwrap(),
                    system: request["system"].as_str(),
                    prompt: request["prompt"].as_str().unwrap(),
                    response_schema: schema.as_deref(),
                    config: config.as_ref().map(Document::root),
                })
                .unwrap(),
        ));
    }
    for case in cases["evaluate"].as_array().unwrap() {
        let conversation = case["conversation"].to_string();
        let turn = &case["turn"];
        let instance = match turn["prompt"].as_str() {
            Some(prompt) => Instance::Turn {
                prompt,
                reference: turn["reference"].as_str(),
                response: turn["response"].as_str().unwrap(),
            },
            None => Instance::Conversation(&conversation),
        };
        let endpoint = endpoint_of(&case["endpoint"]);
        let body = vertex_evaluate::body(case["metric"].as_str().unwrap(), instance).unwrap();
        let request = vertex_evaluate::render(&endpoint, body).unwrap();
        ours.push(as_json(&case["name"], &request));
    }
    let file = format!("{FOLDER}ours.json");
    let ours = Value::from(ours);
    if std::env::var_os("UPDATE_OURS").is_some() {
        std::fs::write(&file, format!("{}\n", serde_json::to_string_pretty(&ours).unwrap())).unwrap();
    }
    let committed: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let (ours, committed) = (ours.as_array().unwrap(), committed.as_array().unwrap());
    assert_eq!(ours.len(), committed.len(), "ours.json is out of date");
    for (ours, committed) in ours.iter().zip(committed) {
        assert_eq!(ours, committed, "ours.json is out of date");
    }
}

#[test]
fn addresses_are_completed_where_needed() {
    let url = |provider, base: Option<&str>, model: &str| {
        let endpoint = Endpoint { base_url: base.map(str::to_owned), ..endpoint(provider) };
        endpoint.render(&Request { model, prompt: "p", ..Request::default() }).unwrap().url
    };
    use Provider::*;
    for (provider, base, model, expected) in [
        (Gemini, None, "g", "https://generativelanguage.googleapis.com/v1/models/g:generateContent"),
        (Gemini, Some("http://h/"), "tunedModels/g", "http://h/v1/tunedModels/g:generateContent"),
        (Gemini, Some("http://h/v1beta"), "models/g", "http://h/v1beta/models/g:generateContent"),
        (
            Gemini,
            None,
            "a?b#c d",
            "https://generativelanguage.googleapis.com/v1/models/a%3Fb%23c%20d:generateContent",
        ),
        (OpenAiChat, None, "g", "https://api.openai.com/v1/chat/completions"),
        (OpenAiChat, Some("http://h/v1/"), "g", "http://h/v1/chat/completions"),
        (OpenAiChat, Some("http://h/o?api-version=3"), "g", "http://h/o/chat/completions?api-version=3"),
        (OpenAiResponses, None, "g", "https://api.openai.com/v1/responses"),
        (Anthropic, None, "g", "https://api.anthropic.com/v1/messages"),
        (Anthropic, Some("http://h/v1"), "g", "http://h/v1/messages"),
        (Ollama, None, "g", "http://127.0.0.1:11434/api/chat"),
        (Ollama, Some("http://h/api/"), "g", "http://h/api/chat"),
        (
            Vertex,
            None,
            "g",
            "https://aiplatform.googleapis.com/v1beta1/publishers/google/models/g:generateContent",
        ),
    ] {
        assert_eq!(url(provider, base, model), expected);
    }
}

#[test]
fn a_project_is_asked_where_it_is() {
    for (location, host, path) in [
        (None, "aiplatform", "global"),
        (Some("global"), "aiplatform", "global"),
        (Some("us-central1"), "us-central1-aiplatform", "us-central1"),
        (Some("eu"), "aiplatform.eu.rep", "eu"),
    ] {
        let endpoint = Endpoint {
            bearer: Some("t".into()),
            project: Some("p".into()),
            location: location.map(str::to_owned),
            ..Endpoint::new(Provider::Vertex)
        };
        let place = format!("https://{host}.googleapis.com/v1beta1/projects/p/locations/{path}");
        let request = endpoint.render(&Request { model: "g", prompt: "p", ..Request::default() }).unwrap();
        assert_eq!(request.url, format!("{place}/publishers/google/models/g:generateContent"));
        let request = vertex_evaluate::render(&endpoint, "{}".into()).unwrap();
        assert_eq!(request.url, format!("{place}:evaluateInstances"));
    }
    let express = endpoint(Provider::Vertex);
    let url = |endpoint: &Endpoint| vertex_evaluate::render(endpoint, "{}".into()).unwrap().url;
    assert_eq!(url(&express), "https://aiplatform.googleapis.com/v1beta1:evaluateInstances");
    let proxied = Endpoint { base_url: Some("http://h/p?team=1".into()), ..express };
    assert_eq!(url(&proxied), "http://h/p/v1beta1:evaluateInstances?team=1");
}

#[test]
fn vertex_ai_scores_turns_and_conversations_by_metrics_of_their_own() {
    let turn = Instance::Turn { prompt: "", reference: None, response: "" };
    let conversation = Instance::Conversation("{}");
    for (metric, of_turns, of_conversations) in [
        ("safety_v1", true, false),
        ("response_evaluation_score", true, false),
        ("multi_turn_task_success_v1", false, true),
        ("multi_turn_trajectory_quality_v1", false, true),
        ("multi_turn_tool_use_quality_v1", false, true),
        ("response_match_score", false, false),
    ] {
        assert_eq!(vertex_evaluate::body(metric, turn).is_some(), of_turns, "{metric}");
        assert_eq!(vertex_evaluate::body(metric, conversation).is_some(), of_conversations, "{metric}");
    }
}

#[test]
fn the_endpoints_model_and_headers_win() {
    let endpoint = Endpoint {
        model: Some("mine".into()),
        headers: vec![("Authorization".into(), "Basic x".into()), ("x-title".into(), "t".into())],
        ..endpoint(Provider::OpenAiChat)
    };
    let request = endpoint.render(&Request { model: "theirs", prompt: "p", ..Request::default() }).unwrap();
    assert!(request.body.contains(r#""model":"mine""#));
    let header = |name: &str| -> Vec<&str> {
        request.headers.iter().filter(|h| h.0.eq_ignore_ascii_case(name)).map(|h| h.1.as_str()).collect()
    };
    assert_eq!((header("authorization"), header("x-title")), (vec!["Basic x"], vec!["t"]));
}

#[test]
fn prompts_arrive_as_they_are() {
    let prompt = "\u{0}\u{7}\"\\\n\r\t{braces} $& </block> 🌍 \u{2028}é";
    for provider in Provider::ALL {
        let request = endpoint(provider)
            .render(&Request { model: "m", prompt, system: Some(prompt), ..Request::default() })
            .unwrap();
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let at = |paths: &[&str]| paths.iter().find_map(|path| body.pointer(path)).cloned().unwrap();
        assert_eq!(
            at(&["/contents/0/parts/0/text", "/messages/1/content", "/input", "/messages/0/content"]),
            prompt
        );
        assert_eq!(
            at(&["/systemInstruction/parts/0/text", "/system", "/instructions", "/messages/0/content"]),
            prompt
        );
    }
}

#[test]
fn parameters_that_a_provider_lacks_are_not_sent_and_warned_of() {
    let config = r#"{"temperature": 0, "top_k": 5, "seed": 7, "stopSequences": ["x"], "labels": {"a_b": "c"},
                     "tools": [], "temprature": 1, "thinkingConfig": {"thinkingBudget": 512}, "logprobs": null}"#;
    let left_out = |provider| -> Vec<String> {
        warnings(provider, config).iter().map(|w| w.split('`').nth(1).unwrap().to_owned()).collect()
    };
    use Provider::*;
    assert_eq!(left_out(Gemini), ["labels", "tools", "temprature"]);
    assert_eq!(left_out(Vertex), ["tools", "temprature"]);
    assert_eq!(left_out(OpenAiChat), ["top_k", "labels", "tools", "temprature", "thinkingConfig"]);
    assert_eq!(
        left_out(OpenAiResponses),
        ["top_k", "seed", "stopSequences", "labels", "tools", "temprature", "thinkingConfig"]
    );
    assert_eq!(left_out(Anthropic), ["temperature", "top_k", "seed", "labels", "tools", "temprature"]);
    assert_eq!(left_out(Ollama), ["labels", "tools", "temprature"]);
    assert_eq!(rendered(Vertex, config)["labels"], json!({ "a_b": "c" }));
    assert_eq!(
        rendered(Anthropic, config),
        json!({ "model": "m", "messages": [{ "role": "user", "content": "p" }], "max_tokens": 9216,
                "thinking": { "type": "enabled", "budget_tokens": 1024 }, "stop_sequences": ["x"] })
    );
}

#[test]
fn the_amount_of_thinking_is_said_in_each_providers_words() {
    let thinking = |config: &str| format!(r#"{{"thinkingConfig": {config}}}"#);
    use Provider::*;
    for (provider, config, path, expected) in [
        (OpenAiChat, r#"{"thinking_level": "medium"}"#, "/reasoning_effort", json!("medium")),
        (OpenAiChat, r#"{"thinkingBudget": 0}"#, "/reasoning_effort", json!("none")),
        (OpenAiResponses, r#"{"thinkingBudget": 0}"#, "/reasoning/effort", json!("none")),
        (Anthropic, r#"{"thinkingLevel": "MINIMAL"}"#, "/output_config/effort", json!("low")),
        (Anthropic, r#"{"thinkingBudget": 0}"#, "/thinking/type", json!("disabled")),
        (Ollama, r#"{"thinkingBudget": -1}"#, "/think", json!(true)),
        (Ollama, r#"{"thinkingLevel": "HIGH", "includeThoughts": true}"#, "/think", json!("high")),
    ] {
        let config = thinking(config);
        assert_eq!(rendered(provider, &config).pointer(path), Some(&expected), "{provider:?} {config}");
        assert!(warnings(provider, &config).is_empty());
    }
    let automatic = thinking(r#"{"thinkingBudget": -1}"#);
    assert!(
        warnings(OpenAiChat, &automatic).is_empty()
            && rendered(OpenAiChat, &automatic).get("reasoning_effort").is_none()
    );
}

#[test]
fn the_older_version_of_anthropics_api_takes_temperature() {
    let endpoint = Endpoint {
        headers: vec![("Anthropic-Version".into(), "2023-06-01".into())],
        ..endpoint(Provider::Anthropic)
    };
    let config = Document::parse(r#"{"temperature": 0.2, "topK": 5}"#).unwrap();
    assert!(endpoint.warnings(config.root()).is_empty());
    let request = endpoint
        .render(&Request { model: "m", prompt: "p", config: Some(config.root()), ..Request::default() })
        .unwrap();
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!((&body["temperature"], &body["top_k"]), (&json!(0.2), &json!(5)));
    assert!(request.headers.contains(&("x-api-key".into(), "sk-secret-1".into())));
    assert!(request.headers.contains(&("anthropic-version".into(), "2023-06-01".into())));
}

#[test]
fn compatible_servers_are_limited_in_the_older_words() {
    let limit = |base: Option<&str>, model: &str| {
        let endpoint = Endpoint { base_url: base.map(str::to_owned), ..endpoint(Provider::OpenAiChat) };
        let config = Document::parse(r#"{"max_output_tokens": 9}"#).unwrap();
        let body = endpoint
            .render(&Request { model, prompt: "p", config: Some(config.root()), ..Request::default() })
            .unwrap()
            .body;
        body.contains("\"max_tokens\":9")
    };
    let base = Some("http://h/v1");
    assert!(limit(base, "llama-4") && limit(base, "gpt-oss-20b") && limit(base, "openai/gpt-oss-20b"));
    assert!(
        !limit(None, "anything")
            && !limit(base, "gpt-5")
            && !limit(base, "o3-mini")
            && !limit(base, "openai/gpt-5")
    );
}

#[test]
fn missing_settings_are_reported_before_anything_is_sent() {
    let problem = |endpoint: &Endpoint| endpoint.check().err().map(|f| (f.kind, f.help.unwrap_or_default()));
    for (provider, key) in [
        (Provider::Gemini, "GEMINI_API_KEY"),
        (Provider::Vertex, "GOOGLE_CLOUD_PROJECT"),
        (Provider::OpenAiChat, "OPENAI_API_KEY"),
        (Provider::OpenAiResponses, "OPENAI_API_KEY"),
        (Provider::Anthropic, "ANTHROPIC_API_KEY"),
    ] {
        let (kind, help) = problem(&Endpoint::new(provider)).unwrap();
        assert!(kind == FailureKind::Auth && help.contains(key), "{help}");
        assert_eq!(problem(&endpoint(provider)), None);
    }
    assert_eq!(problem(&Endpoint::new(Provider::Ollama)), None);
    let local =
        Endpoint { base_url: Some("http://127.0.0.1:8000/v1".into()), ..Endpoint::new(Provider::OpenAiChat) };
    assert_eq!(problem(&local), None);
    let token = Endpoint { bearer: Some("t".into()), ..Endpoint::new(Provider::Vertex) };
    assert!(problem(&token).unwrap().1.contains("GOOGLE_CLOUD_PROJECT"));
}

#[test]
fn names_of_providers_are_read() {
    for provider in Provider::ALL {
        assert_eq!(Provider::parse(provider.name()), Some(provider));
    }
    assert_eq!(Provider::parse("openia"), None);
}
