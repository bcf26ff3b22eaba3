//! `token_usage_v1`: how many tokens a turn used, by kind. Informational; unit: tokens a turn.
//!
//! Input is prompt plus tool use, output candidates plus thoughts, total input plus output; the
//! total that a model reports is not read. A kind that nothing reported is absent, which is not 0.
//! Averages divide by the number of all turns, so that the total stays the sum of its parts.

use super::{Case, Evaluation, Metric, Scoring, efficiency};
use crate::model::config::Setup;
use crate::model::error::Result;
use crate::model::invocation::{Invocation, UsageMetadata};
use crate::model::results::{EvalMetricResultDetails, TokenUsageDetails};

struct TokenUsage;

pub(super) fn build(setup: &Setup<'_, '_, '_>) -> Result<Box<dyn Metric>> {
    efficiency::informational(setup)?;
    Ok(Box::new(TokenUsage))
}

const REASON: &str = "no model call of the turn reported its tokens";

impl Metric for TokenUsage {
    fn evaluate<'a>(&self, case: &Case<'_, 'a>, _: &mut Scoring) -> Result<Evaluation<'a>> {
        let all: Vec<TokenUsageDetails<'a>> = case.actual.iter().map(tokens).collect();
        let turns = all.iter().map(|tokens| {
            let mut turn = efficiency::reported(tokens.total_tokens, REASON);
            turn.details = Some(details(tokens.clone()));
            turn
        });
        let turns: Vec<_> = turns.collect();
        let mut evaluation = efficiency::overall(None, REASON, turns);
        if !all.is_empty() {
            let average = average(&all);
            evaluation.score = average.total_tokens;
            evaluation.reason = evaluation.reason.filter(|_| average.total_tokens.is_none());
            evaluation.details = Some(details(average));
        }
        Ok(evaluation)
    }
}

fn details(tokens: TokenUsageDetails<'_>) -> Box<EvalMetricResultDetails<'_>> {
    Box::new(EvalMetricResultDetails {
        token_usage_details: Some(tokens),
        ..EvalMetricResultDetails::default()
    })
}

fn tokens<'a>(turn: &Invocation<'a>) -> TokenUsageDetails<'a> {
    let mut sum = TokenUsageDetails::default();
    for usage in turn.events().iter().filter_map(|event| event.usage_metadata.as_ref()) {
        add_call(&mut sum, usage);
    }
    sum.total_tokens = both(sum.input_tokens, sum.output_tokens);
    sum
}

fn add_call(sum: &mut TokenUsageDetails<'_>, usage: &UsageMetadata<'_>) {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    let count = |tokens: Option<i64>| tokens.map(|tokens| tokens as f64);
    let prompt = count(usage.prompt_token_count);
    let tool_use = count(usage.tool_use_prompt_token_count);
    let candidates = count(usage.candidates_token_count);
    let thoughts = count(usage.thoughts_token_count);
    sum.input_tokens = both(sum.input_tokens, both(prompt, tool_use));
    sum.prompt_tokens = both(sum.prompt_tokens, prompt);
    sum.cached_tokens = both(sum.cached_tokens, count(usage.cached_content_token_count));
    sum.tool_use_tokens = both(sum.tool_use_tokens, tool_use);
    sum.output_tokens = both(sum.output_tokens, both(candidates, thoughts));
    sum.candidates_tokens = both(sum.candidates_tokens, candidates);
    sum.reasoning_tokens = both(sum.reasoning_tokens, thoughts);
}

/// The sum, absent if both are.
fn both(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
    }
}

fn average<'a>(turns: &[TokenUsageDetails<'a>]) -> TokenUsageDetails<'a> {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 turns fit into an input")]
    let number = turns.len() as f64;
    let mean = |kind: fn(&TokenUsageDetails<'a>) -> Option<f64>| {
        turns.iter().map(kind).fold(None, both).map(|sum| sum / number)
    };
    TokenUsageDetails {
        total_tokens: mean(|t| t.total_tokens),
        input_tokens: mean(|t| t.input_tokens),
        prompt_tokens: mean(|t| t.prompt_tokens),
        cached_tokens: mean(|t| t.cached_tokens),
        tool_use_tokens: mean(|t| t.tool_use_tokens),
        output_tokens: mean(|t| t.output_tokens),
        candidates_tokens: mean(|t| t.candidates_tokens),
        reasoning_tokens: mean(|t| t.reasoning_tokens),
        other: Vec::new(),
    }
}
