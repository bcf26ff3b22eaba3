//! Addresses that lead elsewhere, and keys in what is shown.

use super::*;

#[test]
fn nothing_that_becomes_part_of_an_address_leads_elsewhere() {
    use Provider::*;
    let asked = |provider, model: &str, project: &str, location: &str| {
        let endpoint = Endpoint {
            bearer: Some("ya29.token".into()),
            project: Some(project.into()),
            location: Some(location.into()),
            ..Endpoint::new(provider)
        };
        let evaluated = vertex_evaluate::render(&endpoint, "{}".into()).err();
        let rendered = endpoint.render(&Request { model, prompt: "p", ..Request::default() }).err();
        (rendered, evaluated)
    };
    for location in ["evil.example/x", "evil.example", "", "a.b", "us-central1/..", "US", "a b", "a@b", "a#"]
    {
        let (rendered, evaluated) = asked(Vertex, "g", "p", location);
        for failure in [rendered, evaluated].into_iter().flatten() {
            assert!(
                failure.message.contains(&format!("the location is `{location}`")),
                "{}",
                failure.message
            );
            assert!(failure.kind == FailureKind::BadRequest && !failure.retryable);
            assert!(failure.help.unwrap().contains("lower-case letters, digits and `-`"));
        }
        assert!(
            asked(Vertex, "g", "p", location).0.is_some() && asked(Vertex, "g", "p", location).1.is_some()
        );
    }
    for project in ["..", "", "a/b", "p?x", "P", "../.."] {
        let (rendered, evaluated) = asked(Vertex, "g", project, "global");
        assert!(rendered.unwrap().message.contains("the project is") && evaluated.is_some(), "{project}");
    }
    for (provider, model) in [
        (Gemini, "../../../../upload/v1beta/files"),
        (Gemini, "models/../files"),
        (Gemini, "models/a/b"),
        (Gemini, ".."),
        (Gemini, ""),
        (Gemini, "/g"),
        (Gemini, "files/g"),
        (Vertex, "publishers/../../x"),
        (Vertex, "publishers/google/models/.."),
        (Vertex, "a/b"),
        (Vertex, "projects/p/locations/l"),
    ] {
        let failure = asked(provider, model, "p", "global").0.unwrap();
        assert!(failure.message.contains("the model is `"), "{}", failure.message);
        assert!(failure.help.unwrap().contains("no part of it"), "{model}");
    }
    for (provider, model, project, location) in [
        (Gemini, "gemini-2.5-flash", "p", "l"),
        (Gemini, "tunedModels/mine", "p", "l"),
        (Vertex, "gemini-2.5-flash@001", "example.com:mine", "europe-west1"),
        (Vertex, "publishers/meta/models/llama", "123456", "us"),
        (Vertex, "projects/p/locations/l/endpoints/12", "p", "global"),
        (Vertex, "projects/p/locations/l/publishers/google/models/g", "p", "global"),
        // A model that is in no address may be called anything.
        (OpenAiChat, "openai/../x", "p", "l"),
        (Ollama, "hf.co/a/b:q4", "p", "l"),
    ] {
        assert_eq!(asked(provider, model, project, location).0, None, "{model}");
    }
}

#[test]
fn keys_never_appear_in_other_forms() {
    const KEY: &str = "sk-Ab/cd+EF==0123456789";
    let endpoint = Endpoint { api_key: Some(KEY.into()), ..Endpoint::new(Provider::OpenAiChat) };
    for (form, rest) in [
        (KEY.to_owned(), ""),
        (KEY.replace('/', "\\/"), ""),
        (KEY.replace('/', "\\u002f"), ""),
        ("sk-Ab%2fcd%2bEF%3d%3d0123456789".to_owned(), ""),
        ("sk-Ab%2Fcd%2BEF%3D%3D0123456789".to_owned(), ""),
        (KEY.to_uppercase(), ""),
        (KEY.to_lowercase(), ""),
        ("sk-Ab/cd+EF\n==0123456789".to_owned(), ""),
        ("sk-Ab/cd+\r\n    EF==0123456789".to_owned(), ""),
        ("sk-Ab/cd+EF\\n==0123456789".to_owned(), ""),
        // Escaped once more by who passed it on, and as HTML has it.
        (KEY.replace('/', "\\\\/"), ""),
        (KEY.replace('/', "\\\\u002f"), ""),
        ("sk-Ab%252Fcd%252BEF%253D%253D0123456789".to_owned(), ""),
        (KEY.replace('/', "&#x2F;").replace('+', "&#43;").replace('=', "&#61;"), ""),
        (KEY.replace('/', "&amp;#47;").replace('+', "&plus;").replace('=', "&equals;"), ""),
        // base64 of the key, of `user:` and the key, of `Bearer ` and the key, and as addresses have it.
        ("c2stQWIvY2QrRUY9PTAxMjM0NTY3ODk=".to_owned(), "="),
        ("dXNlcjpzay1BYi9jZCtFRj09MDEyMzQ1Njc4OQ==".to_owned(), "dXNlcj Q=="),
        ("QmVhcmVyIHNrLUFiL2NkK0VGPT0wMTIzNDU2Nzg5".to_owned(), "QmVhcmVyIH"),
    ] {
        let redacted = redact(&endpoint, &format!("before {form} after"), "");
        let (begin, end) = redacted.split_once("[redacted]").unwrap_or_else(|| panic!("{redacted}"));
        let left: String = [begin, end].concat().chars().filter(|c| !c.is_ascii_whitespace()).collect();
        assert!(left.len() <= "beforeafter".len() + rest.len() + 1, "{redacted}");
    }
    // What is no form of it stays as it is.
    for text in [
        "sk-Ab cd",
        "100% of it, 5%2 and \\u00e9 \\ü",
        "",
        "\n\n a\n b",
        "R&D; a&&b &#; &#x; &#999999999999; &amp &amp;amp;",
        "\\\\server\\share %25 %252525",
    ] {
        assert_eq!(redact(&endpoint, text, ""), text);
    }
    assert_eq!(redact(&endpoint, KEY, &format!("The question has {KEY}.")), KEY);
    let failure = Failure::network(&endpoint, &format!("{}{}", "x".repeat(390), KEY.to_uppercase()), false);
    assert!(!failure.message.contains("SK-"), "{}", failure.message);
}

