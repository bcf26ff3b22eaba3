//! The judged metrics of a run: which question belongs to which case and metric, and when a metric of a case is
//! complete. [`Calls`](crate::judge::calls::Calls) decides when calls are sent and retried; the metrics decide
//! what replies mean.
//!
//! - `stages`: a judged metric of a case from planning its questions to its result.
//! - `sending`: which call is sent next, and its prompt.
//! - `answers`: replies and failures, votes, follow-up questions.
//! - `endpoint`: questions as HTTP requests, for servers that the engine addresses itself.
//! - `learning`: how samples vote, for votes that end before they are certain.
//! - `state`: the open questions and the calls in flight, which the others share.

mod answers;
mod endpoint;
mod learning;
mod sending;
mod stages;
mod state;

use super::Pairing;
use crate::judge::calls::{self, Call, Prices};
use crate::judge::provider::TokenCounts;
use crate::metrics::judged::Judged;

pub use answers::MAX_REFUSALS;
pub use learning::{LEARNT_QUESTIONS, Risk};
pub(super) use sending::JudgeStep;
pub(super) use stages::{ConcludingMetric, PendingMetric, PlanningCase};
pub(super) use state::JudgeState;

/// How to ask judges.
#[derive(Clone, Debug, Default)]
pub struct JudgeOptions {
    /// Concurrency, retries, budgets and time limits.
    pub calls: calls::CallOptions,
    /// The model to ask instead of those in the criteria.
    pub model: Option<String>,
    /// Prices by model name.
    pub prices: Vec<(String, Prices)>,
}

impl JudgeOptions {
    /// The model that a metric asks.
    #[must_use]
    pub fn model_for<'m>(&'m self, metric: &'m dyn Judged) -> &'m str {
        self.model.as_deref().unwrap_or(&metric.judge_config().options.model)
    }

    /// The prices of the judges that are asked in turn: that of the model, or else those of the panel's members;
    /// zero if they are unknown.
    pub(super) fn prices_of(&self, model: &str, panel: &[String]) -> Vec<Prices> {
        let price =
            |model: &str| self.prices.iter().find(|(name, _)| name == model).map(|(_, prices)| *prices);
        match price(model) {
            None if !panel.is_empty() => panel.iter().map(|name| price(name).unwrap_or_default()).collect(),
            known => vec![known.unwrap_or_default()],
        }
    }
}

/// A call for the host to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgeCall {
    /// The call; its id is passed to [`Run::handle_reply`](super::Run::handle_reply) and the other handlers.
    pub call: Call,
    /// The index of the metric in the plan.
    pub metric: usize,
    /// The case and run it is about.
    pub pairing: Pairing,
}

/// A judge's reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgeReply {
    /// Its text.
    pub text: String,
    /// The tokens it used, as far as they are reported.
    pub usage: TokenCounts,
}
