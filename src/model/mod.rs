//! What ADK writes, and how it is read.

pub mod actual;
pub mod config;
pub mod content;
pub mod double;
pub mod error;
pub mod evalset;
pub mod invocation;
pub mod json;
mod parse;
pub mod read;
pub mod results;
pub mod write;
