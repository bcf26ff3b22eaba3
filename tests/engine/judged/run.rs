//! Runs that ask judges, under a simulated clock: time, limits, faults, budgets, stops and votes.
//!
//! Evalsets, configs, latencies and replies are made up from seeds. What a judge replies depends on the
//! question and the sample alone, so that any two runs of one evalset must come to the same results,
//! whatever happened on the way.

mod failures;
mod schedule;
mod votes;

use crate::support::host;
use adk_metrics::foundation::json::Document;
use adk_metrics::judge::calls::{self, Budget, Prices, RetryOptions};
use adk_metrics::judge::provider::{Failure, FailureKind, TokenCounts};
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
use std::collections::HashMap;
use std::fmt::Write as _;

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
            judging: JudgeOverrides { prompts: &prompts, ..JudgeOverrides::default() },
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
        let usage = (40 + chance.below(100), 1 + chance.below(50));
        JudgeReply { text, usage: tokens(usage.0, usage.1) }
    }
}

fn tokens(input: u64, output: u64) -> TokenCounts {
    TokenCounts { input: Some(input), output: Some(output), total: None }
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
    Failure {
        kind,
        message,
        help: None,
        retryable,
        retry_after_ms: None,
        status: None,
        usage: TokenCounts::default(),
    }
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
