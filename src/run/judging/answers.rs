//! Handles replies and failures of judge calls: counts votes, retries calls or closes questions, and asks
//! follow-up questions.

use super::super::{MetricScorer, Millis, Run};
use super::JudgeReply;
use super::sending::estimated_tokens;
use super::state::{QuestionState, next_wave};
use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode};
use crate::judge::calls::{self, Ask, LossReason, LostSample};
use crate::judge::provider::{Failure, TokenCounts};
use crate::judge::votes::Outcome;
use crate::metrics::judged::{Answer, Judged, JudgedCase, SampleReply};

/// After this many identical refusals, or answers that are none, without a single reply, a server is not asked again.
pub const MAX_REFUSALS: u32 = 4;

/// The maximum length of a failure message in a result, in characters.
const MAX_MESSAGE_CHARS: usize = 1000;

impl<'a> Run<'a> {
    /// Accepts the reply to a call, received at `now` or found in a cache. Replies that are no longer needed
    /// are ignored.
    pub fn handle_reply(&mut self, now: Millis, call: u32, reply: JudgeReply, cached: bool) {
        if let Some(refusals) =
            self.metric_for_call(call).and_then(|metric| self.judges.refusals.get_mut(metric))
        {
            refusals.is_answered = true;
        }
        let calls = &mut self.judges.calls;
        let sample = match cached {
            true => calls.resolve_from_cache(call),
            false => {
                let usage = reply.usage.tokens().unwrap_or_default();
                let unreported = if reply.usage.knows_output() { 0 } else { estimated_tokens(&reply.text) };
                calls.reply(now, call, usage, u64::from(unreported))
            }
        };
        let Some(sample) = sample else { return };
        self.work.add(reply.text.len());
        if let Some((judged, case, answer)) = self.answer(sample.question) {
            let ballot = judged.read(case, &answer.question, &reply.text);
            answer.votes.count(&ballot.votes);
            let is_unread = ballot.is_unread();
            if let Some(grade) = ballot.score {
                answer.votes.grade(grade);
            }
            let at = answer.replies.partition_point(|known| known.sample < sample.sample);
            let JudgeReply { text, usage } = reply;
            let usage = usage.tokens();
            answer.replies.insert(at, SampleReply { sample: sample.sample, text, usage, cached, ballot });
            self.judges.calls.count_unread(is_unread);
        }
        self.call_ended(call);
        self.advance(sample.question);
    }

    /// Counts tokens of a call in flight that its outcome does not report.
    pub fn charge(&mut self, call: u32, usage: TokenCounts) {
        self.judges.calls.charge_call(call, usage.tokens().unwrap_or_default());
    }

