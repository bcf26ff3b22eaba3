//! Finds metrics that cannot score a case, no matter what the agent does. Hosts ask this before they run an agent.

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

/// Checks whether a metric can score a case.
///
/// # Errors
/// Why it cannot.
fn check(metric: &PlannedMetric, case: &JudgedCase<'_>, scoring: &mut Scoring) -> Result<()> {
    match &metric.scorer {
        MetricScorer::Engine(metric) => check_plain(metric.as_ref(), &case.case, scoring),
        MetricScorer::Judge(judged) => {
            let mut planning = Planning::begin(judged.as_ref(), case)?;
            while !planning.advance(judged.as_ref(), case, scoring, &mut Work::default())? {}
            Ok(())
        }
        // The engine knows nothing about the host's metrics.
        MetricScorer::Host => Ok(()),
    }
}

fn check_plain(metric: &dyn Metric, case: &Case<'_>, scoring: &mut Scoring) -> Result<()> {
    metric.check(case, scoring)?;
    let mut turns = Vec::new();
    for pair in case.pairs() {
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
