//! `rubric_based_multi_turn_trajectory_quality_v1`: the share of rubrics that a whole conversation meets. Range
//! 0 to 1. Requires no reference. Asks a judge once and shows it every turn with its events. The last turn has
//! the result; its rubrics apply if their type is `TRAJECTORY_QUALITY`. Scoring: see
//! [`rubric_based`](super::rubric_based).

use super::MetricInfo;
use super::judged::Judged;
use super::rubric_based::{self, RubricMetric};
use crate::foundation::error::Result;
use crate::judge::prompt::TRAJECTORY_RUBRICS;
use crate::model::config::MetricConfig;
use crate::model::invocation::Rubric;

static METRIC: RubricMetric =
    RubricMetric { prompt: &TRAJECTORY_RUBRICS, rubric_type: Rubric::TRAJECTORY_QUALITY };

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "rubric_based_multi_turn_trajectory_quality_v1",
    class: "RubricBasedMultiTurnTrajectoryEvaluator",
    description: "The share of rubrics that the whole conversation meets.",
    settings: rubric_based::ALL_SETTINGS,
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    rubric_based::build(metric_config, &METRIC)
}
