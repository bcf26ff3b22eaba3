//! Judges, models that score an answer: what they are asked, what their replies mean, and when to call them. No I/O:
//! the host sends the requests.
//!
//! In the order in which a question goes through them:
//!
//! - [`prompt`]: the prompts, templates that replace them, and the fence around the content that is judged.
//! - [`calls`]: the queue of calls: concurrency, retries, rate limits, budgets, deadlines.
//! - [`provider`]: a question as the HTTP request of a provider, and the provider's answer as a reply or a failure.
//! - [`reply`]: parsers of replies, which find what google-adk finds in them.
//! - [`votes`]: when the samples of a question have decided it.
//! - [`evidence`]: when they have all but decided it, by a model of how samples vote.
//! - [`digest`]: hashes that identify prompts.

pub mod calls;
pub mod digest;
pub mod evidence;
pub mod prompt;
pub mod provider;
pub mod reply;
pub mod votes;
