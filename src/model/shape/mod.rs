//! Shapes: what JSON has to look like, as data.
//!
//! A [`Shape`] lists the fields of a record in both spellings. One walk over the index of a document
//! ([`check`]) holds it against its shape and notes at every key which field it is; afterwards a
//! record is a view of its object that finds its fields by number, and nothing was copied or
//! allocated. One function writes every shape in either spelling ([`write()`]), and the JSON Schemas are
//! made from the same declarations (`record!`).
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

pub use check::check;
pub(crate) use check::{did_you_mean, whole};
pub(crate) use record::record;
pub(super) use record::{number_of, presence};
pub use view::{List, Record, View};
pub use warnings::Warnings;
pub use write::write;

/// The fields of a record.
pub struct Shape {
    /// What messages call it, with its article: `an eval case`.
    pub name: &'static str,
    /// Its fields, in the order they are written.
    pub fields: &'static [Field],
    /// What becomes of keys that are no fields.
    pub unknown_keys: UnknownKeys,
    /// What holds between the fields.
    pub rule: Option<fn(Json<'_>) -> Result<()>>,
}

/// What becomes of keys that are no fields of their record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownKeys {
    /// They are left out with a warning; one that resembles a field is an error.
    Ignored,
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
