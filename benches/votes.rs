//! How many calls of judges early stopping saves: `cargo bench --bench votes` prints the tables of
//! `docs/benchmarks.md`.
//!
//! The first table is exact: every ballot of a vote is counted, weighted by how likely it is. The
//! second and third simulate votes that may end at a risk, of questions that are alike and of some that are
//! harder. The fourth asks the replies recorded for `tests/engine/judged/parity.rs`.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what cannot be read ends the program"
)]

#[path = "../tests/engine/support/judging.rs"]
mod judging;

use adk_metrics::foundation::json::Document;
use adk_metrics::judge::evidence::{Evidence, Fit};
use adk_metrics::judge::votes::{Outcome, Verdict, Vote, Votes, VotingRule};
use adk_metrics::metrics::Explain;
use adk_metrics::metrics::judged::Question;
use adk_metrics::model::evalset::ConversationScenario;
use adk_metrics::model::invocation::{Invocation, Turns};
use adk_metrics::model::shape::{List, Type, View, Warnings, check};
use adk_metrics::run::{LEARNT_QUESTIONS, Options, Plan, PlanOptions, Run};
use serde_json::Value;

const AGREEMENTS: [f64; 6] = [0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
const SAMPLES: [u32; 3] = [3, 5, 7];
const RUBRICS: [i32; 3] = [1, 3, 5];

/// The risks that are simulated, and for how many rubrics.
const RISKS: [f64; 3] = [0.01, 0.02, 0.05];
const AT_RISK_RUBRICS: [usize; 4] = [1, 3, 5, 10];

/// The questions of a simulated run.
const QUESTIONS: usize = 120;

/// How many of ten questions are hard, and whether they come last or each tenth question is like the others.
const MIXTURES: [(usize, bool); 5] = [(1, false), (1, true), (2, true), (5, false), (5, true)];

const METRICS: [&str; 6] = [
    "final_response_match_v2",
    "rubric_based_final_response_quality_v1",
    "rubric_based_tool_use_quality_v1",
    "rubric_based_multi_turn_trajectory_quality_v1",
    "per_turn_user_simulator_quality_v1",
    "hallucinations_v1",
];

fn main() {
    println!("| samples | rubrics | {} |", AGREEMENTS.map(|share| format!("{share:>4}")).join(" | "));
    println!("| ------: | ------: |{}", " ---: |".repeat(AGREEMENTS.len()));
    for samples in SAMPLES {
        for rubrics in RUBRICS {
            let shares =
                AGREEMENTS.map(|agreement| percent(asked(samples, rubrics, agreement) / f64::from(samples)));
            println!("| {samples:7} | {rubrics:7} | {} |", shares.join(" | "));
        }
    }
    println!();
    println!("| risk | rubrics | {} |", AGREEMENTS.map(|share| format!("{share:>12}")).join(" | "));
    println!("| ---: | ------: |{}", " -----------: |".repeat(AGREEMENTS.len()));
    print_at_risk(&AGREEMENTS.map(|agreement| vec![agreement; QUESTIONS]));
    println!();
    let names =
        MIXTURES.map(|(hard, last)| format!("{hard} in 10, {}", if last { "last" } else { "spread" }));
    println!("| risk | rubrics | {} |", names.map(|name| format!("{name:>15}")).join(" | "));
    println!("| ---: | ------: |{}", " --------------: |".repeat(MIXTURES.len()));
    print_at_risk(&MIXTURES.map(|(hard, last)| mixture(hard, last)));
    println!();
    println!("| metric                                          | calls | of all |");
    println!("| ----------------------------------------------- | ----: | -----: |");
    for metric in METRICS {
        let (some, all) = recorded(metric);
        let share = percent(f64::from(some) / f64::from(all));
        println!("| {:47} | {some:5} | {share:>6} |", format!("`{metric}`"));
    }
}

/// Prints the rows of runs at a risk, with a column for each list of agreements.
fn print_at_risk(runs: &[Vec<f64>]) {
    for risk in RISKS {
        for rubrics in AT_RISK_RUBRICS {
            let cells: Vec<String> = runs
                .iter()
                .map(|agreements| {
                    let found = at_risk(risk, rubrics, agreements);
                    format!("{:>5}, {:.2}%", percent(found.calls), 100.0 * found.flips)
                })
                .collect();
            println!("| {:>2}% | {rubrics:7} | {} |", 100.0 * risk, cells.join(" | "));
        }
    }
}

/// The agreement of each question if so many of ten are hard.
fn mixture(hard: usize, last: bool) -> Vec<f64> {
    let is_hard = |question: usize| {
        let place = if last { question * 10 / QUESTIONS } else { question % 10 };
        place >= 10 - hard
    };
    (0..QUESTIONS).map(|question| if is_hard(question) { 0.6 } else { 0.99 }).collect()
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

/// The average number of samples asked for a question with so many rubrics, if each sample agrees with the
/// majority on each rubric independently with this probability.
fn asked(samples: u32, rubrics: i32, agreement: f64) -> f64 {
    let mut asked_by_number = vec![0.0; samples as usize + 1];
    for ballot in 0_u32..1 << samples {
        let agreeing = ballot.count_ones().cast_signed();
        let likely = agreement.powi(agreeing) * (1.0 - agreement).powi(samples.cast_signed() - agreeing);
        asked_by_number[vote(samples, ballot) as usize] += likely;
    }
    // The rubric that takes longest decides: another sample is asked as long as not all rubrics are settled.
    let (mut expected, mut settled) = (0.0, 0.0);
    for likely in &asked_by_number[..samples as usize] {
        settled += likely;
        expected += 1.0 - f64::powi(settled, rubrics);
    }
    expected
}

/// The number of samples asked if sample i says yes when bit i is set.
fn vote(samples: u32, ballot: u32) -> u32 {
    let mut votes = Votes::new(samples, 1, VotingRule::Majority { early_stop: true });
    while votes.outcome() == Outcome::Open {
        for sample in votes.next_wave() {
            let is_yes = ballot & 1 << sample != 0;
            votes.count(&[if is_yes { Vote::Positive } else { Vote::Negative }]);
        }
    }
    votes.asked()
}

/// What votes of five samples come to that may end at a risk.
struct AtRisk {
    /// The calls, as a share of those that are made until every verdict is certain.
    calls: f64,
    /// The share of the verdicts that all samples would have decided otherwise.
    flips: f64,
}

/// Of 200 runs with these questions, of which 80% of the rubrics are met, and each sample agrees with the
/// question's probability. As in a run, the first questions are asked until they are certain, and tell how samples
/// vote.
fn at_risk(risk: f64, rubrics: usize, agreements: &[f64]) -> AtRisk {
    let mut chance = Chance(11);
    let (mut calls, mut certain_calls, mut flips, mut verdicts) = (0, 0, 0, 0);
    for _ in 0..200 {
        let mut fit = Fit::default();
        for (question, &agreement) in (0..).zip(agreements) {
            let met: Vec<bool> = (0..rubrics).map(|_| chance.is(0.8)).collect();
            let ballots: [Vec<Vote>; 5] = std::array::from_fn(|_| {
                met.iter().map(|&met| Vote::from_verdict(Some(chance.is(agreement) == met))).collect()
            });
            let certain = asked_until(&ballots, None);
            certain_calls += certain.asked();
            if question < LEARNT_QUESTIONS {
                calls += certain.asked();
                for rubric in 0..rubrics {
                    let yes = ballots[..3].iter().filter(|ballot| ballot[rubric] == Vote::Positive).count();
                    fit.count(yes as u32, 3 - yes as u32);
                }
                continue;
            }
            let found = asked_until(&ballots, Some(Evidence { risk, prior: fit.prior() }));
            calls += found.asked();
            verdicts += rubrics;
            flips += (0..rubrics)
                .filter(|&rubric| {
                    let yes = ballots.iter().filter(|ballot| ballot[rubric] == Vote::Positive).count();
                    (found.verdict(rubric) == Some(Verdict::Positive)) != (yes > 2)
                })
                .count();
        }
    }
    AtRisk { calls: f64::from(calls) / f64::from(certain_calls), flips: flips as f64 / verdicts as f64 }
}

/// Asks the samples of a question in their order until the vote ends.
fn asked_until(ballots: &[Vec<Vote>], evidence: Option<Evidence>) -> Votes {
    let mut votes =
        Votes::new(ballots.len() as u32, ballots[0].len(), VotingRule::Majority { early_stop: true });
    if let Some(evidence) = evidence {
        votes.rest_on(evidence);
    }
    while votes.outcome() == Outcome::Open {
        let wave = votes.next_wave();
        let decided: Vec<bool> = (0..ballots[0].len()).map(|rubric| votes.is_decided(rubric)).collect();
        for sample in wave {
            let said = ballots[sample as usize].iter().zip(&decided);
            let ballot: Vec<Vote> = said.map(|(&vote, &is)| if is { Vote::NotAsked } else { vote }).collect();
            votes.count(&ballot);
        }
    }
    votes
}

/// Draws that are the same on every machine: S. Vigna's SplitMix64.
struct Chance(u64);

impl Chance {
    fn is(&mut self, probability: f64) -> bool {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64;
        share < probability
    }
}

/// The calls for the recorded conversations with early stopping, and without.
fn recorded(metric: &str) -> (u32, u32) {
    let path = format!("{}/tests/parity/vectors/judged_{metric}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the recorded vectors");
    let (mut some, mut all) = (0, 0);
    for line in text.lines() {
        let vector: Value = serde_json::from_str(line).unwrap();
        if vector["failed"] == true {
            continue;
        }
        some += calls(&vector, true);
        all += calls(&vector, false);
    }
    (some, all)
}

fn calls(vector: &Value, early_stop: bool) -> u32 {
    let warnings = Warnings::default();
    let mut metric = Document::parse(vector["metric"].to_string()).unwrap();
    let Ok(plan) = Plan::from_metric(&mut metric, PlanOptions::default(), &warnings) else { return 0 };
    let conversation = &<List<'_, Invocation<'_>>>::TYPE;
    let actual = checked(&vector["actual"], conversation).unwrap();
    let expected = checked(&vector["expected"], conversation);
    let scenario = checked(&vector["scenario"], &ConversationScenario::TYPE);
    let turns =
        |document| -> Turns<'_> { List::<Invocation<'_>>::from_json(Document::root(document)).into() };
    let mut run = Run::from_conversation(
        turns(&actual),
        expected.as_ref().map(turns),
        scenario.as_ref().map(|document| View::from_json(document.root())),
        plan,
        Options { explain: Explain::None, early_stop, same_turns: false, ..Options::default() },
    );
    let replies = &vector["replies"];
    let judge = |question: &Question, sample: u32| {
        let Question { invocation, step, purpose, .. } = question;
        let reply = &replies[format!("{invocation}/{step}/{}/{sample}", purpose.as_str())];
        reply.as_str().map(str::to_owned)
    };
    judging::drive(&mut run, &judge, false).1
}

fn checked(value: &Value, of: &Type) -> Option<Document<'static>> {
    let mut document = (!value.is_null()).then(|| Document::parse(value.to_string()).unwrap())?;
    check(&mut document, of, &Warnings::default()).unwrap();
    Some(document)
}
