//! ADK's files as Rust types: evalsets, configs, conversations and results, in every version of their schemas,
//! in `snake_case` and in `camelCase`.
//!
//! A file is read in two steps. `Document::from_bytes` indexes the JSON; [`shape::check`] checks the index
//! against the declared shape and reports what does not fit. After that, records are views of the JSON that
//! copy nothing and cannot fail.
//!
//! - [`shape`]: how records are declared (`record!`), checked, viewed and written.
//! - [`content`]: parts, tool calls and tool responses.
//! - [`invocation`]: one turn of a conversation, made of contents.
//! - [`evalset`]: the expected conversations.
//! - [`old_evalset`]: the same in the two old forms.
//! - [`actual`]: what the agent did, from evalsets, results, inference results or sessions.
//! - `forms`: what a file of the wrong form looks like.
//! - [`session`]: the turns of a session, from its events.
//! - [`results`]: the results of a run, as ADK stores them.
//! - [`config`]: metrics with their thresholds and settings.

pub mod actual;
pub mod config;
pub mod content;
pub mod evalset;
mod forms;
pub mod invocation;
pub mod old_evalset;
pub mod results;
pub mod rubric;
pub mod session;
pub mod shape;
