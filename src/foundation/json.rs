//! JSON as an index over its own text.
//!
//! [`Document::parse`] validates a text in one pass and records where every value begins and ends; [`Json`] is a view of
//! one value. Strings are borrowed from the text and unescaped only when they are read. Numbers keep their digits, so
//! integers of any size survive. Every value knows its position in the text, which gives errors their line, lets files
//! be written back unchanged, and lets invocations be parsed lazily.
//!
//! It replaces `serde_json::Value`, which has none of these properties (docs/decisions/0001-json-index.md).
//!
//! Complexity: O(n) time; 16 bytes per value and key. Grammar: RFC 8259. Repeated keys and lone surrogates are rejected,
//! because parsers disagree on what they mean.

mod escapes;

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::double;
use super::error::{Error, ErrorCode, Result};
use super::pace::{Pace, at_once};
use super::parse::parse;
use super::write::{quote, quoted};
use escapes::unescape;

/// The largest accepted input, in bytes.
pub const MAX_BYTES: usize = 256 * 1024 * 1024;
/// The deepest accepted nesting of arrays and objects.
pub const MAX_DEPTH: usize = 200;
/// The largest accepted number of values and keys in one input.
pub const MAX_VALUES: usize = 16 * 1024 * 1024;
/// The most bytes of a string.
pub const MAX_STRING_BYTES: usize = 64 * 1024 * 1024;
/// The most escapes in a string.
pub const MAX_ESCAPES: usize = 1024 * 1024;
/// The most keys of an object.
pub const MAX_KEYS: usize = 32 * 1024;

/// What to do about a text that is too large.
pub(super) const SMALLER: &str = "Split it into several files, or write its cases as JSON lines";

/// A parsed text: the text and the index of its values.
pub struct Document<'t> {
    text: Cow<'t, str>,
    slots: Vec<Slot>,
}

