//! Equality of JSON values.
//!
//! [`equal`] is Python's `==` on the results of `json.loads`; [`equal_as_js_text`] is equality of what
//! JavaScript's `JSON.stringify` prints after `JSON.parse`. Both are equivalence relations: JSON has no NaN,
//! and numbers are compared by their exact value (or by their double), never approximately.
//!
//! Complexity: O(n) time for values with their keys in the same order, O(n log n) otherwise, with n the bytes
//! of both; identical source texts are not even parsed. The recursion is as deep as the values, which is at
//! most [`MAX_DEPTH`](crate::foundation::json::MAX_DEPTH).
//!
//! Sources: Python Language Reference 6.10.1 (value comparisons) and CPython's `float_richcompare`; ECMA-262
//! 25.5 (`JSON`) and 10.1.11.1 (the order of properties).

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::foundation::double::{self, Decimal};
use crate::foundation::json::{Json, JsonKind};
use crate::foundation::sort::sort;

/// Whether Python would call two values equal.
///
/// Numbers are equal if their values are: integers of any size exactly, `true` and `false` as 1
/// and 0, anything with a point or an exponent as a double (`1e400` is infinite). The order of keys
/// does not count, the order of items does; a key with `null` differs from a missing key.
///
/// ```
/// use adk_metrics::{foundation::json::Document, trajectory::equal};
///
/// let same = |a: &str, b: &str| Ok::<_, adk_metrics::foundation::error::Error>(
///     equal(Document::parse(a)?.root(), Document::parse(b)?.root()),
/// );
/// assert!(same(r#"{"a": 1, "b": [true]}"#, r#"{"b": [1.0], "a": 1}"#)?);
/// assert!(!same("9007199254740993", "9007199254740992.0")?);
/// # Ok::<(), adk_metrics::foundation::error::Error>(())
/// ```
#[must_use]
pub fn equal(a: Json<'_>, b: Json<'_>) -> bool {
    same_text(a, b) || equal_parts(a, b)
}

/// As [`equal`], without comparing the texts of nested values as a whole: each level would do that again.
fn equal_parts(a: Json<'_>, b: Json<'_>) -> bool {
    match (a.kind(), b.kind()) {
        (JsonKind::Array, JsonKind::Array) => same_items(a, b, equal_parts),
        (JsonKind::Object, JsonKind::Object) => same_entries(a, b, sorted_entries, equal_parts),
        _ if same_text(a, b) => true,
        _ => match (PythonNumber::from_json(a), PythonNumber::from_json(b)) {
            (Some(a), Some(b)) => a.equals(b),
            (None, None) => scalars_equal(a, b),
            _ => false,
        },
    }
}

/// Whether `JSON.stringify(JSON.parse(…))` prints the same text for both values.
///
/// Numbers are doubles (`-0` prints `0`, what overflows prints `null`), `true` is not `1`, and
/// the order of keys counts, except that JavaScript puts keys like `7` first, in ascending order.
#[must_use]
pub fn equal_as_js_text(a: Json<'_>, b: Json<'_>) -> bool {
    same_text(a, b) || parts_equal_as_js_text(a, b)
}

fn parts_equal_as_js_text(a: Json<'_>, b: Json<'_>) -> bool {
    match (a.kind(), b.kind()) {
        (JsonKind::Array, JsonKind::Array) => same_items(a, b, parts_equal_as_js_text),
        (JsonKind::Object, JsonKind::Object) => same_entries(a, b, js_entries, parts_equal_as_js_text),
        (JsonKind::Number | JsonKind::Null, JsonKind::Number | JsonKind::Null) => {
            printed_number(a) == printed_number(b)
        }
        _ => scalars_equal(a, b),
    }
}

/// Whether ADK-TS would call two calls' arguments equal: the same keys in any order, each with
/// values that print alike; absent arguments are an empty object.
///
/// Keys are sorted first, so only inside the values does their order count.
#[must_use]
pub fn args_equal_as_js_text(a: Option<Json<'_>>, b: Option<Json<'_>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) if a.raw() == b.raw() => true,
        (Some(a), Some(b)) => same_entries(a, b, sorted_entries, equal_as_js_text),
        (one, None) | (None, one) => one.is_none_or(|args| args.entries().next().is_none()),
    }
}

