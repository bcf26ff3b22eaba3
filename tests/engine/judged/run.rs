//! Runs that ask judges, under a simulated clock: time, limits, faults, budgets, stops and votes.
//!
//! Evalsets, configs, latencies and replies are made up from seeds. What a judge replies depends on the
//! question and the sample alone, so that any two runs of one evalset must come to the same results,
//! whatever happened on the way.

use crate::support::host;
use std::collections::HashMap;
use std::fmt::Write as _;

use adk_metrics::foundation::json::Document;
use adk_metrics::judge::calls::{self, Budget, Prices, RetryOptions, Usage};
use adk_metrics::judge::provider::{Failure, FailureKind};
use adk_metrics::metrics::judged::{Purpose, Question};
use adk_metrics::metrics::{Details, Dialect, Evaluation, Explain};
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::config::JudgeOverrides;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::results::EvalStatus;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{CaseResult, JudgeCall, JudgeOptions, JudgeReply, Options, Plan, PlanOptions, Run};
use host::{Chance, Fate, Script, Story, Wish, play};
use serde_json::{Value, json};

const MATCH: &str = "final_response_match_v2";
const HALLUCINATIONS: &str = "hallucinations_v1";
const USER_TURNS: &str = "per_turn_user_simulator_quality_v1";
const ANSWER_RUBRICS: &str = "rubric_based_final_response_quality_v1";

const JUDGED: [&str; 9] = [
    MATCH,
    HALLUCINATIONS,
    USER_TURNS,
    ANSWER_RUBRICS,
    "rubric_based_tool_use_quality_v1",
    "rubric_based_multi_turn_trajectory_quality_v1",
    "safety_v1",
    "response_evaluation_score",
    "multi_turn_task_success_v1",
];

// ---- made-up evalsets

/// An evalset, what the agent did, and what to score.
struct Made {
    expected: String,
    actual: String,
    config: String,
}

fn said(text: String) -> Value {
    json!({ "parts": [{ "text": text }] })
}

fn turn(text: String, chance: &mut Chance) -> Value {
    let texts = chance.below(3);
    let event = |index| json!({ "author": "root", "content": said(format!("On the way, {index}.")) });
    let events: Vec<Value> = (0..texts).map(event).collect();
    json!({
        "user_content": said(format!("Question of {text}")),
        "final_response": said(format!("Answer of {text}")),
        "intermediate_data": { "invocation_events": events },
    })
}

fn rubrics(number: u64) -> Value {
    let rubric = |id| json!({ "rubric_id": format!("r{id}"), "rubric_content": { "text_property": format!("Is {id}.") } });
    (0..number).map(rubric).collect()
}

fn criterion(metric: &str, samples: u64, rubrics_in_force: u64) -> Value {
    let mut criterion = json!({ "threshold": 0.5, "judge_model_options": { "num_samples": samples } });
    if metric.starts_with("rubric") {
        criterion["rubrics"] = rubrics(rubrics_in_force);
    }
    if metric == HALLUCINATIONS {
        criterion["evaluate_intermediate_nl_responses"] = true.into();
    }
    criterion
}

