//! The open questions and the calls in flight, by number. It knows nothing about cases.

use super::super::reasons::cancelled;
use super::super::{MetricScorer, Millis, Options, Pairing, Plan};
use super::learning::Learning;
use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode};
use crate::judge::calls::{Ask, Call, Calls, LossReason, LostSample, Prices};
use crate::judge::provider::Endpoint;
use crate::metrics::judged::{Answer, MAX_PROMPT_BYTES};

/// The state of all judge calls of a run.
pub(in crate::run) struct JudgeState {
    /// Whether any metric of the plan asks a judge.
    pub(super) is_needed: bool,
    pub(super) calls: Calls,
    /// The call group of each metric of the plan.
    pub(super) groups: Vec<u32>,
    pub(super) timeout_ms: Millis,
    pub(super) run_timeout_ms: Millis,
    pub(super) asked: Vec<QuestionState>,
    /// Pairs of call and question number of the calls in flight, in the order in which they were sent.
    pub(super) in_flight: Vec<(u32, u32)>,
    /// The bytes of all prompts in memory.
    pub(super) open_prompts: usize,
    /// Questions that cannot be decided because samples failed, but may succeed when they are asked again.
    pub(super) stuck: Vec<u32>,
    /// For each metric, why its judge cannot be asked at all.
    pub(super) blocked: Vec<Option<Error>>,
    /// For each metric, the server of its judge, if the engine addresses it.
    pub(super) endpoints: Vec<Option<Endpoint>>,
    /// For each metric, the refusals of its server.
    pub(super) refusals: Vec<Refusals>,
    /// What the last call that failed said.
    pub(super) last_failure: String,
    /// The longest pause that a server may ask for.
    pub(super) max_pause: Millis,
    /// For each metric, what is known of its votes; nothing where they end when they are certain.
    pub(super) learning: Vec<Option<Learning>>,
}

/// Identical refusals of a server that has not answered yet.
#[derive(Clone, Default)]
pub(super) struct Refusals {
    pub(super) message: String,
    pub(super) times: u32,
    /// Whether the server answered any call.
    pub(super) is_answered: bool,
}

/// A question: the metric and case it belongs to, and its status.
#[derive(Clone, Copy)]
pub(super) struct QuestionState {
    /// The index in `Run::pairings`.
    pub(super) pairing_index: usize,
    pub(super) pairing: Pairing,
    pub(super) metric: usize,
    pub(super) answer: usize,
    pub(super) is_open: bool,
    /// Whether it has been decided, so that it needs no more samples.
    pub(super) is_settled: bool,
    /// Whether a sample failed in a way that a retry would not change.
    pub(super) is_refused: bool,
    /// Whether it waits for a second chance.
    pub(super) is_stuck: bool,
    /// The number of its calls in flight.
    pub(super) in_flight: u32,
}

/// The longest pause that a server may ask for, in milliseconds, unless the retry options allow longer delays.
const MAX_PAUSE: Millis = 600_000.0;

/// How many bytes of prompts stay in memory without a call in flight, for questions whose next samples follow
/// soon.
const MAX_IDLE_PROMPT_BYTES: usize = MAX_PROMPT_BYTES;

impl JudgeState {
    pub(in crate::run) fn new(plan: &Plan, options: &Options) -> Self {
        let settings = &options.judges;
        let mut calls = Calls::new(settings.calls.clone());
        let mut groups = Vec::new();
        let mut blocked = Vec::new();
        for metric in &plan.metrics {
            let (mut limit, mut prices) = (None, Vec::new());
            if let MetricScorer::Judge(judged) = &metric.scorer {
                let model = settings.model_for(judged.as_ref());
                let options = &judged.judge_config().options;
                limit = options.parallelism_limit;
                prices = settings.prices_of(model, &options.panel);
            }
            let group = calls.add_group(limit, Prices::default());
            calls.set_prices(group, prices);
            groups.push(group);
            blocked.push(None);
        }
        Self {
            is_needed: plan.metrics.iter().any(|metric| matches!(metric.scorer, MetricScorer::Judge(_))),
            calls,
            blocked,
            endpoints: plan.metrics.iter().map(|_| None).collect(),
            refusals: vec![Refusals::default(); plan.metrics.len()],
            max_pause: settings.calls.retry.max_delay_ms.max(MAX_PAUSE),
            learning: vec![Learning::new(options); plan.metrics.len()],
            groups,
            timeout_ms: settings.calls.timeout_ms,
            run_timeout_ms: settings.calls.run_timeout_ms,
            last_failure: String::new(),
            asked: Vec::new(),
            in_flight: Vec::new(),
            open_prompts: 0,
            stuck: Vec::new(),
        }
    }

    pub(in crate::run) fn is_needed(&self) -> bool {
        self.is_needed
    }

    pub(in crate::run) fn start(&mut self, now: Millis) {
        self.calls.start(now);
    }

    pub(in crate::run) fn stop(&mut self, reason: LossReason) {
        self.calls.stop(reason);
    }

    /// Whether more questions can be queued. With nothing in flight they always can: a pause is only waited for
    /// if there is something to ask after it.
    pub(in crate::run) fn has_room(&self) -> bool {
        self.calls.has_room() || self.calls.open() == 0
    }

