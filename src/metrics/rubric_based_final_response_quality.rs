//! `rubric_based_final_response_quality_v1`: the share of rubrics that the final response meets. Range 0
//! to 1; no reference; asks a judge about each turn, who is shown the request, the tool calls with
//! their outputs, the grounding metadata and the response. Of the rubrics of turns those of the type
//! `FINAL_RESPONSE_QUALITY` count. `include_intermediate_responses_in_final` (default false) puts what the
//! agent said on the way before the response. How rubrics score: [`rubric_based`](super::rubric_based).

use super::MetricInfo;
use super::judged::Judged;
use super::rubric_based::{self, Family};
use crate::foundation::error::Result;
use crate::judge::prompt::FINAL_RESPONSE_RUBRICS;
use crate::model::config::MetricConfig;

static FAMILY: Family = Family { prompt: &FINAL_RESPONSE_RUBRICS, rubric_type: "FINAL_RESPONSE_QUALITY" };

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "rubric_based_final_response_quality_v1",
    class: "RubricBasedFinalResponseQualityV1Evaluator",
    description: "The share of rubrics that the final response meets.",
    settings: rubric_based::ALL_SETTINGS,
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    rubric_based::build(metric_config, &FAMILY)
}