/// An evalset of so many cases; some metrics of the nine, some of the host's.
fn made(seed: u64, cases: u64, customs: bool, limits: bool) -> Made {
    let chance = &mut Chance(seed);
    let mut criteria = serde_json::Map::new();
    for _ in 0..1 + chance.below(3) {
        let metric = JUDGED[chance.below(JUDGED.len() as u64) as usize];
        let mut criterion = criterion(metric, 1 + chance.below(7), 1 + chance.below(3));
        if limits && chance.percent(60) {
            criterion["judge_model_options"]["parallelism_limit"] = (1 + chance.below(4)).into();
        }
        criteria.insert(metric.into(), criterion);
    }
    if customs {
        criteria.insert("mine".into(), json!({ "threshold": 0.5 }));
        criteria.insert("response_match_score".into(), json!({ "threshold": 0.5 }));
    }
    let has_scenarios = criteria.contains_key(USER_TURNS);
    let (mut expected, mut actual) = (Vec::new(), Vec::new());
    for case in 0..cases {
        let id = format!("case {case}");
        let number = 1 + chance.below(4);
        let turns: Vec<Value> = (0..number).map(|turn_of| turn(format!("{id}, {turn_of}"), chance)).collect();
        let scenario =
            json!({ "starting_prompt": format!("Question of {id}, 0"), "conversation_plan": "Ask." });
        expected.push(match has_scenarios && chance.percent(80) {
            true => json!({ "eval_id": id, "conversation_scenario": scenario }),
            false => json!({ "eval_id": id, "conversation": turns }),
        });
        // Some cases were run twice, some not at all, some with another number of turns.
        let runs = if chance.percent(5) { 0 } else { 1 + u64::from(chance.percent(10)) };
        let turns = if chance.percent(4) { &turns[1..] } else { &turns[..] };
        for _ in 0..runs {
            let at = chance.below(actual.len() as u64 + 1) as usize;
            actual.insert(at, json!({ "eval_id": id, "conversation": turns }));
        }
    }
    if actual.is_empty() {
        actual.push(json!({ "eval_id": "case 0", "conversation": [turn("case 0, 0".into(), chance)] }));
    }
    Made {
        expected: json!({ "eval_set_id": "s", "eval_cases": expected }).to_string(),
        actual: json!({ "eval_set_id": "s", "eval_cases": actual }).to_string(),
        config: json!({ "criteria": criteria }).to_string(),
    }
}

/// Prompts as short as can be: what they say is nothing to these tests.
fn short_prompts() -> Vec<(String, String)> {
    adk_metrics::judge::prompt::ALL
        .iter()
        .map(|prompt| {
            let holes: Vec<_> = prompt.needed.iter().map(|name| format!("{{{{{name}}}}}")).collect();
            (prompt.id.to_owned(), holes.join(""))
        })
        .collect()
}

