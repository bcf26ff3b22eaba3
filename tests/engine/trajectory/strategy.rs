//! Strategies for comparing arguments.

use adk_metrics::foundation::json::Document;
use adk_metrics::trajectory::{Strategies, Strategy};

fn matches(strategy: Strategy, expected: &str, actual: &str) -> bool {
    let (expected, actual) = (Document::parse(expected).unwrap(), Document::parse(actual).unwrap());
    strategy.matches(expected.root(), actual.root())
}

const NUMERIC: Strategy = Strategy::Numeric { tolerance: 0.0 };

#[test]
fn exact_is_equality() {
    assert!(matches(Strategy::Exact, r#"{"a": 1, "b": 2}"#, r#"{"b": 2, "a": 1.0}"#));
    assert!(!matches(Strategy::Exact, "\"1\"", "1"));
}

#[test]
fn strings_are_compared_without_case() {
    for (expected, actual, verdict) in [
        ("\"Rome\"", "\"ROME\"", true),
        ("\"Straße\"", "\"STRASSE\"", true),
        ("\"STRAẞE\"", "\"strasse\"", true),
        ("\"ﬁn\"", "\"FIN\"", true),
        ("\"µ\"", "\"μ\"", true),
        ("\"Σίσυφος\"", "\"ΣΊΣΥΦΟΣ\"", true),
        ("\"Σίσυφος\"", "\"σίσυφοσ\"", true),
        ("\"ſ\"", "\"S\"", true),
        ("\"é\"", "\"e\\u0301\"", false),
        ("\"ı\"", "\"I\"", false),
        ("\"ÉTÉ\"", "\"été\"", true),
        ("\"ΟΔΟΣ\"", "\"οδος\"", true),
        ("\"\\u0130\"", "\"i\\u0307\"", true),
        ("\"Rome \"", "\"rome\"", false),
        ("[\"Rome\"]", "[\"rome\"]", false),
        ("1", "1.0", true),
        ("\"TRUE\"", "true", false),
    ] {
        assert_eq!(matches(Strategy::CasefoldExact, expected, actual), verdict, "{expected} {actual}");
    }
}

#[test]
fn numbers_and_texts_of_numbers_are_compared_as_numbers() {
    for (expected, actual, verdict) in [
        ("1", "\"1\"", true),
        ("\"1.50\"", "1.5", true),
        ("\" \\u001c1e2\\t\"", "100", true),
        ("\"+.5\"", "0.5", true),
        ("\"5.\"", "5", true),
        ("\"1_000\"", "1000", true),
        ("\"-0\"", "0", true),
        ("\"007\"", "7", true),
        ("9007199254740993", "\"9007199254740992\"", false),
        ("1", "2", false),
        ("\"1__000\"", "1000", false),
        ("\"_1\"", "1", false),
        ("\"1_\"", "1", false),
        ("\"1._5\"", "1.5", false),
        ("\"\"", "0", false),
        ("\".\"", "0", false),
        ("\"1e\"", "1", false),
        ("\"0x10\"", "16", false),
        ("\"1 000\"", "1000", false),
        ("\"٣\"", "3", false),
        ("\"inf\"", "1e400", false),
        ("\"nan\"", "\"NaN\"", false),
        // What is no number is compared exactly.
        ("\"nan\"", "\"nan\"", true),
        ("1e400", "1e500", true),
        ("true", "1", true),
        ("true", "\"1\"", false),
        ("false", "\"0\"", false),
        ("null", "0", false),
        ("[1]", "[\"1\"]", false),
    ] {
        assert_eq!(matches(NUMERIC, expected, actual), verdict, "{expected} {actual}");
    }
}

#[test]
fn numbers_may_differ_by_the_tolerance() {
    let within = |tolerance, expected, actual| matches(Strategy::Numeric { tolerance }, expected, actual);
    assert!(within(0.25, "1.5", "1.25"));
    assert!(within(0.25, "1.25", "\"1.5\""));
    assert!(!within(0.25, "1.5", "1.2"));
    assert!(within(1.0, "9007199254740993", "9007199254740992"));
    assert!(!within(1.0, "9007199254740993", "9007199254740995"));
    assert!(within(1e300, "-1e300", "0"));
    assert!(!within(f64::MAX, "1e308", "-1e308"), "the difference is infinite");
    assert!(!within(1.0, "true", "2"), "booleans are no numbers");
}

#[test]
fn the_tolerance_is_meant_as_it_is_written() {
    let within = |tolerance, expected, actual| {
        let strategy = Strategy::Numeric { tolerance };
        let verdict = matches(strategy, expected, actual);
        assert_eq!(matches(strategy, actual, expected), verdict, "{expected} {actual}");
        verdict
    };
    for (tolerance, expected, actual) in [
        (0.1, "19.9", "20.0"),
        (0.1, "19.9", "\"20\""),
        (0.1, "0.1", "0.2"),
        (0.1, "0.2", "0.3"),
        (0.1, "-0.05", "0.05"),
        (0.01, "1.10", "1.09"),
        (0.3, "0.1", "-0.2"),
        (0.1, "1e-7", "0.1000001"),
        (1e-7, "1e300", "1e300"),
        (0.0, "\"0.10\"", "0.1"),
        (0.1, "900719925474099.5", "\"900719925474099.4\""),
    ] {
        assert!(within(tolerance, expected, actual), "{tolerance}: {expected} {actual}");
    }
    for (tolerance, expected, actual) in [
        (0.1, "19.9", "20.01"),
        (0.1, "19.9", "20.000000000000004"),
        (0.1, "0", "0.10000000000000002"),
        (0.0, "1e-320", "0"),
        (0.0, "1", "1.0000000000000002"),
        (5e-324, "0", "1e-323"),
        (0.1, "1e300", "-1e-300"),
    ] {
        assert!(!within(tolerance, expected, actual), "{tolerance}: {expected} {actual}");
    }
}

#[test]
fn texts_contain_texts_and_lists_contain_elements() {
    for (expected, actual, verdict) in [
        ("\"rust\"", "\"learn rust fast\"", true),
        ("\"\"", "\"anything\"", true),
        ("\"Rust\"", "\"learn rust\"", false),
        ("\"learn rust\"", "\"rust\"", false),
        ("1", "[2, 1.0]", true),
        ("\"a\"", "[\"ab\"]", false),
        ("\"a\"", "[\"b\", \"a\"]", true),
        ("[1]", "[[1], 2]", true),
        ("[1]", "[1, 2]", false),
        ("[1, 2]", "[1, 2]", true),
        ("{\"a\": 1}", "[{\"a\": true}]", true),
        ("1", "\"1\"", false),
        ("{\"a\": 1}", "{\"a\": 1, \"b\": 2}", false),
        ("1", "1.0", true),
    ] {
        assert_eq!(matches(Strategy::Contains, expected, actual), verdict, "{expected} {actual}");
    }
}

#[test]
fn an_argument_has_its_own_strategy_or_the_default() {
    let strategies = Strategies::new(Strategy::CasefoldExact, vec![("query".to_owned(), Strategy::Contains)]);
    assert_eq!(strategies.for_argument("query"), Strategy::Contains);
    assert_eq!(strategies.for_argument("city"), Strategy::CasefoldExact);
    assert_eq!(Strategies::default().for_argument("city"), Strategy::Exact);
}
