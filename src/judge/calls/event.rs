//! What goes in and out of [`Calls`](super::Calls): samples asked, calls to send, failures, losses. Apart, because
//! its users need these and nothing of how calls are ordered.

use super::{Millis, Usage};

/// Samples to ask of a question, in the order of their indices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask {
    /// The owner's number for the question.
    pub question: u32,
    /// The index of the first of the samples.
    pub first_sample: u32,
    /// How many samples to ask.
    pub samples: u32,
    /// The group that the calls belong to, from [`Calls::add_group`](super::Calls::add_group).
    pub group: u32,
    /// Whether this goes on with something begun: a further wave, or the next question of a chain.
    pub follow_up: bool,
    /// Whether calls for these samples were made and failed before.
    pub again: bool,
    /// How many tokens a call is expected to use, 0 if unknown. Keeps a budget from being overdrawn by
    /// calls in flight, and stands for the usage that a provider does not report.
    pub tokens: u32,
}

/// A call to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// The number by which the host reports what became of it; never used twice.
    pub id: u32,
    /// The question it asks.
    pub question: u32,
    /// The index of the sample.
    pub sample: u32,
    /// How often the sample has been sent, counted from 1.
    pub attempt: u32,
    /// When it will be aborted; infinite if never.
    pub timeout_at: Millis,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Send this call.
    Send(Call),
    /// Stop the call with this id: nobody waits for its reply any more.
    Abort(u32),
    /// This sample will have no reply.
    Lost(LostSample),
    /// Nothing until this time, unless something is asked, answered or fails before.
    WakeAt(Millis),
    /// Nothing until something is asked, answered or fails.
    Idle,
}

/// A sample of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The question.
    pub question: u32,
    /// The index of the sample.
    pub sample: u32,
}

/// A sample without a reply, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSample {
    /// The question.
    pub question: u32,
    /// The index of the sample.
    pub sample: u32,
    /// How often it was sent.
    pub attempts: u32,
    /// Why there is no reply.
    pub reason: Reason,
}

/// Why a sample has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The call failed in a way that another attempt would not change.
    Refused,
    /// All attempts failed.
    Exhausted,
    /// All attempts failed, the last one by taking too long.
    TimedOut,
    /// The time for the whole run is over.
    Deadline,
    /// The budget does not allow another call.
    BudgetExceeded,
    /// The run was cancelled.
    Cancelled,
}

/// How a call failed.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallFailure {
    /// Whether another attempt may succeed.
    pub retryable: bool,
    /// Whether the server asks to be called less often, or is overloaded.
    pub rate_limited: bool,
    /// Whether there was no answer at all: the connection did not come about, or broke off.
    pub disconnected: bool,
    /// How long the server wants to be left alone, in milliseconds from now.
    pub retry_after_ms: Option<Millis>,
    /// What the call has cost nevertheless.
    pub usage: Usage,
}