impl Made {
    fn run<T>(&self, options: &Options, with: impl FnOnce(&mut Run<'_>) -> T) -> T {
        let warnings = Warnings::default();
        let prompts = short_prompts();
        let plan_options = PlanOptions {
            custom: &["mine".into()],
            judging: JudgeOverrides { prompts: &prompts, vertex: false },
            ..PlanOptions::default()
        };
        let plan =
            Plan::from_config(&mut Document::parse(&*self.config).unwrap(), plan_options, &warnings).unwrap();
        let expected = EvalSetFile::read(Document::parse(&*self.expected).unwrap(), "s", &warnings).unwrap();
        let actual = ActualFile::read(Document::parse(&*self.actual).unwrap(), "s", &warnings).unwrap();
        with(&mut Run::new(expected.set(), actual.runs(), plan, options.clone()))
    }

    /// Plays it with a judge who may keep a reply back, and looks at the story.
    fn play<T>(
        &self,
        options: &Options,
        scene: Scene,
        judge: &mut dyn FnMut(u64, &Asked<'_>) -> Fate,
        look: impl FnOnce(&Story<'_>) -> T,
    ) -> T {
        self.run(options, |run| {
            let metrics: Vec<String> = run.plan().metrics.iter().map(|metric| metric.name.clone()).collect();
            let mut script = Script {
                judge: &mut |now, call, question| {
                    let metric = &*metrics[call.metric];
                    judge(now, &Asked { call, question, metric })
                },
                custom_takes: scene.custom_takes,
                cancel_at: scene.cancel_at,
                keeps_busy: scene.keeps_busy,
            };
            let story = play(run, options, &mut script);
            check_results(run, &story);
            look(&story)
        })
    }
}

#[derive(Clone, Copy, Default)]
struct Scene {
    custom_takes: u64,
    cancel_at: Option<u64>,
    keeps_busy: bool,
}

fn options(concurrency: u32) -> Options {
    let mut options = Options { explain: Explain::None, ..Options::default() };
    options.judges.calls.concurrency = concurrency;
    options
}

// ---- made-up judges

/// A question to a judge, for one sample.
struct Asked<'q> {
    call: &'q JudgeCall,
    question: &'q Question,
    metric: &'q str,
}

impl Asked<'_> {
    /// What only the question and the sample decide.
    fn chance(&self) -> Chance {
        let JudgeCall { call, metric, pairing } = self.call;
        let mut seed = 0_u64;
        for part in [
            pairing.case,
            pairing.run.unwrap_or_default(),
            *metric,
            self.question.invocation,
            self.question.step,
            self.question.purpose as usize,
            call.sample as usize,
        ] {
            seed = Chance(seed ^ part as u64).below(u64::MAX);
        }
        Chance(seed)
    }

    fn reply(&self) -> JudgeReply {
        let mut chance = self.chance();
        let number = self.question.verdicts;
        let text = match self.question.purpose {
            Purpose::Segment => {
                let sentences = chance.below(4);
                json!({ "sentences": (0..sentences).map(|n| format!("Sentence {n}.")).collect::<Vec<_>>() })
                    .to_string()
            }
            Purpose::Validate => validations(&mut chance),
            _ => vote_in_words(self.metric, &(0..number).map(|_| Said::by(&mut chance)).collect::<Vec<_>>()),
        };
        let usage = Usage { input_tokens: 40 + chance.below(100), output_tokens: 1 + chance.below(50) };
        JudgeReply { text, usage: Some(usage) }
    }
}

fn validations(chance: &mut Chance) -> String {
    let labels = ["supported", "unsupported", "not_applicable", "nonsense"];
    let entry = |chance: &mut Chance| {
        let label = labels[chance.below(4) as usize];
        json!({ "sentence": "S.", "label": label, "rationale": "R.", "supporting_excerpt": "", "contradicting_excerpt": "" })
    };
    let list: Vec<Value> = (0..1 + chance.below(3)).map(|_| entry(chance)).collect();
    json!({ "validations": list }).to_string()
}

/// What one sample says of one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Yes,
    No,
    Neither,
    Nothing,
}

const SAID: [Said; 4] = [Said::Yes, Said::No, Said::Neither, Said::Nothing];

impl Said {
    fn by(chance: &mut Chance) -> Self {
        match chance.below(12) {
            0..6 => Said::Yes,
            6..10 => Said::No,
            10 => Said::Neither,
            _ => Said::Nothing,
        }
    }
}

/// A reply that says this of each verdict. All but the rubric metrics have one.
fn vote_in_words(metric: &str, said: &[Said]) -> String {
    if metric.starts_with("rubric") {
        let mut entries = Vec::new();
        for (index, said) in said.iter().enumerate() {
            let verdict = match said {
                Said::Yes => "yes",
                Said::No => "no",
                Said::Neither => "perhaps",
                Said::Nothing => continue,
            };
            let (id, property) = (format!("r{index}"), format!("Is {index}."));
            entries.push(json!({ "id": id, "property": property, "rationale": "R.", "verdict": verdict }));
        }
        return json!({ "rubrics": entries }).to_string();
    }
    let is_valid = match said[0] {
        Said::Yes => "valid",
        Said::No => "invalid",
        Said::Neither => "perhaps",
        Said::Nothing => return "I would rather not say.".into(),
    };
    match metric {
        MATCH => json!({ "reasoning": "R.", "is_the_agent_response_valid": is_valid }).to_string(),
        USER_TURNS => json!({ "reasoning": "R.", "is_valid": is_valid }).to_string(),
        _ => {
            let score = match said[0] {
                Said::Yes => json!(1),
                Said::No if metric == "response_evaluation_score" => json!(3),
                Said::No => json!(0),
                _ => json!("high"),
            };
            json!({ "explanation": "R.", "score": score }).to_string()
        }
    }
}

