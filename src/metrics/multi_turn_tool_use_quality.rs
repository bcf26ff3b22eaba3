//! `multi_turn_tool_use_quality_v1`: how good the tool calls of the conversation are. Range 0 to 1. Requires no
//! reference. The last turn has the result. Scored by Vertex AI, or as the mean of a judge's samples: see
//! [`vertex_scored`](super::vertex_scored).

use super::MetricInfo;
use super::judged::Judged;
use super::vertex_scored::{self, VertexMetric};
use crate::foundation::error::Result;
use crate::judge::prompt::TOOL_USE_QUALITY;
use crate::model::config::MetricConfig;

static METRIC: VertexMetric = VertexMetric::from_zero_to_one(&TOOL_USE_QUALITY);

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "multi_turn_tool_use_quality_v1",
    class: "MultiTurnToolUseQualityV1Evaluator",
    description: "How good the tool calls of the conversation are.",
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    vertex_scored::build(metric_config, &METRIC)
}