    /// Why nothing is asked any more, if the calls were stopped.
    pub(super) fn stopped(&self) -> Option<Error> {
        let loss = |reason| LostSample { question: 0, sample: 0, attempts: 0, is_unsent: true, reason };
        let late = || self.calls.is_late().then_some(LossReason::Deadline);
        self.calls.stopped().or_else(late).map(|reason| self.why(loss(reason), None))
    }

    /// Records that a call was sent.
    pub(super) fn sent(&mut self, call: Call) {
        self.in_flight.push((call.id, call.question));
        if let Some(asked) = self.asked.get_mut(call.question as usize) {
            asked.in_flight += 1;
        }
    }

    /// Records that a call is no longer in flight. Returns its question if the prompt can be dropped.
    pub(super) fn call_ended(&mut self, call: u32) -> Option<u32> {
        let at = self.in_flight.binary_search_by_key(&call, |(id, _)| *id).ok()?;
        let (_, question) = self.in_flight.remove(at);
        let asked = self.asked.get_mut(question as usize)?;
        asked.in_flight -= 1;
        (asked.in_flight == 0 && self.open_prompts > MAX_IDLE_PROMPT_BYTES).then_some(question)
    }

    /// The question of a call in flight.
    pub(super) fn question_for_call(&self, call: u32) -> Option<u32> {
        let at = self.in_flight.binary_search_by_key(&call, |(id, _)| *id).ok()?;
        self.in_flight.get(at).map(|(_, question)| *question)
    }

    /// Whether only questions that failed once are left.
    pub(in crate::run) fn is_stuck(&self) -> bool {
        self.calls.open() == 0 && !self.stuck.is_empty()
    }

    pub(super) fn add_stuck(&mut self, question: u32) {
        if let Some(asked) = self.asked.get_mut(question as usize)
            && !std::mem::replace(&mut asked.is_stuck, true)
        {
            self.stuck.push(question);
        }
    }

    /// Queues samples of a question.
    pub(super) fn ask(&mut self, metric: usize, ask: Ask) {
        let group = self.groups.get(metric).copied().unwrap_or_default();
        self.calls.ask(Ask { group, ..ask });
    }

    /// Adds a question and queues its first samples, unless it has to wait.
    pub(super) fn add(&mut self, asked: QuestionState, answer: &mut Answer, follow_up: bool) {
        let question = self.asked.len() as u32;
        self.asked.push(asked);
        let learning = self.learning.get_mut(asked.metric).and_then(Option::as_mut);
        if learning.is_none_or(|learning| learning.admit(question, answer)) {
            self.ask(asked.metric, next_wave(question, answer, follow_up));
        }
    }

    /// The error for a lost sample.
    pub(super) fn why(&self, loss: LostSample, failure: Option<Error>) -> Error {
        let mut why = match (loss.reason, failure) {
            (LossReason::Cancelled, _) => return cancelled(),
            (LossReason::BudgetExceeded | LossReason::Deadline, _) => return self.out_of_budget(loss),
            (LossReason::TimedOut, _) => {
                let limit = double::to_text(self.timeout_ms);
                let message = ["the judge did not answer within ", &limit, " ms (`timeoutMs`)"].concat();
                Error::new(ErrorCode::Timeout, message)
            }
            (LossReason::Refused | LossReason::Exhausted, Some(failure)) => failure,
            (LossReason::Refused | LossReason::Exhausted, None) => {
                return Error::new(ErrorCode::JudgeFailed, "the judge failed");
            }
        };
        if loss.attempts > 1 {
            let length = why.message.trim_end_matches('.').len();
            why.message.truncate(length);
            for piece in [". It was asked ", &loss.attempts.to_string(), " times"] {
                why.message.push_str(piece);
            }
        }
        why
    }

    /// The error for a sample that the budget, or the time of the run, left no reply to. Why earlier calls failed is
    /// kept.
    fn out_of_budget(&self, loss: LostSample) -> Error {
        let mut message = match loss.reason {
            LossReason::BudgetExceeded => self.calls.spent_message(),
            _ => ["the time for the run is over: ", &double::to_text(self.run_timeout_ms), " ms"].concat(),
        };
        let is_relevant = loss.attempts > 0 || self.calls.progress().answered == 0;
        if is_relevant && !self.last_failure.is_empty() {
            for piece in [". The last failure: ", &self.last_failure] {
                message.push_str(piece);
            }
        }
        Error::new(ErrorCode::BudgetExceeded, message)
    }
}

impl QuestionState {
    pub(super) fn new(pairing_index: usize, pairing: Pairing, metric: usize, answer: usize) -> Self {
        Self {
            pairing_index,
            pairing,
            metric,
            answer,
            is_open: true,
            is_settled: false,
            is_refused: false,
            is_stuck: false,
            in_flight: 0,
        }
    }
}

/// The next samples to ask for a question.
pub(super) fn next_wave(question: u32, answer: &mut Answer, follow_up: bool) -> Ask {
    let wave = answer.votes.next_wave();
    Ask {
        question,
        first_sample: wave.start,
        samples: wave.end - wave.start,
        group: 0,
        follow_up,
        tokens: 0,
        again: false,
    }
}
