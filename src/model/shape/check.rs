//! Validates a document against its shape and numbers its fields. All errors are found here; views rely on it.

use std::borrow::Cow;

use super::{Field, Presence, Shape, Type, UnknownKeys, Warnings};
use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::{Document, Json, JsonKind};
use crate::foundation::pace::{Pace, at_once};
use crate::foundation::suggestion::suggestion;

/// How many values and keys are validated between two calls of [`Pace::count`].
const SLOTS_PER_STEP: usize = 1 << 9;
/// The work of validating a value or a key, in units of [`Pace`].
const UNITS_PER_SLOT: usize = 12;

/// Validates a document against a type, after which its records can be viewed.
///
/// # Errors
/// `invalid_input` with the path and line of what does not fit.
pub fn check(document: &mut Document<'_>, ty: &Type, warnings: &Warnings) -> Result<()> {
    at_once(check_paced(document, ty, warnings, &Pace::unbroken()))
}

/// As [`check`], in slices.
///
/// # Errors
/// As [`check`].
pub async fn check_paced(
    document: &mut Document<'_>,
    ty: &Type,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<()> {
    let mut checker = Checker { document, warnings, known_others: Vec::new(), open: Vec::new(), at: 0 };
    let opened = checker.value(0, ty)?;
    checker.open.extend(opened);
    loop {
        let start = checker.at;
        if checker.advance(u32::try_from(pace.piece(SLOTS_PER_STEP)).unwrap_or(u32::MAX))? {
            return Ok(());
        }
        pace.count((checker.at - start) as usize * UNITS_PER_SLOT).await;
    }
}

/// A validation that can pause between any two values, because it has an explicit stack instead of recursion.
struct Checker<'c, 't> {
    document: &'c mut Document<'t>,
    warnings: &'c Warnings,
    /// Unknown keys of shapes that resemble no field, so that a key that occurs in every event is examined only once.
    known_others: Vec<(*const Field, String)>,
    /// The stack of open arrays and objects, innermost last.
    open: Vec<OpenValue>,
    /// The slot where validation paused last.
    at: u32,
}

/// An array or object that is partly checked.
enum OpenValue {
    List {
        /// The first item that is not checked yet.
        next: u32,
        end: u32,
        item: &'static Type,
    },
    Pair {
        /// The first value that is not checked yet.
        next: u32,
        /// The types of this and the following values.
        types: &'static [Type],
    },
    Record(OpenRecord),
}

struct OpenRecord {
    at: u32,
    /// The first key that is not checked yet.
    key: u32,
    end: u32,
    shape: &'static Shape,
    /// The fields that were found, one bit each.
    seen: u32,
    /// The field that most likely comes next.
    expected: usize,
}

impl OpenValue {
    fn record(at: u32, end: u32, shape: &'static Shape) -> Self {
        Self::Record(OpenRecord { at, key: at + 1, end, shape, seen: 0, expected: 0 })
    }
}

impl Checker<'_, '_> {
    /// Continues for about `slots` values and keys. Returns whether everything is checked.
    fn advance(&mut self, slots: u32) -> Result<bool> {
        let until = self.at.saturating_add(slots);
        while let Some(open) = self.open.pop() {
            let stopped_at = match open {
                OpenValue::List { next, end, item } => self.list(next, end, item, until)?,
                OpenValue::Record(record) => self.record(record, until)?,
                OpenValue::Pair { next, types } => self.pair(next, types)?,
            };
            if let Some(at) = stopped_at {
                self.at = at;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Checks a value. Returns it if it is an array or object with content that remains to be checked.
    fn value(&self, at: u32, ty: &Type) -> Result<Option<OpenValue>> {
        let slot = self.document.slot(at);
        let fits = match *ty {
            Type::Any => true,
            Type::Object => slot.kind == JsonKind::Object,
            Type::Bool => matches!(slot.kind, JsonKind::True | JsonKind::False),
            Type::Number => slot.kind == JsonKind::Number && is_finite(self.document.value(at)),
            Type::Integer => slot.kind == JsonKind::Number && whole(self.document.value(at)).is_some(),
            Type::Record(shape) | Type::IdOr(shape) if slot.kind == JsonKind::Object => {
                return Ok(Some(OpenValue::record(at, slot.next, shape)));
            }
            Type::String | Type::IdOr(_) => {
                matches!(slot.kind, JsonKind::PlainString | JsonKind::EscapedString)
            }
            Type::Choice(_, choose) if slot.kind == JsonKind::Object => {
                let shape = choose(self.document.value(at))?;
                return Ok(Some(OpenValue::record(at, slot.next, shape)));
            }
            Type::List(item) if slot.kind == JsonKind::Array => {
                return Ok(Some(OpenValue::List { next: at + 1, end: slot.next, item }));
            }
            Type::Pair(types) if self.document.value(at).items().count() == 2 => {
                return Ok(Some(OpenValue::Pair { next: at + 1, types }));
            }
            Type::Special(check, _) => {
                check(self.document.value(at))?;
                true
            }
            Type::Record(_) | Type::Choice(..) | Type::List(_) | Type::Pair(_) => false,
        };
        if fits { Ok(None) } else { Err(self.misfit(at, ty)) }
    }

    /// Continues with the items of an array until one has to be opened. Returns the slot if it paused before the end.
    fn list(&mut self, mut next: u32, end: u32, item: &'static Type, until: u32) -> Result<Option<u32>> {
        while next < end {
            if next >= until {
                self.open.push(OpenValue::List { next, end, item });
                return Ok(Some(next));
            }
            let at = next;
            next = self.document.slot(at).next;
            if let Some(opened) = self.value(at, item)? {
                self.open.push(OpenValue::List { next, end, item });
                self.open.push(opened);
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Continues with the values of a pair.
    fn pair(&mut self, at: u32, types: &'static [Type]) -> Result<Option<u32>> {
        if let Some((first, rest)) = types.split_first() {
            let opened = self.value(at, first)?;
            self.open.push(OpenValue::Pair { next: self.document.slot(at).next, types: rest });
            self.open.extend(opened);
        }
        Ok(None)
    }

    /// Continues with the keys of an object until a value has to be opened. Returns the slot if it paused before the end.
    fn record(&mut self, mut record: OpenRecord, until: u32) -> Result<Option<u32>> {
        let OpenRecord { at, end, shape, .. } = record;
        while record.key < end {
            let key = record.key;
            if key >= until {
                self.open.push(OpenValue::Record(record));
                return Ok(Some(key));
            }
            let slot = self.document.slot(key + 1);
            record.key = slot.next;
            let found = self.find(key, shape.fields, record.expected);
            match found.and_then(|number| Some((number, shape.fields.get(number)?))) {
                Some((_, field))
                    if slot.kind == JsonKind::Null && !matches!(field.presence, Presence::Required) => {}
                Some((number, field)) => {
                    if record.seen & 1 << number != 0 {
                        return Err(self.given_twice(at, field));
                    }
                    record.seen |= 1 << number;
                    record.expected = number + 1;
                    self.document.tag(key, u8::try_from(number + 1).unwrap_or(0));
                    if let Some(opened) = self.value(key + 1, &field.ty)? {
                        self.open.push(OpenValue::Record(record));
                        self.open.push(opened);
                        return Ok(None);
                    }
                }
                None if slot.kind != JsonKind::Null => self.other(at, key, shape)?,
                None => {}
            }
        }
        let is_missing = |(number, field): &(usize, &Field)| {
            matches!(field.presence, Presence::Required) && record.seen & 1 << number == 0
        };
        if let Some((_, field)) = shape.fields.iter().enumerate().find(is_missing) {
            return Err(self.missing(at, field));
        }
        match shape.rule {
            Some(rule) => rule(self.document.value(at), self.warnings).map(|()| None),
            None => Ok(None),
        }
    }

    /// The index of a key's field. Keys are usually in order, so the field after the last one is tried first.
    fn find(&self, key: u32, fields: &[Field], expected: usize) -> Option<usize> {
        let key = self.document.key(key);
        let is_field = |field: &Field| *key == *field.snake.as_bytes() || *key == *field.camel.as_bytes();
        let (before, after) = fields.split_at_checked(expected).unwrap_or((fields, &[]));
        match after.iter().position(is_field) {
            Some(offset) => Some(expected + offset),
            None => before.iter().position(is_field),
        }
    }

    #[cold]
    fn misfit(&self, at: u32, ty: &Type) -> Error {
        let value = self.document.value(at);
        match ty {
            Type::Record(Shape { name, .. }) | Type::Choice(name, _) => {
                value.expected(&["an object (", name, ")"].concat())
            }
            Type::IdOr(Shape { name, .. }) => value.expected(&["the id of ", name, " or an object"].concat()),
            _ => value.expected(match ty {
                Type::String => "a string",
                Type::Bool => "true or false",
                Type::Number => "a number",
                Type::Integer => "a whole number",
                Type::List(_) => "an array",
                Type::Pair(_) => "an author and a list of parts",
                _ => "an object",
            }),
        }
    }

    #[cold]
    fn given_twice(&self, at: u32, field: &Field) -> Error {
        let message = ["`", field.snake, "` is given twice, also as `", field.camel, "`"].concat();
        let error = self.document.value(at).error(ErrorCode::InvalidInput, message);
        error.with_help("Keep one of the two")
    }

    #[cold]
    fn missing(&self, at: u32, field: &Field) -> Error {
        let object = self.document.value(at);
        let error = object.error(ErrorCode::InvalidInput, ["`", field.snake, "` is missing"].concat());
        let found: Vec<_> = object.entries().map(|(key, _)| key).collect();
        match suggestion(field.snake, found.iter().map(AsRef::as_ref)) {
            Some(close) => error.with_help(["Is `", close, "` meant to be `", field.snake, "`?"].concat()),
            None => error,
        }
    }

    /// Handles an unknown key.
    #[cold]
    fn other(&mut self, at: u32, key: u32, shape: &Shape) -> Result<()> {
        /// How many unknown keys are remembered. Files have few.
        const MAX_REMEMBERED: usize = 64;
        let name = self.document.value(key).as_str().unwrap_or_default();
        // The schema reference for editors.
        if at == 0 && name == "$schema" {
            return Ok(());
        }
        let fields = shape.fields.as_ptr();
        if self.known_others.iter().any(|(shape, known)| *shape == fields && *known == name) {
            return Ok(());
        }
        let value = self.document.value(key + 1);
        let message = no_key(&name, shape.name);
        match (meant_by(&name, shape), shape.unknown_keys) {
            (Some(meant), _) => return Err(not_a_key(value, &name, shape.name, meant)),
            (None, UnknownKeys::Dropped) => self.warnings.add(value, message + " and is left out"),
            (None, UnknownKeys::Unread) => self.warnings.add(value, message + " and is not read"),
            (None, UnknownKeys::Kept | UnknownKeys::Ignored) => {}
        }
        if self.known_others.len() < MAX_REMEMBERED {
            let name = name.into_owned();
            self.known_others.push((fields, name));
        }
        Ok(())
    }
}

/// The field that a key is most likely a misspelling of, in the key's own spelling.
fn meant_by(key: &str, shape: &Shape) -> Option<&'static str> {
    let is_camel = key.bytes().any(|byte| byte.is_ascii_uppercase());
    suggestion(key, shape.fields.iter().map(|field| if is_camel { field.camel } else { field.snake }))
}

/// Advice on a misspelt name.
pub(crate) fn did_you_mean(name: &str) -> String {
    ["Did you mean `", name, "`?"].concat()
}

/// The error for a misspelt key.
#[cold]
pub(crate) fn not_a_key(value: Json<'_>, key: &str, what: &str, meant: &str) -> Error {
    value.error(ErrorCode::InvalidInput, no_key(key, what)).with_help(did_you_mean(meant))
}

pub(crate) fn no_key(key: &str, what: &str) -> String {
    ["`", key, "` is not a key of ", what].concat()
}

/// The first entry that is not a field and has a value other than `null`, and a key for which `holds` is true.
pub(crate) fn unread<'a>(json: Json<'a>, holds: &dyn Fn(&str) -> bool) -> Option<(Cow<'a, str>, Json<'a>)> {
    json.other_entries().filter(|(_, value)| !value.is_null()).find_map(|(key, value)| {
        let key = key.as_str()?;
        holds(&key).then_some((key, value))
    })
}

/// Rejects an object without known fields if it has other keys: it would be scored as an empty one.
#[cold]
pub(crate) fn nothing_read(json: Json<'_>, what: &str, keys: &str) -> Result<()> {
    let Some((key, value)) = unread(json, &|key| !key.starts_with('$')) else { return Ok(()) };
    let message = no_key(&key, what) + ", and there is nothing else in it to score";
    Err(value.error(ErrorCode::InvalidInput, message).with_help("Its keys are ".to_owned() + keys))
}

fn is_finite(number: Json<'_>) -> bool {
    /// Numbers of fewer characters are finite, if they have no exponent.
    const SHORT: usize = 300;
    let text = number.raw();
    (text.len() < SHORT && !text.bytes().any(|byte| byte.eq_ignore_ascii_case(&b'e')))
        || number.as_f64().is_some_and(f64::is_finite)
}

/// A whole number, `3` and `3.0` alike.
pub(crate) fn whole(number: Json<'_>) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let text = number.as_number()?;
    if let Ok(whole) = text.parse() {
        return Some(whole);
    }
    let value = double::read(text)?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the exact range of doubles")]
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}
