//! Shapes: what JSON has to look like, as data.
//!
//! A [`Shape`] lists the fields of a record in both spellings. One walk over the index of a document
//! ([`check`]) holds it against its shape and notes at every key which field it is; afterwards a
//! record is a view of its object that finds its fields by number, and nothing was copied or
//! allocated. One function writes every shape in either spelling ([`write()`]), and the JSON Schemas are
//! made from the same declarations (`record!`).
//!
//! Complexity: O(n) in the values of the document.

use std::borrow::Cow;
use std::cell::RefCell;
use std::marker::PhantomData;

use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode, Result, suggestion};
use crate::foundation::json::{Document, Json, Kind};
use crate::foundation::write::{Spelling, Write, Writer, quote};

/// The fields of a record.
pub struct Shape {
    /// What messages call it, with its article: `an eval case`.
    pub name: &'static str,
    /// Its fields, in the order they are written.
    pub fields: &'static [Field],
    /// What becomes of keys that are no fields.
    pub others: Others,
    /// What holds between the fields.
    pub rule: Option<fn(Json<'_>) -> Result<()>>,
}

/// What becomes of keys that are no fields of their record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// They are left out with a warning; one that resembles a field is an error.
    LeftOut,
    /// They are kept; one that resembles a field is an error.
    Kept,
    /// They are kept, as google-adk keeps them; one that resembles a field is warned of.
    KeptByAdk,
    /// They are kept with a warning, since nobody reads them; one that resembles a field is an error.
    Unread,
}

/// One field of a record.
pub struct Field {
    /// Its key as google-adk writes it.
    pub snake: &'static str,
    /// Its key as JavaScript writes it.
    pub camel: &'static str,
    /// What its value looks like.
    pub of: Type,
    /// Whether it has to be there.
    pub presence: Presence,
}

