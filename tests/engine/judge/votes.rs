//! When the votes of a judge's samples settle a verdict, and how many are asked.

use std::ops::Range;

use adk_metrics::judge::votes::{Outcome, Tally, Verdict, Vote, Votes, VotingRule};
use proptest::prelude::*;

const EARLY: VotingRule = VotingRule::Majority { early_stop: true };
const ALL: VotingRule = VotingRule::Majority { early_stop: false };
const VOTES: [Vote; 4] = [Vote::Positive, Vote::Negative, Vote::Unscored, Vote::Absent];

fn tally(positive: u32, negative: u32, unscored: u32) -> Tally {
    Tally { positive, negative, unscored, absent: 0, not_asked: 0 }
}

/// Every way in which `left` votes may still fall, none of them absent.
fn completions(known: Tally, left: u32) -> Vec<Tally> {
    let mut all = Vec::new();
    for positive in 0..=left {
        for negative in 0..=left - positive {
            all.push(tally(
                known.positive + positive,
                known.negative + negative,
                known.unscored + left - positive - negative,
            ));
        }
    }
    all
}

fn small_tallies(most: u32) -> Vec<(Tally, u32)> {
    let of = |known| completions(Tally::default(), known).into_iter();
    (0..=most).flat_map(|known| of(known).flat_map(move |t| (0..=most).map(move |r| (t, r)))).collect()
}

/// The verdict of complete votes, counted anew.
fn majority(votes: &[Vote]) -> Verdict {
    let number = |vote| votes.iter().filter(|&&v| v == vote).count();
    match (number(Vote::Positive), number(Vote::Negative), number(Vote::Unscored)) {
        (0, 0, 0) => Verdict::Absent,
        (0, 0, _) => Verdict::Unscored,
        (p, q, _) if p > q => Verdict::Positive,
        _ => Verdict::Negative,
    }
}

/// Asks all that is wanted; the reply that arrives next is chosen by `order` among those on their way.
fn vote(rule: VotingRule, samples: &[Vec<Vote>], order: &[usize], fails: impl Fn(u32) -> bool) -> Votes {
    let verdicts = samples.first().map_or(0, Vec::len);
    let mut votes = Votes::new(samples.len() as u32, verdicts, rule);
    let mut on_their_way: Vec<u32> = votes.next_wave().collect();
    for step in 0.. {
        if on_their_way.is_empty() {
            break;
        }
        let next = on_their_way.remove(order[step % order.len()] % on_their_way.len());
        if fails(next) {
            votes.fail(next)
        } else {
            votes.count(&samples[next as usize])
        }
        on_their_way.extend(votes.next_wave());
    }
    votes
}

fn one_verdict(votes: &[Vote]) -> Vec<Vec<Vote>> {
    votes.iter().map(|&vote| vec![vote]).collect()
}

/// All sequences of `length` votes.
fn sequences(length: u32, votes: &[Vote]) -> impl Iterator<Item = Vec<Vote>> {
    let base = votes.len();
    (0..base.pow(length)).map(move |number| {
        (0..length).map(|place| votes[number / base.pow(place) % base]).collect::<Vec<Vote>>()
    })
}

#[test]
fn a_verdict_is_certain_when_the_missing_votes_cannot_change_it() {
    for (positive, negative, unscored, missing, verdict) in [
        (3, 0, 0, 2, Some(Verdict::Positive)),
        (3, 1, 0, 1, Some(Verdict::Positive)),
        (2, 0, 0, 2, None),
        (2, 1, 0, 1, None),
        (0, 3, 0, 2, Some(Verdict::Negative)),
        (0, 2, 0, 2, Some(Verdict::Negative)),
        (1, 2, 0, 1, Some(Verdict::Negative)),
        (1, 1, 0, 0, Some(Verdict::Negative)),
        (1, 1, 0, 1, None),
        (0, 1, 0, 2, None),
        (0, 0, 4, 1, None),
        (0, 0, 5, 0, Some(Verdict::Unscored)),
        (0, 0, 0, 0, Some(Verdict::Absent)),
        (0, 0, 0, 1, None),
        (1, 0, 4, 0, Some(Verdict::Positive)),
        (0, 1, 4, 0, Some(Verdict::Negative)),
    ] {
        let tally = tally(positive, negative, unscored);
        assert_eq!(tally.verdict(missing), verdict, "{tally:?}, {missing} missing");
    }
}

