//! The most pairs in any order: a largest matching of a bipartite graph.
//!
//! It works in phases: a breadth-first search finds the distance of each expected call from a free actual call;
//! then disjoint shortest alternating paths to such calls are flipped. There are O(√(E + A)) phases, each O(p)
//! for p possible pairs.
//!
//! Source: Hopcroft and Karp, "An n^5/2 algorithm for maximum matchings in bipartite graphs", 1973.
#![expect(clippy::indexing_slicing, reason = "every index is a call's, below the length of its vector")]

use super::CallPair;
use crate::foundation::pace::Pace;

const FREE: usize = usize::MAX;

/// The pairs, in the order of the expected calls. `partners` holds, for each expected call, the
/// actual calls it may be paired with, each below `actual`.
pub(super) async fn align(partners: &[Vec<usize>], actual: usize, pace: &Pace) -> Vec<CallPair> {
    let mut matching = Matching {
        partners,
        actual_by_expected: vec![FREE; partners.len()],
        expected_by_actual: vec![FREE; actual],
    };
    while let Some(distances) = matching.distances() {
        // The search looked at all pairs.
        pace.count(partners.iter().map(Vec::len).sum()).await;
        let mut next_partner = vec![0; partners.len()];
        for e in 0..partners.len() {
            if matching.actual_by_expected[e] == FREE {
                matching.augment(e, &distances, &mut next_partner);
            }
        }
        pace.count(next_partner.iter().sum()).await;
    }
    let pairs = matching.actual_by_expected.iter().enumerate().filter(|(_, actual)| **actual != FREE);
    pairs.map(|(expected, actual)| CallPair { expected, actual: *actual }).collect()
}

struct Matching<'p> {
    partners: &'p [Vec<usize>],
    actual_by_expected: Vec<usize>,
    expected_by_actual: Vec<usize>,
}

impl Matching<'_> {
    /// For each expected call, its distance from a free expected call; `None` if no path ends at a free actual
    /// call, which means that the matching is a largest one.
    fn distances(&self) -> Option<Vec<usize>> {
        let mut distances = vec![usize::MAX; self.partners.len()];
        let mut queue: Vec<usize> =
            (0..self.partners.len()).filter(|e| self.actual_by_expected[*e] == FREE).collect();
        queue.iter().for_each(|e| distances[*e] = 0);
        let mut found = false;
        let mut head = 0;
        while let Some(&e) = queue.get(head) {
            head += 1;
            for &a in &self.partners[e] {
                let next = self.expected_by_actual[a];
                if next == FREE {
                    found = true;
                } else if distances[next] == usize::MAX {
                    distances[next] = distances[e] + 1;
                    queue.push(next);
                }
            }
        }
        found.then_some(distances)
    }

    /// Searches depth-first for a path from `start` to a free actual call along increasing distances, and pairs
    /// the calls on it. `next_partner` remembers what was tried in this phase.
    fn augment(&mut self, start: usize, distances: &[usize], next_partner: &mut [usize]) {
        let mut path = vec![start];
        while let Some(&e) = path.last() {
            let Some(&a) = self.partners[e].get(next_partner[e]) else {
                path.pop();
                continue;
            };
            next_partner[e] += 1;
            let next = self.expected_by_actual[a];
            if next == FREE {
                // Each call on the path takes the actual call it tried last.
                for &e in &path {
                    let a = self.partners[e][next_partner[e] - 1];
                    self.actual_by_expected[e] = a;
                    self.expected_by_actual[a] = e;
                }
                return;
            }
            if distances[next] == distances[e] + 1 {
                path.push(next);
            }
        }
    }
}
