//! The best alignment whose pairs do not cross.
//!
//! A dynamic programme over suffixes: the value of aligning what follows expected call e and
//! actual call a is the best of pairing the two and leaving one of them out. It runs backwards, so
//! that the way back runs forwards and can prefer small indices. O(E · A) time; O(A) values and a
//! byte for each pair.
//!
//! Source: Needleman and Wunsch, "A general method applicable to the search for similarities in the
//! amino acid sequence of two proteins", 1970.

use super::Pair;

/// What the best alignment of two suffixes, with the smallest indices, begins with.
#[derive(Clone, Copy)]
enum Step {
    /// Pair the two first calls.
    Pair,
    /// Leave out the first actual call; the first expected call is paired with a later one.
    SkipActual,
    /// Leave out the first expected call: no best alignment pairs it.
    SkipExpected,
}

/// The pairs, in order. `value` is what a pair is worth, at least 0; nothing if it must not be made.
pub(super) fn align(
    expected: usize,
    actual: usize,
    value: &dyn Fn(usize, usize) -> Option<i128>,
) -> Vec<Pair> {
    let mut steps = vec![Step::SkipExpected; expected * actual];
    if steps.is_empty() {
        return Vec::new();
    }
    // The values of the suffixes after the current expected call, by first actual call.
    let mut below = vec![0; actual];
    for (e, steps) in steps.chunks_exact_mut(actual).enumerate().rev() {
        let (mut diagonal, mut right, mut paired_to_the_right) = (0, 0, false);
        for (a, (below, step)) in below.iter_mut().zip(steps).enumerate().rev() {
            let skip = right.max(*below);
            let pair = value(e, a).map(|value| value + diagonal).filter(|pair| *pair >= skip);
            let best = pair.unwrap_or(skip);
            *step = if pair.is_some() {
                Step::Pair
            } else if paired_to_the_right && right == best {
                Step::SkipActual
            } else {
                Step::SkipExpected
            };
            paired_to_the_right = !matches!(step, Step::SkipExpected);
            diagonal = std::mem::replace(below, best);
            right = best;
        }
    }
    let mut pairs = Vec::new();
    let (mut e, mut a) = (0, 0);
    while e < expected && a < actual {
        match steps.get(e * actual + a) {
            Some(Step::Pair) => {
                pairs.push(Pair { expected: e, actual: a });
                (e, a) = (e + 1, a + 1);
            }
            Some(Step::SkipActual) => a += 1,
            Some(Step::SkipExpected) | None => e += 1,
        }
    }
    pairs
}
