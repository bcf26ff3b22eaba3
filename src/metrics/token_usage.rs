//! `token_usage_v1`: how many tokens a turn used, by kind. Informational. Unit: tokens per turn.
//!
//! Input is prompt plus tool use, output is candidates plus thoughts, total is input plus output; the total
//! that a model reports is ignored. A kind that nothing reported is absent, which is not 0. Averages divide by
//! the number of all turns, so that the total remains the sum of its parts.

use super::efficiency::{self, AmountsByKind, Measure, TokensByKind};
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

const TOKENS: Measure<TokensByKind> = Measure {
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

/// The tokens of a turn: the sums over its model calls.
fn tokens(turn: Invocation<'_>) -> TokensByKind {
    let usages = turn.events().unwrap_or_default().iter().filter_map(InvocationEvent::usage_metadata);
    usages.map(call_tokens).fold(TokensByKind::default(), |sum, call| {
        TokensByKind::from_kinds(|kind| sum_of(kind(&sum), kind(&call)))
    })
}

fn call_tokens(usage: UsageMetadata<'_>) -> TokensByKind {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    let count = |tokens: Option<i64>| tokens.map(|tokens| tokens as f64);
    let prompt_tokens = count(usage.prompt_token_count());
    let tool_use_tokens = count(usage.tool_use_prompt_token_count());
    let candidates_tokens = count(usage.candidates_token_count());
    let reasoning_tokens = count(usage.thoughts_token_count());
    let input_tokens = sum_of(prompt_tokens, tool_use_tokens);
    let output_tokens = sum_of(candidates_tokens, reasoning_tokens);
    TokensByKind {
        total_tokens: sum_of(input_tokens, output_tokens),
        input_tokens,
        prompt_tokens,
        cached_tokens: count(usage.cached_content_token_count()),
        tool_use_tokens,
        output_tokens,
        candidates_tokens,
        reasoning_tokens,
    }
}

/// The sum; `None` if both are `None`.
fn sum_of(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
    }
}

fn average(reported: &[f64], turns: usize) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 turns fit into an input")]
    (!reported.is_empty()).then(|| reported.iter().sum::<f64>() / turns as f64)
}
