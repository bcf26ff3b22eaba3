//! Reads values of the [`contract`](super::contract) from JavaScript.
//!
//! It replaces the deserializer of `serde-wasm-bindgen`, which quotes what it refuses: to write any double, the standard
//! library's formatting of doubles would be linked (docs/decisions/0005-own-writer-and-doubles.md).

use std::fmt;
use std::slice::Iter;

use js_sys::{Array, ArrayIntoIter, Object, Reflect};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use wasm_bindgen::{JsCast, JsError, JsValue};

/// Converts a JavaScript value.
pub(super) fn from_value<T: DeserializeOwned>(value: JsValue) -> Result<T, Mismatch> {
    T::deserialize(FromJs(&value))
}

/// Says what was expected of a value that is something else.
#[derive(Debug)]
pub(super) struct Mismatch(pub(super) String);

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mismatch {}

impl Error for Mismatch {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }

    #[cold]
    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self(format!("expected {expected}"))
    }

    #[cold]
    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(Unexpected::Unit, expected)
    }

    #[cold]
    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::invalid_type(Unexpected::Unit, expected)
    }
}

impl From<Mismatch> for JsValue {
    fn from(Mismatch(message): Mismatch) -> Self {
        JsError::new(&message).into()
    }
}

#[derive(Clone, Copy)]
struct FromJs<'v>(&'v JsValue);

impl FromJs<'_> {
    /// What `visit` makes of the value, if it is one that the visitor expects.
    fn visit<'de, V: Visitor<'de>, T>(
        visitor: V,
        value: Option<T>,
        visit: impl FnOnce(V, T) -> Result<V::Value, Mismatch>,
    ) -> Result<V::Value, Mismatch> {
        match value {
            Some(value) => visit(visitor, value),
            None => Err(Error::invalid_type(Unexpected::Unit, &visitor)),
        }
    }

    /// The entries of an object.
    fn entries(self) -> Option<Entries> {
        let entries = || Object::entries(self.0.unchecked_ref()).into_iter();
        self.0.is_object().then(|| Entries { entries: entries(), value: JsValue::UNDEFINED })
    }
}

impl<'de> Deserializer<'de> for FromJs<'_> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Err(Error::invalid_type(Unexpected::Unit, &visitor))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Self::visit(visitor, self.0.as_bool(), V::visit_bool)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Self::visit(visitor, self.0.as_f64(), V::visit_f64)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let whole = self.0.as_f64().filter(|number| f64::from(*number as u16) == *number);
        Self::visit(visitor, whole, |visitor, number| visitor.visit_u16(number as u16))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Self::visit(visitor, self.0.as_string(), V::visit_string)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.0.is_null() || self.0.is_undefined() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let items = self.0.dyn_ref::<Array>().map(|array| Items(array.clone().into_iter()));
        Self::visit(visitor, items, V::visit_seq)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Self::visit(visitor, self.entries(), V::visit_map)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        let fields = self.0.is_object().then(|| Fields { object: self.0, names: names.iter() });
        Self::visit(visitor, fields, V::visit_seq)
    }

    /// A name, or an object with what a variant holds under its name.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        let variant = if self.0.is_string() {
            Some((self.0.clone(), JsValue::UNDEFINED))
        } else {
            self.entries().and_then(|mut entries| Some((entries.next()?, entries.value)))
        };
        Self::visit(visitor, variant, |visitor, (name, content)| {
            visitor.visit_enum(Variant { name, content })
        })
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u32 u64 u128 f32 char str bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct ignored_any
    }
}

/// The items of an array.
struct Items(ArrayIntoIter);

impl<'de> SeqAccess<'de> for Items {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        self.0.next().map(|item| seed.deserialize(FromJs(&item))).transpose()
    }
}

/// The entries of an object.
struct Entries {
    entries: ArrayIntoIter,
    /// The value of the last key.
    value: JsValue,
}

impl Entries {
    /// The next key.
    fn next(&mut self) -> Option<JsValue> {
        let entry: Array = self.entries.next()?.unchecked_into();
        self.value = entry.get(1);
        Some(entry.get(0))
    }
}

impl<'de> MapAccess<'de> for Entries {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mismatch> {
        self.next().map(|key| seed.deserialize(FromJs(&key))).transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Mismatch> {
        seed.deserialize(FromJs(&self.value))
    }
}

/// The fields of an object, in the order of their declaration. They may be inherited; one that is absent is
/// `undefined`.
struct Fields<'v> {
    object: &'v JsValue,
    names: Iter<'static, &'static str>,
}

impl<'de> SeqAccess<'de> for Fields<'_> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        let Some(name) = self.names.next() else { return Ok(None) };
        let value = Reflect::get(self.object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED);
        match seed.deserialize(FromJs(&value)) {
            Ok(field) => Ok(Some(field)),
            Err(Mismatch(message)) => Err(Mismatch([name, ": ", &message].concat())),
        }
    }
}

struct Variant {
    name: JsValue,
    content: JsValue,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Mismatch;
    type Variant = Content;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Content), Mismatch> {
        Ok((seed.deserialize(FromJs(&self.name))?, Content(self.content)))
    }
}

/// What a variant holds.
struct Content(JsValue);

impl<'de> VariantAccess<'de> for Content {
    type Error = Mismatch;

    fn unit_variant(self) -> Result<(), Mismatch> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mismatch> {
        seed.deserialize(FromJs(&self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mismatch> {
        FromJs(&self.0).deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        FromJs(&self.0).deserialize_struct("", fields, visitor)
    }
}