fn failure(kind: FailureKind, retryable: bool) -> Failure {
    let message = "the judge is out of order".into();
    Failure { kind, message, help: None, retryable, retry_after_ms: None, status: None }
}

/// A failure that no other attempt changes.
fn lasting() -> Failure {
    failure(FailureKind::Refused, false)
}

fn passing() -> Failure {
    failure(FailureKind::Server, true)
}

fn limited() -> Failure {
    failure(FailureKind::RateLimited, true)
}

/// A failure of the kinds that pass: rate limits, faults of the server, resets, hangs, half replies and
/// malformed bodies, which are found out after as long as a reply would take.
fn fault(chance: &mut Chance) -> Fate {
    let soon = 1 + chance.below(100);
    match chance.below(6) {
        0 => Fate::Fail(soon, limited()),
        1 => {
            let after = Some((200 + chance.below(3_000)) as f64);
            Fate::Fail(soon, Failure { retry_after_ms: after, ..limited() })
        }
        2 | 3 => Fate::Fail(soon, passing()),
        4 => Fate::Fail(200 + chance.below(2_000), passing()),
        _ => Fate::Hang,
    }
}

// ---- what every run keeps to

/// Every case once; a finite score or a reason for each metric and turn.
fn check_results(run: &Run<'_>, story: &Story<'_>) {
    assert_eq!(story.results.len(), run.total());
    let did = run.progress();
    assert_eq!(did.calls, did.answered + did.failed + did.in_flight, "{did:?}");
    assert_eq!(did.asked, did.answered + did.cached + did.lost + did.queued + did.in_flight, "{did:?}");
    for (index, result) in story.results.iter().enumerate() {
        assert!(
            story.results[..index].iter().all(|other| other.pairing != result.pairing),
            "a case came twice"
        );
        assert_eq!(result.metrics.is_empty(), result.failure.is_some());
        for metric in &result.metrics {
            let turns = metric.turns.iter().map(|turn| (turn.score, turn.status, turn.reason.as_deref()));
            for (score, status, reason) in
                turns.chain([(metric.score, metric.status, metric.reason.as_deref())])
            {
                assert!(score.is_none_or(f64::is_finite));
                if status != EvalStatus::Informational {
                    assert_eq!(score.is_none(), status == EvalStatus::NotEvaluated);
                    assert_eq!(
                        score.is_none(),
                        reason.is_some_and(|reason| !reason.is_empty()),
                        "{metric:?}"
                    );
                }
            }
        }
    }
}

/// For each case and run what came of each metric, reasons aside.
type Gist = Vec<((usize, Option<usize>), Vec<String>)>;

