//! Finds metrics that cannot score a case, no matter what the agent does. Hosts ask this before they run an agent.

use std::rc::Rc;

use super::{MetricScorer, PlannedMetric, Run};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::Document;
use crate::metrics::judged::{JudgedCase, Planning, Work};
use crate::metrics::rubrics::CaseRubrics;
use crate::metrics::{Case, Metric, NO_TURNS, Scoring};
use crate::model::invocation::Invocation;
use crate::model::shape::{List, View};

impl Run<'_> {
    /// For each metric in the order of the plan: why it cannot score a case; empty if it may. The expected turns are scored
    /// as if the agent had done exactly that, up to the first turn with a score.
    pub fn unscorable(&mut self, case: usize) -> Vec<String> {
        let Some(expected) = self.matched.cases.get(case) else { return Vec::new() };
        // All that is known about the run of a scenario is that it has a turn.
        let Ok(one_turn) = Document::parse("[{}]") else { return Vec::new() };
        let actual = match expected.turns {
            Some(turns) => turns,
            None => <List<'_, Invocation<'_>>>::from_json(one_turn.root()).into(),
        };
        let case_rubrics = expected.case.rubrics().unwrap_or_default();
        let judged =
            CaseRubrics::read(case_rubrics, actual, expected.turns.unwrap_or_default()).and_then(|rubrics| {
                let case = Case { actual, expected: expected.turns };
                if actual.is_empty() {
                    Err(no_turns())
                } else {
                    Ok(JudgedCase::new(case, expected.scenario, rubrics))
                }
            });
        let judged = judged.map(JudgedCase::with_paired_turns);
        let scoring = &mut self.scoring;
        let reason = |metric: &PlannedMetric| match &judged {
            _ if metric.threshold.is_none() => Ok(()),
            Ok(case) => check(metric, case, scoring),
            Err(error) => Err(error.clone()),
        };
        let reasons = self.plan.metrics.iter().map(reason);
        reasons.map(|reason| reason.err().map_or_else(String::new, |error| error.message.clone())).collect()
    }
}

/// Checks whether a metric can score a case. What takes longer than one slice is given up: such a case counts as one that
/// can be scored.
///
/// # Errors
/// Why it cannot.
fn check(metric: &PlannedMetric, case: &JudgedCase<'_>, scoring: &mut Scoring) -> Result<()> {
    let work = &mut Work::default();
    match &metric.scorer {
        MetricScorer::Engine(metric) => check_plain(metric, &case.case, scoring, work),
        MetricScorer::Judge(judged) => {
            Planning::begin(judged.as_ref(), case)?.advance(judged.as_ref(), case, scoring, work)?;
            Ok(())
        }
        // The engine knows nothing about the host's metrics.
        MetricScorer::Host => Ok(()),
    }
}

fn check_plain(
    metric: &Rc<dyn Metric>,
    case: &Case<'_>,
    scoring: &mut Scoring,
    work: &mut Work,
) -> Result<()> {
    metric.check(case, scoring)?;
    let mut turns = Vec::new();
    for pair in case.pairs() {
        work.add(Work::OF_TURN + pair.size());
        // A turn that is large enough to be scored in slices has something to score.
        if work.is_done() || Rc::clone(metric).turn_in_slices(*case, pair, scoring).is_some() {
            return Ok(());
        }
        let turn = metric.turn(case, pair, scoring)?;
        if turn.score.is_some() {
            return Ok(());
        }
        turns.push(turn);
    }
    let whole = metric.conclude(case, turns, scoring);
    match whole.reason {
        Some(reason) if whole.score.is_none() => Err(Error::new(ErrorCode::ReferenceRequired, reason)),
        _ => Ok(()),
    }
}

fn no_turns() -> Error {
    Error::new(ErrorCode::InvalidInput, NO_TURNS)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::metrics::{Dialect, Evaluation, Explain, SlicedTurn, TurnEvaluation, TurnPair};

    /// Has no score for any turn; one of more than 1,000 bytes would be scored in slices.
    #[derive(Default)]
    struct Counting {
        turns: Cell<usize>,
    }

    impl Metric for Counting {
        fn turn<'a>(&self, _: &Case<'a>, _: TurnPair<'a>, _: &mut Scoring) -> Result<TurnEvaluation<'a>> {
            self.turns.set(self.turns.get() + 1);
            Ok(TurnEvaluation::default())
        }

        fn turn_in_slices<'a>(
            self: Rc<Self>,
            _: Case<'a>,
            pair: TurnPair<'a>,
            _: &Scoring,
        ) -> Option<SlicedTurn<'a>> {
            (pair.size() > 1000).then(|| -> SlicedTurn<'a> { Box::pin(async { Err(no_turns()) }) })
        }

        fn conclude<'a>(&self, _: &Case<'a>, _: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
            Evaluation { reason: Some("nothing to score".into()), ..Evaluation::default() }
        }
    }

    /// How many turns were scored, and why the case cannot be scored.
    fn checked(conversation: &str) -> (usize, Option<String>) {
        let document = Document::parse(conversation).unwrap();
        let actual = <List<'_, Invocation<'_>>>::from_json(document.root()).into();
        let counting = Rc::new(Counting::default());
        let metric: Rc<dyn Metric> = counting.clone();
        let scoring = &mut Scoring::new(Dialect::AdkPython, Explain::None);
        let case = Case { actual, expected: None };
        let reason = check_plain(&metric, &case, scoring, &mut Work::default()).err();
        (counting.turns.get(), reason.map(|error| error.message.clone()))
    }

    fn turns(number: usize, text: &str) -> String {
        let turn = format!(r#"{{"final_response": {{"parts": [{{"text": "{text}"}}]}}}}"#);
        format!("[{}]", vec![turn; number].join(","))
    }

    #[test]
    fn what_takes_longer_than_a_slice_counts_as_scorable() {
        assert_eq!(checked(&turns(20, "a")), (20, Some("nothing to score".into())));
        assert_eq!(checked(&turns(1, &"a".repeat(1000))), (0, None));
        let (scored, reason) = checked(&turns(10_000, "a"));
        assert!(scored < Work::PER_POLL / Work::OF_TURN, "{scored}");
        assert_eq!(reason, None);
    }
}
