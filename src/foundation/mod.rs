//! Generic building blocks that know nothing of ADK. The header of each says why it is not a library: what it
//! replaces and what that gains.
//!
//! - [`json`]: JSON as an index over its own text, built by `parse`; [`mod@write`]: the JSON writer.
//! - [`double`]: exact conversion of floating-point numbers from and to decimal.
//! - `interner`, `sort`: a string interner and a stable sort.
//! - [`error`]: the error type and the error codes of the whole crate.
//! - [`pace`]: divides long work into slices.
//! - [`suggestion`]: suggestions for misspelt names.

pub mod double;
pub mod error;
pub(crate) mod interner;
pub mod json;
pub mod pace;
mod parse;
pub(crate) mod sort;
pub mod suggestion;
pub mod write;
