//! What ADK writes, and how it is read.

pub mod content;
pub mod error;
pub mod json;
