//! Explains two trajectories to a user: which calls were made, which were not, and what differs.
//!
//! The displayed alignment is the largest one of matching calls. The remaining calls are explained in this
//! order: the same call at another position has moved; a call of the same name between the same neighbours has
//! other arguments; the rest is missing or extra.
//!
//! Complexity: that of [`largest`](super::alignment::largest), plus O(E · A) steps, in which so many bytes of the
//! remaining calls are compared. Trajectories beyond its limits are compared call by call, in O(n).

use super::alignment::CallPair;
use super::argument_difference::{argument_differences, parameter_differences};
use super::call::{Argument, PreparedCall};
use super::equal::{equal, survives_as_double};
use super::f1::largest_pairs;
use super::matching::CallEquality;
use super::parameter_match::ParameterMatch;
use crate::foundation::json::{Json, JsonKind};
use crate::foundation::pace::{Pace, at_once};
use crate::foundation::write::{Write, Writer, json_object};
use crate::model::content::ToolCall;

pub use super::argument_difference::MAX_DIFFERENCES;

/// The most bytes of arguments that are compared to find the most similar calls of two trajectories. Where there are more, a
/// call is explained by the first one of its name instead.
const MAX_SIMILAR_BYTES: usize = 1 << 22;

/// The most bytes of calls with the same fingerprint that are compared to find those that have moved. Further ones are not
/// said to have moved.
const MAX_MOVED_BYTES: usize = 1 << 25;

/// How a call compares with the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub enum AlignmentKind {
    /// The actual call is what was expected.
    Match,
    /// The tool was called, with other arguments.
    Arguments,
    /// The expected call was not made.
    Missing,
    /// The actual call was not expected.
    Extra,
    /// The expected call was made, in another order.
    Moved,
}

json_object! {
    /// An expected call, an actual call, or a pair of both, in an explained trajectory.
    #[derive(Clone, Debug, PartialEq)]
    pub struct AlignmentEntry<'a> {
        /// How the call compares with the other side.
        pub kind: AlignmentKind = "kind",
        /// The index of the expected call; absent for an extra call.
        pub expected_index: Option<u32> = "expectedIndex",
        /// The index of the actual call; absent for a missing call.
        pub actual_index: Option<u32> = "actualIndex",
        /// Where the arguments differ; at most 64 differences.
        #[cfg_attr(feature = "schema", schemars(default, skip_serializing_if = "Vec::is_empty"))]
        pub differences: Vec<Difference<'a>> = "differences" if_any,
    }
}

json_object! {
    /// A difference between the arguments of two calls.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Difference<'a> {
        /// Its path, such as `filters.price[0]` or `["a key"].b`; empty for the arguments as a whole.
        pub path: String = "path",
        /// The expected value; absent if none was expected.
        pub expected: Option<DisplayJson<'a>> = "expected",
        /// The actual value; absent if there is none.
        pub actual: Option<DisplayJson<'a>> = "actual",
    }
}

/// A JSON value as it is shown to users: numbers that a double cannot hold, such as
/// 9007199254740993 or 1e400, are texts of their digits, so that JavaScript shows them as they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisplayJson<'a>(pub Json<'a>);

impl Write for DisplayJson<'_> {
    fn write(&self, out: &mut Writer) {
        let value = self.0;
        match value.kind() {
            JsonKind::Null | JsonKind::True | JsonKind::False => out.raw(value.raw()),
            JsonKind::PlainString | JsonKind::EscapedString => {
                value.as_str().unwrap_or_default().write(out);
            }
            JsonKind::Number => {
                /// Integers beyond it go out as doubles, since not every reader takes 64 bits.
                const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
                let number = value.raw();
                match number.parse::<i64>() {
                    Ok(integer) if integer.unsigned_abs() <= MAX_SAFE_INTEGER => integer.write(out),
                    _ if survives_as_double(number) => value.as_f64().unwrap_or_default().write(out),
                    _ => number.write(out),
                }
            }
            JsonKind::Array => value.items().map(Self).collect::<Vec<_>>().write(out),
            JsonKind::Object => {
                let mut object = out.object();
                value.entries().for_each(|(key, value)| object.entry(&key, &Self(value)));
                object.end();
            }
        }
    }
}