/// Whether a field has to be there.
#[derive(Clone, Copy)]
pub enum Presence {
    /// It does.
    Required,
    /// It may be absent, or `null`, which is the same.
    Optional,
    /// It may be absent, which means this JSON.
    Default(&'static str),
}

/// What a value looks like.
#[derive(Clone, Copy)]
pub enum Type {
    /// Anything.
    Any,
    /// Any object.
    Object,
    /// A string.
    Text,
    /// `true` or `false`.
    Flag,
    /// A number that is a finite double.
    Number,
    /// A whole number within 64 bits; `3.0` is one.
    Whole,
    /// An array of such values.
    List(&'static Type),
    /// An array of exactly two values.
    Pair(&'static [Type; 2]),
    /// An object of this shape.
    Record(&'static Shape),
    /// An object of the shape that its content tells, and what messages call it.
    Choice(&'static str, fn(Json<'_>) -> Result<&'static Shape>),
    /// A string, or an object of this shape that stands for what the string would name; written as it is.
    IdOr(&'static Shape),
    /// Something with a rule of its own, and the JSON that it is written as.
    Special(fn(Json<'_>) -> Result<()>, fn(Json<'_>) -> Cow<'_, str>),
}

/// What was read but may surprise: collected while reading, at most [`Warnings::MOST`].
#[derive(Default)]
pub struct Warnings {
    all: RefCell<Vec<Error>>,
}

impl Warnings {
    /// How many warnings are kept.
    pub const MOST: usize = 100;

    /// Warns of a value, unless a warning with the same message is there or there are [`Self::MOST`].
    pub fn add(&self, place: Json<'_>, message: String) {
        self.note(place, message, None);
    }

    /// Warns of a value and says what to do about it.
    pub fn add_with_help(&self, place: Json<'_>, message: String, help: String) {
        self.note(place, message, Some(help));
    }

    fn note(&self, place: Json<'_>, message: String, help: Option<String>) {
        let mut all = self.all.borrow_mut();
        if all.len() < Self::MOST && all.iter().all(|known| known.message != message) {
            let path = place.path();
            let mut warning = Error::new(ErrorCode::InvalidInput, message);
            // What is said of a whole document is on none of its lines.
            if path != "$" {
                warning = warning.at_line(place.line());
            }
            warning = warning.at_path(path);
            warning.help = help;
            all.push(warning);
        }
    }

    /// The warnings in the order found.
    #[must_use]
    pub fn into_vec(self) -> Vec<Error> {
        self.all.into_inner()
    }
}

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
        match (meant_by(&name, shape), shape.others) {
            (Some(meant), Others::KeptByAdk) => {
                self.warnings.add_with_help(value, format!("{message} and is not read"), did_you_mean(meant));
                return Ok(());
            }
            (Some(meant), _) => {
                return Err(value.error(ErrorCode::InvalidInput, message).with_help(did_you_mean(meant)));
            }
            (None, Others::LeftOut) => self.warnings.add(value, format!("{message} and is left out")),
            (None, Others::Unread) => self.warnings.add(value, format!("{message} and is not read")),
            (None, Others::Kept | Others::KeptByAdk) => {}
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

/// Appends a checked value as JSON: the keys of records in a spelling, defaults spelled out, what is
/// absent left out, everything else as it was written.
pub fn write(value: Json<'_>, of: &Type, spelling: Spelling, out: &mut String) {
    match *of {
        Type::Record(shape) => write_record(value, shape, spelling, out),
        Type::Choice(_, choose) => match choose(value) {
            Ok(shape) => write_record(value, shape, spelling, out),
            Err(_) => out.push_str(value.raw()),
        },
        Type::List(item) => write_list(value, &mut std::iter::repeat(item), spelling, out),
        Type::Pair(items) => write_list(value, &mut items.iter(), spelling, out),
        Type::Special(_, json) => out.push_str(&json(value)),
        Type::Any | Type::Object | Type::IdOr(_) | Type::Text | Type::Flag | Type::Number | Type::Whole => {
            out.push_str(value.raw());
        }
    }
}

fn write_list(list: Json<'_>, types: &mut dyn Iterator<Item = &Type>, spelling: Spelling, out: &mut String) {
    out.push('[');
    for (index, (item, of)) in list.items().zip(types).enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, of, spelling, out);
    }
    out.push(']');
}

fn write_record(object: Json<'_>, shape: &Shape, spelling: Spelling, out: &mut String) {
    let start = out.len();
    let separate = |out: &mut String| out.push(if out.len() == start { '{' } else { ',' });
    for (number, field) in (1..).zip(shape.fields) {
        let value = object.field(number);
        if let (None, Presence::Required | Presence::Optional) = (value, field.presence) {
            continue;
        }
        separate(out);
        quote(if spelling == Spelling::Snake { field.snake } else { field.camel }, out);
        out.push(':');
        match (value, field.presence) {
            (Some(value), _) => write(value, &field.of, spelling, out),
            (None, Presence::Default(json)) => out.push_str(json),
            (None, _) => {}
        }
    }
    let others =
        object.other_entries().filter(|(_, value)| shape.others != Others::LeftOut && !value.is_null());
    // A `null` may stand for a field too; those have no number either.
    for (key, value) in others {
        separate(out);
        out.push_str(key.raw());
        out.push(':');
        out.push_str(value.raw());
    }
    if out.len() == start {
        out.push('{');
    }
    out.push('}');
}

/// A Rust type that is a view of checked JSON.
pub trait View<'a>: Sized {
    /// What the JSON looks like.
    const TYPE: Type;
    /// Whether a field of this type may be absent.
    const OPTIONAL: bool = false;
    /// The JSON that an absent field with a default stands for.
    const DEFAULT: &'static str = "null";

    /// The view of a value. Of JSON that was not checked it is what is nearest to nothing.
    fn of(json: Json<'a>) -> Self;
}

/// A view of an object with a [`Shape`].
pub trait Record<'a>: View<'a> {
    /// The object.
    fn json(self) -> Json<'a>;

    /// The record as compact JSON, in a spelling.
    #[must_use]
    fn to_json(self, spelling: Spelling) -> String {
        let mut text = String::new();
        write(self.json(), &Self::TYPE, spelling, &mut text);
        text
    }
}

impl<'a> View<'a> for Json<'a> {
    const TYPE: Type = Type::Any;
    fn of(json: Json<'a>) -> Self {
        json
    }
}

impl<'a> View<'a> for Cow<'a, str> {
    const TYPE: Type = Type::Text;
    const DEFAULT: &'static str = r#""""#;
    fn of(json: Json<'a>) -> Self {
        json.as_str().unwrap_or_default()
    }
}

impl<'a> View<'a> for bool {
    const TYPE: Type = Type::Flag;
    fn of(json: Json<'a>) -> Self {
        json.as_bool().unwrap_or_default()
    }
}

impl<'a> View<'a> for f64 {
    const TYPE: Type = Type::Number;
    const DEFAULT: &'static str = "0.0";
    fn of(json: Json<'a>) -> Self {
        json.as_f64().unwrap_or_default()
    }
}

impl<'a> View<'a> for i64 {
    const TYPE: Type = Type::Whole;
    fn of(json: Json<'a>) -> Self {
        whole(json).unwrap_or_default()
    }
}

/// `null` is an absent value.
impl<'a, T: View<'a>> View<'a> for Option<T> {
    const TYPE: Type = T::TYPE;
    const OPTIONAL: bool = true;
    fn of(json: Json<'a>) -> Self {
        (!json.is_null()).then(|| T::of(json))
    }
}

/// An array whose items are views.
pub struct List<'a, T> {
    json: Json<'a>,
    items: PhantomData<T>,
}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

/// No items.
impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self { json: Json::NULL, items: PhantomData }
    }
}

