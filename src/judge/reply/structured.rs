//! Finds JSON in a reply: alone, in a code fence, or after prose.
//!
//! A judge may quote JSON that someone wrote for it to quote. So JSON after prose counts only at the end of a
//! reply, if its key occurs nowhere else in the reply, if the prose gives no verdict of its own, and if the
//! judge was not shown it. All attempts together read at most a fixed multiple of the reply, so this is O(n)
//! for any reply.

use std::borrow::Cow;

use super::scan::{count, find, slice, span_end, trim};
use super::shown_text::ShownText;
use crate::foundation::json::{Document, Json, JsonKind};

/// How many times the length of the reply may be read. Replies that wrap the answer in nested objects need far
/// less.
const MAX_PASSES: usize = 16;

/// The most bytes that are read in all of them, which is less for long replies.
const MAX_BYTES: usize = 1 << 22;

/// The object with the key, or the list of objects with `item_key`: the whole reply, or its end. An enclosing
/// object may have no other entries. `names` are the names by which prose gives verdicts.
pub(super) fn document<'r>(
    reply: &'r str,
    key: &str,
    item_key: &str,
    names: &[&str],
    shown: &ShownText<'_>,
) -> Option<Document<'r>> {
    let text = unfenced(reply);
    if let Some(document) = whole(reply) {
        return wanted(text, &document, key, item_key);
    }
    if !occurs_once_at_most(reply, key) {
        return None;
    }
    let text = trim(reply);
    let text = text.strip_suffix("```").map_or(text, trim);
    let (open, document) = last(text)?;
    let document = wanted(slice(text, open, text.len()), &document, key, item_key)?;
    let is_own = !gives_verdict(slice(text, 0, open), names) && !shown.has(document.root().raw());
    is_own.then_some(document)
}

/// The JSON at the end of a text, and where it begins.
fn last(text: &str) -> Option<(usize, Document<'_>)> {
    let bytes = text.as_bytes();
    let mut budget = (MAX_PASSES * text.len()).min(MAX_BYTES);
    let mut at = 0;
    while let Some(step) = bytes.get(at..)?.iter().position(|byte| matches!(byte, b'{' | b'[')) {
        count(step);
        let open = at + step;
        at = open + 1;
        let (end, closed) = balanced(bytes, open);
        budget = budget.checked_sub(end - open)?;
        if !closed {
            continue;
        }
        // JSON nested inside may be a quotation.
        at = end;
        if end == text.len() {
            count(end - open);
            return Document::parse(slice(text, open, end)).ok().map(|document| (open, document));
        }
    }
    None
}

/// The wanted value: the value itself, or the only one in it.
fn wanted<'r>(text: &'r str, document: &Document<'r>, key: &str, item_key: &str) -> Option<Document<'r>> {
    let mut json = document.root();
    while !is_wanted(json, key, item_key) {
        let mut entries = json.entries();
        match (entries.next(), entries.next()) {
            (Some((_, only)), None) => json = only,
            _ => return None,
        }
    }
    let (start, end) = json.span();
    Document::parse(slice(text, start as usize, end as usize)).ok()
}

/// Whether prose gives a verdict under one of the names, with any Markdown: `**Verdict:** no`, `| label |`.
pub(super) fn gives_verdict(prose: &str, names: &[&str]) -> bool {
    names.iter().any(|name| count_verdicts(prose, name) > 0)
}

/// How often prose gives a value under a name, which is lower-case ASCII.
pub(super) fn count_verdicts(prose: &str, name: &str) -> usize {
    let folded = prose.to_ascii_lowercase();
    let mut number = 0;
    let mut from = 0;
    while let Some(at) = find(&folded, name, from) {
        from = at + name.len();
        let end = span_end(&folded, from, &mut |c| matches!(c, '*' | '_' | '`' | '"' | '\'' | ' ' | '\t'));
        if matches!(folded.as_bytes().get(end), Some(b':' | b'|' | b'=')) {
            let is_decoration = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`' | '|' | '-' | ':');
            let rest = slice(&folded, end + 1, folded.len());
            count(rest.len().min(200));
            let said = rest.chars().take(200).find(|c| !is_decoration(*c));
            // The `json` after an opening code fence is no value. Each position is searched only once.
            let begins = span_end(rest, 0, &mut { is_decoration });
            let is_fence = slice(rest, begins, rest.len())
                .strip_prefix("json")
                .is_some_and(|behind| span_end(behind, 0, &mut { is_decoration }) == behind.len());
            number += usize::from(said.is_some() && !is_fence);
        }
    }
    number
}

/// Whether the quoted key occurs at most once in the reply.
pub(super) fn occurs_once_at_most(reply: &str, key: &str) -> bool {
    let quoted = ["\"", key, "\""].concat();
    find(reply, &quoted, 0).is_none_or(|at| find(reply, &quoted, at + quoted.len()).is_none())
}

/// The reply as a single JSON value, ignoring white space and a code fence around it.
pub(super) fn whole(reply: &str) -> Option<Document<'_>> {
    let text = unfenced(reply);
    matches!(text.as_bytes().first(), Some(b'{' | b'[')).then(|| Document::parse(text).ok())?
}

/// The reply without white space and a code fence around it.
pub(super) fn unfenced(reply: &str) -> &str {
    let text = trim(reply);
    let inner = text.strip_prefix("```json").or(text.strip_prefix("```"));
    inner.and_then(|text| text.strip_suffix("```")).map_or(text, trim)
}

/// The value of an object's key, which may be written in any case.
pub(super) fn field<'j>(object: Json<'j>, key: &str) -> Option<Json<'j>> {
    for (name, value) in object.entries() {
        if name.eq_ignore_ascii_case(key) {
            return Some(value);
        }
    }
    None
}

