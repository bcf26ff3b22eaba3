//! The JavaScript boundary: exports, and conversion to and from JavaScript values. Nothing is
//! decided here.
//!
//! Inputs arrive as bytes of JSON, which stay in this memory for as long as their run; results leave
//! as columns of numbers with the rare texts beside them ([`batch`]). Nothing borrows `self` across
//! an await, since nothing here awaits.

mod batch;
mod evaluation;
mod fetch;
mod schema_text;

pub use fetch::{config_warnings, fetch_call, read_call, render_call};
pub use schema_text::{eval_set_to_adk, eval_set_to_js, invocation_to_js, results_to_adk};

use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::metrics::{Dialect, REGISTRY};
use crate::model::double;
use crate::model::error::{Error, ErrorCode};
use crate::model::write::{Spelling, to_json};
use crate::text::Scorer;

/// As fast as the standard library's allocator, and smaller by 2 kB (brotli).
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// The version of google-adk whose scores the `adk-python` dialect gives.
const REFERENCE_VERSION: &str = "2.13.0";

/// The version of this engine and of google-adk whose scores it gives.
#[wasm_bindgen(js_name = versions)]
#[must_use]
pub fn versions() -> Vec<String> {
    vec![env!("CARGO_PKG_VERSION").into(), REFERENCE_VERSION.into()]
}

/// What is known of every metric, as an array of objects.
///
/// # Errors
/// None.
#[wasm_bindgen(js_name = metricInfos)]
pub fn metric_infos() -> Result<JsValue, JsValue> {
    Ok(serde_wasm_bindgen::to_value(REGISTRY)?)
}

/// The exact mean of finite numbers, rounded once: the score of a metric over the turns of several runs.
#[wasm_bindgen(js_name = exactMean)]
#[must_use]
pub fn exact_mean(numbers: &[f64]) -> Option<f64> {
    double::exact_mean(numbers)
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

/// A small object that TypeScript made. A field that is `undefined` or `null` is absent.
struct Given(JsValue);

impl Given {
    fn field<T>(
        &self,
        key: &str,
        what: &str,
        read: impl FnOnce(&JsValue) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let value = js_sys::Reflect::get(&self.0, &key.into()).unwrap_or_default();
        if value.is_null_or_undefined() {
            return Ok(None);
        }
        let found = read(&value);
        found.map(Some).ok_or_else(|| unusable(key, what))
    }

    fn text(&self, key: &str) -> Result<Option<String>, Error> {
        self.field(key, "a string", JsValue::as_string)
    }

    fn number(&self, key: &str) -> Result<Option<f64>, Error> {
        self.field(key, "a number", JsValue::as_f64)
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, Error> {
        self.field(key, "true or false", JsValue::as_bool)
    }

    /// A number as a whole one.
    fn whole(&self, key: &str) -> Result<Option<u64>, Error> {
        Ok(self.number(key)?.map(evaluation::whole))
    }

    fn list(&self, key: &str) -> Result<Option<js_sys::Array>, Error> {
        self.field(key, "an array", |value| value.dyn_ref().cloned())
    }

    fn texts(&self, key: &str) -> Result<Option<Vec<String>>, Error> {
        let list = self.list(key)?;
        let texts = list.map(|list| list.iter().map(|item| item.as_string()).collect::<Option<Vec<_>>>());
        texts.map(|texts| texts.ok_or_else(|| unusable(key, "an array of strings"))).transpose()
    }
}

fn unusable(key: &str, what: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("`{key}` is not {what}"))
}
