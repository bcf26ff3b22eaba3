//! The evaluation of an evalset: a state machine that scores every case with every metric. It does no I/O,
//! reads no clock and draws no random numbers.
//!
//! # How a run goes
//!
//! 1. [`Plan::from_config`] reads the config and makes the metrics (`plan`). Each is computed by the engine, by
//!    a judge or by the host ([`MetricScorer`]).
//! 2. [`Run::new`] pairs cases with runs (`matching`). Nothing is scored yet.
//! 3. The host calls [`Run::poll`] in a loop and does what the [`Action`] says. A case goes through the
//!    engine's metrics first (`scoring`: check, then turn by turn, then conclude). Then its custom metrics are
//!    queued for the host (`custom`), and the questions of its judged metrics are planned, sent and concluded
//!    (`judging`).
//! 4. The host answers: [`Run::handle_reply`] or [`Run::handle_failure`] for [`Action::Send`],
//!    [`Run::handle_custom`] for [`Action::Custom`].
//! 5. [`Action::Case`] returns a case as soon as all its metrics have results; [`Action::Finished`] ends the
//!    loop.
//!
//! Time is an argument of [`Run::poll`] and of the handlers, so the same inputs, answers and times give the
//! same actions and results. Long work is divided: after a few milliseconds' worth of it ([`Work`]),
//! [`Action::Pause`] lets the host do other things.
//!
//! ```
//! use adk_metrics::metrics::{Dialect, Explain};
//! use adk_metrics::foundation::json::Document;
//! use adk_metrics::model::{actual::ActualFile, evalset::EvalSetFile, shape::Warnings};
//! use adk_metrics::run::{Action, Options, Plan, Run, PlanOptions};
//!
//! let expected = Document::parse(r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
//!     {"user_content": {"parts": [{"text": "Weather?"}]},
//!      "final_response": {"parts": [{"text": "The weather in London is sunny"}]}}]}]}"#)?;
//! let actual = Document::parse(r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
//!     {"user_content": {"parts": [{"text": "Weather?"}]},
//!      "final_response": {"parts": [{"text": "It's sunny in London today"}]}}]}]}"#)?;
//! let mut config = Document::parse(r#"{"criteria": {"response_match_score": 0.5}}"#)?;
//!
//! let warnings = Warnings::default();
//! let plan = Plan::from_config(&mut config, PlanOptions::default(), &warnings)?;
//! let expected = EvalSetFile::read(expected, "s", &warnings)?;
//! let actual = ActualFile::read(actual, "s", &warnings)?;
//! let mut run = Run::new(expected.set(), actual.runs(), plan, Options::default());
//! let Action::Case(case) = run.poll(0.0) else { panic!("the first case needs no answer") };
//! assert_eq!(case.metrics[0].score, Some(0.5));
//! assert!(matches!(run.poll(0.0), Action::Finished));
//! # Ok::<(), adk_metrics::foundation::error::Error>(())
//! ```

mod custom;
mod judging;
mod matching;
mod options;
mod plan;
mod questions;
mod reasons;
mod scoring;
mod selection;
mod unscorable;

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::foundation::error::Error;
use crate::foundation::json::Json;
use crate::judge::calls::LossReason;
use crate::metrics::judged::{JudgedCase, Work};
use crate::metrics::{Evaluation, Scoring};
use crate::model::actual::{ActualRun, ActualRuns};
use crate::model::evalset::{ConversationScenario, EvalCase, EvalSet};
use crate::model::invocation::Turns;
use crate::model::results::EvalStatus;
use crate::model::shape::View;

pub use crate::judge::calls::Millis;
use custom::OpenTask;
pub use custom::{CustomEvaluation, CustomScore, CustomTask, TaskId};
use judging::{ConcludingMetric, JudgeState, JudgeStep, PendingMetric, PlanningCase};
pub use judging::{JudgeCall, JudgeOptions, JudgeReply, LEARNT_QUESTIONS, MAX_REFUSALS, Risk};
pub use matching::Pairing;
use matching::{Matched, Pairer};
pub use options::Options;
pub use plan::{MetricScorer, Plan, PlanOptions, PlannedMetric};
pub use questions::READ_BY_RUN;
use reasons::cancelled;
pub use scoring::MAX_TURN_VALUES;
use scoring::ScoredCase;
pub use selection::Selection;

