//! Judges: what they are asked, what their replies say, and how they are asked, all without I/O.
//!
//! - [`prompt`]: the prompts, templates that replace them, and the fence around what is judged.
//! - [`reply`]: readers of the replies, which find what google-adk finds in them.
//! - [`votes`]: when the samples of a question have settled it.
//! - [`calls`]: which question goes out when, again, or not at all.
//! - [`provider`]: requests and replies as each provider's protocol has them.
//! - [`digest`]: names for texts.

pub mod calls;
pub mod digest;
pub mod prompt;
pub mod provider;
pub mod reply;
pub mod votes;
