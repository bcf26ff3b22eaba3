//! `tool_parameter_match`: how many of the expected arguments the agent provided.
//!
//! Each expected call scores the share of its arguments that match, 1.0 if it has none, and 0.0 if no actual
//! call is paired with it. An invocation scores the mean of its expected calls. Calls are paired by the best
//! alignment (see [`alignment`](super::alignment), which also states the complexity).
//!
//! Source: the proposal in google/adk-python#5643.

use std::borrow::Cow;

use super::alignment::{Agreement, CallPair, best_paced, largest_by_name_paced};
use super::call::{Argument, PreparedCall, Rest};
use super::matching::MatchMode;
use super::strategy::Strategies;
use crate::foundation::error::Result;
use crate::foundation::interner::Interner;
use crate::foundation::json::Json;
use crate::foundation::pace::{Pace, at_once};
use crate::model::content::ToolCall;

/// How arguments and calls are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterMatch {
    /// Which alignment is the best. [`MatchMode::NameOnly`]: the one with the most pairs.
    /// [`MatchMode::NameAndRequiredArgs`]: the one with the highest score, then the most pairs that match
    /// completely. [`MatchMode::NameAndArgs`]: likewise, but each argument that only the actual call has counts
    /// as a mismatch. Ties are broken by the smallest indices.
    ///
    /// It does not affect the score of a pair.
    pub match_mode: MatchMode,
    /// Whether calls must come in the expected order.
    pub ordered: bool,
    /// How each argument is compared.
    pub strategies: Strategies,
}

impl Default for ParameterMatch {
    fn default() -> Self {
        Self { match_mode: MatchMode::default(), ordered: true, strategies: Strategies::default() }
    }
}

/// The score of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterScore {
    /// From 0.0 to 1.0.
    pub score: f64,
    /// The paired calls, in the order of the expected calls.
    pub pairs: Vec<CallPair>,
}

/// Scores the calls of an invocation; `None` if no call was expected.
///
/// # Errors
/// `limit_exceeded` for trajectories that are too long to align.
///
/// ```
/// use adk_metrics::foundation::json::Document;
/// use adk_metrics::model::content::ToolCall;
/// use adk_metrics::trajectory::{ParameterMatch, tool_parameter_match};
///
/// let args = Document::parse(r#"[{"city": "Rome", "rooms": 1}, {"city": "Rome", "rooms": 2}]"#)?;
/// let calls: Vec<_> = args.root().items()
///     .map(|args| ToolCall { name: Some("search".into()), args: Some(args), ..Default::default() })
///     .collect();
/// let result = tool_parameter_match(&ParameterMatch::default(), &calls[..1], &calls[1..])?;
/// assert_eq!(result.map(|result| result.score), Some(0.5));
/// # Ok::<(), adk_metrics::foundation::error::Error>(())
/// ```
pub fn tool_parameter_match(
    parameters: &ParameterMatch,
    expected: &[ToolCall<'_>],
    actual: &[ToolCall<'_>],
) -> Result<Option<ParameterScore>> {
    at_once(tool_parameter_match_paced(parameters, expected, actual, &Pace::unbroken()))
}

/// As [`tool_parameter_match`], in slices.
///
/// # Errors
/// As [`tool_parameter_match`].
pub async fn tool_parameter_match_paced(
    parameters: &ParameterMatch,
    expected: &[ToolCall<'_>],
    actual: &[ToolCall<'_>],
    pace: &Pace,
) -> Result<Option<ParameterScore>> {
    if expected.is_empty() {
        return Ok(None);
    }
    let (expected, actual) = (PreparedCall::all(expected), PreparedCall::all(actual));
    let pairs = parameters.align(&expected, &actual, pace).await?;
    // A plain sum from left to right, as google-adk computes means.
    let sum = pairs.iter().fold(0.0, |sum, pair| {
        let calls = expected.get(pair.expected).zip(actual.get(pair.actual));
        sum + calls.map_or(0.0, |(expected, actual)| parameters.call_score(expected, actual))
    });
    Ok(Some(ParameterScore { score: sum / expected.len() as f64, pairs }))
}

impl ParameterMatch {
    async fn align<'c, 'a>(
        &self,
        expected: &[PreparedCall<'c, 'a>],
        actual: &[PreparedCall<'c, 'a>],
        pace: &Pace,
    ) -> Result<Vec<CallPair>> {
        let mut numbers = Interner::default();
        let mut number = |call: &PreparedCall<'c, 'a>| match call.name {
            Some(name) => numbers.intern(Cow::Borrowed(name)) as u32,
            None => u32::MAX,
        };
        let mut names = |calls: &[PreparedCall<'c, 'a>]| calls.iter().map(&mut number).collect::<Vec<u32>>();
        if self.match_mode == MatchMode::NameOnly {
            return largest_by_name_paced(self.ordered, &names(expected), &names(actual), pace).await;
        }
        let whole = |expected: &PreparedCall<'c, 'a>, actual: &PreparedCall<'c, 'a>| {
            pace.add(expected.bytes.min(actual.bytes));
            expected.name == actual.name && self.agreement(expected, actual).is_whole()
        };
        let rest = Rest::new(self.ordered, (expected, actual), &whole)?;
        let agreement = |e: usize, a: usize| {
            let Some((expected, actual)) = rest.expected.get(e).zip(rest.actual.get(a)) else {
                return Agreement { matched: 0, of: 1 };
            };
            pace.add(expected.bytes + actual.bytes);
            self.agreement(expected, actual)
        };
        let (expected, actual) = (names(rest.expected), names(rest.actual));
        let pairs = best_paced(self.ordered, &expected, &actual, &agreement, pace).await?;
        Ok(rest.with_prefix(pairs))
    }

    /// How much two calls agree, for choosing pairs.
    fn agreement(&self, expected: &PreparedCall<'_, '_>, actual: &PreparedCall<'_, '_>) -> Agreement {
        let (mut matched, mut extra) = (0, 0);
        for argument in expected.arguments(actual) {
            match argument {
                Argument::Both { key, expected, actual } if self.argument_matches(key, expected, actual) => {
                    matched += 1;
                }
                Argument::Extra { .. } if self.match_mode == MatchMode::NameAndArgs => extra += 1,
                _ => {}
            }
        }
        Agreement { matched, of: u32::try_from(expected.arg_count()).unwrap_or(u32::MAX) + extra }
    }

    fn call_score(&self, expected: &PreparedCall<'_, '_>, actual: &PreparedCall<'_, '_>) -> f64 {
        if expected.arg_count() == 0 {
            return 1.0;
        }
        let matched = expected.arguments(actual).filter(|argument| match argument {
            Argument::Both { key, expected, actual } => self.argument_matches(key, *expected, *actual),
            Argument::Missing { .. } | Argument::Extra { .. } => false,
        });
        matched.count() as f64 / expected.arg_count() as f64
    }

    /// Whether the actual value of an argument is acceptable.
    pub(super) fn argument_matches(&self, key: &str, expected: Json<'_>, actual: Json<'_>) -> bool {
        self.strategies.for_argument(key).matches(expected, actual)
    }
}
