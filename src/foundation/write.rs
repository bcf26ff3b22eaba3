//! The JSON writer, for keys in `snake_case` or in `camelCase`.
//!
//! It replaces `serde_json`'s serializer, which would bring a second declaration of every shape for the other
//! spelling, and another way to write doubles (docs/decisions/0005-own-writer-and-doubles.md).

use std::borrow::Cow;

use super::double;
use super::json::{Json, JsonKind};
use super::parse::plain_length;

/// How the keys of ADK's shapes are spelled. Keys in tool arguments, session state and other free-form values
/// are never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// As google-adk writes files: `eval_set_id`.
    Snake,
    /// As ADK-TS and JavaScript write objects: `evalSetId`.
    Camel,
}

/// A value that can be written as JSON.
pub trait Write {
    /// Writes the value.
    fn write(&self, out: &mut Writer);

    /// Whether objects omit this value and its key.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Writes a value as compact JSON.
#[must_use]
pub fn to_json(value: &dyn Write, spelling: Spelling) -> String {
    let mut writer = Writer::new(spelling);
    value.write(&mut writer);
    writer.text
}

/// Collects JSON text. The text is complete when every object and array has been ended.
pub struct Writer {
    text: String,
    spelling: Spelling,
}

/// An object under construction.
pub struct Object<'w> {
    writer: &'w mut Writer,
    empty: bool,
}

/// An array under construction.
pub struct Array<'w> {
    writer: &'w mut Writer,
    empty: bool,
}

impl Writer {
    /// An empty writer that writes keys in the given spelling.
    #[must_use]
    pub fn new(spelling: Spelling) -> Self {
        Self { text: String::new(), spelling }
    }

    /// Reserves capacity if there is enough memory, because a text that grows copies everything written so far.
    pub fn reserve(&mut self, bytes: usize) {
        let _ = self.text.try_reserve(bytes);
    }

    /// The text written so far.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }

    /// Begins an array that is written item by item; [`Array::end`] ends it.
    pub fn begin_array(&mut self) -> Array<'_> {
        self.text.push('[');
        Array { writer: self, empty: true }
    }

    /// Begins an object; [`Object::end`] ends it.
    pub fn object(&mut self) -> Object<'_> {
        self.text.push('{');
        Object { writer: self, empty: true }
    }

    /// Writes an array.
    pub fn array(&mut self, items: &mut dyn Iterator<Item = &dyn Write>) {
        self.text.push('[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            item.write(self);
        }
        self.text.push(']');
    }

    /// Writes JSON text as it is.
    pub fn raw(&mut self, json: &str) {
        self.text.push_str(json);
    }
}

impl Object<'_> {
    /// Writes a field, unless it is absent.
    pub fn field(&mut self, snake: &'static str, camel: &'static str, value: &dyn Write) {
        let key = if self.writer.spelling == Spelling::Snake { snake } else { camel };
        self.optional(key, value);
    }

    /// Writes a field that has the same key in both spellings, unless its value is absent. Keys of our own need no escapes.
    pub fn optional(&mut self, key: &'static str, value: &dyn Write) {
        if !value.is_absent() {
            self.begin_entry();
            self.writer.text.push('"');
            self.writer.raw(key);
            self.writer.text.push('"');
            self.value(value);
        }
    }

    /// Writes an entry that has the same key in both spellings.
    pub fn entry(&mut self, key: &str, value: &dyn Write) {
        self.begin_entry();
        key.write(self.writer);
        self.value(value);
    }

    fn begin_entry(&mut self) {
        if !self.empty {
            self.writer.text.push(',');
        }
        self.empty = false;
    }

    fn value(&mut self, value: &dyn Write) {
        self.writer.text.push(':');
        value.write(self.writer);
    }

    /// Begins an entry with an array that is written item by item.
    pub fn begin_array(&mut self, key: &str) -> Array<'_> {
        self.entry(key, &Raw(""));
        self.writer.begin_array()
    }

    /// Begins an entry with an object; [`Object::end`] of that object ends it.
    pub fn begin_object(&mut self, key: &str) -> Object<'_> {
        self.entry(key, &Raw(""));
        self.writer.object()
    }

    /// Ends the object.
    pub fn end(self) {
        self.writer.text.push('}');
    }
}

