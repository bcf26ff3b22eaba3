//! Equality of JSON values: Python's, and that of JavaScript's text.

use adk_metrics::foundation::json::Document;
use adk_metrics::trajectory::equal::{args_equal_as_js_text, canonical, fingerprint};
use adk_metrics::trajectory::{equal, equal_as_js_text};
use proptest::prelude::*;

/// The verdict on two texts, which must not depend on their order, nor on which is compared first.
fn verdict(a: &str, b: &str, same: impl for<'a, 'b> Fn(&'a Document<'a>, &'b Document<'b>) -> bool) -> bool {
    let (a_doc, b_doc) = (Document::parse(a).unwrap(), Document::parse(b).unwrap());
    let verdict = same(&a_doc, &b_doc);
    assert_eq!(verdict, same(&b_doc, &a_doc), "{a} and {b} are compared in one direction only");
    if verdict {
        assert_eq!(fingerprint(a_doc.root()), fingerprint(b_doc.root()), "{a} and {b}");
    }
    verdict
}

fn python(a: &str, b: &str) -> bool {
    verdict(a, b, |a, b| {
        let is_equal = equal(a.root(), b.root());
        assert_eq!(canonical(a.root()) == canonical(b.root()), is_equal);
        is_equal
    })
}

fn javascript(a: &str, b: &str) -> bool {
    verdict(a, b, |a, b| equal_as_js_text(a.root(), b.root()))
}

const TEN_TO_30: &str = "1000000000000000000000000000000";

#[test]
fn numbers_are_equal_if_their_exact_values_are() {
    for (a, b) in [
        ("1", "1.0"),
        ("1", "true"),
        ("1.0", "true"),
        ("0", "false"),
        ("0", "-0.0"),
        ("-0", "0.0"),
        ("-0", "0"),
        ("-0", "false"),
        ("1e2", "100"),
        ("1E+2", "100.0"),
        ("18446744073709551616", "1.8446744073709552e19"),
        ("9007199254740992", "9007199254740992.0"),
        ("-9007199254740994", "-9007199254740994.0"),
        ("1000000000000000019884624838656", "1e30"),
        ("1e400", "2e500"),
        ("0.1", "0.1000000000000000055511151231257827"),
        ("1e-400", "0"),
    ] {
        assert!(python(a, b), "{a} == {b}");
    }
    for (a, b) in [
        ("9007199254740993", "9007199254740992.0"),
        ("9007199254740993", "9007199254740992"),
        ("18446744073709551617", "1.8446744073709552e19"),
        (TEN_TO_30, "1e30"),
        (TEN_TO_30, "1000000000000000000000000000001"),
        ("1e400", "-1e400"),
        ("1e400", TEN_TO_30),
        ("2", "true"),
        ("-1", "true"),
        ("1", "1.5"),
        ("1", "\"1\""),
        ("0", "null"),
        ("false", "null"),
        ("true", "\"true\""),
        ("true", "false"),
        ("0", "[]"),
        ("0", "\"\""),
    ] {
        assert!(!python(a, b), "{a} != {b}");
    }
    let huge = format!("1{}", "0".repeat(400));
    assert!(!python(&huge, "1e400"));
    assert!(!python(&huge, "1e399"));
}

