//! The result of a custom metric. It is untrusted, so each field has its own error message.

use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use wasm_bindgen::JsValue;

use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::model::results::EvalStatus;
use crate::run::{CustomEvaluation, CustomScore};
use crate::wasm::from_js::{Mismatch, from_value};

/// The result of a custom metric.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(in crate::wasm) struct CustomResult {
    /// For the whole conversation.
    overall: CustomFinding,
    /// For each turn.
    turns: Vec<CustomFinding>,
}

/// The result for a conversation or a turn. In JavaScript the fields may have any type.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct CustomFinding {
    #[serde(default, deserialize_with = "score")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schemas::unchecked"))]
    score: Option<f64>,
    #[serde(default, deserialize_with = "status")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schemas::unchecked"))]
    status: Option<f64>,
    #[serde(default, deserialize_with = "reason")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schemas::unchecked"))]
    reason: Option<String>,
}

fn score<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, "`score` is not a number")
}

fn status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    checked(deserializer, "`status` is not a number")
}

fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    checked(deserializer, "`reason` is not a string")
}

fn checked<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    message: &'static str,
) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer).map_err(|_| D::Error::custom(message))
}

impl CustomResult {
    /// Reads the value that a metric returned.
    ///
    /// # Errors
    /// `custom_metric_failed` with the field that has a wrong type.
    pub(in crate::wasm) fn read(value: JsValue) -> Result<CustomEvaluation> {
        let found: Self = from_value(value)
            .map_err(|Mismatch(reason)| failed(format!("the metric gave no evaluation result: {reason}")))?;
        Ok(CustomEvaluation {
            overall: found.overall.read()?,
            turns: found.turns.into_iter().map(CustomFinding::read).collect::<Result<_>>()?,
        })
    }
}

impl CustomFinding {
    fn read(self) -> Result<CustomScore> {
        Ok(CustomScore { score: self.score, status: known_status(self.status)?, reason: self.reason })
    }
}

fn known_status(given: Option<f64>) -> Result<Option<EvalStatus>> {
    let Some(number) = given else { return Ok(None) };
    let known = EvalStatus::ALL.iter().find(|(status, _)| f64::from(*status as u8) == number);
    known.map(|(status, _)| Some(*status)).ok_or_else(|| {
        failed(format!("the metric gave the status {}; statuses are 1 to 4", double::to_text(number)))
    })
}

fn failed(message: String) -> Error {
    Error::new(ErrorCode::CustomMetricFailed, message)
}
