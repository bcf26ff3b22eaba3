//! Recorded vectors: files, what is in them, and how numbers compare with it.

use std::fmt::Write as _;

use adk_metrics::foundation::json::Json;

/// The text of a file below `tests/`.
pub(crate) fn file(path: &str) -> String {
    let path = format!("{}/tests/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The value under a key that every vector has.
pub(crate) fn at<'a>(json: Json<'a>, key: &str) -> Json<'a> {
    json.get(key).unwrap_or_else(|| panic!("no {key:?} in {json:?}"))
}

/// The text under a key that every vector has.
pub(crate) fn text(json: Json<'_>, key: &str) -> String {
    at(json, key).as_str().unwrap_or_else(|| panic!("{key:?} is no text in {json:?}")).into_owned()
}

/// Collects how a result differs from the recorded one.
#[derive(Default)]
pub(crate) struct Differences(String);

impl Differences {
    /// Compares a number with the recorded one: a number, `"Infinity"` and the like, null or nothing.
    pub(crate) fn number(&mut self, what: &str, recorded: Option<Json<'_>>, found: Option<f64>) {
        let recorded = recorded.and_then(|json| {
            json.as_f64().or_else(|| json.as_str().map(|word| word.parse().expect("a number in words")))
        });
        // Bits, so that -0 is not 0.
        if recorded.map(f64::to_bits) != found.map(f64::to_bits) {
            _ = write!(self.0, "; {what}: recorded {recorded:?}, found {found:?}");
        }
    }

    /// The differences in words; none if there are none.
    pub(crate) fn into_words(self) -> Option<String> {
        (!self.0.is_empty()).then_some(self.0)
    }
}