/// What the host has to do next.
#[derive(Debug)]
pub enum Action<'a> {
    /// Compute a custom metric, then call [`Run::handle_custom`].
    Custom(CustomTask),
    /// Ask a judge the question that [`Run::question`] returns, then call [`Run::handle_reply`] or
    /// [`Run::handle_failure`].
    Send(JudgeCall),
    /// Abort the call with this id. Its reply is no longer needed.
    Abort(u32),
    /// Take the results of a case.
    Case(CaseResult<'a>),
    /// Wait for an answer, or at most until the given time.
    Wait(Option<Millis>),
    /// Do other pending work, then poll again. The run is not waiting for anything.
    Pause,
    /// Stop: all results have been returned.
    Finished,
}

/// The results of one run of a case.
#[derive(Clone, Debug)]
pub struct CaseResult<'a> {
    /// The case and its run.
    pub pairing: Pairing,
    /// FAILED if a metric failed or nothing could be scored; otherwise PASSED if a metric passed.
    pub status: EvalStatus,
    /// Why the case was not scored.
    pub failure: Option<Error>,
    /// The results in the order of the plan; empty if nothing was scored.
    pub metrics: Vec<Evaluation<'a>>,
}

/// A case of the evalset.
#[derive(Clone, Debug)]
pub struct ExpectedCase<'a> {
    /// The case.
    pub case: EvalCase<'a>,
    /// Its id.
    pub eval_id: Cow<'a, str>,
    /// The expected turns; `None` for a scenario.
    pub turns: Option<Turns<'a>>,
    /// The scenario that a simulated user followed.
    pub scenario: Option<ConversationScenario<'a>>,
}

impl<'a> From<EvalCase<'a>> for ExpectedCase<'a> {
    fn from(case: EvalCase<'a>) -> Self {
        Self { case, eval_id: case.eval_id(), turns: case.turns(), scenario: case.conversation_scenario() }
    }
}

/// The evaluation of an evalset.
pub struct Run<'a> {
    eval_set_id: Cow<'a, str>,
    /// The pairing of cases with runs, until it is complete.
    pairer: Option<Pairer<'a>>,
    matched: Matched<'a>,
    plan: Plan,
    options: Options,
    scoring: Scoring,
    /// How many pairings were started.
    begun: usize,
    /// Started cases that wait for answers of the host.
    open: Vec<OpenCase<'a>>,
    /// Custom tasks that the host has not been given yet.
    queued: VecDeque<OpenTask>,
    /// Custom tasks that the host is computing.
    working: Vec<OpenTask>,
    /// The case whose engine metrics are being computed.
    scored: Option<Box<ScoredCase<'a>>>,
    /// The case whose questions for judges are being planned.
    planning_case: Option<PlanningCase>,
    /// Judged metrics whose answers are complete and whose results are being computed.
    concluding: VecDeque<ConcludingMetric<'a>>,
    /// The work done since the host was last given control.
    work: Work,
    /// Whether the last action gave control to the host for other work.
    has_paused: bool,
    /// Results that have not been returned yet.
    settled: VecDeque<CaseResult<'a>>,
    judges: JudgeState,
    next_task: u32,
    cancelled: bool,
}

/// A case that waits for answers of the host.
struct OpenCase<'a> {
    /// The index in `Run::pairings`.
    pairing_index: usize,
    result: CaseResult<'a>,
    /// The number of metrics without a result.
    missing: usize,
    /// The input of its judged metrics, if it has any.
    judged: Option<JudgedCase<'a>>,
    pending_metrics: Vec<PendingMetric>,
}

/// The most open cases per call that may be in flight. Open cases keep prompts and replies in memory.
const OPEN_CASES_PER_CALL: usize = 8;

impl<'a> Run<'a> {
    /// Pairs cases with runs; nothing is scored yet.
    #[must_use]
    pub fn new(set: EvalSet<'a>, runs: ActualRuns<'a>, plan: Plan, options: Options) -> Self {
        let mut run = Self::unprepared(set, runs, plan, options);
        while !run.prepare() {}
        run
    }

