//! `response_evaluation_score`: how coherent the response is. Range 1 to 5. Requires a reference, as in
//! google-adk. Scored by Vertex AI, or as the mean of a judge's samples: see
//! [`vertex_scored`](super::vertex_scored).

use super::judged::Judged;
use super::vertex_scored::{self, VertexMetric};
use super::{Interval, MetricInfo};
use crate::foundation::error::Result;
use crate::judge::prompt::COHERENCE;
use crate::model::config::MetricConfig;

static METRIC: VertexMetric =
    VertexMetric { range: [1.0, 5.0], needs_reference: true, ..VertexMetric::from_zero_to_one(&COHERENCE) };

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "response_evaluation_score",
    class: "ResponseEvaluator",
    description: "How coherent the response is.",
    interval: Some(Interval { min_value: 1.0, max_value: 5.0 }),
    requires_reference: true,
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    vertex_scored::build(metric_config, &METRIC)
}
