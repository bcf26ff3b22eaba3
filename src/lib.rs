//! Scores AI agents the way Google's Agent Development Kit (ADK) does: the same numbers as google-adk, to the
//! last bit, in the version [`REFERENCE_VERSION`].
//!
//! # From files to scores
//!
//! 1. [`foundation`] parses JSON into an index over its own text. [`model`] checks it against ADK's schemas and
//!    gives typed views: an evalset (what is expected), actual runs (what the agent did) and a config (how to
//!    score).
//! 2. [`run::Plan`] turns the config into metrics. [`run::Run`] pairs each eval case with its run and scores
//!    the pairs. It is a state machine without I/O: the host polls it, sends the requests it asks for, and
//!    hands the answers back.
//! 3. A metric of [`metrics`] compares the two conversations turn by turn, with [`text`] (ROUGE) or
//!    [`trajectory`] (tool calls), or it asks a judge model through [`judge`] (prompts, calls and retries,
//!    providers' protocols, replies, votes).
//! 4. The results come out case by case, as [`run::CaseResult`].
//!
//! Each module imports only the modules to its left:
//!
//! ```text
//! foundation → model → text, trajectory, judge → metrics → run → wasm
//! ```
//!
//! # Where to start reading
//!
//! - [`run`] has an example from three JSON files to a score.
//! - `metrics/response_match_score.rs` is the shortest metric that computes a score.
//!   `metrics/final_response_match.rs` is one that asks a judge model.
//! - The documentation of each module says which file to read for what.
//!
//! Invalid input is reported as a value, [`foundation::error::Error`], never as a panic. Nothing reads a clock
//! or draws random numbers: times and seeds are arguments, so every run can be reproduced.
//!
//! # Comparing two strings
//!
//! ```
//! let rouge = adk_metrics::text::rouge1("The weather in London is sunny", "It's sunny in London today");
//! assert_eq!(rouge.fmeasure, 0.5);
//! ```
//!
//! With the feature `wasm` the crate exports itself to JavaScript. The npm package is built from that.

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

/// The version of google-adk whose scores the dialect `adk-python` reproduces. `tests/parity/requirements.txt`
/// pins the same version for the scripts that record the parity vectors.
pub const REFERENCE_VERSION: &str = "2.13.0";
