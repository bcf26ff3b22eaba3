//! `rubric_based_multi_turn_trajectory_quality_v1`: the share of rubrics that a whole conversation meets.
//! Range 0 to 1; no reference; asks a judge once, who is shown every turn with what happened in it. The
//! last turn has the result; of its rubrics those of the type `TRAJECTORY_QUALITY` count. How rubrics
//! score: [`rubric_based`](super::rubric_based).

use super::MetricInfo;
use super::judged::Judged;
use super::rubric_based::{self, Family};
use crate::foundation::error::Result;
use crate::judge::prompt::TRAJECTORY_RUBRICS;
use crate::model::config::MetricConfig;

static FAMILY: Family = Family { prompt: &TRAJECTORY_RUBRICS, rubric_type: "TRAJECTORY_QUALITY" };

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "rubric_based_multi_turn_trajectory_quality_v1",
    class: "RubricBasedMultiTurnTrajectoryEvaluator",
    description: "The share of rubrics that the whole conversation meets.",
    settings: rubric_based::ALL_SETTINGS,
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    rubric_based::build(metric_config, &FAMILY)
}