impl Array<'_> {
    /// Writes the next item. Returns its length in bytes.
    pub fn item(&mut self, item: &dyn Write) -> usize {
        let begun = self.writer.text.len();
        item.write(self.begin_item());
        self.writer.text.len() - begun
    }

    /// Returns the writer for the next item.
    pub fn begin_item(&mut self) -> &mut Writer {
        if !self.empty {
            self.writer.text.push(',');
        }
        self.empty = false;
        self.writer
    }

    /// Ends the array.
    pub fn end(self) {
        self.writer.text.push(']');
    }
}

impl Write for str {
    fn write(&self, out: &mut Writer) {
        quote(self, &mut out.text);
    }
}

impl Write for String {
    fn write(&self, out: &mut Writer) {
        quote(self, &mut out.text);
    }
}

impl Write for Cow<'_, str> {
    fn write(&self, out: &mut Writer) {
        quote(self, &mut out.text);
    }
}

impl<T: Write + ?Sized> Write for &T {
    fn write(&self, out: &mut Writer) {
        (**self).write(out);
    }
    fn is_absent(&self) -> bool {
        (**self).is_absent()
    }
}

impl Write for bool {
    fn write(&self, out: &mut Writer) {
        out.raw(if *self { "true" } else { "false" });
    }
}

impl Write for f64 {
    /// The shortest text that reads back as the same double.
    fn write(&self, out: &mut Writer) {
        double::write(*self, &mut out.text);
    }
}

impl Write for i64 {
    fn write(&self, out: &mut Writer) {
        if *self < 0 {
            out.text.push('-');
        }
        push_digits(self.unsigned_abs(), &mut out.text);
    }
}

/// Appends a number in decimal, without the string in between that `to_string` makes.
fn push_digits(number: u64, text: &mut String) {
    if number >= 10 {
        push_digits(number / 10, text);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

impl Write for u32 {
    fn write(&self, out: &mut Writer) {
        i64::from(*self).write(out);
    }
}

/// An object that is assembled from parts before it is written. Its keys have one spelling.
///
/// ```
/// use adk_metrics::foundation::write::ObjectBuilder;
///
/// let part = ObjectBuilder::default().with("text", &"Hi");
/// let content = ObjectBuilder::default().with("parts", &[part]).with("role", &"user");
/// assert_eq!(content.to_json(), r#"{"parts":[{"text":"Hi"}],"role":"user"}"#);
/// ```
#[derive(Default)]
pub struct ObjectBuilder(Vec<(String, String)>);

impl ObjectBuilder {
    /// Adds an entry.
    pub fn add(&mut self, key: &str, value: &dyn Write) {
        self.0.push((key.to_owned(), to_json(value, Spelling::Camel)));
    }

    /// The object with one more entry.
    #[must_use]
    pub fn with(mut self, key: &str, value: &dyn Write) -> Self {
        self.add(key, value);
        self
    }

    /// Appends the entries of another object.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// Whether it has no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object as compact JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_json(self, Spelling::Camel)
    }
}

impl Write for ObjectBuilder {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        for (key, json) in &self.0 {
            object.entry(key, &Raw(json));
        }
        object.end();
    }
}

/// JSON text, written as it is.
pub struct Raw<'j>(pub &'j str);

impl Write for Raw<'_> {
    fn write(&self, out: &mut Writer) {
        out.raw(self.0);
    }
}

impl Write for Json<'_> {
    fn write(&self, out: &mut Writer) {
        out.raw(self.raw());
    }
}

