//! Strategies: when an actual argument is acceptable for an expected one, for `tool_parameter_match`.
//!
//! Values that are [`equal`](fn@equal) match under any strategy. A strategy that does not apply to the values
//! accepts nothing else.
//!
//! Complexity: O(n log n) in the bytes of both values, and O(n) as far as [`equal`](fn@equal) is.
//!
//! Source: the proposal in google/adk-python#5643.

use super::equal::{canonical, equal};
use crate::foundation::double::{self, Decimal};
use crate::foundation::json::{Json, JsonKind};
use crate::foundation::sort::sort;
use crate::text::python::{fold_case, trim};

/// How an actual argument is compared with the expected one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Strategy {
    /// They are [`equal`](fn@equal).
    #[default]
    Exact,
    /// Strings are equal after Unicode's full case folding (`CaseFolding.txt`, C and F), as by Python's
    /// `str.casefold`.
    CasefoldExact,
    /// Numbers, or strings of numbers, differ by at most the tolerance, in decimal arithmetic: 19.9
    /// and 20.0 differ by 0.1.
    ///
    /// A string of a number is what Python's `float` reads, in ASCII: white space around it, a sign,
    /// digits with single underscores between them, a point with digits on at least one side, an
    /// exponent. `inf` and `nan`, numbers that overflow a double, and `true` and `false` are not
    /// numbers here. Integers of up to 38 digits count as they are written, all other numbers and the
    /// tolerance as the shortest decimal number that reads as the same double.
    Numeric {
        /// At least 0.
        tolerance: f64,
    },
    /// An actual string contains the expected string; an actual list has an item equal to what was
    /// expected.
    Contains,
}

/// A [`Strategy`] for each argument, by its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strategies {
    /// For arguments that have none of their own.
    pub default: Strategy,
    /// The strategies of arguments by name, for all tools. Sorted by name, without duplicates.
    per_argument: Vec<(String, Strategy)>,
}

impl Strategies {
    /// Strategies of arguments, by their names, and the one for all others. The names differ.
    #[must_use]
    pub fn new(default: Strategy, mut per_argument: Vec<(String, Strategy)>) -> Self {
        sort(&mut per_argument, |(a, _), (b, _)| a.cmp(b));
        Self { default, per_argument }
    }

    /// The arguments that have a strategy of their own, in alphabetical order.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.per_argument.iter().map(|(name, _)| &**name)
    }

    /// The strategy for an argument.
    #[must_use]
    pub fn for_argument(&self, argument: &str) -> Strategy {
        let found = self.per_argument.binary_search_by(|(name, _)| {
            #[cfg(test)]
            super::equal::tests::count(name.len());
            (**name).cmp(argument)
        });
        let strategy = found.ok().and_then(|index| self.per_argument.get(index));
        strategy.map_or(self.default, |(_, strategy)| *strategy)
    }
}

impl Strategy {
    /// Whether the `actual` value is as good as the `expected` one.
    ///
    /// ```
    /// use adk_metrics::{foundation::json::Document, trajectory::Strategy};
    ///
    /// let values = Document::parse(r#"["1.5", 1.25]"#)?;
    /// let mut values = values.root().items();
    /// let (expected, actual) = (values.next().unwrap(), values.next().unwrap());
    /// assert!(Strategy::Numeric { tolerance: 0.25 }.matches(expected, actual));
    /// # Ok::<(), adk_metrics::foundation::error::Error>(())
    /// ```
    #[must_use]
    pub fn matches(self, expected: Json<'_>, actual: Json<'_>) -> bool {
        equal(expected, actual)
            || match self {
                Self::Exact => false,
                Self::CasefoldExact => {
                    let texts = expected.as_str().zip(actual.as_str());
                    texts.is_some_and(|(expected, actual)| fold_case(&expected) == fold_case(&actual))
                }
                Self::Numeric { tolerance } => {
                    let numbers = number(expected).zip(number(actual));
                    numbers.is_some_and(|(expected, actual)| actual.is_within(tolerance, &expected))
                }
                Self::Contains if actual.kind() == JsonKind::Array => {
                    let expected = canonical(expected);
                    actual.items().any(|item| canonical(item) == expected)
                }
                Self::Contains => {
                    let texts = expected.as_str().zip(actual.as_str());
                    texts.is_some_and(|(expected, actual)| occurs(expected.as_bytes(), actual.as_bytes()))
                }
            }
    }
}

