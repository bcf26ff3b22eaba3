//! Schemas of files, whose keys may be in `snake_case` or `camelCase`.
//!
//! The types give schemas in `camelCase`, with a note at each key that has another spelling ([`noted`]).
//! [`file_schema`] turns such a schema into one that accepts both, and puts `snake_case` first, as google-adk
//! writes it.

use schemars::Schema;
use serde_json::{Map, Value, json};

use crate::model::shape::{Presence, Shape, Type};

/// The other spelling of a key.
const SNAKE: &str = "x-snake";
/// Marks a value that is an object with any content.
const OBJECT: &str = "x-object";

/// The schema of a record with notes about its shape.
pub(crate) fn noted(mut schema: Schema, shape: &Shape) -> Schema {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (key, property) in properties.into_iter().flatten() {
        let Some(field) = shape.fields.iter().find(|field| field.camel == key) else { continue };
        let Some(property) = property.as_object_mut() else { continue };
        if field.snake != field.camel {
            property.insert(SNAKE.into(), field.snake.into());
        }
        if matches!(field.ty, Type::Object) {
            let optional = !matches!(field.presence, Presence::Required);
            property
                .insert(OBJECT.into(), if optional { json!(["object", "null"]) } else { json!("object") });
        }
    }
    schema
}

/// Removes the notes from a schema of shapes in memory.
pub(super) fn shapes_schema(mut schema: Value) -> Value {
    visit(&mut schema, &mut |object| {
        object.remove(SNAKE);
        object.remove(OBJECT);
    });
    schema
}

/// The schema of a file, with both spellings.
pub(super) fn file_schema(mut schema: Value) -> Value {
    visit(&mut schema, &mut |object| {
        if let Some(kind) = object.remove(OBJECT) {
            object.retain(|key, _| key == "description" || key == SNAKE);
            object.insert("type".into(), kind);
        }
        // The width of a number is irrelevant to authors of files.
        object.remove("format");
    });
    if let Some(root) = schema.as_object_mut() {
        add_other_spelling(root, "#");
        root.entry("properties").or_insert_with(|| json!({}))["$schema"] = schema_key();
        for (name, definition) in
            root.get_mut("definitions").and_then(Value::as_object_mut).into_iter().flatten()
        {
            if let Some(definition) = definition.as_object_mut() {
                add_other_spelling(definition, &format!("#/definitions/{name}"));
            }
        }
    }
    schema
}

/// The key by which editors find the schema of a file.
pub(super) fn schema_key() -> Value {
    json!({ "description": "The JSON Schema by which an editor completes this file.", "type": "string" })
}

/// Adds the other spelling to the properties of the object at a JSON pointer.
fn add_other_spelling(object: &mut Map<String, Value>, pointer: &str) {
    let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let mut both = Map::new();
    let mut spelt = Vec::new();
    for (camel, mut property) in std::mem::take(properties) {
        match property.as_object_mut().and_then(|property| property.remove(SNAKE)) {
            Some(Value::String(snake)) => {
                both.insert(camel.clone(), twin(&format!("{pointer}/properties/{snake}")));
                both.insert(snake.clone(), property);
                spelt.push((camel, snake));
            }
            _ => drop(both.insert(camel, property)),
        }
    }
    *properties = both;
    let required = object.remove("required").unwrap_or_default();
    let (mut plain, mut either) = (Vec::new(), Vec::new());
    for key in required.as_array().into_iter().flatten() {
        match spelt.iter().find(|(camel, _)| key == camel) {
            Some((camel, snake)) => {
                either.push(json!({ "oneOf": [{ "required": [snake] }, { "required": [camel] }] }))
            }
            None => plain.push(key.clone()),
        }
    }
    if !plain.is_empty() {
        object.insert("required".into(), plain.into());
    }
    if !either.is_empty() {
        object.insert("allOf".into(), either.into());
    }
}

/// A reference to the same value for a key in `camelCase`, which editors propose after `snake_case`.
pub(super) fn twin(reference: &str) -> Value {
    json!({ "$ref": reference, "suggestSortText": "~" })
}

fn visit(schema: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| visit(item, change)),
        Value::Object(object) => {
            change(object);
            object.values_mut().for_each(|value| visit(value, change));
        }
        _ => {}
    }
}
