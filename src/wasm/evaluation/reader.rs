//! Reads the inputs of a run in slices. The reader is a separate type because the run exists only once all inputs are read.

use std::pin::Pin;
use std::rc::Rc;

use js_sys::{Array, Reflect, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::{EvalRun, Inputs, OwnedRun};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::{Document, not_utf8};
use crate::foundation::pace::{Pace, go_on};
use crate::metrics::judged::Work;
use crate::model::actual::ActualFile;
use crate::model::evalset::{ConversationScenario, EvalSetFile, UNITS_PER_CASE};
use crate::model::invocation::Invocation;
use crate::model::shape::{List, Type, View, Warnings, check_paced};
use crate::run::{Plan, Selection};
use crate::wasm::batch::Batch;
use crate::wasm::contract::{EngineError, InputWarning, RunOptions, input_warnings};
use crate::wasm::from_js::from_value;
use crate::wasm::to_value;

/// How many bytes are copied from JavaScript at a time.
const BYTES_AT_ONCE: u32 = 1 << 20;

/// Bytes in JavaScript. Their buffer may be transferred before they are read.
struct InputBytes {
    bytes: Uint8Array,
    length: u32,
}

impl From<Uint8Array> for InputBytes {
    fn from(bytes: Uint8Array) -> Self {
        Self { length: bytes.length(), bytes }
    }
}

/// The evalset of a run.
enum EvalSetInput {
    Unread(InputBytes),
    /// The evalset of another run, with its warnings.
    Read(Rc<EvalSetFile<'static>>, Vec<InputWarning>),
}

#[wasm_bindgen]
impl EvalRun {
    /// Begins to read the actual runs for a new run on this run's evalset, which is not read again.
    ///
    /// # Errors
    /// Invalid options; `invalid_input` for a run of one conversation.
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
        EvalRunReader::from_files(EvalSetInput::Read(Rc::clone(eval_set), warnings), actual, config, options)
    }
}

const EVAL_SET: &str = "evalSet";

/// Reads the inputs of a run. JavaScript has to free it if it does not read them to the end.
#[wasm_bindgen]
pub struct EvalRunReader {
    reading: Pin<Box<dyn Future<Output = std::result::Result<EvalRun, JsValue>>>>,
}

#[wasm_bindgen]
impl EvalRunReader {
    /// Begins to read an evalset, the actual runs, and a config (the default one if absent).
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
        Self::from_files(EvalSetInput::Unread(eval_set.into()), actual, config, options)
    }

    /// Begins to read one metric and the turns of one conversation, the arguments of an evaluator class.
    ///
    /// # Errors
    /// What is wrong with the options.
    #[wasm_bindgen(js_name = fromInvocations)]
    pub fn from_invocations(
        metric: Uint8Array,
        actual: Uint8Array,
        expected: Option<Uint8Array>,
        scenario: Option<Uint8Array>,
        #[wasm_bindgen(unchecked_param_type = "RunOptions")] options: JsValue,
    ) -> std::result::Result<EvalRunReader, JsValue> {
        let options = read_options(options)?;
        let [expected, scenario] = [expected, scenario].map(|bytes| bytes.map(InputBytes::from));
        Ok(Self {
            reading: Box::pin(read_conversations(metric.into(), actual.into(), expected, scenario, options)),
        })
    }

    /// Reads for a few milliseconds. Returns the run once everything is read.
    ///
    /// # Errors
    /// The error in an input: `{code, message, path?, line?, help?, input}`. The reader cannot be used afterwards.
    pub fn step(&mut self) -> std::result::Result<Option<EvalRun>, JsValue> {
        go_on(self.reading.as_mut()).transpose()
    }
}

impl EvalRunReader {
    fn from_files(
        eval_set: EvalSetInput,
        actual: Uint8Array,
        config: Option<Uint8Array>,
        options: JsValue,
    ) -> std::result::Result<Self, JsValue> {
        let eval_ids = Reflect::get(&options, &"evalIds".into())?.dyn_into().ok();
        let options = read_options(options)?;
        let config = config.map(InputBytes::from);
        Ok(Self { reading: Box::pin(read_files(eval_set, actual.into(), config, options, eval_ids)) })
    }
}

async fn read_files(
    eval_set: EvalSetInput,
    actual: InputBytes,
    config: Option<InputBytes>,
    options: RunOptions,
    eval_ids: Option<Array>,
) -> std::result::Result<EvalRun, JsValue> {
    let pace = &Pace::new(Work::PER_POLL);
    // Bytes are copied before anything slow happens, since the caller may change or transfer them.
    let eval_set = match eval_set {
        EvalSetInput::Read(file, warnings) => Ok((file, warnings)),
        EvalSetInput::Unread(source) => Err(read_text(&source, pace).await),
    };
    let actual = read_text(&actual, pace).await;
    let [config_warnings, set_warnings, actual_warnings] = <[Warnings; 3]>::default();
    let plan = match &config {
        Some(bytes) => {
            let document = parse_document(read_text(bytes, pace).await, pace).await;
            let plan = document
                .and_then(|mut json| Plan::from_config(&mut json, options.plan_options(), &config_warnings));
            plan.map_err(with_input("config"))?
        }
        None => Plan::default_config(options.plan_options())?,
    };
    for warnings in [&set_warnings, &actual_warnings] {
        warnings.read_rubric_types.set(config_warnings.read_rubric_types.get());
    }
    let (eval_set, set_warnings) = match eval_set {
        Ok(read) => read,
        Err(text) => {
            let read = read_eval_set(text, options.eval_set_name(), &set_warnings, pace).await;
            (Rc::new(read.map_err(with_input(EVAL_SET))?), input_warnings(EVAL_SET, set_warnings))
        }
    };
    let actual = read_actual(actual, options.eval_set_name(), &actual_warnings, pace)
        .await
        .map_err(with_input("actual"))?;
    let warnings =
        [input_warnings("config", config_warnings), set_warnings, input_warnings("actual", actual_warnings)];
    let inputs = Inputs::Files { eval_set, actual };
    let mut run = OwnedRun::new(inputs, |inputs| inputs.run(plan, options.into_run()));
    while !run.with_dependent_mut(|_, run| run.prepare()) {
        pace.count(Work::PER_POLL).await;
    }
    if let Some(eval_ids) = eval_ids {
        let mut selection = Selection::default();
        for id in eval_ids.iter() {
            selection.want(id.as_string().unwrap_or_default());
            pace.count(UNITS_PER_CASE).await;
        }
        for case in 0..run.with_dependent(|_, run| run.cases().len()) {
            run.with_dependent(|_, run| run.cases().get(case).map(|case| selection.look_at(case)));
            pace.count(UNITS_PER_CASE).await;
        }
        run.with_dependent_mut(|_, run| run.keep(&selection)).map_err(with_input(EVAL_SET))?;
    }
    Ok(EvalRun { run, warnings: warnings.concat(), batch: Batch::default(), next_turn: None })
}

