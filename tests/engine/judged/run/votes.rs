//! Votes: the order of replies and early stopping change no result.

use super::*;

// ---- votes

/// The score of one verdict if all samples that are not known may say anything: nothing if they decide.
fn certain(known: &[Said], unknown: usize) -> Option<Option<f64>> {
    let count = |what| known.iter().filter(|said| **said == what).count();
    let (yes, no) = (count(Said::Yes), count(Said::No));
    let mut scores = Vec::new();
    for more_yes in 0..=unknown {
        for more_no in 0..=unknown - more_yes {
            let (yes, no) = (yes + more_yes, no + more_no);
            scores.push((yes + no > 0).then(|| f64::from(u32::from(yes > no))));
        }
    }
    scores.dedup();
    // Whether a rubric that nobody decided on was spoken of shows in the details.
    let is_open = unknown > 0 && scores == [None];
    (scores.len() == 1 && !is_open).then(|| scores[0])
}

/// One question: what each sample says of each verdict, none of what fails, and when each arrives.
struct Vote<'v> {
    metric: &'v str,
    samples: &'v [Option<Vec<Said>>],
    order: &'v [u64],
    early_stop: bool,
    dialect: Dialect,
}

/// The score of the turn, the scores of the rubrics, and how many calls were made.
type Held = (Option<f64>, Vec<(String, Option<f64>)>, usize);

impl Vote<'_> {
    fn hold(&self) -> Held {
        let verdicts = self.samples.iter().flatten().map(Vec::len).max().unwrap_or(1) as u64;
        let criterion = criterion(self.metric, self.samples.len() as u64, verdicts);
        let turns = json!([{ "user_content": said("Q".into()), "final_response": said("A".into()) }]);
        let set = json!({ "eval_set_id": "s", "eval_cases": [{ "eval_id": "c", "conversation": turns }] });
        let set = set.to_string();
        let config = json!({ "criteria": { (self.metric): criterion } }).to_string();
        let made = Made { expected: set.clone(), actual: set, config };
        let settings = JudgeOptions {
            calls: calls::CallOptions { concurrency: 16, ..calls::CallOptions::default() },
            ..JudgeOptions::default()
        };
        let options =
            Options { early_stop: self.early_stop, dialect: self.dialect, judges: settings, ..options(16) };
        let judge = &mut |_, asked: &Asked<'_>| {
            let sample = asked.call.call.sample as usize;
            match &self.samples[sample] {
                Some(said) => Fate::Reply(
                    self.order[sample],
                    JudgeReply { text: vote_in_words(self.metric, said), usage: tokens(1, 1) },
                ),
                None => Fate::Fail(self.order[sample], lasting()),
            }
        };
        made.play(&options, Scene::default(), judge, |story| {
            let metric = &story.results[0].metrics[0];
            let turn = &metric.turns[0];
            assert_eq!(metric.score, turn.score);
            let mut rubrics = Vec::new();
            if let Some(Details::Rubrics(findings)) = turn.details.as_deref() {
                rubrics.extend(findings.iter().map(|found| (found.rubric_id.clone(), found.score)));
            }
            (turn.score, rubrics, story.sent().count())
        })
    }

    /// What comes out is what all samples give, or nothing if those that failed could change it.
    fn check(&self) {
        let found = self.hold();
        let known: Vec<&Vec<Said>> = self.samples.iter().flatten().collect();
        let failed = self.samples.len() - known.len();
        let verdicts = known.iter().map(|said| said.len()).max().unwrap_or(1);
        let mut scores = Vec::new();
        for verdict in 0..verdicts {
            let votes: Vec<Said> = known.iter().map(|said| said[verdict]).collect();
            scores.push(certain(&votes, failed));
        }
        let expected = if scores.iter().all(Option::is_some) {
            let scores: Vec<f64> = scores.iter().flatten().flatten().copied().collect();
            (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
        } else {
            None
        };
        let Self { metric, samples, order, early_stop, .. } = self;
        let what = format!("{metric}: {samples:?} at {order:?}, early stop: {early_stop}");
        assert_eq!(found.0, expected, "{what}");
        assert!(found.2 <= samples.len(), "{what}");
        if failed == 0 {
            let all = Vote { early_stop: false, ..*self }.hold();
            assert_eq!((&found.0, &found.1), (&all.0, &all.1), "{what}");
            assert_eq!(all.2, samples.len(), "{what}");
        }
    }
}

