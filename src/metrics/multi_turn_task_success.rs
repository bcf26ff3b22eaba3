//! `multi_turn_task_success_v1`: how many of the user's goals the conversation reached. Range 0 to 1. Requires
//! no reference. The last turn has the result. Scored by Vertex AI, or as the mean of a judge's samples: see
//! [`vertex_scored`](super::vertex_scored).

use super::MetricInfo;
use super::judged::Judged;
use super::vertex_scored::{self, VertexMetric};
use crate::foundation::error::Result;
use crate::judge::prompt::TASK_SUCCESS;
use crate::model::config::MetricConfig;

static METRIC: VertexMetric = VertexMetric::from_zero_to_one(&TASK_SUCCESS);

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "multi_turn_task_success_v1",
    class: "MultiTurnTaskSuccessV1Evaluator",
    description: "Whether the conversation reached its goals.",
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    vertex_scored::build(metric_config, &METRIC)
}
