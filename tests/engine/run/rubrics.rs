//! The rubrics that apply to a turn.

use super::*;

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

#[test]
fn a_case_with_too_many_rubrics_is_not_evaluated_and_says_so() {
    let rubrics =
        |count: usize| -> Value { (0..count).map(|at| rubric(&at.to_string(), "Is kind")).collect() };
    let half = MAX_RUBRICS / 2;
    let set = |of_case: usize, of_turn: usize| {
        let mut turn = turn("red");
        turn["rubrics"] = rubrics(of_turn);
        let case = json!({ "eval_id": "a", "conversation": [turn], "rubrics": rubrics(of_case) });
        json!({ "eval_set_id": "set", "eval_cases": [case] })
    };
    with_run(&set(half, half), &set(0, 0), MATCH, quiet(), |run| {
        assert_eq!(after_pauses(run, &mut 0).metrics[0].score, Some(1.0));
    });
    with_run(&set(half, half), &set(0, 1), MATCH, quiet(), |run| {
        let failure = after_pauses(run, &mut 0).failure.unwrap();
        assert!(failure.message.contains("65537 rubrics; at most 65536 are read"), "{failure}");
    });
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
            let words = |rubric: Rubric<'_>| format!("{} {}", rubric.rubric_id(), rubric.property().unwrap());
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
