//! The reasons for which a case or a metric has no score.

use std::borrow::Cow;

use crate::foundation::error::{Error, ErrorCode};
use crate::metrics::{Evaluation, TurnEvaluation};
use crate::model::actual::ActualRun;

#[cold]
pub(super) fn no_run() -> Error {
    Error::new(ErrorCode::ActualMissing, "there is no actual conversation for this case")
        .with_help("Runs are matched with cases by eval id")
}

#[cold]
pub(super) fn failed_run(run: &ActualRun<'_>) -> Error {
    let message = run.error_message.as_deref().unwrap_or("no reason is recorded");
    let what = if run.is_skipped { "the agent was not run" } else { "the run failed" };
    Error::new(ErrorCode::ActualMissing, format!("{what}: {message}"))
}

#[cold]
pub(super) fn cancelled() -> Error {
    Error::new(ErrorCode::Cancelled, "the run was cancelled before this was scored")
}

/// The result of a metric that could not be computed.
#[cold]
pub(super) fn not_evaluated<'a>(error: Error, turns: usize) -> Evaluation<'a> {
    let reason = error.to_string();
    let turns = unscored(turns, &reason);
    Evaluation { reason: Some(Cow::Owned(reason)), error: Some(error), turns, ..Evaluation::default() }
}

/// Turns without a score that share one reason.
pub(super) fn unscored<'a>(turns: usize, reason: &str) -> Vec<TurnEvaluation<'a>> {
    (0..turns).map(|_| TurnEvaluation::not_evaluated(reason.to_owned())).collect()
}
