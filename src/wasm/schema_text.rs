//! Files in ADK's schema, read in any shape and written in today's.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::model::error::Error;
use crate::model::evalset::EvalSet;
use crate::model::invocation::Invocation;
use crate::model::json::Document;
use crate::model::read::{At, Warnings};
use crate::model::results::EvalSetResult;
use crate::model::write::{Spelling, pretty, to_json};

/// Reads an evalset of any form and writes it as google-adk does: `snake_case`, two spaces a level.
/// `name` is the id of a set in an old form.
///
/// # Errors
/// What is wrong with the evalset, with path and line.
#[wasm_bindgen(js_name = evalSetToAdk)]
pub fn eval_set_to_adk(bytes: Vec<u8>, name: &str) -> Result<String, Error> {
    let document = Document::from_bytes(bytes)?;
    let warnings = Warnings::default();
    let set = EvalSet::read_any(At::root(document.root(), &warnings), name)?;
    laid_out(&to_json(&set, Spelling::Snake))
}

/// Reads evalset results and writes them as google-adk does.
///
/// # Errors
/// What is wrong with the results, with path and line.
#[wasm_bindgen(js_name = resultsToAdk)]
pub fn results_to_adk(bytes: Vec<u8>) -> Result<String, Error> {
    let document = Document::from_bytes(bytes)?;
    let warnings = Warnings::default();
    let results: EvalSetResult<'_> = At::root(document.root(), &warnings).read()?;
    laid_out(&to_json(&results, Spelling::Snake))
}

/// Reads an invocation in either spelling and writes it in `camelCase`.
///
/// # Errors
/// What is wrong with the invocation, with path and line.
#[wasm_bindgen(js_name = invocationToJs)]
pub fn invocation_to_js(bytes: Vec<u8>) -> Result<String, Error> {
    let document = Document::from_bytes(bytes)?;
    let warnings = Warnings::default();
    let invocation: Invocation<'_> = At::root(document.root(), &warnings).read()?;
    Ok(to_json(&invocation, Spelling::Camel))
}

/// Reads an evalset of any form and writes it in `camelCase`.
///
/// # Errors
/// What is wrong with the evalset, with path and line.
#[wasm_bindgen(js_name = evalSetToJs)]
pub fn eval_set_to_js(bytes: Vec<u8>, name: &str) -> Result<String, Error> {
    let document = Document::from_bytes(bytes)?;
    let warnings = Warnings::default();
    let set = EvalSet::read_any(At::root(document.root(), &warnings), name)?;
    Ok(to_json(&set, Spelling::Camel))
}

fn laid_out(json: &str) -> Result<String, Error> {
    Ok(pretty(Document::parse(json)?.root()))
}
