//! The inputs of a run, read in slices. Apart, because a run is there only when all of them are.

use std::pin::Pin;
use std::rc::Rc;

use js_sys::Uint8Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::{EvalRun, Inputs, OwnedRun};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::{Document, not_utf8};
use crate::foundation::pace::{Pace, go_on};
use crate::metrics::judged::Work;
use crate::model::actual::ActualFile;
use crate::model::evalset::{ConversationScenario, EvalSetFile};
use crate::model::invocation::Invocation;
use crate::model::shape::{List, Type, View, Warnings, check_paced};
use crate::run::Plan;
use crate::wasm::batch::Batch;
use crate::wasm::contract::{EngineError, InputWarning, RunOptions, input_warnings};
use crate::wasm::to_value;

/// How many bytes are taken over at a time.
const BYTES_AT_ONCE: u32 = 1 << 20;

/// Bytes of JavaScript's, which may be transferred before they are read.
struct Source {
    bytes: Uint8Array,
    length: u32,
}

impl From<Uint8Array> for Source {
    fn from(bytes: Uint8Array) -> Self {
        Self { length: bytes.length(), bytes }
    }
}

/// The evalset of a run.
enum EvalSetInput {
    Unread(Source),
    /// That of another run, with what was warned of in it.
    Read(Rc<EvalSetFile<'static>>, Vec<InputWarning>),
}

#[wasm_bindgen]
impl EvalRun {
    /// Begins to read what an agent did in the cases of this run's evalset, which is not read again, for a run of its own.
    ///
    /// # Errors
    /// What is wrong with the options. `invalid_input` for a run of one conversation.
    #[wasm_bindgen(js_name = withActual)]
    pub fn with_actual(
        &self,
        actual: Uint8Array,
        config: Option<Uint8Array>,
        #[wasm_bindgen(unchecked_param_type = "RunOptions")] options: JsValue,
    ) -> std::result::Result<EvalRunReader, JsValue> {
        let Inputs::Files { eval_set, .. } = self.run.borrow_owner() else {
            return Err(with_input("actual")(Error::new(ErrorCode::InvalidInput, "there is no evalset")));
        };
        let warnings = self.warnings.iter().filter(|warning| warning.input == EVAL_SET).cloned().collect();
        EvalRunReader::of(EvalSetInput::Read(Rc::clone(eval_set), warnings), actual, config, options)
    }
}

const EVAL_SET: &str = "evalSet";

/// The inputs of a run while they are read. To be freed if they are not read to their end.
#[wasm_bindgen]
pub struct EvalRunReader {
    reading: Pin<Box<dyn Future<Output = std::result::Result<EvalRun, JsValue>>>>,
}

#[wasm_bindgen]
impl EvalRunReader {
    /// Begins to read an evalset, what the agent did, and a config (the default one if absent).
    ///
    /// # Errors
    /// What is wrong with the options.
    #[wasm_bindgen(constructor)]
    pub fn new(
        eval_set: Uint8Array,
        actual: Uint8Array,
        config: Option<Uint8Array>,
        #[wasm_bindgen(unchecked_param_type = "RunOptions")] options: JsValue,
    ) -> std::result::Result<EvalRunReader, JsValue> {
        Self::of(EvalSetInput::Unread(eval_set.into()), actual, config, options)
    }

    /// Begins to read one metric and the turns of one conversation, as an evaluator class is given them.
    ///
    /// # Errors
    /// What is wrong with the options.
    #[wasm_bindgen(js_name = ofInvocations)]
    pub fn of_invocations(
        metric: Uint8Array,
        actual: Uint8Array,
        expected: Option<Uint8Array>,
        scenario: Option<Uint8Array>,
        #[wasm_bindgen(unchecked_param_type = "RunOptions")] options: JsValue,
    ) -> std::result::Result<EvalRunReader, JsValue> {
        let options = read_options(options)?;
        let [expected, scenario] = [expected, scenario].map(|bytes| bytes.map(Source::from));
        Ok(Self {
            reading: Box::pin(conversations(metric.into(), actual.into(), expected, scenario, options)),
        })
    }