    /// Accepts the failure of a call. The call is retried later, unless retrying is pointless.
    pub fn handle_failure(&mut self, now: Millis, call: u32, failed: &Failure) {
        let metric = self.metric_for_call(call);
        let mut call_failure = failed.to_call_failure();
        let mut message = failed.message_with_help();
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE_CHARS) {
            message.truncate(end);
            message.push('…');
        }
        if let Some(wait) = call_failure.retry_after_ms.filter(|wait| *wait > self.judges.max_pause) {
            let seconds = double::to_text((wait / 1000.0).round());
            message += &format!(". It asks to wait {seconds} s, which is too long");
            // The call is given up, and other calls are not paused either.
            call_failure = calls::CallFailure {
                disconnected: call_failure.disconnected,
                usage: call_failure.usage,
                ..calls::CallFailure::default()
            };
        }
        let mut blocks_metric = failed.is_auth();
        if (failed.is_refusal() || failed.is_malformed())
            && let Some(refusals) = metric.and_then(|metric| self.judges.refusals.get_mut(metric))
            && !refusals.is_answered
        {
            // Web pages differ in details, but none of them is a judge.
            let same = failed.help.as_ref().filter(|_| failed.is_malformed()).unwrap_or(&message);
            if refusals.times == 0 {
                refusals.message.clone_from(same);
            }
            if refusals.message == *same {
                refusals.times += 1;
                blocks_metric |= refusals.times >= MAX_REFUSALS;
            }
        }
        if blocks_metric {
            call_failure.retryable = false;
        }
        self.judges.last_failure.clone_from(&message);
        let error = Error::new(ErrorCode::JudgeFailed, message);
        self.call_ended(call);
        if let Some(loss) = self.judges.calls.failure(now, call, call_failure) {
            if let Some(metric) = metric.filter(|_| blocks_metric) {
                self.block(metric, &error);
            }
            self.lost(loss, Some(error));
        }
    }

    /// Asks a metric's judge no more.
    fn block(&mut self, metric: usize, why: &Error) {
        if let Some(blocked) = self.judges.blocked.get_mut(metric) {
            blocked.get_or_insert_with(|| why.clone());
        }
        if let Some(group) = self.judges.groups.get(metric) {
            self.judges.calls.hurry(*group);
        }
    }

    /// The answer to an open question, with the metric and the case that it belongs to.
    pub(super) fn answer(&mut self, question: u32) -> Option<(&dyn Judged, &JudgedCase<'a>, &mut Answer)> {
        let asked = self.judges.asked.get(question as usize).filter(|asked| asked.is_open)?;
        let open = self.open.iter_mut().find(|open| open.pairing_index == asked.pairing_index)?;
        let pending = open.pending_metrics.iter_mut().find(|pending| pending.metric == asked.metric)?;
        let MetricScorer::Judge(judged) = &self.plan.metrics.get(asked.metric)?.scorer else { return None };
        Some((judged.as_ref(), open.judged.as_ref()?, pending.answers.get_mut(asked.answer)?))
    }

    /// The index of the metric that a call in flight belongs to.
    pub(super) fn metric_for_call(&self, call: u32) -> Option<usize> {
        let question = self.judges.question_for_call(call)?;
        self.judges.asked.get(question as usize).map(|asked| asked.metric)
    }

    /// Records that a sample will have no reply.
    pub(super) fn lost(&mut self, loss: LostSample, failure: Option<Error>) {
        let why = self.judges.why(loss, failure);
        if let Some((_, _, answer)) = self.answer(loss.question) {
            answer.votes.fail(loss.sample);
            answer.unsent += u32::from(loss.is_unsent);
            answer.failure.get_or_insert(why);
        }
        if let Some(asked) = self.judges.asked.get_mut(loss.question as usize) {
            asked.is_refused |= !matches!(loss.reason, LossReason::Exhausted | LossReason::TimedOut);
        }
        self.advance(loss.question);
    }

    /// Decides how a question continues after a reply or a lost sample.
    fn advance(&mut self, question: u32) {
        let Some((_, _, answer)) = self.answer(question) else { return };
        match answer.votes.outcome() {
            Outcome::Open => {
                let wave = next_wave(question, answer, true);
                let bytes = if wave.samples > 0 { answer.leave_out_decided() } else { 0 };
                self.judges.open_prompts -= bytes;
                if let Some(asked) = self.judges.asked.get(question as usize) {
                    self.judges.ask(asked.metric, wave);
                }
            }
            Outcome::Settled => self.close(question),
            Outcome::Undecidable => {
                let asked = self.judges.asked.get(question as usize);
                if asked.is_some_and(|asked| asked.is_refused) {
                    self.give_up(question);
                } else {
                    // Retried when the rest of the run is done: the judge may have recovered by then.
                    self.judges.add_stuck(question);
                }
            }
        }
    }

    /// Retries the lost samples of stuck questions once, or closes the questions. Called when nothing else is
    /// left to ask.
    pub(in crate::run) fn retry_stuck(&mut self) {
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
            self.judges.calls.revert_losses(samples.len() as u32);
            for first_sample in samples {
                let follow_up = true;
                let ask =
                    Ask { question, first_sample, samples: 1, group: 0, follow_up, again: true, tokens: 0 };
                self.judges.ask(metric, ask);
            }
        }
    }

    /// Ends a question whose samples that wait to be sent will not be.
    pub(super) fn give_up(&mut self, question: u32) {
        let in_flight = self.judges.asked.get(question as usize).map_or(0, |asked| asked.in_flight);
        if let Some((_, _, answer)) = self.answer(question) {
            answer.unsent += answer.votes.pending().saturating_sub(in_flight);
        }
        self.close(question);
    }

    /// Ends a question and asks the one that follows from it, if any.
    pub(super) fn close(&mut self, question: u32) {
        self.learn(question);
        let Some((judged, _, answer)) = self.answer(question) else { return };
        let (unasked, at_risk) = (answer.votes.unasked(), answer.votes.at_risk());
        let is_settled = answer.is_settled();
        let next = if is_settled { judged.follow_up(answer) } else { None };
        // The prompt is no longer needed.
        let bytes = answer.question.drop_prompt();
        self.judges.open_prompts = self.judges.open_prompts.saturating_sub(bytes);
        if is_settled {
            self.judges.calls.count_saved(unasked, at_risk);
        } else {
            self.judges.calls.count_unasked(unasked);
        }
        let Some(asked) = self.judges.asked.get_mut(question as usize) else { return };
        asked.is_open = false;
        asked.is_settled = is_settled;
        let asked = *asked;
        let Some(open) = self.open.iter_mut().find(|open| open.pairing_index == asked.pairing_index) else {
            return;
        };
        let Some(pending) = open.pending_metrics.iter_mut().find(|pending| pending.metric == asked.metric)
        else {
            return;
        };
        pending.open -= 1;
        if let Some(mut next) = next {
            next.follows = Some(asked.answer);
            let asked =
                QuestionState::new(asked.pairing_index, asked.pairing, asked.metric, pending.answers.len());
            pending.add(&mut self.judges, asked, next, true);
        }
        if pending.open == 0 {
            self.conclude(asked.pairing_index, asked.metric);
        }
    }

    /// Learns from a question that is about to be closed how its metric's samples vote, and asks those that waited
    /// for that.
    fn learn(&mut self, question: u32) {
        let Some(metric) = self.judges.asked.get(question as usize).map(|asked| asked.metric) else { return };
        let Some(mut learning) = self.judges.learning.get_mut(metric).and_then(Option::take) else { return };
        let held = self.answer(question).map(|(_, _, answer)| learning.learn(answer)).unwrap_or_default();
        for question in held {
            let Some((_, _, answer)) = self.answer(question) else { continue };
            learning.admit(question, answer);
            let wave = next_wave(question, answer, false);
            self.judges.ask(metric, wave);
        }
        if let Some(slot) = self.judges.learning.get_mut(metric) {
            *slot = Some(learning);
        }
    }
}
