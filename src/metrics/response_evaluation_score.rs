//! `response_evaluation_score`: how coherent the response is. Range 1 to 5; compares with a reference, as
//! in google-adk. Vertex AI scores it, or the mean of a judge's samples: [`scored`](super::scored).

use super::judged::Judged;
use super::scored::{self, Family};
use crate::foundation::error::Result;
use crate::judge::prompt::COHERENCE;
use crate::model::config::Setup;

static FAMILY: Family = Family {
    range: [1.0, 5.0],
    whole_conversation: false,
    needs_reference: true,
    ..Family::of_conversations(&COHERENCE)
};

pub(super) fn build(setup: &Setup<'_, '_>) -> Result<Box<dyn Judged>> {
    scored::build(setup, &FAMILY)
}
