//! `token_usage_v1`: how many tokens a turn used, by kind. Informational. Unit: tokens per turn.
//!
//! Input is prompt plus tool use, output is candidates plus thoughts, total is input plus output; the total
//! that a model reports is ignored. A kind that nothing reported is absent, which is not 0. Averages divide by
//! the number of all turns, so that the total remains the sum of its parts.

use super::efficiency::{self, Amounts, Measure};
use super::{Case, Details, Evaluation, Metric, MetricInfo, Scoring, TurnEvaluation, TurnPair};
use crate::foundation::error::Result;
use crate::model::config::MetricConfig;
use crate::model::invocation::{Invocation, InvocationEvent, UsageMetadata};

struct TokenUsage;

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "token_usage_v1",
    reads: &["intermediate_data.invocation_events.usage_metadata"],
    class: "TokenUsageV1Evaluator",
    description: "Tokens a turn, in all and by kind. Informational, lower is better.",
    ..MetricInfo::informational("tokens", build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Metric>> {
    efficiency::informational(metric_config)?;
    Ok(Box::new(TokenUsage))
}

const TOKENS: Measure = Measure {
    turn_amounts: tokens,
    average,
    details: Details::TokenUsage,
    amounts: |details| match details {
        Details::TokenUsage(amounts) => Some(amounts),
        _ => None,
    },
    reason: "no model call reported its tokens",
};

impl Metric for TokenUsage {
    fn turn<'a>(&self, _: &Case<'a>, pair: TurnPair<'a>, _: &mut Scoring) -> Result<TurnEvaluation<'a>> {
        Ok(TOKENS.turn(pair.actual))
    }

    fn conclude<'a>(&self, _: &Case<'a>, turns: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
        TOKENS.conclude(turns)
    }
}

/// The tokens of a turn, in the order of the fields of
/// [`TokenUsageDetails`](crate::model::results::TokenUsageDetails).
fn tokens(turn: Invocation<'_>) -> Amounts {
    let mut sum = Amounts::default();
    for usage in turn.events().unwrap_or_default().iter().filter_map(InvocationEvent::usage_metadata) {
        for (sum, tokens) in sum.iter_mut().zip(call_amounts(usage)) {
            *sum = both(*sum, tokens);
        }
    }
    sum
}

fn call_amounts(usage: UsageMetadata<'_>) -> Amounts {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    let count = |tokens: Option<i64>| tokens.map(|tokens| tokens as f64);
    let prompt = count(usage.prompt_token_count());
    let cached = count(usage.cached_content_token_count());
    let tool_use = count(usage.tool_use_prompt_token_count());
    let candidates = count(usage.candidates_token_count());
    let thoughts = count(usage.thoughts_token_count());
    let (input, output) = (both(prompt, tool_use), both(candidates, thoughts));
    [both(input, output), input, prompt, cached, tool_use, output, candidates, thoughts]
}

/// The sum; `None` if both are.
fn both(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
    }
}

fn average(reported: &[f64], turns: usize) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 turns fit into an input")]
    (!reported.is_empty()).then(|| reported.iter().sum::<f64>() / turns as f64)
}