impl Write for AlignmentKind {
    fn write(&self, out: &mut Writer) {
        let name = match self {
            Self::Match => "match",
            Self::Arguments => "arguments",
            Self::Missing => "missing",
            Self::Extra => "extra",
            Self::Moved => "moved",
        };
        name.write(out);
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for DisplayJson<'_> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DisplayJson".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Any JSON value; a number that a double cannot hold is a string of its digits."
        })
    }
}

/// Explains two trajectories, for metrics that ask whether calls are what was expected.
///
/// The entries come in reading order: by expected call, extra calls where they happened. The number
/// of [`AlignmentKind::Match`] entries is the number of pairs of [`tool_trajectory_f1`](super::tool_trajectory_f1).
/// With `ordered`, calls at another place are [`AlignmentKind::Moved`]; otherwise they match.
///
/// ```
/// use adk_metrics::foundation::{json::Document, write::{Spelling, to_json}};
/// use adk_metrics::model::content::ToolCall;
/// use adk_metrics::trajectory::{CallEquality, difference::explain};
///
/// let args = Document::parse(r#"[{"maxLength": 200}, {"maxLength": 100}]"#)?;
/// let calls: Vec<_> = args.root().items()
///     .map(|args| ToolCall { name: Some("summarize".into()), args: Some(args), ..Default::default() })
///     .collect();
/// let entries = explain(&calls[..1], &calls[1..], CallEquality::Args, true);
/// assert_eq!(
///     to_json(&entries[0], Spelling::Camel),
///     r#"{"kind":"arguments","expectedIndex":0,"actualIndex":0,"differences":[{"path":"maxLength","expected":200,"actual":100}]}"#
/// );
/// # Ok::<(), adk_metrics::foundation::error::Error>(())
/// ```
#[must_use]
pub fn explain<'a>(
    expected: &[ToolCall<'a>],
    actual: &[ToolCall<'a>],
    equality: CallEquality,
    ordered: bool,
) -> Vec<AlignmentEntry<'a>> {
    at_once(explain_paced(expected, actual, equality, ordered, None, &Pace::unbroken()))
}

/// As [`explain`], in slices. `pairs` are those that [`tool_trajectory_f1`](super::tool_trajectory_f1) found, if it was
/// called.
pub async fn explain_paced<'a>(
    expected: &[ToolCall<'a>],
    actual: &[ToolCall<'a>],
    equality: CallEquality,
    ordered: bool,
    pairs: Option<Vec<CallPair>>,
    pace: &Pace,
) -> Vec<AlignmentEntry<'a>> {
    let (expected, actual) = (PreparedCall::all(expected), PreparedCall::all(actual));
    pace.count(PreparedCall::work(&expected) + PreparedCall::work(&actual)).await;
    let mut draft = AlignmentDraft::new(&expected, &actual);
    let pairs = match pairs {
        Some(pairs) => Ok(pairs),
        None => largest_pairs(equality, ordered, &expected, &actual, pace).await,
    };
    match pairs {
        Ok(pairs) => {
            pairs.iter().for_each(|pair| draft.pair(AlignmentKind::Match, *pair));
            if ordered {
                draft.pair_moved(equality, pace).await;
            }
            if equality != CallEquality::Name {
                draft.pair_within_gaps(if ordered { &pairs } else { &[] }, pace).await;
            }
        }
        Err(_) => draft.pair_call_by_call(equality),
    }
    draft.entries(&|expected, actual| argument_differences(expected, actual, equality), pace).await
}

