//! The stages of a judged metric for one case: planning its questions, waiting for answers, concluding the
//! result. Planning and concluding can be interrupted.

use super::super::reasons::not_evaluated;
use super::super::{MetricScorer, OpenCase, Run};
use super::state::{JudgeState, QuestionState};
use crate::judge::votes::Votes;
use crate::metrics::judged::{Answer, Conclusion, JudgedCase, Planning, Question};

/// A case with the progress of planning its questions.
pub(in crate::run) struct PlanningCase {
    pairing_index: usize,
    metric: usize,
    /// The progress of the current metric.
    planning: Option<Planning>,
}

/// A metric of a case that waits for answers.
pub(in crate::run) struct PendingMetric {
    pub(super) metric: usize,
    pub(super) answers: Vec<Answer>,
    /// The number of questions that still wait for replies.
    pub(super) open: usize,
}

/// A metric of a case that has all its answers, with the progress of computing its result.
pub(in crate::run) struct ConcludingMetric<'a> {
    pairing_index: usize,
    metric: usize,
    conclusion: Conclusion<'a>,
}

impl<'a> Run<'a> {
    /// Opens a case and starts planning its questions.
    pub(in crate::run) fn start_judged_metrics(&mut self, mut open: OpenCase<'a>, case: JudgedCase<'a>) {
        if self.judges.is_needed {
            open.judged = Some(case.with_paired_turns());
            self.planning_case =
                Some(PlanningCase { pairing_index: open.pairing_index, metric: 0, planning: None });
        }
        self.open.push(open);
    }

    /// Continues to plan the questions of a case until all are planned or the work for one poll is done.
    pub(in crate::run) fn continue_planning(&mut self, mut planning_case: PlanningCase) {
        let PlanningCase { pairing_index, metric, .. } = planning_case;
        let Some(planned) = self.plan.metrics.get(metric) else { return };
        let MetricScorer::Judge(judged) = &planned.scorer else {
            self.planning_case = Some(PlanningCase { pairing_index, metric: metric + 1, planning: None });
            return;
        };
        let Some(open) = self.open.iter_mut().find(|open| open.pairing_index == pairing_index) else {
            return;
        };
        let Some(case) = &open.judged else { return };
        let planning = match (planning_case.planning.take(), self.judges.stopped()) {
            // Once nothing can be asked any more, planning stops.
            (Some(_), Some(stopped)) => Err(stopped),
            (Some(planning), None) => Ok(planning),
            (None, _) => Planning::begin(judged.as_ref(), case),
        };
        let planned = planning.and_then(|mut planning| {
            let is_done = planning.advance(judged.as_ref(), case, &self.scoring, &mut self.work)?;
            Ok((planning, is_done))
        });
        match planned {
            Ok((planning, false)) => {
                self.planning_case = Some(PlanningCase { pairing_index, metric, planning: Some(planning) });
                return;
            }
            Ok((planning, true)) => {
                let pairing = open.result.pairing;
                let mut pending = PendingMetric { metric, answers: Vec::new(), open: 0 };
                for question in planning.into_questions() {
                    let answer = pending.answers.len();
                    pending.add(
                        &mut self.judges,
                        QuestionState::new(pairing_index, pairing, metric, answer),
                        question,
                        false,
                    );
                }
                let is_idle = pending.open == 0;
                open.pending_metrics.push(pending);
                if is_idle {
                    self.conclude(pairing_index, metric);
                }
            }
            Err(error) => {
                let evaluation = not_evaluated(error, case.case.actual.len());
                self.settle_metric(pairing_index, metric, evaluation);
            }
        }
        self.planning_case = Some(PlanningCase { pairing_index, metric: metric + 1, planning: None });
    }

    /// Starts computing the result of a metric that has all its answers.
    pub(super) fn conclude(&mut self, pairing_index: usize, metric: usize) {
        let Some(open) = self.open.iter_mut().find(|open| open.pairing_index == pairing_index) else {
            return;
        };
        let Some(at) = open.pending_metrics.iter().position(|pending| pending.metric == metric) else {
            return;
        };
        let PendingMetric { answers, .. } = open.pending_metrics.swap_remove(at);
        self.concluding.push_back(ConcludingMetric {
            pairing_index,
            metric,
            conclusion: Conclusion::new(answers),
        });
    }

    /// Continues to compute a result until it is complete or the work for one poll is done.
    pub(in crate::run) fn continue_concluding(&mut self, mut concluding: ConcludingMetric<'a>) {
        let ConcludingMetric { pairing_index, metric, .. } = concluding;
        let Some(planned) = self.plan.metrics.get(metric) else { return };
        let MetricScorer::Judge(judged) = &planned.scorer else { return };
        let Some(open) = self.open.iter().find(|open| open.pairing_index == pairing_index) else { return };
        let Some(case) = &open.judged else { return };
        let evaluation = concluding.conclusion.advance(judged.as_ref(), case, &self.scoring, &mut self.work);
        let evaluation = match evaluation {
            Ok(None) => return self.concluding.push_front(concluding),
            Ok(Some(evaluation)) => evaluation,
            Err(error) => not_evaluated(error, case.case.actual.len()),
        };
        self.settle_metric(pairing_index, metric, evaluation);
    }
}

impl PendingMetric {
    /// Asks a question.
    pub(super) fn add(
        &mut self,
        judges: &mut JudgeState,
        asked: QuestionState,
        question: Question,
        follow_up: bool,
    ) {
        let votes = Votes::new(question.samples, question.verdicts, question.rule);
        let failure = question.refusal();
        let is_refused = failure.is_some();
        let answer =
            self.answers.push_mut(Answer { question, votes, replies: Vec::new(), failure, unsent: 0 });
        if !is_refused {
            judges.add(asked, answer, follow_up);
            self.open += 1;
        }
    }
}