#[test]
fn a_verdict_is_certain_exactly_if_all_completions_agree() {
    for (tally, missing) in small_tallies(7) {
        let mut verdicts = completions(tally, missing).into_iter().map(|full| full.verdict(0));
        let first = verdicts.next().flatten();
        let agreed = first.filter(|_| verdicts.all(|verdict| verdict == first));
        assert_eq!(tally.verdict(missing), agreed, "{tally:?}, {missing} missing");
    }
}

#[test]
fn settling_is_the_fewest_votes_after_which_the_verdict_may_be_certain() {
    for (tally, missing) in small_tallies(7) {
        let settles =
            |k: &u32| completions(tally, *k).iter().any(|further| further.verdict(missing - k).is_some());
        assert_eq!(
            Some(tally.settling(missing)),
            (0..=missing).find(settles),
            "{tally:?}, {missing} missing"
        );
    }
}

#[test]
fn half_of_the_samples_are_asked_first() {
    for samples in 1..=20 {
        assert_eq!(Votes::new(samples, 1, EARLY).next_wave(), 0..samples.div_ceil(2));
        assert_eq!(Votes::new(samples, 3, EARLY).next_wave(), 0..samples.div_ceil(2));
        assert_eq!(Votes::new(samples, 1, ALL).next_wave(), 0..samples);
        assert_eq!(Votes::new(samples, 1, VotingRule::Every).next_wave(), 0..samples);
    }
}

/// The first sample of each wave and the one after its last.
type Waves = &'static [(u32, u32)];

#[test]
fn waves_ask_as_few_samples_as_could_settle_it() {
    let bounds = |wave: Range<u32>| (wave.start, wave.end);
    use Vote::{Negative as N, Positive as P, Unscored as U};
    let cases: [(&[Vote], Waves); 6] = [
        (&[P, P, P], &[(0, 3)]),
        (&[N, N, N], &[(0, 3)]),
        (&[P, P, N, P], &[(0, 3), (3, 4)]),
        (&[P, P, N, N, P], &[(0, 3), (3, 4), (4, 5)]),
        (&[U, U, U, N], &[(0, 3), (3, 4)]),
        (&[U, U, U, U, U], &[(0, 3), (3, 4), (4, 5)]),
    ];
    for (replies, waves) in cases {
        let mut votes = Votes::new(5, 1, EARLY);
        let mut asked = vec![bounds(votes.next_wave())];
        for (index, reply) in replies.iter().enumerate() {
            assert_eq!(votes.outcome(), Outcome::Open, "{replies:?} before {index}");
            votes.count(&[*reply]);
            let wave = votes.next_wave();
            if !wave.is_empty() {
                asked.push(bounds(wave));
            }
        }
        assert_eq!((asked.as_slice(), votes.outcome()), (waves, Outcome::Settled), "{replies:?}");
    }
}

#[test]
fn the_next_sample_is_asked_as_soon_as_those_on_their_way_cannot_settle_it() {
    let mut votes = Votes::new(5, 1, EARLY);
    assert_eq!(votes.next_wave(), 0..3);
    votes.count(&[Vote::Positive]);
    assert_eq!(votes.next_wave(), 3..3);
    votes.count(&[Vote::Negative]);
    assert_eq!(votes.next_wave(), 3..4, "while the third is on its way");
}

#[test]
fn every_sequence_of_votes_gives_the_verdict_of_all_of_them_from_its_shortest_prefix() {
    for samples in 1..=6 {
        for sequence in sequences(samples, &VOTES) {
            let shortest = (0..=samples).find(|&asked| {
                let mut tally = Tally::default();
                sequence.iter().take(asked as usize).for_each(|&vote| tally.count(vote));
                tally.verdict(samples - asked).is_some()
            });
            for order in [&[0][..], &[usize::MAX], &[1, 0, 2]] {
                let votes = vote(EARLY, &one_verdict(&sequence), order, |_| false);
                assert_eq!(votes.verdict(0), Some(majority(&sequence)), "{sequence:?}");
                assert_eq!(Some(votes.asked()), shortest, "{sequence:?}");
                assert_eq!((votes.outcome(), votes.unasked()), (Outcome::Settled, samples - votes.asked()));
            }
        }
    }
}

