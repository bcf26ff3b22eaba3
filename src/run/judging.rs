//! The part of a run that asks judges: which question belongs to which case and metric, what came of
//! it, and when a metric of a case is settled. When and how often calls go out is decided by
//! [`Calls`], what they mean by the metrics.

use super::{MetricScorer, Millis, OpenCase, Options, Pairing, Plan, Run, cancelled, not_evaluated};
use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::json::Document;
use crate::judge::calls::{self, Ask, Call, Calls, Loss, Prices, Progress, Reason, Usage};
use crate::judge::provider::{Asked as AskedOf, Endpoint, Failure, HostAnswer, HttpRequest, Reply, Request};
use crate::judge::votes::{Outcome, Votes};
use crate::metrics::judged::{
    Answer, Conclusion, Judged, JudgedCase, LONGEST_PROMPT, MOST_PROMPTS, Planning, Question, SampleReply,
};

/// How to ask judges.
#[derive(Clone, Debug, Default)]
pub struct JudgeSettings {
    /// How calls go out.
    pub calls: calls::Options,
    /// The model that is asked, whatever criteria name.
    pub model: Option<String>,
    /// What models cost, by name.
    pub prices: Vec<(String, Prices)>,
}

impl JudgeSettings {
    /// The model that a metric asks.
    #[must_use]
    pub fn model_for<'m>(&'m self, metric: &'m dyn Judged) -> &'m str {
        self.model.as_deref().unwrap_or(&metric.asking().options.model)
    }
}

/// A call for the host to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeCall {
    /// What to report with: [`Run::handle_reply`](super::Run::handle_reply) and the like.
    pub call: Call,
    /// Which metric of the plan asks.
    pub metric: usize,
    /// Which case and run it is about.
    pub pairing: Pairing,
}

/// What a judge replied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgeReply {
    /// What it wrote.
    pub text: String,
    /// What it cost, where that is known.
    pub usage: Option<Usage>,
}

/// The questions of a run.
pub(super) struct Judges {
    /// Whether any metric asks them.
    is_needed: bool,
    calls: Calls,
    /// The group of calls of each metric of the plan.
    groups: Vec<u32>,
    timeout_ms: Millis,
    asked: Vec<Asked>,
    /// The calls under way and their questions, in the order in which they were sent.
    under_way: Vec<(u32, u32)>,
    /// How many bytes the prompts have that exist.
    open_prompts: usize,
    /// Questions of which too many samples failed, though not for good.
    stuck: Vec<u32>,
    /// Why the judge of a metric refuses to be asked at all, by metric.
    barred: Vec<Option<Error>>,
    /// Where the judge of a metric is asked, by metric, if it is a server that this crate speaks to itself.
    endpoints: Vec<Option<Endpoint>>,
    /// What the server says to every call of a metric, by metric.
    refusals: Vec<Refusals>,
    /// The longest wait that a server may ask for.
    longest_pause: Millis,
}

/// A no in the same words to every call, as long as there was no yes.
#[derive(Clone, Default)]
struct Refusals {
    message: String,
    times: u32,
    /// Whether any call was answered.
    is_answered: bool,
}

/// After how many refusals in the same words, and no answer, a server is not asked any more.
const MOST_REFUSALS: u32 = 4;

/// The longest wait that a server may ask for, in milliseconds, unless retries may wait longer.
const LONGEST_PAUSE: Millis = 600_000.0;

/// Characters of a failure that a result repeats.
const LONGEST_MESSAGE: usize = 1000;

/// Where a question belongs.
#[derive(Clone, Copy)]
struct Asked {
    /// The case, by its place among the pairings.
    place: usize,
    pairing: Pairing,
    metric: usize,
    answer: usize,
    is_open: bool,
    /// Whether a sample failed in a way that asking again would not change.
    is_refused: bool,
    /// Whether it waits for a second chance.
    is_stuck: bool,
    /// How many of its calls are under way.
    under_way: u32,
}

/// What prompts without a call under way may take, in bytes: those of questions whose other samples are asked next.
const KEPT_PROMPTS: usize = LONGEST_PROMPT;

/// A case whose questions are being planned.
pub(super) struct Convening {
    place: usize,
    metric: usize,
    /// How far that metric is.
    planning: Option<Planning>,
}