/// Every order of so many arrivals.
fn orders(number: usize) -> Vec<Vec<u64>> {
    if number == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for order in orders(number - 1) {
        for at in 0..number {
            let mut order = order.clone();
            order.insert(at, 10 * number as u64);
            all.push(order);
        }
    }
    all
}

/// Every way in which so many samples can vote or fail.
fn ballots(number: usize) -> Vec<Vec<Option<Vec<Said>>>> {
    if number == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for ballots in self::ballots(number - 1) {
        for vote in [Some(vec![Said::Yes]), Some(vec![Said::No]), Some(vec![Said::Neither]), None] {
            let mut ballots = ballots.clone();
            ballots.push(vote);
            all.push(ballots);
        }
    }
    all
}

#[test]
fn no_vote_of_up_to_three_samples_depends_on_order_or_early_stopping() {
    for number in 1..=3 {
        for samples in ballots(number) {
            for order in orders(number) {
                for early_stop in [false, true] {
                    let dialect = Dialect::AdkPython;
                    Vote { metric: MATCH, samples: &samples, order: &order, early_stop, dialect }.check();
                }
            }
        }
    }
}

#[test]
fn random_votes_of_every_majority_metric_are_those_of_all_samples() {
    for seed in 0..1_500 {
        let chance = &mut Chance(seed);
        let metric = [MATCH, "safety_v1", ANSWER_RUBRICS, ANSWER_RUBRICS][chance.below(4) as usize];
        let number = 1 + chance.below(9);
        let verdicts = if metric == ANSWER_RUBRICS { 1 + chance.below(4) } else { 1 };
        let fails = chance.below(3) * 15;
        let said = |chance: &mut Chance| SAID[chance.below(4) as usize];
        let leaning = chance.percent(50);
        let samples: Vec<_> = (0..number)
            .map(|_| {
                let votes = |_| if leaning { Said::by(chance) } else { said(chance) };
                let votes: Vec<Said> = (0..verdicts).map(votes).collect();
                (!chance.percent(fails)).then_some(votes)
            })
            .collect();
        let order: Vec<u64> = (0..number).map(|_| chance.below(1_000)).collect();
        let early_stop = chance.percent(80);
        Vote { metric, samples: &samples, order: &order, early_stop, dialect: Dialect::AdkPython }.check();
    }
}

#[test]
fn where_every_sample_counts_all_are_asked_and_none_may_fail() {
    for seed in 0..240 {
        let chance = &mut Chance(seed);
        let (metric, dialect) = [
            (MATCH, Dialect::AdkTs),
            ("response_evaluation_score", Dialect::AdkPython),
            ("multi_turn_task_success_v1", Dialect::AdkPython),
        ][chance.below(3) as usize];
        let number = 1 + chance.below(7);
        let fails = chance.below(2) * 15;
        let samples: Vec<_> =
            (0..number).map(|_| (!chance.percent(fails)).then(|| vec![Said::by(chance)])).collect();
        let order: Vec<u64> = (0..number).map(|_| chance.below(1_000)).collect();
        let (score, _, sent) =
            Vote { metric, samples: &samples, order: &order, early_stop: true, dialect }.hold();
        let said: Vec<Said> = samples.iter().flatten().map(|said| said[0]).collect();
        let low = if metric == "response_evaluation_score" { 3.0 } else { 0.0 };
        let high = 1.0;
        let worth: Vec<f64> = said
            .iter()
            .filter_map(|said| match said {
                Said::Yes => Some(high),
                Said::No => Some(low),
                _ => None,
            })
            .collect();
        let is_whole = said.len() == samples.len();
        let mean = (is_whole && !worth.is_empty()).then(|| worth.iter().sum::<f64>() / worth.len() as f64);
        assert_eq!(score, mean, "seed {seed}: {metric}, {samples:?}");
        assert_eq!(sent as u64, number, "seed {seed}");
    }
}
