//! JSON in a reply: alone, in a code fence, or with prose around it.
//!
//! Each `{` and `[` may begin a value, which ends where its brackets close. A judge may also quote
//! JSON that someone wrote for it to quote: where it is not clear which JSON is the judge's, there is
//! none. All attempts together may look at a fixed multiple of the reply, so O(n) whatever it holds.

use std::borrow::Cow;

use super::scan::{after, count, find, slice, trim, trimmed};
use crate::model::json::{Document, Json, Kind};

/// How often the reply may be looked at. The nesting of a reply that wraps the answer in objects
/// of its own is well below it.
const LOOKS: usize = 16;

/// The value that is an object with the key, or a list of objects with `item_key`: the whole reply,
/// or else the last such value in it, if the reply has the key only once.
pub(super) fn document<'r>(reply: &'r str, key: &str, item_key: &str) -> Option<Document<'r>> {
    if let Some(document) = whole(reply)
        && is_wanted(document.root(), key, item_key)
    {
        return Some(document);
    }
    if !occurs_once_at_most(reply, key) {
        return None;
    }
    let bytes = reply.as_bytes();
    let mut budget = LOOKS * reply.len();
    let mut found = None;
    let mut at = 0;
    while let Some(step) = bytes.get(at..)?.iter().position(|byte| matches!(byte, b'{' | b'[')) {
        count(step);
        let open = at + step;
        at = open + 1;
        let (end, closed) = balanced(bytes, open);
        match budget.checked_sub(end - open) {
            Some(rest) => budget = rest,
            None => break,
        }
        if !closed {
            continue;
        }
        count(end - open);
        match Document::parse(slice(reply, open, end)) {
            Ok(document) if is_wanted(document.root(), key, item_key) => {
                found = Some(document);
                at = end;
            }
            // The answer may stand inside.
            Ok(_) => {}
            // What stands inside may be a quotation that was not escaped.
            Err(_) => at = end,
        }
    }
    found
}

/// Whether a key, in its quotes, is in the reply no more than once.
pub(super) fn occurs_once_at_most(reply: &str, key: &str) -> bool {
    let quoted = ["\"", key, "\""].concat();
    find(reply, &quoted, 0).is_none_or(|at| find(reply, &quoted, at + quoted.len()).is_none())
}

/// The reply as one value, but for white space and a code fence around it.
pub(super) fn whole(reply: &str) -> Option<Document<'_>> {
    let text = trim(reply);
    let inner = after(text, "```json").or(after(text, "```"));
    let text = inner.and_then(|text| text.strip_suffix("```")).map_or(text, trim);
    matches!(text.as_bytes().first(), Some(b'{' | b'[')).then(|| Document::parse(text).ok())?
}

/// The value of a key of an object, in whatever case the key is written.
pub(super) fn field<'j>(object: Json<'j>, key: &str) -> Option<Json<'j>> {
    for (name, value) in object.entries() {
        if name.eq_ignore_ascii_case(key) {
            return Some(value);
        }
    }
    None
}

/// The objects of a list: the value itself, or what it has under the key.
pub(super) fn objects<'j>(json: Json<'j>, key: &str) -> Vec<Json<'j>> {
    let mut objects = Vec::new();
    let list = if json.kind() == Kind::Array { Some(json) } else { field(json, key) };
    let Some(list) = list else { return objects };
    for item in list.items() {
        if item.kind() == Kind::Object {
            objects.push(item);
        }
    }
    objects
}

/// A text under a key, trimmed: a string, or any other value but null as it is written.
pub(super) fn text_field(object: Json<'_>, key: &str) -> Option<String> {
    let value = field(object, key).filter(|value| !value.is_null())?;
    let text = value.as_str().unwrap_or(Cow::Borrowed(value.raw()));
    Some(trimmed(&text))
}

fn is_wanted(json: Json<'_>, key: &str, item_key: &str) -> bool {
    match json.items().next() {
        Some(item) => field(item, item_key).is_some(),
        None => field(json, key).is_some(),
    }
}

/// Where the brackets that open at a place are all closed, and whether they ever are.
fn balanced(bytes: &[u8], open: usize) -> (usize, bool) {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut escaped = false;
    let mut end = open;
    for byte in bytes.get(open..).unwrap_or_default() {
        end += 1;
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            count(end - open);
            return (end, true);
        }
    }
    count(end - open);
    (end, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(reply: &str) -> Option<String> {
        document(reply, "a", "b").map(|document| document.root().raw().to_owned())
    }

    #[test]
    fn json_is_found_in_prose() {
        assert_eq!(raw("no"), None);
        assert_eq!(raw("so {it} [1] is: {\"a\": \"}\"}.").as_deref(), Some("{\"a\": \"}\"}"));
        assert_eq!(raw("{\"a\": {\"a\": 1}}").as_deref(), Some("{\"a\": {\"a\": 1}}"));
        assert_eq!(raw("{\"answer\": {\"a\": 1}}").as_deref(), Some("{\"a\": 1}"));
        assert_eq!(raw("{ [{\"b\": 1}]").as_deref(), Some("[{\"b\": 1}]"));
        assert_eq!(raw("{\"a\": \"\\\"}\"").as_deref(), None);
    }

    #[test]
    fn json_that_may_be_a_quotation_is_left_alone() {
        assert_eq!(raw("it wrote {\"a\": 1}, so {\"a\": 2}"), None);
        assert_eq!(raw("{\"why\": \"it wrote {\"a\": 1}.\"}"), None);
        assert_eq!(
            raw(r#"{"why": "it wrote {\"a\": 1}.", "a": 2} or so"#).as_deref(),
            Some(r#"{"why": "it wrote {\"a\": 1}.", "a": 2}"#)
        );
    }

    #[test]
    fn the_whole_reply_may_stand_in_a_fence() {
        for reply in ["{\"a\":1}", " ```json\n{\"a\":1}\n``` ", "```\n{\"a\":1}```"] {
            assert_eq!(whole(reply).unwrap().root().raw(), "{\"a\":1}");
        }
        assert!(whole("{\"a\":1} {}").is_none());
        assert!(whole("so: {\"a\":1}").is_none());
    }
}