/// A metric of a case whose answers are all there.
pub(super) struct Concluding<'a> {
    place: usize,
    metric: usize,
    conclusion: Conclusion<'a>,
}

/// A metric of a case that waits for answers.
pub(super) struct Hearing {
    metric: usize,
    answers: Vec<Answer>,
    /// Answers that are neither settled nor given up.
    open: usize,
}

impl Judges {
    pub(super) fn new(plan: &Plan, options: &Options) -> Self {
        let settings = &options.judges;
        let mut calls = Calls::new(settings.calls.clone());
        let mut groups = Vec::new();
        let mut barred = Vec::new();
        for metric in &plan.metrics {
            let (mut limit, mut prices) = (None, Prices::default());
            if let MetricScorer::Judge(judged) = &metric.scorer {
                let model = settings.model_for(judged.as_ref());
                limit = judged.asking().options.parallelism_limit;
                let known = settings.prices.iter().find(|(name, _)| name == model);
                prices = known.map_or(prices, |(_, prices)| *prices);
            }
            groups.push(calls.add_group(limit, prices));
            barred.push(None);
        }
        Self {
            is_needed: plan.metrics.iter().any(|metric| matches!(metric.scorer, MetricScorer::Judge(_))),
            calls,
            barred,
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

    pub(super) fn is_needed(&self) -> bool {
        self.is_needed
    }

    pub(super) fn stop(&mut self, reason: Reason) {
        self.calls.stop(reason);
    }

    /// Whether to ask more. Where nothing is open a pause is waited out only with something to ask.
    pub(super) fn has_room(&self) -> bool {
        self.calls.has_room() || self.calls.open() == 0
    }

    /// Why nothing is asked any more, if so.
    fn stopped(&self) -> Option<Error> {
        let loss = |reason| Loss { question: 0, sample: 0, attempts: 0, reason };
        let late = || self.calls.is_late().then_some(Reason::Deadline);
        self.calls.stopped().or_else(late).map(|reason| self.why(loss(reason), None))
    }

    /// A call was given out.
    fn sent(&mut self, call: Call) {
        self.under_way.push((call.id, call.question));
        if let Some(asked) = self.asked.get_mut(call.question as usize) {
            asked.under_way += 1;
        }
    }

    /// A call is not under way any more. The question whose prompt is not needed then, if so.
    fn landed(&mut self, call: u32) -> Option<u32> {
        let at = self.under_way.binary_search_by_key(&call, |(id, _)| *id).ok()?;
        let (_, question) = self.under_way.remove(at);
        let asked = self.asked.get_mut(question as usize)?;
        asked.under_way -= 1;
        (asked.under_way == 0 && self.open_prompts > KEPT_PROMPTS).then_some(question)
    }

    /// What a call under way asks.
    fn question_of(&self, call: u32) -> Option<u32> {
        let at = self.under_way.binary_search_by_key(&call, |(id, _)| *id).ok()?;
        self.under_way.get(at).map(|(_, question)| *question)
    }

    /// Whether all that is left to ask has failed once.
    pub(super) fn is_stuck(&self) -> bool {
        self.calls.open() == 0 && !self.stuck.is_empty()
    }

    fn add_stuck(&mut self, question: u32) {
        if let Some(asked) = self.asked.get_mut(question as usize)
            && !std::mem::replace(&mut asked.is_stuck, true)
        {
            self.stuck.push(question);
        }
    }

    /// Asks samples of a question that a metric has.
    fn ask(&mut self, metric: usize, ask: Ask) {
        let group = self.groups.get(metric).copied().unwrap_or_default();
        self.calls.ask(Ask { group, ..ask });
    }

    /// Takes up a question, whose answer is where it will be.
    fn add(&mut self, asked: Asked, answer: &mut Answer, follow_up: bool) {
        let question = self.asked.len() as u32;
        self.asked.push(asked);
        self.ask(asked.metric, next_wave(question, answer, follow_up));
    }

    /// The reason for a loss in words.
    fn why(&self, loss: Loss, failure: Option<Error>) -> Error {
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

/// The next samples of a question.
fn next_wave(question: u32, answer: &mut Answer, follow_up: bool) -> Ask {
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

/// Tokens have some four bytes.
fn expected_tokens(answer: &Answer) -> u32 {
    u32::try_from(answer.question.prompt.len() / 4).unwrap_or(u32::MAX)
}

/// What the calls of a run are at.
pub(super) enum Step {
    /// Make this call.
    Send(JudgeCall),
    /// Abort this call.
    Abort(u32),
    /// Something changed.
    Again,
    /// Nothing, at least until a time.
    Wait(Option<Millis>),
}

impl<'a> Run<'a> {
    /// What to do about the calls of judges, at a time.
    #[inline(never)]
    pub(super) fn poll_judges(&mut self, now: Millis) -> Step {
        match self.poll_calls(now) {
            calls::Action::Send(call) => {
                let Some(asked) = self.judges.asked.get(call.question as usize).copied() else {
                    return Step::Again;
                };
                let barred = self.judges.barred.get(asked.metric).cloned().flatten();
                let too_long =
                    self.answer(call.question).and_then(|(_, _, answer)| answer.question.refusal());
                if let Some(why) = too_long {
                    self.judges.calls.not_sent(call.id);
                    if let Some((_, _, answer)) = self.answer(call.question) {
                        answer.failure = Some(why);
                    }
                    self.close(call.question);
                    return Step::Again;
                }
                if asked.is_open && barred.is_none() {
                    self.judges.sent(call);
                    return Step::Send(JudgeCall { call, metric: asked.metric, pairing: asked.pairing });
                }
                if barred.is_some() && asked.is_open {
                    self.judges.calls.refused(call.id);
                } else {
                    self.judges.calls.not_sent(call.id);
                }
                if let Some(why) = barred {
                    if let Some((_, _, answer)) = self.answer(call.question) {
                        answer.failure = Some(why);
                    }
                    self.close(call.question);
                }
                Step::Again
            }
            calls::Action::Abort(call) => {
                self.landed(call);
                Step::Abort(call)
            }
            calls::Action::Lost(loss) => {
                self.lost(loss, None);
                Step::Again
            }
            calls::Action::WakeAt(at) => Step::Wait(Some(at)),
            calls::Action::Idle => Step::Wait(None),
        }
    }

    /// What to do about calls. The prompt of a call is made when its turn comes.
    fn poll_calls(&mut self, now: Millis) -> calls::Action {
        let Judges { calls, asked, under_way, open_prompts, barred, .. } = &mut self.judges;
        let (plan, open, work) = (&self.plan, &mut self.open, &mut self.work);
        calls.poll_with(now, &mut |question, _| {
            // Not asked at all.
            let none = Some(0);
            let Some(asked) = asked.get(question as usize).filter(|asked| asked.is_open) else { return none };
            if barred.get(asked.metric).is_some_and(Option::is_some) {
                return none;
            }
            let Some(open) = open.iter_mut().find(|open| open.place == asked.place) else { return none };
            let hearing = open.hearings.iter_mut().find(|hearing| hearing.metric == asked.metric);
            let (Some(hearing), Some(case)) = (hearing, &open.judged) else { return none };
            let Some(answer) = hearing.answers.get(asked.answer) else { return none };
            if answer.question.refusal().is_some() {
                return none;
            }
            if answer.question.prompt.is_empty() {
                if *open_prompts > MOST_PROMPTS - LONGEST_PROMPT && !under_way.is_empty() {
                    return None;
                }
                let Some(MetricScorer::Judge(judged)) =
                    plan.metrics.get(asked.metric).map(|metric| &metric.scorer)
                else {
                    return none;
                };
                let before = answer.question.follows.and_then(|at| hearing.answers.get(at));
                let prompt = judged.prompt(case, &answer.question, before);
                if let Some(answer) = hearing.answers.get_mut(asked.answer) {
                    answer.question.take_prompt(prompt);
                    work.add(answer.question.bytes.min(LONGEST_PROMPT));
                    *open_prompts += answer.question.prompt.len();
                }
            }
            hearing.answers.get(asked.answer).map_or(none, |answer| Some(expected_tokens(answer)))
        })
    }

    /// A call is not under way any more.
    fn landed(&mut self, call: u32) {
        if let Some(question) = self.judges.landed(call)
            && let Some((_, _, answer)) = self.answer(question)
        {
            let prompt = std::mem::take(&mut answer.question.prompt);
            self.judges.open_prompts -= prompt.len();
        }
    }

    /// How many bytes the prompts have that exist: those of calls under way, and few others.
    #[must_use]
    pub fn open_prompts(&self) -> usize {
        self.judges.open_prompts
    }

    /// What a call asks.
    #[must_use]
    pub fn question(&self, call: &JudgeCall) -> Option<&Question> {
        self.question_numbered(call.call.question)
    }

    fn question_numbered(&self, number: u32) -> Option<&Question> {
        let asked = self.judges.asked.get(number as usize)?;
        let open = self.open.iter().find(|open| open.place == asked.place)?;
        let hearing = open.hearings.iter().find(|hearing| hearing.metric == asked.metric)?;
        hearing.answers.get(asked.answer).map(|answer| &answer.question)
    }

    /// Takes the reply to a call, made at `now` or found in a cache. Replies that nobody waits for any more
    /// are ignored.
    pub fn handle_reply(&mut self, now: Millis, call: u32, reply: JudgeReply, cached: bool) {
        if let Some(refusals) = self.metric_of(call).and_then(|metric| self.judges.refusals.get_mut(metric)) {
            refusals.is_answered = true;
        }
        let calls = &mut self.judges.calls;
        let sample = match cached {
            true => calls.found(call),
            false => calls.reply(now, call, reply.usage.unwrap_or_default()),
        };
        let Some(sample) = sample else { return };
        self.work.add(reply.text.len());
        if let Some((judged, case, answer)) = self.answer(sample.question) {
            let ballot = judged.read(case, &answer.question, &reply.text);
            answer.votes.count(&ballot.votes);
            let at = answer.replies.partition_point(|known| known.sample < sample.sample);
            let JudgeReply { text, usage } = reply;
            answer.replies.insert(at, SampleReply { sample: sample.sample, text, usage, cached, ballot });
        }
        self.landed(call);
        self.advance(sample.question);
    }

    /// Takes that a call failed. It is made again later, unless that is of no use.
    pub fn handle_failure(&mut self, now: Millis, call: u32, failed: &Failure) {
        let metric = self.metric_of(call);
        let mut pace = failed.pace();
        let mut message = failed.in_words();
        if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        if let Some(wait) = pace.retry_after_ms.filter(|wait| *wait > self.judges.longest_pause) {
            let seconds = double::to_text((wait / 1000.0).round());
            message += &format!(". It asks to be left alone for {seconds} s, which is too long to wait");
            // Nor do the others wait.
            pace = calls::Failure { disconnected: pace.disconnected, ..calls::Failure::default() };
        }
        let mut is_barred = failed.is_auth();
        if failed.is_refusal()
            && let Some(refusals) = metric.and_then(|metric| self.judges.refusals.get_mut(metric))
            && !refusals.is_answered
        {
            if refusals.times == 0 {
                refusals.message.clone_from(&message);
            }
            if refusals.message == message {
                refusals.times += 1;
                is_barred |= refusals.times >= MOST_REFUSALS;
            }
        }
        let error = Error::new(ErrorCode::JudgeFailed, message);
        self.landed(call);
        if let Some(loss) = self.judges.calls.failure(now, call, pace) {
            let asked = self.judges.asked.get(loss.question as usize);
            if let Some(barred) = asked.and_then(|asked| self.judges.barred.get_mut(asked.metric))
                && is_barred
            {
                barred.get_or_insert_with(|| error.clone());
            }
            self.lost(loss, Some(error));
        }
    }

    /// Has a metric's judge be asked at a server.
    pub fn set_endpoint(&mut self, metric: usize, endpoint: Endpoint) {
        if let Some(place) = self.judges.endpoints.get_mut(metric) {
            *place = Some(endpoint);
        }
    }

    /// What of the settings in the criterion of a metric a server is not sent, a sentence each.
    #[must_use]
    pub fn settings_not_sent(&self, metric: usize, mut endpoint: Endpoint) -> Vec<String> {
        let scorer = self.plan.metrics.get(metric).map(|metric| &metric.scorer);
        let Some(MetricScorer::Judge(judged)) = scorer else { return Vec::new() };
        let asking = judged.asking();
        // Vertex AI's evaluation service has no settings.
        let config = asking.options.config.as_deref().filter(|_| !asking.vertex);
        let Some(config) = config.and_then(|config| Document::parse(config).ok()) else { return Vec::new() };
        endpoint.model.get_or_insert_with(|| self.judge_model(judged.as_ref()).to_owned());
        endpoint.warnings(config.root())
    }

    /// The request of a call to the server of its metric; nothing if the host asks somebody itself.
    ///
    /// # Errors
    /// As [`Endpoint::ask`].
    pub fn http_request(&self, call: u32) -> Option<Result<HttpRequest, Box<Failure>>> {
        self.with_question(call, |endpoint, asked| endpoint.ask(asked))
    }

    /// Takes what came of the [`Run::http_request`] of a call, and says what that is; nothing if nobody waits for it.
    /// `token` is the access token that the host had sent.
    pub fn handle_answer(
        &mut self,
        now: Millis,
        call: u32,
        answer: HostAnswer<'_>,
        token: Option<String>,
    ) -> Option<Result<Reply, Box<Failure>>> {
        let taken = self.with_question(call, |endpoint, asked| match token {
            None => endpoint.take(asked, answer),
            Some(_) => Endpoint { bearer: token, ..endpoint.clone() }.take(asked, answer),
        })?;
        match &taken {
            Ok(Reply { text, usage, .. }) => {
                let reply = JudgeReply { text: text.clone(), usage: usage.tokens() };
                self.handle_reply(now, call, reply, false);
            }
            Err(failed) => self.handle_failure(now, call, failed),
        }
        Some(taken)
    }

    /// Works with the question of a call under way in the words of its endpoint.
    fn with_question<T>(&self, call: u32, work: impl FnOnce(&Endpoint, AskedOf<'_>) -> T) -> Option<T> {
        let number = self.judges.question_of(call)?;
        let about = self.judges.asked.get(number as usize)?;
        let endpoint = self.judges.endpoints.get(about.metric)?.as_ref()?;
        let MetricScorer::Judge(judged) = &self.plan.metrics.get(about.metric)?.scorer else { return None };
        let question = self.question_numbered(number)?;
        let asking = judged.asking();
        if asking.vertex {
            return Some(work(endpoint, AskedOf::Evaluation(&question.prompt)));
        }
        let config = asking.options.config.as_deref().and_then(|config| Document::parse(config).ok());
        let request = Request {
            model: self.judge_model(judged.as_ref()),
            system: None,
            prompt: &question.prompt,
            response_schema: question.schema,
            config: config.as_ref().map(Document::root),
        };
        Some(work(endpoint, AskedOf::Question(request)))
    }

    /// Which metric a call under way is for.
    fn metric_of(&self, call: u32) -> Option<usize> {
        let question = self.judges.question_of(call)?;
        self.judges.asked.get(question as usize).map(|asked| asked.metric)
    }

    /// The model that a metric asks at an endpoint.
    fn model_of<'m>(&'m self, metric: &'m dyn Judged, endpoint: Option<&'m Endpoint>) -> &'m str {
        endpoint.and_then(|endpoint| endpoint.model.as_deref()).unwrap_or_else(|| self.judge_model(metric))
    }

    /// The model that the call of a metric of the plan asks.
    #[must_use]
    pub fn asked_model<'m>(&'m self, metric: usize, judged: &'m dyn Judged) -> &'m str {
        self.model_of(judged, self.judges.endpoints.get(metric).and_then(Option::as_ref))
    }

    /// The model that a metric asks.
    #[must_use]
    pub fn judge_model<'m>(&'m self, metric: &'m dyn Judged) -> &'m str {
        self.options.judges.model_for(metric)
    }

    /// How far the calls of judges are.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.judges.calls.progress()
    }

    /// Opens a case, and begins to plan what judges are asked about it.
    #[inline(never)]
    pub(super) fn convene(&mut self, mut open: OpenCase<'a>, case: JudgedCase<'a>) {
        if self.judges.is_needed {
            open.judged = Some(case.lined_up());
            self.convening = Some(Convening { place: open.place, metric: 0, planning: None });
        }
        self.open.push(open);
    }

    /// Plans more of what judges are asked about a case, for as long as there is work left to do.
    #[inline(never)]
    pub(super) fn go_on_convening(&mut self, mut convening: Convening) {
        let Convening { place, metric, .. } = convening;
        let Some(planned) = self.plan.metrics.get(metric) else { return };
        let MetricScorer::Judge(judged) = &planned.scorer else {
            self.convening = Some(Convening { place, metric: metric + 1, planning: None });
            return;
        };
        let Some(open) = self.open.iter_mut().find(|open| open.place == place) else { return };
        let Some(case) = &open.judged else { return };
        let planning = match (convening.planning.take(), self.judges.stopped()) {
            // What cannot be asked any more need not be planned to its end.
            (Some(_), Some(stopped)) => Err(stopped),
            (Some(planning), None) => Ok(planning),
            (None, _) => Planning::begin(judged.as_ref(), case),
        };
        let planned = planning.and_then(|mut planning| {
            let is_done = planning.go_on(judged.as_ref(), case, &self.scoring, &mut self.work)?;
            Ok((planning, is_done))
        });
        match planned {
            Ok((planning, false)) => {
                self.convening = Some(Convening { place, metric, planning: Some(planning) });
                return;
            }
            Ok((planning, true)) => {
                let pairing = open.result.pairing;
                let mut hearing = Hearing { metric, answers: Vec::new(), open: 0 };
                for question in planning.into_questions() {
                    let answer = hearing.answers.len();
                    hearing.add(
                        &mut self.judges,
                        Asked::new(place, pairing, metric, answer),
                        question,
                        false,
                    );
                }
                let is_idle = hearing.open == 0;
                open.hearings.push(hearing);
                if is_idle {
                    self.conclude(place, metric);
                }
            }
            Err(error) => {
                let evaluation = not_evaluated(error, case.case.actual.len());
                self.settle_metric(place, metric, evaluation);
            }
        }
        self.convening = Some(Convening { place, metric: metric + 1, planning: None });
    }

    /// The answer to an open question, with who asks it and about what.
    #[inline(never)]
    fn answer(&mut self, question: u32) -> Option<(&dyn Judged, &JudgedCase<'a>, &mut Answer)> {
        let asked = self.judges.asked.get(question as usize).filter(|asked| asked.is_open)?;
        let open = self.open.iter_mut().find(|open| open.place == asked.place)?;
        let hearing = open.hearings.iter_mut().find(|hearing| hearing.metric == asked.metric)?;
        let MetricScorer::Judge(judged) = &self.plan.metrics.get(asked.metric)?.scorer else { return None };
        Some((judged.as_ref(), open.judged.as_ref()?, hearing.answers.get_mut(asked.answer)?))
    }

    /// A sample will have no reply.
    fn lost(&mut self, loss: Loss, failure: Option<Error>) {
        let why = self.judges.why(loss, failure);
        if let Some((_, _, answer)) = self.answer(loss.question) {
            answer.votes.fail(loss.sample);
            answer.failure.get_or_insert(why);
        }
        if let Some(asked) = self.judges.asked.get_mut(loss.question as usize) {
            asked.is_refused |= !matches!(loss.reason, Reason::Exhausted | Reason::TimedOut);
        }
        self.advance(loss.question);
    }

    /// Goes on with a question after a reply or a loss.
    fn advance(&mut self, question: u32) {
        let Some((_, _, answer)) = self.answer(question) else { return };
        match answer.votes.outcome() {
            Outcome::Open => {
                let wave = next_wave(question, answer, true);
                if let Some(asked) = self.judges.asked.get(question as usize) {
                    self.judges.ask(asked.metric, wave);
                }
            }
            Outcome::Settled => self.close(question),
            Outcome::Undecidable => {
                let asked = self.judges.asked.get(question as usize);
                if asked.is_some_and(|asked| asked.is_refused) {
                    self.close(question);
                } else {
                    // The judge may answer again when the rest of the run is done.
                    self.judges.add_stuck(question);
                }
            }
        }
    }

    /// Gives failed samples a second chance, or gives their questions up. Nothing else is asked then.
    #[inline(never)]
    pub(super) fn retry_stuck(&mut self) {
        let answered = self.judges.calls.progress().answered > 0;
        for question in std::mem::take(&mut self.judges.stuck) {
            if let Some(asked) = self.judges.asked.get_mut(question as usize) {
                asked.is_stuck = false;
            }
            let Some((_, _, answer)) = self.answer(question) else { continue };
            let samples = if answered { answer.votes.second_chance() } else { Vec::new() };
            if samples.is_empty() {
                self.close(question);
                continue;
            }
            let metric = self.judges.asked.get(question as usize).map_or(0, |asked| asked.metric);
            self.judges.calls.take_back(samples.len() as u32);
            for first_sample in samples {
                let follow_up = true;
                let ask =
                    Ask { question, first_sample, samples: 1, group: 0, follow_up, again: true, tokens: 0 };
                self.judges.ask(metric, ask);
            }
        }
    }

    /// Nothing more is asked about a question.
    fn close(&mut self, question: u32) {
        let Some((judged, _, answer)) = self.answer(question) else { return };
        let saved = answer.votes.saved();
        let next = if answer.is_settled() { judged.follow_up(answer) } else { None };
        // Nobody asks it any more.
        let prompt = std::mem::take(&mut answer.question.prompt);
        self.judges.open_prompts = self.judges.open_prompts.saturating_sub(prompt.len());
        self.judges.calls.count_saved(saved);
        let Some(asked) = self.judges.asked.get_mut(question as usize) else { return };
        asked.is_open = false;
        let asked = *asked;
        let Some(open) = self.open.iter_mut().find(|open| open.place == asked.place) else { return };
        let Some(hearing) = open.hearings.iter_mut().find(|hearing| hearing.metric == asked.metric) else {
            return;
        };
        hearing.open -= 1;
        if let Some(mut next) = next {
            next.follows = Some(asked.answer);
            let asked = Asked::new(asked.place, asked.pairing, asked.metric, hearing.answers.len());
            hearing.add(&mut self.judges, asked, next, true);
        }
        if hearing.open == 0 {
            self.conclude(asked.place, asked.metric);
        }
    }

    /// All answers of a metric are there.
    fn conclude(&mut self, place: usize, metric: usize) {
        let Some(open) = self.open.iter_mut().find(|open| open.place == place) else { return };
        let Some(at) = open.hearings.iter().position(|hearing| hearing.metric == metric) else { return };
        let Hearing { answers, .. } = open.hearings.swap_remove(at);
        self.concluding.push_back(Concluding { place, metric, conclusion: Conclusion::of(answers) });
    }

    /// Makes more of a result, for as long as there is work left to do.
    #[inline(never)]
    pub(super) fn go_on_concluding(&mut self, mut concluding: Concluding<'a>) {
        let Concluding { place, metric, .. } = concluding;
        let Some(planned) = self.plan.metrics.get(metric) else { return };
        let MetricScorer::Judge(judged) = &planned.scorer else { return };
        let Some(open) = self.open.iter().find(|open| open.place == place) else { return };
        let Some(case) = &open.judged else { return };
        let evaluation = concluding.conclusion.go_on(judged.as_ref(), case, &self.scoring, &mut self.work);
        let evaluation = match evaluation {
            Ok(None) => return self.concluding.push_front(concluding),
            Ok(Some(evaluation)) => evaluation,
            Err(error) => not_evaluated(error, case.case.actual.len()),
        };
        self.settle_metric(place, metric, evaluation);
    }
}

impl Asked {
    fn new(place: usize, pairing: Pairing, metric: usize, answer: usize) -> Self {
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

impl Hearing {
    /// Asks a question.
    fn add(&mut self, judges: &mut Judges, asked: Asked, question: Question, follow_up: bool) {
        let votes = Votes::new(question.samples, question.verdicts, question.rule);
        let failure = question.refusal();
        let is_refused = failure.is_some();
        let answer = self.answers.push_mut(Answer { question, votes, replies: Vec::new(), failure });
        if !is_refused {
            judges.add(asked, answer, follow_up);
            self.open += 1;
        }
    }
}
