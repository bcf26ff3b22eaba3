//! What several tests need.

pub(crate) mod deviations;
pub(crate) mod host;
pub(crate) mod judging;
pub(crate) mod replay;
#[path = "../../../fuzz/src/scoring.rs"]
pub(crate) mod scoring;
pub(crate) mod spelling;
pub(crate) mod vectors;
