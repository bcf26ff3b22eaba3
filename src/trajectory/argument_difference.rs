//! Where the arguments of two calls differ: the paths of the innermost values that do.

use super::call::{Argument, PreparedCall};
use super::difference::{Difference, DisplayJson};
use super::equal::{equal, equal_as_js_text, sorted_entries};
use super::matching::CallEquality;
use super::parameter_match::ParameterMatch;
use crate::foundation::json::{Json, JsonKind};
use crate::foundation::write::quoted;

/// How deep in a value differences are looked for. What differs deeper is shown as a whole, since each level compares all
/// that is in it.
const MAX_LEVELS: usize = 32;

/// The most bytes of two calls that are read to find where they differ. What differs beyond is shown as a whole.
const MAX_BYTES: usize = 1 << 23;

/// The most differences listed for one pair of calls; further ones are left out.
pub const MAX_DIFFERENCES: usize = 64;

/// The arguments that prevent a call from matching the expected one.
pub(super) fn argument_differences<'a>(
    expected: &PreparedCall<'_, 'a>,
    actual: &PreparedCall<'_, 'a>,
    equality: CallEquality,
) -> Vec<Difference<'a>> {
    let same = if equality == CallEquality::ArgsAsJsText { equal_as_js_text } else { equal };
    let mut found = Differences { same, level: 0, bytes: 0, list: Vec::new() };
    for argument in expected.arguments(actual) {
        match argument {
            Argument::Both { key, expected, actual } => {
                found.compare_entry(|| child("", key), (Some(expected), Some(actual)));
            }
            Argument::Missing { key, expected } => found.add(&child("", key), Some(expected), None),
            Argument::Extra { .. } if equality == CallEquality::RequiredArgs => {}
            Argument::Extra { key, actual } => found.add(&child("", key), None, Some(actual)),
        }
    }
    if found.list.is_empty() {
        // Absent arguments versus an empty object.
        found.add("", expected.source.args, actual.source.args);
    }
    found.list
}

/// The expected arguments that the strategies of `tool_parameter_match` do not accept.
pub(super) fn parameter_differences<'a>(
    parameters: &ParameterMatch,
    expected: &PreparedCall<'_, 'a>,
    actual: &PreparedCall<'_, 'a>,
) -> Vec<Difference<'a>> {
    let mut found = Differences { same: equal, level: 0, bytes: 0, list: Vec::new() };
    for argument in expected.arguments(actual) {
        match argument {
            Argument::Both { key, expected, actual } => {
                if !parameters.argument_matches(key, expected, actual) {
                    found.compare_entry(|| child("", key), (Some(expected), Some(actual)));
                }
            }
            Argument::Missing { key, expected } => found.add(&child("", key), Some(expected), None),
            Argument::Extra { .. } => {}
        }
    }
    found.list
}

struct Differences<'a> {
    same: fn(Json<'_>, Json<'_>) -> bool,
    level: usize,
    /// How many bytes were read to compare what is in arrays and objects.
    bytes: usize,
    list: Vec<Difference<'a>>,
}

impl<'a> Differences<'a> {
    fn add(&mut self, path: &str, expected: Option<Json<'a>>, actual: Option<Json<'a>>) {
        if self.list.len() < MAX_DIFFERENCES {
            let (expected, actual) = (expected.map(DisplayJson), actual.map(DisplayJson));
            self.list.push(Difference { path: path.to_owned(), expected, actual });
        }
    }

    /// Adds the innermost values that differ, of two that do.
    fn compare(&mut self, path: &str, expected: Json<'a>, actual: Json<'a>) {
        let before = self.list.len();
        self.level += 1;
        self.bytes = self.bytes.saturating_add(expected.raw().len().max(actual.raw().len()));
        match (expected.kind(), actual.kind()) {
            _ if self.level > MAX_LEVELS || self.bytes > MAX_BYTES => {}
            (JsonKind::Array, JsonKind::Array) => {
                let (mut expected, mut actual) = (expected.items(), actual.items());
                for at in 0usize.. {
                    let pair = (expected.next(), actual.next());
                    if self.list.len() >= MAX_DIFFERENCES || pair == (None, None) {
                        break;
                    }
                    self.compare_entry(|| format!("{path}[{at}]"), pair);
                }
            }
            (JsonKind::Object, JsonKind::Object) => {
                let (expected, actual) = (sorted_entries(expected), sorted_entries(actual));
                let (mut wanted, mut found) = (expected.iter().peekable(), actual.iter().peekable());
                while self.list.len() < MAX_DIFFERENCES {
                    let key = match (wanted.peek(), found.peek()) {
                        (Some((a, _)), Some((b, _))) => a.min(b),
                        (Some((key, _)), None) | (None, Some((key, _))) => key,
                        (None, None) => break,
                    };
                    let expected = wanted.next_if(|(other, _)| other == key).map(|(_, value)| *value);
                    let actual = found.next_if(|(other, _)| other == key).map(|(_, value)| *value);
                    self.compare_entry(|| child(path, key), (expected, actual));
                }
            }
            _ => {}
        }
        self.level -= 1;
        if self.list.len() == before {
            self.add(path, Some(expected), Some(actual));
        }
    }

    fn compare_entry(
        &mut self,
        path: impl FnOnce() -> String,
        (expected, actual): (Option<Json<'a>>, Option<Json<'a>>),
    ) {
        match (expected, actual) {
            (Some(expected), Some(actual)) => {
                if self.list.len() < MAX_DIFFERENCES && !(self.same)(expected, actual) {
                    self.compare(&path(), expected, actual);
                }
            }
            (expected, actual) => self.add(&path(), expected, actual),
        }
    }
}

/// The path of a key below another path: `a.b`, or `a["b c"]` if the key is no identifier.
fn child(path: &str, key: &str) -> String {
    let begins = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$');
    if begins && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$') {
        let point = if path.is_empty() { "" } else { "." };
        format!("{path}{point}{key}")
    } else {
        format!("{path}[{}]", quoted(key))
    }
}
