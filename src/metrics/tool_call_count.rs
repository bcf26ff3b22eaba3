//! `tool_call_count_v1`: how many tools a turn called. Informational. Unit: calls per turn.

use super::{Case, Evaluation, Metric, MetricInfo, Scoring, TurnEvaluation, TurnPair, efficiency};
use crate::foundation::error::Result;
use crate::model::config::MetricConfig;
use crate::model::invocation::CALL_COUNT;

struct ToolCallCount;

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "tool_call_count_v1",
    reads: CALL_COUNT,
    class: "ToolCallCountV1Evaluator",
    description: "Tool calls a turn. Informational, lower is better.",
    ..MetricInfo::informational("tool calls", build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Metric>> {
    efficiency::informational(metric_config)?;
    Ok(Box::new(ToolCallCount))
}

const REASON: &str = "no calls were recorded";

impl Metric for ToolCallCount {
    fn turn<'a>(&self, _: &Case<'a>, pair: TurnPair<'a>, _: &mut Scoring) -> Result<TurnEvaluation<'a>> {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 calls fit into an input")]
        Ok(efficiency::reported(Some(pair.actual.call_count() as f64), REASON))
    }

    fn conclude<'a>(&self, _: &Case<'a>, turns: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
        efficiency::conclude_mean(turns, REASON)
    }
}
