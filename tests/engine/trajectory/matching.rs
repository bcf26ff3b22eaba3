//! The three match types of `tool_trajectory_avg_score`.

use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::model::content::{FunctionCall, ToolCall};
use adk_metrics::model::shape::{List, View, Warnings, check};
use adk_metrics::trajectory::{CallEquality, MatchType, matches};
use proptest::prelude::*;

/// Calls read from `[[name, args], …]`; no args are absent args.
fn calls<'a>(doc: &'a Document<'a>) -> Vec<ToolCall<'a>> {
    let call = |item: Json<'a>| {
        let mut parts = item.items();
        let name = parts.next().and_then(|name| name.as_str());
        ToolCall { name, args: parts.next() }
    };
    doc.root().items().map(call).collect()
}

/// The verdicts of EXACT, IN_ORDER and ANY_ORDER.
fn verdicts(equality: CallEquality, expected: &str, actual: &str) -> [bool; 3] {
    let (expected, actual) = (Document::parse(expected).unwrap(), Document::parse(actual).unwrap());
    let (expected, actual) = (calls(&expected), calls(&actual));
    [MatchType::Exact, MatchType::InOrder, MatchType::AnyOrder]
        .map(|match_type| matches(match_type, equality, &expected, &actual).unwrap())
}

const SEARCH: &str = r#"["search_web", {"query": "rust"}]"#;
const SUMMARIZE: &str = r#"["summarize", {"maxLength": 200}]"#;

