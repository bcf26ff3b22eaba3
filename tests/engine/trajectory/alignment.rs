//! Alignments, against brute force.

use adk_metrics::foundation::error::ErrorCode;
use adk_metrics::trajectory::CallPair;
use adk_metrics::trajectory::alignment::{Agreement, best, largest, largest_by_name};
use proptest::prelude::*;

/// A partner for each expected call, if it has one.
type Partners = Vec<Option<usize>>;

/// Every alignment there is, by trying them all.
fn every_alignment(ordered: bool, actual: usize, allowed: &[Vec<bool>]) -> Vec<Partners> {
    let mut all = vec![Vec::new()];
    for allowed in allowed {
        all = all
            .into_iter()
            .flat_map(|begun: Partners| {
                let free = |a: &usize| !begun.contains(&Some(*a));
                let after = begun.iter().flatten().max().map_or(0, |last| last + 1);
                let from = if ordered { after } else { 0 };
                let partners: Vec<_> =
                    (from..actual).filter(free).filter(|a| allowed[*a]).map(Some).collect();
                partners.into_iter().chain([None]).map(move |partner| [begun.clone(), vec![partner]].concat())
            })
            .collect();
    }
    all
}

/// Having no partner comes last.
fn indices(partners: &Partners) -> Vec<usize> {
    partners.iter().map(|partner| partner.unwrap_or(usize::MAX)).collect()
}

fn pairs(partners: &Partners) -> Vec<CallPair> {
    let pair =
        |(expected, actual): (usize, &Option<usize>)| actual.map(|actual| CallPair { expected, actual });
    partners.iter().enumerate().filter_map(pair).collect()
}

/// The sum of agreements as an integer over 2520, which every denominator up to 10 divides.
fn value(partners: &Partners, agreements: &[Vec<Agreement>]) -> (u32, usize) {
    let of = |pair: &CallPair| agreements[pair.expected][pair.actual];
    let share = |agreement: Agreement| (agreement.matched * 2520).checked_div(agreement.of).unwrap_or(2520);
    let pairs = pairs(partners);
    (pairs.iter().map(|pair| share(of(pair))).sum(), pairs.iter().filter(|pair| of(pair).is_whole()).count())
}

fn agreement() -> impl Strategy<Value = Agreement> {
    // Few different shares make many ties.
    prop_oneof![
        3 => Just(Agreement { matched: 0, of: 2 }),
        3 => Just(Agreement { matched: 1, of: 2 }),
        2 => Just(Agreement { matched: 2, of: 2 }),
        1 => Just(Agreement { matched: 0, of: 0 }),
        3 => (0u32..=6, 6u32..=7).prop_map(|(matched, of)| Agreement { matched, of }),
    ]
}

fn names() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(0u32..2, 0..=5)
}

