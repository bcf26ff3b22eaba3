//! Alignments: the best one-to-one pairing of expected and actual calls.
//!
//! [`largest`] makes the most pairs, [`best`] the most valuable ones. With `ordered`, pairs do not cross;
//! otherwise any pairs are allowed. Among equally good alignments, both ordered algorithms and the unordered
//! one of [`best`] return the one with the **smallest indices**: the first expected call gets the first actual
//! call that it has in any of them (being unpaired comes last), then the second, and so on.
//!
//! | | time | space | method |
//! |---|---|---|---|
//! | ordered | O(E · A) | E · A bytes | dynamic programming over suffixes, after Needleman and Wunsch 1970 |
//! | [`largest`], any order | O(p · √(E + A)) for p pairs | O(p) | Hopcroft and Karp 1973 |
//! | [`best`], any order | O(E · A · max(E, A)) per name | O(E · A) per name | Kuhn 1955, Munkres 1957, with potentials |
//!
//! The values of pairs are sums of fractions with different denominators. They are compared exactly, as integers over a
//! common denominator.

mod assignment;
mod cardinality;
mod monotonic;

use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::pace::{Pace, at_once};
use crate::foundation::sort::sort;

/// The most pairs that an alignment may consider: 1,448 calls per side.
pub const MAX_PAIRS: usize = 1 << 21;
/// The most steps, E · A · max(E, A), of aligning calls of one name in any order: 645 per side.
pub const MAX_STEPS: usize = 1 << 28;
/// The most that the common denominator may be times the square of the number of pairs, so that sums of values fit 64 bits:
/// it is for 1,448 calls with any numbers of arguments up to 28, for 30 calls up to 36, and with a few larger numbers.
pub const MAX_SCALE: u64 = 1 << 62;

/// The indices of an expected and an actual call that are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallPair {
    /// The index of the expected call.
    pub expected: usize,
    /// The index of the actual call.
    pub actual: usize,
}

/// How much of a pair agrees: `matched` out of `of` things; everything, if there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// How many things agree.
    pub matched: u32,
    /// How many things there are.
    pub of: u32,
}

impl Agreement {
    /// Whether everything agrees.
    #[must_use]
    pub fn is_whole(self) -> bool {
        self.matched >= self.of
    }

    /// The fraction in lowest terms.
    fn reduced(self) -> (u32, u32) {
        if self.is_whole() {
            return (1, 1);
        }
        let divisor = gcd(self.matched.into(), self.of.into()) as u32;
        (self.matched / divisor, self.of / divisor)
    }
}

/// The most pairs of `expected` and `actual` calls, given by number, that are `related`.
///
/// The pairs come in the order of the expected calls. With `ordered` they are a longest common
/// subsequence, the one with the smallest indices. Without, they are one of the largest matchings;
/// the relation need not be transitive.
///
/// # Errors
/// `limit_exceeded` beyond [`MAX_PAIRS`].
///
/// ```
/// use adk_metrics::trajectory::alignment::largest;
///
/// let (expected, actual) = (b"abc", b"cxab");
/// let related = |e: usize, a: usize| expected[e] == actual[a];
/// assert_eq!(largest(true, 3, 4, related)?.len(), 2);
/// assert_eq!(largest(false, 3, 4, related)?.len(), 3);
/// # Ok::<(), adk_metrics::foundation::error::Error>(())
/// ```
pub fn largest(
    ordered: bool,
    expected: usize,
    actual: usize,
    related: impl Fn(usize, usize) -> bool,
) -> Result<Vec<CallPair>> {
    at_once(largest_paced(ordered, expected, actual, &related, &Pace::unbroken()))
}

/// As [`largest`], in slices.
pub(super) async fn largest_paced(
    ordered: bool,
    expected: usize,
    actual: usize,
    related: &dyn Fn(usize, usize) -> bool,
    pace: &Pace,
) -> Result<Vec<CallPair>> {
    refuse_too_many_pairs(expected, actual)?;
    if ordered {
        return Ok(monotonic::align(expected, actual, &|e, a| related(e, a).then_some(1), pace).await);
    }
    let mut partners: Vec<Vec<usize>> = Vec::with_capacity(expected);
    for e in 0..expected {
        partners.push((0..actual).filter(|a| related(e, *a)).collect());
        pace.count(actual).await;
    }
    Ok(cardinality::align(&partners, actual, pace).await)
}

