//! The examples that the documentation works through, in both dialects.

use crate::support::replay;
use adk_metrics::foundation::json::Document;
use adk_metrics::metrics::Dialect;
use replay::Replayer;
use serde_json::{Value, json};

const DIALECTS: [Dialect; 2] = [Dialect::AdkPython, Dialect::AdkTs];

/// The score of one turn.
fn score(dialect: Dialect, metric: &Value, actual: &Value, expected: &Value) -> f64 {
    let [metric, actual, expected] = [metric.clone(), json!([actual]), json!([expected])]
        .map(|json| Document::parse(json.to_string()).unwrap());
    let mut replayer = Replayer::new(dialect);
    let found = replayer.evaluate(metric.root(), actual.root(), expected.root()).unwrap();
    found.score.expect("a score")
}

// ---- response_match_score

fn response_match(dialect: Dialect, actual: &str, expected: &str) -> f64 {
    let metric = json!({ "metricName": "response_match_score", "threshold": 0.8 });
    let turn = |text: &str| {
        json!({
            "userContent": { "parts": [{ "text": "How is the weather?" }] },
            "finalResponse": { "parts": [{ "text": text }] },
        })
    };
    score(dialect, &metric, &turn(actual), &turn(expected))
}

#[test]
fn a_response_is_scored_by_the_words_it_shares_with_the_expected_one() {
    for (actual, expected, score) in [
        ("The weather in London is sunny", "The weather in London is sunny", 1.0),
        ("It's sunny in London today", "The weather in London is sunny", 0.5),
        ("The answer is 4", "4", 0.4),
        ("Goodbye universe", "Hello world", 0.0),
    ] {
        for dialect in DIALECTS {
            assert_eq!(
                response_match(dialect, actual, expected),
                score,
                "{dialect:?}: {actual:?} for {expected:?}"
            );
            assert_eq!(
                response_match(dialect, expected, actual),
                score,
                "{dialect:?}: {expected:?} for {actual:?}"
            );
        }
    }
}

// ---- tool_trajectory_avg_score

fn search() -> Value {
    json!({ "name": "search_web", "args": { "query": "TypeScript generics" } })
}

fn summarize() -> Value {
    json!({ "name": "summarize", "args": { "maxLength": 200 } })
}

/// The score of these calls where `search_web`, then `summarize` is expected.
fn trajectory(dialect: Dialect, match_type: &str, actual: &[Value]) -> f64 {
    let metric = json!({
        "metricName": "tool_trajectory_avg_score",
        "threshold": 1.0,
        "criterion": { "matchType": match_type },
    });
    let turn = |calls: &[Value]| {
        json!({
            "userContent": { "parts": [{ "text": "Explain TypeScript generics in brief." }] },
            "intermediateData": { "toolUses": calls, "intermediateResponses": [] },
        })
    };
    score(dialect, &metric, &turn(actual), &turn(&[search(), summarize()]))
}

#[test]
fn exactly_the_expected_calls_score_1() {
    for dialect in DIALECTS {
        assert_eq!(trajectory(dialect, "EXACT", &[search(), summarize()]), 1.0, "{dialect:?}");
    }
    for match_type in ["IN_ORDER", "ANY_ORDER"] {
        assert_eq!(trajectory(Dialect::AdkPython, match_type, &[search(), summarize()]), 1.0, "{match_type}");
    }
}

#[test]
fn any_difference_scores_0() {
    let renamed = json!({ "name": "summarise", "args": { "maxLength": 200 } });
    let other_key = json!({ "name": "summarize", "args": { "max_length": 200 } });
    let other_value = json!({ "name": "summarize", "args": { "maxLength": 100 } });
    let other_type = json!({ "name": "summarize", "args": { "maxLength": "200" } });
    let more_keys = json!({ "name": "summarize", "args": { "maxLength": 200, "language": "en" } });
    let no_keys = json!({ "name": "summarize", "args": {} });
    for (what, actual) in [
        ("no call", vec![]),
        ("a call less", vec![search()]),
        ("a call more", vec![search(), summarize(), summarize()]),
        ("another name", vec![search(), renamed]),
        ("another key", vec![search(), other_key]),
        ("another value", vec![search(), other_value]),
        ("another type", vec![search(), other_type]),
        ("more keys", vec![search(), more_keys]),
        ("no keys", vec![search(), no_keys]),
        ("another order", vec![summarize(), search()]),
    ] {
        for dialect in DIALECTS {
            assert_eq!(trajectory(dialect, "EXACT", &actual), 0.0, "{dialect:?}: {what}");
        }
    }
}

#[test]
fn match_types_allow_calls_in_between_and_other_orders() {
    let translate = json!({ "name": "translate", "args": { "to": "fr" } });
    let in_between = [search(), translate, summarize()];
    let swapped = [summarize(), search()];
    for (match_type, in_between_scores, swapped_scores) in
        [("EXACT", 0.0, 0.0), ("IN_ORDER", 1.0, 0.0), ("ANY_ORDER", 1.0, 1.0)]
    {
        assert_eq!(
            trajectory(Dialect::AdkPython, match_type, &in_between),
            in_between_scores,
            "{match_type}"
        );
        assert_eq!(trajectory(Dialect::AdkPython, match_type, &swapped), swapped_scores, "{match_type}");
    }
}

#[test]
fn adk_ts_knows_exact_matches_only() {
    for match_type in ["EXACT", "IN_ORDER", "ANY_ORDER"] {
        assert_eq!(trajectory(Dialect::AdkTs, match_type, &[summarize(), search()]), 0.0, "{match_type}");
    }
}
