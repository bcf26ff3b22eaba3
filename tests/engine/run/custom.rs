//! Metrics that the host computes.

use super::*;

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
    let turns = [Some(0.25), None, Some(0.5)].map(|score| CustomScore { score, ..CustomScore::default() });
    let (found, _) =
        host_result(Ok(CustomEvaluation { turns: turns.into(), ..CustomEvaluation::default() }), 3);
    assert_eq!((found.score, found.status), (Some(0.375), Failed));
    let statuses: Vec<_> = found.turns.iter().map(|turn| turn.status).collect();
    assert_eq!(statuses, [Failed, NotEvaluated, Passed]);
    assert_eq!(found.turns[1].reason.as_deref(), Some("the metric returned no score"));
}

#[test]
fn statuses_and_reasons_that_the_host_gives_stand() {
    let turn = CustomScore { score: Some(1.0), status: Some(Failed), reason: Some("too long".into()) };
    let overall = CustomScore { score: Some(0.0), status: Some(Passed), reason: Some("by decree".into()) };
    let given = CustomEvaluation { overall, turns: vec![turn] };
    let (found, _) = host_result(Ok(given), 1);
    assert_eq!((found.score, found.status, found.reason.as_deref()), (Some(0.0), Passed, Some("by decree")));
    assert_eq!((found.turns[0].status, found.turns[0].reason.as_deref()), (Failed, Some("too long")));
}

#[test]
fn no_score_is_not_evaluated_with_a_reason() {
    let (found, error) = host_result(Ok(CustomEvaluation::default()), 1);
    assert_eq!((found.score, found.status, error), (None, NotEvaluated, None));
    assert_eq!(found.reason.as_deref(), Some("the metric returned no score"));
}

#[test]
fn a_score_that_is_no_finite_number_is_refused() {
    let of = |score| CustomScore { score: Some(score), ..CustomScore::default() };
    let overall = |score| CustomEvaluation { overall: of(score), ..CustomEvaluation::default() };
    let of_turn = |score| CustomEvaluation { turns: vec![of(score)], ..CustomEvaluation::default() };
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
    let turn = CustomScore { score: Some(f64::MAX), ..CustomScore::default() };
    let answer = CustomEvaluation { turns: vec![turn.clone(), turn], ..CustomEvaluation::default() };
    let (found, error) = host_result(Ok(answer), 2);
    assert_eq!((found.score, error.map(|error| error.code)), (None, Some(ErrorCode::CustomMetricFailed)));
}

#[test]
fn results_for_another_number_of_turns_are_refused() {
    let answer = CustomEvaluation { turns: vec![CustomScore::default(); 2], ..CustomEvaluation::default() };
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
