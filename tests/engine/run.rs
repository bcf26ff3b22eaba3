//! The evaluation of an evalset, driven as a host would: pairing, case results, tasks of the host.

use adk_metrics::foundation::error::{Error, ErrorCode};
use adk_metrics::foundation::json::Document;
use adk_metrics::metrics::judged::Work;
use adk_metrics::metrics::rubrics::CaseRubrics;
use adk_metrics::metrics::{Evaluation, Explain};
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::invocation::Rubric;
use adk_metrics::model::results::EvalStatus;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{
    Action, CaseResult, CustomEvaluation, CustomTask, CustomTurn, Millis, Options, Pairing, Plan,
    PlanOptions, Run, TaskId,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use EvalStatus::{Failed, NotEvaluated, Passed};

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
    Ok(CustomEvaluation { score: Some(score), ..CustomEvaluation::default() })
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

// ---- which run belongs to which case

#[test]
fn runs_belong_to_cases_by_id_in_whatever_order_they_come() {
    let expected = set(&[("a", &["red"]), ("b", &["green"])]);
    let actual = set(&[("b", &["green"]), ("a", &["blue"])]);
    assert_eq!(results(&expected, &actual), (vec![scored(0, 1, 0.0), scored(1, 0, 1.0)], vec![]));
}

#[test]
fn a_repeated_id_is_another_run_of_its_case() {
    let expected = set(&[("a", &["red"]), ("b", &["green"])]);
    let actual = set(&[("a", &["red"]), ("b", &["green"]), ("a", &["blue"])]);
    let (found, warnings) = results(&expected, &actual);
    assert_eq!(found, [scored(0, 0, 1.0), scored(0, 2, 0.0), scored(1, 1, 1.0)]);
    assert!(warnings.is_empty());
}

#[test]
fn runs_pair_by_place_if_no_id_matches_and_the_numbers_agree() {
    let expected = set(&[("a", &["red"]), ("b", &["green"])]);
    let pairs = vec![scored(0, 0, 1.0), scored(1, 1, 0.0)];
    assert_eq!(results(&expected, &sessions(&["red", "blue"])), (pairs, vec![]));
    let renamed = set(&[("x", &["red"]), ("y", &["blue"])]);
    assert_eq!(results(&expected, &renamed).0, [scored(0, 0, 1.0), scored(1, 1, 0.0)]);
}

#[test]
fn one_matching_id_forbids_pairing_by_place() {
    let expected = set(&[("a", &["red"]), ("b", &["green"])]);
    let actual = set(&[("a", &["red"]), ("x", &["green"])]);
    let (found, warnings) = results(&expected, &actual);
    assert_eq!(found, [scored(0, 0, 1.0), unscored(1, None, ErrorCode::ActualMissing)]);
    assert_eq!(warnings, [r#"the actual conversation "x" belongs to no eval case and is left out"#]);
}

#[test]
fn different_numbers_forbid_pairing_by_place() {
    let (found, warnings) = results(&set(&[("a", &["red"])]), &sessions(&["red", "blue"]));
    assert_eq!(found, [unscored(0, None, ErrorCode::ActualMissing)]);
    assert_eq!(
        warnings,
        [
            r#"the actual conversation "session of red" belongs to no eval case and is left out"#,
            r#"the actual conversation "session of blue" belongs to no eval case and is left out"#,
        ]
    );
}

#[test]
fn a_case_without_a_run_failed_and_says_why() {
    let expected = set(&[("a", &["red"]), ("b", &["green"])]);
    with_run(&expected, &set(&[("b", &["green"])]), MATCH, quiet(), |run| {
        let result = case(run, 0.0);
        assert_eq!((result.pairing, result.status), (Pairing { case: 0, run: None }, Failed));
        let failure = result.failure.unwrap();
        assert_eq!(failure.message, "there is no actual conversation for this case");
        assert_eq!(failure.help.as_deref(), Some("Runs belong to cases by eval id"));
        assert_eq!(case(run, 0.0).status, Passed);
        assert_finished(run);
    });
}

#[test]
fn an_empty_evalset_is_finished_at_once() {
    with_run(&set(&[]), &set(&[]), MATCH, quiet(), |run| {
        assert_eq!(run.total(), 0);
        assert_finished(run);
    });
}

#[test]
fn selected_cases_are_all_that_is_run() {
    let both = set(&[("a", &["red"]), ("b", &["green"]), ("c", &["blue"])]);
    with_run(&both, &both, MATCH, quiet(), |run| {
        run.select(&["c".into(), "a".into()]).unwrap();
        assert_eq!(run.total(), 2);
        let found: Vec<_> = cases(run).iter().map(seen).collect();
        assert_eq!(found, [scored(0, 0, 1.0), scored(2, 2, 1.0)]);
    });
}

#[test]
fn selecting_a_case_that_is_not_there_names_some_that_are() {
    let both = set(&[("a", &["red"]), ("b", &["green"])]);
    with_run(&both, &both, MATCH, quiet(), |run| {
        let error = run.select(&["a".into(), "x".into()]).unwrap_err();
        assert_eq!(
            (error.code, error.message.as_str()),
            (ErrorCode::InvalidInput, r#"the evalset has no case "x""#)
        );
        assert_eq!(error.help.as_deref(), Some(r#"It has "a", "b""#));
    });
}

// ---- what fails one case only

#[test]
fn a_difference_in_turns_fails_that_case_only() {
    let expected = set(&[("a", &["red", "blue"]), ("b", &["green"])]);
    let actual = set(&[("a", &["red"]), ("b", &["green"])]);
    assert_eq!(
        results(&expected, &actual).0,
        [unscored(0, Some(0), ErrorCode::LengthMismatch), scored(1, 1, 1.0)]
    );
}

#[test]
fn a_failed_run_fails_its_case_with_the_recorded_message() {
    let expected = set(&[("a", &["red"]), ("b", &["green"])]);
    let actual = json!([
        { "eval_case_id": "a", "inferences": turns(&["red"]), "status": 2, "error_message": "quota" },
        { "eval_case_id": "b", "inferences": turns(&["green"]), "status": 1 },
    ]);
    with_run(&expected, &actual, MATCH, quiet(), |run| {
        let result = case(run, 0.0);
        assert_eq!(result.status, Failed);
        assert!(result.metrics.is_empty());
        assert_eq!(result.failure.unwrap().message, "the agent's run failed: quota");
        assert_eq!(case(run, 0.0).status, Passed);
    });
}

#[test]
fn a_metric_that_cannot_score_a_case_is_not_evaluated_and_the_others_go_on() {
    let scenario = json!({ "eval_set_id": "set", "eval_cases": [{
        "eval_id": "a",
        "conversation_scenario": { "starting_prompt": "hi", "conversation_plan": "be brief" },
    }]});
    with_run(&scenario, &set(&[("a", &["red"])]), MATCH_AND_MINE, quiet(), |run| {
        let task = task(run, 0.0);
        run.handle_custom(task.id, score_of(1.0));
        let result = case(run, 0.0);
        assert_eq!(
            seen(&result).metrics,
            [(None, NotEvaluated, Some(ErrorCode::ReferenceRequired)), (Some(1.0), Passed, None)]
        );
        assert_eq!(result.status, Passed);
        assert_eq!(result.metrics[0].turns.len(), 1);
        assert!(result.metrics[0].turns[0].reason.is_some());
    });
}

// ---- rubrics

/// The ids of the rubrics of each turn of a run, as they are joined for its case.
fn ids_of_rubrics(run: &Run<'_>, pairing: Pairing) -> Vec<Vec<String>> {
    let case = &run.cases()[pairing.case];
    let turns = run.runs()[pairing.run.unwrap()].turns.unwrap_or_default();
    let of_case = case.case.rubrics().unwrap_or_default();
    let rubrics = CaseRubrics::read(of_case, turns, case.turns.unwrap_or_default()).unwrap_or_default();
    let ids = |turn| rubrics.for_turn(turn).map(|rubric| rubric.rubric_id().into_owned()).collect();
    (0..turns.len()).map(ids).collect()
}

/// The rubrics of one turn, found one by one; nothing if an id stands for different words.
fn one_by_one(actual: &[(u8, u8)], case: &[(u8, u8)], expected: &[(u8, u8)]) -> Option<Vec<String>> {
    let mut all = actual.to_vec();
    for &(id, words) in case.iter().chain(expected) {
        match all.iter().find(|known| known.0 == id) {
            None => all.push((id, words)),
            Some(known) if known.1 == words => {}
            Some(_) => return None,
        }
    }
    Some(all.iter().map(|(id, words)| format!("{id} {words}")).collect())
}

proptest! {
    #[test]
    fn rubrics_join_as_if_they_were_added_one_by_one(
        turns in proptest::collection::vec((proptest::collection::vec((0..4_u8, 0..2_u8), 0..4), proptest::collection::vec((0..4_u8, 0..2_u8), 0..4)), 1..4),
        of_case in proptest::collection::vec((0..4_u8, 0..2_u8), 0..5),
    ) {
        let json = |rubrics: &[(u8, u8)]| -> Value {
            rubrics.iter().map(|(id, words)| rubric(&id.to_string(), &words.to_string())).collect()
        };
        let side = |rubrics: &[(u8, u8)]| {
            let mut turn = turn("red");
            turn["rubrics"] = json(rubrics);
            turn
        };
        let set = |turns: Vec<Value>, rubrics: Value| {
            json!({ "eval_set_id": "set", "eval_cases": [{ "eval_id": "a", "conversation": turns, "rubrics": rubrics }] })
        };
        let expected = set(turns.iter().map(|(_, expected)| side(expected)).collect(), json(&of_case));
        let actual = set(turns.iter().map(|(actual, _)| side(actual)).collect(), json!([]));
        let found = with_run(&expected, &actual, MATCH, quiet(), |run| {
            let case = &run.cases()[0];
            let actual = run.runs()[0].turns.unwrap();
            let rubrics = CaseRubrics::read(case.case.rubrics().unwrap(), actual, case.turns.unwrap()).ok()?;
            let words = |rubric: Rubric<'_>| format!("{} {}", rubric.rubric_id(), rubric.words().unwrap());
            Some((0..actual.len()).map(|turn| rubrics.for_turn(turn).map(words).collect()).collect::<Vec<Vec<_>>>())
        });
        let wanted: Option<Vec<Vec<String>>> =
            turns.iter().map(|(actual, expected)| one_by_one(actual, &of_case, expected)).collect();
        prop_assert_eq!(found, wanted);
    }
}

/// The result of a case of one turn, and the ids of the rubrics of that turn.
fn joined_rubrics(case: Value, turn_rubrics: Value) -> (Seen, Vec<Vec<String>>) {
    let expected = json!({ "eval_set_id": "set", "eval_cases": [case] });
    let mut actual = turn("red");
    actual["rubrics"] = turn_rubrics;
    let actual =
        json!({ "eval_set_id": "set", "eval_cases": [{ "eval_id": "a", "conversation": [actual] }] });
    with_run(&expected, &actual, MATCH, quiet(), |run| {
        let result = self::case(run, 0.0);
        (seen(&result), ids_of_rubrics(run, result.pairing))
    })
}

#[test]
fn rubrics_of_the_case_then_of_the_expected_turn_join_those_of_the_actual_turn() {
    let mut expected = turn("red");
    expected["rubrics"] = json!([rubric("expected", "Names a colour.")]);
    let case =
        json!({ "eval_id": "a", "conversation": [expected], "rubrics": [rubric("case", "Is brief.")] });
    let (_, ids) = joined_rubrics(case, json!([rubric("actual", "Is polite.")]));
    assert_eq!(ids, [["actual", "case", "expected"]]);
}

#[test]
fn a_rubric_that_is_there_in_the_same_words_is_not_added_again() {
    let mut expected = turn("red");
    expected["rubrics"] = json!([rubric("r", "Is brief.")]);
    let case = json!({ "eval_id": "a", "conversation": [expected], "rubrics": [rubric("r", "Is brief.")] });
    let (result, ids) = joined_rubrics(case, json!([rubric("r", "Is brief.")]));
    assert_eq!((result, ids), (scored(0, 0, 1.0), vec![vec!["r".to_owned()]]));
}

#[test]
fn one_id_for_two_rubrics_fails_that_case_only() {
    let case =
        json!({ "eval_id": "a", "conversation": [turn("red")], "rubrics": [rubric("r", "Is brief.")] });
    let (result, _) = joined_rubrics(case, json!([rubric("r", "Is long.")]));
    assert_eq!(result, unscored(0, Some(0), ErrorCode::RubricConflict));
}

#[test]
fn runs_of_one_case_get_its_rubrics_each() {
    let mut expected = set(&[("a", &["red"])]);
    expected["eval_cases"][0]["rubrics"] = json!([rubric("r", "Is brief.")]);
    with_run(&expected, &set(&[("a", &["red"]), ("a", &["blue"])]), MATCH, quiet(), |run| {
        let results = cases(run);
        assert_eq!(results.len(), 2);
        for result in results {
            assert_eq!(ids_of_rubrics(run, result.pairing), [["r"]]);
        }
    });
}

// ---- the status of a case

#[test]
fn a_case_failed_if_a_metric_failed_else_passed_if_one_passed() {
    let both = set(&[("a", &["red"])]);
    let config = r#"{"criteria": {"mine": 0.5, "yours": 0.5}}"#;
    let none = || Ok(CustomEvaluation::default());
    for (mine, yours, status) in [
        (score_of(1.0), score_of(1.0), Passed),
        (score_of(1.0), score_of(0.0), Failed),
        (score_of(0.0), none(), Failed),
        (score_of(0.5), none(), Passed),
        (none(), none(), NotEvaluated),
    ] {
        with_run(&both, &both, config, quiet(), |run| {
            let tasks = [task(run, 0.0), task(run, 0.0)];
            assert_eq!(tasks.map(|task| task.metric), [0, 1]);
            run.handle_custom(tasks[0].id, mine);
            run.handle_custom(tasks[1].id, yours);
            assert_eq!(case(run, 0.0).status, status);
        });
    }
}

#[test]
fn efficiency_metrics_follow_the_config_and_decide_nothing() {
    let both = set(&[("a", &["red"])]);
    with_run(&both, &both, r#"{"criteria": {}}"#, quiet(), |run| {
        let names: Vec<_> = run.plan().metrics.iter().map(|metric| metric.name.clone()).collect();
        assert_eq!(
            names,
            ["tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1"]
        );
        let result = case(run, 0.0);
        assert_eq!(result.status, NotEvaluated);
        assert!(result.metrics.iter().all(|metric| metric.status == EvalStatus::Informational));
    });
}

// ---- the host's turn

/// A conversation of many long turns.
fn long_conversation() -> Value {
    let words = "red green blue ".repeat(200);
    let answers: Vec<&str> = (0..400).map(|_| words.as_str()).collect();
    set(&[("long", &answers)])
}

#[test]
fn a_long_conversation_is_left_in_its_middle() {
    let long = long_conversation();
    let (mut pauses, mut most) = (0, 0);
    with_run(&long, &long, MATCH_AND_MINE, quiet(), |run| {
        let task = loop {
            let action = run.poll(0.0);
            most = most.max(run.work());
            match action {
                Action::Pause => pauses += 1,
                Action::Custom(task) => break task,
                other => panic!("{other:?}"),
            }
        };
        run.handle_custom(task.id, score_of(0.75));
        let found = case(run, 0.0);
        assert_eq!(seen(&found).metrics, [(Some(1.0), Passed, None), (Some(0.75), Passed, None)]);
        assert_eq!(found.metrics[0].turns.len(), 400);
        assert_finished(run);
    });
    // Beyond the limit goes what one turn takes.
    let of_turn = 2 * 3_500;
    assert!(most <= Work::PER_POLL + of_turn, "{most}");
    assert!(pauses >= 400 * 6_000 / (Work::PER_POLL + of_turn), "{pauses}");
}

#[test]
fn a_long_conversation_that_is_cancelled_in_its_middle_says_so() {
    let long = long_conversation();
    with_run(&long, &long, MATCH_AND_MINE, quiet(), |run| {
        assert!(matches!(run.poll(0.0), Action::Pause));
        run.cancel();
        let found = case(run, 0.0);
        for metric in &found.metrics {
            assert_eq!(metric.status, NotEvaluated);
            assert!(metric.reason.as_deref().is_some_and(|reason| reason.contains("was cancelled")));
            assert_eq!(metric.turns.len(), 400);
        }
        assert_finished(run);
    });
}

// ---- metrics of the host

#[test]
fn the_host_is_asked_for_its_metrics_only_and_the_result_is_complete() {
    let both = set(&[("a", &["red"])]);
    with_run(&both, &both, MATCH_AND_MINE, quiet(), |run| {
        let task = task(run, 0.0);
        assert_eq!((task.metric, task.pairing), (1, Pairing { case: 0, run: Some(0) }));
        assert_waits(run, 0.0, None);
        run.handle_custom(task.id, score_of(0.75));
        assert_eq!(seen(&case(run, 0.0)).metrics, [(Some(1.0), Passed, None), (Some(0.75), Passed, None)]);
        assert_finished(run);
    });
}

#[test]
fn no_more_tasks_are_out_than_concurrency_allows() {
    let ids: Vec<String> = (0..10).map(|i| format!("case {i}")).collect();
    let cases: Vec<(&str, &[&str])> = ids.iter().map(|id| (id.as_str(), &["red"][..])).collect();
    let both = set(&cases);
    for concurrency in [1, 3, 10, 64] {
        with_run(&both, &both, MINE, Options { concurrency, ..quiet() }, |run| {
            let mut out = Vec::new();
            let (mut most, mut given_out) = (0, 0);
            loop {
                match run.poll(0.0) {
                    Action::Custom(task) => out.push(task),
                    Action::Wait(_) => {
                        most = most.max(out.len());
                        run.handle_custom(out.remove(0).id, score_of(1.0));
                    }
                    Action::Case(_) => given_out += 1,
                    Action::Finished => break,
                    Action::Send(_) | Action::Abort(_) | Action::Pause => panic!("no judge is asked"),
                }
            }
            assert_eq!((most, given_out), (concurrency.min(10), 10));
        });
    }
}

#[test]
fn a_concurrency_of_0_counts_as_1() {
    let both = set(&[("a", &["red"]), ("b", &["red"])]);
    with_run(&both, &both, MINE, Options { concurrency: 0, ..quiet() }, |run| {
        let first = task(run, 0.0);
        assert_waits(run, 0.0, None);
        run.handle_custom(first.id, score_of(1.0));
        case(run, 0.0);
        task(run, 0.0);
    });
}

#[test]
fn cases_come_out_in_the_order_in_which_they_are_answered() {
    let both = set(&[("a", &["red"]), ("b", &["red"]), ("c", &["red"])]);
    with_run(&both, &both, MINE, quiet(), |run| {
        let tasks = [task(run, 0.0), task(run, 0.0), task(run, 0.0)];
        let mut order = Vec::new();
        for place in [2, 0, 1] {
            run.handle_custom(tasks[place].id, score_of(1.0));
            order.push(case(run, 0.0).pairing.case);
        }
        assert_eq!(order, [2, 0, 1]);
        assert_finished(run);
    });
}

#[test]
fn cases_that_need_no_host_do_not_wait_for_those_that_do() {
    let expected = set(&[("a", &["red"]), ("b", &["red"])]);
    with_run(&expected, &set(&[("a", &["red"])]), MINE, quiet(), |run| {
        let task = task(run, 0.0);
        assert_eq!(seen(&case(run, 0.0)), unscored(1, None, ErrorCode::ActualMissing));
        run.handle_custom(task.id, score_of(1.0));
        assert_eq!(case(run, 0.0).pairing.case, 0);
    });
}

#[test]
fn an_answer_to_no_open_task_is_ignored() {
    let both = set(&[("a", &["red"])]);
    with_run(&both, &both, MINE, quiet(), |run| {
        run.handle_custom(TaskId(0), score_of(0.0));
        let task = task(run, 0.0);
        run.handle_custom(TaskId(task.id.0 + 1), score_of(0.0));
        run.handle_custom(task.id, score_of(1.0));
        run.handle_custom(task.id, score_of(0.0));
        assert_eq!(case(run, 0.0).status, Passed);
        assert_finished(run);
    });
}

#[test]
fn a_task_ends_when_its_time_is_up() {
    let both = set(&[("a", &["red"]), ("b", &["red"])]);
    with_run(&both, &both, MINE, limited(1, 1_000.0), |run| {
        let first = task(run, 50.0);
        assert_waits(run, 50.0, Some(1_050.0));
        assert_waits(run, 1_049.9, Some(1_050.0));
        let late = case(run, 1_050.0);
        assert_eq!(seen(&late).metrics, [(None, NotEvaluated, Some(ErrorCode::Timeout))]);
        assert_eq!(late.metrics[0].reason.as_deref(), Some("no answer within 1000 ms"));
        run.handle_custom(first.id, score_of(1.0));
        // The next one has its own time, from when it was given out.
        let second = task(run, 1_060.0);
        assert_waits(run, 1_060.0, Some(2_060.0));
        run.handle_custom(second.id, score_of(1.0));
        assert_eq!(case(run, 3_000.0).status, Passed);
        assert_finished(run);
    });
}

#[test]
fn the_run_waits_for_the_first_task_to_run_out_of_time() {
    let both = set(&[("a", &["red"]), ("b", &["red"])]);
    with_run(&both, &both, MINE, limited(2, 100.0), |run| {
        let first = task(run, 0.0);
        task(run, 30.0);
        assert_waits(run, 40.0, Some(100.0));
        run.handle_custom(first.id, score_of(1.0));
        case(run, 40.0);
        assert_waits(run, 40.0, Some(130.0));
    });
}

#[test]
fn cancelling_keeps_what_is_scored_and_gives_a_reason_for_the_rest() {
    let both = set(&[("a", &["red"]), ("b", &["red"]), ("c", &["red"]), ("d", &["red"])]);
    with_run(&both, &both, MATCH_AND_MINE, Options { concurrency: 2, ..quiet() }, |run| {
        let (first, second) = (task(run, 0.0), task(run, 0.0));
        run.handle_custom(first.id, score_of(1.0));
        run.cancel();
        assert_eq!(seen(&case(run, 0.0)).metrics, [(Some(1.0), Passed, None), (Some(1.0), Passed, None)]);
        let cancelled = Some(ErrorCode::Cancelled);
        let begun = case(run, 0.0);
        assert_eq!(seen(&begun).metrics, [(Some(1.0), Passed, None), (None, NotEvaluated, cancelled)]);
        run.handle_custom(second.id, score_of(1.0));
        for case in 2..4 {
            let (found, status) = (self::case(run, 0.0), NotEvaluated);
            assert_eq!(
                seen(&found),
                Seen { case, run: Some(case), status, failure: cancelled, metrics: Vec::new() }
            );
        }
        assert_finished(run);
    });
}

// ---- what the host may answer

#[test]
fn a_score_alone_gets_its_status_by_the_threshold() {
    for (score, status) in [(0.5, Passed), (0.49, Failed), (-3.0, Failed), (7.0, Passed)] {
        let (found, error) = host_result(score_of(score), 2);
        assert_eq!((found.score, found.status, found.reason, error), (Some(score), status, None, None));
        // Nothing is known of the turns, which is said.
        assert_eq!(found.turns.len(), 2);
        for turn in found.turns {
            assert_eq!((turn.score, turn.status), (None, NotEvaluated));
            assert_eq!(turn.reason.as_deref(), Some("the metric scores whole conversations"));
        }
    }
}

#[test]
fn scores_of_turns_make_a_mean() {
    let turns = [Some(0.25), None, Some(0.5)].map(|score| CustomTurn { score, ..CustomTurn::default() });
    let (found, _) =
        host_result(Ok(CustomEvaluation { turns: turns.into(), ..CustomEvaluation::default() }), 3);
    assert_eq!((found.score, found.status), (Some(0.375), Failed));
    let statuses: Vec<_> = found.turns.iter().map(|turn| turn.status).collect();
    assert_eq!(statuses, [Failed, NotEvaluated, Passed]);
    assert_eq!(found.turns[1].reason.as_deref(), Some("the metric gave no score"));
}

#[test]
fn statuses_and_reasons_that_the_host_gives_stand() {
    let turn = CustomTurn { score: Some(1.0), status: Some(Failed), reason: Some("too long".into()) };
    let given = CustomEvaluation {
        score: Some(0.0),
        status: Some(Passed),
        reason: Some("by decree".into()),
        turns: vec![turn],
    };
    let (found, _) = host_result(Ok(given), 1);
    assert_eq!((found.score, found.status, found.reason.as_deref()), (Some(0.0), Passed, Some("by decree")));
    assert_eq!((found.turns[0].status, found.turns[0].reason.as_deref()), (Failed, Some("too long")));
}

#[test]
fn no_score_is_not_evaluated_with_a_reason() {
    let (found, error) = host_result(Ok(CustomEvaluation::default()), 1);
    assert_eq!((found.score, found.status, error), (None, NotEvaluated, None));
    assert_eq!(found.reason.as_deref(), Some("the metric gave no score"));
}

#[test]
fn a_score_that_is_no_finite_number_is_refused() {
    let overall = |score| CustomEvaluation { score: Some(score), ..CustomEvaluation::default() };
    let of_turn = |score| CustomEvaluation {
        turns: vec![CustomTurn { score: Some(score), ..CustomTurn::default() }],
        ..CustomEvaluation::default()
    };
    for (given, said) in [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")] {
        for answer in [overall(given), of_turn(given)] {
            let (found, error) = host_result(Ok(answer), 1);
            let error = error.unwrap();
            assert_eq!((found.score, found.status), (None, NotEvaluated));
            assert_eq!(error.code, ErrorCode::CustomMetricFailed);
            assert_eq!(
                error.message,
                format!("the metric gave {said}; a score is a finite number, or absent")
            );
        }
    }
}

#[test]
fn a_mean_beyond_all_numbers_is_refused() {
    let turn = CustomTurn { score: Some(f64::MAX), ..CustomTurn::default() };
    let answer = CustomEvaluation { turns: vec![turn.clone(), turn], ..CustomEvaluation::default() };
    let (found, error) = host_result(Ok(answer), 2);
    assert_eq!((found.score, error.map(|error| error.code)), (None, Some(ErrorCode::CustomMetricFailed)));
}

#[test]
fn results_for_another_number_of_turns_are_refused() {
    let answer = CustomEvaluation { turns: vec![CustomTurn::default(); 2], ..CustomEvaluation::default() };
    let (found, error) = host_result(Ok(answer), 1);
    assert_eq!((found.status, found.turns.len()), (NotEvaluated, 1));
    let error = error.unwrap();
    assert_eq!(error.code, ErrorCode::CustomMetricFailed);
    assert_eq!(error.message, "the metric gave results for 2 turns; the conversation has 1");
}

#[test]
fn a_metric_that_fails_is_not_evaluated_with_its_message() {
    let (found, error) = host_result(Err(Error::new(ErrorCode::CustomMetricFailed, "division by zero")), 2);
    assert_eq!((found.score, found.status), (None, NotEvaluated));
    assert_eq!(found.reason.as_deref(), Some("division by zero"));
    assert!(found.turns.iter().all(|turn| turn.reason.as_deref() == Some("division by zero")));
    assert_eq!(error.unwrap().message, "division by zero");
}

// ---- determinism

/// What a host does between two polls.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Poll after so many milliseconds.
    Poll(u16),
    /// Answer one of the tasks that were given out, however long ago.
    Answer(u8, i8),
    Cancel,
}

/// All that a run says when it is driven so, to its end.
fn protocol(steps: &[Step], options: &Options) -> Vec<String> {
    let expected = set(&[("a", &["red"]), ("b", &["red", "blue"]), ("c", &["red"]), ("d", &["red"])]);
    let actual = set(&[("b", &["red", "green"]), ("a", &["blue"]), ("c", &["red", "red"]), ("a", &["red"])]);
    let config = r#"{"criteria": {"response_match_score": 0.5, "mine": 0.5, "yours": 1}}"#;
    with_run(&expected, &actual, config, options.clone(), |run| {
        let (mut now, mut tasks, mut said) = (0.0, Vec::new(), Vec::new());
        let mut poll = |run: &mut Run<'_>, tasks: &mut Vec<TaskId>, now| {
            let action = run.poll(now);
            if let Action::Custom(task) = &action {
                tasks.push(task.id);
            }
            said.push(format!("{action:?}"));
            matches!(action, Action::Finished)
        };
        for step in steps {
            match *step {
                Step::Poll(elapsed) => {
                    now += f64::from(elapsed);
                    poll(run, &mut tasks, now);
                }
                Step::Answer(which, score) if !tasks.is_empty() => {
                    let id = tasks[usize::from(which) % tasks.len()];
                    run.handle_custom(id, score_of(f64::from(score)));
                }
                Step::Answer(..) => {}
                Step::Cancel => run.cancel(),
            }
        }
        for _ in 0..1_000 {
            if poll(run, &mut tasks, now) {
                return said;
            }
            for id in tasks.clone() {
                run.handle_custom(id, score_of(1.0));
            }
        }
        panic!("the run does not end")
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..200_u16).prop_map(Step::Poll),
        4 => (any::<u8>(), -1..2_i8).prop_map(|(which, score)| Step::Answer(which, score)),
        1 => Just(Step::Cancel),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the host does, and whenever: the same again gives the same actions and results, every
    /// case is given out once, and the run ends.
    #[test]
    fn the_same_inputs_answers_and_times_give_the_same_actions(
        steps in proptest::collection::vec(step(), 0..40),
        concurrency in 0..4_usize,
        timeout_ms in proptest::option::of(0.0..300.0),
    ) {
        let options = Options { concurrency, timeout_ms, ..quiet() };
        let said = protocol(&steps, &options);
        prop_assert_eq!(&said, &protocol(&steps, &options));
        // Cases a (two runs), b, c and d.
        prop_assert_eq!(said.iter().filter(|action| action.starts_with("Case")).count(), 5);
    }
}
