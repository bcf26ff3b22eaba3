//! `tool_trajectory_avg_score`: whether the actual calls match the expected calls.
//!
//! EXACT and IN_ORDER take O(E + A) comparisons. ANY_ORDER takes O(E · A) for short trajectories. Longer ones
//! are first grouped by a hash, O((E + A) log (E + A)), plus the comparisons among calls with the same hash, of
//! which the first succeeds unless hashes collide. More than `MAX_COLLISIONS` comparisons are an error.
//!
//! IN_ORDER and ANY_ORDER process the calls greedily, as google-adk does. For IN_ORDER this is correct for any
//! equality: a subsequence can always be shifted to its first possible position. For ANY_ORDER it is correct
//! because [`equal`](fn@equal) is an equivalence relation: actual calls that match the same expected call match
//! each other, so it does not matter which one is taken. [`CallEquality::RequiredArgs`] is not an equivalence
//! relation, so ANY_ORDER may miss an existing match with it; its metric aligns calls instead (see
//! [`f1`](super::f1)).
//!
//! Source: google-adk, `TrajectoryEvaluator`.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::alignment::too_many;
use super::equal::{args_equal_as_js_text, equal, fingerprint};
use crate::foundation::error::Result;
use crate::foundation::json::Json;
use crate::foundation::pace::{Pace, at_once};
use crate::foundation::sort::sort;
use crate::model::content::ToolCall;

/// The most comparisons of unequal calls with the same hash when calls match in any order, where each `COLLISION_BYTES` count
/// as another one.
pub const MAX_COLLISIONS: usize = 1 << 18;
const COLLISION_BYTES: usize = 1 << 10;

/// How closely the actual calls must follow the expected calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchType {
    /// The same calls in the same order and no others.
    #[default]
    Exact,
    /// The expected calls in order, with others allowed in between.
    InOrder,
    /// The expected calls in any order, with others allowed; each actual call counts for one of them.
    AnyOrder,
}

/// What two calls of the same name must have in common, for the metrics that align calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchMode {
    /// Nothing more.
    NameOnly,
    /// All arguments.
    NameAndArgs,
    /// The expected arguments; the actual call may have more.
    #[default]
    NameAndRequiredArgs,
}

/// When an actual call equals an expected call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallEquality {
    /// The names are the same.
    Name,
    /// The names are the same and the arguments are [`equal`](fn@equal), where absent arguments
    /// are not an empty object.
    #[default]
    Args,
    /// The names are the same and every expected argument is there with an equal value.
    RequiredArgs,
    /// The names are the same and the arguments print alike in JavaScript
    /// (see [`args_equal_as_js_text`]).
    ArgsAsJsText,
}

impl From<MatchMode> for CallEquality {
    fn from(mode: MatchMode) -> Self {
        match mode {
            MatchMode::NameOnly => Self::Name,
            MatchMode::NameAndArgs => Self::Args,
            MatchMode::NameAndRequiredArgs => Self::RequiredArgs,
        }
    }
}

impl CallEquality {
    /// Whether `actual` equals `expected`. Ids are never compared.
    #[must_use]
    pub fn holds(self, expected: &ToolCall<'_>, actual: &ToolCall<'_>) -> bool {
        expected.name == actual.name
            && match self {
                Self::Name => true,
                Self::Args => match (expected.args, actual.args) {
                    (Some(expected), Some(actual)) => equal(expected, actual),
                    (expected, actual) => expected.is_none() && actual.is_none(),
                },
                Self::RequiredArgs => expected.args.unwrap_or(Json::NULL).entries().all(|(key, value)| {
                    actual.args.and_then(|args| args.get(&key)).is_some_and(|other| equal(value, other))
                }),
                Self::ArgsAsJsText => args_equal_as_js_text(expected.args, actual.args),
            }
    }

    /// A hash that is equal for any two calls that are equal under this relation.
    pub(super) fn fingerprint(self, call: &ToolCall<'_>) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(call.name.as_deref().unwrap_or_default().as_bytes());
        if let (Self::Args | Self::ArgsAsJsText, Some(args)) = (self, call.args)
            && args.entries().next().is_some()
        {
            hasher.write_u64(fingerprint(args));
        }
        hasher.finish()
    }
}

