//! `tool_trajectory_f1`: how many expected and actual calls belong together.
//!
//! With M the largest number of one-to-one pairs, the score is 2·M / (E + A): the harmonic mean of precision M
//! / A and recall M / E. Ordered, M is the length of a longest common subsequence; otherwise it is the size of
//! a largest matching, which greedy pairing would miss, because several expected calls may accept the same
//! actual call. Complexity: see [`alignment`](super::alignment).
//!
//! Source: the proposal in google/adk-python#5306.

use super::alignment::{CallPair, largest};
use super::call::{PreparedCall, align_rest};
use super::matching::{CallEquality, MatchMode};
use crate::foundation::error::Result;
use crate::model::content::ToolCall;

/// The score of an invocation.
#[derive(Clone, Debug, PartialEq)]
pub struct F1 {
    /// From 0.0 to 1.0.
    pub score: f64,
    /// The paired calls, in the order of the expected calls.
    pub pairs: Vec<CallPair>,
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
    let pairs =
        largest_pairs(match_mode.into(), ordered, &PreparedCall::all(expected), &PreparedCall::all(actual))?;
    Ok(F1 { score: 2.0 * pairs.len() as f64 / calls as f64, pairs })
}

/// The largest set of pairs in which the actual call matches the expected one.
pub(super) fn largest_pairs(
    equality: CallEquality,
    ordered: bool,
    expected: &[PreparedCall<'_, '_>],
    actual: &[PreparedCall<'_, '_>],
) -> Result<Vec<CallPair>> {
    let holds = |expected: &PreparedCall<'_, '_>, actual: &PreparedCall<'_, '_>| {
        equality.holds_between(expected, actual)
    };
    align_rest(ordered, (expected, actual), &holds, &mut |expected, actual| {
        // Most pairs differ in their fingerprints, which are made once a call.
        let fingerprints = |calls: &[PreparedCall<'_, '_>]| -> Vec<u64> {
            calls.iter().map(|call| equality.fingerprint(call.source)).collect()
        };
        let (wanted, found) = (fingerprints(expected), fingerprints(actual));
        largest(ordered, expected.len(), actual.len(), |e, a| {
            wanted.get(e) == found.get(a)
                && expected
                    .get(e)
                    .zip(actual.get(a))
                    .is_some_and(|(expected, actual)| holds(expected, actual))
        })
    })
}
