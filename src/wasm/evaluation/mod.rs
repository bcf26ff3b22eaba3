//! A run as JavaScript drives it: [`EvalRun`].

mod reader;

pub(super) use reader::read_options;

use std::rc::Rc;

use self_cell::self_cell;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::batch::{Batch, InPlace};
use super::contract::{
    CustomResult, EndpointSettings, HostFailure, HttpAnswer, InputWarning, JudgeOutcome, Progress, RunHeader,
    TokenCounts, VotePrior,
};
use super::fetch::decode_lossy;
use super::from_js::from_value;
use super::to_value;
use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::json::Document;
use crate::foundation::write::{Raw, Spelling, Writer};
use crate::judge::provider::Failure;
use crate::model::actual::ActualFile;
use crate::model::evalset::EvalSetFile;
use crate::model::invocation::{Invocation, Turns};
use crate::model::shape::{List, Record, View};
use crate::run::{Action, JudgeReply, Options, Plan, Run, TaskId};

/// The inputs that a run borrows from.
enum Inputs {
    Files {
        /// Shared with the runs that reuse this one's evalset.
        eval_set: Rc<EvalSetFile<'static>>,
        actual: ActualFile<'static>,
    },
    Conversations {
        actual: Document<'static>,
        expected: Option<Document<'static>>,
        scenario: Option<Document<'static>>,
    },
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
            Self::Files { eval_set, actual } => Run::unprepared(eval_set.set(), actual.runs(), plan, options),
            Self::Conversations { actual, expected, scenario } => {
                let options = Options { same_turns: false, ..options };
                let scenario = scenario.as_ref().map(|document| View::from_json(document.root()));
                Run::from_conversation(turns(actual), expected.as_ref().map(turns), scenario, plan, options)
            }
        }
    }
}

/// The turns in a validated document.
fn turns<'d>(document: &'d Document<'_>) -> Turns<'d> {
    List::<Invocation<'d>>::from_json(document.root()).into()
}

self_cell!(
    struct OwnedRun {
        owner: Inputs,
        #[not_covariant]
        dependent: Run,
    }
);

/// The evaluation of an evalset.
#[wasm_bindgen]
pub struct EvalRun {
    run: OwnedRun,
    warnings: Vec<InputWarning>,
    /// What the last poll returned.
    batch: Batch,
    /// The turn with which the next batch continues the results of a case.
    next_turn: Option<usize>,
}

impl EvalRun {
    const MAX_CASES_BYTES: usize = 1 << 18;
}

#[wasm_bindgen]
impl EvalRun {
    /// The evalset in `camelCase` without its cases, as JSON; `None` for a run of one conversation.
    #[wasm_bindgen(js_name = evalSetToJs)]
    #[must_use]
    pub fn eval_set_to_js(&self) -> Option<String> {
        let Inputs::Files { eval_set, .. } = self.run.borrow_owner() else { return None };
        let set = eval_set.set();
        let mut out = Writer::new(Spelling::Camel);
        let mut object = out.object();
        object.entry("evalSetId", &set.eval_set_id());
        object.optional("name", &set.name());
        object.optional("description", &set.description());
        object.begin_array("evalCases").end();
        object.entry("creationTimestamp", &set.creation_timestamp());
        object.end();
        Some(out.into_text())
    }

    /// Cases of the evalset from index `first` on, as a JSON array: as many as can be written in a few milliseconds. Empty
    /// after the last one.
    #[wasm_bindgen(js_name = casesToJs)]
    #[must_use]
    pub fn cases_to_js(&self, first: usize) -> String {
        let mut out = Writer::new(Spelling::Camel);
        let mut list = out.begin_array();
        let mut written = 0;
        self.run.with_dependent(|_, run| {
            for case in run.cases().iter().skip(first) {
                written += list.item(&Raw(&case.case.to_json(Spelling::Camel)));
                if written > Self::MAX_CASES_BYTES {
                    break;
                }
            }
        });
        list.end();
        out.into_text()
    }

    /// What is known about the run before anything is scored.
    ///
    /// # Errors
    /// None.
    #[wasm_bindgen(unchecked_return_type = "RunHeader")]
    pub fn header(&self) -> Result<JsValue, JsValue> {
        self.run.with_dependent(|_, run| to_value(&RunHeader::new(run, &self.warnings)))
    }

