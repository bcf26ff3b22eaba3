//! What judges are asked and what their replies say: text in, text out.
//!
//! - [`prompt`]: the prompts, templates that replace them, and the fence around what is judged.
//! - [`reply`]: readers of the replies, which find what google-adk 2.13.0 finds in them.
//! - [`digest`]: names for texts.
//!
//! Nothing here knows which metric asks, how often, or over which wire.

pub mod calls;
pub mod digest;
pub mod prompt;
pub mod provider;
pub mod reply;
pub mod votes;
