//! Sorting, in one place: every type that is sorted by itself would bring another copy of the
//! standard library's sort into the WebAssembly module, 7 KB each.

use std::cmp::Ordering;

/// The items in order, equal ones as they came. O(n log n) comparisons.
pub(super) fn sorted<T: Clone>(items: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let compare = |a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => compare(a, b),
        _ => Ordering::Equal,
    };
    let mut order: Vec<usize> = (0..items.len()).collect();
    sort_indices(&mut order, &compare);
    order.into_iter().filter_map(|at| items.get(at).cloned()).collect()
}

#[inline(never)]
fn sort_indices(order: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}
