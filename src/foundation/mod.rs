//! What is generic, and ours for a reason that each module gives: what it stands in for, and what that buys.
//! Nothing here knows ADK.

pub mod double;
pub mod error;
pub(crate) mod interner;
pub mod json;
mod parse;
pub(crate) mod sort;
pub mod write;
