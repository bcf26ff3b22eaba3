//! Sorting, in one place and in few bytes: the standard library's sort brings 7 KB into the
//! WebAssembly module for every type that is sorted, and this does so once for all, in half a
//! kilobyte.
//!
//! A merge sort from the bottom up: stable, O(n log n) comparisons, O(n) memory. Knuth, "The Art of
//! Computer Programming", volume 3, §5.2.4.

use std::cmp::Ordering;

/// Puts items in order, equal ones as they came.
pub(crate) fn sort<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = sorted_indices(items.len(), &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b).is_gt(),
        _ => false,
    });
    arrange(order, &mut |a, b| items.swap(a, b));
}

/// Brings to every place the item that `order` has there, along the cycles of the permutation.
#[inline(never)]
fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut place = start;
        while let Some(entry) = order.get_mut(place) {
            let from = std::mem::replace(entry, place);
            if from == start {
                break;
            }
            swap(place, from);
            place = from;
        }
    }
}

#[inline(never)]
fn sorted_indices(count: usize, is_after: &dyn Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut width = 1;
    while width < count {
        let mut merged = Vec::with_capacity(count);
        for pair in order.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at_checked(width).unwrap_or((pair, &[]));
            while let ([a, after_a @ ..], [b, after_b @ ..]) = (left, right) {
                if is_after(*a, *b) {
                    merged.push(*b);
                    right = after_b;
                } else {
                    merged.push(*a);
                    left = after_a;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        order = merged;
        width *= 2;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::sort;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library_does(items in proptest::collection::vec((0..40_u8, any::<u8>()), 0..200)) {
            let (mut found, mut expected) = (items.clone(), items);
            sort(&mut found, |a, b| a.0.cmp(&b.0));
            expected.sort_by_key(|item| item.0);
            prop_assert_eq!(found, expected);
        }
    }
}