    /// For each metric in the order of the header: why it cannot score a case, no matter what the agent does; empty if it
    /// can.
    pub fn unscorable(&mut self, case: usize) -> Vec<String> {
        self.run.with_dependent_mut(|_, run| run.unscorable(case))
    }

    /// Looks at some case results from index `next` on. Returns the index of the next to look at, and in how many a user
    /// message differs from the evalset; then, if there are any, the case of the first, the turn, and both texts.
    #[wasm_bindgen(js_name = otherQuestions)]
    #[must_use]
    pub fn other_questions(&self, mut next: usize) -> Vec<String> {
        let (count, mut found) = self.run.with_dependent(|_, run| run.other_questions(&mut next));
        found.insert(0, count.to_string());
        found.insert(0, next.to_string());
        found
    }

    /// Starts the run's clock at the time when reading the inputs began, so that reading counts. Otherwise the first poll
    /// starts it.
    pub fn start(&mut self, now: f64) {
        self.run.with_dependent_mut(|_, run| run.start(now));
    }

    /// Advances the run as far as possible at the time `now` (milliseconds), up to `cases` case results. The next poll may
    /// continue the last of them. Returns the address of the [`Batch`]'s table of doubles, which is valid until the next
    /// poll.
    pub fn poll(&mut self, now: f64, cases: usize) -> *const f64 {
        self.batch = Batch::default();
        let (batch, next_turn) = (&mut self.batch, &mut self.next_turn);
        self.run.with_dependent_mut(|inputs, run| {
            let in_place = inputs.in_place();
            while batch.case_count() < cases && !batch.is_full() {
                match run.poll(now) {
                    Action::Case(case) => {
                        let first = next_turn.take().unwrap_or(0);
                        *next_turn = batch.add_case(run, &case, first, in_place);
                        if next_turn.is_some() {
                            run.put_back(case);
                            break;
                        }
                    }
                    Action::Custom(task) => batch.add_task(run, task, in_place),
                    Action::Send(call) => {
                        if let Err(failure) = batch.add_call(run, &call) {
                            run.handle_failure(now, call.call.id, &failure);
                        }
                    }
                    Action::Abort(call) => batch.add_abort(call),
                    Action::Wait(until) => {
                        batch.wait(until);
                        return;
                    }
                    Action::Pause => break,
                    Action::Finished => {
                        batch.finish_run();
                        return;
                    }
                }
            }
            batch.pause();
        });
        batch.table()
    }

    /// Passes the host's result for a task to the run.
    #[wasm_bindgen(js_name = handleCustom)]
    pub fn handle_custom(
        &mut self,
        task: u32,
        #[wasm_bindgen(unchecked_param_type = "CustomResult")] found: JsValue,
    ) {
        let found = CustomResult::read(found);
        self.run.with_dependent_mut(|_, run| run.handle_custom(TaskId(task), found));
    }

    /// Reports to the run that a task of the host failed.
    #[wasm_bindgen(js_name = handleCustomFailure)]
    pub fn handle_custom_failure(&mut self, task: u32, message: &str) {
        let error = Error::new(ErrorCode::CustomMetricFailed, message);
        self.run.with_dependent_mut(|_, run| run.handle_custom(TaskId(task), Err(error)));
    }

    /// Removes and returns the judge calls of the last poll.
    #[wasm_bindgen(unchecked_return_type = "JudgeCall[]")]
    pub fn calls(&mut self) -> js_sys::Array {
        self.batch.take_calls()
    }

    /// Sets the server for the judge of a metric.
    ///
    /// # Errors
    /// None for settings as their type says.
    #[wasm_bindgen(js_name = setEndpoint)]
    pub fn set_endpoint(
        &mut self,
        metric: usize,
        #[wasm_bindgen(unchecked_param_type = "EndpointSettings")] settings: JsValue,
    ) -> Result<(), JsValue> {
        let settings: EndpointSettings = from_value(settings)?;
        self.run.with_dependent_mut(|_, run| run.set_endpoint(metric, settings.into()));
        Ok(())
    }

    /// Sets the model that the judge of a metric asks, which determines the price of its calls.
    #[wasm_bindgen(js_name = setAskedModel)]
    pub fn set_asked_model(&mut self, metric: usize, model: &str) {
        self.run.with_dependent_mut(|_, run| run.set_asked_model(metric, model));
    }