/// The pairs of calls of the same name that are worth the most.
///
/// Calls are given by their names, each name as a number of its own. An alignment is the better the
/// higher the sum of its agreements is; then the more of its pairs agree wholly; then the smaller
/// its indices are. The pairs come in the order of the expected calls. Pairs that agree in nothing
/// are made as well, where nothing better is.
///
/// # Errors
/// `limit_exceeded` beyond [`MAX_PAIRS`], [`MAX_STEPS`] or [`MAX_SCALE`].
///
/// ```
/// use adk_metrics::trajectory::{CallPair, alignment::{Agreement, best}};
///
/// // Greedily, the first expected call would take the first actual call, and 1/2 + 0 is less than 1.
/// let matched = [[1, 1], [2, 0]];
/// let agreement = |e: usize, a: usize| Agreement { matched: matched[e][a], of: 2 };
/// let pairs = best(false, &[0, 0], &[0, 0], agreement)?;
/// assert_eq!(pairs, [CallPair { expected: 0, actual: 1 }, CallPair { expected: 1, actual: 0 }]);
/// # Ok::<(), adk_metrics::foundation::error::Error>(())
/// ```
pub fn best(
    ordered: bool,
    expected: &[u32],
    actual: &[u32],
    agreement: impl Fn(usize, usize) -> Agreement,
) -> Result<Vec<CallPair>> {
    at_once(best_paced(ordered, expected, actual, &agreement, &Pace::unbroken()))
}

/// As [`best`], in slices.
pub(super) async fn best_paced(
    ordered: bool,
    expected: &[u32],
    actual: &[u32],
    agreement: &dyn Fn(usize, usize) -> Agreement,
    pace: &Pace,
) -> Result<Vec<CallPair>> {
    if !ordered {
        return best_in_any_order(expected, actual, agreement, pace).await;
    }
    refuse_too_many_pairs(expected.len(), actual.len())?;
    let agreement_of_name = |e, a| (expected.get(e) == actual.get(a)).then(|| agreement(e, a));
    let values = PairValues::compute(expected.len(), actual.len(), &agreement_of_name, pace).await?;
    Ok(monotonic::align(expected.len(), actual.len(), &|e, a| values.get(e, a), pace).await)
}

async fn best_in_any_order(
    expected: &[u32],
    actual: &[u32],
    agreement: &dyn Fn(usize, usize) -> Agreement,
    pace: &Pace,
) -> Result<Vec<CallPair>> {
    let (expected, actual) = (by_name(expected), by_name(actual));
    let mut pairs = Vec::new();
    let mut pair_count = 0usize;
    let mut steps = 0usize;
    for wanted in expected.chunk_by(|(a, _), (b, _)| a == b) {
        let Some((name, _)) = wanted.first() else { continue };
        let from = actual.partition_point(|(other, _)| other < name);
        let until = actual.partition_point(|(other, _)| other <= name);
        let found = actual.get(from..until).unwrap_or_default();
        let (rows, columns) = (wanted.len(), found.len());
        pair_count = pair_count.saturating_add(rows.saturating_mul(columns));
        steps = steps.saturating_add(rows.saturating_mul(columns).saturating_mul(rows.max(columns)));
        if pair_count > MAX_PAIRS || steps > MAX_STEPS {
            return Err(too_many(rows, columns, "of the same name in any order"));
        }
        let indices = |row, column| {
            let pair = |(_, expected): &(u32, usize), (_, actual): &(u32, usize)| (*expected, *actual);
            wanted.get(row).zip(found.get(column)).map(|(e, a)| pair(e, a))
        };
        let agreement_of_pair = |row, column| indices(row, column).map(|(e, a)| agreement(e, a));
        let values = PairValues::compute(rows, columns, &agreement_of_pair, pace).await?;
        for (row, column) in assignment::align(&values, rows, pace).await {
            pairs.extend(indices(row, column).map(|(expected, actual)| CallPair { expected, actual }));
        }
    }
    sort(&mut pairs, Ord::cmp);
    Ok(pairs)
}

/// The most pairs of calls of the same name, each name as a number of its own, and among those the
/// ones with the smallest indices. O(E log E + A log A) without order; else as [`largest`].
///
/// # Errors
/// `limit_exceeded` beyond [`MAX_PAIRS`], if `ordered`.
pub fn largest_by_name(ordered: bool, expected: &[u32], actual: &[u32]) -> Result<Vec<CallPair>> {
    at_once(largest_by_name_paced(ordered, expected, actual, &Pace::unbroken()))
}

