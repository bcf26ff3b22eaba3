//! What judged metrics do with inputs that make very long prompts: nothing is asked beyond the limits, and
//! results say why.
#![expect(clippy::panic, clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use adk_metrics::metrics::judged::{LONGEST_PROMPT, MOST_PROMPTS};
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::json::Document;
use adk_metrics::model::results::EvalStatus;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{Action, JudgeReply, Options, Plan, Run, Terms};
use serde_json::{Value, json};

const VALID: &str = r#"{"reasoning": "R.", "is_the_agent_response_valid": "valid", "is_valid": "valid"}"#;

fn said(text: &str) -> Value {
    json!({ "parts": [{ "text": text }] })
}

fn turn(user: &str, agent: &str) -> Value {
    json!({ "user_content": said(user), "final_response": said(agent) })
}

/// What came of one case.
struct Came {
    /// Status and reason of the whole, then of each turn.
    statuses: Vec<(EvalStatus, String)>,
    /// The longest prompt that was asked, and the most that were open at a time.
    longest: usize,
    asked: usize,
}

fn evaluate(case: &Value, actual: &[Value], criteria: &Value) -> Came {
    let expected = json!({ "eval_set_id": "s", "eval_cases": [case] }).to_string();
    let runs = json!([{ "eval_id": "c", "conversation": actual }]);
    let actual = json!({ "eval_set_id": "s", "eval_cases": runs }).to_string();
    let config = json!({ "criteria": criteria }).to_string();
    let warnings = Warnings::default();
    let mut config = Document::parse(&config).unwrap();
    let plan = Plan::of_config(&mut config, Terms::default(), &warnings).unwrap();
    let expected = EvalSetFile::read(Document::parse(&expected).unwrap(), "s", &warnings).unwrap();
    let actual = ActualFile::read(Document::parse(&actual).unwrap(), "s", &warnings).unwrap();
    let mut run = Run::new(expected.set(), actual.runs(), plan, Options::default());
    let mut came = Came { statuses: Vec::new(), longest: 0, asked: 0 };
    loop {
        match run.poll(0.0) {
            Action::Send(call) => {
                came.asked += 1;
                came.longest = came.longest.max(run.question(&call).unwrap().prompt.len());
                let reply = JudgeReply { text: VALID.into(), usage: None };
                run.handle_reply(0.0, call.call.id, reply, false);
            }
            Action::Case(result) => {
                let metric = &result.metrics[0];
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
    let long = "x".repeat(LONGEST_PROMPT);
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

#[test]
fn prompts_that_repeat_the_history_are_limited_together() {
    let long = "x".repeat(30_000);
    let turns: Vec<Value> = (0..100).map(|_| turn("Q", &long)).collect();
    let scenario = json!({ "starting_prompt": "Q", "conversation_plan": "Ask." });
    let case = json!({ "eval_id": "c", "conversation_scenario": scenario });
    let criteria = json!({ "per_turn_user_simulator_quality_v1": { "threshold": 0.5 } });
    let came = evaluate(&case, &turns, &criteria);
    assert_eq!((came.asked, came.statuses[0].0), (0, EvalStatus::NotEvaluated));
    let limit = format!("take more than {} MiB", MOST_PROMPTS >> 20);
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