impl<'a, T: View<'a>> View<'a> for List<'a, T> {
    const TYPE: Type = Type::List(&T::TYPE);
    const DEFAULT: &'static str = "[]";
    fn of(json: Json<'a>) -> Self {
        Self { json, items: PhantomData }
    }
}

impl<'a, T: View<'a>> List<'a, T> {
    /// The items in order.
    pub fn iter(self) -> impl Iterator<Item = T> {
        self.json.items().map(T::of)
    }

    /// The array.
    #[must_use]
    pub fn json(self) -> Json<'a> {
        self.json
    }

    /// How many items there are. O(n).
    #[must_use]
    pub fn len(self) -> usize {
        self.json.items().count()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.json.items().next().is_none()
    }
}

impl<'a, T: View<'a> + Write> Write for List<'a, T> {
    fn write(&self, out: &mut Writer) {
        self.iter().collect::<Vec<_>>().write(out);
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for List<'_, T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        <Vec<T>>::schema_name()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <Vec<T>>::json_schema(generator)
    }
}

/// For [`record!`]: how a field may be absent.
pub(super) const fn presence(optional: bool, default: Option<&'static str>) -> Presence {
    match default {
        _ if optional => Presence::Optional,
        Some(json) => Presence::Default(json),
        None => Presence::Required,
    }
}

/// The number of the field with a key, counted from 1.
pub(super) const fn number_of(fields: &[Field], snake: &str) -> u8 {
    let mut number = 0;
    let mut rest = fields;
    while let Some((field, after)) = rest.split_first() {
        number += 1;
        if is_same(field.snake.as_bytes(), snake.as_bytes()) {
            break;
        }
        rest = after;
    }
    number
}

const fn is_same(mut a: &[u8], mut b: &[u8]) -> bool {
    while let (Some((first_of_a, rest_of_a)), Some((first_of_b, rest_of_b))) =
        (a.split_first(), b.split_first())
    {
        if *first_of_a != *first_of_b {
            return false;
        }
        (a, b) = (rest_of_a, rest_of_b);
    }
    a.is_empty() && b.is_empty()
}

