//! What is shown of two trajectories.

use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::foundation::pace::{Pace, at_once};
use adk_metrics::foundation::write::{Spelling, to_json};
use adk_metrics::model::content::ToolCall;
use adk_metrics::trajectory::difference::{MAX_DIFFERENCES, explain, explain_parameters};
use adk_metrics::trajectory::{
    AlignmentEntry, AlignmentKind, CallEquality, DisplayJson, ParameterMatch, Strategies, Strategy,
    tool_parameter_match,
};

/// Calls read from `[[name, args], …]`; no args are absent args.
fn calls<'a>(doc: &'a Document<'a>) -> Vec<ToolCall<'a>> {
    let call = |item: Json<'a>| {
        let mut parts = item.items();
        ToolCall { name: parts.next().and_then(Json::as_str), args: parts.next() }
    };
    doc.root().items().map(call).collect()
}

/// An explanation in one line: `match 0 0, extra - 1, arguments 1 2 (query: "a" → "b")`.
fn in_words(entries: &[AlignmentEntry<'_>]) -> String {
    let index = |index: Option<u32>| index.map_or("-".to_owned(), |index| index.to_string());
    let value =
        |value: Option<DisplayJson<'_>>| value.map_or("nothing".to_owned(), |v| to_json(&v, Spelling::Camel));
    let entry = |entry: &AlignmentEntry<'_>| {
        let kind = format!("{:?}", entry.kind).to_lowercase();
        let mut words = format!("{kind} {} {}", index(entry.expected_index), index(entry.actual_index));
        let differences = entry.differences.iter().map(|difference| {
            format!("{}: {} → {}", difference.path, value(difference.expected), value(difference.actual))
        });
        if !entry.differences.is_empty() {
            words += &format!(" ({})", differences.collect::<Vec<_>>().join("; "));
        }
        words
    };
    entries.iter().map(entry).collect::<Vec<_>>().join(", ")
}

fn explained(equality: CallEquality, ordered: bool, expected: &str, actual: &str) -> String {
    let (expected, actual) = (Document::parse(expected).unwrap(), Document::parse(actual).unwrap());
    in_words(&explain(&calls(&expected), &calls(&actual), equality, ordered))
}

const SEARCH: &str = r#"["search_web", {"query": "rust"}]"#;
const SUMMARIZE: &str = r#"["summarize", {"maxLength": 200}]"#;

#[test]
fn search_and_summarize_in_all_variations() {
    let expected = format!("[{SEARCH}, {SUMMARIZE}]");
    let extra = r#"["translate", {"to": "de"}]"#;
    let longer = r#"["summarize", {"maxLength": 500}]"#;
    for (actual, in_order, in_any_order) in [
        (format!("[{SEARCH}, {SUMMARIZE}]"), "match 0 0, match 1 1", "match 0 0, match 1 1"),
        (format!("[{SUMMARIZE}, {SEARCH}]"), "match 0 1, moved 1 0", "match 0 1, match 1 0"),
        (
            format!("[{SEARCH}, {extra}, {SUMMARIZE}]"),
            "match 0 0, extra - 1, match 1 2",
            "match 0 0, extra - 1, match 1 2",
        ),
        (
            format!("[{extra}, {SEARCH}, {SUMMARIZE}, {extra}]"),
            "extra - 0, match 0 1, match 1 2, extra - 3",
            "extra - 0, match 0 1, match 1 2, extra - 3",
        ),
        (
            format!("[{SUMMARIZE}, {extra}, {SEARCH}]"),
            "extra - 1, match 0 2, moved 1 0",
            "extra - 1, match 0 2, match 1 0",
        ),
        (
            format!("[{SEARCH}, {longer}]"),
            "match 0 0, arguments 1 1 (maxLength: 200 → 500)",
            "match 0 0, arguments 1 1 (maxLength: 200 → 500)",
        ),
        (
            format!("[{longer}, {SEARCH}]"),
            "extra - 0, match 0 1, missing 1 -",
            "match 0 1, arguments 1 0 (maxLength: 200 → 500)",
        ),
        (
            format!("[{SEARCH}, {longer}, {SUMMARIZE}]"),
            "match 0 0, extra - 1, match 1 2",
            "match 0 0, extra - 1, match 1 2",
        ),
        (
            format!("[{SEARCH}, {extra}]"),
            "match 0 0, missing 1 -, extra - 1",
            "match 0 0, missing 1 -, extra - 1",
        ),
        (format!("[{SEARCH}]"), "match 0 0, missing 1 -", "match 0 0, missing 1 -"),
        (
            format!("[{SEARCH}, {SEARCH}, {SUMMARIZE}]"),
            "match 0 0, extra - 1, match 1 2",
            "match 0 0, extra - 1, match 1 2",
        ),
        ("[]".into(), "missing 0 -, missing 1 -", "missing 0 -, missing 1 -"),
    ] {
        assert_eq!(explained(CallEquality::Args, true, &expected, &actual), in_order, "{actual}");
        assert_eq!(explained(CallEquality::Args, false, &expected, &actual), in_any_order, "{actual}");
    }
    assert_eq!(explained(CallEquality::Args, true, "[]", &format!("[{SEARCH}]")), "extra - 0");
}

