//! Scores one file against another without a judge. `tests/engine/files/properties.rs` uses this file too.

use adk_metrics::foundation::error::Result;
use adk_metrics::foundation::json::Document;
use adk_metrics::metrics::Explain;
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{Action, Options, Plan, Run};

/// Scores what an agent did against an evalset, and panics unless every result has a finite score or a reason.
/// Returns whether the run finished, which only a judge or the host's own metrics can prevent.
///
/// # Errors
/// What is wrong with one of the files.
pub(crate) fn score(expected: &str, actual: &str, plan: Plan) -> Result<bool> {
    let warnings = Warnings::default();
    let expected = EvalSetFile::read(Document::parse(expected)?, "name", &warnings)?;
    let actual = ActualFile::read(Document::parse(actual)?, "name", &warnings)?;
    let options = Options { explain: Explain::All, ..Options::default() };
    let mut run = Run::new(expected.set(), actual.runs(), plan, options);
    loop {
        match run.poll(0.0) {
            Action::Case(case) => {
                for evaluation in case.metrics {
                    let turns = evaluation.turns.iter().map(|turn| (turn.score, &turn.reason));
                    for (score, reason) in turns.chain([(evaluation.score, &evaluation.reason)]) {
                        assert!(score.is_some() || reason.is_some(), "no score and no reason");
                        assert!(score.is_none_or(f64::is_finite), "{score:?}");
                    }
                }
            }
            Action::Pause => {}
            Action::Finished => return Ok(true),
            Action::Send(_) | Action::Custom(_) | Action::Wait(_) | Action::Abort(_) => return Ok(false),
        }
    }
}
