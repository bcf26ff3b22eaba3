//! Tests of [`super`], in a file of their own because they are as long as a third of it.

use super::*;
use proptest::prelude::*;

fn error(text: &str) -> Error {
    Document::parse(text).err().unwrap_or_else(|| panic!("{text:?} was accepted"))
}

#[test]
fn values_are_views_of_the_text() {
    let doc = Document::parse(
        "\u{feff} {\"a\": [1, -0.0, 1e3, true, false, null], \"b\\n\": \"x\\u00e9\\ud83d\\ude00\"} ",
    )
    .unwrap();
    let a = doc.root().get("a").unwrap();
    let kinds: Vec<_> = a.items().map(Json::kind).collect();
    use JsonKind::*;
    assert_eq!(kinds, [Number, Number, Number, True, False, Null]);
    assert_eq!(a.items().filter_map(Json::as_number).collect::<Vec<_>>(), ["1", "-0.0", "1e3"]);
    assert_eq!(doc.root().get("b\n").unwrap().as_str().unwrap(), "xé😀");
    assert_eq!(a.raw(), "[1, -0.0, 1e3, true, false, null]");
}

#[test]
fn a_document_in_a_string_is_unwrapped_once() {
    let unwrapped = |text: &str| {
        let (inner, wrapped) = Document::parse(text.to_owned()).unwrap().unwrapped().unwrap();
        (inner.root().raw().to_owned(), wrapped)
    };
    assert_eq!(unwrapped(r#""{\"a\": [1]}""#), (r#"{"a": [1]}"#.to_owned(), true));
    assert_eq!(unwrapped(r#"{"a": [1]}"#), (r#"{"a": [1]}"#.to_owned(), false));
    assert_eq!(unwrapped(r#""\"{}\"""#), (r#""{}""#.to_owned(), true));
    let error = Document::parse(r#""{\n\"a\": }""#).unwrap().unwrapped().err().unwrap();
    assert_eq!((error.code, error.line), (ErrorCode::InvalidJson, Some(2)));
}

#[test]
fn integers_of_any_size_keep_their_digits() {
    let doc = Document::parse("[9007199254740993, 1000000000000000000000000000000]").unwrap();
    let digits: Vec<_> = doc.root().items().filter_map(Json::as_number).collect();
    assert_eq!(digits, ["9007199254740993", "1000000000000000000000000000000"]);
}

#[test]
fn errors_name_the_line_and_what_to_do() {
    for (text, line, message) in [
        ("", 1, "expected a value, but the input ends here"),
        ("{\n\"a\": 1,\n}", 3, "expected a key in double quotes, found '}'"),
        ("[1,\n2", 2, "expected `,` or `]`, but the input ends here"),
        ("[1,\n\"ab", 2, "the input ends inside a string"),
        ("[NaN]", 1, "expected a value, found 'N'"),
        ("[-Infinity]", 1, "expected a digit, found 'I'"),
        ("{\"a\":1,\n\"b\":2,\n\"\\u0061\":3}", 3, "the key \"a\" is given twice"),
        ("\"\\ud800\"", 1, "\\ud800 is half of a surrogate pair"),
        ("\"\\ude00\\ud800\"", 1, "\\ude00 is half of a surrogate pair"),
        ("\"a\tb\"", 1, "a string contains a control character"),
        ("[01]", 1, "expected `,` or `]`, found '1'"),
        ("1 2", 1, "expected the end of the input, found '2'"),
    ] {
        let error = error(text);
        assert_eq!((error.message.as_str(), error.line), (message, Some(line)), "{text}");
        assert_eq!(error.code, ErrorCode::InvalidJson);
    }
    assert!(error("[NaN]").help.is_some());
}

#[test]
fn bytes_that_are_not_utf8_are_refused_with_their_line() {
    let error = Document::from_bytes(&b"{\n\"a\": \"\xff\"}"[..]).err().unwrap();
    assert_eq!((error.code, error.line), (ErrorCode::InvalidJson, Some(2)));
}

#[test]
fn limits_end_in_an_error() {
    let deep = "[".repeat(MAX_DEPTH + 1);
    assert_eq!(error(&deep).code, ErrorCode::LimitExceeded);
    let fits = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert!(Document::parse(fits).is_ok());
}

#[test]
fn repeated_keys_are_found_among_many() {
    let mut text = String::from("{");
    for i in 0..500 {
        text += &format!("\"key{i}\": {i},");
    }
    assert!(Document::parse(format!("{text}\"last\":0}}")).is_ok());
    for repeated in ["key250", "key3", "last"] {
        let error = error(&format!("{text}\"last\":[1],\n\"{repeated}\":{{\"a\":0}},\n\"more\":1}}"));
        assert_eq!(
            (error.message.as_str(), error.line),
            (format!("the key {repeated:?} is given twice").as_str(), Some(2))
        );
    }
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_any_text(text in r#"[\[\]{}",:0-9eE+\-. truefalsn\\u0dé\n]{0,24}"#) {
        let ours = Document::parse(text.as_str());
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        if theirs.is_ok() {
            let refusal = ours.as_ref().err().map(|e| e.message.clone()).unwrap_or_default();
            prop_assert!(ours.is_ok() || refusal.contains("twice"), "{text:?}: {refusal}");
        } else if ours.is_ok() {
            // serde_json refuses numbers beyond the range of doubles.
            prop_assert!(theirs.unwrap_err().to_string().contains("out of range"), "{text:?}");
        }
    }

    #[test]
    fn reads_strings_as_serde_json_does(text in any::<String>()) {
        let encoded = serde_json::to_string(&text).unwrap();
        let doc = Document::parse(encoded.as_str()).unwrap();
        prop_assert_eq!(doc.root().as_str().unwrap(), text);
    }
}

#[test]
fn strings_and_objects_have_limits() {
    let code = |json: String| Document::parse(json).err().map(|error| error.code);
    let escaped = |escapes: usize| format!("\"{}\"", "\\n".repeat(escapes));
    assert_eq!(code(escaped(MAX_ESCAPES)), None);
    assert_eq!(code(escaped(MAX_ESCAPES + 1)), Some(ErrorCode::LimitExceeded));
    let long = |bytes: usize, end: &str| format!("\"{}{end}\"", "x".repeat(bytes));
    assert_eq!(code(long(MAX_STRING_BYTES - 2, "")), None);
    assert_eq!(code(long(MAX_STRING_BYTES, "")), Some(ErrorCode::LimitExceeded));
    assert_eq!(code(long(MAX_STRING_BYTES, "\\n")), Some(ErrorCode::LimitExceeded));
    let object = |keys: usize| {
        let entries: Vec<String> = (0..keys).map(|key| format!("\"{key}\":1")).collect();
        format!("{{{}}}", entries.join(","))
    };
    assert_eq!(code(object(MAX_KEYS)), None);
    assert_eq!(code(object(MAX_KEYS + 1)), Some(ErrorCode::LimitExceeded));
}
