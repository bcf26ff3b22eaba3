//! The evaluation of an evalset, driven as a host would: pairing, case results, tasks of the host.

mod custom;
mod determinism;
mod pairing;
mod rubrics;
mod scoring;

use EvalStatus::{Failed, NotEvaluated, Passed};
use adk_metrics::foundation::error::{Error, ErrorCode};
use adk_metrics::foundation::json::Document;
use adk_metrics::metrics::judged::Work;
use adk_metrics::metrics::rubrics::{CaseRubrics, MAX_RUBRICS};
use adk_metrics::metrics::{Evaluation, Explain};
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::invocation::Rubric;
use adk_metrics::model::results::EvalStatus;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{
    Action, CaseResult, CustomEvaluation, CustomScore, CustomTask, MAX_TURN_VALUES, Millis, Options, Pairing,
    Plan, PlanOptions, Run, TaskId,
};
use proptest::prelude::*;
use serde_json::{Value, json};

// ---- inputs in few words

/// A turn that answers with these words.
fn turn(answer: &str) -> Value {
    json!({ "user_content": { "parts": [{ "text": "?" }] }, "final_response": { "parts": [{ "text": answer }] } })
}

fn turns(answers: &[&str]) -> Value {
    answers.iter().map(|answer| turn(answer)).collect()
}

fn rubric(id: &str, words: &str) -> Value {
    json!({ "rubric_id": id, "rubric_content": { "text_property": words } })
}

/// Cases (or runs) by id, each with its answers.
fn set(cases: &[(&str, &[&str])]) -> Value {
    let case = |(id, answers): &(&str, &[&str])| json!({ "eval_id": id, "conversation": turns(answers) });
    json!({ "eval_set_id": "set", "eval_cases": cases.iter().map(case).collect::<Value>() })
}

/// Runs without ids, as sessions.
fn sessions(answers: &[&str]) -> Value {
    let session = |answer: &&str| {
        json!({ "id": format!("session of {answer}"), "events": [
            { "author": "user", "invocation_id": "i", "content": { "parts": [{ "text": "?" }] } },
            { "author": "agent", "invocation_id": "i", "content": { "parts": [{ "text": answer }] } },
        ]})
    };
    answers.iter().map(session).collect()
}

const MATCH: &str = r#"{"criteria": {"response_match_score": 0.5}}"#;

const MINE: &str = r#"{"criteria": {"mine": 0.5}}"#;

const MATCH_AND_MINE: &str = r#"{"criteria": {"response_match_score": 0.5, "mine": 0.5}}"#;

fn parse(json: &Value) -> Document<'static> {
    Document::parse(json.to_string()).unwrap()
}

