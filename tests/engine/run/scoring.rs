//! The engine's own metrics.

use super::*;

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

/// A turn whose texts are long is left in its middle, as often as they have work, and scores as it does at once.
#[test]
fn a_long_turn_is_left_in_its_middle() {
    let words = "red green blue ".repeat(40_000);
    let both = set(&[("long", &[&words])]);
    let mut pauses = 0;
    with_run(&both, &both, MATCH, Options::default(), |run| {
        let found = after_pauses(run, &mut pauses);
        assert_eq!(found.metrics[0].score, Some(1.0));
        let explanation = found.metrics[0].turns[0].explanation.as_ref().unwrap();
        assert_eq!(explanation.tokens.as_ref().unwrap().matched.len(), 1 << 15);
        assert_eq!(
            explanation.warnings,
            ["of 120000 words that both responses have, the first 32768 are shown"]
        );
        assert_finished(run);
    });
    assert!(pauses >= 2 * 8 * words.len() / Work::PER_POLL, "{pauses}");
}

/// A turn whose calls differ is left in its middle, by every metric that compares calls.
#[test]
fn calls_of_a_long_turn_are_compared_in_slices() {
    let call = |at: usize| json!({ "name": "f", "args": { "a": at % 7, "text": "x".repeat(500), "c": at } });
    let calls: Vec<_> = (0..300).map(call).collect();
    let with = |calls: Vec<_>| {
        let mut set = set(&[("long", &["red"])]);
        set["eval_cases"][0]["conversation"][0]["intermediate_data"] = json!({ "tool_uses": calls });
        set
    };
    let (expected, actual) = (with(calls.clone()), with(calls.into_iter().rev().collect()));
    let metrics = ["tool_trajectory_avg_score", "tool_trajectory_f1", "tool_parameter_match"];
    let pauses = metrics.map(|name| {
        let mut pauses = 0;
        let config = json!({ "criteria": { name: 1 } }).to_string();
        with_run(&expected, &actual, &config, Options::default(), |run| {
            assert!(after_pauses(run, &mut pauses).metrics[0].score.is_some(), "{name}");
            assert_finished(run);
        });
        pauses
    });
    // All are read to find those that have moved.
    assert!(pauses[0] > 2 * 300 * 500 / Work::PER_POLL, "{pauses:?}");
    // A call is compared with half of the others on average.
    let least = 300 * 300 / 2 * 500 / Work::PER_POLL;
    assert!(pauses[1].min(pauses[2]) >= least, "{pauses:?}, {least}");
}

#[test]
fn what_is_too_large_to_be_scored_in_pieces_is_not_evaluated() {
    let long = "x ".repeat((1 << 21) + 1);
    let both = set(&[("long", &[&long])]);
    with_run(&both, &both, MATCH, quiet(), |run| {
        let reason = after_pauses(run, &mut 0).metrics[0].reason.clone().unwrap();
        assert!(reason.contains("4194306 bytes; at most 4194304 are compared"), "{reason}");
    });
    let call = json!({ "name": "f" });
    let many = |calls: usize| {
        let mut set = set(&[("many", &["red"])]);
        set["eval_cases"][0]["conversation"][0]["intermediate_data"] =
            json!({ "tool_uses": vec![call.clone(); calls] });
        set
    };
    let both = many(10_001);
    with_run(&both, &both, r#"{"criteria": {"tool_trajectory_avg_score": 1}}"#, quiet(), |run| {
        let reason = after_pauses(run, &mut 0).metrics[0].reason.clone().unwrap();
        assert!(reason.contains("10001 tool calls") && reason.contains("at most 10000"), "{reason}");
    });
    let mut both = set(&[("long arguments", &["red"])]);
    let long = json!({ "name": "f", "args": { "text": "x".repeat(1 << 20) } });
    both["eval_cases"][0]["conversation"][0]["intermediate_data"] = json!({ "tool_uses": vec![long; 8] });
    for metric in ["tool_trajectory_avg_score", "tool_trajectory_f1", "tool_parameter_match"] {
        let config = json!({ "criteria": { metric: 1 } }).to_string();
        with_run(&both, &both, &config, quiet(), |run| {
            let reason = after_pauses(run, &mut 0).metrics[0].reason.clone().unwrap();
            assert!(reason.contains("8 tool calls with 8388696 bytes of arguments"), "{metric}: {reason}");
        });
    }
    let both = many(MAX_TURN_VALUES / 3);
    with_run(&both, &both, MATCH, quiet(), |run| {
        let failure = after_pauses(run, &mut 0).failure.unwrap();
        assert!(failure.message.contains("at most 524288 are scored"), "{failure}");
    });
}
