//! The inputs and outputs of [`Calls`](super::Calls): samples to ask, calls to send, failures, lost samples.

use super::{Millis, Usage};

/// Samples to ask for a question, in the order of their indexes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask {
    /// The caller's number for the question.
    pub question: u32,
    /// The index of the first of the samples.
    pub first_sample: u32,
    /// How many samples to ask.
    pub samples: u32,
    /// The group that the calls belong to, from [`Calls::add_group`](super::Calls::add_group).
    pub group: u32,
    /// Whether this continues something that was started: a further wave of samples, or a follow-up question.
    pub follow_up: bool,
    /// Whether calls for these samples were sent before and failed.
    pub again: bool,
    /// How many tokens a call is expected to use; 0 if unknown. This keeps calls in flight from overdrawing a
    /// budget, and is used as the usage if a provider does not report it.
    pub tokens: u32,
}

/// A call to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// The id with which the host reports the outcome; never reused.
    pub id: u32,
    /// The question it asks.
    pub question: u32,
    /// The index of the sample.
    pub sample: u32,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// When the call is aborted; infinite for never.
    pub timeout_at: Millis,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CallAction {
    /// Send this call.
    Send(Call),
    /// Abort the call with this id. Its reply is no longer needed.
    Abort(u32),
    /// This sample will have no reply.
    Lost(LostSample),
    /// Wait until this time, or until something is asked, answered or fails.
    WakeAt(Millis),
    /// Wait until something is asked, answered or fails.
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

/// A sample without a reply, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostSample {
    /// The question.
    pub question: u32,
    /// The index of the sample.
    pub sample: u32,
    /// How often it was sent.
    pub attempts: u32,
    /// Whether it was never sent, not before it was given up once either.
    pub is_unsent: bool,
    /// Why there is no reply.
    pub reason: LossReason,
}

/// Why a sample has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
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
    /// Whether there was no answer at all: no connection, or one that broke off.
    pub disconnected: bool,
    /// How long the server asks to wait, in milliseconds from now.
    pub retry_after_ms: Option<Millis>,
    /// The tokens that the call used nevertheless.
    pub usage: Usage,
}
