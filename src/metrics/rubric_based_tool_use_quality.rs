//! `rubric_based_tool_use_quality_v1`: the share of rubrics that the use of tools meets. Range 0 to 1. Requires
//! no reference. Asks a judge about each turn and shows it the tools, the request and the tool calls with their
//! outputs. Rubrics of turns apply if their type is `TOOL_USE_QUALITY`. Scoring: see
//! [`rubric_based`](super::rubric_based).

use super::MetricInfo;
use super::judged::Judged;
use super::rubric_based::{self, RubricMetric};
use crate::foundation::error::Result;
use crate::judge::prompt::TOOL_USE_RUBRICS;
use crate::model::config::MetricConfig;
use crate::model::invocation::Rubric;

static METRIC: RubricMetric =
    RubricMetric { prompt: &TOOL_USE_RUBRICS, rubric_type: Rubric::TOOL_USE_QUALITY };

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "rubric_based_tool_use_quality_v1",
    class: "RubricBasedToolUseV1Evaluator",
    description: "The share of rubrics that the use of tools meets.",
    settings: rubric_based::ALL_SETTINGS,
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    rubric_based::build(metric_config, &METRIC)
}
