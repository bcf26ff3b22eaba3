//! What a run knows of its judges: the questions that are open and the calls under way, by number. Apart, because
//! every step of a question reads and writes it, and it knows nothing of cases.

use super::super::{MetricScorer, Millis, Options, Pairing, Plan, cancelled};
use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode};
use crate::judge::calls::{Ask, Call, Calls, LostSample, Prices, Reason};
use crate::judge::provider::Endpoint;
use crate::metrics::judged::{Answer, MAX_PROMPT_BYTES};

/// The questions of a run.
pub(in crate::run) struct JudgeState {
    /// Whether any metric asks them.
    pub(super) is_needed: bool,
    pub(super) calls: Calls,
    /// The group of calls of each metric of the plan.
    pub(super) groups: Vec<u32>,
    pub(super) timeout_ms: Millis,
    pub(super) asked: Vec<QuestionState>,
    /// The calls under way and their questions, in the order in which they were sent.
    pub(super) under_way: Vec<(u32, u32)>,
    /// How many bytes the prompts have that exist.
    pub(super) open_prompts: usize,
    /// Questions of which too many samples failed, though not for good.
    pub(super) stuck: Vec<u32>,
    /// Why the judge of a metric refuses to be asked at all, by metric.
    pub(super) blocked: Vec<Option<Error>>,
    /// Where the judge of a metric is asked, by metric, if it is a server that this crate speaks to itself.
    pub(super) endpoints: Vec<Option<Endpoint>>,
    /// What the server says to every call of a metric, by metric.
    pub(super) refusals: Vec<Refusals>,
    /// The longest wait that a server may ask for.
    pub(super) longest_pause: Millis,
}

/// A no in the same words to every call, as long as there was no yes.
#[derive(Clone, Default)]
pub(super) struct Refusals {
    pub(super) message: String,
    pub(super) times: u32,
    /// Whether any call was answered.
    pub(super) is_answered: bool,
}

/// Where a question belongs.
#[derive(Clone, Copy)]
pub(super) struct QuestionState {
    /// The case, by its place among the pairings.
    pub(super) place: usize,
    pub(super) pairing: Pairing,
    pub(super) metric: usize,
    pub(super) answer: usize,
    pub(super) is_open: bool,
    /// Whether a sample failed in a way that asking again would not change.
    pub(super) is_refused: bool,
    /// Whether it waits for a second chance.
    pub(super) is_stuck: bool,
    /// How many of its calls are under way.
    pub(super) under_way: u32,
}

/// The longest wait that a server may ask for, in milliseconds, unless retries may wait longer.
const LONGEST_PAUSE: Millis = 600_000.0;

/// What prompts without a call under way may take, in bytes: those of questions whose other samples are asked next.
const KEPT_PROMPTS: usize = MAX_PROMPT_BYTES;

impl JudgeState {
    pub(in crate::run) fn new(plan: &Plan, options: &Options) -> Self {
        let settings = &options.judges;
        let mut calls = Calls::new(settings.calls.clone());
        let mut groups = Vec::new();
        let mut blocked = Vec::new();
        for metric in &plan.metrics {
            let (mut limit, mut prices) = (None, Prices::default());
            if let MetricScorer::Judge(judged) = &metric.scorer {
                let model = settings.model_for(judged.as_ref());
                limit = judged.judge_config().options.parallelism_limit;
                let known = settings.prices.iter().find(|(name, _)| name == model);
                prices = known.map_or(prices, |(_, prices)| *prices);
            }
            groups.push(calls.add_group(limit, prices));
            blocked.push(None);
        }
        Self {
            is_needed: plan.metrics.iter().any(|metric| matches!(metric.scorer, MetricScorer::Judge(_))),
            calls,
            blocked,
            endpoints: plan.metrics.iter().map(|_| None).collect(),
            refusals: vec![Refusals::default(); plan.metrics.len()],
            longest_pause: settings.calls.retry.max_delay_ms.max(LONGEST_PAUSE),
            groups,
            timeout_ms: settings.calls.timeout_ms,
            asked: Vec::new(),
            under_way: Vec::new(),
            open_prompts: 0,
            stuck: Vec::new(),
        }
    }