/// Declares a record once: its shape, the view of it, and its JSON Schema.
///
/// Each field names its key in `snake_case` and in `camelCase`. A field of an optional type may be
/// absent; so may a `default` field. `=>` gives a field another type than that of its view. `called` is
/// what messages call the record. `keeps others` keeps the keys that are no fields, `keeps all` also those
/// that resemble one, since google-adk keeps them; otherwise they are left out with a warning. `rule` names
/// a check of the whole.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$lt:lifetime> called $called:literal {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $snake:literal | $camel:literal $($default:ident)? $(=> $of:expr)?; )*
        }
        $( keeps $others:ident )?
        $( rule $rule:path )?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $vis struct $name<$lt>(pub(crate) $crate::foundation::json::Json<$lt>);

        impl<$lt> $name<$lt> {
            pub(crate) const SHAPE: $crate::model::shape::Shape = $crate::model::shape::Shape {
                name: $called,
                fields: &[ $( $crate::model::shape::Field {
                    snake: $snake,
                    camel: $camel,
                    of: record!(@type $type $(, $of)?),
                    presence: $crate::model::shape::presence(
                        <$type as $crate::model::shape::View<$lt>>::OPTIONAL,
                        record!(@default $type $(, $default)?),
                    ),
                }, )* ],
                others: record!(@others $($others)?),
                rule: record!(@rule $($rule)?),
            };

            $(
                $(#[$field_meta])*
                #[must_use]
                pub fn $field(self) -> $type {
                    let number = const { $crate::model::shape::number_of(Self::SHAPE.fields, $snake) };
                    $crate::model::shape::View::of(self.0.field(number).unwrap_or($crate::foundation::json::Json::NULL))
                }
            )*
        }

        /// A record without fields.
        impl Default for $name<'_> {
            fn default() -> Self {
                Self($crate::foundation::json::Json::NULL)
            }
        }

        impl<$lt> $crate::model::shape::View<$lt> for $name<$lt> {
            const TYPE: $crate::model::shape::Type = $crate::model::shape::Type::Record(&Self::SHAPE);
            fn of(json: $crate::foundation::json::Json<$lt>) -> Self {
                Self(json)
            }
        }

        impl<$lt> $crate::model::shape::Record<$lt> for $name<$lt> {
            fn json(self) -> $crate::foundation::json::Json<$lt> {
                self.0
            }
        }

        #[cfg(feature = "schema")]
        impl<$lt> schemars::JsonSchema for $name<$lt> {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $(#[$meta])*
                #[derive(schemars::JsonSchema)]
                #[schemars(extend("additionalProperties" = record!(@open $($others)?)))]
                #[expect(dead_code, reason = "only its schema is used")]
                struct Fields<$lt> {
                    $(
                        $(#[$field_meta])*
                        #[schemars(rename = $camel $(, $default)?)]
                        $field: $type,
                    )*
                    #[schemars(skip)]
                    lifetime: std::marker::PhantomData<&$lt ()>,
                }
                $crate::schema::spellings::noted(Fields::json_schema(generator), &Self::SHAPE)
            }
        }
    };
    (@type $type:ty) => { <$type as $crate::model::shape::View<'_>>::TYPE };
    (@type $type:ty, $of:expr) => { $of };
    (@default $type:ty) => { None };
    (@default $type:ty, default) => { Some(<$type as $crate::model::shape::View<'_>>::DEFAULT) };
    (@others) => { $crate::model::shape::Others::LeftOut };
    (@others others) => { $crate::model::shape::Others::Kept };
    (@others all) => { $crate::model::shape::Others::KeptByAdk };
    (@others unread) => { $crate::model::shape::Others::Unread };
    (@open) => { false };
    (@open $others:ident) => { true };
    (@rule) => { None };
    (@rule $rule:path) => { Some($rule) };
}
pub(crate) use record;
