//! The entries of the queues of [`Calls`](super::Calls): samples, calls in flight, groups.

use std::collections::VecDeque;

use super::{LossReason, LostSample, Millis, Prices, Sample, Usage};

/// A sample in the queues.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleTask {
    pub(super) question: u32,
    pub(super) sample: u32,
    pub(super) group: u32,
    pub(super) tokens: u32,
    /// Whether it was given up before, after calls were sent.
    pub(super) again: bool,
    /// How often it was sent since then.
    pub(super) sent: u32,
    /// How many of these count as attempts.
    pub(super) attempts: u32,
    /// How many replies the run had when the sample last failed.
    pub(super) replies_before: u32,
}

impl SampleTask {
    pub(super) fn sample(&self) -> Sample {
        Sample { question: self.question, sample: self.sample }
    }

    /// Whether no call was ever sent for it.
    pub(super) fn is_unsent(&self) -> bool {
        self.sent == 0 && !self.again
    }

    pub(super) fn lost(&self, reason: LossReason) -> LostSample {
        let is_unsent = self.is_unsent();
        LostSample { question: self.question, sample: self.sample, attempts: self.sent, is_unsent, reason }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct InFlightCall {
    pub(super) call: u32,
    pub(super) sent_at: Millis,
    pub(super) timeout_at: Millis,
    pub(super) task: SampleTask,
    pub(super) expected: Expected,
}

/// What calls are expected to take of the budget.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Expected {
    pub(super) tokens: f64,
    pub(super) cost: f64,
}

#[derive(Debug)]
pub(super) struct Group {
    pub(super) limit: u32,
    pub(super) in_flight: u32,
    /// Those of the judges that are asked in turn: of the first for sample 0, and so on.
    pub(super) prices: Vec<Prices>,
    /// Samples whose turn came when the group was at its limit.
    pub(super) waiting: VecDeque<SampleTask>,
}

impl Group {
    /// How often its limit is filled by what is open.
    pub(super) fn rounds(&self) -> f64 {
        (f64::from(self.in_flight) + self.waiting.len() as f64) / f64::from(self.limit)
    }

    /// What a call for a sample costs.
    pub(super) fn cost(&self, sample: u32, usage: Usage) -> f64 {
        let judge = (sample as usize).checked_rem(self.prices.len());
        judge.and_then(|judge| self.prices.get(judge)).map_or(0.0, |prices| prices.cost(usage))
    }
}
