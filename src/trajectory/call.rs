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

/// The work for a call besides its bytes.
const WORK_OF_CALL: usize = 64;

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

    /// How much work it is to read calls once.
    pub(super) fn work(calls: &[Self]) -> usize {
        calls.iter().map(|call| call.bytes + WORK_OF_CALL).sum()
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

/// Two trajectories without their common prefix.
pub(super) struct Rest<'p, 'c, 'a> {
    prefix: usize,
    pub(super) expected: &'p [PreparedCall<'c, 'a>],
    pub(super) actual: &'p [PreparedCall<'c, 'a>],
}

impl<'p, 'c, 'a> Rest<'p, 'c, 'a> {
    /// Splits off the common prefix.
    ///
    /// A call that fully matches the expected one, with nothing unpaired before either, belongs to some best
    /// ordered alignment, and to the one with the smallest indices: pairing the two with other calls gains nothing.
    /// Without order this holds only if no expected call remains.
    ///
    /// # Errors
    /// `limit_exceeded` if the rest is too much to compare.
    pub(super) fn new(
        ordered: bool,
        (expected, actual): (&'p [PreparedCall<'c, 'a>], &'p [PreparedCall<'c, 'a>]),
        whole: &dyn Fn(&PreparedCall<'c, 'a>, &PreparedCall<'c, 'a>) -> bool,
    ) -> Result<Self> {
        let pairs = expected.iter().zip(actual);
        let common = pairs.take_while(|(expected, actual)| whole(expected, actual)).count();
        let prefix = if ordered || common == expected.len() { common } else { 0 };
        let expected = expected.get(prefix..).unwrap_or_default();
        let actual = actual.get(prefix..).unwrap_or_default();
        refuse_too_much_to_compare(expected, actual)?;
        Ok(Self { prefix, expected, actual })
    }

    /// The pairs of both trajectories, given those of the rest.
    pub(super) fn with_prefix(&self, rest: Vec<CallPair>) -> Vec<CallPair> {
        let prefix = self.prefix;
        let mut pairs: Vec<CallPair> = (0..prefix).map(|at| CallPair { expected: at, actual: at }).collect();
        let shifted =
            |pair: &CallPair| CallPair { expected: pair.expected + prefix, actual: pair.actual + prefix };
        pairs.extend(rest.iter().map(shifted));
        pairs
    }
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