async fn read_conversations(
    metric: InputBytes,
    actual: InputBytes,
    expected: Option<InputBytes>,
    scenario: Option<InputBytes>,
    options: RunOptions,
) -> std::result::Result<EvalRun, JsValue> {
    let pace = &Pace::new(Work::PER_POLL);
    let [metric_warnings, actual_warnings, expected_warnings, scenario_warnings] = <[Warnings; 4]>::default();
    let plan = parse_document(read_text(&metric, pace).await, pace)
        .await
        .and_then(|mut json| Plan::from_metric(&mut json, options.plan_options(), &metric_warnings))
        .map_err(with_input("metric"))?;
    for warnings in [&expected_warnings, &actual_warnings] {
        warnings.read_rubric_types.set(metric_warnings.read_rubric_types.get());
    }
    let conversation = &<List<'_, Invocation<'_>>>::TYPE;
    let expected = checked_optional(expected, conversation, &expected_warnings, pace)
        .await
        .map_err(with_input("expected"))?;
    let actual = checked(actual, conversation, &actual_warnings, pace).await.map_err(with_input("actual"))?;
    let scenario = checked_optional(scenario, &ConversationScenario::TYPE, &scenario_warnings, pace)
        .await
        .map_err(with_input("scenario"))?;
    let warnings = [
        input_warnings("metric", metric_warnings),
        input_warnings("actual", actual_warnings),
        input_warnings("expected", expected_warnings),
        input_warnings("scenario", scenario_warnings),
    ]
    .concat();
    let inputs = Inputs::Conversations { actual, expected, scenario };
    let run = OwnedRun::new(inputs, |inputs| inputs.run(plan, options.into_run()));
    Ok(EvalRun { run, warnings, batch: Batch::default(), next_turn: None })
}

async fn read_eval_set(
    text: Result<String>,
    name: &str,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<EvalSetFile<'static>> {
    EvalSetFile::read_paced(parse_document(text, pace).await?, name, warnings, pace).await
}

async fn read_actual(
    text: Result<String>,
    name: &str,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<ActualFile<'static>> {
    ActualFile::read_paced(parse_document(text, pace).await?, name, warnings, pace).await
}

async fn checked_optional(
    bytes: Option<InputBytes>,
    ty: &Type,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<Option<Document<'static>>> {
    match bytes {
        Some(bytes) => checked(bytes, ty, warnings, pace).await.map(Some),
        None => Ok(None),
    }
}

async fn checked(
    bytes: InputBytes,
    ty: &Type,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<Document<'static>> {
    let mut document = parse_document(read_text(&bytes, pace).await, pace).await?;
    check_paced(&mut document, ty, warnings, pace).await?;
    Ok(document)
}

async fn parse_document(text: Result<String>, pace: &Pace) -> Result<Document<'static>> {
    Document::parse_paced(text?, pace).await
}

/// Copies bytes from JavaScript as text, piece by piece.
///
/// # Errors
/// `invalid_json` if they are not UTF-8; `invalid_input` if their buffer was transferred or resized.
async fn read_text(source: &InputBytes, pace: &Pace) -> Result<String> {
    let InputBytes { bytes, length } = source;
    let length = *length;
    let mut text = String::with_capacity(length as usize);
    while let begin = text.len() as u32
        && begin < length
    {
        if bytes.length() != length {
            return Err(detached_buffer());
        }
        let end = begin.saturating_add(BYTES_AT_ONCE).min(length);
        let piece = bytes.subarray(begin, end).to_vec();
        match str::from_utf8(&piece) {
            Ok(valid) => text.push_str(valid),
            Err(error) => {
                let valid = piece.get(..error.valid_up_to()).unwrap_or_default();
                text.push_str(str::from_utf8(valid).unwrap_or_default());
                // A character split by the end of this piece is read with the next one.
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
fn detached_buffer() -> Error {
    Error::new(ErrorCode::InvalidInput, "the bytes are gone: their buffer was transferred or resized")
        .with_help("Pass a copy: `bytes.slice()`")
}

pub(in crate::wasm) fn read_options(options: JsValue) -> std::result::Result<RunOptions, JsValue> {
    let options: RunOptions = from_value(options)?;
    options.check_prompts()?;
    Ok(options)
}

/// Adds the name of the input to an error.
fn with_input(name: &'static str) -> impl Fn(Error) -> JsValue {
    move |error| to_value(&EngineError::in_input(&error, Some(name))).unwrap_or_else(|thrown| thrown)
}