#[test]
fn keys_come_in_any_order_and_items_do_not() {
    for (a, b) in [
        (r#"{"a": 1, "b": 2}"#, r#"{"b": 2.0, "a": true}"#),
        (r#"{"a": {"x": 1, "y": [2]}}"#, r#"{"a": {"y": [2], "x": 1}}"#),
        (r#"{"\u0061": "\u00e9"}"#, "{ \"a\" : \"é\" }"),
        ("[]", "[ ]"),
        ("{}", "{ }"),
    ] {
        assert!(python(a, b), "{a} == {b}");
    }
    for (a, b) in [
        ("[1, 2]", "[2, 1]"),
        ("[1]", "[1, 1]"),
        (r#"{"a": null}"#, "{}"),
        (r#"{"a": 1}"#, r#"{"b": 1}"#),
        (r#"{"a": 1, "b": 2}"#, r#"{"b": 1, "a": 2}"#),
        (r#"{"a": 1, "b": 2}"#, r#"{"a": 1}"#),
        (r#"{"a": "x"}"#, r#"{"a": "X"}"#),
        (r#""é""#, "\"e\u{301}\""),
        ("{}", "[]"),
        ("{}", "null"),
    ] {
        assert!(!python(a, b), "{a} != {b}");
    }
}

#[test]
fn values_as_deep_and_as_wide_as_can_be_read_are_compared() {
    let deep = |inner: &str| format!("{}{inner}{}", r#"{"b":0,"a":"#.repeat(199), "}".repeat(199));
    let turned = |inner: &str| format!("{}{inner}{}", r#"{"a":"#.repeat(199), r#","b":0}"#.repeat(199));
    assert!(python(&deep("[1]"), &turned("[1.0]")));
    assert!(!python(&deep("[1]"), &turned("[2]")));
    let wide = |order: &mut dyn Iterator<Item = u32>| {
        let entries: Vec<_> = order.map(|key| format!("\"key{key}\":{key}")).collect();
        format!("{{{}}}", entries.join(","))
    };
    assert!(python(&wide(&mut (0..2000)), &wide(&mut (0..2000).rev())));
}

#[test]
fn javascript_compares_what_it_prints() {
    for (a, b) in [
        ("1", "1.0"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("9007199254740993", "9007199254740992.0"),
        (TEN_TO_30, "1e30"),
        ("1e400", "null"),
        ("1e400", "-1e400"),
        ("0.1", "0.10000000000000000001"),
        (r#"{"b": 1, "2": 0, "10": 0}"#, r#"{"10": 0, "2": 0, "b": 1}"#),
        (r#"{"b": 1, "4294967294": 0}"#, r#"{"4294967294": 0, "b": 1}"#),
        (r#"{"a": 1, "b": 2}"#, r#"{"a": 1.0, "b": 2}"#),
    ] {
        assert!(javascript(a, b), "{a} prints like {b}");
    }
    for (a, b) in [
        ("1", "true"),
        ("0", "false"),
        ("0", "null"),
        ("null", "\"null\""),
        ("1", "\"1\""),
        ("[1]", "[1, null]"),
        (r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1}"#),
        (r#"{"a": 1, "4294967295": 2}"#, r#"{"4294967295": 2, "a": 1}"#),
        (r#"{"a": 1, "01": 2}"#, r#"{"01": 2, "a": 1}"#),
        (r#"{"a": 1, "-1": 2}"#, r#"{"-1": 2, "a": 1}"#),
        (r#"{"a": null}"#, "{}"),
    ] {
        assert!(!javascript(a, b), "{a} does not print like {b}");
    }
}

#[test]
fn arguments_in_javascript_are_sorted_by_key_and_may_be_absent() {
    let args = Document::parse(r#"[{"b": 1, "a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 2}, "b": 1.0}, {"a": {"y": 2, "x": 1}, "b": 1}, {}]"#)
        .unwrap();
    let args: Vec<_> = args.root().items().collect();
    assert!(args_equal_as_js_text(Some(args[0]), Some(args[1])));
    assert!(!args_equal_as_js_text(Some(args[0]), Some(args[2])));
    assert!(args_equal_as_js_text(None, Some(args[3])));
    assert!(args_equal_as_js_text(Some(args[3]), None));
    assert!(args_equal_as_js_text(None, None));
    assert!(!args_equal_as_js_text(None, Some(args[0])));
}

/// JSON texts made of few different values, so that equal ones come up often.
fn json() -> impl Strategy<Value = String> {
    const SCALARS: &[&str] = &[
        "null",
        "true",
        "false",
        "0",
        "-0.0",
        "1",
        "1.0",
        "1e400",
        "9007199254740993",
        "9007199254740992.0",
        "9007199254740992",
        "\"1\"",
        "\"\\u0031\"",
    ];
    let scalar = proptest::sample::select(SCALARS).prop_map(str::to_owned);
    scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            (
                proptest::sample::subsequence(vec!["a", "b", "7"], 0..=3).prop_shuffle(),
                proptest::collection::vec(inner, 3)
            )
                .prop_map(|(keys, values)| {
                    let entries = keys.iter().zip(values).map(|(key, value)| format!("\"{key}\": {value}"));
                    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
                }),
        ]
    })
}

proptest! {
    #[test]
    fn both_are_equivalence_relations(a in json(), b in json(), c in json()) {
        for same in [python, javascript] {
            prop_assert!(same(&a, &a));
            let spaced = format!(" {a}\n");
            prop_assert!(same(&a, &spaced));
            prop_assert!(!(same(&a, &b) && same(&b, &c)) || same(&a, &c), "{a} = {b} = {c}");
        }
    }
}
