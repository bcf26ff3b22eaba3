//! Errors and warnings about inputs, as they cross to JavaScript.

use serde::Serialize;
use wasm_bindgen::JsValue;

use crate::foundation::error::{Diagnostic, Error};
use crate::model::shape::Warnings;
use crate::wasm::to_value;

/// What is wrong with an input, where, and what to do about it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(in crate::wasm) struct EngineError<'e> {
    #[cfg_attr(feature = "schema", schemars(with = "crate::foundation::error::ErrorCode"))]
    code: &'static str,
    message: &'e str,
    /// Where in the input, as a JSON path.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'e str>,
    /// The line of the input, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'e str>,
    /// The name of the input, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'static str>,
}

impl<'e> EngineError<'e> {
    pub(in crate::wasm) fn in_input(error: &'e Error, input: Option<&'static str>) -> Self {
        let Diagnostic { code, message, path, line, help } = &**error;
        Self {
            code: code.as_str(),
            message,
            path: path.as_deref(),
            line: *line,
            help: help.as_deref(),
            input,
        }
    }
}

impl<'e> From<&'e Error> for EngineError<'e> {
    fn from(error: &'e Error) -> Self {
        Self::in_input(error, None)
    }
}

/// The value that an export throws.
impl From<Error> for JsValue {
    #[cold]
    fn from(error: Error) -> Self {
        to_value(&EngineError::from(&error)).unwrap_or_else(|thrown| thrown)
    }
}

/// A warning about one of several inputs. Its path and line refer to that input.
#[derive(Clone)]
pub(in crate::wasm) struct InputWarning {
    pub(in crate::wasm) input: &'static str,
    pub(super) warning: Error,
}

/// The warnings about one input.
pub(in crate::wasm) fn input_warnings(input: &'static str, found: Warnings) -> Vec<InputWarning> {
    let mut all = Vec::new();
    for warning in found.into_vec() {
        all.push(InputWarning { input, warning });
    }
    all
}