/// So many calls whose arguments differ in the last of 25 digits: their nearest doubles are the same.
fn colliding(number: usize, from: usize) -> String {
    let call = |n| format!(r#"["f", {{"n": 10000000000000000000{n:05}}}]"#);
    format!("[{}]", (from..from + number).map(call).collect::<Vec<_>>().join(","))
}

#[test]
fn calls_that_collide_are_compared_up_to_a_limit() {
    let any_order = |expected: &str, actual: &str| {
        let (expected, actual) = (Document::parse(expected).unwrap(), Document::parse(actual).unwrap());
        let (expected, actual) = (calls(&expected), calls(&actual));
        matches(MatchType::AnyOrder, CallEquality::Args, &expected, &actual)
    };
    let reversed = |number| {
        let list: Vec<_> = (0..number).rev().map(|n| colliding(1, n)).collect();
        format!(
            "[{}]",
            list.iter()
                .map(|call| call.trim_matches(['[', ']']))
                .map(|call| format!("[{call}]"))
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    assert!(any_order(&colliding(600, 0), &reversed(600)).unwrap());
    assert!(!any_order(&colliding(600, 0), &colliding(600, 1)).unwrap());
    let error = any_order(&colliding(2_000, 0), &reversed(2_000)).unwrap_err();
    assert_eq!(error.code, adk_metrics::foundation::error::ErrorCode::LimitExceeded);
    let same = format!("[{}]", vec![r#"["f", {"n": 1}]"#; 20_000].join(","));
    assert!(any_order(&same, &same).unwrap(), "calls that are equal are compared once each");
}

#[test]
fn search_and_summarize_in_all_variations() {
    let expected = format!("[{SEARCH}, {SUMMARIZE}]");
    let extra = r#"["translate", {"to": "de"}]"#;
    let longer = r#"["summarize", {"maxLength": 500}]"#;
    for (actual, exact, in_order, any_order) in [
        (format!("[{SEARCH}, {SUMMARIZE}]"), true, true, true),
        (format!("[{SUMMARIZE}, {SEARCH}]"), false, false, true),
        (format!("[{SEARCH}, {extra}, {SUMMARIZE}]"), false, true, true),
        (format!("[{extra}, {SEARCH}, {SUMMARIZE}, {extra}]"), false, true, true),
        (format!("[{SUMMARIZE}, {extra}, {SEARCH}]"), false, false, true),
        (format!("[{SEARCH}, {longer}]"), false, false, false),
        (format!("[{SEARCH}, {longer}, {SUMMARIZE}]"), false, true, true),
        (format!("[{SEARCH}]"), false, false, false),
        (format!("[{SEARCH}, {SEARCH}]"), false, false, false),
        (format!("[{SEARCH}, {SEARCH}, {SUMMARIZE}]"), false, true, true),
        (format!("[{SUMMARIZE}, {SEARCH}, {SUMMARIZE}]"), false, true, true),
        (r#"[["search_web"], ["summarize"]]"#.into(), false, false, false),
        (
            r#"[["search_web", {"query": "rust", "page": null}], ["summarize", {"maxLength": 200}]]"#.into(),
            false,
            false,
            false,
        ),
        (
            r#"[["search_web", {"query": "rust"}], ["summarize", {"maxLength": 200.0}]]"#.into(),
            true,
            true,
            true,
        ),
        ("[]".into(), false, false, false),
    ] {
        assert_eq!(
            verdicts(CallEquality::Args, &expected, &actual),
            [exact, in_order, any_order],
            "{actual}"
        );
    }
}

#[test]
fn nothing_expected_is_matched_by_anything_but_exactly_only_by_nothing() {
    assert_eq!(verdicts(CallEquality::Args, "[]", "[]"), [true, true, true]);
    assert_eq!(verdicts(CallEquality::Args, "[]", &format!("[{SEARCH}]")), [false, true, true]);
}

#[test]
fn each_actual_call_serves_one_expected_call() {
    let twice = format!("[{SEARCH}, {SEARCH}]");
    assert_eq!(verdicts(CallEquality::Args, &twice, &format!("[{SEARCH}]")), [false, false, false]);
    assert_eq!(
        verdicts(CallEquality::Args, &twice, &format!("[{SEARCH}, {SUMMARIZE}, {SEARCH}]")),
        [false, true, true]
    );
}

#[test]
fn arguments_are_ignored_on_demand() {
    let names = verdicts(
        CallEquality::Name,
        &format!("[{SEARCH}, {SUMMARIZE}]"),
        r#"[["search_web"], ["summarize", {}]]"#,
    );
    assert_eq!(names, [true, true, true]);
    assert_eq!(verdicts(CallEquality::Name, &format!("[{SEARCH}]"), &format!("[{SUMMARIZE}]")), [false; 3]);
}

#[test]
fn absent_arguments_equal_an_empty_object_in_javascript_only() {
    let (absent, empty) = (r#"[["search_web"]]"#, r#"[["search_web", {}]]"#);
    assert_eq!(verdicts(CallEquality::Args, absent, empty), [false; 3]);
    assert_eq!(verdicts(CallEquality::ArgsAsJsText, absent, empty), [true; 3]);
    assert_eq!(verdicts(CallEquality::Args, absent, absent), [true; 3]);
}

#[test]
fn required_arguments_may_be_joined_by_others() {
    let more = r#"[["search_web", {"page": 2, "query": "rust"}]]"#;
    assert_eq!(verdicts(CallEquality::RequiredArgs, &format!("[{SEARCH}]"), more), [true; 3]);
    assert_eq!(verdicts(CallEquality::RequiredArgs, more, &format!("[{SEARCH}]")), [false; 3]);
}

#[test]
fn names_and_ids_count_as_in_the_reference() {
    let mut doc = Document::parse(r#"[{}, {"name": ""}, {"id": "1"}]"#).unwrap();
    check(&mut doc, &<List<'_, FunctionCall<'_>>>::TYPE, &Warnings::default()).unwrap();
    let calls: Vec<_> = List::<FunctionCall<'_>>::from_json(doc.root()).iter().map(ToolCall::from).collect();
    let [unnamed, named, identified] = calls.as_slice() else { panic!("three calls") };
    assert!(CallEquality::Args.holds(unnamed, identified));
    assert!(!CallEquality::Args.holds(unnamed, named));
}

#[test]
fn a_hundred_thousand_calls_are_matched_in_any_order() {
    let list = |order: &mut dyn Iterator<Item = u32>| {
        format!("[{}]", order.map(|n| format!(r#"["f", {{"n": {}}}]"#, n / 3)).collect::<Vec<_>>().join(","))
    };
    let forwards = list(&mut (0..100_000));
    let backwards = list(&mut (0..100_000).rev());
    assert_eq!(verdicts(CallEquality::Args, &forwards, &backwards), [false, false, true]);
    assert_eq!(verdicts(CallEquality::Args, &forwards, &list(&mut (1..100_001))), [false, false, false]);
    assert_eq!(verdicts(CallEquality::Name, &forwards, &backwards), [true, true, true]);
}

/// What the reference does, said in the fewest words.
fn any_order_greedily(equality: CallEquality, expected: &[ToolCall<'_>], actual: &[ToolCall<'_>]) -> bool {
    let mut left: Vec<_> = actual.iter().collect();
    expected.iter().all(|wanted| {
        let found = left.iter().position(|call| equality.holds(wanted, call));
        found.map(|at| left.remove(at)).is_some()
    })
}

proptest! {
    #[test]
    fn exact_implies_in_order_implies_any_order(
        expected in proptest::collection::vec(0u8..4, 0..6),
        actual in proptest::collection::vec(0u8..4, 0..8),
        prefix in any::<bool>(),
    ) {
        let kinds = [r#"["f"]"#, r#"["f", {"n": 1}]"#, r#"["f", {"n": 1.0}]"#, r#"["g", {}]"#];
        let list = |calls: &[u8]| {
            format!("[{}]", calls.iter().map(|k| kinds[usize::from(*k)]).collect::<Vec<_>>().join(","))
        };
        let actual = if prefix { [expected.clone(), actual].concat() } else { actual };
        let [exact, in_order, any_order] = verdicts(CallEquality::Args, &list(&expected), &list(&actual));
        prop_assert!(!exact || in_order);
        prop_assert!(!in_order || any_order);
    }

    #[test]
    fn long_trajectories_match_as_short_ones_do(
        numbers in proptest::collection::vec(0u8..20, 40..60),
        changed in 0usize..60,
        rotated in 0usize..40,
    ) {
        let list = |numbers: &[u8]| {
            let call = |n: &u8| format!(r#"["f{}", {{"n": {}, "m": [{n}]}}]"#, n % 2, n / 4);
            format!("[{}]", numbers.iter().map(call).collect::<Vec<_>>().join(","))
        };
        let mut other = numbers.clone();
        other.rotate_left(rotated);
        if let Some(number) = other.get_mut(changed) {
            *number += 1;
        }
        let (expected, actual) = (list(&numbers), list(&other));
        let (expected, actual) = (Document::parse(expected).unwrap(), Document::parse(actual).unwrap());
        let (expected, actual) = (calls(&expected), calls(&actual));
        for equality in [CallEquality::Name, CallEquality::Args, CallEquality::ArgsAsJsText] {
            prop_assert_eq!(
                matches(MatchType::AnyOrder, equality, &expected, &actual).unwrap(),
                any_order_greedily(equality, &expected, &actual)
            );
        }
    }
}
