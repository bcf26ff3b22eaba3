//! `invocation_duration_v1`: how long a turn took and where the time went. Informational; unit:
//! seconds a turn.
//!
//! The framework's share is what model and tools leave of the total, never below 0, and absent
//! where a part was not measured. Averages skip turns that were not measured, and are rounded to
//! milliseconds as Python's `round` does: of the exact value, ties to even. What is beyond the range
//! of doubles is absent.

use super::{Case, Evaluation, Metric, Scoring, efficiency, mean};
use crate::model::config::Setup;
use crate::model::double::Decimal;
use crate::model::error::Result;
use crate::model::invocation::Invocation;
use crate::model::results::{DurationDetails, EvalMetricResultDetails};

struct InvocationDuration;

pub(super) fn build(setup: &Setup<'_, '_, '_>) -> Result<Box<dyn Metric>> {
    efficiency::informational(setup)?;
    Ok(Box::new(InvocationDuration))
}

const REASON: &str = "the turn has no `duration`; it is measured while an agent runs";

impl Metric for InvocationDuration {
    fn evaluate<'a>(&self, case: &Case<'_, 'a>, _: &mut Scoring) -> Result<Evaluation<'a>> {
        let all: Vec<DurationDetails<'a>> = case.actual.iter().map(seconds).collect();
        let turns = all.iter().map(|seconds| {
            let mut turn = efficiency::reported(seconds.total_seconds, REASON);
            turn.details = Some(details(seconds.clone()));
            turn
        });
        let turns: Vec<_> = turns.collect();
        let mut evaluation = efficiency::overall(None, REASON, turns);
        if !all.is_empty() {
            let average = average(&all);
            evaluation.score = average.total_seconds;
            evaluation.reason = evaluation.reason.filter(|_| average.total_seconds.is_none());
            evaluation.details = Some(details(average));
        }
        Ok(evaluation)
    }
}

fn details(seconds: DurationDetails<'_>) -> Box<EvalMetricResultDetails<'_>> {
    Box::new(EvalMetricResultDetails {
        duration_details: Some(seconds),
        ..EvalMetricResultDetails::default()
    })
}

fn seconds<'a>(turn: &Invocation<'a>) -> DurationDetails<'a> {
    let Some(total) = turn.duration else { return DurationDetails::default() };
    let framework = turn.model_duration.zip(turn.tool_duration).and_then(|(model, tool)| {
        let rest = total - model - tool;
        rest.is_finite().then(|| to_milliseconds(if rest > 0.0 { rest } else { 0.0 }))
    });
    DurationDetails {
        total_seconds: Some(total),
        model_seconds: turn.model_duration,
        tool_seconds: turn.tool_duration,
        framework_seconds: framework,
        other: Vec::new(),
    }
}

fn average<'a>(turns: &[DurationDetails<'a>]) -> DurationDetails<'a> {
    let mean = |part: fn(&DurationDetails<'a>) -> Option<f64>| {
        mean(turns.iter().filter_map(part)).filter(|mean| mean.is_finite()).map(to_milliseconds)
    };
    DurationDetails {
        total_seconds: mean(|t| t.total_seconds),
        model_seconds: mean(|t| t.model_seconds),
        tool_seconds: mean(|t| t.tool_seconds),
        framework_seconds: mean(|t| t.framework_seconds),
        other: Vec::new(),
    }
}

/// Rounds to three digits after the point: of the exact binary value, ties to even.
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
