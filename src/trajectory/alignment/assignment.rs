//! The alignment of the highest value in any order; among those the one with the smallest indices.
//!
//! First the Hungarian method with potentials, over the shorter side: O(E · A · min(E, A)). Its potentials
//! characterise all best alignments: a pair can be part of one only if it is tight (its value is the sum of its
//! two potentials), and a call can stay unpaired only if its potential is 0. The second step then visits the
//! expected calls in order, and moves each to the smallest tight partner from which a chain of tight pairs
//! leads back to its previous partner: one search of the tight pairs per call, O(E · A · max(E, A)) in total.
//!
//! Sources: Kuhn, "The Hungarian method for the assignment problem", 1955; Munkres 1957; for the tight pairs,
//! complementary slackness, e.g. Schrijver, "Combinatorial Optimization", 17.
#![expect(clippy::indexing_slicing, reason = "every index is a call's, below the length of its vector")]

use super::PairValues;
use crate::foundation::pace::Pace;

/// The pairs (expected, actual) by expected call. Values are at least 0.
pub(super) async fn align(values: &PairValues, expected: usize, pace: &Pace) -> Vec<(usize, usize)> {
    let actual = values.columns;
    let by_expected = ValueTable { cells: &values.cells, row_step: actual, column_step: 1 };
    let by_actual = ValueTable { row_step: 1, column_step: actual, ..by_expected };
    let (expected_potentials, actual_potentials, actual_by_expected) = if expected <= actual {
        let Solution { row_potentials, column_potentials, row_by_column } =
            solve(expected, actual, by_expected, pace).await;
        let mut actual_by_expected = vec![actual; expected];
        let taken = row_by_column.iter().enumerate().filter(|(_, e)| **e != NOBODY);
        taken.for_each(|(a, e)| actual_by_expected[*e] = a);
        (row_potentials, column_potentials, actual_by_expected)
    } else {
        let Solution { row_potentials, column_potentials, mut row_by_column } =
            solve(actual, expected, by_actual, pace).await;
        row_by_column.iter_mut().for_each(|a| *a = actual.min(*a));
        (column_potentials, row_potentials, row_by_column)
    };
    let mut best =
        BestAlignment { values: by_expected, expected_potentials, actual_potentials, actual_by_expected };
    for e in 0..expected {
        let looked_at = best.prefer_small_indices(e);
        pace.count(looked_at).await;
    }
    best.actual_by_expected.into_iter().enumerate().filter(|(_, a)| *a < actual).collect()
}

/// The values of all pairs, indexed from either side.
#[derive(Clone, Copy)]
struct ValueTable<'v> {
    cells: &'v [i64],
    row_step: usize,
    column_step: usize,
}

impl ValueTable<'_> {
    fn value(self, row: usize, column: usize) -> i64 {
        self.cells[row * self.row_step + column * self.column_step]
    }
}

/// A best alignment, with the potentials that characterise the others.
struct BestAlignment<'v> {
    values: ValueTable<'v>,
    expected_potentials: Vec<i64>,
    actual_potentials: Vec<i64>,
    /// The partner of each expected call; the number of actual calls means none.
    actual_by_expected: Vec<usize>,
}

/// A call that gives up its partner, and the call that receives it.
#[derive(Clone, Copy)]
struct Reassignment {
    expected: usize,
    to: usize,
}

