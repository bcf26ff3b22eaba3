//! `record!`, which declares a shape, its view and its JSON Schema, and the constant functions that it needs.

use super::{Field, Presence};

/// How a field of [`record!`] may be absent.
pub(in crate::model) const fn presence(optional: bool, default: Option<&'static str>) -> Presence {
    match default {
        _ if optional => Presence::Optional,
        Some(json) => Presence::Default(json),
        None => Presence::Required,
    }
}

/// The number of the field with a key, from 1.
pub(in crate::model) const fn field_number(fields: &[Field], snake: &str) -> u8 {
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

/// Declares a record: its shape, its view and its JSON Schema.
///
/// Each field has its key in `snake_case` and in `camelCase`. A field of an optional type may be absent; so may
/// a `default` field. `=>` gives a field another type than that of its view. `called` is the name of the record
/// in messages. `unknown_keys` says what happens to keys that are not fields (an
/// [`UnknownKeys`](crate::model::shape::UnknownKeys)); by default they are dropped with a warning. `rule` names a check of
/// the whole record.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident<$lt:lifetime> called $called:literal {
            $( $(#[$field_meta:meta])* $field:ident: $type:ty = $snake:literal | $camel:literal $($default:ident)? $(=> $of:expr)?; )*
        }
        $( unknown_keys $unknown:ident )?
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
                    ty: record!(@type $type $(, $of)?),
                    presence: $crate::model::shape::presence(
                        <$type as $crate::model::shape::View<$lt>>::OPTIONAL,
                        record!(@default $type $(, $default)?),
                    ),
                }, )* ],
                unknown_keys: record!(@unknown $($unknown)?),
                rule: record!(@rule $($rule)?),
            };

            $(
                $(#[$field_meta])*
                #[must_use]
                pub fn $field(self) -> $type {
                    let number = const { $crate::model::shape::field_number(Self::SHAPE.fields, $snake) };
                    $crate::model::shape::View::from_json(self.0.field(number).unwrap_or($crate::foundation::json::Json::NULL))
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
            fn from_json(json: $crate::foundation::json::Json<$lt>) -> Self {
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
                #[schemars(extend("additionalProperties" = record!(@open $($unknown)?)))]
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
    (@unknown) => { $crate::model::shape::UnknownKeys::Dropped };
    (@unknown $unknown:ident) => { $crate::model::shape::UnknownKeys::$unknown };
    (@open) => { false };
    (@open Ignored) => { false };
    (@open $unknown:ident) => { true };
    (@rule) => { None };
    (@rule $rule:path) => { Some($rule) };
}

pub(crate) use record;
