//! `response_match_score`: the ROUGE-1 F-measure of the actual and the expected final response: how many words
//! of the expected one it has, and how few others. Range 0 to 1. Requires a reference.
//!
//! [`crate::text`] defines tokens and formula. A missing or empty text on either side scores 0. The
//! conversation's score is the mean of its turns. In the `adk-ts` dialect, turns are paired by position and
//! expected turns without an actual one are ignored.
//!
//! Complexity: O(n) in the length of the texts.

use std::borrow::Cow;
use std::rc::Rc;

use super::{
    Case, Dialect, Evaluation, Explain, Explanation, ExtraTurns, MatchedToken, Metric, MetricInfo, NO_TURNS,
    Scoring, SlicedTurn, TokenOverlap, TurnEvaluation, TurnPair, comparable, in_slices,
};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::pace::{Pace, at_once};
use crate::model::config::MetricConfig;
use crate::model::invocation::FINAL_TEXT;
use crate::text::{Rouge, Scorer, Span};

/// Texts of at least this many bytes are compared in slices.
const LARGE: usize = 1 << 16;

/// The longest text that is compared, in bytes: as long as a prompt or a reply of a judge can be.
const MAX_TEXT: usize = 1 << 22;

/// The most words of a turn that an explanation shows.
const MAX_MATCHED: usize = 1 << 15;

/// The final responses of a turn.
struct Texts<'a> {
    expected: Cow<'a, str>,
    actual: Cow<'a, str>,
}

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
        let texts = self.texts(case, pair)?;
        Ok(at_once(self.compare(&texts, scoring.explain, &mut scoring.scorer, &Pace::unbroken())))
    }

    /// With a tokenizer of its own, since the one of the run is used by others in between: how many words it knows is no
    /// matter for a large text.
    fn turn_in_slices<'a>(
        self: Rc<Self>,
        case: Case<'a>,
        pair: TurnPair<'a>,
        scoring: &Scoring,
    ) -> Option<SlicedTurn<'a>> {
        if pair.size() < LARGE {
            return None;
        }
        let texts = self
            .texts(&case, pair)
            .ok()
            .filter(|texts| texts.expected.len() + texts.actual.len() >= LARGE)?;
        let Scoring { dialect, explain, .. } = *scoring;
        Some(Box::pin(async move {
            Ok(self.compare(&texts, explain, &mut Scorer::new(dialect), &in_slices()).await)
        }))
    }

    fn conclude<'a>(&self, _: &Case<'a>, turns: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
        Evaluation::mean(turns, self.threshold, NO_TURNS)
    }
}

impl ResponseMatchScore {
    /// The final responses of a turn.
    ///
    /// # Errors
    /// `limit_exceeded` if one of them is longer than [`MAX_TEXT`].
    fn texts<'a>(&self, case: &Case<'a>, pair: TurnPair<'a>) -> Result<Texts<'a>> {
        let (actual, expected) = pair.both(&self.name, case)?;
        let texts = Texts { expected: expected.final_text(), actual: actual.final_text() };
        let longest = texts.expected.len().max(texts.actual.len());
        if longest > MAX_TEXT {
            let message = format!("a final response has {longest} bytes; at most {MAX_TEXT} are compared");
            return Err(Error::new(ErrorCode::LimitExceeded, message).with_help("Leave this metric out"));
        }
        Ok(texts)
    }

    async fn compare<'a>(
        &self,
        Texts { expected, actual }: &Texts<'_>,
        explain: Explain,
        scorer: &mut Scorer,
        pace: &Pace,
    ) -> TurnEvaluation<'a> {
        let (rouge, matched) = if explain == Explain::None {
            (scorer.rouge1_paced(expected, actual, pace).await, None)
        } else {
            let wanted = |rouge| explain.wants(self.scored(rouge).status);
            scorer.overlap_paced(expected, actual, pace, wanted).await
        };
        let mut turn = self.scored(rouge);
        if let Some(mut matched) = matched {
            let all = matched.len();
            matched.truncate(MAX_MATCHED);
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
            if all > MAX_MATCHED {
                let warning =
                    format!("of {all} words that both responses have, the first {MAX_MATCHED} are shown");
                explanation.warnings.push(warning.into());
            }
            for (text, side) in [(expected, "expected"), (actual, "actual")] {
                // What has words shares them with itself.
                if rouge.fmeasure == 0.0 && scorer.rouge1_paced(text, text, pace).await.fmeasure == 0.0 {
                    let what = if text.is_empty() { "text" } else { "words" };
                    let warning = ["the ", side, " response has no ", what, ", so the score is 0"].concat();
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