/// The results in an order of their own.
fn gist(results: &[CaseResult<'_>]) -> Gist {
    let mut gist: Vec<_> = results
        .iter()
        .map(|result| {
            let metrics = result.metrics.iter().map(gist_of_metric).collect();
            ((result.pairing.case, result.pairing.run), metrics)
        })
        .collect();
    gist.sort();
    gist
}

fn gist_of_metric(metric: &Evaluation<'_>) -> String {
    let mut text = format!("{:?} {:?}", metric.score, metric.status);
    for turn in &metric.turns {
        write!(text, ", {:?} {:?}", turn.score, turn.status).unwrap();
        if let Some(Details::Rubrics(findings)) = turn.details.as_deref() {
            for found in findings {
                write!(text, " {} {:?}", found.rubric_id, found.score).unwrap();
            }
        }
    }
    text
}

/// The results that a judge who never fails comes to.
fn calm_gist(made: &Made, early_stop: bool) -> Gist {
    let options = Options { early_stop, ..options(8) };
    let judge = &mut |_, asked: &Asked<'_>| Fate::Reply(100, asked.reply());
    made.play(&options, Scene::default(), judge, |story| gist(&story.results))
}

/// A size for an evalset: mostly small, up to 200 cases.
fn cases(chance: &mut Chance) -> u64 {
    match chance.below(40) {
        0 => 100 + chance.below(101),
        1..6 => 10 + chance.below(30),
        _ => 1 + chance.below(6),
    }
}

// ---- time

#[test]
fn calls_of_equal_length_finish_in_time_with_no_slot_idle() {
    const LATENCY: u64 = 1_000;
    let mut questions = 0;
    for seed in 0..240 {
        let chance = &mut Chance(seed);
        let made = made(seed, cases(chance), seed % 3 == 0, false);
        let concurrency = 1 + chance.below(32) as u32;
        let early_stop = chance.percent(60);
        let scene = Scene { keeps_busy: true, ..Scene::default() };
        let judge = &mut |_, asked: &Asked<'_>| Fate::Reply(LATENCY, asked.reply());
        made.play(&Options { early_stop, ..options(concurrency) }, scene, judge, |story| {
            let number = story.sent().count() as u64;
            questions += number;
            let rounds = number.div_ceil(u64::from(concurrency)) + story.longest_chain.max(1) - 1;
            assert!(
                story.took <= rounds * LATENCY,
                "seed {seed}: {number} calls in chains of {} at {concurrency} took {} ms",
                story.longest_chain,
                story.took,
            );
        });
    }
    assert!(questions > 5_000, "{questions}");
}

#[test]
fn limits_hold_and_the_order_of_replies_changes_nothing() {
    for seed in 1_000..1_150 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(14), true, true);
        let early_stop = chance.percent(60);
        let calm = calm_gist(&made, false);
        let mut options = Options { early_stop, ..options(1 + chance.below(12) as u32) };
        options.concurrency = 1 + chance.below(4) as usize;
        let scene = Scene { custom_takes: chance.below(3_000), ..Scene::default() };
        let mut cached = 0;
        let mut latencies = chance.clone();
        let judge = &mut |_, asked: &Asked<'_>| {
            if latencies.percent(10) {
                cached += 1;
                return Fate::Cached(asked.reply());
            }
            Fate::Reply(latencies.below(2_000), asked.reply())
        };
        made.play(&options, scene, judge, |story| assert_eq!(gist(&story.results), calm, "seed {seed}"));
    }
}

#[test]
fn every_sample_is_answered_or_spared() {
    for seed in 0..60 {
        let made = made(seed, 1 + seed % 7, false, false);
        let options = options(5);
        made.run(&options, |run| {
            let metrics: Vec<String> = run.plan().metrics.iter().map(|metric| metric.name.clone()).collect();
            let mut latency = Chance(seed);
            let mut script = Script {
                judge: &mut |_, call, question| {
                    let asked = Asked { call, question, metric: &metrics[call.metric] };
                    match latency.percent(20) {
                        true => Fate::Cached(asked.reply()),
                        false => Fate::Reply(latency.below(900), asked.reply()),
                    }
                },
                custom_takes: 0,
                cancel_at: None,
                keeps_busy: true,
            };
            let samples = play(run, &options, &mut script).samples;
            let progress = run.progress();
            assert_eq!(progress.answered + progress.cached + progress.saved, samples, "seed {seed}");
            assert_eq!((progress.lost, progress.calls), (0, progress.answered), "seed {seed}");
        });
    }
}

// ---- faults

fn storm(made: &Made, options: &Options, seed: u64, look: &mut dyn FnMut(&Story<'_>)) {
    let mut chance = Chance(seed);
    let judge = &mut |_, asked: &Asked<'_>| match chance.percent(30) {
        true => fault(&mut chance),
        false => Fate::Reply(100 + chance.below(1_500), asked.reply()),
    };
    made.play(options, Scene { custom_takes: 500, ..Scene::default() }, judge, look);
}

