//! Scores AI agents the way Google's Agent Development Kit (ADK) does: the numbers of google-adk,
//! to the last bit, in the version [`REFERENCE_VERSION`].
//!
//! - [`foundation`]: JSON, doubles, interned strings and errors; knows nothing of ADK.
//! - [`model`]: what ADK writes, read in every shape and written in today's.
//! - [`text`]: tokens, stems, ROUGE. [`trajectory`]: tool calls beside the expected ones.
//! - [`judge`]: what judge models are asked, and what their replies say.
//! - [`metrics`]: one file a metric, and the registry.
//! - [`run`]: the evaluation of an evalset, as a state machine without I/O; its documentation has an
//!   example from three JSON texts to a score.
//!
//! Two texts are compared in one line:
//!
//! ```
//! let rouge = adk_metrics::text::rouge1("The weather in London is sunny", "It's sunny in London today");
//! assert_eq!(rouge.fmeasure, 0.5);
//! ```
//!
//! With the feature `wasm` the crate exports itself to JavaScript; the npm package is made of that.

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
