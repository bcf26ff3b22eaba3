//! What a run has done and used so far.

use super::Millis;

/// Tokens used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of replies, thoughts included.
    pub output_tokens: u64,
}

impl Usage {
    /// Input and output together.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input_tokens + self.output_tokens
    }

    pub(super) fn add(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
    }
}

/// How far the calls of a run have come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Calls sent, retries included.
    pub calls: u32,
    /// Calls answered.
    pub answered: u32,
    /// Calls that ended without an answer: failed, timed out, or aborted.
    pub failed: u32,
    /// Calls answered without a word of the tokens they took, which are estimated.
    pub unreported: u32,
    /// Calls sent because an earlier one for the same sample failed.
    pub retried: u32,
    /// Calls that are sent and not answered yet.
    pub in_flight: u32,
    /// Samples asked, without those that were withdrawn before they were sent: each is answered, found in a
    /// cache or lost in the end.
    pub asked: u32,
    /// Samples asked that are waiting for their first or next attempt.
    pub queued: u32,
    /// Samples answered from a cache.
    pub cached: u32,
    /// Samples that need not be asked because the verdict is settled.
    pub saved: u32,
    /// Samples given up, without those that are [asked again](super::Calls::revert_losses).
    pub lost: u32,
    /// Tokens used.
    pub usage: Usage,
    /// Money spent, in the unit of the prices.
    pub cost: f64,
    /// How long the samples asked so far will take, in milliseconds, if calls go on as they did;
    /// absent before the first reply.
    pub left_ms: Option<Millis>,
}
