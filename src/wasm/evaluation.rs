//! A run as JavaScript drives it.

use self_cell::self_cell;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::batch::{Batch, InPlace, place};
use super::{Given, unusable};
use crate::metrics::{Dialect, Explain};
use crate::model::actual::ActualFile;
use crate::model::double;
use crate::model::error::{Error, ErrorCode, Result};
use crate::model::evalset::EvalSetFile;
use crate::model::invocation::{Invocation, Turns};
use crate::model::json::Document;
use crate::model::results::EvalStatus;
use crate::model::shape::{List, View, Warnings, check};
use crate::model::write::{Raw, Spelling, Write, Writer, to_json};
use crate::run::{Action, CustomEvaluation, CustomTurn, Options, Plan, PlannedMetric, Run, TaskId};

/// The texts that a run reads from.
enum Inputs {
    Files { eval_set: EvalSetFile<'static>, actual: ActualFile<'static> },
    Conversations { actual: Document<'static>, expected: Option<Document<'static>> },
}

impl Inputs {
    fn in_place(&self) -> InPlace {
        match self {
            Self::Files { eval_set, actual } => {
                InPlace { actual: actual.in_place, expected: eval_set.in_place }
            }
            Self::Conversations { .. } => InPlace { actual: true, expected: true },
        }
    }

    fn run(&self, plan: Plan, options: Options) -> Run<'_> {
        match self {
            Self::Files { eval_set, actual } => Run::new(eval_set.set(), actual.runs(), plan, options),
            Self::Conversations { actual, expected } => {
                let options = Options { same_turns: false, ..options };
                Run::of_conversation(turns(actual), expected.as_ref().map(turns), plan, options)
            }
        }
    }
}

fn turns<'d>(document: &'d Document<'_>) -> Turns<'d> {
    List::<Invocation<'d>>::of(document.root()).into()
}

self_cell!(
    struct OwnedRun {
        owner: Inputs,
        #[covariant]
        dependent: Run,
    }
);

/// The evaluation of an evalset.
#[wasm_bindgen]
pub struct EvalRun {
    run: OwnedRun,
    warnings: Vec<Error>,
}

struct RunOptions {
    run: Options,
    /// The metrics that the host computes.
    custom: Vec<String>,
    /// The cases to run; all if absent.
    cases: Option<Vec<String>>,
    /// What stands for the id of an evalset in an old form.
    name: String,
}

impl RunOptions {
    fn of(given: &Given) -> Result<Self> {
        let dialect = match given.text("dialect")?.as_deref() {
            Some("adk-python") => Dialect::AdkPython,
            Some("adk-ts") => Dialect::AdkTs,
            _ => return Err(unusable("dialect", "a dialect")),
        };
        let explain = match given.text("explain")?.as_deref() {
            Some("none") => Explain::None,
            Some("failures") => Explain::Failures,
            Some("all") => Explain::All,
            _ => return Err(unusable("explain", "`none`, `failures` or `all`")),
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "casts of doubles saturate, and a run takes any number of tasks"
        )]
        let concurrency =
            given.number("concurrency")?.ok_or_else(|| unusable("concurrency", "given"))? as usize;
        let timeout_ms = given.number("timeoutMs")?;
        Ok(Self {
            run: Options { dialect, explain, concurrency, timeout_ms, same_turns: true },
            custom: given.texts("custom")?.unwrap_or_default(),
            cases: given.texts("cases")?,
            name: given.text("name")?.unwrap_or_default(),
        })
    }
}

/// What is known before anything is scored.
struct Header<'h, 'a> {
    run: &'h Run<'a>,
    warnings: &'h [Error],
}

impl Write for Header<'_, '_> {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("evalSetId", &self.run.eval_set_id());
        object.entry("metrics", &self.run.plan().metrics);
        object.entry("total", &place(self.run.total()));
        object.entry("warnings", &self.warnings.iter().chain(self.run.warnings()).collect::<Vec<_>>());
        object.end();
    }
}

impl Write for PlannedMetric {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("metricName", &self.name);
        object.field("threshold", "threshold", &self.threshold);
        object.field("criterion", "criterion", &self.criterion.as_deref().map(Raw));
        object.end();
    }
}

