//! What ADK writes, and how it is read.

pub mod actual;
pub mod config;
pub mod content;
pub mod evalset;
pub mod invocation;
pub mod results;
pub mod shape;
