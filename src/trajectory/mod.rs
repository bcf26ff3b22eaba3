//! Trajectories: an agent's tool calls compared with the expected ones.
//!
//! - [`equal`](fn@equal): whether two JSON values are equal, as in Python.
//! - [`matching`]: whether two trajectories match, for `tool_trajectory_avg_score`.
//! - [`strategy`]: whether an argument is acceptable.
//! - [`alignment`]: the best one-to-one pairing of calls.
//! - [`parameter_match`], [`f1`]: the scores of such pairings.
//! - [`difference`]: the explanation, call by call and argument by argument.
//!
//! Everything here is a pure function of calls and settings.
//!
//! ```
//! use adk_metrics::foundation::{json::Document, write::{Spelling, to_json}};
//! use adk_metrics::model::content::ToolCall;
//! use adk_metrics::trajectory::{CallEquality, MatchType, difference, matches};
//!
//! let args = Document::parse(r#"[{"query": "rust"}, {"maxLength": 200}]"#)?;
//! let mut args = args.root().items();
//! let search = ToolCall { name: Some("search_web".into()), args: args.next(), ..Default::default() };
//! let summarize = ToolCall { name: Some("summarize".into()), args: args.next(), ..Default::default() };
//!
//! let expected = [search.clone(), summarize.clone()];
//! let actual = [summarize, search];
//! assert!(!matches(MatchType::Exact, CallEquality::Args, &expected, &actual)?);
//! assert!(matches(MatchType::AnyOrder, CallEquality::Args, &expected, &actual)?);
//!
//! let alignment = difference::explain(&expected, &actual, CallEquality::Args, true);
//! assert_eq!(
//!     to_json(&alignment, Spelling::Camel),
//!     r#"[{"kind":"match","expectedIndex":0,"actualIndex":1},{"kind":"moved","expectedIndex":1,"actualIndex":0}]"#
//! );
//! # Ok::<(), adk_metrics::foundation::error::Error>(())
//! ```

pub mod alignment;
mod argument_difference;
mod call;
pub mod difference;
pub mod equal;
pub mod f1;
pub mod matching;
pub mod parameter_match;
pub mod strategy;

pub use alignment::CallPair;
pub use difference::{AlignmentEntry, AlignmentKind, Difference, DisplayJson};
pub use equal::{equal, equal_as_js_text};
pub use f1::{F1, tool_trajectory_f1};
pub use matching::{CallEquality, MatchMode, MatchType, matches};
pub use parameter_match::{ParameterMatch, ParameterScore, tool_parameter_match};
pub use strategy::{Strategies, Strategy};
