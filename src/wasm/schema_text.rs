//! Reads files in any version of ADK's schema and writes them in the current one.

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::contract::EngineError;
use super::to_value;
use crate::foundation::error::{Error, Result};
use crate::foundation::json::Document;
use crate::foundation::write::{Spelling, pretty};
use crate::model::evalset::EvalSetFile;
use crate::model::results::EvalSetResult;
use crate::model::shape::{Record, View, Warnings, check};

/// Reads an evalset of any form and writes it as google-adk does: `snake_case`, two spaces per level.
/// `name` is the id of a set in an old form. A set of actual conversations may have several runs of a case.
///
/// # Errors
/// What is wrong with the evalset, with path and line.
#[wasm_bindgen(js_name = evalSetToAdk)]
pub fn eval_set_to_adk(bytes: Vec<u8>, name: &str) -> Result<String, Error> {
    let file = EvalSetFile::read_runs(Document::from_bytes(bytes)?, name, &Warnings::default())?;
    pretty_json(file.set().to_json(Spelling::Snake))
}

/// Reads evalset results and writes them as google-adk does.
///
/// # Errors
/// What is wrong with the results, with path and line.
#[wasm_bindgen(js_name = resultsToAdk)]
pub fn results_to_adk(bytes: Vec<u8>) -> Result<String, Error> {
    pretty_json(EvalSetResult::from_json(read_results(bytes)?.root()).to_json(Spelling::Snake))
}

/// Reads evalset results and writes them in `camelCase`.
///
/// # Errors
/// What is wrong with the results, with path and line.
#[wasm_bindgen(js_name = resultsToJs)]
pub fn results_to_js(bytes: Vec<u8>) -> Result<String, Error> {
    Ok(EvalSetResult::from_json(read_results(bytes)?.root()).to_json(Spelling::Camel))
}

/// Reads an evalset of any form and writes it in `camelCase`.
///
/// # Errors
/// What is wrong with the evalset, with path and line.
#[wasm_bindgen(js_name = evalSetToJs)]
pub fn eval_set_to_js(bytes: Vec<u8>, name: &str) -> Result<String, Error> {
    let file = EvalSetFile::read(Document::from_bytes(bytes)?, name, &Warnings::default())?;
    Ok(file.set().to_json(Spelling::Camel))
}

/// The warnings about an evalset of any form.
///
/// # Errors
/// What is wrong with the evalset, with path and line.
#[wasm_bindgen(js_name = evalSetWarnings, unchecked_return_type = "EngineError[]")]
pub fn eval_set_warnings(bytes: Vec<u8>, name: &str) -> Result<JsValue, JsValue> {
    let warnings = Warnings::default();
    EvalSetFile::read(Document::from_bytes(bytes)?, name, &warnings)?;
    let warnings = warnings.into_vec();
    to_value(&warnings.iter().map(EngineError::from).collect::<Vec<_>>())
}

fn read_results(bytes: Vec<u8>) -> Result<Document<'static>> {
    let mut document = Document::from_bytes(bytes)?;
    check(&mut document, &EvalSetResult::TYPE, &Warnings::default())?;
    Ok(document)
}

fn pretty_json(json: String) -> Result<String> {
    Ok(pretty(Document::parse(json)?.root()))
}
