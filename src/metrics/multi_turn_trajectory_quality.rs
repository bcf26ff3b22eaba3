//! `multi_turn_trajectory_quality_v1`: how good the way through the conversation is. Range 0 to 1; no reference; the last turn has the
//! result. Vertex AI scores it, or the mean of a judge's samples: [`scored`](super::scored).

use super::MetricInfo;
use super::judged::Judged;
use super::scored::{self, Family};
use crate::foundation::error::Result;
use crate::judge::prompt::TRAJECTORY_QUALITY;
use crate::model::config::MetricConfig;

static FAMILY: Family = Family::from_zero_to_one(&TRAJECTORY_QUALITY);

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "multi_turn_trajectory_quality_v1",
    class: "MultiTurnTrajectoryQualityV1Evaluator",
    description: "How good the path through the conversation is.",
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    scored::build(metric_config, &FAMILY)
}
