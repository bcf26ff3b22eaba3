//! The JSON index reads the same values as `serde_json`.

use adk_metrics::foundation::error::ErrorCode;
use adk_metrics::foundation::json::{Document, Json, JsonKind};
use adk_metrics::foundation::write::pretty;
use serde_json::Value;

/// Messages of `serde_json` about valid JSON that it rejects: it reads at most 128 levels, numbers as doubles
/// and strings as UTF-8.
const LIMITS_OF_SERDE: [&str; 5] = [
    "recursion limit exceeded",
    "number out of range",
    "lone leading surrogate",
    "unexpected end of hex escape",
    "lone surrogate",
];

/// The input is a text that may be JSON.
pub fn check(input: &[u8]) {
    let theirs = serde_json::from_slice::<Value>(input);
    match (Document::from_bytes(input), theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert_same(ours.root(), &theirs);
            let laid_out = pretty(ours.root());
            match serde_json::from_str::<Value>(&laid_out) {
                Ok(again) => assert_eq!(again, theirs, "laid out"),
                Err(error) => assert!(is_limit(&error), "laid out: {error}"),
            }
        }
        (Ok(_), Err(error)) => {
            assert!(input.starts_with(b"\xEF\xBB\xBF") || is_limit(&error), "serde_json refuses it: {error}");
        }
        // `serde_json` silently takes the last value of a duplicate key.
        (Err(error), Ok(_)) => {
            assert!(error.code == ErrorCode::LimitExceeded || error.message.contains("twice"), "{error}");
        }
        (Err(error), Err(_)) => assert!(!error.to_string().is_empty()),
    }
}

fn is_limit(error: &serde_json::Error) -> bool {
    let message = error.to_string();
    LIMITS_OF_SERDE.iter().any(|limit| message.contains(limit))
}

fn assert_same(ours: Json<'_>, theirs: &Value) {
    match theirs {
        Value::Null => assert!(ours.is_null()),
        Value::Bool(value) => assert_eq!(ours.as_bool(), Some(*value)),
        Value::Number(number) => {
            assert_eq!(ours.as_f64().map(f64::to_bits), number.as_f64().map(f64::to_bits), "{}", ours.raw());
        }
        Value::String(text) => assert_eq!(ours.as_str().as_deref(), Some(text.as_str())),
        Value::Array(items) => {
            assert_eq!(ours.kind(), JsonKind::Array);
            assert_eq!(ours.items().count(), items.len());
            for (ours, theirs) in ours.items().zip(items) {
                assert_same(ours, theirs);
            }
        }
        Value::Object(fields) => {
            assert_eq!(ours.kind(), JsonKind::Object);
            assert_eq!(ours.entries().count(), fields.len());
            for (key, value) in ours.entries() {
                let theirs = fields.get(&*key);
                assert!(theirs.is_some(), "serde_json has no key {key:?}");
                assert_same(value, theirs.unwrap_or(&Value::Null));
            }
        }
    }
}
