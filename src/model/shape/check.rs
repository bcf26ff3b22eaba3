//! The walk that holds a document against its shape and numbers its fields. Apart, because it is the only place that
//! finds mistakes; views rely on it.

use super::{Field, Presence, Shape, Type, UnknownKeys, Warnings};
use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::{Document, Json, Kind};
use crate::foundation::suggestion::suggestion;

/// Holds a document against a type, after which its records can be viewed.
///
/// # Errors
/// `invalid_input` with the path and line of what does not fit.
pub fn check(document: &mut Document<'_>, of: &Type, warnings: &Warnings) -> Result<()> {
    Checker { document, warnings, known_others: Vec::new() }.value(0, of)
}

struct Checker<'c, 't> {
    document: &'c mut Document<'t>,
    warnings: &'c Warnings,
    /// Keys that are no fields of a shape and resemble none, so that a key that every event has is looked at once.
    known_others: Vec<(*const Field, String)>,
}

impl Checker<'_, '_> {
    fn value(&mut self, at: u32, of: &Type) -> Result<()> {
        let slot = self.document.slot(at);
        let fits = match *of {
            Type::Any => true,
            Type::Object => slot.kind == Kind::Object,
            Type::Flag => matches!(slot.kind, Kind::True | Kind::False),
            Type::Number => slot.kind == Kind::Number && is_finite(self.document.value(at)),
            Type::Whole => slot.kind == Kind::Number && whole(self.document.value(at)).is_some(),
            Type::Record(shape) | Type::IdOr(shape) if slot.kind == Kind::Object => {
                return self.record(at, shape);
            }
            Type::Text | Type::IdOr(_) => matches!(slot.kind, Kind::PlainString | Kind::EscapedString),
            Type::Choice(_, choose) if slot.kind == Kind::Object => {
                let shape = choose(self.document.value(at))?;
                return self.record(at, shape);
            }
            Type::List(item) if slot.kind == Kind::Array => {
                let mut next = at + 1;
                while next < slot.next {
                    self.value(next, item)?;
                    next = self.document.slot(next).next;
                }
                true
            }
            Type::Pair([first, second]) if self.document.value(at).items().count() == 2 => {
                self.value(at + 1, first)?;
                self.value(self.document.slot(at + 1).next, second)?;
                true
            }
            Type::Special(check, _) => {
                check(self.document.value(at))?;
                true
            }
            Type::Record(_) | Type::Choice(..) | Type::List(_) | Type::Pair(_) => false,
        };
        if fits { Ok(()) } else { Err(self.misfit(at, of)) }
    }

    fn record(&mut self, at: u32, shape: &Shape) -> Result<()> {
        let end = self.document.slot(at).next;
        let mut seen = 0_u32;
        let mut expected = 0;
        let mut key = at + 1;
        while key < end {
            let slot = self.document.slot(key + 1);
            let found = self.find(key, shape.fields, expected);
            match found.and_then(|number| Some((number, shape.fields.get(number)?))) {
                Some((_, field))
                    if slot.kind == Kind::Null && !matches!(field.presence, Presence::Required) => {}
                Some((number, field)) => {
                    if seen & 1 << number != 0 {
                        return Err(self.given_twice(at, field));
                    }
                    seen |= 1 << number;
                    expected = number + 1;
                    self.document.tag(key, u8::try_from(number + 1).unwrap_or(0));
                    self.value(key + 1, &field.of)?;
                }
                None if slot.kind != Kind::Null => self.other(at, key, shape)?,
                None => {}
            }
            key = slot.next;
        }
        let is_missing = |(number, field): &(usize, &Field)| {
            matches!(field.presence, Presence::Required) && seen & 1 << number == 0
        };
        if let Some((_, field)) = shape.fields.iter().enumerate().find(is_missing) {
            return Err(self.missing(at, field));
        }
        match shape.rule {
            Some(rule) => rule(self.document.value(at)),
            None => Ok(()),
        }
    }

    /// The field of a key. Files keep their keys in order, so the field after the last one is tried first.
    fn find(&self, key: u32, fields: &[Field], expected: usize) -> Option<usize> {
        let key = self.document.key(key);
        let is_field = |field: &Field| *key == *field.snake.as_bytes() || *key == *field.camel.as_bytes();
        let (before, after) = fields.split_at_checked(expected).unwrap_or((fields, &[]));
        match after.iter().position(is_field) {
            Some(place) => Some(expected + place),
            None => before.iter().position(is_field),
        }
    }

    #[cold]
    fn misfit(&self, at: u32, of: &Type) -> Error {
        let value = self.document.value(at);
        match of {
            Type::Record(Shape { name, .. }) | Type::Choice(name, _) => {
                value.expected(&format!("an object ({name})"))
            }
            Type::IdOr(Shape { name, .. }) => value.expected(&format!("the id of {name} or an object")),
            _ => value.expected(match of {
                Type::Text => "a string",
                Type::Flag => "true or false",
                Type::Number => "a number",
                Type::Whole => "a whole number",
                Type::List(_) => "an array",
                Type::Pair(_) => "an author and a list of parts",
                _ => "an object",
            }),
        }
    }

    #[cold]
    fn given_twice(&self, at: u32, field: &Field) -> Error {
        let message = format!("`{}` is given twice, also as `{}`", field.snake, field.camel);
        let error = self.document.value(at).error(ErrorCode::InvalidInput, message);
        error.with_help("Keep one of the two")
    }

    #[cold]
    fn missing(&self, at: u32, field: &Field) -> Error {
        let object = self.document.value(at);
        let error = object.error(ErrorCode::InvalidInput, format!("`{}` is missing", field.snake));
        let found: Vec<_> = object.entries().map(|(key, _)| key).collect();
        match suggestion(field.snake, found.iter().map(AsRef::as_ref)) {
            Some(close) => error.with_help(format!("Is `{close}` meant to be `{}`?", field.snake)),
            None => error,
        }
    }

    /// A key that is no field.
    #[cold]
    fn other(&mut self, at: u32, key: u32, shape: &Shape) -> Result<()> {
        /// How many keys are remembered. Files have few.
        const MOST: usize = 64;
        let name = self.document.value(key).as_str().unwrap_or_default();
        // What tells an editor how to complete a file.
        if at == 0 && name == "$schema" {
            return Ok(());
        }
        let of = shape.fields.as_ptr();
        if self.known_others.iter().any(|(known_of, known)| *known_of == of && *known == name) {
            return Ok(());
        }
        let value = self.document.value(key + 1);
        let message = format!("`{name}` is not a key of {}", shape.name);
        match (meant_by(&name, shape), shape.unknown_keys) {
            (Some(meant), UnknownKeys::KeptByAdk) => {
                self.warnings.add_with_help(value, format!("{message} and is not read"), did_you_mean(meant));
                return Ok(());
            }
            (Some(meant), _) => {
                return Err(value.error(ErrorCode::InvalidInput, message).with_help(did_you_mean(meant)));
            }
            (None, UnknownKeys::Ignored) => self.warnings.add(value, format!("{message} and is left out")),
            (None, UnknownKeys::Unread) => self.warnings.add(value, format!("{message} and is not read")),
            (None, UnknownKeys::Kept | UnknownKeys::KeptByAdk) => {}
        }
        if self.known_others.len() < MOST {
            let name = name.into_owned();
            self.known_others.push((of, name));
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
    format!("Did you mean `{name}`?")
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