/// A hash that is equal for values that are [`equal`] or [`equal_as_js_text`]. O(n).
///
/// It covers what both relations compare: numbers as their nearest double, entries in any order.
#[must_use]
pub fn fingerprint(value: Json<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    match value.kind() {
        JsonKind::Null | JsonKind::True | JsonKind::False | JsonKind::Number => {
            let number = match value.kind() {
                JsonKind::True => Some(1.0),
                JsonKind::False => Some(0.0),
                _ => printed_number(value),
            };
            hasher.write_u8(0);
            // Adding zero turns -0.0 into 0.0.
            number.inspect(|number| hasher.write_u64((number + 0.0).to_bits()));
        }
        JsonKind::PlainString | JsonKind::EscapedString => {
            hasher.write_u8(1);
            hasher.write(value.as_str().unwrap_or_default().as_bytes());
        }
        JsonKind::Array => {
            hasher.write_u8(2);
            value.items().for_each(|item| hasher.write_u64(fingerprint(item)));
        }
        JsonKind::Object => {
            let entries = value.entries().fold(0u64, |sum, (key, value)| {
                let mut entry = FxHasher::default();
                entry.write(key.as_bytes());
                entry.write_u64(fingerprint(value));
                sum.wrapping_add(entry.finish())
            });
            hasher.write_u8(3);
            hasher.write_u64(entries);
        }
    }
    hasher.finish()
}

/// What values have in common that are [`equal`](fn@equal), and no others. O(n log n).
///
/// To compare one value with many: [`equal`](fn@equal) may read the whole of the larger value each time.
#[must_use]
pub fn canonical(value: Json<'_>) -> Vec<u8> {
    #[cfg(test)]
    tests::count(value.raw().len());
    let mut out = Vec::new();
    write_canonical(value, &mut out);
    out
}

fn write_canonical(value: Json<'_>, out: &mut Vec<u8>) {
    if let Some(number) = PythonNumber::from_json(value) {
        let double = match number {
            PythonNumber::Double(double) => Some(double),
            PythonNumber::Integer(digits) => {
                double::read(digits).filter(|d| PythonNumber::Double(*d).equals(number))
            }
        };
        match (double, number) {
            // Adding zero turns -0.0 into 0.0.
            (Some(double), _) => write_part(b'd', &(double + 0.0).to_bits().to_le_bytes(), out),
            (None, PythonNumber::Integer(digits)) => write_part(b'i', digits.as_bytes(), out),
            (None, PythonNumber::Double(_)) => {}
        }
    } else if let Some(text) = value.as_str() {
        write_part(b's', text.as_bytes(), out);
    } else {
        write_part(if value.kind() == JsonKind::Object { b'{' } else { b'[' }, &[], out);
        value.items().for_each(|item| write_canonical(item, out));
        for (key, value) in sorted_entries(value) {
            write_part(b's', key.as_bytes(), out);
            write_canonical(value, out);
        }
        write_part(if value.kind() == JsonKind::Null { b'n' } else { b']' }, &[], out);
    }
}

/// The length comes first, so that no text reads as what follows it.
#[inline(never)]
fn write_part(kind: u8, part: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(&part.len().to_le_bytes());
    out.extend_from_slice(part);
}

/// Whether a number keeps its value as a double: an integer exactly, any other number if it is in range.
pub(super) fn survives_as_double(number: &str) -> bool {
    match PythonNumber::read(number) {
        PythonNumber::Double(double) => double.is_finite(),
        integer @ PythonNumber::Integer(digits) => {
            double::read(digits).is_some_and(|nearest| PythonNumber::Double(nearest).equals(integer))
        }
    }
}

/// The entries of an object, sorted by key in code point order.
pub(super) fn sorted_entries(object: Json<'_>) -> Vec<(Cow<'_, str>, Json<'_>)> {
    let mut entries: Vec<_> = object.entries().collect();
    sort(&mut entries, |(a, _), (b, _)| a.cmp(b));
    entries
}

/// A number as Python reads it.
#[derive(Clone, Copy)]
enum PythonNumber<'a> {
    /// Digits without leading zeros, with an optional minus sign.
    Integer(&'a str),
    Double(f64),
}

impl<'a> PythonNumber<'a> {
    fn from_json(value: Json<'a>) -> Option<Self> {
        match value.kind() {
            JsonKind::True => Some(Self::Integer("1")),
            JsonKind::False => Some(Self::Integer("0")),
            _ => value.as_number().map(Self::read),
        }
    }

    fn read(number: &'a str) -> Self {
        match number {
            "-0" => Self::Integer("0"),
            _ if number.contains(['.', 'e', 'E']) => {
                Self::Double(double::read(number).unwrap_or(f64::INFINITY))
            }
            _ => Self::Integer(number),
        }
    }

