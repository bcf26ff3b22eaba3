//! `multi_turn_trajectory_quality_v1`: how good the way through the conversation is. Range 0 to 1; no reference; the last turn has the
//! result. Vertex AI scores it, or the mean of a judge's samples: [`scored`](super::scored).

use super::judged::Judged;
use super::scored::{self, Family};
use crate::foundation::error::Result;
use crate::judge::prompt::TRAJECTORY_QUALITY;
use crate::model::config::Setup;

static FAMILY: Family = Family::of_conversations(&TRAJECTORY_QUALITY);

pub(super) fn build(setup: &Setup<'_, '_>) -> Result<Box<dyn Judged>> {
    scored::build(setup, &FAMILY)
}
