//! Tests of [`super`], in a file of their own because they are as long as a third of it.

use super::*;
use proptest::prelude::*;

fn written(number: f64) -> String {
    let mut text = String::new();
    write(number, &mut text);
    text
}

fn as_serde(number: f64) -> String {
    serde_json::to_string(&number).unwrap()
}

#[test]
fn numbers_read_as_the_standard_library_reads_them() {
    for text in [
        "0",
        "-0",
        "+1",
        "1.",
        ".5",
        "1e5",
        "1E-5",
        "1e+22",
        "1e23",
        "9007199254740993",
        "0.1",
        "123456789.123456789",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "1e-400",
        "0e999999999999999999999",
        "1e999999999999999999999",
        "1e-999999999999999999999",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
        "9007199254740992.00000000000000000000000000000000000000000000000000000000000000000000000001",
    ] {
        assert_eq!(read(text).map(f64::to_bits), text.parse().ok().map(f64::to_bits), "{text}");
    }
    let long = format!("9007199254740993.{}1", "0".repeat(900));
    assert_eq!(read(&long), long.parse().ok());
    assert_eq!(read(&format!("0.{}", "3".repeat(2000))), Some(1.0 / 3.0));
}

#[test]
fn text_that_is_not_a_number_is_rejected() {
    for text in ["", "+", ".", "e5", "1e", "1e+", "inf", "NaN", "1_0", " 1", "1 ", "0x1", "--1", "1.2.3"] {
        assert_eq!(read(text), None, "{text:?}");
    }
}

#[test]
fn numbers_are_written_with_the_fewest_digits() {
    for (number, text) in [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (2.0 / 3.0, "0.6666666666666666"),
        (100.0, "100.0"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"),
        (1.5e-7, "1.5e-7"),
        (0.00001, "0.00001"),
        (-1234.5, "-1234.5"),
        (5e-324, "5e-324"),
        (2_f64.powi(-44), "5.684341886080802e-14"),
        (f64::MAX, "1.7976931348623157e+308"),
        (f64::NAN, "null"),
        (f64::INFINITY, "null"),
    ] {
        assert_eq!(written(number), text);
    }
}

#[test]
fn people_are_shown_whole_numbers_without_a_point() {
    assert_eq!(
        [30.0, 0.5, 1e300, f64::NAN, -f64::INFINITY].map(to_text),
        ["30", "0.5", "1e+300", "NaN", "-Infinity"]
    );
}

#[test]
fn means_are_those_of_python() {
    for line in include_str!("../../../tests/agents/means.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let numbers: Vec<f64> = serde_json::from_value(case["numbers"].clone()).unwrap();
        assert_eq!(exact_mean(&numbers), case["mean"].as_f64(), "{line}");
    }
    assert_eq!(exact_mean(&[]), None);
}

#[test]
fn every_power_of_two_and_ten_survives() {
    for exponent in -1074..=1023 {
        let number = 2_f64.powi(exponent);
        assert_eq!(read(&written(number)), Some(number));
        assert_eq!(written(number), as_serde(number), "2^{exponent}");
    }
    for exponent in -324..=308 {
        let text = format!("1e{exponent}");
        let number = read(&text).unwrap();
        assert_eq!(Some(number), text.parse().ok());
        assert_eq!(written(number), as_serde(number), "{text}");
    }
}

#[test]
fn integers_are_compared_digit_by_digit() {
    assert!(Decimal::exact(1e23).is_integer("99999999999999991611392"));
    assert!(!Decimal::exact(1e23).is_integer("100000000000000000000000"));
    assert!(Decimal::exact(18446744073709551616.0).is_integer("18446744073709551616"));
    assert!(!Decimal::exact(0.5).is_integer("5"));
    assert!(Decimal::exact(500.0).is_integer("500"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_double_is_written_and_read_as_serde_json_does(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite());
        let text = written(number);
        prop_assert_eq!(read(&text).map(f64::to_bits), Some(bits));
        prop_assert_eq!(text, as_serde(number));
    }

    #[test]
    fn fractions_are_written_as_serde_json_does(a in 0..10_000_u32, b in 1..10_000_u32) {
        let number = f64::from(a) / f64::from(b);
        prop_assert_eq!(written(number), as_serde(number));
    }

    #[test]
    fn any_decimal_reads_as_the_standard_library_reads_it(text in r"-?[0-9]{1,30}(\.[0-9]{0,30})?(e-?[0-9]{1,3})?") {
        prop_assert_eq!(read(&text).map(f64::to_bits), text.parse().ok().map(f64::to_bits));
    }

    #[test]
    fn points_halfway_between_doubles_round_to_even(bits in any::<u64>()) {
        let number = f64::from_bits(bits).abs();
        prop_assume!(number.is_finite() && number > 0.0);
        let exact = |number: f64| format!("{number:.1100}");
        prop_assert_eq!(read(&exact(number)), Some(number));
    }

    #[test]
    fn rounding_is_that_of_the_exact_value(number in 0.0..1e6_f64) {
        let rounded = Decimal::exact(number).rounded(3).to_f64();
        prop_assert_eq!(rounded, format!("{number:.3}").parse::<f64>().unwrap());
    }
}
