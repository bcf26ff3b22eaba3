//! Sends questions: chooses the next call and renders its prompt just before it is sent.

use super::super::{MetricScorer, Millis, Run};
use super::{JudgeCall, JudgeState};
use crate::judge::calls::{self, Progress};
use crate::metrics::judged::{MAX_OPEN_PROMPT_BYTES, MAX_PROMPT_BYTES, Question, Work};

/// What the judge calls of a run need next.
pub(in crate::run) enum JudgeStep {
    /// Send this call.
    Send(JudgeCall),
    /// Abort this call.
    Abort(u32),
    /// Poll again: something changed.
    Continue,
    /// Wait, at most until the given time.
    Wait(Option<Millis>),
}

impl<'a> Run<'a> {
    /// Returns what the judge calls need at this time.
    pub(in crate::run) fn poll_judges(&mut self, now: Millis) -> JudgeStep {
        let Some(action) = self.poll_calls(now) else { return JudgeStep::Continue };
        match action {
            calls::CallAction::Send(call) => {
                let Some(asked) = self.judges.asked.get(call.question as usize).copied() else {
                    return JudgeStep::Continue;
                };
                let blocked = self.judges.blocked.get(asked.metric).cloned().flatten();
                let too_long =
                    self.answer(call.question).and_then(|(_, _, answer)| answer.question.refusal());
                if let Some(why) = too_long {
                    self.judges.calls.reject(call.id);
                    if let Some((_, _, answer)) = self.answer(call.question) {
                        answer.failure = Some(why);
                    }
                    self.close(call.question);
                    return JudgeStep::Continue;
                }
                if asked.is_open && blocked.is_none() {
                    self.judges.sent(call);
                    return JudgeStep::Send(JudgeCall { call, metric: asked.metric, pairing: asked.pairing });
                }
                if asked.is_settled {
                    self.judges.calls.withdraw(call.id);
                } else {
                    self.judges.calls.reject(call.id);
                }
                if let Some(why) = blocked {
                    if let Some((_, _, answer)) = self.answer(call.question) {
                        answer.failure = Some(why);
                    }
                    if let Some(asked) = self.judges.asked.get_mut(call.question as usize) {
                        asked.is_refused = true;
                    }
                    self.give_up(call.question);
                }
                JudgeStep::Continue
            }
            calls::CallAction::Abort(call) => {
                self.call_ended(call);
                JudgeStep::Abort(call)
            }
            calls::CallAction::Lost(loss) => {
                self.lost(loss, None);
                JudgeStep::Continue
            }
            calls::CallAction::WakeAt(at) => JudgeStep::Wait(Some(at)),
            calls::CallAction::Idle => JudgeStep::Wait(None),
        }
    }

    /// Polls the queue of calls. Renders the prompt of a call just before it is sent. A large one is sent in the next poll:
    /// to render it and to compute its digest takes a slice each. `None` then.
    fn poll_calls(&mut self, now: Millis) -> Option<calls::CallAction> {
        let JudgeState { calls, asked, in_flight, open_prompts, blocked, .. } = &mut self.judges;
        let (plan, open, work) = (&self.plan, &mut self.open, &mut self.work);
        let mut is_large = false;
        let action = calls.poll_with(now, &mut |question, _| {
            // An expected size of 0: the call is about to be withdrawn.
            let none = Some(0);
            let Some(asked) = asked.get(question as usize).filter(|asked| asked.is_open) else { return none };
            if blocked.get(asked.metric).is_some_and(Option::is_some) {
                return none;
            }
            let Some(open) = open.iter_mut().find(|open| open.pairing_index == asked.pairing_index) else {
                return none;
            };
            let pending = open.pending_metrics.iter_mut().find(|pending| pending.metric == asked.metric);
            let (Some(pending), Some(case)) = (pending, &open.judged) else { return none };
            let Some(answer) = pending.answers.get(asked.answer) else { return none };
            if answer.question.refusal().is_some() {
                return none;
            }
            if answer.question.prompt.is_empty() {
                if *open_prompts > MAX_OPEN_PROMPT_BYTES - MAX_PROMPT_BYTES && !in_flight.is_empty() {
                    return None;
                }
                let Some(MetricScorer::Judge(judged)) =
                    plan.metrics.get(asked.metric).map(|metric| &metric.scorer)
                else {
                    return none;
                };
                let before = answer.question.follows.and_then(|at| pending.answers.get(at));
                let prompt = judged.prompt(case, &answer.question, before);
                if let Some(answer) = pending.answers.get_mut(asked.answer) {
                    answer.question.take_prompt(prompt);
                    work.add(answer.question.bytes.min(MAX_PROMPT_BYTES));
                    *open_prompts += answer.question.prompt.len();
                    is_large = answer.question.prompt.len() >= Work::PER_POLL;
                    if is_large {
                        return None;
                    }
                }
            }
            pending.answers.get_mut(asked.answer).map_or(none, |answer| {
                let question = &mut answer.question;
                if question.digest.is_empty() && question.prompt.len() >= Work::PER_POLL {
                    work.add(question.prompt.len());
                }
                question.identify();
                Some(estimated_tokens(&question.prompt))
            })
        });
        (!is_large).then_some(action)
    }

    /// Records that a call is no longer in flight.
    pub(super) fn call_ended(&mut self, call: u32) {
        if let Some(question) = self.judges.call_ended(call)
            && let Some((_, _, answer)) = self.answer(question)
        {
            let bytes = answer.question.drop_prompt();
            self.judges.open_prompts -= bytes;
        }
    }

    /// The bytes of all prompts in memory: those of calls in flight, and a few others.
    #[must_use]
    pub fn open_prompts(&self) -> usize {
        self.judges.open_prompts
    }

    /// The question of a call.
    #[must_use]
    pub fn question(&self, call: &JudgeCall) -> Option<&Question> {
        self.question_numbered(call.call.question)
    }

    pub(super) fn question_numbered(&self, number: u32) -> Option<&Question> {
        let asked = self.judges.asked.get(number as usize)?;
        let open = self.open.iter().find(|open| open.pairing_index == asked.pairing_index)?;
        let pending = open.pending_metrics.iter().find(|pending| pending.metric == asked.metric)?;
        pending.answers.get(asked.answer).map(|answer| &answer.question)
    }

    /// The progress of all judge calls.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.judges.calls.progress()
    }
}

/// The tokens of a text, estimated at four bytes per token.
pub(super) fn estimated_tokens(text: &str) -> u32 {
    u32::try_from(text.len() / 4).unwrap_or(u32::MAX)
}
