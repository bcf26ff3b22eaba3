//! Scores AI agents the way Google's Agent Development Kit does.

pub mod model;
pub mod text;