    /// As [`Run::new`], but [`Run::prepare`] pairs the cases.
    #[must_use]
    pub fn unprepared(set: EvalSet<'a>, runs: ActualRuns<'a>, plan: Plan, options: Options) -> Self {
        let mut run = Self::from_cases(set.eval_set_id(), Matched::default(), plan, options);
        let selected_case = run.options.selected_case.take();
        run.pairer = Some(Pairer::new(set.eval_cases(), runs, selected_case));
        run
    }

    /// Pairs cases with runs for a few milliseconds. Returns whether all are paired; only then can the run be used.
    pub fn prepare(&mut self) -> bool {
        let Some(pairer) = &mut self.pairer else { return true };
        let is_done = pairer.advance(&mut self.matched, &mut self.work);
        self.work = Work::default();
        if is_done {
            self.pairer = None;
            self.note_unused();
        }
        is_done
    }

    /// Notes settings of metrics that no case heeds.
    fn note_unused(&mut self) {
        let Matched { cases, warnings, .. } = &mut self.matched;
        for planned in &self.plan.metrics {
            if let MetricScorer::Engine(metric) = &planned.scorer {
                warnings.extend(metric.unused_setting(&mut cases.iter().filter_map(|case| case.turns)));
            }
        }
    }

    /// Evaluates a single conversation outside an evalset.
    #[must_use]
    pub fn from_conversation(
        actual: Turns<'a>,
        expected: Option<Turns<'a>>,
        scenario: Option<ConversationScenario<'a>>,
        plan: Plan,
        options: Options,
    ) -> Self {
        let matched = Matched {
            cases: vec![ExpectedCase { turns: expected, scenario, ..EvalCase::from_json(Json::NULL).into() }],
            runs: vec![ActualRun { turns: Some(actual), ..ActualRun::default() }],
            pairings: vec![Pairing { case: 0, run: Some(0) }],
            warnings: Vec::new(),
        };
        let mut run = Self::from_cases(Cow::Borrowed(""), matched, plan, options);
        run.note_unused();
        run
    }

    fn from_cases(eval_set_id: Cow<'a, str>, matched: Matched<'a>, plan: Plan, options: Options) -> Self {
        let scoring = Scoring::new(options.dialect, options.explain);
        Self {
            scoring: Scoring { early_stop: options.early_stop, ..scoring },
            judges: JudgeState::new(&plan, &options),
            eval_set_id,
            pairer: None,
            matched,
            plan,
            options,
            begun: 0,
            open: Vec::new(),
            queued: VecDeque::new(),
            working: Vec::new(),
            scored: None,
            planning_case: None,
            concluding: VecDeque::new(),
            work: Work::default(),
            has_paused: false,
            settled: VecDeque::new(),
            next_task: 0,
            cancelled: false,
        }
    }

    /// The id of the evalset.
    #[must_use]
    pub fn eval_set_id(&self) -> &str {
        &self.eval_set_id
    }

    /// The cases of the evalset.
    #[must_use]
    pub fn cases(&self) -> &[ExpectedCase<'a>] {
        &self.matched.cases
    }

    /// The runs of the agent.
    #[must_use]
    pub fn runs(&self) -> &[ActualRun<'a>] {
        &self.matched.runs
    }

    /// The metrics.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many case results the run returns.
    #[must_use]
    pub fn total(&self) -> usize {
        self.matched.pairings.len()
    }

    /// Warnings that concern several inputs, such as runs without a case.
    #[must_use]
    pub fn warnings(&self) -> &[Error] {
        &self.matched.warnings
    }

    /// Starts the run's clock at the time when reading the inputs began, so that reading counts. Otherwise the first poll
    /// starts it.
    pub fn start(&mut self, now: Millis) {
        self.judges.start(now);
    }

