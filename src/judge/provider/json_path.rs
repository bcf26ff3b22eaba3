//! Lookups in the JSON of an answer, in which anything may be missing or have another type.
//!
//! Plain functions rather than chains of options: a protocol is read once per call, and each chain would be
//! compiled separately.

use crate::foundation::json::Json;

/// The value at a path of keys, where `0` is the first item of an array: `choices/0/message`. An empty path is
/// the value itself. Null counts as missing. O(n) in the objects on the path.
pub(super) fn get<'a>(json: Json<'a>, path: &str) -> Option<Json<'a>> {
    let (mut json, mut path) = (json, path);
    loop {
        let (key, rest) = path.split_once('/').unwrap_or((path, ""));
        json = match key {
            "" => json,
            "0" => json.items().next()?,
            _ => json.get(key)?,
        };
        if rest.is_empty() {
            return (!json.is_null()).then_some(json);
        }
        path = rest;
    }
}

/// The string at a path, or an empty one.
pub(super) fn string(json: Json<'_>, path: &str) -> String {
    match get(json, path).and_then(Json::as_str) {
        Some(text) => text.into_owned(),
        None => String::new(),
    }
}

/// The string at a path, unless it is missing or empty.
pub(super) fn string_at(json: Json<'_>, path: &str) -> Option<String> {
    Some(string(json, path)).filter(|text| !text.is_empty())
}

/// Whether the value at a path is `true`.
pub(super) fn is_true(json: Json<'_>, path: &str) -> bool {
    get(json, path).and_then(Json::as_bool) == Some(true)
}

/// Calls `then` with each item of the array at a path.
pub(super) fn for_each(json: Json<'_>, path: &str, then: &mut dyn FnMut(Json<'_>)) {
    if let Some(array) = get(json, path) {
        for item in array.items() {
            then(item);
        }
    }
}

/// Appends the strings under `text` of those items of an array that have a type, or of all items if `kind` is
/// empty.
pub(super) fn append_strings(json: Json<'_>, path: &str, kind: &str, out: &mut String) {
    for_each(json, path, &mut |part| {
        if kind.is_empty() || string(part, "type") == kind {
            out.push_str(&string(part, "text"));
        }
    });
}

/// A whole number that is not negative.
pub(super) fn whole(json: Json<'_>) -> Option<u64> {
    json.as_number()?.parse().ok()
}

/// A token count: the sum of the numbers at the paths; `None` if all are missing.
pub(super) fn tokens(json: Json<'_>, paths: &[&str]) -> Option<u64> {
    let mut sum: Option<u64> = None;
    for path in paths {
        if let Some(count) = get(json, path).and_then(whole) {
            sum = Some(sum.unwrap_or(0).saturating_add(count));
        }
    }
    sum
}