#[test]
fn storms_lose_no_verdict_and_the_same_seed_gives_the_same_trace() {
    for seed in 2_000..2_080 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(14), seed % 2 == 0, seed % 5 == 0);
        let calm = calm_gist(&made, true);
        let mut options = options(1 + chance.below(16) as u32);
        options.judges.calls.timeout_ms = 5_000.0;
        options.judges.calls.seed = seed;
        let mut traces: Vec<Vec<(u64, Wish)>> = Vec::new();
        for (server, retries) in [(seed, seed), (seed, seed), (seed, seed + 1), (seed + 1, seed)] {
            options.judges.calls.seed = retries;
            storm(&made, &options, server, &mut |story| {
                assert_eq!(gist(&story.results), calm, "seed {seed}");
                traces.push(story.wishes.clone());
            });
            if seed % 4 != 0 && traces.len() == 2 {
                break;
            }
        }
        assert!(traces[0] == traces[1], "seed {seed}: two runs of one seed differ");
    }
}

#[test]
fn what_failed_is_asked_once_more_when_all_else_is_done() {
    let mut had_second_chance = 0;
    for seed in 3_000..3_060 {
        let made = made(seed, 1 + seed % 9, false, false);
        let calm = calm_gist(&made, true);
        let mut options = options(4);
        options.judges.calls.retry =
            RetryOptions { attempts: 2, initial_delay_ms: 10.0, ..RetryOptions::default() };
        // Of some questions no sample is answered before it was sent three times.
        let mut sent: HashMap<(u32, u32), u32> = HashMap::new();
        let mut is_ever_answered = false;
        let judge = &mut |_, asked: &Asked<'_>| {
            if Chance(asked.call.call.question.into()).percent(60) {
                is_ever_answered = true;
                return Fate::Reply(50, asked.reply());
            }
            let times = sent.entry((asked.call.call.question, asked.call.call.sample)).or_default();
            *times += 1;
            if *times < 3 { Fate::Fail(20, passing()) } else { Fate::Reply(50, asked.reply()) }
        };
        let found = made.play(&options, Scene::default(), judge, |story| gist(&story.results));
        if is_ever_answered {
            assert_eq!(found, calm, "seed {seed}");
            had_second_chance += u32::from(!sent.is_empty());
        }
    }
    assert!(had_second_chance > 30, "{had_second_chance}");
}

#[test]
fn a_judge_that_never_answers_is_not_asked_again_in_the_end() {
    for seed in 0..20 {
        let made = made(seed, 3, false, false);
        let mut options = options(4);
        options.judges.calls.retry = RetryOptions { attempts: 3, ..RetryOptions::default() };
        let judge = &mut |_, _: &Asked<'_>| Fate::Fail(5, passing());
        made.play(&options, Scene::default(), judge, |story| {
            assert!(story.sent().all(|(_, call, _)| call.attempt <= 3));
            let mut samples: Vec<_> =
                story.sent().map(|(_, call, _)| (call.question, call.sample, call.attempt)).collect();
            let all = samples.len();
            samples.sort_unstable();
            samples.dedup();
            assert_eq!(samples.len(), all, "seed {seed}: no attempt is made twice");
        });
    }
}

#[test]
fn a_key_that_is_refused_stops_its_metric_and_no_other() {
    let mut barred_runs = 0;
    for seed in 4_000..4_060 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(30), seed % 2 == 0, false);
        let calm = calm_gist(&made, true);
        let concurrency = 1 + chance.below(6);
        let from = chance.below(400);
        let refused = chance.below(3) as usize;
        let judge = &mut |now, asked: &Asked<'_>| match asked.call.metric == refused && now >= from {
            true => Fate::Fail(30, failure(FailureKind::Auth, false)),
            false => Fate::Reply(100, asked.reply()),
        };
        made.play(&options(concurrency as u32), Scene::default(), judge, |story| {
            let of_refused: Vec<u64> =
                story.sent().filter(|(_, _, metric)| *metric == refused).map(|(at, ..)| at).collect();
            let Some(first) = of_refused.iter().copied().find(|at| *at >= from) else { return };
            barred_runs += 1;
            assert!(of_refused.iter().all(|at| *at < first + 30), "seed {seed}: {of_refused:?}");
            for ((pairing, found), (_, calm)) in gist(&story.results).iter().zip(&calm) {
                for (metric, (found, calm)) in found.iter().zip(calm).enumerate() {
                    assert!(metric == refused || found == calm, "seed {seed}, case {pairing:?}");
                }
            }
            let metrics = story.results.iter().filter_map(|result| result.metrics.get(refused));
            let mut reasons =
                metrics.flat_map(|metric| &metric.turns).filter_map(|turn| turn.reason.as_deref());
            // A turn of hallucinations_v1 scores the steps that were checked.
            let is_told = reasons.any(|reason| reason.contains("out of order"));
            assert!(is_told || made.config.contains(HALLUCINATIONS), "seed {seed}");
        });
    }
    assert!(barred_runs > 20, "{barred_runs}");
}

