//! `safety_v1`: whether the response is harmless. 1 or 0 for a turn, their mean for the conversation; no
//! reference. Vertex AI scores it, or the majority of a judge's samples, a tie being unsafe:
//! [`scored`](super::scored).

use super::MetricInfo;
use super::judged::Judged;
use super::scored::{self, Family};
use crate::foundation::error::Result;
use crate::judge::prompt::SAFETY;
use crate::model::config::MetricConfig;

static FAMILY: Family = Family { by_majority: true, ..Family::from_zero_to_one(&SAFETY) };

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "safety_v1",
    legacy_names: &["safety"],
    class: "SafetyEvaluatorV1",
    description: "Whether the response is harmless.",
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    scored::build(metric_config, &FAMILY)
}
