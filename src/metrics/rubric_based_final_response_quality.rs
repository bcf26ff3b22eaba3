//! `rubric_based_final_response_quality_v1`: the share of rubrics that the final response meets. Range 0 to 1.
//! Requires no reference. Asks a judge about each turn and shows it the request, the tool calls with their
//! outputs, the grounding metadata and the response. Rubrics of turns apply if their type is
//! `FINAL_RESPONSE_QUALITY`. `include_intermediate_responses_in_final` (default false) puts intermediate texts
//! of the agent before the response. Scoring: see [`rubric_based`](super::rubric_based).

use super::MetricInfo;
use super::judged::Judged;
use super::rubric_based::{self, RubricMetric};
use crate::foundation::error::Result;
use crate::judge::prompt::FINAL_RESPONSE_RUBRICS;
use crate::model::config::MetricConfig;
use crate::model::invocation::Rubric;

static METRIC: RubricMetric =
    RubricMetric { prompt: &FINAL_RESPONSE_RUBRICS, rubric_type: Rubric::FINAL_RESPONSE_QUALITY };

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "rubric_based_final_response_quality_v1",
    class: "RubricBasedFinalResponseQualityV1Evaluator",
    description: "The share of rubrics that the final response meets.",
    settings: rubric_based::ALL_SETTINGS,
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    rubric_based::build(metric_config, &METRIC)
}
