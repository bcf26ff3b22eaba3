//! Alignments are as good as the best possible ones, and their pairs are in order and unique.

use std::collections::HashSet;

use adk_metrics::trajectory::CallPair;
use adk_metrics::trajectory::alignment::{Agreement, best, largest, largest_by_name};

/// The most calls per side: all alignments are tried.
const MAX: usize = 5;
/// The least common multiple of the numbers of arguments.
const UNIT: u32 = 12;

/// The input encodes the number of calls, their names, and how much of each pair agrees.
pub fn check(input: &[u8]) {
    let mut bytes = input.iter().map(|byte| usize::from(*byte));
    let mut next = || bytes.next().unwrap_or_default();
    let sizes = [next() % (MAX + 1), next() % (MAX + 1)];
    let [expected, actual] = sizes.map(|size| (0..size).map(|_| (next() % 3) as u32).collect::<Vec<_>>());
    let agreements: Vec<Vec<_>> =
        expected.iter().map(|_| actual.iter().map(|_| agreement(next(), next())).collect()).collect();
    let of = |e: usize, a: usize| {
        let known = agreements.get(e).and_then(|row: &Vec<Agreement>| row.get(a)).copied();
        known.unwrap_or(Agreement { matched: 0, of: 1 })
    };
    let same_name = |e: usize, a: usize| expected.get(e) == actual.get(a);
    let (rows, columns) = (expected.len(), actual.len());
    for ordered in [true, false] {
        let worth =
            |pairs: &[CallPair]| pairs.iter().map(|pair| value(of(pair.expected, pair.actual))).sum::<u32>();
        let related = |e: usize, a: usize| of(e, a).is_whole();
        let found = assert_valid(largest(ordered, rows, columns, related), ordered);
        let most = maximum(ordered, rows, columns, &|e, a| related(e, a).then_some(1));
        assert_eq!(found.len() as u32, most, "the most related pairs, ordered: {ordered}");

        let found = assert_valid(largest_by_name(ordered, &expected, &actual), ordered);
        let most = maximum(ordered, rows, columns, &|e, a| same_name(e, a).then_some(1));
        assert_eq!(found.len() as u32, most, "the most pairs of a name, ordered: {ordered}");

        let found = assert_valid(best(ordered, &expected, &actual, of), ordered);
        assert!(found.iter().all(|pair| same_name(pair.expected, pair.actual)));
        let most = maximum(ordered, rows, columns, &|e, a| same_name(e, a).then(|| value(of(e, a))));
        assert_eq!(worth(&found), most, "the highest sum, ordered: {ordered}");
    }
}

fn agreement(matched: usize, of: usize) -> Agreement {
    let of = of as u32 % 5;
    Agreement { matched: matched as u32 % (of + 1), of }
}

fn value(agreement: Agreement) -> u32 {
    if agreement.is_whole() { UNIT } else { UNIT * agreement.matched / agreement.of }
}

fn assert_valid<E: std::fmt::Debug>(pairs: Result<Vec<CallPair>, E>, ordered: bool) -> Vec<CallPair> {
    assert!(pairs.is_ok(), "{pairs:?}");
    let pairs = pairs.unwrap_or_default();
    assert!(pairs.is_sorted_by_key(|pair| pair.expected));
    assert!(!ordered || pairs.is_sorted_by_key(|pair| pair.actual));
    let used = |side: fn(&CallPair) -> usize| pairs.iter().map(side).collect::<HashSet<_>>().len();
    assert_eq!([used(|pair| pair.expected), used(|pair| pair.actual)], [pairs.len(); 2]);
    pairs
}

/// The highest value of any alignment, by trying each free actual call, and none, for each expected call.
fn maximum(ordered: bool, rows: usize, columns: usize, value: &dyn Fn(usize, usize) -> Option<u32>) -> u32 {
    from(0, &mut vec![false; columns], 0, &|taken, first, row| {
        (row < rows).then(|| {
            let free = (if ordered { first } else { 0 }..columns).filter(|a| taken.get(*a) == Some(&false));
            free.filter_map(|a| Some((a, value(row, a)?))).collect()
        })
    })
}

type Choices<'c> = &'c dyn Fn(&[bool], usize, usize) -> Option<Vec<(usize, u32)>>;

fn from(row: usize, taken: &mut Vec<bool>, first: usize, choices: Choices<'_>) -> u32 {
    let Some(found) = choices(taken, first, row) else { return 0 };
    let mut most = from(row + 1, taken, first, choices);
    for (column, value) in found {
        set(taken, column, true);
        most = most.max(value + from(row + 1, taken, column + 1, choices));
        set(taken, column, false);
    }
    most
}

fn set(taken: &mut [bool], at: usize, value: bool) {
    if let Some(place) = taken.get_mut(at) {
        *place = value;
    }
}
