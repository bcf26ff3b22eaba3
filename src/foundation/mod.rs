//! What is generic, and ours for a reason that each module gives: what it stands in for, and what that buys.
//! Nothing here knows ADK.

pub mod double;
pub mod error;
pub mod json;
pub(crate) mod numbers;
pub(crate) mod order;
mod parse;
pub mod write;
