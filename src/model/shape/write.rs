//! Writes checked JSON in either spelling.

use super::{Presence, Shape, Type, UnknownKeys};
use crate::foundation::json::Json;
use crate::foundation::write::{Spelling, quote};

/// Appends a checked value as JSON: keys of records in the given spelling, defaults filled in, absent fields
/// omitted, everything else as written.
pub fn write(value: Json<'_>, ty: &Type, spelling: Spelling, out: &mut String) {
    match *ty {
        Type::Record(shape) => write_record(value, shape, spelling, out),
        Type::Choice(_, choose) => match choose(value) {
            Ok(shape) => write_record(value, shape, spelling, out),
            Err(_) => out.push_str(value.raw()),
        },
        Type::List(item) => write_list(value, &mut std::iter::repeat(item), spelling, out),
        Type::Pair(items) => write_list(value, &mut items.iter(), spelling, out),
        Type::Special(_, json) => out.push_str(&json(value)),
        Type::Any
        | Type::Object
        | Type::IdOr(_)
        | Type::String
        | Type::Bool
        | Type::Number
        | Type::Integer => {
            out.push_str(value.raw());
        }
    }
}

fn write_list(list: Json<'_>, types: &mut dyn Iterator<Item = &Type>, spelling: Spelling, out: &mut String) {
    out.push('[');
    for (index, (item, ty)) in list.items().zip(types).enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, ty, spelling, out);
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
            (Some(value), _) => write(value, &field.ty, spelling, out),
            (None, Presence::Default(json)) => out.push_str(json),
            (None, _) => {}
        }
    }
    let is_kept = !matches!(shape.unknown_keys, UnknownKeys::Dropped | UnknownKeys::Ignored);
    let others = object.other_entries().filter(|(_, value)| is_kept && !value.is_null());
    // A `null` may belong to a field too; such entries have no number either.
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