    fn equals(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Double(a), Self::Double(b)) => a == b,
            (Self::Integer(digits), Self::Double(double)) | (Self::Double(double), Self::Integer(digits)) => {
                integer_equals_double(digits, double)
            }
        }
    }
}

fn integer_equals_double(digits: &str, double: f64) -> bool {
    const ALL_EXACT_UP_TO: u64 = 1 << f64::MANTISSA_DIGITS;
    match digits.parse::<i64>() {
        Ok(integer) if integer.unsigned_abs() <= ALL_EXACT_UP_TO => integer as f64 == double,
        _ => {
            let (negative, magnitude) = match digits.strip_prefix('-') {
                Some(magnitude) => (true, magnitude),
                None => (false, digits),
            };
            double.is_finite()
                && negative == double.is_sign_negative()
                && Decimal::exact(double).is_integer(magnitude)
        }
    }
}

/// A number as JavaScript prints it; nothing for `null`.
fn printed_number(value: Json<'_>) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

/// Strings, `null`, `true` and `false`.
fn scalars_equal(a: Json<'_>, b: Json<'_>) -> bool {
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => a == b,
        (None, None) => {
            a.kind() == b.kind() && !matches!(a.kind(), JsonKind::Array | JsonKind::Object | JsonKind::Number)
        }
        _ => false,
    }
}

/// Whether two values are written the same way.
fn same_text(a: Json<'_>, b: Json<'_>) -> bool {
    #[cfg(test)]
    tests::count(a.raw().len().max(b.raw().len()));
    a.raw() == b.raw()
}

/// A relation of two values.
type Same = fn(Json<'_>, Json<'_>) -> bool;

/// Whether two arrays have the same items.
fn same_items(a: Json<'_>, b: Json<'_>, same: Same) -> bool {
    let (mut a, mut b) = (a.items(), b.items());
    loop {
        match (a.next(), b.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if same(a, b) => {}
            _ => return false,
        }
    }
}

/// Whether two objects have the same entries, in the order given by `ordered`.
///
/// Values are compared only after all keys are known to be equal, so that nested objects are not compared twice
/// at each level.
fn same_entries(
    a: Json<'_>,
    b: Json<'_>,
    ordered: for<'j> fn(Json<'j>) -> Vec<(Cow<'j, str>, Json<'j>)>,
    same: Same,
) -> bool {
    if a.entries().count() != b.entries().count() {
        return false;
    }
    if a.entries().zip(b.entries()).all(|((a, _), (b, _))| a == b) {
        return a.entries().zip(b.entries()).all(|((_, a), (_, b))| same(a, b));
    }
    let (a, b) = (ordered(a), ordered(b));
    a.iter().zip(&b).all(|((a_key, a), (b_key, b))| a_key == b_key && same(*a, *b))
}

/// The entries of an object in the order in which JavaScript lists them.
fn js_entries(object: Json<'_>) -> Vec<(Cow<'_, str>, Json<'_>)> {
    let mut entries: Vec<_> = object.entries().collect();
    let rank = |key: &str| array_index(key).map_or(u64::MAX, u64::from);
    // Other keys follow in source order.
    sort(&mut entries, |(a, _), (b, _)| rank(a).cmp(&rank(b)));
    entries
}

/// An array index of ECMA-262: a canonical decimal below 2³² − 1.
fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || (!key.starts_with('0') && key.bytes().all(|b| b.is_ascii_digit()));
    key.parse().ok().filter(|index| canonical && *index < u32::MAX)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::foundation::json::Document;

    std::thread_local! {
        static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    pub(in crate::trajectory) fn count(bytes: usize) {
        COMPARED.set(COMPARED.get() + bytes);
    }

    /// How many bytes are compared meanwhile, and read for a canonical form.
    pub(in crate::trajectory) fn compared_in(work: impl FnOnce()) -> usize {
        COMPARED.set(0);
        work();
        COMPARED.get()
    }

    #[test]
    fn no_level_compares_again_what_is_in_it() {
        for same in [equal, equal_as_js_text] {
            for (open, close) in [("{\"a\":", "}"), ("[", "]")] {
                let nested = |value: &str| open.repeat(150) + value + &close.repeat(150);
                let [one, other] = ["1", "2"].map(|value| Document::parse(nested(value)).unwrap());
                let compared = compared_in(|| assert!(!same(one.root(), other.root())));
                assert!(compared <= 2 * nested("1").len(), "{compared}");
            }
        }
    }
}