#[test]
fn only_the_beginning_of_a_huge_answer_is_read_and_it_keeps_no_part_of_a_key() {
    let key: String = ('a'..='z').cycle().take(3_000).collect();
    let endpoint = Endpoint { api_key: Some(key.clone()), ..Endpoint::new(Provider::OpenAiChat) };
    let escaped: String = key.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
    let told = |body: &str| {
        let reply = HttpReply { status: 500, headers: &[], body, now_ms: None };
        endpoint.read(&reply).unwrap_err().message
    };
    for secret in [key, escaped] {
        // Wherever the part that is looked at ends within the key.
        for shift in [0, 1, 5, 777, 2_999] {
            let body = [".".repeat(shift), secret.repeat(300)].concat();
            let message = told(&body);
            assert!(message.len() < 2_000, "{}", message.len());
            assert!(!message.contains("abcdef") && !message.contains("u0061"), "{message}");
        }
    }
    let message = told(&"busy ".repeat(1_000_000));
    assert!(message.contains("busy busy") && message.ends_with('…'), "{message}");
}

#[test]
fn credentials_never_appear_decoded() {
    let endpoint = |name: &str, value: &str| Endpoint {
        headers: vec![(name.into(), value.into())],
        ..Endpoint::new(Provider::OpenAiChat)
    };
    // "someone:pass/word-4711" and "id-1:päss-word-4711", padded or not, in either alphabet.
    for (name, value, shown) in [
        ("Authorization", "Basic c29tZW9uZTpwYXNzL3dvcmQtNDcxMQ==", "someone:pass/word-4711"),
        ("Authorization", "Basic c29tZW9uZTpwYXNzL3dvcmQtNDcxMQ", "wrong password pass/word-4711!"),
        ("authorization", "ApiKey aWQtMTpww6Rzcy13b3JkLTQ3MTE", "päss-word-4711"),
        ("authorization", "basic c29tZW9uZTpwYXNzL3dvcmQtNDcxMQ==", "pass%2Fword-4711"),
        ("x-gateway", "c29tZW9uZTpwYXNzL3dvcmQtNDcxMQ==", "{\"password\": \"pass\\/word-4711\"}"),
        ("cookie", "session=c29tZW9uZTpwYXNzL3dvcmQtNDcxMQ==", "PASS/WORD-4711"),
    ] {
        let redacted = redact(&endpoint(name, value), shown, "");
        assert!(redacted.contains("[redacted]"), "{name}: {value}: {redacted}");
        assert!(!redacted.to_lowercase().contains("word-4711"), "{redacted}");
        for part in value.split_once(' ').map(|(_, rest)| rest).into_iter() {
            assert!(!redact(&endpoint(name, value), part, "").contains(part));
        }
    }
    // Escaped as in JavaScript and Python.
    let key = Endpoint { api_key: Some("sk-Ab/cd+EF0123".into()), ..Endpoint::new(Provider::OpenAiChat) };
    assert_eq!(redact(&key, "sk-Ab\\x2fcd\\x2BEF0123", ""), "[redacted]");
    // What a key decodes to by chance is no word that anyone would miss.
    let token = endpoint("authorization", "Bearer abcdefghijkl");
    assert_eq!(redact(&token, "nothing of it", ""), "nothing of it");
}
