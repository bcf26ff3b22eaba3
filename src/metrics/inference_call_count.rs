//! `inference_call_count_v1`: how many times a turn called a model. Informational. Unit: calls per turn; absent
//! if events were not recorded.

use super::{Case, Evaluation, Metric, MetricInfo, Scoring, TurnEvaluation, TurnPair, efficiency};
use crate::foundation::error::Result;
use crate::model::config::MetricConfig;
use crate::model::invocation::{Invocation, InvocationEvent};

struct InferenceCallCount;

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "inference_call_count_v1",
    reads: &[
        "intermediate_data.invocation_events.usage_metadata",
        "intermediate_data.invocation_events.model_version",
    ],
    class: "InferenceCallCountV1Evaluator",
    description: "Model calls a turn. Informational, lower is better.",
    ..MetricInfo::informational("model calls", build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Metric>> {
    efficiency::informational(metric_config)?;
    Ok(Box::new(InferenceCallCount))
}

const REASON: &str = "no `invocation_events` were recorded";

impl Metric for InferenceCallCount {
    fn turn<'a>(&self, _: &Case<'a>, pair: TurnPair<'a>, _: &mut Scoring) -> Result<TurnEvaluation<'a>> {
        Ok(efficiency::reported(model_calls(pair.actual), REASON))
    }

    fn conclude<'a>(&self, _: &Case<'a>, turns: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
        efficiency::conclude_mean(turns, REASON)
    }
}

/// Counts events with token counts or a model version, each of which is a model call.
fn model_calls(turn: Invocation<'_>) -> Option<f64> {
    let is_call =
        |event: &InvocationEvent<'_>| event.usage_metadata().is_some() || event.model_version().is_some();
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 events fit into an input")]
    turn.events().map(|events| events.iter().filter(is_call).count() as f64)
}
