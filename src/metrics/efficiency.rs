//! What the four efficiency metrics share: they report a value that neither passes nor fails.

use super::{Details, Evaluation, TurnEvaluation, mean};
use crate::model::config::Setup;
use crate::model::error::{ErrorCode, Result};
use crate::model::invocation::{Invocation, Turns};
use crate::model::results::EvalStatus;

/// Refuses a threshold or a criterion.
pub(super) fn informational(setup: &Setup<'_, '_>) -> Result<()> {
    if setup.threshold.is_none() && setup.criterion.is_none() {
        return Ok(());
    }
    let message =
        format!("`{}` reports a value and never passes or fails; it takes no threshold", setup.name);
    Err(setup
        .place
        .error(ErrorCode::ThresholdNotSupported, message)
        .with_help("Leave it out of `criteria`: it is reported for every evaluation"))
}

/// One value a turn, and their mean over the turns that have one.
pub(super) fn values<'a>(
    turns: Turns<'_>,
    reason: &'static str,
    value: fn(Invocation<'_>) -> Option<f64>,
) -> Evaluation<'a> {
    let turns: Vec<_> = turns.iter().map(|turn| reported(value(turn), reason)).collect();
    let score = mean(turns.iter().filter_map(|turn| turn.score));
    overall(score, reason, turns)
}

/// A turn's value, or the reason that there is none.
pub(super) fn reported<'a>(score: Option<f64>, reason: &'static str) -> TurnEvaluation<'a> {
    TurnEvaluation {
        score,
        status: EvalStatus::Informational,
        reason: score.is_none().then_some(reason.into()),
        ..TurnEvaluation::default()
    }
}

/// A conversation's value, or the reason that there is none.
pub(super) fn overall<'a>(
    score: Option<f64>,
    reason: &'static str,
    turns: Vec<TurnEvaluation<'a>>,
) -> Evaluation<'a> {
    let reason = if turns.is_empty() { super::NO_TURNS } else { reason };
    Evaluation {
        score,
        status: EvalStatus::Informational,
        reason: score.is_none().then_some(reason.into()),
        turns,
        ..Evaluation::default()
    }
}

/// One amount a kind; absent is not zero: it was not reported.
pub(super) type Amounts<const KINDS: usize> = [Option<f64>; KINDS];

/// The amounts of every turn with the total of each as its score, and their averages for the whole.
/// `score` says where the total stands.
pub(super) fn amounts<'a, const KINDS: usize>(
    turns: Vec<Amounts<KINDS>>,
    reason: &'static str,
    average: fn(&[Amounts<KINDS>]) -> Amounts<KINDS>,
    details: fn(Amounts<KINDS>) -> Details,
) -> Evaluation<'a> {
    let detailed =
        |amounts: Amounts<KINDS>| amounts.iter().any(Option::is_some).then(|| Box::new(details(amounts)));
    let total = |amounts: &Amounts<KINDS>| amounts.first().copied().flatten();
    let averages = average(&turns);
    let per_turn = turns
        .iter()
        .map(|amounts| TurnEvaluation { details: detailed(*amounts), ..reported(total(amounts), reason) });
    Evaluation { details: detailed(averages), ..overall(total(&averages), reason, per_turn.collect()) }
}
