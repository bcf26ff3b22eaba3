//! The JavaScript boundary: exports, and conversion to and from JavaScript values. Nothing is
//! decided here.
//!
//! Inputs arrive as bytes of JSON, which stay in this memory for as long as their run; results leave
//! as columns of numbers with the rare texts beside them ([`batch`]). Nothing borrows `self` across
//! an await, since nothing here awaits.

mod batch;
mod evaluation;
mod schema_text;

pub use schema_text::{eval_set_to_adk, eval_set_to_js, invocation_to_js, results_to_adk};

use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::metrics::{Dialect, Interval, MetricInfo, REGISTRY};
use crate::model::error::{Error, ErrorCode};
use crate::model::write::{Spelling, Write, Writer, to_json};
use crate::text::Scorer;

/// The version of google-adk whose scores the `adk-python` dialect gives.
const REFERENCE_VERSION: &str = "2.13.0";

/// The version of this engine and of google-adk whose scores it gives.
#[wasm_bindgen(js_name = versions)]
#[must_use]
pub fn versions() -> Vec<String> {
    vec![env!("CARGO_PKG_VERSION").into(), REFERENCE_VERSION.into()]
}

impl Write for MetricInfo {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("metricName", &self.name);
        object.entry("legacyNames", &self.legacy_names);
        object.entry("description", &self.description);
        object.field("interval", "interval", &self.interval);
        object.entry("requiresThreshold", &self.requires_threshold);
        object.entry("requiresReference", &self.requires_reference);
        object.end();
    }
}

impl Write for Interval {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("minValue", &self.min_value);
        object.entry("maxValue", &self.max_value);
        object.end();
    }
}

/// What is known of every metric, as an array of objects.
///
/// # Errors
/// None.
#[wasm_bindgen(js_name = metricInfos)]
pub fn metric_infos() -> Result<JsValue, JsValue> {
    js_sys::JSON::parse(&to_json(&REGISTRY, Spelling::Camel))
}

/// Scores pairs of texts, one after the other, without an object or a typed array per pair: the host
/// encodes both texts into [`RougePairs::reserve`]d memory and reads the scores back from
/// [`RougePairs::scores`].
#[wasm_bindgen]
pub struct RougePairs {
    scorer: Scorer,
    texts: Vec<u8>,
    scores: Box<[f64; 3]>,
}

#[wasm_bindgen]
impl RougePairs {
    /// For the `adk-python` dialect, or for `adk-ts`.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(adk_ts: bool) -> Self {
        let dialect = if adk_ts { Dialect::AdkTs } else { Dialect::AdkPython };
        Self { scorer: Scorer::new(dialect), texts: Vec::new(), scores: Box::default() }
    }

    /// Makes room for both texts as UTF-8 and says where.
    pub fn reserve(&mut self, bytes: usize) -> *const u8 {
        if self.texts.len() < bytes {
            self.texts.resize(bytes, 0);
        }
        self.texts.as_ptr()
    }

    /// Where precision, recall and F-measure stand as doubles.
    #[must_use]
    pub fn scores(&self) -> *const f64 {
        self.scores.as_ptr()
    }

    /// Scores the two texts that stand one after the other in the reserved memory. Bytes that are not
    /// UTF-8 read as U+FFFD.
    pub fn score(&mut self, reference: usize, candidate: usize) {
        let end = reference.saturating_add(candidate);
        let reference = String::from_utf8_lossy(self.texts.get(..reference).unwrap_or_default());
        let start = end.saturating_sub(candidate);
        let candidate = String::from_utf8_lossy(self.texts.get(start..end).unwrap_or_default());
        let rouge = self.scorer.rouge1(&reference, &candidate);
        *self.scores = [rouge.precision, rouge.recall, rouge.fmeasure];
    }
}

/// A user's mistake as a plain object.
impl From<Error> for JsValue {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> Self {
        js_sys::JSON::parse(&to_json(&error, Spelling::Camel)).unwrap_or_else(|thrown| thrown)
    }
}

/// Reads a small object that TypeScript made: options, or what a metric of the user's found.
fn from_js<T: DeserializeOwned>(value: JsValue) -> Result<T, Error> {
    serde_wasm_bindgen::from_value(value)
        .map_err(|error| Error::new(ErrorCode::InvalidInput, format!("unusable options: {error}")))
}
