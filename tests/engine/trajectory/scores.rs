//! `tool_parameter_match` and `tool_trajectory_f1` of an invocation.

use adk_metrics::foundation::error::ErrorCode;
use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::model::content::ToolCall;
use adk_metrics::trajectory::{
    CallPair, MatchMode, ParameterMatch, Strategies, Strategy, tool_parameter_match, tool_trajectory_f1,
};

/// Calls read from `[[name, args], …]`; no args are absent args.
fn calls<'a>(doc: &'a Document<'a>) -> Vec<ToolCall<'a>> {
    let call = |item: Json<'a>| {
        let mut parts = item.items();
        ToolCall { name: parts.next().and_then(Json::as_str), args: parts.next() }
    };
    doc.root().items().map(call).collect()
}

fn parameters(match_mode: MatchMode, ordered: bool) -> ParameterMatch {
    ParameterMatch { match_mode, ordered, strategies: Strategies::default() }
}

fn score(parameters: &ParameterMatch, expected: &str, actual: &str) -> Option<(f64, Vec<(usize, usize)>)> {
    let (expected, actual) = (Document::parse(expected).unwrap(), Document::parse(actual).unwrap());
    let result = tool_parameter_match(parameters, &calls(&expected), &calls(&actual)).unwrap()?;
    Some((result.score, numbers(&result.pairs)))
}

fn f1(mode: MatchMode, ordered: bool, expected: &str, actual: &str) -> f64 {
    let (expected, actual) = (Document::parse(expected).unwrap(), Document::parse(actual).unwrap());
    tool_trajectory_f1(mode, ordered, &calls(&expected), &calls(&actual)).unwrap().score
}

fn numbers(pairs: &[CallPair]) -> Vec<(usize, usize)> {
    pairs.iter().map(|pair| (pair.expected, pair.actual)).collect()
}

use MatchMode::{NameAndArgs, NameAndRequiredArgs, NameOnly};