impl<T: Write> Write for Option<T> {
    fn write(&self, out: &mut Writer) {
        match self {
            Some(value) => value.write(out),
            None => out.raw("null"),
        }
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Write> Write for Vec<T> {
    fn write(&self, out: &mut Writer) {
        self.as_slice().write(out);
    }
}

impl<T: Write> Write for [T] {
    fn write(&self, out: &mut Writer) {
        out.array(&mut self.iter().map(|item| item as &dyn Write));
    }
}

impl<T: Write, const N: usize> Write for [T; N] {
    fn write(&self, out: &mut Writer) {
        self.as_slice().write(out);
    }
}

/// Declares a struct together with its JSON: each field has its key, and [absent](Write::is_absent) fields are omitted. So
/// is an empty list with `if_any`.
macro_rules! json_object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$lt:lifetime>)? {
            $( $(#[$field_meta:meta])* pub $field:ident: $type:ty = $key:literal $($if_any:ident)?, )*
        }
    ) => {
        $(#[$meta])*
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name $(<$lt>)? {
            $(
                $(#[$field_meta])*
                #[cfg_attr(feature = "schema", schemars(rename = $key))]
                pub $field: $type,
            )*
        }

        impl $(<$lt>)? $crate::foundation::write::Write for $name $(<$lt>)? {
            fn write(&self, out: &mut $crate::foundation::write::Writer) {
                let mut object = out.object();
                $( json_object!(@write object, self.$field, $key $($if_any)?); )*
                object.end();
            }
        }
    };
    (@write $object:ident, $value:expr, $key:literal) => { $object.optional($key, &$value) };
    (@write $object:ident, $value:expr, $key:literal if_any) => {
        if !$value.is_empty() {
            $object.entry($key, &$value);
        }
    };
}
pub(crate) use json_object;

/// Appends a text as a JSON string.
pub fn quote(value: &str, text: &mut String) {
    text.push('"');
    let mut rest = value;
    while let Some((plain, after)) = rest.split_at_checked(plain_length(rest.as_bytes())) {
        text.push_str(plain);
        let mut chars = after.chars();
        match chars.next() {
            Some('"') => text.push_str("\\\""),
            Some('\\') => text.push_str("\\\\"),
            Some('\u{8}') => text.push_str("\\b"),
            Some('\u{c}') => text.push_str("\\f"),
            Some('\n') => text.push_str("\\n"),
            Some('\r') => text.push_str("\\r"),
            Some('\t') => text.push_str("\\t"),
            Some(control) => {
                text.push_str("\\u00");
                for digit in [control as u32 >> 4, control as u32 & 0xF] {
                    text.push(char::from_digit(digit, 16).unwrap_or('0'));
                }
            }
            None => break,
        }
        rest = chars.as_str();
    }
    text.push('"');
}

/// Appends JSON without the white space between its tokens.
pub fn push_compact(json: &str, text: &mut String) {
    let (mut in_string, mut escaped) = (false, false);
    for character in json.chars() {
        if in_string || !character.is_ascii_whitespace() {
            text.push(character);
        }
        in_string ^= character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
    }
}

/// A string in double quotes, escaped as in JSON, for messages and paths.
#[must_use]
pub fn quoted(value: &str) -> String {
    let mut text = String::new();
    quote(value, &mut text);
    text
}

/// Formats JSON for people: two spaces per level, one entry per line. Numbers keep their digits.
#[must_use]
pub fn pretty(json: Json<'_>) -> String {
    let mut text = String::new();
    lay_out(json, 0, &mut text);
    text.push('\n');
    text
}

fn lay_out(json: Json<'_>, level: usize, text: &mut String) {
    let new_line = |text: &mut String, level: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n("  ", level));
    };
    let mut empty = true;
    match json.kind() {
        JsonKind::Array => {
            text.push('[');
            for item in json.items() {
                if !empty {
                    text.push(',');
                }
                empty = false;
                new_line(text, level + 1);
                lay_out(item, level + 1, text);
            }
            if !empty {
                new_line(text, level);
            }
            text.push(']');
        }
        JsonKind::Object => {
            text.push('{');
            for (key, value) in json.entries() {
                if !empty {
                    text.push(',');
                }
                empty = false;
                new_line(text, level + 1);
                quote(&key, text);
                text.push_str(": ");
                lay_out(value, level + 1, text);
            }
            if !empty {
                new_line(text, level);
            }
            text.push('}');
        }
        _ => text.push_str(json.raw()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::json::Document;

    #[test]
    fn pretty_keeps_digits_and_order() {
        let doc = Document::parse(r#"{"b":[1.0,{}],"a":{"x":9007199254740993},"c":[]}"#).unwrap();
        assert_eq!(
            pretty(doc.root()),
            "{\n  \"b\": [\n    1.0,\n    {}\n  ],\n  \"a\": {\n    \"x\": 9007199254740993\n  },\n  \"c\": []\n}\n"
        );
    }
}
