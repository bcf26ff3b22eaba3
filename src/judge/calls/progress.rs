//! The progress of a run: what was done and used so far.

use super::{Calls, Millis};

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

/// How far the calls of a run are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Calls sent, retries included.
    pub calls: u32,
    /// Calls answered.
    pub answered: u32,
    /// Calls that ended without an answer: failed, timed out, or aborted.
    pub failed: u32,
    /// Calls answered without token counts, whose usage is estimated.
    pub unreported: u32,
    /// Replies, also those from a cache, of which nothing could be read.
    pub unread: u32,
    /// Calls sent because an earlier one for the same sample failed.
    pub retried: u32,
    /// Calls sent and not answered yet.
    pub in_flight: u32,
    /// Samples asked, without those that were withdrawn before they were sent. In the end each of them is
    /// answered, found in a cache, or lost.
    pub asked: u32,
    /// Samples that wait for their first or next attempt.
    pub queued: u32,
    /// Samples answered from a cache.
    pub cached: u32,
    /// Samples that were not asked because the verdict was settled without them.
    pub saved: u32,
    /// How many of these might have changed a verdict, at least.
    pub saved_at_risk: u32,
    /// Verdicts of votes that ended before they were certain.
    pub verdicts_at_risk: u32,
    /// Samples given up, without those that are [asked again](super::Calls::revert_losses).
    pub lost: u32,
    /// How many of these were never sent.
    pub unsent: u32,
    /// Tokens used.
    pub usage: Usage,
    /// Money spent, in the unit of the prices.
    pub cost: f64,
    /// How long the samples asked so far will take at the current speed, in milliseconds; absent before the
    /// first reply.
    pub left_ms: Option<Millis>,
}

/// What is counted without a call.
impl Calls {
    /// Counts samples whose replies were known before they were asked.
    pub fn count_cached(&mut self, samples: u32) {
        self.progress.asked += samples;
        self.progress.cached += samples;
    }

    /// Counts samples that were not asked because the verdict was settled without them.
    ///
    /// `at_risk` are its verdicts that are not certain, and the samples that it would have taken at least to be
    /// certain of all.
    pub fn count_saved(&mut self, samples: u32, at_risk: (u32, u32)) {
        self.progress.saved += samples;
        self.progress.verdicts_at_risk += at_risk.0;
        self.progress.saved_at_risk += at_risk.1;
    }

    /// Counts samples that were not asked although a verdict needed them: nobody gave a reply to the first ones.
    pub fn count_unasked(&mut self, samples: u32) {
        self.progress.asked += samples;
        self.progress.lost += samples;
        self.progress.unsent += samples;
    }

    /// Counts a reply of which nothing could be read.
    pub fn count_unread(&mut self, is_unread: bool) {
        self.progress.unread += u32::from(is_unread);
    }

    /// Undoes the loss of samples that are asked again.
    pub fn revert_losses(&mut self, samples: u32) {
        self.progress.lost = self.progress.lost.saturating_sub(samples);
        self.progress.asked = self.progress.asked.saturating_sub(samples);
    }
}