#[test]
fn a_call_scores_the_share_of_its_expected_arguments() {
    let required = parameters(NameAndRequiredArgs, true);
    let expected = r#"[["f", {"a": 1, "b": 2, "c": 3}]]"#;
    for (actual, wanted) in [
        (r#"[["f", {"a": 1, "b": 2, "c": 3}]]"#, 1.0),
        (r#"[["f", {"c": 3.0, "b": 2, "a": true, "more": 0}]]"#, 1.0),
        (r#"[["f", {"a": 1, "b": 2, "c": 4}]]"#, 2.0 / 3.0),
        (r#"[["f", {"a": 1}]]"#, 1.0 / 3.0),
        (r#"[["f", {}]]"#, 0.0),
        (r#"[["f"]]"#, 0.0),
        (r#"[["g", {"a": 1, "b": 2, "c": 3}]]"#, 0.0),
        ("[]", 0.0),
    ] {
        assert_eq!(score(&required, expected, actual).unwrap().0, wanted, "{actual}");
    }
}

#[test]
fn a_call_without_expected_arguments_scores_one_if_it_is_made() {
    for mode in [NameOnly, NameAndArgs, NameAndRequiredArgs] {
        for ordered in [true, false] {
            let parameters = parameters(mode, ordered);
            for expected in [r#"[["f"]]"#, r#"[["f", {}]]"#] {
                assert_eq!(score(&parameters, expected, r#"[["f", {"a": 1}]]"#).unwrap().0, 1.0);
                assert_eq!(score(&parameters, expected, r#"[["g"]]"#).unwrap().0, 0.0);
            }
            assert_eq!(score(&parameters, "[]", r#"[["f"]]"#), None);
        }
    }
}

#[test]
fn an_invocation_scores_the_plain_mean_of_its_expected_calls() {
    let tenths = |matched: i32| {
        let entries: Vec<_> = (0..10).map(|n| format!("\"k{n}\": {}", i32::from(n < matched))).collect();
        format!("{{{}}}", entries.join(","))
    };
    let whole = format!("{{{}}}", (0..10).map(|n| format!("\"k{n}\": 1")).collect::<Vec<_>>().join(","));
    let expected = format!(r#"[["a", {whole}], ["b", {whole}], ["c", {whole}]]"#);
    let actual = format!(r#"[["a", {0}], ["b", {0}], ["c", {0}]]"#, tenths(1));
    let found = score(&parameters(NameAndRequiredArgs, true), &expected, &actual).unwrap().0;
    assert_eq!(found, (0.1 + 0.1 + 0.1) / 3.0);
    assert_ne!(found, 0.1, "the sum of doubles, not the exact mean");
}

#[test]
fn the_best_alignment_is_taken_not_the_first() {
    let expected = r#"[["f", {"a": 1, "b": 1}], ["f", {"a": 1, "b": 2}]]"#;
    let actual = r#"[["f", {"a": 1, "b": 2}], ["f", {"a": 1, "b": 1}]]"#;
    assert_eq!(
        score(&parameters(NameAndRequiredArgs, false), expected, actual),
        Some((1.0, vec![(0, 1), (1, 0)]))
    );
    // In order, both pairs with a half each are worth as much as one that matches wholly, which has
    // the more pairs that do; of those, the first expected call is paired.
    assert_eq!(score(&parameters(NameAndRequiredArgs, true), expected, actual), Some((0.5, vec![(0, 1)])));
    assert_eq!(score(&parameters(NameOnly, true), expected, actual), Some((0.5, vec![(0, 0), (1, 1)])));
    assert_eq!(score(&parameters(NameOnly, false), expected, actual), Some((0.5, vec![(0, 0), (1, 1)])));
}

#[test]
fn arguments_that_only_the_actual_call_has_decide_which_is_chosen_but_not_the_score() {
    let expected = r#"[["f", {"a": 1}]]"#;
    let actual = r#"[["f", {"a": 1, "more": 0}], ["f", {"a": 1}]]"#;
    assert_eq!(score(&parameters(NameAndRequiredArgs, true), expected, actual), Some((1.0, vec![(0, 0)])));
    assert_eq!(score(&parameters(NameAndArgs, true), expected, actual), Some((1.0, vec![(0, 1)])));
    let only_more = r#"[["f", {"a": 1, "more": 0}]]"#;
    assert_eq!(score(&parameters(NameAndArgs, true), expected, only_more), Some((1.0, vec![(0, 0)])));
}

#[test]
fn order_counts_on_demand() {
    let expected = r#"[["search_web", {"query": "rust"}], ["summarize", {"maxLength": 200}]]"#;
    let swapped = r#"[["summarize", {"maxLength": 200}], ["search_web", {"query": "rust"}]]"#;
    for mode in [NameOnly, NameAndArgs, NameAndRequiredArgs] {
        assert_eq!(score(&parameters(mode, true), expected, swapped), Some((0.5, vec![(0, 1)])));
        assert_eq!(score(&parameters(mode, false), expected, swapped), Some((1.0, vec![(0, 1), (1, 0)])));
    }
}

#[test]
fn strategies_decide_what_matches() {
    let strategies = Strategies::new(
        Strategy::CasefoldExact,
        vec![("price".to_owned(), Strategy::Numeric { tolerance: 0.5 })],
    );
    let parameters = ParameterMatch { strategies, ..ParameterMatch::default() };
    let expected = r#"[["f", {"city": "Rome", "price": 10}]]"#;
    assert_eq!(score(&parameters, expected, r#"[["f", {"city": "ROME", "price": "10.5"}]]"#).unwrap().0, 1.0);
    assert_eq!(score(&parameters, expected, r#"[["f", {"city": "ROME", "price": 11}]]"#).unwrap().0, 0.5);
}

#[test]
fn f1_of_search_and_summarize_in_all_variations() {
    let expected = r#"[["search_web", {"query": "rust"}], ["summarize", {"maxLength": 200}]]"#;
    for (actual, name_only, args, required, required_in_any_order) in [
        (expected, 1.0, 1.0, 1.0, 1.0),
        (r#"[["summarize", {"maxLength": 200}], ["search_web", {"query": "rust"}]]"#, 0.5, 0.5, 0.5, 1.0),
        (r#"[["search_web", {"query": "rust"}], ["summarize", {"maxLength": 100}]]"#, 1.0, 0.5, 0.5, 0.5),
        (
            r#"[["search_web", {"query": "rust", "page": 2}], ["summarize", {"maxLength": 200}]]"#,
            1.0,
            0.5,
            1.0,
            1.0,
        ),
        (
            r#"[["search_web", {"query": "rust"}], ["f"], ["summarize", {"maxLength": 200}]]"#,
            0.8,
            0.8,
            0.8,
            0.8,
        ),
        (r#"[["search_web", {"query": "rust"}]]"#, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0),
        ("[]", 0.0, 0.0, 0.0, 0.0),
    ] {
        assert_eq!(f1(NameOnly, true, expected, actual), name_only, "{actual}");
        assert_eq!(f1(NameAndArgs, true, expected, actual), args, "{actual}");
        assert_eq!(f1(NameAndRequiredArgs, true, expected, actual), required, "{actual}");
        assert_eq!(f1(NameAndRequiredArgs, false, expected, actual), required_in_any_order, "{actual}");
    }
}

#[test]
fn f1_without_any_calls_is_one() {
    assert_eq!(f1(NameAndRequiredArgs, true, "[]", "[]"), 1.0);
    assert_eq!(f1(NameAndRequiredArgs, false, "[]", r#"[["f"]]"#), 0.0);
}

#[test]
fn f1_pairs_as_many_as_can_be_where_greedy_pairing_would_not() {
    // The first expected call may have either actual call, the second only the first.
    let expected = r#"[["f", {"a": 1}], ["f", {"a": 1, "b": 2}]]"#;
    let actual = r#"[["f", {"a": 1, "b": 2}], ["f", {"a": 1}]]"#;
    assert_eq!(f1(NameAndRequiredArgs, false, expected, actual), 1.0);
    assert_eq!(f1(NameAndRequiredArgs, true, expected, actual), 0.5);
    assert_eq!(f1(NameAndArgs, true, r#"[["f"]]"#, r#"[["f", {}]]"#), 0.0, "absent arguments are not empty");
    assert_eq!(f1(NameAndRequiredArgs, true, r#"[["f"]]"#, r#"[["f", {}]]"#), 1.0);
}

fn repeated(count: usize, args: &str) -> String {
    format!("[{}]", vec![format!(r#"["f", {args}]"#); count].join(","))
}

#[test]
fn long_trajectories_score_if_they_agree_and_are_refused_if_they_do_not() {
    let (long, other) = (repeated(10_000, r#"{"a": 1}"#), repeated(10_000, r#"{"a": 2}"#));
    for ordered in [true, false] {
        assert_eq!(f1(NameAndRequiredArgs, ordered, &long, &long), 1.0);
        assert_eq!(score(&parameters(NameAndRequiredArgs, ordered), &long, &long).unwrap().0, 1.0);
        let (expected, actual) = (Document::parse(&*long).unwrap(), Document::parse(&*other).unwrap());
        let (expected, actual) = (calls(&expected), calls(&actual));
        let refused = tool_trajectory_f1(NameAndRequiredArgs, ordered, &expected, &actual).unwrap_err();
        assert_eq!(refused.code, ErrorCode::LimitExceeded);
        let refused =
            tool_parameter_match(&parameters(NameAndArgs, ordered), &expected, &actual).unwrap_err();
        assert_eq!(refused.code, ErrorCode::LimitExceeded);
    }
}

#[test]
fn long_arguments_are_refused_where_comparing_all_of_them_would_take_too_long() {
    let args = |n| format!(r#"{{"text": "{}{n}"}}"#, "x".repeat(20_000));
    let (expected, actual) = (repeated(300, &args(1)), repeated(300, &args(2)));
    let (expected, actual) = (Document::parse(expected).unwrap(), Document::parse(actual).unwrap());
    let refused =
        tool_trajectory_f1(NameAndRequiredArgs, true, &calls(&expected), &calls(&actual)).unwrap_err();
    assert!(refused.message.contains("300 expected with 300 actual"), "{}", refused.message);
}