    /// Reads on for some milliseconds. The run, once everything is read.
    ///
    /// # Errors
    /// What is wrong with an input: `{code, message, path?, line?, help?, input}`. Then nothing is left to be read.
    pub fn step(&mut self) -> std::result::Result<Option<EvalRun>, JsValue> {
        go_on(self.reading.as_mut()).transpose()
    }
}

impl EvalRunReader {
    fn of(
        eval_set: EvalSetInput,
        actual: Uint8Array,
        config: Option<Uint8Array>,
        options: JsValue,
    ) -> std::result::Result<Self, JsValue> {
        let options = read_options(options)?;
        let config = config.map(Source::from);
        Ok(Self { reading: Box::pin(files(eval_set, actual.into(), config, options)) })
    }
}

async fn files(
    eval_set: EvalSetInput,
    actual: Source,
    config: Option<Source>,
    options: RunOptions,
) -> std::result::Result<EvalRun, JsValue> {
    let pace = &Pace::of(Work::PER_POLL);
    // What the caller may change or transfer is taken over before it takes long.
    let eval_set = match eval_set {
        EvalSetInput::Read(file, warnings) => Ok((file, warnings)),
        EvalSetInput::Unread(source) => Err(text_of(&source, pace).await),
    };
    let actual = text_of(&actual, pace).await;
    let [of_config, of_set, of_actual] = <[Warnings; 3]>::default();
    let plan = match &config {
        Some(bytes) => {
            let document = document(text_of(bytes, pace).await, pace).await;
            let plan = document
                .and_then(|mut json| Plan::from_config(&mut json, options.plan_options(), &of_config));
            plan.map_err(with_input("config"))?
        }
        None => Plan::default_config(options.plan_options())?,
    };
    let (eval_set, of_set) = match eval_set {
        Ok(read) => read,
        Err(text) => {
            let read = read_eval_set(text, options.eval_set_name(), &of_set, pace).await;
            (Rc::new(read.map_err(with_input(EVAL_SET))?), input_warnings([(EVAL_SET, of_set)]))
        }
    };
    let actual =
        read_actual(actual, options.eval_set_name(), &of_actual, pace).await.map_err(with_input("actual"))?;
    let of_inputs =
        [input_warnings([("config", of_config)]), of_set, input_warnings([("actual", of_actual)])];
    let inputs = Inputs::Files { eval_set, actual };
    let eval_ids = options.eval_ids().map(<[_]>::to_vec);
    let mut run = OwnedRun::new(inputs, |inputs| inputs.run(plan, options.into_run()));
    while !run.with_dependent_mut(|_, run| run.prepare()) {
        pace.count(Work::PER_POLL).await;
    }
    if let Some(eval_ids) = &eval_ids {
        run.with_dependent_mut(|_, run| run.select(eval_ids)).map_err(with_input(EVAL_SET))?;
    }
    Ok(EvalRun { run, warnings: of_inputs.concat(), batch: Batch::default() })
}

async fn conversations(
    metric: Source,
    actual: Source,
    expected: Option<Source>,
    scenario: Option<Source>,
    options: RunOptions,
) -> std::result::Result<EvalRun, JsValue> {
    let pace = &Pace::of(Work::PER_POLL);
    let [of_metric, of_actual, of_expected, of_scenario] = <[Warnings; 4]>::default();
    let plan = document(text_of(&metric, pace).await, pace)
        .await
        .and_then(|mut json| Plan::from_metric(&mut json, options.plan_options(), &of_metric))
        .map_err(with_input("metric"))?;
    let conversation = &<List<'_, Invocation<'_>>>::TYPE;
    let expected =
        checked_if_there(expected, conversation, &of_expected, pace).await.map_err(with_input("expected"))?;
    let actual = checked(actual, conversation, &of_actual, pace).await.map_err(with_input("actual"))?;
    let scenario = checked_if_there(scenario, &ConversationScenario::TYPE, &of_scenario, pace)
        .await
        .map_err(with_input("scenario"))?;
    let warnings = input_warnings([
        ("metric", of_metric),
        ("actual", of_actual),
        ("expected", of_expected),
        ("scenario", of_scenario),
    ]);
    let inputs = Inputs::Conversations { actual, expected, scenario };
    let run = OwnedRun::new(inputs, |inputs| inputs.run(plan, options.into_run()));
    Ok(EvalRun { run, warnings, batch: Batch::default() })
}

async fn read_eval_set(
    text: Result<String>,
    name: &str,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<EvalSetFile<'static>> {
    EvalSetFile::read_paced(document(text, pace).await?, name, warnings, pace).await
}

async fn read_actual(
    text: Result<String>,
    name: &str,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<ActualFile<'static>> {
    ActualFile::read_paced(document(text, pace).await?, name, warnings, pace).await
}

async fn checked_if_there(
    bytes: Option<Source>,
    of: &Type,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<Option<Document<'static>>> {
    match bytes {
        Some(bytes) => checked(bytes, of, warnings, pace).await.map(Some),
        None => Ok(None),
    }
}

async fn checked(bytes: Source, of: &Type, warnings: &Warnings, pace: &Pace) -> Result<Document<'static>> {
    let mut document = document(text_of(&bytes, pace).await, pace).await?;
    check_paced(&mut document, of, warnings, pace).await?;
    Ok(document)
}

async fn document(text: Result<String>, pace: &Pace) -> Result<Document<'static>> {
    Document::parse_paced(text?, pace).await
}

/// Bytes of JavaScript's as text, taken over piece by piece.
///
/// # Errors
/// `invalid_json` for what is not UTF-8; `invalid_input` if the bytes are gone.
async fn text_of(source: &Source, pace: &Pace) -> Result<String> {
    let Source { bytes, length } = source;
    let length = *length;
    let mut text = String::with_capacity(length as usize);
    while let begin = text.len() as u32
        && begin < length
    {
        if bytes.length() != length {
            return Err(gone());
        }
        let end = begin.saturating_add(BYTES_AT_ONCE).min(length);
        let piece = bytes.subarray(begin, end).to_vec();
        match str::from_utf8(&piece) {
            Ok(valid) => text.push_str(valid),
            Err(error) => {
                let valid = piece.get(..error.valid_up_to()).unwrap_or_default();
                text.push_str(str::from_utf8(valid).unwrap_or_default());
                // A character that the end of the piece cuts is read with the next piece.
                if error.error_len().is_some() || end == length {
                    return Err(not_utf8(text.as_bytes()));
                }
            }
        }
        pace.count(piece.len()).await;
    }
    Ok(text)
}

#[cold]
fn gone() -> Error {
    Error::new(ErrorCode::InvalidInput, "the bytes are gone: their buffer was transferred or resized")
        .with_help("Pass a copy: `bytes.slice()`")
}

pub(in crate::wasm) fn read_options(options: JsValue) -> std::result::Result<RunOptions, JsValue> {
    let options: RunOptions = serde_wasm_bindgen::from_value(options)?;
    options.check_prompts()?;
    Ok(options)
}

/// Says which input an error is about.
fn with_input(name: &'static str) -> impl Fn(Error) -> JsValue {
    move |error| to_value(&EngineError::of_input(&error, Some(name))).unwrap_or_else(|thrown| thrown)
}
