//! Shared by the four efficiency metrics, which report a value that neither passes nor fails.

use super::{Details, Evaluation, TurnEvaluation, mean};
use crate::foundation::error::{ErrorCode, Result};
use crate::model::config::MetricConfig;
use crate::model::invocation::Invocation;
use crate::model::results::EvalStatus;

/// Fails if the config gives the metric a threshold or a criterion.
pub(super) fn informational(metric_config: &MetricConfig<'_, '_>) -> Result<()> {
    if metric_config.threshold.is_none() && metric_config.criterion.is_none() {
        return Ok(());
    }
    let message = format!("`{}` is only counted, so it takes no threshold", metric_config.name);
    Err(metric_config
        .location
        .error(ErrorCode::ThresholdNotSupported, message)
        .with_help("Leave it out of `criteria`: it is reported for every evaluation"))
}

/// The result with the mean of the turns that have a value.
pub(super) fn conclude_mean<'a>(turns: Vec<TurnEvaluation<'a>>, reason: &'static str) -> Evaluation<'a> {
    let score = mean(turns.iter().filter_map(|turn| turn.score));
    overall(score, reason, turns)
}

/// The result of a turn: its value, or the reason why there is none.
pub(super) fn reported<'a>(score: Option<f64>, reason: &'static str) -> TurnEvaluation<'a> {
    TurnEvaluation {
        score,
        status: EvalStatus::Informational,
        reason: score.is_none().then_some(reason.into()),
        ..TurnEvaluation::default()
    }
}

/// The result of a conversation: its value, or the reason why there is none.
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

/// One amount for each of at most eight kinds. `None` is not zero: that kind was not reported.
pub(super) type Amounts = [Option<f64>; 8];

/// How a metric with several kinds of amounts is computed.
pub(super) struct Measure {
    /// The amounts of a turn, the total first.
    pub(super) turn_amounts: fn(Invocation<'_>) -> Amounts,
    /// The average of one kind, given the reported amounts and the number of turns.
    pub(super) average: fn(&[f64], usize) -> Option<f64>,
    /// Wraps amounts as details.
    pub(super) details: fn(Amounts) -> Details,
    /// Unwraps the amounts of such details.
    pub(super) amounts: fn(&Details) -> Option<&Amounts>,
    /// The reason if there is no total.
    pub(super) reason: &'static str,
}

impl Measure {
    /// The result of a turn, with the total as its score.
    pub(super) fn turn<'a>(&self, turn: Invocation<'_>) -> TurnEvaluation<'a> {
        let amounts = (self.turn_amounts)(turn);
        TurnEvaluation { details: self.details(amounts), ..reported(amounts[0], self.reason) }
    }

    /// The result of the conversation, made of averages.
    pub(super) fn conclude<'a>(&self, turns: Vec<TurnEvaluation<'a>>) -> Evaluation<'a> {
        let mut reported = Vec::new();
        let mut averages = Amounts::default();
        for (kind, slot) in averages.iter_mut().enumerate() {
            reported.clear();
            for turn in &turns {
                let amounts = turn.details.as_deref().and_then(self.amounts);
                reported.extend(amounts.and_then(|amounts| amounts.get(kind).copied().flatten()));
            }
            *slot = (self.average)(&reported, turns.len());
        }
        Evaluation { details: self.details(averages), ..overall(averages[0], self.reason, turns) }
    }

    /// The amounts as details; `None` if there are none.
    #[inline(never)]
    fn details(&self, amounts: Amounts) -> Option<Box<Details>> {
        amounts.iter().any(Option::is_some).then(|| Box::new((self.details)(amounts)))
    }
}