/// One value or key. Slots are in document order.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The slot after this value's last descendant.
    pub(crate) next: u32,
    pub(crate) kind: JsonKind,
    /// For a key: the number of the field that it names in its [shape](crate::model::shape), from 1; 0 if there is none.
    pub(crate) field: u8,
}

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true`
    True,
    /// `false`
    False,
    /// A number of any size.
    Number,
    /// A string without escapes.
    PlainString,
    /// A string with escapes.
    EscapedString,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A view of one value in a [`Document`].
#[derive(Clone, Copy)]
pub struct Json<'a> {
    document: &'a Document<'a>,
    at: u32,
}

static NOTHING: Document<'static> = Document { text: Cow::Borrowed("null"), slots: Vec::new() };

impl<'t> Document<'t> {
    /// Parses a text of at most [`MAX_BYTES`] bytes, [`MAX_DEPTH`] levels and [`MAX_VALUES`] values.
    /// A leading byte order mark is skipped.
    ///
    /// # Errors
    /// `invalid_json` with the line of the first byte that is not JSON; `limit_exceeded`.
    pub fn parse(text: impl Into<Cow<'t, str>>) -> Result<Self> {
        at_once(Self::parse_paced(text, &Pace::unbroken()))
    }

    /// As [`Document::parse`], in slices.
    ///
    /// # Errors
    /// As [`Document::parse`].
    pub async fn parse_paced(text: impl Into<Cow<'t, str>>, pace: &Pace) -> Result<Self> {
        let text = text.into();
        if text.len() > MAX_BYTES {
            return Err(Error::new(
                ErrorCode::LimitExceeded,
                format!("the input has {} bytes; one JSON text may have {MAX_BYTES} (256 MiB)", text.len()),
            )
            .with_help(SMALLER));
        }
        let slots = parse(&text, pace).await?;
        Ok(Self { text, slots })
    }

    /// Parses a text that the engine generated from another document. Errors have no line, since users never see the text.
    ///
    /// # Errors
    /// `limit_exceeded`, since the generated text may be nested deeper than the original.
    pub(crate) async fn rewritten(text: String, pace: &Pace) -> Result<Document<'static>> {
        Document::parse_paced(text, pace).await.map_err(|mut error| {
            error.line = None;
            error
        })
    }

    /// Parses bytes, which must be UTF-8.
    ///
    /// # Errors
    /// As [`Document::parse`]; `invalid_json` if the bytes are not UTF-8.
    pub fn from_bytes(bytes: impl Into<Cow<'t, [u8]>>) -> Result<Self> {
        match bytes.into() {
            Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Self::parse(text),
                Err(error) => Err(not_utf8(bytes.get(..error.valid_up_to()).unwrap_or_default())),
            },
            Cow::Owned(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Self::parse(text),
                Err(error) => {
                    let valid = error.utf8_error().valid_up_to();
                    Err(not_utf8(error.as_bytes().get(..valid).unwrap_or_default()))
                }
            },
        }
    }

    /// The document itself, or the document inside it: old versions of ADK stored results as a JSON string that contains
    /// the JSON. The second value is whether it was unwrapped; then its lines and offsets are not those of the file.
    ///
    /// # Errors
    /// As [`Document::parse`], with lines counted within the string.
    pub fn unwrapped(self) -> Result<(Self, bool)> {
        at_once(self.unwrapped_paced(&Pace::unbroken()))
    }

    /// As [`Document::unwrapped`], in slices.
    ///
    /// # Errors
    /// As [`Document::unwrapped`].
    pub async fn unwrapped_paced(self, pace: &Pace) -> Result<(Self, bool)> {
        match self.root().as_str() {
            Some(inner) => Ok((Document::parse_paced(inner.into_owned(), pace).await?, true)),
            None => Ok((self, false)),
        }
    }

    /// The outermost value.
    #[must_use]
    pub fn root(&self) -> Json<'_> {
        self.value(0)
    }

    /// The value in a slot.
    pub(crate) fn value(&self, at: u32) -> Json<'_> {
        Json { document: self, at }
    }

    pub(crate) fn slot(&self, at: u32) -> Slot {
        const NOTHING: Slot = Slot { start: 0, end: 4, next: 0, kind: JsonKind::Null, field: 0 };
        self.slots.get(at as usize).copied().unwrap_or(NOTHING)
    }

    /// The bytes of a key.
    pub(crate) fn key(&self, at: u32) -> Cow<'_, [u8]> {
        let slot = self.slot(at);
        if slot.kind == JsonKind::PlainString {
            let inner = slot.start as usize + 1..(slot.end as usize).saturating_sub(1);
            return Cow::Borrowed(self.text.as_bytes().get(inner).unwrap_or_default());
        }
        Cow::Owned(string(&self.text, slot).unwrap_or_default().into_owned().into_bytes())
    }

    /// Records which field of its shape a key names.
    pub(crate) fn tag(&mut self, key: u32, field: u8) {
        if let Some(slot) = self.slots.get_mut(key as usize) {
            slot.field = field;
        }
    }
}

/// The remaining items of an array.
#[derive(Clone, Copy)]
pub struct Items<'a> {
    next: Json<'a>,
    end: u32,
}

impl<'a> Iterator for Items<'a> {
    type Item = Json<'a>;

    #[inline]
    fn next(&mut self) -> Option<Json<'a>> {
        let item = (self.next.at < self.end).then_some(self.next)?;
        self.next.at = item.slot().next;
        Some(item)
    }
}

impl<'a> Json<'a> {
    /// A `null` outside of any document.
    pub const NULL: Self = Self { document: &NOTHING, at: 0 };

    fn slot(self) -> Slot {
        self.document.slot(self.at)
    }

    /// What kind of value this is.
    #[must_use]
    pub fn kind(self) -> JsonKind {
        self.slot().kind
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// The position of the value in the text: the byte offsets of its start and its end.
    #[must_use]
    pub fn span(self) -> (u32, u32) {
        let slot = self.slot();
        (slot.start, slot.end)
    }

    /// How many values it consists of, itself and keys included.
    #[must_use]
    pub fn size(self) -> usize {
        (self.slot().next - self.at) as usize
    }

    /// The value as written in the text.
    #[must_use]
    pub fn raw(self) -> &'a str {
        let slot = self.slot();
        self.document.text.get(slot.start as usize..slot.end as usize).unwrap_or_default()
    }

    /// The line the value begins on, counted from 1. O(n).
    #[must_use]
    pub fn line(self) -> u32 {
        line_of(&self.document.text, self.slot().start as usize)
    }

    /// The JSON path of the value, such as `eval_cases[2].conversation`; `$` for the outermost. O(n).
    #[must_use]
    pub fn path(self) -> String {
        let mut text = String::new();
        let mut here = self.document.root();
        while here.at != self.at {
            let holds = |value: &Json<'_>| self.at < value.slot().next;
            if let Some((index, item)) = here.items().enumerate().find(|(_, item)| holds(item)) {
                _ = write!(text, "[{index}]");
                here = item;
            } else if let Some((key, value)) = here.entries().find(|(_, value)| holds(value)) {
                push_key(&mut text, &key);
                here = value;
            } else {
                break;
            }
        }
        if text.is_empty() { "$".into() } else { text }
    }

    /// An error about this value.
    #[must_use]
    pub fn error(self, code: ErrorCode, message: impl Into<String>) -> Error {
        self.locate(Error::new(code, message))
    }

    /// Adds the path and line of this value to an error that has none.
    #[must_use]
    pub fn locate(self, error: Error) -> Error {
        error.at_path(self.path()).at_line(self.line())
    }

    /// An error saying what was expected here and what was found.
    #[must_use]
    pub fn expected(self, what: &str) -> Error {
        self.error(ErrorCode::InvalidInput, format!("expected {what}, found {}", self.describe()))
    }

    /// The value of `true` or `false`.
    #[must_use]
    pub fn as_bool(self) -> Option<bool> {
        match self.kind() {
            JsonKind::True => Some(true),
            JsonKind::False => Some(false),
            _ => None,
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let slot = self.slot();
        string(&self.document.text, slot)
    }

    /// The digits of a number, as written.
    #[must_use]
    pub fn as_number(self) -> Option<&'a str> {
        (self.kind() == JsonKind::Number).then(|| self.raw())
    }

    /// A number as the nearest double; infinite beyond the range of doubles.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        double::read(self.as_number()?)
    }

    /// The items of an array; nothing for any other value.
    #[must_use]
    pub fn items(self) -> Items<'a> {
        let slot = self.slot();
        let at = if slot.kind == JsonKind::Array { self.at + 1 } else { slot.next };
        Items { next: Json { at, ..self }, end: slot.next }
    }

    /// An iterator over this value alone, for inputs that are a list or a single item.
    pub(crate) fn alone(self) -> Items<'a> {
        Items { next: self, end: self.at + 1 }
    }

    /// The entries of an object in the order written; nothing for any other value.
    pub fn entries(self) -> impl Iterator<Item = (Cow<'a, str>, Json<'a>)> {
        let slot = self.slot();
        let mut at = if slot.kind == JsonKind::Object { self.at + 1 } else { slot.next };
        std::iter::from_fn(move || {
            let key = (at < slot.next).then_some(Json { at, ..self })?;
            let value = Json { at: at + 1, ..self };
            at = value.slot().next;
            Some((key.as_str().unwrap_or_default(), value))
        })
    }

    /// The value of a field of the [shape](crate::model::shape) that the object was checked against.
    pub(crate) fn field(self, number: u8) -> Option<Json<'a>> {
        let end = self.slot().next;
        let mut key = self.at + 1;
        while key < end {
            if self.document.slot(key).field == number {
                return Some(Json { at: key + 1, ..self });
            }
            key = self.document.slot(key + 1).next;
        }
        None
    }

    /// The entries of an object that are not fields of the shape that it was checked against.
    pub(crate) fn other_entries(self) -> impl Iterator<Item = (Json<'a>, Json<'a>)> {
        let slot = self.slot();
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            while at < slot.next {
                let (key, value) = (Json { at, ..self }, Json { at: at + 1, ..self });
                at = value.slot().next;
                if key.slot().field == 0 {
                    return Some((key, value));
                }
            }
            None
        })
    }

    /// The value of a key of an object.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Json<'a>> {
        self.entries().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// A short description for error messages: `the number 3`, `an object`.
    #[must_use]
    pub fn describe(self) -> String {
        match self.kind() {
            JsonKind::Null => "null".into(),
            JsonKind::True => "true".into(),
            JsonKind::False => "false".into(),
            JsonKind::Number => format!("the number {}", beginning(self.raw())),
            JsonKind::Array => "an array".into(),
            JsonKind::Object => "an object".into(),
            JsonKind::PlainString | JsonKind::EscapedString => {
                let text = self.as_str().unwrap_or_default();
                let start = beginning(&text);
                let more = if start.len() < text.len() { "…" } else { "" };
                format!("the string {}", quoted(&[start, more].concat()))
            }
        }
    }
}

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw())
    }
}

/// Compares the text of the values: `1` and `1.0` differ.
impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Json<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "Any JSON value." })
    }
}

pub(super) fn line_of(text: &str, offset: usize) -> u32 {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    u32::try_from(1 + before.iter().filter(|b| **b == b'\n').count()).unwrap_or(u32::MAX)
}

/// The error for input that is not UTF-8. `valid` is the part before the first invalid byte.
#[cold]
pub(crate) fn not_utf8(valid: &[u8]) -> Error {
    let line = 1 + valid.iter().filter(|b| **b == b'\n').count();
    Error::new(ErrorCode::InvalidJson, "the input is not UTF-8 text")
        .at_line(u32::try_from(line).unwrap_or(u32::MAX))
        .with_help("Save it as UTF-8")
}

/// The text of the string in a slot.
pub(super) fn string(text: &str, slot: Slot) -> Option<Cow<'_, str>> {
    let inner = || text.get(slot.start as usize + 1..(slot.end as usize).saturating_sub(1));
    match slot.kind {
        JsonKind::PlainString => inner().map(Cow::Borrowed),
        JsonKind::EscapedString => inner().map(|escaped| Cow::Owned(unescape(escaped))),
        _ => None,
    }
}

/// The beginning of a text, short enough to quote in an error message.
fn beginning(text: &str) -> &str {
    const LONGEST: usize = 40;
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn push_key(path: &mut String, key: &str) {
    let is_plain = !key.is_empty()
        && key.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_' || c == '$')
        && !key.starts_with(|c: char| c.is_ascii_digit());
    if !is_plain {
        path.push('[');
        quote(key, path);
        path.push(']');
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

#[cfg(test)]
mod tests;
