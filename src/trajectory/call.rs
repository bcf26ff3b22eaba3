//! Tool calls prepared for many comparisons.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::iter::Peekable;
use std::slice::Iter;

use super::alignment::CallPair;
use super::equal::{equal, sorted_entries};
use super::matching::CallEquality;
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::Json;
use crate::model::content::ToolCall;

/// The most bytes of names and arguments that aligning two trajectories may compare, each counted once for every call it
/// may be compared with. About a second of work.
pub(super) const MAX_COMPARED_BYTES: usize = 1 << 31;

/// A call whose arguments are sorted by key, so that two calls are compared in one pass over both.
pub(super) struct PreparedCall<'c, 'a> {
    pub(super) source: &'c ToolCall<'a>,
    pub(super) name: Option<&'c str>,
    args: Vec<(Cow<'a, str>, Json<'a>)>,
    /// Of the name and the arguments.
    pub(super) bytes: usize,
}

/// One argument of two calls.
pub(super) enum Argument<'k, 'a> {
    /// Both calls have it.
    Both { key: &'k str, expected: Json<'a>, actual: Json<'a> },
    /// Only the expected call has it.
    Missing { key: &'k str, expected: Json<'a> },
    /// Only the actual call has it.
    Extra { key: &'k str, actual: Json<'a> },
}

impl<'c, 'a> PreparedCall<'c, 'a> {
    /// O(k log k) for k arguments.
    pub(super) fn all(calls: &'c [ToolCall<'a>]) -> Vec<Self> {
        let prepare = |source: &'c ToolCall<'a>| Self {
            source,
            name: source.name.as_deref(),
            args: source.args.map(sorted_entries).unwrap_or_default(),
            bytes: source.name.as_deref().map_or(0, str::len)
                + source.args.map_or(0, |args| args.raw().len()),
        };
        calls.iter().map(prepare).collect()
    }

    /// By key.
    pub(super) fn args(&self) -> &[(Cow<'a, str>, Json<'a>)] {
        &self.args
    }

    pub(super) fn arg_count(&self) -> usize {
        self.args.len()
    }

    /// The arguments of this, the expected, and the actual call, by key.
    pub(super) fn arguments<'k>(&'k self, actual: &'k Self) -> Arguments<'k, 'a> {
        Arguments { expected: self.args.iter().peekable(), actual: actual.args.iter().peekable() }
    }
}

/// The arguments of two calls, by key.
pub(super) struct Arguments<'k, 'a> {
    expected: Peekable<Iter<'k, (Cow<'a, str>, Json<'a>)>>,
    actual: Peekable<Iter<'k, (Cow<'a, str>, Json<'a>)>>,
}

impl<'k, 'a> Iterator for Arguments<'k, 'a> {
    type Item = Argument<'k, 'a>;

    #[inline(never)]
    fn next(&mut self) -> Option<Argument<'k, 'a>> {
        let order = match (self.expected.peek(), self.actual.peek()) {
            (Some((expected, _)), Some((actual, _))) => expected.cmp(actual),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let wanted = if order.is_le() { self.expected.next() } else { None };
        let found = if order.is_ge() { self.actual.next() } else { None };
        match (wanted, found) {
            (Some((key, expected)), Some((_, actual))) => {
                Some(Argument::Both { key, expected: *expected, actual: *actual })
            }
            (Some((key, expected)), None) => Some(Argument::Missing { key, expected: *expected }),
            (None, Some((key, actual))) => Some(Argument::Extra { key, actual: *actual }),
            (None, None) => None,
        }
    }
}

impl CallEquality {
    /// [`CallEquality::holds`] without key lookups.
    pub(super) fn holds_between(
        self,
        expected: &PreparedCall<'_, '_>,
        actual: &PreparedCall<'_, '_>,
    ) -> bool {
        expected.name == actual.name
            && match self {
                Self::Name => true,
                Self::Args => {
                    expected.args.len() == actual.args.len()
                        && expected.source.args.is_some() == actual.source.args.is_some()
                        && expected.args.iter().zip(&actual.args).all(|((a, _), (b, _))| a == b)
                        && expected.args.iter().zip(&actual.args).all(|((_, a), (_, b))| equal(*a, *b))
                }
                Self::RequiredArgs => expected.arguments(actual).all(|argument| match argument {
                    Argument::Both { expected, actual, .. } => equal(expected, actual),
                    Argument::Missing { .. } => false,
                    Argument::Extra { .. } => true,
                }),
                Self::ArgsAsJsText => self.holds(expected.source, actual.source),
            }
    }
}

/// Pairs calls of one side with calls of the other.
type Align<'f, 'c, 'a> =
    &'f mut dyn FnMut(&[PreparedCall<'c, 'a>], &[PreparedCall<'c, 'a>]) -> Result<Vec<CallPair>>;

/// Pairs the common prefix of both trajectories and passes the rest to `align`.
///
/// A call that fully matches the expected one, with nothing unpaired before either, belongs to some best
/// ordered alignment, and to the one with the smallest indices: pairing the two with other calls gains nothing.
/// Without order this holds only if no expected call remains.
///
/// # Errors
/// `limit_exceeded` if the rest is too much to compare; those of `align`.
pub(super) fn align_rest<'c, 'a>(
    ordered: bool,
    (expected, actual): (&[PreparedCall<'c, 'a>], &[PreparedCall<'c, 'a>]),
    whole: &dyn Fn(&PreparedCall<'c, 'a>, &PreparedCall<'c, 'a>) -> bool,
    align: Align<'_, 'c, 'a>,
) -> Result<Vec<CallPair>> {
    let common = expected.iter().zip(actual).take_while(|(expected, actual)| whole(expected, actual)).count();
    let begun = if ordered || common == expected.len() { common } else { 0 };
    let mut pairs: Vec<CallPair> = (0..begun).map(|at| CallPair { expected: at, actual: at }).collect();
    let expected = expected.get(begun..).unwrap_or_default();
    let actual = actual.get(begun..).unwrap_or_default();
    if expected.is_empty() || actual.is_empty() {
        return Ok(pairs);
    }
    refuse_too_much_to_compare(expected, actual)?;
    let rest = align(expected, actual)?;
    pairs.extend(
        rest.iter().map(|pair| CallPair { expected: pair.expected + begun, actual: pair.actual + begun }),
    );
    Ok(pairs)
}

fn refuse_too_much_to_compare(
    expected: &[PreparedCall<'_, '_>],
    actual: &[PreparedCall<'_, '_>],
) -> Result<()> {
    let bytes =
        |calls: &[PreparedCall<'_, '_>]| calls.iter().map(|call| call.bytes).fold(0, usize::saturating_add);
    let work = (bytes(expected).saturating_mul(actual.len()))
        .saturating_add(bytes(actual).saturating_mul(expected.len()));
    if work <= MAX_COMPARED_BYTES {
        return Ok(());
    }
    let message = format!(
        "aligning {} expected with {} actual tool calls would compare {work} bytes of names and arguments; at most {MAX_COMPARED_BYTES} are",
        expected.len(),
        actual.len()
    );
    Err(Error::new(ErrorCode::LimitExceeded, message)
        .with_help("Split the invocation, or shorten the arguments"))
}
