//! Views of checked JSON as Rust types. Views never fail: all errors were found by the check.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::{Type, whole, write};
use crate::foundation::json::Json;
use crate::foundation::write::{Spelling, Write, Writer};

/// A Rust type that is a view of checked JSON.
pub trait View<'a>: Sized {
    /// The type of the JSON.
    const TYPE: Type;
    /// Whether a field of this type may be absent.
    const OPTIONAL: bool = false;
    /// The JSON that replaces an absent field with a default.
    const DEFAULT: &'static str = "null";

    /// The view of a value. If the JSON was not checked, invalid values are viewed as empty ones.
    fn from_json(json: Json<'a>) -> Self;
}

/// A view of an object with a [`Shape`](super::Shape).
pub trait Record<'a>: View<'a> {
    /// The object.
    fn json(self) -> Json<'a>;

    /// The record as compact JSON in the given spelling.
    #[must_use]
    fn to_json(self, spelling: Spelling) -> String {
        let mut text = String::new();
        write(self.json(), &Self::TYPE, spelling, &mut text);
        text
    }
}

impl<'a> View<'a> for Json<'a> {
    const TYPE: Type = Type::Any;
    fn from_json(json: Json<'a>) -> Self {
        json
    }
}

impl<'a> View<'a> for Cow<'a, str> {
    const TYPE: Type = Type::String;
    const DEFAULT: &'static str = r#""""#;
    fn from_json(json: Json<'a>) -> Self {
        json.as_str().unwrap_or_default()
    }
}

impl<'a> View<'a> for bool {
    const TYPE: Type = Type::Bool;
    fn from_json(json: Json<'a>) -> Self {
        json.as_bool().unwrap_or_default()
    }
}

impl<'a> View<'a> for f64 {
    const TYPE: Type = Type::Number;
    const DEFAULT: &'static str = "0.0";
    fn from_json(json: Json<'a>) -> Self {
        json.as_f64().unwrap_or_default()
    }
}

impl<'a> View<'a> for i64 {
    const TYPE: Type = Type::Integer;
    fn from_json(json: Json<'a>) -> Self {
        whole(json).unwrap_or_default()
    }
}

/// `null` counts as absent.
impl<'a, T: View<'a>> View<'a> for Option<T> {
    const TYPE: Type = T::TYPE;
    const OPTIONAL: bool = true;
    fn from_json(json: Json<'a>) -> Self {
        (!json.is_null()).then(|| T::from_json(json))
    }
}

/// An array of values that are viewed as `T`.
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
    fn from_json(json: Json<'a>) -> Self {
        Self { json, items: PhantomData }
    }
}

impl<'a, T: View<'a>> List<'a, T> {
    /// The items in order.
    pub fn iter(self) -> impl Iterator<Item = T> {
        self.json.items().map(T::from_json)
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
