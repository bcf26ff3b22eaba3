//! Generic building blocks that know nothing of ADK. Each is written here for a reason that its header gives: which
//! crate or part of the standard library it replaces, and what that buys.
//!
//! - [`json`]: JSON as an index over its own text, filled in by `parse`; [`mod@write`]: the JSON writer.
//! - [`double`]: floating-point numbers from and to decimal, exactly.
//! - `interner`, `sort`: a string interner, and a stable sort.
//! - [`error`]: the error type. Its codes are those of all of the crate, since every module reports by it.
//! - [`suggestion`]: the name that was meant by a misspelt one.

pub mod double;
pub mod error;
pub(crate) mod interner;
pub mod json;
mod parse;
pub(crate) mod sort;
pub mod suggestion;
pub mod write;