/// Runs `with` on a run over these inputs. The metrics `mine` and `yours` belong to the host.
fn with_run<T>(
    expected: &Value,
    actual: &Value,
    config: &str,
    options: Options,
    with: impl FnOnce(&mut Run<'_>) -> T,
) -> T {
    let mut config = Document::parse(config).unwrap();
    let warnings = Warnings::default();
    let plan = Plan::from_config(
        &mut config,
        PlanOptions { custom: &["mine".into(), "yours".into()], count_only: true, ..PlanOptions::default() },
        &warnings,
    )
    .unwrap();
    let expected = EvalSetFile::read(parse(expected), "set", &warnings).unwrap();
    let actual = ActualFile::read(parse(actual), "set", &warnings).unwrap();
    with(&mut Run::new(expected.set(), actual.runs(), plan, options))
}

fn quiet() -> Options {
    Options { explain: Explain::None, ..Options::default() }
}

fn limited(concurrency: usize, timeout_ms: f64) -> Options {
    Options { concurrency, timeout_ms: Some(timeout_ms), ..quiet() }
}

// ---- what a test looks at

/// One case result: pairing, status, code of the failure, and each metric's score, status and error,
/// without the efficiency metrics.
#[derive(Debug, PartialEq)]
struct Seen {
    case: usize,
    run: Option<usize>,
    status: EvalStatus,
    failure: Option<ErrorCode>,
    metrics: Vec<(Option<f64>, EvalStatus, Option<ErrorCode>)>,
}

fn seen(result: &CaseResult<'_>) -> Seen {
    let own = result.metrics.iter().filter(|found| found.status != EvalStatus::Informational);
    Seen {
        case: result.pairing.case,
        run: result.pairing.run,
        status: result.status,
        failure: result.failure.as_ref().map(|failure| failure.code),
        metrics: own
            .map(|found| (found.score, found.status, found.error.as_ref().map(|error| error.code)))
            .collect(),
    }
}

fn scored(case: usize, run: usize, score: f64) -> Seen {
    let status = EvalStatus::from_score(Some(score), 0.5);
    Seen { case, run: Some(run), status, failure: None, metrics: vec![(Some(score), status, None)] }
}

fn unscored(case: usize, run: Option<usize>, failure: ErrorCode) -> Seen {
    Seen { case, run, status: Failed, failure: Some(failure), metrics: Vec::new() }
}

/// The results of a run that needs nothing of the host, and the run's warnings.
fn results(expected: &Value, actual: &Value) -> (Vec<Seen>, Vec<String>) {
    with_run(expected, actual, MATCH, quiet(), |run| {
        let found = cases(run).iter().map(seen).collect::<Vec<_>>();
        assert_eq!(found.len(), run.total());
        (found, run.warnings().iter().map(|warning| warning.message.clone()).collect())
    })
}

fn cases<'a>(run: &mut Run<'a>) -> Vec<CaseResult<'a>> {
    let mut all = Vec::new();
    loop {
        match run.poll(0.0) {
            Action::Case(case) => all.push(case),
            Action::Finished => return all,
            other => panic!("{other:?}"),
        }
    }
}

fn case<'a>(run: &mut Run<'a>, now: Millis) -> CaseResult<'a> {
    match run.poll(now) {
        Action::Case(case) => case,
        other => panic!("expected a case, found {other:?}"),
    }
}

/// The first case, and how often the host has its turn before.
fn after_pauses<'a>(run: &mut Run<'a>, pauses: &mut usize) -> CaseResult<'a> {
    loop {
        match run.poll(0.0) {
            Action::Pause => *pauses += 1,
            Action::Case(case) => return case,
            other => panic!("{other:?}"),
        }
    }
}

fn task(run: &mut Run<'_>, now: Millis) -> CustomTask {
    match run.poll(now) {
        Action::Custom(task) => task,
        other => panic!("expected a task, found {other:?}"),
    }
}

fn assert_waits(run: &mut Run<'_>, now: Millis, until: Option<Millis>) {
    match run.poll(now) {
        Action::Wait(found) => assert_eq!(found, until),
        other => panic!("expected to wait, found {other:?}"),
    }
}

fn assert_finished(run: &mut Run<'_>) {
    assert!(matches!(run.poll(f64::MAX), Action::Finished));
}

fn score_of(score: f64) -> Result<CustomEvaluation, Error> {
    let overall = CustomScore { score: Some(score), ..CustomScore::default() };
    Ok(CustomEvaluation { overall, turns: Vec::new() })
}

/// The result of the host's metric in a case of its own, and why there is none.
fn host_result(
    answer: Result<CustomEvaluation, Error>,
    turns: usize,
) -> (Evaluation<'static>, Option<Error>) {
    let answers = vec!["yes"; turns];
    let both = set(&[("a", &answers)]);
    with_run(&both, &both, MINE, quiet(), |run| {
        let task = task(run, 0.0);
        run.handle_custom(task.id, answer);
        let result = case(run, 0.0);
        let Evaluation { score, status, reason, error, turns, .. } = result.metrics[0].clone();
        let plain = turns.into_iter().map(|turn| adk_metrics::metrics::TurnEvaluation {
            score: turn.score,
            status: turn.status,
            reason: turn.reason,
            ..Default::default()
        });
        let turns = plain.collect();
        (Evaluation { score, status, reason, turns, ..Default::default() }, error)
    })
}
