//! Which run of the agent belongs to which case.

use super::*;

// ---- which run belongs to which case

#[test]
fn runs_are_paired_with_cases_by_id_in_any_order() {
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
    let events = json!([sessions(&["red"])[0]["events"].clone()]);
    assert_eq!(results(&set(&[("a", &["red"])]), &events[0]), (vec![scored(0, 0, 1.0)], vec![]));
    let by_order =
        "no actual conversation has the id of an eval case, so they are paired in their order".to_owned();
    assert_eq!(results(&expected, &sessions(&["red", "blue"])), (pairs, vec![by_order]));
    let renamed = set(&[("x", &["red"]), ("y", &["blue"])]);
    let (found, warnings) = results(&expected, &renamed);
    assert_eq!(found, [scored(0, 0, 1.0), scored(1, 1, 0.0)]);
    assert_eq!(
        warnings,
        ["no actual conversation has the id of an eval case, so they are paired in their order"]
    );
}

#[test]
fn a_session_belongs_to_the_case_with_its_id() {
    let expected = set(&[("session of blue", &["blue"]), ("b", &["green"]), ("session of red", &["red"])]);
    let (found, warnings) = results(&expected, &sessions(&["red", "blue", "grey"]));
    assert_eq!(
        found,
        [scored(0, 1, 1.0), unscored(1, None, ErrorCode::ActualMissing), scored(2, 0, 1.0)],
        "not by place, although there are as many sessions as cases"
    );
    assert_eq!(
        warnings,
        [r#"the actual conversation "session of grey" belongs to no eval case and is left out"#]
    );
}

#[test]
fn a_sessions_eval_id_takes_precedence_over_its_own_id() {
    let expected = set(&[("session of red", &["blue"]), ("b", &["red"])]);
    let mut actual = sessions(&["red"]);
    actual[0]["eval_id"] = json!("b");
    assert_eq!(
        results(&expected, &actual).0,
        [unscored(0, None, ErrorCode::ActualMissing), scored(1, 0, 1.0)]
    );
}

#[test]
fn a_session_belongs_to_the_one_case_of_an_evalset_or_of_a_selection() {
    let one = (vec![scored(0, 0, 1.0)], vec![]);
    assert_eq!(results(&set(&[("a", &["red"])]), &sessions(&["red"])), one);

    let expected = set(&[("a", &["red"]), ("b", &["green"])]);
    let select_b = || Options { selected_case: Some("b".into()), ..quiet() };
    let pairing_of = |actual: &Value| {
        with_run(&expected, actual, MATCH, select_b(), |run| {
            run.select(&["b".into()]).unwrap();
            let warnings: Vec<_> = run.warnings().iter().map(|warning| warning.message.clone()).collect();
            (cases(run).iter().map(|case| case.pairing.run).collect::<Vec<_>>(), warnings)
        })
    };
    assert_eq!(pairing_of(&sessions(&["green"])), (vec![Some(0)], vec![]));
    let stray = r#"the actual conversation "x" belongs to no eval case and is left out"#.to_owned();
    assert_eq!(pairing_of(&set(&[("x", &["green"])])), (vec![None], vec![stray]), "it names another case");
    let of_another = json!([{ "id": "a", "events": sessions(&["red"])[0]["events"] }]);
    assert_eq!(pairing_of(&of_another), (vec![None], vec![]), "its id is that of another case");
}

#[test]
fn the_warning_about_an_unpaired_session_says_how_to_name_its_case() {
    let helps = |actual: &Value| {
        with_run(&set(&[("a", &["red"])]), actual, MATCH, quiet(), |run| {
            run.warnings().iter().filter_map(|warning| warning.help.clone()).collect::<Vec<_>>()
        })
    };
    for help in helps(&sessions(&["red", "blue"])) {
        assert!(help.contains("`eval_id`") && help.contains("readSessions"), "{help}");
    }
    assert_eq!(
        helps(&set(&[("x", &["red"]), ("y", &["red"])])),
        ["Runs are matched with cases by eval id"; 2]
    );
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
        assert_eq!(failure.help.as_deref(), Some("Runs are matched with cases by eval id"));
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

#[test]
fn runs_with_other_questions_are_found_and_reformatted_ones_are_not() {
    let asked = |questions: &[&str]| {
        let cases = questions.iter().zip(["a", "b", "c", "d"]).map(|(question, id)| {
            let asked = json!({ "user_content": { "parts": [{ "text": question }] } });
            json!({ "eval_id": id, "conversation": [turn("x"), asked] })
        });
        json!({ "eval_set_id": "set", "eval_cases": cases.collect::<Value>() })
    };
    let expected = asked(&["In Rome?", "In  Oslo?\n", "In Bonn?", "In Bonn?"]);
    let actual = asked(&["In Paris?", "In\nOslo?", "", "In Bonn?"]);
    with_run(&expected, &actual, MATCH, quiet(), |run| {
        let (count, found) = run.other_questions(&mut 0);
        assert_eq!(count, 1);
        assert_eq!(found, ["0", "2", "In Paris?", "In Rome?"]);
        assert_eq!(run.other_questions(&mut 1).0, 0);
    });
}

#[test]
fn many_runs_with_other_questions_are_counted_at_once() {
    let asked = |question: &str| {
        let asked = json!({ "user_content": { "parts": [{ "text": question }] } });
        let cases = (0..100).map(|id| json!({ "eval_id": id.to_string(), "conversation": [asked] }));
        json!({ "eval_set_id": "set", "eval_cases": cases.collect::<Value>() })
    };
    with_run(&asked("In Rome?"), &asked("In Paris?"), MATCH, quiet(), |run| {
        let mut next = 0;
        let (count, found) = run.other_questions(&mut next);
        assert_eq!(count, 100);
        assert_eq!(found[..2], ["0", "1"]);
        assert!(next >= 100, "the next call begins with {next}");
    });
}

#[test]
fn questions_are_compared_in_slices_and_megabytes_of_them_in_part() {
    let asked = |last: &str| {
        let asked = |text: &str| json!({ "user_content": { "parts": [{ "text": text }] } });
        let case = |id: usize, length| json!({ "eval_id": id.to_string(), "conversation": [asked(&"x".repeat(length)), asked(last)] });
        let cases = [case(0, 3 << 20), case(1, 1 << 20), case(2, 1 << 20)];
        json!({ "eval_set_id": "set", "eval_cases": cases })
    };
    with_run(&asked("In Rome?"), &asked("In Paris?"), MATCH, quiet(), |run| {
        let mut next = 0;
        assert_eq!(run.other_questions(&mut next).0, 0, "the second turn is too far behind");
        assert_eq!(next, 1, "3 MiB are more than a slice");
        assert_eq!(run.other_questions(&mut next).1[0], "1");
        assert_eq!(next, 2);
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
    for status in [json!(2), json!("FAILURE"), json!("failed")] {
        let actual = json!([
            { "eval_case_id": "a", "inferences": turns(&["red"]), "status": status, "error_message": "quota" },
            { "eval_case_id": "b", "inferences": turns(&["green"]), "status": 1 },
        ]);
        with_run(&expected, &actual, MATCH, quiet(), |run| {
            let result = case(run, 0.0);
            assert_eq!(result.status, Failed);
            assert!(result.metrics.is_empty());
            assert_eq!(result.failure.unwrap().message, "the run failed: quota");
            assert_eq!(case(run, 0.0).status, Passed);
        });
    }
}

#[test]
fn a_metric_that_cannot_score_a_case_is_not_evaluated_and_others_are() {
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