/// The objects of a list, or of an object in place of one, each with its key, which is empty in a list: those of the
/// value itself if it is a list, or of the value under the key.
pub(super) fn objects<'j>(json: Json<'j>, key: &str) -> Vec<(Cow<'j, str>, Json<'j>)> {
    let mut objects = Vec::new();
    let list = if json.kind() == JsonKind::Array { Some(json) } else { field(json, key) };
    let Some(list) = list else { return objects };
    for item in list.items() {
        objects.push((Cow::Borrowed(""), item));
    }
    objects.extend(list.entries());
    objects.retain(|(_, item)| item.kind() == JsonKind::Object);
    objects
}

/// The trimmed string under a key. Other values except null are returned as written.
pub(super) fn text_field(object: Json<'_>, key: &str) -> Option<String> {
    let value = field(object, key).filter(|value| !value.is_null())?;
    let text = value.as_str().unwrap_or(Cow::Borrowed(value.raw()));
    Some(trim(&text).to_owned())
}

fn is_wanted(json: Json<'_>, key: &str, item_key: &str) -> bool {
    match json.items().next() {
        Some(item) => field(item, item_key).is_some(),
        None => field(json, key).is_some(),
    }
}

/// Where the brackets opened at `open` are all closed, and whether they are.
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
        let found = document(reply, "a", "b", &["mark"], &ShownText::from_prompt("It says {\"a\": 77}."));
        found.map(|document| document.root().raw().to_owned())
    }

    #[test]
    fn json_is_found_after_prose() {
        assert_eq!(raw("no"), None);
        assert_eq!(raw("so {it} [1] is: {\"a\": \"}\"}\n").as_deref(), Some("{\"a\": \"}\"}"));
        assert_eq!(raw("{\"a\": {\"a\": 1}}").as_deref(), Some("{\"a\": {\"a\": 1}}"));
        assert_eq!(raw("{\"answer\": {\"a\": 1}}").as_deref(), Some("{\"a\": 1}"));
        assert_eq!(raw("So: {\"answer\": {\"a\": 1}}").as_deref(), Some("{\"a\": 1}"));
        assert_eq!(raw("My mark:\n```json\n{\"a\": 1}\n```").as_deref(), Some("{\"a\": 1}"));
        assert_eq!(raw("{ [{\"b\": 1}]").as_deref(), Some("[{\"b\": 1}]"));
        assert_eq!(raw("{\"a\": \"\\\"}\"").as_deref(), None);
    }

    #[test]
    fn json_that_may_be_a_quotation_is_left_alone() {
        assert_eq!(raw("it wrote {\"a\": 1}, so {\"a\": 2}"), None);
        assert_eq!(raw("it wrote {\"a\": 1}, which is wrong"), None);
        assert_eq!(raw("it wrote {\"a\": 77}"), None);
        assert_eq!(raw("**Mark:** 3, for it wrote {\"a\": 1}"), None);
        assert_eq!(raw("| Mark |\n|---|\n| 3 |\n{\"a\": 1}"), None);
        assert_eq!(raw("{\"quote\": {\"a\": 1}, \"mark\": 0}"), None);
        assert_eq!(raw("{\"why\": \"it wrote {\"a\": 1}.\"}"), None);
        assert_eq!(
            raw(r#"So: {"why": "it wrote {\"a\": 1}.", "a": 2}"#).as_deref(),
            Some(r#"{"why": "it wrote {\"a\": 1}.", "a": 2}"#)
        );
    }

    #[test]
    fn a_long_end_of_the_prose_is_looked_at_once() {
        let prose = ["score: 1 ".repeat(1_000), "-".repeat(10_000)].concat();
        let work = super::super::scan::measured_work(|| assert_eq!(count_verdicts(&prose, "score"), 1_000));
        assert!(work <= 60 * prose.len(), "{work} steps for {} bytes", prose.len());
        for (prose, number) in [("score:\n```json\n", 0), ("score: ```json ```\n--", 0), ("score: json 1", 1)]
        {
            assert_eq!(count_verdicts(prose, "score"), number, "{prose:?}");
        }
    }

    #[test]
    fn the_whole_reply_may_be_in_a_code_fence() {
        for reply in ["{\"a\":1}", " ```json\n{\"a\":1}\n``` ", "```\n{\"a\":1}```"] {
            assert_eq!(whole(reply).unwrap().root().raw(), "{\"a\":1}");
        }
        assert!(whole("{\"a\":1} {}").is_none());
        assert!(whole("so: {\"a\":1}").is_none());
    }
}
