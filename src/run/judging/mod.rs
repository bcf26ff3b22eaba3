//! The part of a run that asks judges: which question belongs to which case and metric, what came of
//! it, and when a metric of a case is settled. When and how often calls go out is decided by
//! [`Calls`](crate::judge::calls::Calls), what they mean by the metrics.
//!
//! A case goes through `stages`: what to ask about it is planned, its metrics wait for answers, and their results
//! are made. A question goes through `sending` and `answers`, by way of `endpoint` where the engine speaks to the
//! server itself. `state` is what all of them share.

mod answers;
mod endpoint;
mod sending;
mod stages;
mod state;

use super::Pairing;
use crate::judge::calls::{self, Call, Prices, Usage};
use crate::metrics::judged::Judged;

pub(super) use sending::Step;
pub(super) use stages::{ConcludingMetric, PendingMetric, PlanningCase};
pub(super) use state::JudgeState;

/// How to ask judges.
#[derive(Clone, Debug, Default)]
pub struct JudgeOptions {
    /// How calls go out.
    pub calls: calls::Options,
    /// The model that is asked, whatever criteria name.
    pub model: Option<String>,
    /// What models cost, by name.
    pub prices: Vec<(String, Prices)>,
}

impl JudgeOptions {
    /// The model that a metric asks.
    #[must_use]
    pub fn model_for<'m>(&'m self, metric: &'m dyn Judged) -> &'m str {
        self.model.as_deref().unwrap_or(&metric.judge_config().options.model)
    }
}

/// A call for the host to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeCall {
    /// What to report with: [`Run::handle_reply`](super::Run::handle_reply) and the like.
    pub call: Call,
    /// Which metric of the plan asks.
    pub metric: usize,
    /// Which case and run it is about.
    pub pairing: Pairing,
}

/// What a judge replied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgeReply {
    /// What it wrote.
    pub text: String,
    /// What it cost, where that is known.
    pub usage: Option<Usage>,
}
