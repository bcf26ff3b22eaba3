//! What judged metrics do with inputs that make very long prompts: nothing is asked beyond the limits, and
//! results say why.

use adk_metrics::foundation::json::Document;
use adk_metrics::judge::provider::TokenCounts;
use adk_metrics::metrics::judged::{MAX_OPEN_PROMPT_BYTES, MAX_PROMPT_BYTES, MAX_RUBRIC_BYTES, Work};
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::results::EvalStatus;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{Action, JudgeReply, Options, Plan, PlanOptions, Run};
use serde_json::{Value, json};

const VALID: &str = r#"{"reasoning": "R.", "is_the_agent_response_valid": "valid", "is_valid": "valid"}"#;

fn said(text: &str) -> Value {
    json!({ "parts": [{ "text": text }] })
}

fn turn(user: &str, agent: &str) -> Value {
    json!({ "user_content": said(user), "final_response": said(agent) })
}

/// What came of one case.
#[derive(Default)]
struct Came {
    /// Status and reason of the whole, then of each turn.
    statuses: Vec<(EvalStatus, String)>,
    score: Option<f64>,
    /// The longest prompt that was asked, and what all asked took together, in bytes.
    longest: usize,
    total: usize,
    /// What the prompts took that existed at a time, in bytes, and how many calls were under way.
    most_open: usize,
    most_calls: usize,
    asked: usize,
    /// How often the host had its turn, and the most that was done between two turns.
    pauses: usize,
    most_work: usize,
}

fn evaluate(case: &Value, actual: &[Value], criteria: &Value) -> Came {
    play(case, actual, criteria, Options::default(), 0, &mut |_, _| {})
}

