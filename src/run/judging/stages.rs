//! A judged metric of a case from its questions to its result: planned, waiting for answers, concluded. Apart,
//! because planning and concluding can pause, and are what a case waits for.

use super::super::{MetricScorer, OpenCase, Run, not_evaluated};
use super::state::{JudgeState, QuestionState};
use crate::judge::votes::Votes;
use crate::metrics::judged::{Answer, Conclusion, JudgedCase, Planning, Question};

/// A case whose questions are being planned.
pub(in crate::run) struct PlanningCase {
    place: usize,
    metric: usize,
    /// How far that metric is.
    planning: Option<Planning>,
}

/// A metric of a case that waits for answers.
pub(in crate::run) struct PendingMetric {
    pub(super) metric: usize,
    pub(super) answers: Vec<Answer>,
    /// Answers that are neither settled nor given up.
    pub(super) open: usize,
}

/// A metric of a case whose answers are all there.
pub(in crate::run) struct ConcludingMetric<'a> {
    place: usize,
    metric: usize,
    conclusion: Conclusion<'a>,
}

impl<'a> Run<'a> {
    /// Opens a case, and begins to plan what judges are asked about it.
    #[inline(never)]
    pub(in crate::run) fn start_judged_metrics(&mut self, mut open: OpenCase<'a>, case: JudgedCase<'a>) {
        if self.judges.is_needed {
            open.judged = Some(case.lined_up());
            self.planning_case = Some(PlanningCase { place: open.place, metric: 0, planning: None });
        }
        self.open.push(open);
    }

    /// Plans more of what judges are asked about a case, for as long as there is work left to do.
    #[inline(never)]
    pub(in crate::run) fn continue_planning(&mut self, mut planning_case: PlanningCase) {
        let PlanningCase { place, metric, .. } = planning_case;
        let Some(planned) = self.plan.metrics.get(metric) else { return };
        let MetricScorer::Judge(judged) = &planned.scorer else {
            self.planning_case = Some(PlanningCase { place, metric: metric + 1, planning: None });
            return;
        };
        let Some(open) = self.open.iter_mut().find(|open| open.place == place) else { return };
        let Some(case) = &open.judged else { return };
        let planning = match (planning_case.planning.take(), self.judges.stopped()) {
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
                self.planning_case = Some(PlanningCase { place, metric, planning: Some(planning) });
                return;
            }
            Ok((planning, true)) => {
                let pairing = open.result.pairing;
                let mut pending = PendingMetric { metric, answers: Vec::new(), open: 0 };
                for question in planning.into_questions() {
                    let answer = pending.answers.len();
                    pending.add(
                        &mut self.judges,
                        QuestionState::new(place, pairing, metric, answer),
                        question,
                        false,
                    );
                }
                let is_idle = pending.open == 0;
                open.pending_metrics.push(pending);
                if is_idle {
                    self.conclude(place, metric);
                }
            }
            Err(error) => {
                let evaluation = not_evaluated(error, case.case.actual.len());
                self.settle_metric(place, metric, evaluation);
            }
        }
        self.planning_case = Some(PlanningCase { place, metric: metric + 1, planning: None });
    }

    /// All answers of a metric are there.
    pub(super) fn conclude(&mut self, place: usize, metric: usize) {
        let Some(open) = self.open.iter_mut().find(|open| open.place == place) else { return };
        let Some(at) = open.pending_metrics.iter().position(|pending| pending.metric == metric) else {
            return;
        };
        let PendingMetric { answers, .. } = open.pending_metrics.swap_remove(at);
        self.concluding.push_back(ConcludingMetric { place, metric, conclusion: Conclusion::of(answers) });
    }

    /// Makes more of a result, for as long as there is work left to do.
    #[inline(never)]
    pub(in crate::run) fn continue_concluding(&mut self, mut concluding: ConcludingMetric<'a>) {
        let ConcludingMetric { place, metric, .. } = concluding;
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
        let answer = self.answers.push_mut(Answer { question, votes, replies: Vec::new(), failure });
        if !is_refused {
            judges.add(asked, answer, follow_up);
            self.open += 1;
        }
    }
}