#[test]
fn a_failed_sample_is_replaced_while_samples_are_left() {
    let mut votes = Votes::new(5, 1, EARLY);
    assert_eq!(votes.next_wave(), 0..3);
    votes.fail(1);
    assert_eq!(votes.next_wave(), 3..4);
    votes.fail(0);
    assert_eq!(votes.next_wave(), 4..5);
    for _ in 0..3 {
        assert_eq!(votes.outcome(), Outcome::Open);
        votes.count(&[Vote::Positive]);
    }
    assert_eq!((votes.outcome(), votes.verdict(0)), (Outcome::Settled, Some(Verdict::Positive)));
    assert_eq!((votes.failed(), votes.unasked()), (2, 0));
}

#[test]
fn nothing_more_is_asked_when_the_samples_left_cannot_settle_it() {
    let mut votes = Votes::new(5, 1, EARLY);
    votes.next_wave();
    votes.count(&[Vote::Positive]);
    votes.fail(1);
    assert_eq!(votes.next_wave(), 3..4);
    votes.fail(2);
    assert_eq!(votes.next_wave(), 4..5, "two more positive votes would settle it");
    votes.fail(3);
    assert_eq!((votes.outcome(), votes.next_wave().len()), (Outcome::Undecidable, 0));
    assert_eq!(votes.verdict(0), None);
}

#[test]
fn failed_samples_are_asked_again_once_if_the_verdict_depends_on_them() {
    let mut votes = Votes::new(3, 1, EARLY);
    votes.next_wave();
    votes.count(&[Vote::Positive]);
    votes.fail(1);
    assert!(votes.second_chance().is_empty(), "the third may settle it");
    assert_eq!(votes.next_wave(), 2..3);
    votes.fail(2);
    assert_eq!(votes.outcome(), Outcome::Undecidable);
    assert_eq!(votes.second_chance(), [1, 2]);
    assert_eq!((votes.outcome(), votes.next_wave().len()), (Outcome::Open, 0));
    votes.fail(2);
    votes.count(&[Vote::Positive]);
    assert_eq!((votes.outcome(), votes.verdict(0)), (Outcome::Settled, Some(Verdict::Positive)));

    let mut votes = Votes::new(1, 0, VotingRule::Every);
    votes.next_wave();
    votes.fail(0);
    assert_eq!(votes.second_chance(), [0]);
    votes.fail(0);
    assert!(votes.second_chance().is_empty());
    assert_eq!(votes.outcome(), Outcome::Undecidable);
}

#[test]
fn failures_never_change_a_verdict_and_lose_it_only_if_they_could() {
    for samples in 1..=6u32 {
        for sequence in sequences(samples, &VOTES[..3]) {
            for failing in 0..1u32 << samples {
                let fails = |sample: u32| failing >> sample & 1 == 1;
                for rule in [EARLY, ALL] {
                    let votes = vote(rule, &one_verdict(&sequence), &[0, 1], fails);
                    let known = |(index, vote): (usize, &Vote)| (!fails(index as u32)).then_some(*vote);
                    let mut tally = Tally::default();
                    sequence.iter().enumerate().filter_map(known).for_each(|vote| tally.count(vote));
                    match tally.verdict(failing.count_ones()) {
                        Some(verdict) => {
                            assert_eq!(votes.verdict(0), Some(verdict), "{sequence:?} {failing:b}")
                        }
                        None => assert_eq!(votes.outcome(), Outcome::Undecidable, "{sequence:?} {failing:b}"),
                    }
                }
            }
        }
    }
}

#[test]
fn one_verdict_that_is_lost_loses_the_question() {
    let mut votes = Votes::new(3, 2, EARLY);
    votes.next_wave();
    votes.count(&[Vote::Positive, Vote::Positive]);
    votes.count(&[Vote::Positive, Vote::Negative]);
    assert_eq!(votes.verdict(0), Some(Verdict::Positive));
    assert_eq!(votes.next_wave(), 2..3);
    votes.fail(2);
    assert_eq!(votes.outcome(), Outcome::Undecidable);
}