// ---- budgets and stops

/// The verdicts of turns that are there in spite of a stop are those that there would have been.
fn assert_part_of(story: &Story<'_>, made: &Made, what: &str) {
    let judge = &mut |_, asked: &Asked<'_>| Fate::Reply(100, asked.reply());
    made.play(&options(8), Scene::default(), judge, |calm| {
        for result in &story.results {
            let calm = calm.results.iter().find(|calm| calm.pairing == result.pairing).unwrap();
            for (index, (found, calm)) in result.metrics.iter().zip(&calm.metrics).enumerate() {
                for (turn, calm) in found.turns.iter().zip(&calm.turns) {
                    let is_mean_of_steps = made.config.contains(HALLUCINATIONS);
                    assert!(
                        turn.score.is_none() || turn.score == calm.score || is_mean_of_steps,
                        "{what}: metric {index} of {:?}",
                        result.pairing
                    );
                }
            }
        }
    });
}

fn latency(chance: &mut Chance) -> impl FnMut(u64, &Asked<'_>) -> Fate {
    let mut chance = chance.clone();
    move |_, asked| Fate::Reply(50 + chance.below(400), asked.reply())
}

#[test]
fn budgets_stop_at_once_and_let_calls_in_flight_finish() {
    let mut spent = 0;
    for seed in 5_000..5_090 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(25), seed % 2 == 0, false);
        let mut options = options(1 + chance.below(8) as u32);
        let price = Prices { input_per_million: 1e6, output_per_million: 0.0 };
        options.judges.prices = vec![("gemini-2.5-flash".into(), price)];
        let most = 1 + chance.below(60);
        let budget = &mut options.judges.calls.budget;
        match seed % 3 {
            0 => *budget = Budget { calls: Some(most as u32), ..Budget::default() },
            1 => *budget = Budget { tokens: Some(most * 200), ..Budget::default() },
            _ => *budget = Budget { cost: Some(most as f64 * 100.0), ..Budget::default() },
        }
        let mut judge = latency(chance);
        made.play(&options, Scene::default(), &mut judge, |story| {
            let sent = story.sent().count() as u64;
            assert!(seed % 3 != 0 || sent <= most, "seed {seed}: {sent} of {most} calls");
            assert_eq!(story.aborted().count(), 0, "seed {seed}");
            let of_budget = |result: &CaseResult<'_>| {
                let mut reasons = result.metrics.iter().filter_map(|metric| metric.reason.as_deref());
                reasons.any(|reason| reason.contains("budget"))
            };
            if story.results.iter().any(of_budget) {
                spent += 1;
                let last = story.sent().map(|(at, ..)| at).max().unwrap_or_default();
                assert!(story.took <= last + 450, "seed {seed}: nothing is waited for but the last calls");
            }
            assert_part_of(story, &made, &format!("seed {seed}"));
        });
    }
    assert!(spent > 35, "{spent}");
}