    pub(in crate::run) fn is_needed(&self) -> bool {
        self.is_needed
    }

    pub(in crate::run) fn stop(&mut self, reason: Reason) {
        self.calls.stop(reason);
    }

    /// Whether to ask more. Where nothing is open a pause is waited out only with something to ask.
    pub(in crate::run) fn has_room(&self) -> bool {
        self.calls.has_room() || self.calls.open() == 0
    }

    /// Why nothing is asked any more, if so.
    pub(super) fn stopped(&self) -> Option<Error> {
        let loss = |reason| LostSample { question: 0, sample: 0, attempts: 0, reason };
        let late = || self.calls.is_late().then_some(Reason::Deadline);
        self.calls.stopped().or_else(late).map(|reason| self.why(loss(reason), None))
    }

    /// A call was given out.
    pub(super) fn sent(&mut self, call: Call) {
        self.under_way.push((call.id, call.question));
        if let Some(asked) = self.asked.get_mut(call.question as usize) {
            asked.under_way += 1;
        }
    }

    /// A call is not under way any more. The question whose prompt is not needed then, if so.
    pub(super) fn landed(&mut self, call: u32) -> Option<u32> {
        let at = self.under_way.binary_search_by_key(&call, |(id, _)| *id).ok()?;
        let (_, question) = self.under_way.remove(at);
        let asked = self.asked.get_mut(question as usize)?;
        asked.under_way -= 1;
        (asked.under_way == 0 && self.open_prompts > KEPT_PROMPTS).then_some(question)
    }

    /// What a call under way asks.
    pub(super) fn question_of(&self, call: u32) -> Option<u32> {
        let at = self.under_way.binary_search_by_key(&call, |(id, _)| *id).ok()?;
        self.under_way.get(at).map(|(_, question)| *question)
    }

    /// Whether all that is left to ask has failed once.
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

    /// Asks samples of a question that a metric has.
    pub(super) fn ask(&mut self, metric: usize, ask: Ask) {
        let group = self.groups.get(metric).copied().unwrap_or_default();
        self.calls.ask(Ask { group, ..ask });
    }

    /// Takes up a question, whose answer is where it will be.
    pub(super) fn add(&mut self, asked: QuestionState, answer: &mut Answer, follow_up: bool) {
        let question = self.asked.len() as u32;
        self.asked.push(asked);
        self.ask(asked.metric, next_wave(question, answer, follow_up));
    }

    /// The reason for a loss in words.
    pub(super) fn why(&self, loss: LostSample, failure: Option<Error>) -> Error {
        let mut why = match (loss.reason, failure) {
            (Reason::Cancelled, _) => return cancelled(),
            (Reason::BudgetExceeded, _) => {
                return Error::new(ErrorCode::BudgetExceeded, "the budget for judges is spent");
            }
            (Reason::Deadline, _) => {
                return Error::new(ErrorCode::BudgetExceeded, "the time for the run is over");
            }
            (Reason::TimedOut, _) => {
                let limit = double::to_text(self.timeout_ms);
                let message = ["the judge did not answer within ", &limit, " ms"].concat();
                Error::new(ErrorCode::Timeout, message)
            }
            (Reason::Refused | Reason::Exhausted, Some(failure)) => failure,
            (Reason::Refused | Reason::Exhausted, None) => {
                return Error::new(ErrorCode::JudgeFailed, "the judge failed");
            }
        };
        if loss.attempts > 1 {
            for piece in [", asked ", &loss.attempts.to_string(), " times"] {
                why.message.push_str(piece);
            }
        }
        why
    }
}

impl QuestionState {
    pub(super) fn new(place: usize, pairing: Pairing, metric: usize, answer: usize) -> Self {
        Self {
            place,
            pairing,
            metric,
            answer,
            is_open: true,
            is_refused: false,
            is_stuck: false,
            under_way: 0,
        }
    }
}

/// The next samples of a question.
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