    /// The settings in the criterion of a metric that are not sent to a server, one sentence each.
    ///
    /// # Errors
    /// None for settings as their type says.
    #[wasm_bindgen(js_name = settingsNotSent)]
    pub fn settings_not_sent(
        &self,
        metric: usize,
        #[wasm_bindgen(unchecked_param_type = "EndpointSettings")] settings: JsValue,
    ) -> Result<Vec<String>, JsValue> {
        let settings: EndpointSettings = from_value(settings)?;
        Ok(self.run.with_dependent(|_, run| run.settings_not_sent(metric, settings.into())))
    }

    /// How the samples of a metric vote, where votes may end on that and it is known.
    ///
    /// # Errors
    /// None.
    #[wasm_bindgen(js_name = votePrior, unchecked_return_type = "VotePrior | undefined")]
    pub fn vote_prior(&self, metric: usize) -> Result<JsValue, JsValue> {
        let prior = self.run.with_dependent(|_, run| run.vote_prior(metric));
        prior.map_or(Ok(JsValue::UNDEFINED), |prior| to_value(&VotePrior::from(prior)))
    }

    /// Passes the answer to a call's HTTP request to the run, with the access token that was sent. Returns the reply or
    /// the failure that it contains, unless the call is no longer needed.
    ///
    /// # Errors
    /// None for an answer as its type says.
    #[wasm_bindgen(js_name = handleAnswer, unchecked_return_type = "JudgeOutcome | undefined")]
    pub fn handle_answer(
        &mut self,
        now: f64,
        call: u32,
        #[wasm_bindgen(unchecked_param_type = "HttpAnswer")] answer: JsValue,
        body: Vec<u8>,
        token: Option<String>,
    ) -> Result<JsValue, JsValue> {
        let answer: HttpAnswer = from_value(answer)?;
        let outcome = self.run.with_dependent_mut(|_, run| {
            answer
                .with_host_answer(&decode_lossy(&body), |answer| run.handle_answer(now, call, answer, token))
        });
        outcome.map_or(Ok(JsValue::UNDEFINED), |outcome| to_value(&JudgeOutcome::from(outcome)))
    }

    /// Passes the reply to a judge call to the run; `cached` if it was found in a cache.
    ///
    /// # Errors
    /// None for counts as their type says.
    #[wasm_bindgen(js_name = handleReply)]
    pub fn handle_reply(
        &mut self,
        now: f64,
        call: u32,
        text: Vec<u8>,
        #[wasm_bindgen(unchecked_param_type = "TokenCounts")] usage: JsValue,
        cached: bool,
    ) -> Result<(), JsValue> {
        let usage: TokenCounts = from_value(usage)?;
        let text = String::from_utf8(text).unwrap_or_default();
        let reply = JudgeReply { text, usage: usage.into() };
        self.run.with_dependent_mut(|_, run| run.handle_reply(now, call, reply, cached));
        Ok(())
    }

    /// Counts tokens that were used for a call besides those of its reply: by attempts that failed.
    ///
    /// # Errors
    /// None for counts as their type says.
    pub fn charge(
        &mut self,
        call: u32,
        #[wasm_bindgen(unchecked_param_type = "TokenCounts")] usage: JsValue,
    ) -> Result<(), JsValue> {
        let usage: TokenCounts = from_value(usage)?;
        self.run.with_dependent_mut(|_, run| run.charge(call, usage.into()));
        Ok(())
    }

    /// Reports to the run that a judge failed which the host called itself.
    ///
    /// # Errors
    /// None for a failure as its type says.
    #[wasm_bindgen(js_name = handleFailure)]
    pub fn handle_failure(
        &mut self,
        now: f64,
        call: u32,
        #[wasm_bindgen(unchecked_param_type = "HostFailure")] failed: JsValue,
    ) -> Result<(), JsValue> {
        let failed: HostFailure = from_value(failed)?;
        let failure = Failure::from_host(&failed.as_host_failure());
        self.run.with_dependent_mut(|_, run| run.handle_failure(now, call, &failure));
        Ok(())
    }

    /// The progress of the judge calls.
    ///
    /// # Errors
    /// None.
    #[wasm_bindgen(unchecked_return_type = "CallProgress")]
    pub fn progress(&self) -> Result<JsValue, JsValue> {
        to_value(&Progress::from(self.run.with_dependent(|_, run| run.progress())))
    }

    /// Stops the run.
    pub fn cancel(&mut self) {
        self.run.with_dependent_mut(|_, run| run.cancel());
    }
}