/// As [`largest_by_name`], in slices.
pub(super) async fn largest_by_name_paced(
    ordered: bool,
    expected: &[u32],
    actual: &[u32],
    pace: &Pace,
) -> Result<Vec<CallPair>> {
    if ordered {
        let same_name = |e, a| expected.get(e) == actual.get(a);
        return largest_paced(true, expected.len(), actual.len(), &same_name, pace).await;
    }
    // Calls of the same name are interchangeable, so the first takes the first.
    let (expected, actual) = (by_name(expected), by_name(actual));
    let mut found = actual.iter().peekable();
    let mut pairs = Vec::new();
    for (name, expected) in &expected {
        while found.next_if(|(other, _)| other < name).is_some() {}
        if let Some((_, actual)) = found.next_if(|(other, _)| other == name) {
            pairs.push(CallPair { expected: *expected, actual: *actual });
        }
    }
    sort(&mut pairs, Ord::cmp);
    Ok(pairs)
}

fn by_name(names: &[u32]) -> Vec<(u32, usize)> {
    let mut calls: Vec<_> = names.iter().copied().zip(0..).collect();
    sort(&mut calls, Ord::cmp);
    calls
}

/// The value of each pair: integers whose sums are ordered as the alignments are.
struct PairValues {
    columns: usize,
    /// Row by row; negative for pairs that are not allowed.
    cells: Vec<i64>,
}

impl PairValues {
    async fn compute(
        rows: usize,
        columns: usize,
        agreement: &dyn Fn(usize, usize) -> Option<Agreement>,
        pace: &Pace,
    ) -> Result<Self> {
        let mut agreements = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                agreements.push(agreement(row, column));
                pace.count(1).await;
            }
        }
        // One more than the largest number of pairs, so that complete pairs only break ties.
        let pairs = rows.min(columns) as u64 + 1;
        let mut denominator = 1;
        for agreements in agreements.chunks(FRACTIONS_AT_ONCE) {
            denominator = common_denominator(denominator, agreements, MAX_SCALE / (pairs * pairs))?;
            pace.count(agreements.len() * WORK_OF_FRACTION).await;
        }
        let value = |agreement: Agreement| {
            let (matched, of) = agreement.reduced();
            let share = u64::from(matched) * (denominator / u64::from(of));
            (share * pairs).cast_signed() + i64::from(agreement.is_whole())
        };
        let mut cells = Vec::with_capacity(agreements.len());
        for agreements in agreements.chunks(FRACTIONS_AT_ONCE) {
            cells.extend(agreements.iter().map(|agreement| agreement.map_or(-1, value)));
            pace.count(agreements.len() * WORK_OF_FRACTION).await;
        }
        Ok(Self { columns, cells })
    }

    fn get(&self, row: usize, column: usize) -> Option<i64> {
        self.cells.get(row * self.columns + column).copied().filter(|value| *value >= 0)
    }
}

/// How many fractions are reduced between two counts of work, and how much work one of them is.
const FRACTIONS_AT_ONCE: usize = 1 << 10;
const WORK_OF_FRACTION: usize = 16;

/// A common multiple of a denominator and all those of some agreements.
fn common_denominator(mut denominator: u64, agreements: &[Option<Agreement>], limit: u64) -> Result<u64> {
    for agreement in agreements.iter().flatten() {
        let of = u64::from(agreement.reduced().1);
        denominator = match denominator.checked_mul(of / gcd(of, denominator)) {
            Some(common) if common <= limit => common,
            _ => {
                return Err(Error::new(
                    ErrorCode::LimitExceeded,
                    "the calls have arguments in too many different numbers to be compared exactly",
                )
                .with_help("Calls with up to 28 arguments always can"));
            }
        };
    }
    Ok(denominator)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn refuse_too_many_pairs(expected: usize, actual: usize) -> Result<()> {
    let fits = expected.checked_mul(actual).is_some_and(|pairs| pairs <= MAX_PAIRS);
    if fits { Ok(()) } else { Err(too_many(expected, actual, "that differ")) }
}

pub(super) fn too_many(expected: usize, actual: usize, which: &str) -> Error {
    Error::new(
        ErrorCode::LimitExceeded,
        format!("{expected} expected and {actual} actual tool calls {which} are too many to align"),
    )
    .with_help("Split the invocation into several")
}
