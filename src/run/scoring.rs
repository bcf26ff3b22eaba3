//! The metrics that the engine computes itself. They are computed turn by turn, so that a long conversation can
//! be interrupted and continued at the next poll.

use std::rc::Rc;

use super::custom::OpenTask;
use super::reasons::{cancelled, failed_run, no_run, not_evaluated};
use super::{CaseResult, CustomTask, MetricScorer, OpenCase, Pairing, Run, TaskId};
use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::pace::go_on;
use crate::metrics::judged::{JudgedCase, Work};
use crate::metrics::rubrics::CaseRubrics;
use crate::metrics::{
    Case, Evaluation, Metric, Scoring, SlicedTurn, TurnEvaluation, TurnPairs, length_mismatch,
};
use crate::model::invocation::{Invocation, Turns};

/// A case whose engine metrics are being computed.
pub(super) struct ScoredCase<'a> {
    /// The index in `Run::pairings`.
    pub(super) pairing_index: usize,
    /// The results so far. Their number is the index of the metric that is computed next.
    pub(super) result: CaseResult<'a>,
    pub(super) judged: JudgedCase<'a>,
    /// The turns of that metric, if it was interrupted.
    pub(super) turns: Option<ScoredTurns<'a>>,
}

/// The progress of one metric in a conversation.
pub(super) struct ScoredTurns<'a> {
    left: TurnPairs<'a>,
    /// The turn that is being scored in slices.
    begun: Option<SlicedTurn<'a>>,
    done: Vec<TurnEvaluation<'a>>,
}

impl<'a> Run<'a> {
    /// Collects what there is to score for a case.
    ///
    /// # Errors
    /// Why the case cannot be scored at all.
    pub(super) fn scorable(&self, pairing: Pairing) -> Result<JudgedCase<'a>, Error> {
        let case = self.matched.cases.get(pairing.case).ok_or_else(no_run)?;
        let run = pairing.run.and_then(|run| self.matched.runs.get(run)).ok_or_else(no_run)?;
        let Some(actual) = run.turns else { return Err(failed_run(run)) };
        let turns = actual.len();
        if let Some(expected) = case.turns.map(Turns::len)
            && self.options.same_turns
            && expected != turns
        {
            return Err(length_mismatch(turns, expected));
        }
        for turn in actual.iter().chain(case.turns.unwrap_or_default().iter()) {
            refuse_too_large(turn)?;
        }
        let case_rubrics = case.case.rubrics().unwrap_or_default();
        let rubrics = CaseRubrics::read(case_rubrics, actual, case.turns.unwrap_or_default())?;
        Ok(JudgedCase::new(Case { actual, expected: case.turns }, case.scenario, rubrics))
    }

    /// Computes engine metrics of a case until all are done or the host is due.
    pub(super) fn continue_scoring(&mut self, mut scored: Box<ScoredCase<'a>>) {
        while let Some(planned) = self.plan.metrics.get(scored.result.metrics.len()) {
            let MetricScorer::Engine(metric) = &planned.scorer else {
                scored.result.metrics.push(Evaluation::default());
                continue;
            };
            let case = scored.judged.case;
            let outcome = if self.cancelled {
                Err(cancelled())
            } else {
                advance(metric, &case, &mut scored.turns, &mut self.scoring, &mut self.work)
            };
            let evaluation = match outcome {
                Ok(None) => {
                    self.scored = Some(scored);
                    return;
                }
                Ok(Some(evaluation)) => evaluation,
                Err(error) => not_evaluated(error, case.actual.len()),
            };
            scored.turns = None;
            scored.result.metrics.push(evaluation);
        }
        self.open(*scored);
    }

    /// Queues the case's custom metrics for the host and starts planning its judged metrics.
    fn open(&mut self, scored: ScoredCase<'a>) {
        let ScoredCase { pairing_index, mut result, judged, .. } = scored;
        let pairing = result.pairing;
        let mut missing = 0;
        for (metric, (planned, evaluation)) in self.plan.metrics.iter().zip(&mut result.metrics).enumerate() {
            match planned.scorer {
                MetricScorer::Engine(_) => continue,
                MetricScorer::Judge(_) => {}
                MetricScorer::Host if self.cancelled => {
                    *evaluation = not_evaluated(cancelled(), judged.case.actual.len());
                    continue;
                }
                MetricScorer::Host => {
                    let id = TaskId(self.next_task);
                    self.next_task = self.next_task.wrapping_add(1);
                    let custom = CustomTask { id, metric, pairing };
                    self.queued.push_back(OpenTask { custom, pairing_index, until: None });
                }
            }
            missing += 1;
        }
        if missing == 0 {
            self.settle_case(result);
            return;
        }
        let open = OpenCase { pairing_index, result, missing, judged: None, pending_metrics: Vec::new() };
        self.start_judged_metrics(open, judged);
    }
}

/// The most JSON values in one turn, which any metric may read at once.
pub const MAX_TURN_VALUES: usize = 1 << 19;

fn refuse_too_large(turn: Invocation<'_>) -> Result<(), Error> {
    let size = turn.0.size();
    if size <= MAX_TURN_VALUES {
        return Ok(());
    }
    let message = format!("a turn has {size} values; at most {MAX_TURN_VALUES} are scored");
    Err(Error::new(ErrorCode::LimitExceeded, message).with_help("Split the turn into several"))
}

/// Continues one metric. Returns `None` if the host is due first.
fn advance<'a>(
    metric: &Rc<dyn Metric>,
    case: &Case<'a>,
    begun: &mut Option<ScoredTurns<'a>>,
    scoring: &mut Scoring,
    work: &mut Work,
) -> Result<Option<Evaluation<'a>>, Error> {
    let turns = match begun {
        Some(turns) => turns,
        None => {
            metric.check(case, scoring)?;
            begun.insert(ScoredTurns { left: case.pairs(), begun: None, done: Vec::new() })
        }
    };
    loop {
        if work.is_done() {
            return Ok(None);
        }
        if let Some(turn) = &mut turns.begun {
            match go_on(turn.as_mut()) {
                None => work.add(Work::PER_POLL),
                Some(scored) => {
                    turns.begun = None;
                    turns.done.push(scored?);
                }
            }
            continue;
        }
        let Some(pair) = turns.left.next() else { break };
        work.add(Work::OF_TURN + pair.size());
        turns.begun = Rc::clone(metric).turn_in_slices(*case, pair, scoring);
        if turns.begun.is_none() {
            turns.done.push(metric.turn(case, pair, scoring)?);
        }
    }
    Ok(Some(metric.conclude(case, std::mem::take(&mut turns.done), scoring)))
}
