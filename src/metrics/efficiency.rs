//! What the four efficiency metrics share: they report a value that neither passes nor fails.

use super::{Details, Evaluation, TurnEvaluation, mean};
use crate::foundation::error::{ErrorCode, Result};
use crate::model::config::Setup;
use crate::model::invocation::{Invocation, Turns};
use crate::model::results::EvalStatus;

/// Refuses a threshold or a criterion.
pub(super) fn informational(setup: &Setup<'_, '_>) -> Result<()> {
    if setup.threshold.is_none() && setup.criterion.is_none() {
        return Ok(());
    }
    let message = format!("`{}` is only counted, so it takes no threshold", setup.name);
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

/// One amount a kind, of at most eight kinds; absent is not zero: it was not reported.
pub(super) type Amounts = [Option<f64>; 8];

/// What makes a metric of amounts.
pub(super) struct Measure {
    /// The amounts of a turn, the total first.
    pub(super) of_turn: fn(Invocation<'_>) -> Amounts,
    /// The average of a kind: of what turns reported, and of how many turns there are.
    pub(super) average: fn(&[f64], usize) -> Option<f64>,
    /// What the amounts are called.
    pub(super) details: fn(Amounts) -> Details,
    /// Why there is no total.
    pub(super) reason: &'static str,
}

/// The amounts of every turn with the total of each as its score, and their averages for the whole.
pub(super) fn amounts<'a>(turns: Turns<'_>, measure: &Measure) -> Evaluation<'a> {
    let &Measure { of_turn, average, reason, .. } = measure;
    let all: Vec<Amounts> = turns.iter().map(of_turn).collect();
    let mut reported = Vec::new();
    let mut averages = Amounts::default();
    for (kind, of_kind) in averages.iter_mut().enumerate() {
        reported.clear();
        reported.extend(all.iter().filter_map(|amounts| amounts.get(kind).copied().flatten()));
        *of_kind = average(&reported, all.len());
    }
    let mut turns = Vec::new();
    for amounts in all {
        turns
            .push(TurnEvaluation { details: measure.details(amounts), ..self::reported(amounts[0], reason) });
    }
    Evaluation { details: measure.details(averages), ..overall(averages[0], reason, turns) }
}

impl Measure {
    /// The amounts by kind, if there are any.
    #[inline(never)]
    fn details(&self, amounts: Amounts) -> Option<Box<Details>> {
        amounts.iter().any(Option::is_some).then(|| Box::new((self.details)(amounts)))
    }
}