    /// Returns what the host has to do next. `now` is the current time.
    pub fn poll(&mut self, now: Millis) -> Action<'a> {
        self.expire(now);
        if std::mem::take(&mut self.has_paused) {
            self.work = Work::default();
        }
        loop {
            if let Some(case) = self.settled.pop_front() {
                return Action::Case(case);
            }
            if self.working.len() < self.options.concurrency.max(1)
                && let Some(mut task) = self.queued.pop_front()
            {
                task.until = self.options.timeout_ms.map(|limit| now + limit);
                let custom = task.custom;
                self.working.push(task);
                return Action::Custom(custom);
            }
            if self.work.is_done() {
                self.has_paused = true;
                return Action::Pause;
            }
            if let Some(concluding) = self.concluding.pop_front() {
                self.continue_concluding(concluding);
                continue;
            }
            let step = if self.judges.is_needed() { self.poll_judges(now) } else { JudgeStep::Wait(None) };
            let until = match step {
                JudgeStep::Send(call) => return Action::Send(call),
                JudgeStep::Abort(call) => return Action::Abort(call),
                JudgeStep::Continue => continue,
                JudgeStep::Wait(until) => until,
            };
            if let Some(scored) = self.scored.take() {
                self.continue_scoring(scored);
                continue;
            }
            if let Some(planning_case) = self.planning_case.take() {
                self.continue_planning(planning_case);
                continue;
            }
            // Starts the next case only when nothing else can be done for the open ones, which keeps few cases
            // open.
            if self.begun < self.matched.pairings.len() && self.has_room() {
                self.begin_next();
                continue;
            }
            if self.judges.is_stuck() {
                self.retry_stuck();
                continue;
            }
            if self.open.is_empty() && self.begun == self.matched.pairings.len() {
                return Action::Finished;
            }
            self.has_paused = true;
            let first = self.working.iter().filter_map(|task| task.until).chain(until).reduce(f64::min);
            return Action::Wait(first);
        }
    }

    /// Puts back a case result that is too large to be passed on at once. The next poll returns it again.
    pub fn put_back(&mut self, case: CaseResult<'a>) {
        self.settled.push_front(case);
    }

    /// The work done since the host was last given control, in units of [`Work`].
    #[must_use]
    pub fn work(&self) -> usize {
        self.work.units()
    }

    fn has_room(&self) -> bool {
        let calls = self.options.judges.calls.concurrency as usize;
        let most = calls.max(self.options.concurrency).saturating_mul(OPEN_CASES_PER_CALL);
        self.queued.is_empty() && self.open.len() < most && self.judges.has_room()
    }

    /// Cancels the run: finished scores stay, everything else becomes NOT_EVALUATED with the reason.
    pub fn cancel(&mut self) {
        self.cancelled = true;
        self.judges.stop(LossReason::Cancelled);
        for task in std::mem::take(&mut self.working) {
            self.settle(&task, Err(cancelled()));
        }
        while let Some(task) = self.queued.pop_front() {
            self.settle(&task, Err(cancelled()));
        }
    }

    /// Starts the next case.
    fn begin_next(&mut self) {
        let pairing_index = self.begun;
        self.begun += 1;
        let Some(pairing) = self.matched.pairings.get(pairing_index).copied() else { return };
        let mut result = CaseResult {
            pairing,
            status: EvalStatus::NotEvaluated,
            failure: None,
            metrics: Vec::with_capacity(self.plan.metrics.len()),
        };
        if self.cancelled {
            result.failure = Some(cancelled());
            self.settled.push_back(result);
            return;
        }
        match self.scorable(pairing) {
            Ok(judged) => {
                self.continue_scoring(Box::new(ScoredCase { pairing_index, result, judged, turns: None }))
            }
            Err(failure) => {
                let run = pairing.run.and_then(|run| self.matched.runs.get(run));
                if !run.is_some_and(|run| run.is_skipped) {
                    result.status = EvalStatus::Failed;
                }
                result.failure = Some(failure);
                self.settled.push_back(result);
            }
        }
    }

    /// Stores the result of one metric of an open case.
    fn settle_metric(&mut self, pairing_index: usize, metric: usize, evaluation: Evaluation<'a>) {
        let Some(open) = self.open.iter_mut().find(|open| open.pairing_index == pairing_index) else {
            return;
        };
        if let Some(entry) = open.result.metrics.get_mut(metric) {
            *entry = evaluation;
        }
        open.missing -= 1;
        self.settle_case_if_complete(pairing_index);
    }

    fn settle_case_if_complete(&mut self, pairing_index: usize) {
        if let Some(at) =
            self.open.iter().position(|open| open.pairing_index == pairing_index && open.missing == 0)
        {
            let open = self.open.remove(at);
            self.settle_case(open.result);
        }
    }

    fn settle_case(&mut self, mut result: CaseResult<'a>) {
        result.status = EvalStatus::from_metrics(result.metrics.iter().map(|metric| metric.status));
        self.settled.push_back(result);
    }
}