#[test]
fn without_early_stopping_all_votes_are_awaited() {
    let mut votes = Votes::new(4, 1, ALL);
    votes.next_wave();
    for _ in 0..3 {
        votes.count(&[Vote::Positive]);
        assert_eq!(votes.outcome(), Outcome::Open);
    }
    votes.fail(3);
    assert_eq!((votes.outcome(), votes.verdict(0)), (Outcome::Settled, Some(Verdict::Positive)));
}

#[test]
fn verdicts_that_a_reply_leaves_out_are_absent() {
    let mut votes = Votes::new(1, 2, EARLY);
    votes.next_wave();
    votes.count(&[Vote::Unscored]);
    assert_eq!((votes.verdict(0), votes.verdict(1)), (Some(Verdict::Unscored), Some(Verdict::Absent)));
    assert_eq!(votes.verdict(2), None);
}

#[test]
fn a_proportion_needs_every_sample() {
    let mut votes = Votes::new(3, 1, VotingRule::Every);
    votes.next_wave();
    votes.count(&[Vote::Positive]);
    votes.count(&[Vote::Positive]);
    assert_eq!(votes.outcome(), Outcome::Open);
    votes.count(&[Vote::Negative]);
    assert_eq!((votes.outcome(), votes.tallies()[0].proportion()), (Outcome::Settled, Some(2.0 / 3.0)));

    let mut votes = Votes::new(3, 1, VotingRule::Every);
    votes.next_wave();
    votes.fail(0);
    assert_eq!(votes.outcome(), Outcome::Undecidable);
}

#[test]
fn a_proportion_leaves_out_what_says_neither() {
    assert_eq!(tally(1, 1, 2).proportion(), Some(0.5));
    assert_eq!(tally(0, 0, 4).proportion(), None);
}

/// The mean number of samples asked if each of `samples` is positive with this probability.
fn mean_asked(samples: u32, positive: f64) -> f64 {
    let sequences = sequences(samples, &VOTES[..2]);
    let weight = |votes: &[Vote]| -> f64 {
        let of = |&vote: &Vote| if vote == Vote::Positive { positive } else { 1.0 - positive };
        votes.iter().map(of).product()
    };
    let asked = |votes: &[Vote]| f64::from(vote(EARLY, &one_verdict(votes), &[0], |_| false).asked());
    sequences.map(|votes| weight(&votes) * asked(&votes)).sum()
}

#[test]
fn early_stopping_saves_these_shares_of_the_samples() {
    // Percent of the samples saved, for judges that call an answer valid with this probability.
    let probabilities = [1.0, 0.95, 0.9, 0.8, 0.5, 0.2, 0.1, 0.05, 0.0];
    for (samples, saved) in [
        (3, [33, 30, 27, 23, 17, 23, 27, 30, 33]),
        (5, [40, 37, 34, 27, 18, 27, 34, 37, 40]),
        (7, [43, 40, 37, 30, 17, 30, 37, 40, 43]),
        (9, [44, 42, 38, 31, 16, 31, 38, 42, 44]),
    ] {
        let percent = |&probability: &f64| {
            ((1.0 - mean_asked(samples, probability) / f64::from(samples)) * 100.0).round() as u32
        };
        assert_eq!(probabilities.each_ref().map(percent), saved, "of {samples} samples");
    }
}

