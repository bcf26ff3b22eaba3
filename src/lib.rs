//! Scores AI agents the way Google's Agent Development Kit does.

pub mod metrics;
pub mod model;
pub mod run;
#[cfg(feature = "schema")]
pub mod schema;
pub mod text;
pub mod trajectory;
#[cfg(feature = "wasm")]
pub mod wasm;