/// The number that a value is, or that it is a string of.
fn number(value: Json<'_>) -> Option<Decimal> {
    match value.as_number() {
        Some(number) => read(number),
        None => read(&without_underscores(trim(&value.as_str()?))?),
    }
}

fn read(number: &str) -> Option<Decimal> {
    // Rust's parser would accept words too.
    if !number.bytes().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
        return None;
    }
    match number.parse() {
        Ok(integer) => Some(Decimal::from_integer(integer)),
        Err(_) => double::read(number).filter(|double| double.is_finite()).map(Decimal::shortest),
    }
}

/// Whether a text contains another: the Knuth–Morris–Pratt search, O(n) for any input.
fn occurs(part: &[u8], text: &[u8]) -> bool {
    // For each prefix of the part, the length of its longest proper suffix that is also a prefix.
    let mut borders = Vec::with_capacity(part.len());
    let step = |borders: &[usize], mut length: usize, byte: u8| loop {
        if part.get(length) == Some(&byte) {
            return length + 1;
        }
        match length.checked_sub(1).and_then(|last| borders.get(last)) {
            Some(&border) => length = border,
            None => return 0,
        }
    };
    let mut length = 0;
    for (at, &byte) in part.iter().enumerate() {
        if at > 0 {
            length = step(&borders, length, byte);
        }
        borders.push(length);
    }
    length = 0;
    part.is_empty()
        || text.iter().any(|&byte| {
            length = step(&borders, length, byte);
            length == part.len()
        })
}

/// Removes underscores. `None` if one is not between two digits.
fn without_underscores(number: &str) -> Option<String> {
    let bytes = number.as_bytes();
    let lonely = bytes.windows(3).filter(|w| matches!(w, [b'0'..=b'9', b'_', b'0'..=b'9'])).count();
    let underscores = bytes.iter().filter(|b| **b == b'_').count();
    (lonely == underscores).then(|| {
        let mut digits = number.to_owned();
        digits.retain(|c| c != '_');
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::super::equal::tests::compared_in;
    use super::*;
    use crate::foundation::json::Document;
    use proptest::prelude::*;

    #[test]
    fn a_value_searched_in_a_list_is_read_once() {
        let keys: Vec<_> = (0..1_000).map(|at| format!(r#""{at}": 1"#)).collect();
        for (expected, item) in [
            (format!(r#""{}""#, "\\n".repeat(5_000)), r#""""#),
            (format!("{{{}}}", keys.join(",")), "{}"),
            (format!("1.5{}", "0".repeat(10_000)), "1"),
            (format!("[[{}]]", "9".repeat(10_000)), "[[1e999]]"),
        ] {
            let list = format!("[{}]", vec![item; 1_000].join(","));
            let (wanted, found) = (Document::parse(&expected).unwrap(), Document::parse(&list).unwrap());
            let compared =
                compared_in(|| assert!(!super::Strategy::Contains.matches(wanted.root(), found.root())));
            assert!(compared <= 3 * (expected.len() + list.len()), "{compared} bytes for {item}");
        }
    }

    #[test]
    fn an_arguments_strategy_is_found_in_log_n_comparisons() {
        use super::Strategy::{Contains, Exact};
        let names = || (0..10_000).map(|at| format!("{at:05}"));
        let strategies = Strategies::new(Exact, names().rev().map(|name| (name, Contains)).collect());
        for (name, strategy) in names().map(|name| (name, Contains)).chain([("x".into(), Exact)]) {
            let compared = compared_in(|| assert_eq!(strategies.for_argument(&name), strategy));
            assert!(compared <= 15 * "00000".len(), "{compared} bytes for {name}");
        }
    }

    proptest! {
        #[test]
        fn a_part_occurs_where_it_is_contained(part in "[ab]{0,6}", text in "[ab]{0,40}") {
            prop_assert_eq!(occurs(part.as_bytes(), text.as_bytes()), text.contains(&part));
        }
    }
}
