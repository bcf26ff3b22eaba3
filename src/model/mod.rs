//! ADK's files as Rust types: evalsets, configs, conversations and results, in every version of their schemas, in
//! `snake_case` and in `camelCase`.
//!
//! [`shape`] comes first: a record is declared once (`record!`), checked once, and read as a view of the JSON without
//! copying it. [`content`] (parts, tool calls) makes up [`invocation`] (one turn of a conversation); those make up
//! [`evalset`] (what is expected), [`actual`] (what the agent did) and [`results`]. [`config`] has criteria.

pub mod actual;
pub mod config;
pub mod content;
pub mod evalset;
pub mod invocation;
pub mod results;
pub mod shape;