fn allowed(expected: &[u32], actual: &[u32]) -> Vec<Vec<bool>> {
    expected.iter().map(|e| actual.iter().map(|a| e == a).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn best_is_what_brute_force_finds(
        ordered in any::<bool>(),
        expected in names(),
        actual in names(),
        agreements in proptest::collection::vec(proptest::collection::vec(agreement(), 5), 5),
    ) {
        let all = every_alignment(ordered, actual.len(), &allowed(&expected, &actual));
        let wanted = all.iter().max_by_key(|partners| {
            (value(partners, &agreements), std::cmp::Reverse(indices(partners)))
        });
        let found = best(ordered, &expected, &actual, |e, a| agreements[e][a]).unwrap();
        prop_assert_eq!(&found, &pairs(wanted.unwrap()));
    }

    #[test]
    fn best_of_one_name_is_what_brute_force_finds(
        ordered in any::<bool>(),
        (expected, actual) in (0usize..=5, 0usize..=5),
        agreements in proptest::collection::vec(proptest::collection::vec(agreement(), 5), 5),
    ) {
        let (expected, actual) = (vec![0; expected], vec![0; actual]);
        let all = every_alignment(ordered, actual.len(), &allowed(&expected, &actual));
        let wanted = all.iter().max_by_key(|partners| {
            (value(partners, &agreements), std::cmp::Reverse(indices(partners)))
        });
        let found = best(ordered, &expected, &actual, |e, a| agreements[e][a]).unwrap();
        prop_assert_eq!(&found, &pairs(wanted.unwrap()));
    }

    #[test]
    fn largest_is_what_brute_force_finds(
        ordered in any::<bool>(),
        (expected, actual) in (0usize..=5, 0usize..=5),
        related in proptest::collection::vec(proptest::collection::vec(proptest::bool::weighted(0.4), 5), 5),
    ) {
        let all = every_alignment(ordered, actual, &related[..expected]);
        let size = |partners: &Partners| pairs(partners).len();
        let wanted = all.iter().max_by_key(|partners| (size(partners), std::cmp::Reverse(indices(partners)))).unwrap();
        let found = largest(ordered, expected, actual, |e, a| related[e][a]).unwrap();
        prop_assert_eq!(found.len(), size(wanted));
        prop_assert!(found.iter().all(|pair| related[pair.expected][pair.actual]));
        let distinct = |side: fn(&CallPair) -> usize| found.iter().map(side).collect::<std::collections::BTreeSet<_>>().len();
        prop_assert_eq!((distinct(|pair| pair.expected), distinct(|pair| pair.actual)), (found.len(), found.len()));
        if ordered {
            prop_assert_eq!(&found, &pairs(wanted));
        }
    }

    #[test]
    fn largest_by_name_has_the_most_pairs_and_the_smallest_indices(
        ordered in any::<bool>(),
        expected in names(),
        actual in names(),
    ) {
        let all = every_alignment(ordered, actual.len(), &allowed(&expected, &actual));
        let wanted = all.iter().max_by_key(|partners| (pairs(partners).len(), std::cmp::Reverse(indices(partners))));
        let found = largest_by_name(ordered, &expected, &actual).unwrap();
        prop_assert_eq!(&found, &pairs(wanted.unwrap()));
    }

    #[test]
    fn best_is_never_below_greedy(
        (expected, actual) in (1usize..=30, 1usize..=30),
        agreements in proptest::collection::vec(proptest::collection::vec(agreement(), 30), 30),
    ) {
        let mut free: Vec<usize> = (0..actual).collect();
        let share = |agreement: Agreement| if agreement.is_whole() { 1.0 } else { f64::from(agreement.matched) / f64::from(agreement.of) };
        let mut greedy = 0.0;
        for agreements in agreements.iter().take(expected) {
            let at = (0..free.len()).max_by(|a, b| share(agreements[free[*a]]).total_cmp(&share(agreements[free[*b]])));
            if let Some(at) = at {
                greedy += share(agreements[free.remove(at)]);
            }
        }
        let found = best(false, &vec![0; expected], &vec![0; actual], |e, a| agreements[e][a]).unwrap();
        let total: f64 = found.iter().map(|pair| share(agreements[pair.expected][pair.actual])).sum();
        prop_assert!(total >= greedy - 1e-9, "{total} < {greedy}");
        prop_assert_eq!(found.len(), expected.min(actual));
    }
}

#[test]
fn sums_of_fractions_are_compared_exactly() {
    // In doubles 0.1 + 0.2 is more than 0.3; in fact they are equal, and the smaller indices decide.
    let tenths = [[3, 1], [2, 0]];
    let agreement = |e: usize, a: usize| Agreement { matched: tenths[e][a], of: 10 };
    let found = best(false, &[0, 0], &[0, 0], agreement).unwrap();
    assert_eq!(found, [CallPair { expected: 0, actual: 0 }, CallPair { expected: 1, actual: 1 }]);
    // Ten tenths against one whole: 0.1 added ten times is less than 1.0 in doubles.
    let names = vec![0; 11];
    let agreement = |e: usize, a: usize| match (e, a) {
        (0, 10) => Agreement { matched: 1, of: 1 },
        (e, a) if e == a + 1 => Agreement { matched: 1, of: 10 },
        _ => Agreement { matched: 0, of: 10 },
    };
    let found = best(true, &names, &names, agreement).unwrap();
    assert_eq!(found, [CallPair { expected: 0, actual: 10 }], "equal sums, but one pair that matches wholly");
}

#[test]
fn up_to_28_arguments_have_a_common_denominator() {
    let names: Vec<u32> = vec![0; 34];
    let agreement = |e: usize, a: usize| Agreement { matched: u32::from(e == a), of: e as u32 + 1 };
    for ordered in [true, false] {
        let found = best(ordered, &names, &names, agreement).unwrap();
        assert!(found.iter().all(|pair| pair.expected == pair.actual) && found.len() == 34);
    }
    let names: Vec<u32> = vec![0; 600];
    let up_to_28 = |e: usize, a: usize| Agreement { matched: u32::from(e == a), of: e as u32 % 28 + 1 };
    for ordered in [true, false] {
        let found = best(ordered, &names, &names, up_to_28).unwrap();
        assert!(found.iter().all(|pair| pair.expected == pair.actual) && found.len() == 600);
    }
    let names: Vec<u32> = vec![0; 300];
    for ordered in [true, false] {
        let error = best(ordered, &names, &names, agreement).unwrap_err();
        assert_eq!(error.code, ErrorCode::LimitExceeded);
    }
}

#[test]
fn hostile_sizes_are_refused_before_any_work() {
    let names = vec![0; 10_000];
    let never = |_: usize, _: usize| -> Agreement { panic!("compared") };
    for ordered in [true, false] {
        let error = best(ordered, &names, &names, never).unwrap_err();
        assert_eq!(error.code, ErrorCode::LimitExceeded);
        assert!(error.message.contains("10000"), "{}", error.message);
        assert!(largest(ordered, 10_000, 10_000, |_, _| panic!("compared")).is_err());
    }
    assert_eq!(largest_by_name(false, &names, &names).unwrap().len(), 10_000);
    assert!(largest(true, usize::MAX, usize::MAX, |_, _| false).is_err());
}

#[test]
fn the_largest_accepted_sizes_are_aligned() {
    let half = Agreement { matched: 1, of: 2 };
    let names = vec![0; 600];
    assert_eq!(best(false, &names, &names, |_, _| half).unwrap().len(), 600);
    let agreement =
        |e: usize, a: usize| Agreement { matched: ((e * 7919 + a * 104_729) % 13) as u32, of: 13 };
    assert_eq!(best(false, &names, &names, agreement).unwrap().len(), 600);
    assert_eq!(best(false, &[0; 5], &[0; 7000], agreement).unwrap().len(), 5);
    assert_eq!(best(false, &[0; 7000], &[0; 5], agreement).unwrap().len(), 5);
    let names = vec![0; 1448];
    assert_eq!(best(true, &names, &names, |_, _| half).unwrap().len(), 1448);
    assert_eq!(largest(false, 1448, 1448, |e, a| e + a < 1448).unwrap().len(), 1448);
    assert_eq!(largest(true, 1448, 1448, |e, a| e + a == 1447).unwrap().len(), 1);
}
