//! The best alignment whose pairs do not cross.
//!
//! Dynamic programming over suffixes: the value of aligning the suffixes after expected call e and actual call
//! a is the best of pairing the two calls and skipping one of them. It runs backwards, so that the path can be
//! read forwards and can prefer small indices. O(E · A) time; O(A) values and one byte per pair.
//!
//! Source: Needleman and Wunsch, "A general method applicable to the search for similarities in the amino acid
//! sequence of two proteins", 1970.

use super::CallPair;
use crate::foundation::pace::Pace;

/// The first step of the best alignment of two suffixes with the smallest indices.
#[derive(Clone, Copy)]
enum PathStep {
    /// Pair the two first calls.
    Pair,
    /// Skip the first actual call; the first expected call is paired with a later one.
    SkipActual,
    /// Skip the first expected call: no best alignment pairs it.
    SkipExpected,
}

/// The pairs, in order. `value` is the value of a pair, at least 0; `None` if the pair is not allowed.
pub(super) async fn align(
    expected: usize,
    actual: usize,
    value: &dyn Fn(usize, usize) -> Option<i64>,
    pace: &Pace,
) -> Vec<CallPair> {
    let mut steps = vec![PathStep::SkipExpected; expected * actual];
    if steps.is_empty() {
        return Vec::new();
    }
    // The values of the suffixes after the current expected call, by first actual call.
    let mut below = vec![0; actual];
    for (e, steps) in steps.chunks_exact_mut(actual).enumerate().rev() {
        add_row(&mut below, steps, &|a| value(e, a));
        pace.count(actual).await;
    }
    read_path(&steps, expected, actual)
}

/// Adds an expected call before the suffixes whose values are `below`.
fn add_row(below: &mut [i64], steps: &mut [PathStep], value: &dyn Fn(usize) -> Option<i64>) {
    let (mut diagonal, mut right, mut paired_to_the_right) = (0, 0, false);
    for (a, (below, step)) in below.iter_mut().zip(steps).enumerate().rev() {
        let skip = right.max(*below);
        let pair = value(a).map(|value| value + diagonal).filter(|pair| *pair >= skip);
        let best = pair.unwrap_or(skip);
        *step = if pair.is_some() {
            PathStep::Pair
        } else if paired_to_the_right && right == best {
            PathStep::SkipActual
        } else {
            PathStep::SkipExpected
        };
        paired_to_the_right = !matches!(step, PathStep::SkipExpected);
        diagonal = std::mem::replace(below, best);
        right = best;
    }
}

fn read_path(steps: &[PathStep], expected: usize, actual: usize) -> Vec<CallPair> {
    let mut pairs = Vec::new();
    let (mut e, mut a) = (0, 0);
    while e < expected && a < actual {
        match steps.get(e * actual + a) {
            Some(PathStep::Pair) => {
                pairs.push(CallPair { expected: e, actual: a });
                (e, a) = (e + 1, a + 1);
            }
            Some(PathStep::SkipActual) => a += 1,
            Some(PathStep::SkipExpected) | None => e += 1,
        }
    }
    pairs
}
