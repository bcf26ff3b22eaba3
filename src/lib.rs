//! Scores AI agents the way Google's Agent Development Kit (ADK) does: the same numbers as google-adk,
//! to the last bit, in the version [`REFERENCE_VERSION`].
//!
//! # Where to start reading
//!
//! Each module imports only what stands left of it:
//!
//! ```text
//! foundation → model → text, trajectory, judge → metrics → run → wasm
//! ```
//!
//! 1. [`run`] is the entry: [`run::Run`] is the evaluation of an evalset, a state machine without I/O. Its
//!    documentation has an example from three JSON files to a score.
//! 2. [`metrics`] has one file per metric, and the table of them all. `response_match_score.rs` is the shortest that
//!    computes a score; `final_response_match.rs` is one that asks a judge model.
//! 3. [`text`] (ROUGE), [`trajectory`] (tool calls compared with the expected ones) and [`judge`] (prompts, replies,
//!    votes, retries, providers' protocols) are what metrics compute with.
//! 4. [`model`] has ADK's files: evalsets, configs, results, read in every version of their schemas.
//! 5. [`foundation`] is generic: JSON, numbers, errors. It knows nothing of ADK.
//!
//! A mistake of the user's is a value, [`foundation::error::Error`], never a panic. Nothing reads a clock or a random
//! number: times and seeds are arguments, so that every run can be repeated.
//!
//! # Comparing two strings
//!
//! ```
//! let rouge = adk_metrics::text::rouge1("The weather in London is sunny", "It's sunny in London today");
//! assert_eq!(rouge.fmeasure, 0.5);
//! ```
//!
//! With the feature `wasm` the crate exports itself to JavaScript; the npm package is built from that.

pub mod foundation;
pub mod judge;
pub mod metrics;
pub mod model;
pub mod run;
#[cfg(feature = "schema")]
pub mod schema;
pub mod text;
pub mod trajectory;
#[cfg(feature = "wasm")]
pub mod wasm;

/// The version of google-adk whose scores the dialect `adk-python` gives. `tests/parity/requirements.txt` names it too, for
/// what records the vectors.
pub const REFERENCE_VERSION: &str = "2.13.0";
