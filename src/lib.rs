//! Scores AI agents the way Google's Agent Development Kit does.

pub mod metrics;
pub mod model;
pub mod run;
pub mod text;
pub mod trajectory;
