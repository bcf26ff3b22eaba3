//! Votes that end before they are certain.

use adk_metrics::judge::evidence::{Evidence, Fit, Prior};
use adk_metrics::judge::votes::{Outcome, Tally, Verdict, Vote, Votes, VotingRule};
use proptest::prelude::*;

/// Votes for and against, those that are missing, the prior, and how likely the latter decide otherwise. By scipy:
/// with k = ⌊(q + missing − p)/2⌋, it is `cdf(k)` or `sf(k)` of `betabinom(missing, positive + p, negative + q)` for
/// nine of ten questions and of `binom(missing, 0.5)` for the tenth, weighted by `pmf(p)` of `betabinom(p + q, positive,
/// negative)` and `binom(p + q, 0.5)`.
const BY_SCIPY: [(u32, u32, u32, f64, f64, f64); 14] = [
    (22, 42, 37, 10.1, 0.517, 0.00037497667201082634),
    (43, 8, 50, 18.0, 0.244, 9.66687681649759e-13),
    (1, 2, 4, 2.54, 13.5, 0.06814580937358417),
    (3, 7, 5, 0.0466, 0.598, 0.018681727928913566),
    (3, 3, 1, 15.0, 0.212, 0.514849228813981),
    (1, 1, 5, 0.708, 1.63, 0.37532784186348805),
    (0, 1, 6, 12.3, 0.572, 0.6147065808468001),
    (2, 1, 4, 2.33, 4.03, 0.38448372492494687),
    (1, 3, 3, 0.231, 0.0605, 0.08678456618078349),
    (1, 1, 1, 0.0246, 11.1, 0.47133836676667873),
    (4, 5, 6, 5.71, 0.126, 0.3644776946556839),
    (1, 0, 4, 0.9, 0.1, 0.037568575581395335),
    (2, 0, 3, 0.9, 0.1, 0.007662146003775961),
    (0, 2, 3, 0.9, 0.1, 0.09686140939597346),
];

fn tally(positive: u32, negative: u32) -> Tally {
    Tally { positive, negative, ..Tally::default() }
}

#[test]
fn the_chance_of_another_verdict_is_that_of_a_beta_binomial_distribution_or_a_coin() {
    for (positive, negative, missing, a, b, expected) in BY_SCIPY {
        let evidence = Evidence { risk: 0.01, prior: Prior { positive: a, negative: b } };
        let found = evidence.chance_of_other(&tally(positive, negative), missing);
        assert!((found - expected).abs() <= 1e-12 + 1e-6 * expected, "{found} instead of {expected}");
    }
}

#[test]
fn a_certain_verdict_has_no_risk_and_no_vote_is_no_evidence() {
    let evidence = Evidence { risk: 0.3, prior: Prior { positive: 100.0, negative: 0.01 } };
    assert_eq!(evidence.chance_of_other(&tally(3, 0), 2), 0.0);
    assert_eq!(evidence.verdict(&tally(0, 0), 5), None);
    assert_eq!(evidence.verdict(&tally(1, 0), 4), Some(Verdict::Positive));
    assert_eq!(evidence.verdict(&tally(0, 1), 4), None, "four more are likely to outvote it");
}

#[test]
fn a_question_may_be_harder_than_those_that_were_learnt_from() {
    // Samples that never disagreed: a single vote would settle everything if the next questions were like these.
    let mut fit = Fit::default();
    (0..20).for_each(|question| if question % 5 == 0 { fit.count(0, 3) } else { fit.count(3, 0) });
    let evidence = |risk| Evidence { risk, prior: fit.prior() };
    for (positive, negative, risk, ends) in [
        (1, 0, 0.01, false),
        (1, 0, 0.02, false),
        (2, 0, 0.01, true),
        (0, 1, 0.05, false),
        (0, 2, 0.01, false),
        (0, 2, 0.05, true),
        (1, 0, 0.05, true),
    ] {
        let missing = 5 - positive - negative;
        let verdict = evidence(risk).verdict(&tally(positive, negative), missing);
        assert_eq!(verdict.is_some(), ends, "{positive} to {negative} at {risk}");
    }
}

#[test]
fn flips_stay_below_the_risk_where_a_tenth_of_the_questions_is_harder() {
    // The first 20 questions are all easy. How often five samples that agree with this chance decide otherwise than
    // those that were asked, over the ballots of five votes.
    for risk in [0.01, 0.02, 0.05, 0.1] {
        let mut fit = Fit::default();
        (0..20).for_each(|question| if question % 5 == 0 { fit.count(0, 3) } else { fit.count(3, 0) });
        let evidence = Evidence { risk, prior: fit.prior() };
        let flips = |agreement: f64| {
            let mut flips = 0.0;
            for ballot in 0_u32..32 {
                let mut votes = Votes::new(5, 1, VotingRule::Majority { early_stop: true });
                votes.rest_on(evidence);
                while votes.outcome() == Outcome::Open {
                    for sample in votes.next_wave() {
                        votes.count(&[Vote::from_verdict(Some(ballot & 1 << sample != 0))]);
                    }
                }
                let yes = ballot.count_ones().cast_signed();
                if (votes.verdict(0) == Some(Verdict::Positive)) != (yes > 2) {
                    let chance = |yes_chance: f64| yes_chance.powi(yes) * (1.0 - yes_chance).powi(5 - yes);
                    flips += 0.8 * chance(agreement) + 0.2 * chance(1.0 - agreement);
                }
            }
            flips
        };
        for hard in [0.5, 0.6, 0.7, 0.8, 0.9] {
            let share = 0.9 * flips(0.99) + 0.1 * flips(hard);
            assert!(share <= risk, "{share} of {risk} with a tenth at {hard}");
        }
    }
}