fn ballots() -> impl Strategy<Value = Vec<Vec<Vote>>> {
    (1..10usize, 1..5usize).prop_flat_map(|(samples, verdicts)| {
        let vote = prop_oneof![4 => Just(Vote::Positive), 2 => Just(Vote::Negative), 1 => Just(Vote::Unscored), 1 => Just(Vote::Absent)];
        prop::collection::vec(prop::collection::vec(vote, verdicts), samples)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn several_verdicts_are_those_of_all_samples(ballots in ballots(), order in prop::collection::vec(0..9usize, 1..9)) {
        let early = vote(EARLY, &ballots, &order, |_| false);
        prop_assert_eq!(early.outcome(), Outcome::Settled);
        for verdict in 0..ballots[0].len() {
            let all: Vec<Vote> = ballots.iter().map(|ballot| ballot[verdict]).collect();
            prop_assert_eq!(early.verdict(verdict), Some(majority(&all)));
        }
        let in_order = vote(EARLY, &ballots, &[0], |_| false);
        prop_assert_eq!(early.asked(), in_order.asked(), "the order of the replies does not matter");
    }

    #[test]
    fn a_settled_result_stands_whatever_the_failed_samples_would_have_said(
        ballots in ballots(), order in prop::collection::vec(0..9usize, 1..9), failing in 0..1u32 << 10,
    ) {
        let votes = vote(EARLY, &ballots, &order, |sample| failing >> sample & 1 == 1);
        if votes.outcome() == Outcome::Settled {
            for verdict in 0..ballots[0].len() {
                let all: Vec<Vote> = ballots.iter().map(|ballot| ballot[verdict]).collect();
                prop_assert_eq!(votes.verdict(verdict), Some(majority(&all)));
            }
        }
    }
}

/// The median of complete grades, counted anew; replies without a grade are left out.
fn median(grades: &[Option<f64>]) -> Option<f64> {
    let mut known: Vec<f64> = grades.iter().flatten().copied().collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len().saturating_sub(1) / 2).copied()
}

/// Every list of so many replies with these grades.
fn all_grades(grades: &[Option<f64>], length: usize) -> Vec<Vec<Option<f64>>> {
    (0..length).fold(vec![Vec::new()], |lists, _| {
        lists
            .iter()
            .flat_map(|list| grades.iter().map(move |grade| [&list[..], &[*grade]].concat()))
            .collect()
    })
}

#[test]
fn a_median_is_settled_as_soon_as_it_is_certain_and_by_as_few_samples_as_possible() {
    const GRADES: [Option<f64>; 4] = [Some(0.25), Some(0.5), Some(0.75), None];
    let take = |votes: &mut Votes, grade: Option<f64>| {
        votes.count(&[Vote::Positive]);
        grade.into_iter().for_each(|grade| votes.grade(grade));
    };
    for samples in 1..=5 {
        for all in all_grades(&GRADES, samples) {
            let mut votes = Votes::new(samples as u32, 1, VotingRule::Median { early_stop: true });
            let first_wave = votes.next_wave();
            assert_eq!(first_wave.end as usize, samples / 2 + 1, "so many that are equal settle it");
            for known in 0..=samples {
                let mut medians = all_grades(&[Some(0.0), Some(0.4), Some(1.0), None], samples - known)
                    .into_iter()
                    .map(|rest| median(&[&all[..known], &rest].concat()));
                let first = medians.next().unwrap();
                let is_certain = medians.all(|median| median == first);
                assert_eq!(votes.outcome() == Outcome::Settled, is_certain, "{all:?} {known}");
                if is_certain {
                    assert_eq!((votes.median(), votes.asked() as usize), (median(&all), known), "{all:?}");
                    break;
                }
                take(&mut votes, all[known]);
                votes.next_wave();
            }
        }
    }
}

#[test]
fn a_grade_that_failed_matters_only_where_it_could_move_the_median() {
    for (grades, expected) in [
        (&[4.0, 4.0][..], (Outcome::Settled, Some(4.0))),
        (&[4.0, 5.0], (Outcome::Undecidable, Some(4.0))),
        (&[5.0], (Outcome::Undecidable, Some(5.0))),
    ] {
        for early_stop in [true, false] {
            let mut votes = Votes::new(3, 1, VotingRule::Median { early_stop });
            votes.fail(0);
            for sample in 1..3 {
                votes.next_wave();
                match grades.get(sample - 1) {
                    Some(grade) => {
                        votes.count(&[Vote::Positive]);
                        votes.grade(*grade);
                    }
                    None => votes.fail(sample as u32),
                }
            }
            assert_eq!((votes.outcome(), votes.median()), expected, "{grades:?}");
        }
    }
}

#[test]
fn a_majority_keeps_no_grades() {
    let mut votes = Votes::new(1, 1, EARLY);
    votes.grade(1.0);
    assert_eq!(votes.median(), None);
}
