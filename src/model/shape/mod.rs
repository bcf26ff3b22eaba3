//! Shapes: the expected structure of JSON, as data.
//!
//! A [`Shape`] lists the fields of a record in both spellings. [`check`] walks over the index of a document
//! once, compares it with its shape, and stores the number of the field at every key. Afterwards a record is a
//! view of its object that finds fields by number without copying or allocating. One function writes every
//! shape in either spelling ([`write()`]), and the JSON Schemas are made from the same declarations
//! (`record!`).
//!
//! Complexity: O(n) in the values of the document.

mod check;
mod record;
mod view;
mod warnings;
mod write;

use std::borrow::Cow;

use crate::foundation::error::Result;
use crate::foundation::json::Json;

pub use check::{check, check_paced};
pub(crate) use check::{did_you_mean, no_key, not_a_key, nothing_read, unread, whole};
pub(crate) use record::record;
pub(super) use record::{field_number, presence};
pub use view::{List, Record, View};
pub use warnings::Warnings;
pub use write::write;

/// The fields of a record.
pub struct Shape {
    /// Its name in messages, with an article: `an eval case`.
    pub name: &'static str,
    /// Its fields, in the order in which they are written.
    pub fields: &'static [Field],
    /// What happens to keys that are not fields.
    pub unknown_keys: UnknownKeys,
    /// A check across fields, which may also warn.
    pub rule: Option<fn(Json<'_>, &Warnings) -> Result<()>>,
}

impl Shape {
    /// The field with a key, in either spelling.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.snake == key || field.camel == key)
    }
}

/// What happens to keys that are not fields of their record. Keys that resemble a field are always errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownKeys {
    /// They are dropped with a warning.
    Dropped,
    /// They are dropped: this package adds them to what google-adk has.
    Ignored,
    /// They are kept.
    Kept,
    /// They are kept with a warning, since nothing reads them.
    Unread,
}

/// One field of a record.
pub struct Field {
    /// Its key in google-adk's files.
    pub snake: &'static str,
    /// Its key in JavaScript.
    pub camel: &'static str,
    /// The type of its value.
    pub ty: Type,
    /// Whether it is required.
    pub presence: Presence,
}

/// Whether a field is required.
#[derive(Clone, Copy)]
pub enum Presence {
    /// It is required.
    Required,
    /// It may be absent or `null`, which mean the same.
    Optional,
    /// It may be absent, which means this JSON.
    Default(&'static str),
}

/// The type of a value.
#[derive(Clone, Copy)]
pub enum Type {
    /// Anything.
    Any,
    /// Any object.
    Object,
    /// A string.
    String,
    /// `true` or `false`.
    Bool,
    /// A number that is a finite double.
    Number,
    /// An integer of at most 64 bits; `3.0` is one.
    Integer,
    /// An array of values of this type.
    List(&'static Type),
    /// An array of exactly two values.
    Pair(&'static [Type; 2]),
    /// An object of this shape.
    Record(&'static Shape),
    /// An object with a shape that depends on its content. The string is its name in messages.
    Choice(&'static str, fn(Json<'_>) -> Result<&'static Shape>),
    /// The id of something, or an object of this shape that describes it. Written unchanged.
    IdOr(&'static Shape),
    /// A value with its own check, and its own function that writes it as JSON.
    Special(fn(Json<'_>) -> Result<()>, fn(Json<'_>) -> Cow<'_, str>),
}