#[test]
fn a_fit_finds_the_moments_of_votes() {
    let mut fit = Fit::default();
    // Three votes of each of 1,000 questions, whose chances are 0.1 or 0.9.
    for _ in 0..1_000 {
        for (positive, negative, times) in [(3, 0, 365), (2, 1, 135), (1, 2, 135), (0, 3, 365)] {
            (0..times).for_each(|_| fit.count(positive, negative));
        }
    }
    let Prior { positive, negative } = fit.prior();
    // The variance of the chances is 0.16 of at most 0.25: 1 / (a + b + 1) = 0.64.
    for found in [positive, negative] {
        assert!((found - 0.28125).abs() < 1e-3, "{found}");
    }
    let mut fixed = Fit::default();
    fixed.count(1, 0);
    fixed.count(0, 0);
    assert_eq!(fixed.prior(), Fit::default().prior(), "single votes say nothing of how votes go together");
    assert!(Fit::default().prior().positive > 0.0);
}

/// Asks for samples until the vote ends; replies arrive in an order of their own. Returns the vote, and what each
/// sample said of what it was asked.
fn asked(ballots: &[Vec<Vote>], evidence: Evidence, order: &[usize]) -> (Votes, Vec<Vec<Vote>>) {
    let mut votes =
        Votes::new(ballots.len() as u32, ballots[0].len(), VotingRule::Majority { early_stop: true });
    votes.rest_on(evidence);
    let mut open: Vec<usize> = Vec::new();
    let mut said = Vec::new();
    for turn in 0.. {
        let wave = votes.next_wave();
        assert!(wave.is_empty() || said.is_empty() || ballots[0].len() == 1 || open.is_empty());
        for sample in wave {
            open.push(sample as usize);
            let mut ballot = ballots[sample as usize].clone();
            for (index, vote) in ballot.iter_mut().enumerate() {
                if votes.is_decided(index) {
                    *vote = Vote::NotAsked;
                }
            }
            said.push(ballot);
        }
        if open.is_empty() {
            break;
        }
        assert_eq!(votes.outcome(), Outcome::Open, "nothing is asked in vain");
        let next = open.remove(order[turn % order.len()] % open.len());
        votes.count(&said[next]);
    }
    (votes, said)
}

fn ballots() -> impl Strategy<Value = Vec<Vec<Vote>>> {
    (1..10usize, 1..5usize).prop_flat_map(|(samples, verdicts)| {
        let vote =
            prop_oneof![8 => Just(Vote::Positive), 3 => Just(Vote::Negative), 1 => Just(Vote::Unscored)];
        prop::collection::vec(prop::collection::vec(vote, verdicts), samples)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_asked_does_not_depend_on_the_order_of_replies(
        ballots in ballots(),
        order in prop::collection::vec(0..9usize, 1..9),
        (positive, negative, risk) in (0.01..20.0f64, 0.01..20.0f64, 0.001..0.4f64),
    ) {
        let evidence = Evidence { risk, prior: Prior { positive, negative } };
        let (found, said) = asked(&ballots, evidence, &order);
        let (in_order, said_in_order) = asked(&ballots, evidence, &[0]);
        prop_assert_eq!(&said, &said_in_order);
        prop_assert_eq!(found.asked(), in_order.asked());
        prop_assert_eq!(found.tallies(), in_order.tallies());
        prop_assert_eq!(found.outcome(), Outcome::Settled);
        prop_assert!(found.risk() < risk);
        let (verdicts, samples) = found.at_risk();
        prop_assert!(verdicts > 0 || samples == 0);
        prop_assert!(found.unasked() >= samples);
        // No shorter prefix ends the vote.
        for shorter in 1..found.asked() {
            let mut votes = Votes::new(ballots.len() as u32, ballots[0].len(), VotingRule::Majority { early_stop: true });
            votes.rest_on(evidence);
            said.iter().take(shorter as usize).for_each(|ballot| votes.count(ballot));
            prop_assert_eq!(votes.outcome(), Outcome::Open);
        }
    }
}

#[test]
fn a_decided_verdict_is_left_out_of_later_samples_and_stays_as_it_is() {
    let evidence = Evidence { risk: 0.025, prior: Prior { positive: 0.3, negative: 0.3 } };
    let mut votes = Votes::new(9, 2, VotingRule::Majority { early_stop: true });
    votes.rest_on(evidence);
    assert_eq!(votes.next_wave(), 0..3, "three votes alike would do");
    votes.count(&[Vote::Positive, Vote::Negative]);
    votes.count(&[Vote::Positive, Vote::Positive]);
    assert!(votes.next_wave().is_empty(), "the third sample may decide the first verdict");
    votes.count(&[Vote::Positive, Vote::Negative]);
    assert_eq!((votes.is_decided(0), votes.is_decided(1)), (true, false));
    let (decided, risk) = (votes.tallies()[0], votes.risk());
    while votes.outcome() == Outcome::Open {
        for _ in votes.next_wave() {
            votes.count(&[Vote::NotAsked, Vote::Negative]);
        }
    }
    assert_eq!(votes.verdict(0), Some(Verdict::Positive));
    assert_eq!(votes.tallies()[0].positive, decided.positive);
    assert_eq!(votes.verdict(1), Some(Verdict::Negative));
    assert!(votes.asked() > 2 && risk > 0.0);
    assert_eq!(votes.at_risk().0, 2, "neither is certain");
}
