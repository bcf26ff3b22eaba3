//! The JavaScript boundary: the exports, and conversion to and from JavaScript values. It makes no decisions.
//!
//! - `evaluation`: `EvalRun`, a run as JavaScript drives it; its `reader` reads the inputs in slices.
//! - [`batch`]: what a poll returns. Results leave as columns of numbers ([`columns`]), with JSON for rare data.
//! - [`contract`]: every other type that crosses, declared once for both languages; `from_js` reads them.
//! - [`fetch`]: HTTP requests, and judges that are asked outside a run.
//! - [`kept`]: a metric that is kept to score one conversation after another, for evaluators.
//! - [`schema_text`]: files in any version of ADK's schema, rewritten in the current one.
//!
//! Inputs arrive as bytes of JSON, which stay in this memory as long as their run. No export is async, so none borrows
//! `self` across an await.

mod batch;
mod columns;
mod contract;
mod evaluation;
mod fetch;
mod from_js;
mod kept;
mod schema_text;

pub use fetch::{
    endpoint_origin, fetch_call, read_answer, render_call, retirement, retry_advice, user_prompt,
    with_tokens, without_tokens,
};
pub use schema_text::{eval_set_to_adk, eval_set_to_js, eval_set_warnings, results_to_adk, results_to_js};

use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::foundation::double;
use crate::metrics::Dialect;
use crate::model::results::EvalStatus;
use crate::text::Scorer;
use contract::EngineInfo;

/// As fast as the standard library's allocator, and smaller by 2 kB (brotli).
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// Makes a panic throw an exception with its message and location instead of trapping without any. Either way, the
/// instance cannot be used afterwards.
#[wasm_bindgen(start)]
fn throw_panics() {
    std::panic::set_hook(Box::new(|panic| wasm_bindgen::throw_str(&panic.to_string())));
}

/// The layout of a batch.
#[cfg(feature = "schema")]
#[must_use]
pub fn columns() -> serde_json::Value {
    columns::declared()
}

/// The JSON Schema of all types of the [`contract`].
#[cfg(feature = "schema")]
#[must_use]
pub fn contract() -> serde_json::Value {
    contract::schema()
}

/// Imports the TypeScript types that the exports mention.
#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"import type { CallProgress, CustomResult, EndpointSettings, EngineError, EngineInfo, HostFailure, HttpAnswer, HttpRequest, JudgeCall, JudgeOutcome, RetryAdvice, RunHeader, RunOptions, TokenCounts } from "./contract.js";"#;

const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The engine's version, the version of google-adk that it reproduces, and the metrics.
///
/// # Errors
/// None.
#[wasm_bindgen(js_name = engineInfo, unchecked_return_type = "EngineInfo")]
pub fn engine_info() -> Result<JsValue, JsValue> {
    to_value(&EngineInfo::new())
}

/// The exact mean of finite numbers, rounded once: the score of a metric over the turns of several runs. NaN for none.
#[wasm_bindgen(js_name = exactMean)]
#[must_use]
pub fn exact_mean(numbers: &[f64]) -> f64 {
    double::exact_mean(numbers).unwrap_or(f64::NAN)
}

/// The status of a metric: whether its score reaches the threshold.
#[wasm_bindgen(js_name = scoreStatus)]
#[must_use]
pub fn score_status(score: f64, threshold: f64) -> u8 {
    EvalStatus::from_score(Some(score), threshold) as u8
}

/// The status of a case, from those of its metrics.
#[wasm_bindgen(js_name = caseStatus)]
#[must_use]
pub fn case_status(metrics: &[u8]) -> u8 {
    let status = |number: &u8| EvalStatus::ALL.iter().find(|(status, _)| *status as u8 == *number);
    EvalStatus::from_metrics(metrics.iter().filter_map(status).map(|(status, _)| *status)) as u8
}

/// Scores pairs of texts without allocating an object or a typed array per pair: the host encodes both texts into the
/// memory of [`RougePairs::reserve`] and reads the scores from [`RougePairs::scores`].
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

    /// Reserves memory for both texts in UTF-8 and returns its address.
    pub fn reserve(&mut self, bytes: usize) -> *const u8 {
        if self.texts.len() < bytes {
            self.texts.resize(bytes, 0);
        }
        self.texts.as_ptr()
    }

    /// The address of precision, recall and F-measure, as doubles.
    #[must_use]
    pub fn scores(&self) -> *const f64 {
        self.scores.as_ptr()
    }

    /// Scores the two texts, which follow each other in the reserved memory. Invalid UTF-8, which no encoder writes, counts
    /// as an empty text.
    pub fn score(&mut self, reference: usize, candidate: usize) {
        let end = reference.saturating_add(candidate);
        let reference = utf8_or_empty(self.texts.get(..reference));
        let candidate = utf8_or_empty(self.texts.get(end.saturating_sub(candidate)..end));
        let rouge = self.scorer.rouge1(reference, candidate);
        *self.scores = [rouge.precision, rouge.recall, rouge.fmeasure];
    }
}

fn utf8_or_empty(bytes: Option<&[u8]>) -> &str {
    str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of doubles saturate, which is what limits need"
)]
fn saturating_u64(number: f64) -> u64 {
    number as u64
}

/// Converts a value of the [`contract`] to a JavaScript value.
fn to_value<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    Ok(value.serialize(&serde_wasm_bindgen::Serializer::new().serialize_maps_as_objects(true))?)
}