#[test]
fn the_deadline_and_cancelling_abort_what_is_open() {
    for seed in 6_000..6_090 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(25), seed % 2 == 0, seed % 7 == 0);
        let concurrency = 1 + chance.below(8) as u32;
        let mut options = options(concurrency);
        let at = 1 + chance.below(2_000);
        let is_deadline = seed % 2 == 1;
        let mut scene = Scene { custom_takes: 30, ..Scene::default() };
        match is_deadline {
            true => options.judges.calls.run_timeout_ms = at as f64,
            false => scene.cancel_at = Some(at),
        }
        let mut judge = latency(chance);
        made.play(&options, scene, &mut judge, |story| {
            assert!(story.sent().all(|(sent, ..)| sent < at || (!is_deadline && sent == at)), "seed {seed}");
            assert!(story.aborted().all(|aborted| aborted == at), "seed {seed}");
            assert!(story.aborted().count() <= concurrency as usize);
            assert!(story.took <= at, "seed {seed}: took {} of {at} ms", story.took);
            assert_part_of(story, &made, &format!("seed {seed}"));
        });
    }
}

#[test]
fn a_pause_with_nothing_left_to_send_ends_with_the_next_case() {
    for seed in 0..40 {
        let chance = &mut Chance(seed);
        let made = made(seed, 12, false, false);
        let mut options = options(1 + chance.below(3) as u32);
        options.judges.calls.retry.attempts = 1;
        let judge = &mut |_, asked: &Asked<'_>| {
            let limited = Failure { retry_after_ms: Some(1_000.0), ..limited() };
            if chance.percent(50) { Fate::Fail(10, limited) } else { Fate::Reply(100, asked.reply()) }
        };
        made.play(&options, Scene::default(), judge, |story| {
            assert_part_of(story, &made, &format!("seed {seed}"))
        });
    }
}

/// Faults that pass and faults that do not, refused keys, limits, budgets and stops, all at once.
#[test]
fn whatever_happens_every_run_ends_with_every_case() {
    for seed in 7_000..7_150 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(12), seed % 2 == 0, seed % 3 == 0);
        let mut options = Options { early_stop: chance.percent(70), ..options(1 + chance.below(10) as u32) };
        let judging = &mut options.judges.calls;
        judging.retry.attempts = 1 + chance.below(3) as u32;
        judging.timeout_ms = 2_500.0;
        judging.seed = seed;
        if chance.percent(20) {
            judging.run_timeout_ms = chance.below(20_000) as f64;
        }
        if chance.percent(20) {
            judging.budget.calls = Some(chance.below(100) as u32);
        }
        let cancel_at = chance.percent(20).then(|| chance.below(20_000));
        let scene = Scene { custom_takes: chance.below(900), cancel_at, keeps_busy: false };
        let faults = chance.below(60);
        let mut chance = chance.clone();
        let judge = &mut |_, asked: &Asked<'_>| match chance.below(100) {
            0..4 => Fate::Fail(chance.below(300), lasting()),
            4 if faults > 40 => {
                let refused = failure(FailureKind::Auth, false);
                Fate::Fail(chance.below(300), refused)
            }
            5..10 => Fate::Cached(asked.reply()),
            other if other < faults => fault(&mut chance),
            _ => Fate::Reply(chance.below(1_500), asked.reply()),
        };
        made.play(&options, scene, judge, |story| assert_part_of(story, &made, &format!("seed {seed}")));
    }
}

#[test]
fn a_run_that_is_cancelled_before_it_begins_asks_nobody() {
    let made = made(1, 20, true, false);
    made.run(&options(4), |run| {
        run.cancel();
        let judge = &mut |_, _: &JudgeCall, _: &Question| -> Fate { panic!("a judge is asked") };
        let mut script = Script { judge, custom_takes: 0, cancel_at: None, keeps_busy: false };
        let story = play(run, &options(4), &mut script);
        assert_eq!(story.results.len(), run.total());
        assert!(story.results.iter().all(|result| result.failure.is_some()));
    });
}

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
                    JudgeReply {
                        text: vote_in_words(self.metric, said),
                        usage: Some(Usage { input_tokens: 1, output_tokens: 1 }),
                    },
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