/// Explains the score of an invocation, given the pairs it was made of. O(n).
///
/// A pair is a [`AlignmentKind::Match`] if every expected argument matches; the differences are the expected
/// arguments that do not.
pub async fn explain_parameters<'a>(
    parameters: &ParameterMatch,
    expected: &[ToolCall<'a>],
    actual: &[ToolCall<'a>],
    pairs: &[CallPair],
    pace: &Pace,
) -> Vec<AlignmentEntry<'a>> {
    let (expected, actual) = (PreparedCall::all(expected), PreparedCall::all(actual));
    let differences = |expected: &PreparedCall<'_, 'a>, actual: &PreparedCall<'_, 'a>| {
        parameter_differences(parameters, expected, actual)
    };
    let mut draft = AlignmentDraft::new(&expected, &actual);
    for pair in pairs {
        let calls = expected.get(pair.expected).zip(actual.get(pair.actual));
        let whole = calls.is_some_and(|(expected, actual)| differences(expected, actual).is_empty());
        draft.pair(if whole { AlignmentKind::Match } else { AlignmentKind::Arguments }, *pair);
        pace.count(calls.map_or(0, |(expected, actual)| expected.bytes + actual.bytes)).await;
    }
    draft.entries(&differences, pace).await
}

/// An alignment under construction.
struct AlignmentDraft<'d, 'c, 'a> {
    expected: &'d [PreparedCall<'c, 'a>],
    actual: &'d [PreparedCall<'c, 'a>],
    /// For each expected call, its actual call.
    partners: Vec<Option<(AlignmentKind, usize)>>,
    /// For each actual call, whether it is paired.
    taken: Vec<bool>,
}

impl<'d, 'c, 'a> AlignmentDraft<'d, 'c, 'a> {
    fn new(expected: &'d [PreparedCall<'c, 'a>], actual: &'d [PreparedCall<'c, 'a>]) -> Self {
        Self { expected, actual, partners: vec![None; expected.len()], taken: vec![false; actual.len()] }
    }

    fn pair(&mut self, kind: AlignmentKind, pair: CallPair) {
        if let (Some(partner), Some(taken)) =
            (self.partners.get_mut(pair.expected), self.taken.get_mut(pair.actual))
        {
            *partner = Some((kind, pair.actual));
            *taken = true;
        }
    }

    fn open_expected(&self) -> Vec<(usize, &'d PreparedCall<'c, 'a>)> {
        let calls = self.expected.iter().enumerate().zip(&self.partners);
        calls.filter(|(_, partner)| partner.is_none()).map(|(call, _)| call).collect()
    }

    fn open_actual(&self) -> impl Iterator<Item = (usize, &'d PreparedCall<'c, 'a>)> {
        let calls = self.actual.iter().enumerate().zip(&self.taken);
        calls.filter(|(_, taken)| !**taken).map(|(call, _)| call)
    }

    /// Pairs each expected call with the actual call at the same position.
    fn pair_call_by_call(&mut self, equality: CallEquality) {
        for (at, (expected, actual)) in self.expected.iter().zip(self.actual).enumerate() {
            let pair = CallPair { expected: at, actual: at };
            if equality.holds_between(expected, actual) {
                self.pair(AlignmentKind::Match, pair);
            } else if expected.name == actual.name {
                self.pair(AlignmentKind::Arguments, pair);
            }
        }
    }

    /// Pairs each unpaired expected call with the first unpaired call that is equal, at any position.
    async fn pair_moved(&mut self, equality: CallEquality, pace: &Pace) {
        let mut compared = 0;
        let print = |call: &PreparedCall<'c, 'a>| equality.fingerprint(call.source);
        let mut open: Vec<_> = self.open_actual().map(|(a, actual)| (print(actual), a, actual)).collect();
        for (e, expected) in self.open_expected() {
            let (wanted, before) = (print(expected), compared);
            let found = open.iter().position(|(print, _, actual)| {
                if *print != wanted || compared > MAX_MOVED_BYTES {
                    return false;
                }
                compared += expected.bytes.max(actual.bytes);
                equality.holds_between(expected, actual)
            });
            if let Some(at) = found {
                let (_, a, _) = open.remove(at);
                self.pair(AlignmentKind::Moved, CallPair { expected: e, actual: a });
            }
            pace.count(open.len() + expected.bytes + compared - before).await;
        }
    }

