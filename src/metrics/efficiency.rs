//! What the four efficiency metrics share: they report a value that neither passes nor fails.

use super::{Details, Evaluation, TurnEvaluation, mean};
use crate::foundation::error::{ErrorCode, Result};
use crate::model::config::MetricConfig;
use crate::model::invocation::Invocation;
use crate::model::results::EvalStatus;

/// Refuses a threshold or a criterion.
pub(super) fn informational(metric_config: &MetricConfig<'_, '_>) -> Result<()> {
    if metric_config.threshold.is_none() && metric_config.criterion.is_none() {
        return Ok(());
    }
    let message = format!("`{}` is only counted, so it takes no threshold", metric_config.name);
    Err(metric_config
        .place
        .error(ErrorCode::ThresholdNotSupported, message)
        .with_help("Leave it out of `criteria`: it is reported for every evaluation"))
}

/// The mean over the turns that have a value.
pub(super) fn mean_of<'a>(turns: Vec<TurnEvaluation<'a>>, reason: &'static str) -> Evaluation<'a> {
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
fn overall<'a>(score: Option<f64>, reason: &'static str, turns: Vec<TurnEvaluation<'a>>) -> Evaluation<'a> {
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
    /// The amounts of that name.
    pub(super) amounts: fn(&Details) -> Option<&Amounts>,
    /// Why there is no total.
    pub(super) reason: &'static str,
}

impl Measure {
    /// The amounts of a turn, with the total as its score.
    pub(super) fn turn<'a>(&self, turn: Invocation<'_>) -> TurnEvaluation<'a> {
        let amounts = (self.of_turn)(turn);
        TurnEvaluation { details: self.details(amounts), ..reported(amounts[0], self.reason) }
    }

    /// The averages of the whole conversation.
    pub(super) fn conclude<'a>(&self, turns: Vec<TurnEvaluation<'a>>) -> Evaluation<'a> {
        let mut reported = Vec::new();
        let mut averages = Amounts::default();
        for (kind, of_kind) in averages.iter_mut().enumerate() {
            reported.clear();
            for turn in &turns {
                let amounts = turn.details.as_deref().and_then(self.amounts);
                reported.extend(amounts.and_then(|amounts| amounts.get(kind).copied().flatten()));
            }
            *of_kind = (self.average)(&reported, turns.len());
        }
        Evaluation { details: self.details(averages), ..overall(averages[0], self.reason, turns) }
    }

    /// The amounts by kind, if there are any.
    #[inline(never)]
    fn details(&self, amounts: Amounts) -> Option<Box<Details>> {
        amounts.iter().any(Option::is_some).then(|| Box::new((self.details)(amounts)))
    }
}
