//! `tool_trajectory_f1`: how many of the calls expected and made belong together.
//!
//! With M the largest number of one-to-one pairs, the score is 2·M / (E + A): the harmonic mean of
//! precision M / A and recall M / E. Ordered, M is the length of a longest common subsequence;
//! otherwise the size of a largest matching, which greedy pairing would miss: what one expected call
//! requires another may require too, and more. Complexity: see [`alignment`](super::alignment).
//!
//! Source: the proposal in google/adk-python#5306.

use super::alignment::{Pair, largest};
use super::call::{Call, align_rest};
use super::matching::{CallEquality, MatchMode};
use crate::foundation::error::Result;
use crate::model::content::ToolCall;

/// The score of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct F1 {
    /// From 0.0 to 1.0.
    pub score: f64,
    /// Which actual call stands for which expected call, in the order of the expected calls.
    pub pairs: Vec<Pair>,
}

/// Scores the calls of an invocation; 1.0 if none was expected and none made.
///
/// # Errors
/// `limit_exceeded` for trajectories that are too long to align.
///
/// ```
/// use adk_metrics::model::content::ToolCall;
/// use adk_metrics::trajectory::{MatchMode, tool_trajectory_f1};
///
/// let call = |name: &'static str| ToolCall { name: Some(name.into()), ..Default::default() };
/// let expected = [call("search_web"), call("summarize")];
/// let result = tool_trajectory_f1(MatchMode::NameOnly, true, &expected, &[call("search_web")])?;
/// assert_eq!(result.score, 2.0 / 3.0);
/// # Ok::<(), adk_metrics::foundation::error::Error>(())
/// ```
pub fn tool_trajectory_f1(
    match_mode: MatchMode,
    ordered: bool,
    expected: &[ToolCall<'_>],
    actual: &[ToolCall<'_>],
) -> Result<F1> {
    let calls = expected.len() + actual.len();
    if calls == 0 {
        return Ok(F1 { score: 1.0, pairs: Vec::new() });
    }
    let pairs = largest_pairs(match_mode.into(), ordered, &Call::all(expected), &Call::all(actual))?;
    Ok(F1 { score: 2.0 * pairs.len() as f64 / calls as f64, pairs })
}

/// The most pairs of calls of which the actual one is what was expected.
pub(super) fn largest_pairs(
    equality: CallEquality,
    ordered: bool,
    expected: &[Call<'_, '_>],
    actual: &[Call<'_, '_>],
) -> Result<Vec<Pair>> {
    let holds = |expected: &Call<'_, '_>, actual: &Call<'_, '_>| equality.holds_between(expected, actual);
    align_rest(ordered, (expected, actual), &holds, &mut |expected, actual| {
        largest(ordered, expected.len(), actual.len(), |e, a| {
            expected.get(e).zip(actual.get(a)).is_some_and(|(expected, actual)| holds(expected, actual))
        })
    })
}