    /// Pairs calls of the same name between two consecutive `anchors`, the most similar first.
    async fn pair_within_gaps(&mut self, anchors: &[CallPair], pace: &Pace) {
        let mut compared = 0;
        let mut open: Vec<_> = self.open_actual().collect();
        for (e, expected) in self.open_expected() {
            let compared_before = compared;
            let before = anchors.partition_point(|anchor| anchor.expected < e);
            let from = before.checked_sub(1).and_then(|at| anchors.get(at)).map_or(0, |a| a.actual + 1);
            let until = anchors.get(before).map_or(usize::MAX, |anchor| anchor.actual);
            let first = open.partition_point(|(a, _)| *a < from);
            // Among equally similar calls, the first one.
            let mut most_similar = None;
            for (at, (a, actual)) in open.iter().enumerate().skip(first) {
                if *a >= until || (most_similar.is_some() && compared > MAX_SIMILAR_BYTES) {
                    break;
                }
                if actual.name == expected.name {
                    compared += expected.bytes.max(actual.bytes);
                    let similarity = similarity(expected, actual);
                    if most_similar.is_none_or(|(most, _)| similarity > most) {
                        most_similar = Some((similarity, at));
                    }
                }
            }
            if let Some((_, at)) = most_similar {
                let (a, _) = open.remove(at);
                self.pair(AlignmentKind::Arguments, CallPair { expected: e, actual: a });
            }
            pace.count(open.len() + compared - compared_before).await;
        }
    }

    /// The entries in reading order.
    async fn entries(
        &self,
        differences: &dyn Fn(&PreparedCall<'c, 'a>, &PreparedCall<'c, 'a>) -> Vec<Difference<'a>>,
        pace: &Pace,
    ) -> Vec<AlignmentEntry<'a>> {
        let index = |at: usize| u32::try_from(at).ok();
        let mut extras = self.open_actual().map(|(a, _)| a).peekable();
        let mut entries = Vec::with_capacity(self.expected.len());
        let extra = |a| AlignmentEntry {
            kind: AlignmentKind::Extra,
            expected_index: None,
            actual_index: index(a),
            differences: Vec::new(),
        };
        for (e, (expected, partner)) in self.expected.iter().zip(&self.partners).enumerate() {
            let (kind, actual) = partner.map_or((AlignmentKind::Missing, None), |(kind, a)| (kind, Some(a)));
            // A moved call says nothing about the positions of its neighbours.
            if let (AlignmentKind::Match | AlignmentKind::Arguments, Some(a)) = (kind, actual) {
                while let Some(before) = extras.next_if(|extra| *extra < a) {
                    entries.push(extra(before));
                }
            }
            let other = actual.and_then(|a| self.actual.get(a)).filter(|_| kind == AlignmentKind::Arguments);
            entries.push(AlignmentEntry {
                kind,
                expected_index: index(e),
                actual_index: actual.and_then(index),
                differences: other.map(|actual| differences(expected, actual)).unwrap_or_default(),
            });
            pace.count(other.map_or(0, |actual| expected.bytes + actual.bytes)).await;
        }
        entries.extend(extras.map(extra));
        entries
    }
}

/// How many arguments two calls share.
fn similarity(expected: &PreparedCall<'_, '_>, actual: &PreparedCall<'_, '_>) -> usize {
    let shared = expected.arguments(actual).filter(|argument| match argument {
        Argument::Both { expected, actual, .. } => equal(*expected, *actual),
        Argument::Missing { .. } | Argument::Extra { .. } => false,
    });
    shared.count()
}

#[cfg(test)]
mod tests;