/// Scores a case with a judge who finds everything valid and answers when nothing else is left to do, or
/// as soon as `held` calls are under way. `meddle` is told each time the host has its turn.
fn play(
    case: &Value,
    actual: &[Value],
    criteria: &Value,
    options: Options,
    held: usize,
    meddle: &mut dyn FnMut(&mut Run<'_>, &mut f64),
) -> Came {
    let expected = json!({ "eval_set_id": "s", "eval_cases": [case] }).to_string();
    let runs = json!([{ "eval_id": "c", "conversation": actual }]);
    let actual = json!({ "eval_set_id": "s", "eval_cases": runs }).to_string();
    let config = json!({ "criteria": criteria }).to_string();
    let warnings = Warnings::default();
    let mut config = Document::parse(&config).unwrap();
    let plan = Plan::from_config(&mut config, PlanOptions::default(), &warnings).unwrap();
    let expected = EvalSetFile::read(Document::parse(&expected).unwrap(), "s", &warnings).unwrap();
    let actual = ActualFile::read(Document::parse(&actual).unwrap(), "s", &warnings).unwrap();
    let mut run = Run::new(expected.set(), actual.runs(), plan, options);
    let mut came = Came::default();
    let mut calls = Vec::new();
    let mut now = 0.0;
    loop {
        let action = run.poll(now);
        came.most_open = came.most_open.max(run.open_prompts());
        came.most_work = came.most_work.max(run.work());
        match action {
            Action::Send(call) => {
                let prompt = &run.question(&call).unwrap().prompt;
                came.asked += 1;
                came.total += prompt.len();
                came.longest = came.longest.max(prompt.len());
                calls.push(call.call.id);
                came.most_calls = came.most_calls.max(calls.len());
                if calls.len() > held {
                    let reply = JudgeReply { text: VALID.into(), usage: TokenCounts::default() };
                    run.handle_reply(now, calls.remove(0), reply, false);
                }
            }
            Action::Wait(_) => {
                let reply = JudgeReply { text: VALID.into(), usage: TokenCounts::default() };
                run.handle_reply(now, calls.remove(0), reply, false);
            }
            Action::Pause => {
                came.pauses += 1;
                meddle(&mut run, &mut now);
            }
            Action::Abort(call) => calls.retain(|known| *known != call),
            Action::Case(result) => {
                let metric = &result.metrics[0];
                came.score = metric.score;
                let words = |reason: Option<&str>| reason.unwrap_or_default().to_owned();
                came.statuses.push((metric.status, words(metric.reason.as_deref())));
                let turns = metric.turns.iter().map(|turn| (turn.status, words(turn.reason.as_deref())));
                came.statuses.extend(turns);
            }
            Action::Finished => return came,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_prompt_that_is_too_long_is_not_asked_and_says_so() {
    let long = "x".repeat(MAX_PROMPT_BYTES);
    let turns = [turn("Q1", "short"), turn("Q2", &long)];
    let case = json!({ "eval_id": "c", "conversation": [turn("Q1", "short"), turn("Q2", "short")] });
    let criteria = json!({ "final_response_match_v2": { "threshold": 0.5, "judge_model_options": { "num_samples": 1 } } });
    let came = evaluate(&case, &turns, &criteria);
    assert_eq!(came.asked, 1);
    assert_eq!(came.statuses[1], (EvalStatus::Passed, String::new()));
    let (status, reason) = &came.statuses[2];
    assert_eq!(*status, EvalStatus::NotEvaluated);
    assert!(
        reason.starts_with("the prompt has 4194") && reason.contains("at most 4194304 are asked"),
        "{reason}"
    );
}

/// The host has its turn between rendering a long prompt, computing its digest, and the next prompt.
#[test]
fn a_long_prompt_is_made_in_slices() {
    let long = "x".repeat(MAX_PROMPT_BYTES / 4);
    let turns = [turn("Q1", &long), turn("Q2", &long), turn("Q3", &long)];
    let case = json!({ "eval_id": "c", "conversation": [turn("Q1", "x"), turn("Q2", "x"), turn("Q3", "x")] });
    let criteria = json!({ "final_response_match_v2": { "threshold": 0.5, "judge_model_options": { "num_samples": 1 } } });
    let came = evaluate(&case, &turns, &criteria);
    assert_eq!((came.asked, came.score), (3, Some(1.0)));
    assert!(came.longest > Work::PER_POLL);
    assert!(came.pauses >= 2 * 3, "{}", came.pauses);
    assert!(came.most_work < 2 * Work::PER_POLL + came.longest, "{}", came.most_work);
}

/// A conversation with a simulated user, whose prompts repeat the history.
fn long_history(number: usize) -> (Value, Vec<Value>, Value) {
    let long = "x".repeat(100_000);
    let turns: Vec<Value> = (0..number).map(|_| turn("Q", &long)).collect();
    let scenario = json!({ "starting_prompt": "Q", "conversation_plan": "Ask." });
    let case = json!({ "eval_id": "c", "conversation_scenario": scenario });
    let criteria = json!({ "per_turn_user_simulator_quality_v1": {
        "threshold": 0.5, "judge_model_options": { "num_samples": 1 },
    } });
    (case, turns, criteria)
}

#[test]
fn prompts_exist_while_their_calls_are_under_way() {
    let (case, turns, criteria) = long_history(15);
    let came = evaluate(&case, &turns, &criteria);
    assert_eq!((came.asked, came.score), (15, Some(1.0)));
    assert!(came.total > 2 * MAX_PROMPT_BYTES, "{}", came.total);
    // The one that is sent, and those that may be kept for other samples.
    assert!(came.most_open <= MAX_PROMPT_BYTES + came.longest, "{}", came.most_open);
}

#[test]
fn calls_are_held_back_where_all_prompts_would_take_too_much() {
    let (case, turns, criteria) = long_history(40);
    let mut options = Options::default();
    options.judges.calls.concurrency = 1000;
    let came = play(&case, &turns, &criteria, options, usize::MAX, &mut |_, _| {});
    assert_eq!((came.asked, came.score), (40, Some(1.0)));
    assert!(came.total > MAX_OPEN_PROMPT_BYTES);
    assert!(
        came.most_open <= MAX_OPEN_PROMPT_BYTES
            && came.most_open > MAX_OPEN_PROMPT_BYTES - 2 * MAX_PROMPT_BYTES
    );
    assert!(came.most_calls > 20, "{}", came.most_calls);
}

#[test]
fn a_history_that_is_too_long_is_not_put_together() {
    let long = "x".repeat(1_000_000);
    let turns: Vec<Value> = (0..10).map(|_| turn("Q", &long)).collect();
    let (case, _, criteria) = long_history(1);
    let came = evaluate(&case, &turns, &criteria);
    assert_eq!(came.asked, 4);
    // Four metrics that are always reported look at each of the ten turns first.
    assert!(came.pauses <= 4 * 10 + 20, "{}", came.pauses);
    let (status, reason) = &came.statuses[0];
    assert_eq!(*status, EvalStatus::NotEvaluated);
    assert!(reason.contains("at most 4194304 are asked"), "{reason}");
}

fn rubrics(number: usize) -> Vec<Value> {
    let rubric = |index| json!({ "rubric_id": format!("r{index}"), "rubric_content": { "text_property": "Is kind." } });
    (0..number).map(rubric).collect()
}

/// Where the rubrics of a case are.
#[derive(Clone, Copy, PartialEq)]
enum RubricsOf {
    Criterion,
    Case,
    EachTurn,
}

/// Rubrics × turns.
fn many_rubrics(of: RubricsOf) -> (Value, Vec<Value>, Value) {
    let turns: Vec<Value> = (0..50).map(|_| turn("Q", "A")).collect();
    let mut expected = turns.clone();
    let mut all = rubrics(1_000);
    if of != RubricsOf::Criterion {
        all.iter_mut().for_each(|rubric| rubric["type"] = "FINAL_RESPONSE_QUALITY".into());
    }
    if of == RubricsOf::EachTurn {
        expected.iter_mut().for_each(|turn| turn["rubrics"] = all.clone().into());
    }
    let mut case = json!({ "eval_id": "c", "conversation": expected });
    let judge = json!({ "num_samples": 1 });
    let mut criterion = json!({ "threshold": 0.5, "judge_model_options": judge });
    match of {
        RubricsOf::Criterion => criterion["rubrics"] = all.into(),
        RubricsOf::Case => case["rubrics"] = all.into(),
        RubricsOf::EachTurn => {}
    }
    (case, turns, json!({ "rubric_based_final_response_quality_v1": criterion }))
}

#[test]
fn the_host_gets_control_within_one_case() {
    for of in [RubricsOf::Criterion, RubricsOf::Case, RubricsOf::EachTurn] {
        let (case, turns, criteria) = many_rubrics(of);
        let came = evaluate(&case, &turns, &criteria);
        assert_eq!(came.asked, 50);
        // Beyond the limit goes what one turn takes, or one prompt.
        let of_turn = 1_000 * 256 + 64;
        assert!(came.most_work <= Work::PER_POLL + of_turn, "{}", came.most_work);
        assert!(came.pauses >= 50 * 1_000 * 2 * 128 / (Work::PER_POLL + of_turn), "{}", came.pauses);
        assert!(came.most_open <= 2 * MAX_PROMPT_BYTES);
    }
}

#[test]
fn a_case_is_left_in_its_middle_when_it_is_cancelled_or_its_time_is_over() {
    let (case, turns, criteria) = many_rubrics(RubricsOf::Case);
    let whole = evaluate(&case, &turns, &criteria);
    let mut options = Options::default();
    options.judges.calls.run_timeout_ms = 1_000.0;
    let late = play(&case, &turns, &criteria, options, 0, &mut |_, now| *now = 2_000.0);
    let cancelled = play(&case, &turns, &criteria, Options::default(), 0, &mut |run, _| run.cancel());
    for (came, reason) in [(late, "the time for the run is over"), (cancelled, "the run was cancelled")] {
        assert_eq!((came.asked, came.statuses[0].0), (0, EvalStatus::NotEvaluated));
        assert!(came.statuses[0].1.contains(reason), "{}", came.statuses[0].1);
        assert!(came.pauses * 4 < whole.pauses, "{} of {}", came.pauses, whole.pauses);
    }
}

#[test]
fn rubrics_that_all_turns_repeat_are_limited_together() {
    let turns: Vec<Value> = (0..200).map(|_| turn("Q", "A")).collect();
    let mut all = rubrics(3_000);
    for rubric in &mut all {
        rubric["rubric_content"]["text_property"] = "x".repeat(200).into();
    }
    let criteria = json!({ "rubric_based_final_response_quality_v1": { "threshold": 0.5, "rubrics": all } });
    let came = evaluate(&json!({ "eval_id": "c", "conversation": turns }), &turns, &criteria);
    assert_eq!((came.asked, came.statuses[0].0), (0, EvalStatus::NotEvaluated));
    let limit = format!("the rubrics of all turns together take more than {} MiB", MAX_RUBRIC_BYTES >> 20);
    assert!(came.statuses[0].1.contains(&limit), "{}", came.statuses[0].1);
}

#[test]
fn a_stop_signal_does_not_multiply_a_persona() {
    let scenario = json!({
        "starting_prompt": "Q",
        "conversation_plan": "Ask.",
        "user_persona": { "id": "P", "description": "{{stop_signal}}".repeat(3_000), "behaviors": [] },
    });
    let case = json!({ "eval_id": "c", "conversation_scenario": scenario });
    let criteria = json!({ "per_turn_user_simulator_quality_v1": { "threshold": 0.5, "stop_signal": "x".repeat(60_000) } });
    let came = evaluate(&case, &[turn("Q", "A")], &criteria);
    assert_eq!((came.asked, came.statuses[0].0), (0, EvalStatus::NotEvaluated));
    assert!(came.statuses[0].1.contains("the persona is too long"), "{}", came.statuses[0].1);
}