#[test]
fn repeated_calls_are_told_apart_by_what_they_share() {
    let expected = r#"[["f", {"a": 1, "b": 1}], ["f", {"a": 2, "b": 2}]]"#;
    let actual = r#"[["f", {"a": 2, "b": 0}], ["f", {"a": 1, "b": 0}]]"#;
    assert_eq!(
        explained(CallEquality::Args, true, expected, actual),
        "arguments 0 1 (b: 1 → 0), arguments 1 0 (b: 2 → 0)"
    );
    let twice = format!("[{SEARCH}, {SEARCH}]");
    assert_eq!(
        explained(
            CallEquality::Args,
            true,
            &twice,
            r#"[["search_web", {"query": "rust"}], ["search_web", {"query": "go"}]]"#
        ),
        r#"match 0 0, arguments 1 1 (query: "rust" → "go")"#
    );
}

#[test]
fn without_arguments_only_names_are_explained() {
    let actual = r#"[["search_web"], ["translate"], ["search_web", {"query": 1}]]"#;
    assert_eq!(
        explained(CallEquality::Name, true, &format!("[{SEARCH}, {SUMMARIZE}]"), actual),
        "match 0 0, missing 1 -, extra - 1, extra - 2"
    );
}

#[test]
fn differences_name_the_innermost_place() {
    for (expected, actual, differences) in [
        (r#"{"q": {"price": [1, 2]}}"#, r#"{"q": {"price": [1, 3]}}"#, "q.price[1]: 2 → 3"),
        (r#"{"q": {"price": [1]}}"#, r#"{"q": {"price": [1, 3]}}"#, "q.price[1]: nothing → 3"),
        (r#"{"q": {"a b": {"c": 1}}}"#, r#"{"q": {"a b": {"c": 2}}}"#, r#"q["a b"].c: 1 → 2"#),
        (
            r#"{"7": 1, "": 2, "a\"b": 3}"#,
            "{}",
            r#"[""]: 2 → nothing; ["7"]: 1 → nothing; ["a\"b"]: 3 → nothing"#,
        ),
        (r#"{"$a_1": {"été": 1}}"#, r#"{"$a_1": {"été": 2}}"#, r#"$a_1["été"]: 1 → 2"#),
        (r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "c": 3}"#, "a: 1 → nothing; c: nothing → 3"),
        (r#"{"a": {"x": 1}}"#, r#"{"a": [1]}"#, r#"a: {"x":1} → [1]"#),
        (r#"{"a": null}"#, "{}", "a: null → nothing"),
        (
            r#"{"a": 9007199254740993}"#,
            r#"{"a": 9007199254740992.0}"#,
            r#"a: "9007199254740993" → 9007199254740992.0"#,
        ),
    ] {
        let list = |args: &str| format!(r#"[["f", {args}]]"#);
        assert_eq!(
            explained(CallEquality::Args, true, &list(expected), &list(actual)),
            format!("arguments 0 0 ({differences})")
        );
    }
}

#[test]
fn differences_are_those_of_the_comparison_made() {
    let (absent, empty) = (r#"[["f"]]"#, r#"[["f", {}]]"#);
    assert_eq!(explained(CallEquality::Args, true, absent, empty), "arguments 0 0 (: nothing → {})");
    assert_eq!(explained(CallEquality::ArgsAsJsText, true, absent, empty), "match 0 0");
    let (some, more) = (r#"[["f", {"a": 1}]]"#, r#"[["f", {"a": 2, "b": 2}]]"#);
    assert_eq!(explained(CallEquality::Args, true, some, more), "arguments 0 0 (a: 1 → 2; b: nothing → 2)");
    assert_eq!(explained(CallEquality::RequiredArgs, true, some, more), "arguments 0 0 (a: 1 → 2)");
    let (one, turned) = (r#"[["f", {"a": {"x": 1, "y": 2}}]]"#, r#"[["f", {"a": {"y": 2, "x": 1}}]]"#);
    assert_eq!(explained(CallEquality::Args, true, one, turned), "match 0 0");
    assert_eq!(
        explained(CallEquality::ArgsAsJsText, true, one, turned),
        r#"arguments 0 0 (a: {"x":1,"y":2} → {"y":2,"x":1})"#
    );
}

#[test]
fn parameters_are_explained_by_the_pairs_of_the_score() {
    let strategies = Strategies::new(Strategy::Exact, vec![("q".to_owned(), Strategy::Contains)]);
    let parameters = ParameterMatch { strategies, ..Default::default() };
    let expected = Document::parse(r#"[["f", {"q": "rust"}], ["f", {"q": "go", "n": 1}], ["g"]]"#).unwrap();
    let actual =
        Document::parse(r#"[["f", {"q": "learn rust", "more": 1}], ["h"], ["f", {"q": "gopher"}]]"#).unwrap();
    let (expected, actual) = (calls(&expected), calls(&actual));
    let result = tool_parameter_match(&parameters, &expected, &actual).unwrap().unwrap();
    assert_eq!(result.score, 0.5);
    assert_eq!(
        in_words(&at_once(explain_parameters(
            &parameters,
            &expected,
            &actual,
            &result.pairs,
            &Pace::unbroken()
        ))),
        "match 0 0, extra - 1, arguments 1 2 (n: 1 → nothing), missing 2 -"
    );
}

#[test]
fn numbers_that_a_double_cannot_hold_are_shown_as_texts() {
    let doc = Document::parse(
        "[9007199254740991, 9007199254740992, 9007199254740993, 18446744073709551616, 1e30, 1e400, -0, 0.1, 1.0, {\"a\": [-9007199254740993, null, true, \"x\\n\"]}]",
    )
    .unwrap();
    assert_eq!(
        to_json(&DisplayJson(doc.root()), Spelling::Camel),
        r#"[9007199254740991,9007199254740992.0,"9007199254740993",1.8446744073709552e+19,1e+30,"1e400",0,0.1,1.0,{"a":["-9007199254740993",null,true,"x\n"]}]"#
    );
}

#[test]
fn entries_are_written_as_the_contract_says() {
    let expected = Document::parse(r#"[["f", {"a": 1}], ["g"]]"#).unwrap();
    let actual = Document::parse(r#"[["f", {}]]"#).unwrap();
    let entries = explain(&calls(&expected), &calls(&actual), CallEquality::Args, true);
    assert_eq!(
        to_json(&entries, Spelling::Camel),
        r#"[{"kind":"arguments","expectedIndex":0,"actualIndex":0,"differences":[{"path":"a","expected":1}]},{"kind":"missing","expectedIndex":1}]"#
    );
}

#[test]
fn long_trajectories_are_compared_call_by_call_and_differences_are_bounded() {
    let list = |n: u32| {
        format!(
            "[{}]",
            (0..5000).map(|at| format!(r#"["f", {{"at": {}}}]"#, at + n)).collect::<Vec<_>>().join(",")
        )
    };
    let (expected, actual) = (Document::parse(list(0)).unwrap(), Document::parse(list(1)).unwrap());
    let entries = explain(&calls(&expected), &calls(&actual), CallEquality::Args, true);
    assert_eq!(entries.len(), 5000);
    assert!(
        entries.iter().all(|entry| entry.kind == AlignmentKind::Arguments && entry.differences.len() == 1)
    );

    let wide = |n: u32| format!(r#"[["f", {{"list": [{}]}}]]"#, vec![n.to_string(); 1000].join(","));
    let (expected, actual) = (Document::parse(wide(0)).unwrap(), Document::parse(wide(1)).unwrap());
    let entries = explain(&calls(&expected), &calls(&actual), CallEquality::Args, true);
    assert_eq!(entries[0].differences.len(), MAX_DIFFERENCES);
}

#[test]
fn differences_are_looked_for_on_32_levels() {
    let deep = |value: u32, levels: usize| {
        format!(r#"[["f", {}{value}{}]]"#, r#"{"a":"#.repeat(levels), "}".repeat(levels))
    };
    for (levels, named) in [(32, 32), (33, 33), (34, 33), (150, 33)] {
        let [expected, actual] = [1, 2].map(|value| Document::parse(deep(value, levels)).unwrap());
        let entries = explain(&calls(&expected), &calls(&actual), CallEquality::Args, true);
        let [difference] = entries[0].differences.as_slice() else { panic!("one difference") };
        assert_eq!(difference.path, vec!["a"; named].join("."), "{levels}");
    }
}

#[test]
fn the_search_for_the_most_similar_call_reads_a_limited_number_of_bytes() {
    let call = |value: usize, shared: &str, length: usize| {
        format!(r#"["f", {{"value": {value}, "text": "{}{shared}"}}]"#, "x".repeat(length))
    };
    for (length, most_similar) in [(100, 50), (200_000, 0)] {
        let others: Vec<_> = (1..=50).map(|value| call(value, &value.to_string(), length)).collect();
        let expected = Document::parse(format!("[{}]", call(0, "same", length))).unwrap();
        let actual = format!("[{},{}]", others.join(","), call(51, "same", length));
        let actual = Document::parse(actual).unwrap();
        let entries = explain(&calls(&expected), &calls(&actual), CallEquality::Args, true);
        let paired = entries.iter().find(|entry| entry.kind == AlignmentKind::Arguments).unwrap();
        assert_eq!(paired.actual_index, Some(most_similar), "{length}");
    }
}