impl BestAlignment<'_> {
    /// Whether some best alignment may contain the pair. Being unpaired counts as a pair too: of an expected
    /// call with the number of actual calls, or vice versa.
    fn is_tight(&self, e: usize, a: usize) -> bool {
        let (expected, actual) = (self.expected_potentials.get(e), self.actual_potentials.get(a));
        match (expected, actual) {
            (Some(expected), Some(actual)) => expected + actual == self.values.value(e, a),
            (Some(potential), None) | (None, Some(potential)) => *potential == 0,
            (None, None) => false,
        }
    }

    /// Gives expected call `e` the smallest partner it has in any best alignment that agrees with
    /// this one on all expected calls before it. Returns how many pairs were looked at, at most.
    fn prefer_small_indices(&mut self, e: usize) -> usize {
        let given_up = self.actual_by_expected[e];
        let candidates = given_up.min(self.actual_potentials.len());
        if !(0..candidates).any(|a| self.is_tight(e, a)) {
            return candidates;
        }
        let looked_at = self.values.cells.len();
        let moves = self.moves_towards(e, given_up);
        let better = (0..candidates).find(|a| moves[*a].is_some() && self.is_tight(e, *a));
        let Some(better) = better else { return looked_at };
        self.actual_by_expected[e] = better;
        let mut freed = better;
        while let Some(Reassignment { expected, to }) = moves[freed].filter(|_| freed != given_up) {
            if let Some(actual) = self.actual_by_expected.get_mut(expected) {
                *actual = to;
            }
            freed = to;
        }
        looked_at
    }

    /// For each partner that could be freed by a chain of moves that ends at the one `e` gives up:
    /// the first of these moves. Breadth-first, backwards from the end of the chain.
    fn moves_towards(&self, e: usize, given_up: usize) -> Vec<Option<Reassignment>> {
        let (expected, actual) = (self.expected_potentials.len(), self.actual_potentials.len());
        let mut moves = vec![None; actual + 1];
        let mut reached = vec![false; actual + 1];
        reached[given_up] = true;
        let mut queue = vec![given_up];
        let mut head = 0;
        let mut nobody_moved = false;
        while let Some(&to) = queue.get(head) {
            head += 1;
            let mut free = |a: usize, expected: usize| {
                if !std::mem::replace(&mut reached[a], true) {
                    moves[a] = Some(Reassignment { expected, to });
                    queue.push(a);
                }
            };
            for other in e + 1..expected {
                if self.is_tight(other, to) {
                    free(self.actual_by_expected[other], other);
                }
            }
            if !nobody_moved && self.is_tight(expected, to) {
                nobody_moved = true;
                let mut taken = vec![false; actual + 1];
                self.actual_by_expected.iter().for_each(|a| taken[*a] = true);
                (0..actual).filter(|a| !taken[*a]).for_each(|a| free(a, expected));
            }
        }
        moves
    }
}

const NOBODY: usize = usize::MAX;

struct Solution {
    row_potentials: Vec<i64>,
    /// At least 0, and 0 for columns without a row.
    column_potentials: Vec<i64>,
    /// The row of each column, or [`NOBODY`].
    row_by_column: Vec<usize>,
}

/// Assigns every row a column of its own so that the sum of the values is the largest. There are at least as
/// many columns as rows.
async fn solve(rows: usize, columns: usize, values: ValueTable<'_>, pace: &Pace) -> Solution {
    let mut solution = Solution {
        row_potentials: vec![0; rows],
        column_potentials: vec![0; columns],
        row_by_column: vec![NOBODY; columns],
    };
    for row in 0..rows {
        let visited = solution.assign(row, values);
        pace.count(visited * columns).await;
    }
    solution
}

impl Solution {
    /// Assigns one more row. Returns how many rows were visited for it.
    fn assign(&mut self, start: usize, values: ValueTable<'_>) -> usize {
        let Self { row_potentials, column_potentials, row_by_column } = self;
        let columns = column_potentials.len();
        // Grows a tree of tight pairs from the new row until it reaches a column without a row.
        row_potentials[start] =
            (0..columns).map(|c| values.value(start, c) - column_potentials[c]).max().unwrap_or(0);
        let mut slack = vec![i64::MAX; columns];
        let mut reached_from = vec![NOBODY; columns];
        let mut in_tree = vec![false; columns];
        let mut tree_rows = vec![start];
        let mut row = start;
        let mut last = NOBODY;
        let end = loop {
            let mut nearest = NOBODY;
            for column in (0..columns).filter(|column| !in_tree[*column]) {
                let missing = row_potentials[row] + column_potentials[column] - values.value(row, column);
                if missing < slack[column] {
                    slack[column] = missing;
                    reached_from[column] = last;
                }
                if nearest == NOBODY || slack[column] < slack[nearest] {
                    nearest = column;
                }
            }
            if nearest == NOBODY {
                break NOBODY;
            }
            let step = slack[nearest];
            tree_rows.iter().for_each(|row| row_potentials[*row] -= step);
            for column in 0..columns {
                if in_tree[column] {
                    column_potentials[column] += step;
                } else {
                    slack[column] -= step;
                }
            }
            in_tree[nearest] = true;
            last = nearest;
            row = row_by_column[nearest];
            if row == NOBODY {
                break nearest;
            }
            tree_rows.push(row);
        };
        let mut column = end;
        while column != NOBODY {
            let previous = reached_from[column];
            row_by_column[column] = if previous == NOBODY { start } else { row_by_column[previous] };
            column = previous;
        }
        tree_rows.len()
    }
}