#[wasm_bindgen]
impl EvalRun {
    /// Reads an evalset, what the agent did, and a config (the default one if absent).
    ///
    /// # Errors
    /// What is wrong with an input: `{code, message, path?, line?, help?, input}`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        eval_set: Vec<u8>,
        actual: Vec<u8>,
        config: Option<Vec<u8>>,
        options: JsValue,
    ) -> Result<EvalRun, JsValue> {
        let given = RunOptions::of(&Given(options))?;
        let [of_config, of_set, of_actual] = ["config", "evalSet", "actual"].map(Warnings::of_input);
        let plan = match config {
            Some(bytes) => {
                let document = Document::from_bytes(bytes);
                let plan =
                    document.and_then(|mut json| Plan::of_config(&mut json, &given.custom, &of_config));
                plan.map_err(in_input("config"))?
            }
            None => Plan::default_config(&given.custom)?,
        };
        let eval_set = Document::from_bytes(eval_set)
            .and_then(|json| EvalSetFile::read(json, &given.name, &of_set))
            .map_err(in_input("evalSet"))?;
        let actual = Document::from_bytes(actual)
            .and_then(|json| ActualFile::read(json, &given.name, &of_actual))
            .map_err(in_input("actual"))?;
        let inputs = Inputs::Files { eval_set, actual };
        let mut run = OwnedRun::new(inputs, |inputs| inputs.run(plan, given.run));
        if let Some(cases) = &given.cases {
            run.with_dependent_mut(|_, run| run.select(cases)).map_err(in_input("evalSet"))?;
        }
        let warnings = [of_config, of_set, of_actual].into_iter().flat_map(Warnings::into_vec);
        Ok(Self { run, warnings: warnings.collect() })
    }

    /// Reads one metric and the turns of one conversation, as an evaluator class is given them.
    ///
    /// # Errors
    /// What is wrong with an input.
    #[wasm_bindgen(js_name = ofInvocations)]
    pub fn of_invocations(
        metric: Vec<u8>,
        actual: Vec<u8>,
        expected: Option<Vec<u8>>,
        options: JsValue,
    ) -> Result<EvalRun, JsValue> {
        let given = RunOptions::of(&Given(options))?;
        let warnings = Warnings::default();
        let plan = Document::from_bytes(metric)
            .and_then(|mut json| Plan::of_metric(&mut json, &given.custom, &warnings))
            .map_err(in_input("metric"))?;
        let conversation = |bytes: Vec<u8>| {
            let mut document = Document::from_bytes(bytes)?;
            check(&mut document, &<List<'_, Invocation<'_>>>::TYPE, &warnings)?;
            Ok::<_, Error>(document)
        };
        let expected = expected.map(conversation).transpose().map_err(in_input("expected"))?;
        let actual = conversation(actual).map_err(in_input("actual"))?;
        let inputs = Inputs::Conversations { actual, expected };
        let run = OwnedRun::new(inputs, |inputs| inputs.run(plan, given.run));
        Ok(Self { run, warnings: warnings.into_vec() })
    }

    /// JSON: the id of the evalset, the metrics in the order of the slots, how many case results
    /// there will be, and what may surprise in the inputs.
    #[must_use]
    pub fn header(&self) -> String {
        let header = Header { run: self.run.borrow_dependent(), warnings: &self.warnings };
        to_json(&header, Spelling::Camel)
    }

    /// Does what can be done at a time (milliseconds), up to a number of case results.
    #[must_use]
    pub fn poll(&mut self, now: f64, cases: usize) -> Batch {
        self.run.with_dependent_mut(|inputs, run| {
            let mut batch = Batch::default();
            let in_place = inputs.in_place();
            while batch.case_count() < cases {
                match run.poll(now) {
                    Action::Case(case) => batch.add_case(run, &case, in_place),
                    Action::Custom(task) => batch.add_task(run, task, in_place),
                    Action::Wait(until) => {
                        batch.wait(until);
                        break;
                    }
                    Action::Finished => {
                        batch.finish_run();
                        break;
                    }
                }
            }
            batch
        })
    }

    /// Takes what the host found for a task.
    ///
    /// # Errors
    /// If `found` has not the shape of a result.
    #[wasm_bindgen(js_name = handleCustom)]
    pub fn handle_custom(&mut self, task: u32, found: JsValue) -> Result<(), JsValue> {
        let found = match evaluation(&Given(found)) {
            Err(error) if error.code != ErrorCode::CustomMetricFailed => return Err(error.into()),
            found => found,
        };
        self.run.with_dependent_mut(|_, run| run.handle_custom(TaskId(task), found));
        Ok(())
    }

    /// Takes that a task of the host failed.
    #[wasm_bindgen(js_name = handleCustomFailure)]
    pub fn handle_custom_failure(&mut self, task: u32, message: &str) {
        let error = Error::new(ErrorCode::CustomMetricFailed, message);
        self.run.with_dependent_mut(|_, run| run.handle_custom(TaskId(task), Err(error)));
    }

    /// Stops the run.
    pub fn cancel(&mut self) {
        self.run.with_dependent_mut(|_, run| run.cancel());
    }
}

/// What a metric of the user's found.
fn evaluation(given: &Given) -> Result<CustomEvaluation> {
    let turns = given.list("turns")?.unwrap_or_default();
    Ok(CustomEvaluation {
        score: given.number("score")?,
        status: status(given)?,
        reason: given.text("reason")?,
        turns: turns.iter().map(|turn| custom_turn(&Given(turn))).collect::<Result<_>>()?,
    })
}

fn custom_turn(given: &Given) -> Result<CustomTurn> {
    Ok(CustomTurn { score: given.number("score")?, status: status(given)?, reason: given.text("reason")? })
}

fn status(given: &Given) -> Result<Option<EvalStatus>> {
    let Some(number) = given.number("status")? else { return Ok(None) };
    let known = EvalStatus::ALL.iter().find(|(status, _)| f64::from(*status as u8) == number);
    known.map(|(status, _)| Some(*status)).ok_or_else(|| {
        let message = format!("the metric gave the status {}; statuses are 1 to 4", double::to_text(number));
        Error::new(ErrorCode::CustomMetricFailed, message)
    })
}

/// Says which input an error is about.
fn in_input(name: &'static str) -> impl Fn(Error) -> JsValue {
    move |error| blame(name, error)
}

#[cold]
#[inline(never)]
fn blame(input: &str, error: Error) -> JsValue {
    let value = JsValue::from(error);
    _ = js_sys::Reflect::set(&value, &"input".into(), &input.into());
    value
}
