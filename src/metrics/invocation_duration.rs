//! `invocation_duration_v1`: how long a turn took and where the time went. Informational. Unit: seconds per
//! turn.
//!
//! The framework's share is what model and tools leave of the total. It is never below 0, and absent if a part
//! was not measured. Averages skip turns that were not measured and are rounded to milliseconds like Python's
//! `round`: from the exact value, ties to even. Values beyond the range of doubles are absent.

use super::efficiency::{self, Measure, SecondsByKind};
use super::{Case, Details, Evaluation, Metric, MetricInfo, Scoring, TurnEvaluation, TurnPair, mean};
use crate::foundation::double::Decimal;
use crate::foundation::error::Result;
use crate::model::config::MetricConfig;
use crate::model::invocation::Invocation;

struct InvocationDuration;

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "invocation_duration_v1",
    reads: &["duration", "model_duration", "tool_duration"],
    class: "InvocationDurationV1Evaluator",
    description: "Seconds a turn, in all and by where they went. Informational, lower is better.",
    ..MetricInfo::informational("seconds", build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Metric>> {
    efficiency::informational(metric_config)?;
    Ok(Box::new(InvocationDuration))
}

const SECONDS: Measure<SecondsByKind> = Measure {
    turn_amounts: seconds,
    average,
    details: Details::Duration,
    amounts: |details| match details {
        Details::Duration(amounts) => Some(amounts),
        _ => None,
    },
    reason: "no `duration` was recorded; it is measured while an agent runs",
};

impl Metric for InvocationDuration {
    fn turn<'a>(&self, _: &Case<'a>, pair: TurnPair<'a>, _: &mut Scoring) -> Result<TurnEvaluation<'a>> {
        Ok(SECONDS.turn(pair.actual))
    }

    fn conclude<'a>(&self, _: &Case<'a>, turns: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
        SECONDS.conclude(turns)
    }
}

/// The seconds of a turn.
fn seconds(turn: Invocation<'_>) -> SecondsByKind {
    let Some(total) = turn.duration() else { return SecondsByKind::default() };
    let (model, tool) = (turn.model_duration(), turn.tool_duration());
    let framework = model.zip(tool).and_then(|(model, tool)| {
        let rest = total - model - tool;
        rest.is_finite().then(|| to_milliseconds(if rest > 0.0 { rest } else { 0.0 }))
    });
    SecondsByKind {
        total_seconds: Some(total),
        model_seconds: model,
        tool_seconds: tool,
        framework_seconds: framework,
    }
}

fn average(reported: &[f64], _: usize) -> Option<f64> {
    mean(reported.iter().copied()).filter(|mean| mean.is_finite()).map(to_milliseconds)
}

/// Rounds to three decimal places from the exact binary value, ties to even.
fn to_milliseconds(seconds: f64) -> f64 {
    Decimal::exact(seconds).rounded(3).to_f64().copysign(seconds)
}

#[cfg(test)]
mod tests {
    use super::to_milliseconds;

    #[test]
    fn rounds_as_python_does() {
        for (seconds, rounded) in [
            (0.0625, 0.062),
            (0.1875, 0.188),
            (1.0005, 1.0),
            (2.6745, 2.675),
            (0.0005, 0.001),
            (1e22, 1e22),
            (0.0, 0.0),
        ] {
            assert_eq!(to_milliseconds(seconds), rounded, "{seconds}");
        }
    }
}
