//! What ADK writes, and how it is read.

pub mod actual;
pub mod config;
pub mod content;
pub mod double;
pub mod error;
pub mod evalset;
pub mod invocation;
pub mod json;
pub(crate) mod numbers;
pub(crate) mod order;
mod parse;
pub mod results;
pub mod shape;
pub mod write;
