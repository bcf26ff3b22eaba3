//! Reads values of the [`contract`](super::contract) from JavaScript.
//!
//! It replaces the deserializer of `serde-wasm-bindgen`, which quotes what it refuses: to write any double, the standard
//! library's formatting of doubles would be linked (docs/decisions/0005-own-writer-and-doubles.md).

use std::fmt;

use js_sys::{Array, Object, Reflect};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use wasm_bindgen::{JsCast, JsError, JsValue};

/// Converts a JavaScript value.
pub(super) fn from_value<T: DeserializeOwned>(value: JsValue) -> Result<T, Mismatch> {
    T::deserialize(FromJs(value))
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
}

impl From<Mismatch> for JsValue {
    fn from(Mismatch(message): Mismatch) -> Self {
        JsError::new(&message).into()
    }
}

struct FromJs(JsValue);

impl FromJs {
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
    fn entries(&self) -> Option<Vec<(FromJs, FromJs)>> {
        let entry = |pair: JsValue| {
            let pair: Array = pair.unchecked_into();
            (Self(pair.get(0)), Self(pair.get(1)))
        };
        self.0.is_object().then(|| Object::entries(self.0.unchecked_ref()).iter().map(entry).collect())
    }
}

impl<'de> Deserializer<'de> for FromJs {
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
        let array = self.0.dyn_into::<Array>().ok();
        Self::visit(visitor, array, |visitor, array| {
            visitor.visit_seq(SeqDeserializer::new(array.iter().map(FromJs)))
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        Self::visit(visitor, self.entries(), |visitor, entries| {
            visitor.visit_map(MapDeserializer::new(entries.into_iter()))
        })
    }

    /// Reads the fields by their names, so that they may be inherited. `undefined` counts as absent.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        let object = Some(self.0).filter(JsValue::is_object);
        Self::visit(visitor, object, |visitor, object| {
            let field = |name: &&'static str| {
                let value = Reflect::get(&object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED);
                (!value.is_undefined()).then_some((*name, Self(value)))
            };
            visitor.visit_map(MapDeserializer::new(fields.iter().filter_map(field)))
        })
    }

    /// A name, or an object with what a variant holds under its name.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        let variant = match self.0.as_string() {
            Some(_) => Some((Self(self.0), Self(JsValue::UNDEFINED))),
            None => self.entries().and_then(|entries| entries.into_iter().next()),
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

impl<'de> IntoDeserializer<'de, Mismatch> for FromJs {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

struct Variant {
    name: FromJs,
    content: FromJs,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Mismatch;
    type Variant = FromJs;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, FromJs), Mismatch> {
        Ok((seed.deserialize(self.name)?, self.content))
    }
}

impl<'de> VariantAccess<'de> for FromJs {
    type Error = Mismatch;

    fn unit_variant(self) -> Result<(), Mismatch> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mismatch> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.deserialize_struct("", fields, visitor)
    }
}
