//! `tool_trajectory_f1`: how many expected and actual calls belong together.
//!
//! With M the largest number of one-to-one pairs, the score is 2·M / (E + A): the harmonic mean of precision M
//! / A and recall M / E. Ordered, M is the length of a longest common subsequence; otherwise it is the size of
//! a largest matching, which greedy pairing would miss, because several expected calls may accept the same
//! actual call. Complexity: see [`alignment`](super::alignment).
//!
//! Source: the proposal in google/adk-python#5306.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::alignment::{CallPair, largest_paced};
use super::call::{PreparedCall, Rest};
use super::equal::fingerprint;
use super::matching::{CallEquality, MatchMode};
use crate::foundation::error::Result;
use crate::foundation::pace::{Pace, at_once};
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
    at_once(tool_trajectory_f1_paced(match_mode, ordered, expected, actual, &Pace::unbroken()))
}

/// As [`tool_trajectory_f1`], in slices.
///
/// # Errors
/// As [`tool_trajectory_f1`].
pub async fn tool_trajectory_f1_paced(
    match_mode: MatchMode,
    ordered: bool,
    expected: &[ToolCall<'_>],
    actual: &[ToolCall<'_>],
    pace: &Pace,
) -> Result<F1> {
    let calls = expected.len() + actual.len();
    if calls == 0 {
        return Ok(F1 { score: 1.0, pairs: Vec::new() });
    }
    let (expected, actual) = (PreparedCall::all(expected), PreparedCall::all(actual));
    let pairs = largest_pairs(match_mode.into(), ordered, &expected, &actual, pace).await?;
    Ok(F1 { score: 2.0 * pairs.len() as f64 / calls as f64, pairs })
}

/// Bits for a quick check: an actual call that matches an expected call has all of its bits.
fn marks(equality: CallEquality, call: &PreparedCall<'_, '_>) -> u64 {
    if equality != CallEquality::RequiredArgs {
        return equality.fingerprint(call.source);
    }
    let mark = |text: &str, value: u64| {
        let mut hasher = FxHasher::default();
        hasher.write(text.as_bytes());
        hasher.write_u64(value);
        1 << (hasher.finish() % 64)
    };
    let name = mark(call.name.unwrap_or_default(), 0);
    call.args().iter().fold(name, |marks, (key, value)| marks | mark(key, fingerprint(*value)))
}

/// The largest set of pairs in which the actual call matches the expected one.
pub(super) async fn largest_pairs(
    equality: CallEquality,
    ordered: bool,
    expected: &[PreparedCall<'_, '_>],
    actual: &[PreparedCall<'_, '_>],
    pace: &Pace,
) -> Result<Vec<CallPair>> {
    let holds = |expected: &PreparedCall<'_, '_>, actual: &PreparedCall<'_, '_>| {
        pace.add(expected.bytes.min(actual.bytes));
        equality.holds_between(expected, actual)
    };
    let rest = Rest::new(ordered, (expected, actual), &holds)?;
    // Most pairs differ in their marks, which are made once a call.
    let marked = |calls: &[PreparedCall<'_, '_>]| -> Vec<u64> {
        pace.add(PreparedCall::work(calls));
        calls.iter().map(|call| marks(equality, call)).collect()
    };
    let (wanted, found) = (marked(rest.expected), marked(rest.actual));
    let related = |e: usize, a: usize| {
        let marks = wanted.get(e).zip(found.get(a));
        let calls = rest.expected.get(e).zip(rest.actual.get(a));
        marks.is_some_and(|(wanted, found)| wanted & !found == 0)
            && calls.is_some_and(|(expected, actual)| holds(expected, actual))
    };
    let pairs = largest_paced(ordered, rest.expected.len(), rest.actual.len(), &related, pace).await?;
    Ok(rest.with_prefix(pairs))
}

#[cfg(test)]
mod tests {
    use super::super::equal::tests::compared_in;
    use super::*;
    use crate::foundation::json::Document;

    #[test]
    fn calls_without_a_required_argument_are_not_compared() {
        let call = |at: usize| format!(r#"{{"page":{},"query":"{at:03}{}"}}"#, at % 7, "x".repeat(1_000));
        let json = format!("[{}]", (0..300).map(call).collect::<Vec<_>>().join(","));
        let doc = Document::parse(&*json).unwrap();
        let calls: Vec<_> =
            doc.root().items().map(|args| ToolCall { name: Some("f".into()), args: Some(args) }).collect();
        let turned: Vec<_> = calls.iter().rev().cloned().collect();
        for (ordered, pairs) in [(false, 300), (true, 1)] {
            let compared = compared_in(|| {
                let f1 =
                    tool_trajectory_f1(MatchMode::NameAndRequiredArgs, ordered, &calls, &turned).unwrap();
                assert_eq!(f1.pairs.len(), pairs);
            });
            // Of 90,000 pairs some have the same bit by chance.
            assert!(compared <= 10 * json.len(), "{compared} of {} bytes", json.len());
        }
    }
}
