//! `response_match_score`: the ROUGE-1 F-measure of the actual and the expected final response: how many words
//! of the expected one it has, and how few others. Range 0 to 1. Requires a reference.
//!
//! [`crate::text`] defines tokens and formula. A missing or empty text on either side scores 0. The
//! conversation's score is the mean of its turns. In the `adk-ts` dialect, turns are paired by position and
//! expected turns without an actual one are ignored.
//!
//! Complexity: O(n) in the length of the texts.

use super::{
    Case, Dialect, Evaluation, Explain, Explanation, ExtraTurns, MatchedToken, Metric, MetricInfo, NO_TURNS,
    Scoring, TokenOverlap, TurnEvaluation, TurnPair, comparable,
};
use crate::foundation::error::Result;
use crate::model::config::MetricConfig;
use crate::model::invocation::FINAL_TEXT;
use crate::text::{Overlap, Rouge, Span};

struct ResponseMatchScore {
    threshold: f64,
    name: String,
}

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "response_match_score",
    legacy_names: &["response_match"],
    reads: FINAL_TEXT,
    class: "RougeEvaluator",
    description: "How many words the final response shares with the expected one: the ROUGE-1 F-measure.",
    ..MetricInfo::plain(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Metric>> {
    Ok(Box::new(ResponseMatchScore {
        threshold: metric_config.threshold()?,
        name: metric_config.name.into(),
    }))
}

impl Metric for ResponseMatchScore {
    fn check(&self, case: &Case<'_>, scoring: &Scoring) -> Result<()> {
        let extra_turns =
            if scoring.dialect == Dialect::AdkTs { ExtraTurns::Ignored } else { ExtraTurns::Error };
        comparable(&self.name, case, extra_turns)
    }

    fn turn<'a>(
        &self,
        case: &Case<'a>,
        pair: TurnPair<'a>,
        scoring: &mut Scoring,
    ) -> Result<TurnEvaluation<'a>> {
        let (actual, expected) = pair.both(&self.name, case)?;
        Ok(self.compare(&expected.final_text(), &actual.final_text(), scoring))
    }

    fn conclude<'a>(&self, _: &Case<'a>, turns: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
        Evaluation::mean(turns, self.threshold, NO_TURNS)
    }
}

impl ResponseMatchScore {
    fn compare<'a>(&self, expected: &str, actual: &str, scoring: &mut Scoring) -> TurnEvaluation<'a> {
        let Scoring { explain, scorer, .. } = scoring;
        let (rouge, matched) = if *explain == Explain::All {
            let Overlap { rouge, matched } = scorer.overlap(expected, actual);
            (rouge, Some(matched))
        } else {
            // Most turns pass, so their texts are first scored without the positions of the words.
            let rouge = scorer.rouge1(expected, actual);
            let is_explained = explain.wants(self.scored(rouge).status);
            (rouge, is_explained.then(|| scorer.overlap(expected, actual).matched))
        };
        let mut turn = self.scored(rouge);
        if let Some(matched) = matched {
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let offsets = |span: Span| [offset(span.start), offset(span.end)];
            let tokens = TokenOverlap {
                precision: rouge.precision,
                recall: rouge.recall,
                matched: matched
                    .into_iter()
                    .map(|(expected, actual)| MatchedToken {
                        expected: offsets(expected),
                        actual: offsets(actual),
                    })
                    .collect(),
            };
            let mut explanation = Explanation { tokens: Some(tokens), ..Explanation::default() };
            for (text, warning) in [
                (expected, "the expected response has no text, so the score is 0"),
                (actual, "the actual response has no text, so the score is 0"),
            ] {
                if text.is_empty() {
                    explanation.warnings.push(warning.into());
                }
            }
            turn.explanation = Some(Box::new(explanation));
        }
        turn
    }

    fn scored<'a>(&self, rouge: Rouge) -> TurnEvaluation<'a> {
        TurnEvaluation::scored(rouge.fmeasure, self.threshold)
    }
}
