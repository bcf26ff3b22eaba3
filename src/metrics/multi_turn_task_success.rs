//! `multi_turn_task_success_v1`: how many of the user's goals the conversation reached. Range 0 to 1; no reference; the last turn has the
//! result. Vertex AI scores it, or the mean of a judge's samples: [`scored`](super::scored).

use super::MetricInfo;
use super::judged::Judged;
use super::scored::{self, Family};
use crate::foundation::error::Result;
use crate::judge::prompt::TASK_SUCCESS;
use crate::model::config::MetricConfig;

static FAMILY: Family = Family::from_zero_to_one(&TASK_SUCCESS);

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "multi_turn_task_success_v1",
    class: "MultiTurnTaskSuccessV1Evaluator",
    description: "Whether the conversation reached its goals.",
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    scored::build(metric_config, &FAMILY)
}