/// Whether the `actual` calls match the `expected` ones.
///
/// Nothing expected is matched by anything with [`MatchType::InOrder`] and [`MatchType::AnyOrder`],
/// and by nothing called with [`MatchType::Exact`].
///
/// ```
/// use adk_metrics::model::content::ToolCall;
/// use adk_metrics::trajectory::{CallEquality, MatchType, matches};
///
/// let call = |name: &'static str| ToolCall { name: Some(name.into()), ..Default::default() };
/// let expected = [call("search_web"), call("summarize")];
/// let actual = [call("search_web"), call("translate"), call("summarize")];
/// assert!(!matches(MatchType::Exact, CallEquality::Args, &expected, &actual)?);
/// assert!(matches(MatchType::InOrder, CallEquality::Args, &expected, &actual)?);
/// # Ok::<(), adk_metrics::foundation::error::Error>(())
/// ```
///
/// # Errors
/// `limit_exceeded` for [`MatchType::AnyOrder`] if more than [`MAX_COLLISIONS`] different calls with the same fingerprint
/// would have to be compared.
pub fn matches(
    match_type: MatchType,
    equality: CallEquality,
    expected: &[ToolCall<'_>],
    actual: &[ToolCall<'_>],
) -> Result<bool> {
    at_once(matches_paced(match_type, equality, expected, actual, &Pace::unbroken()))
}

/// As [`matches()`], in slices.
///
/// # Errors
/// As [`matches()`].
pub async fn matches_paced(
    match_type: MatchType,
    equality: CallEquality,
    expected: &[ToolCall<'_>],
    actual: &[ToolCall<'_>],
    pace: &Pace,
) -> Result<bool> {
    Ok(match match_type {
        MatchType::Exact => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(expected, actual)| equality.holds(expected, actual))
        }
        MatchType::InOrder => {
            let mut actual = actual.iter();
            expected.iter().all(|expected| actual.any(|actual| equality.holds(expected, actual)))
        }
        MatchType::AnyOrder => {
            expected.len() <= actual.len() && matches_any_order(equality, expected, actual, pace).await?
        }
    })
}

async fn matches_any_order(
    equality: CallEquality,
    expected: &[ToolCall<'_>],
    actual: &[ToolCall<'_>],
    pace: &Pace,
) -> Result<bool> {
    /// Up to this many pairs, comparing is cheaper than hashing.
    const FEW_PAIRS: usize = 1024;
    if expected.len().saturating_mul(actual.len()) <= FEW_PAIRS {
        let (expected, actual) = (expected.iter().collect(), actual.iter().collect());
        return takes_each(equality, expected, actual, &mut { usize::MAX }, pace).await;
    }
    let mut left = MAX_COLLISIONS;
    let (expected, actual) = (by_fingerprint(equality, expected), by_fingerprint(equality, actual));
    for wanted in expected.chunk_by(|(a, _), (b, _)| a == b) {
        let Some((hash, _)) = wanted.first() else { continue };
        let from = actual.partition_point(|(other, _)| other < hash);
        let candidates = actual.iter().skip(from).take_while(|(other, _)| other == hash);
        let wanted = wanted.iter().map(|(_, call)| *call).collect();
        let candidates = candidates.map(|(_, call)| *call).collect();
        if !takes_each(equality, wanted, candidates, &mut left, pace).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether every expected call finds a candidate of its own within the allowed number of comparisons.
async fn takes_each<'c, 'a: 'c>(
    equality: CallEquality,
    expected: Vec<&'c ToolCall<'a>>,
    mut candidates: Vec<&'c ToolCall<'a>>,
    left: &mut usize,
    pace: &Pace,
) -> Result<bool> {
    let (wanted, given) = (expected.len(), candidates.len());
    for expected in expected {
        let mut at = 0;
        loop {
            let Some(actual) = candidates.get(at) else { return Ok(false) };
            let bytes = bytes(expected).max(bytes(actual));
            pace.count(bytes).await;
            if equality.holds(expected, actual) {
                candidates.swap_remove(at);
                break;
            }
            at += 1;
            let Some(rest) = left.checked_sub(1 + bytes / COLLISION_BYTES) else {
                return Err(too_many(wanted, given, "that look alike"));
            };
            *left = rest;
        }
    }
    Ok(true)
}

fn bytes(call: &ToolCall<'_>) -> usize {
    call.args.map_or(0, |args| args.raw().len())
}

fn by_fingerprint<'c, 'a>(equality: CallEquality, calls: &'c [ToolCall<'a>]) -> Vec<(u64, &'c ToolCall<'a>)> {
    let mut calls: Vec<_> = calls.iter().map(|call| (equality.fingerprint(call), call)).collect();
    sort(&mut calls, |(a, _), (b, _)| a.cmp(b));
    calls
}

#[cfg(test)]
mod tests {
    use super::super::equal::tests::compared_in;
    use super::*;
    use crate::foundation::json::Document;

    #[test]
    fn large_calls_that_look_alike_are_compared_up_to_a_limit() {
        // All of these integers have the same nearest double, hence the calls the same fingerprint.
        let call =
            |at: usize| format!(r#"{{"a":"{}","n":1000000000000000000000{at:03}}}"#, "x".repeat(1 << 15));
        let doc = Document::parse(format!("[{}]", (0..240).map(call).collect::<Vec<_>>().join(","))).unwrap();
        let calls: Vec<_> =
            doc.root().items().map(|args| ToolCall { name: Some("f".into()), args: Some(args) }).collect();
        let turned: Vec<_> = calls.iter().rev().cloned().collect();
        let compared = compared_in(|| {
            assert!(matches(MatchType::AnyOrder, CallEquality::Args, &calls, &turned).is_err());
        });
        assert!(compared <= 3 * MAX_COLLISIONS * COLLISION_BYTES, "{compared} bytes");
    }
}
