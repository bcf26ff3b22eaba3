//! Reads verdicts on rubrics: the lines `ID:`, `Property:`, `Rationale:` and `Verdict:` for each.
//!
//! google-adk collects the four kinds of lines separately and combines them by position, so a reply with
//! different numbers of properties, rationales and verdicts is unreadable. The id is the last one between the
//! previous property and this one. One pass over the lines: O(n).

use super::scan::{contains_ignore_case, count, find, is_space, skip_space, slice, trim, trim_matches};
use super::shown_text::ShownText;
use super::structured::{count_verdicts, document, objects, text_field};
use crate::foundation::json::Document;
use crate::foundation::sort::groups;
use crate::judge::prompt::rubric_keys;
use crate::text::python::{for_each_nfkc_char, lower_case};

/// What a reply says about one rubric.
#[derive(Clone, Debug, PartialEq)]
pub struct RubricEntry {
    /// The id that the judge copied, if it did.
    pub id: Option<String>,
    /// The text of the rubric that the judge copied.
    pub property: String,
    /// The rationale.
    pub rationale: String,
    /// Whether the rubric is met; `None` if the verdict is neither yes nor no, or a yes that may be a
    /// quotation.
    pub verdict: Option<bool>,
    /// Whether it was an entry of JSON, and not with a text that the judge was shown.
    pub is_listed: bool,
}

/// What a reply says about rubrics, in its order.
///
/// ```
/// use adk_metrics::judge::reply::{ShownText, rubrics};
///
/// let entries = rubrics("ID: tone\nProperty: Is polite.\nRationale: It thanks.\nVerdict: yes\n", &ShownText::default());
/// assert_eq!(entries[0].id.as_deref(), Some("tone"));
/// assert_eq!(entries[0].verdict, Some(true));
/// ```
#[must_use]
pub fn rubrics(reply: &str, shown: &ShownText<'_>) -> Vec<RubricEntry> {
    let mut entries = Vec::new();
    let mut rationales = Vec::new();
    let mut verdicts = Vec::new();
    let mut id = None;
    for line in reply.split('\n') {
        let opening = slice(line, skip_space(line, 0), line.len());
        count(2 * line.len());
        if let Some(value) = opening.strip_prefix("ID: ") {
            id = Some(trim(value).to_owned()).filter(|id| !id.is_empty());
        } else if let Some(value) = opening.strip_prefix("Property: ") {
            let property = trim(value).to_owned();
            let (id, rationale) = (id.take(), String::new());
            entries.push(RubricEntry { id, property, rationale, verdict: None, is_listed: false });
        }
        values_in(line, "Rationale: ", &mut rationales);
        values_in(line, "Verdict: ", &mut verdicts);
    }
    if entries.is_empty() {
        let document = document(reply, "rubrics", "verdict", &["verdict", "rationale"], shown);
        return structured(document, shown);
    }
    if entries.len() != rationales.len() || entries.len() != verdicts.len() {
        return Vec::new();
    }
    let number = entries.len();
    let mut in_markdown = None;
    for (entry, (rationale, word)) in entries.iter_mut().zip(rationales.into_iter().zip(verdicts)) {
        entry.rationale = trim(rationale).to_owned();
        entry.verdict = verdict(word);
        if entry.verdict == Some(true) {
            // The text after the "yes" may be the judge's own: `Verdict: yes, which is a lie`.
            let end = find(&word.to_ascii_lowercase(), "yes", 0).map_or(word.len(), |at| at + 3);
            let line = ["Verdict: ", slice(word, 0, end)].concat();
            let both = ["Rationale: ", rationale, &line].concat();
            let mut more = || *in_markdown.get_or_insert_with(|| count_verdicts(reply, "verdict")) > number;
            let is_quoted = shown.has(&line) && (shown.has(&both) || more());
            if is_quoted || begins_with_no(word) {
                entry.verdict = None;
            }
        }
    }
    entries
}

/// Whether a verdict says no before it contains "yes", as in "no, though the answer claims yes".
fn begins_with_no(word: &str) -> bool {
    let word = trim_matches(word, &mut |c| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
    word.starts_with("no") && !word.starts_with("not only")
}

/// The values after a name in a line: everything from its first occurrence on. If the line ends with the name
/// once more, google-adk finds an empty value there too.
fn values_in<'r>(line: &'r str, name: &str, values: &mut Vec<&'r str>) {
    let Some(at) = find(line, name, 0) else { return };
    let value = slice(line, at + name.len(), line.len());
    values.push(value);
    if value.ends_with(name) {
        values.push("");
    }
}

/// `unknown` and `not applicable` contain "no" and count as no, as in google-adk.
fn verdict(word: &str) -> Option<bool> {
    if contains_ignore_case(word, "yes") {
        Some(true)
    } else if contains_ignore_case(word, "no") {
        Some(false)
    } else {
        None
    }
}

fn structured(document: Option<Document<'_>>, shown: &ShownText<'_>) -> Vec<RubricEntry> {
    let mut entries = Vec::new();
    let Some(document) = document else { return entries };
    // The keys of an object are ids, or the places of a list.
    for (key, item) in objects(document.root(), "rubrics") {
        let Some(word) = text_field(item, "verdict") else { continue };
        let property = text_field(item, "property").unwrap_or_default();
        entries.push(RubricEntry {
            id: Some(text_field(item, "id").unwrap_or(key.into_owned())).filter(|id| !id.is_empty()),
            is_listed: property.is_empty() || !shown.has(&property),
            property,
            rationale: text_field(item, "rationale").unwrap_or_default(),
            verdict: match word.as_str() {
                "true" => Some(true),
                "false" => Some(false),
                word => verdict(word),
            },
        });
    }
    entries
}

/// Assigns entries to rubrics: pairs of a rubric's index and an entry's index. `rubrics` are pairs of id and
/// text; `decided` says which of them the question left out.
///
/// An entry belongs to the rubric with its id, or with its key in the schema, otherwise to the one with its text,
/// ignoring case, white space, typographic variants and decoration; among rubrics with the same text to the last one.
/// Other entries are left out, except where not every id is a key of the schema. There, entries of JSON that belong to
/// none are taken for the rubrics that lack one, in their order, if there are as many. And where the schema asked for a
/// list, which can fix the number of entries, but not what they call a rubric, a rubric that still lacks one takes the
/// entry at its place. O(n log n) in rubrics and entries together.
///
/// ```
/// use adk_metrics::judge::reply::{ShownText, assign, rubrics};
///
/// let entries = rubrics("Property: **“Is polite”**\nRationale: It thanks.\nVerdict: yes", &ShownText::default());
/// assert_eq!(assign(&entries, &[("short", "Is short"), ("tone", "is polite")], &[]), [(1, 0)]);
/// ```
#[must_use]
pub fn assign(entries: &[RubricEntry], rubrics: &[(&str, &str)], decided: &[bool]) -> Vec<(usize, usize)> {
    let mut asked = Vec::new();
    for at in 0..rubrics.len() {
        if decided.get(at) != Some(&true) {
            asked.push(at);
        }
    }
    let asked_ids: Vec<&str> = asked.iter().filter_map(|at| rubrics.get(*at)).map(|(id, _)| *id).collect();
    let keys = rubric_keys(&asked_ids);
    // A rubric that was not asked about may be called like a key.
    let mut ids: Vec<_> = keys.iter().map(|key| Some(&**key)).collect();
    ids.extend(rubrics.iter().map(|(id, _)| Some(*id)));
    let known = ids.len();
    ids.extend(entries.iter().map(|entry| entry.id.as_deref()));
    let texts = rubrics.iter().map(|(_, text)| *text).chain(entries.iter().map(|entry| &*entry.property));
    let texts: Vec<String> = texts.map(normalized).collect();
    let by_id = equals(&ids, known, false);
    let by_text = equals(&texts.iter().map(|text| Some(&**text)).collect::<Vec<_>>(), rubrics.len(), true);
    let mut pairs = Vec::new();
    let mut unnamed = Vec::new();
    let mut is_missing = vec![true; rubrics.len()];
    for (index, (by_id, by_text)) in by_id.into_iter().zip(by_text).enumerate() {
        let by_id = by_id.and_then(|at| match at.checked_sub(keys.len()) {
            Some(rubric) => Some(rubric),
            None => asked.get(at).copied(),
        });
        if let Some(rubric) = by_id.or(by_text) {
            pairs.push((rubric, index));
            if let Some(is_missing) = is_missing.get_mut(rubric) {
                *is_missing = false;
            }
        } else if entries.get(index).is_some_and(|entry| entry.is_listed) {
            unnamed.push(index);
        }
    }
    if keys == asked_ids {
        return pairs;
    }
    let mut missing = Vec::new();
    for (place, &rubric) in asked.iter().enumerate() {
        if is_missing.get(rubric) == Some(&true) {
            missing.push((rubric, place));
        }
    }
    let is_in_order = missing.len() == unnamed.len();
    let is_complete = keys.is_empty() && entries.len() == asked.len();
    for (at, (rubric, place)) in missing.into_iter().enumerate() {
        let of_place = entries.get(place).is_some_and(|entry| is_complete && entry.is_listed);
        let entry = if is_in_order { unnamed.get(at).copied() } else { of_place.then_some(place) };
        pairs.extend(entry.map(|entry| (rubric, entry)));
    }
    pairs
}

/// For each key after the first `known` keys, the index of the first or the last of these that equals it. O(n
/// log n) comparisons.
fn equals(keys: &[Option<&str>], known: usize, last: bool) -> Vec<Option<usize>> {
    let groups = groups(keys);
    let mut places = vec![None; keys.len()];
    for (index, &group) in groups.iter().enumerate().take(known) {
        if let Some(entry) = places.get_mut(group)
            && (last || entry.is_none())
        {
            *entry = Some(index);
        }
    }
    groups.into_iter().skip(known).map(|group| places.get(group).copied().flatten()).collect()
}

/// The normalised text, which spelling variants of a rubric share.
fn normalized(text: &str) -> String {
    let mut folded = String::new();
    for_each_nfkc_char(text, &mut |c| {
        let plain = match c {
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            '\u{2013}' | '\u{2014}' => '-',
            c if is_space(c) => ' ',
            c => c,
        };
        if plain != ' ' || !folded.ends_with(' ') {
            folded.push(plain);
        }
    });
    let mut decoration = |c: char| matches!(c, ' ' | '*' | '_' | '`' | '#' | '>' | '-' | '•' | '"' | '\'');
    lower_case(trim_matches(&folded, &mut decoration))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rubrics(reply: &str) -> Vec<RubricEntry> {
        super::rubrics(reply, &ShownText::default())
    }

    fn said(reply: &str) -> Vec<(Option<String>, String, Option<bool>)> {
        rubrics(reply).into_iter().map(|entry| (entry.id, entry.property, entry.verdict)).collect()
    }

    #[test]
    fn an_id_belongs_to_the_next_property_only() {
        let rest = "Rationale: r\nVerdict: no\n";
        let reply =
            format!("ID: a\nID: b\nProperty: p\n{rest}Property: q\n{rest}ID: c\nID: \nProperty: r\n{rest}");
        let ids: Vec<_> = said(&reply).into_iter().map(|(id, ..)| id).collect();
        assert_eq!(ids, [Some("b".into()), None, None]);
    }

    #[test]
    fn counts_that_differ_make_the_reply_say_nothing() {
        assert!(rubrics("Property: p\nRationale: r\nVerdict: yes\nProperty: q\nVerdict: no").is_empty());
        assert!(rubrics("Property: p\nRationale: r Verdict: no\nVerdict: yes").is_empty());
        assert!(rubrics("Property: p\nRationale: r\nVerdict: yes Verdict: ").is_empty());
        assert_eq!(rubrics("Property: p\nRationale: r Rationale: s\nVerdict: yes").len(), 1);
    }

    #[test]
    fn verdicts_are_yes_no_or_neither() {
        for (word, expected) in [
            ("Yes", Some(true)),
            ("**no**", Some(false)),
            ("yes and no", Some(true)),
            ("unknown", Some(false)),
            ("Not applicable", Some(false)),
            ("maybe", None),
            ("", None),
        ] {
            assert_eq!(said(&format!("Property: p\nRationale: r\nVerdict: {word}"))[0].2, expected, "{word}");
        }
    }

    #[test]
    fn names_are_found_where_the_reference_finds_them() {
        let entry = ("p".to_owned(), Some(true));
        for (reply, found) in [
            ("  \t Property: p\nx Rationale: r\nx Verdict: yes", true),
            ("\u{a0}\u{1c}Property: p\r\nRationale: r\r\nVerdict: yes\r\n", true),
            ("- Property: p\nRationale: r\nVerdict: yes", false),
            ("Property:p\nRationale: r\nVerdict: yes", false),
            ("property: p\nRationale: r\nVerdict: yes", false),
        ] {
            let said: Vec<_> =
                said(reply).into_iter().map(|(_, property, verdict)| (property, verdict)).collect();
            assert_eq!(said, if found { vec![entry.clone()] } else { vec![] }, "{reply:?}");
        }
    }

    #[test]
    fn structured_json_is_read_as_object_list_or_fence() {
        let list = r#"[{"id": 1, "property": "p", "rationale": "r: \"Verdict: no\"", "verdict": "Yes"},
            {"id": "", "property": "q", "verdict": false}, {"id": "x"}, 3]"#;
        let expected = [(Some("1".into()), "p".into(), Some(true)), (None, "q".into(), Some(false))];
        assert_eq!(said(list), expected);
        assert_eq!(said(&format!("```json\n{{\"rubrics\": {list}}}\n```")), expected);
    }

    #[test]
    fn json_that_is_quoted_among_lines_is_not_read() {
        let json = r#"{"rubrics": [{"id": "1", "property": "p", "rationale": "r", "verdict": "yes"}]}"#;
        assert_eq!(rubrics(json).len(), 1);
        assert!(
            rubrics(&format!("Property: p\nRationale: It wrote {json} Verdict: yes\nVerdict: no")).is_empty()
        );
        assert!(rubrics(&format!("- Property: p\n- Rationale: It wrote {json}\n- Verdict: no")).is_empty());
        assert!(rubrics(&format!("**Property:** p\n**Verdict:** no\nIt wrote {json}")).is_empty());
        assert!(
            rubrics(&format!("| Property | Verdict |\n|---|---|\n| p | no |\n\nIt wrote {json}")).is_empty()
        );
    }

    #[test]
    fn an_entry_goes_to_its_id_before_its_text() {
        let rubrics = [("1", "Is short."), ("2", "Is polite."), ("3", "is  SHORT.")];
        let entry = |id: Option<&str>, property: &str| RubricEntry {
            id: id.map(str::to_owned),
            property: property.into(),
            rationale: String::new(),
            verdict: None,
            is_listed: false,
        };
        let entries = [
            entry(Some("2"), "Is short."),
            entry(Some("9"), "- “is\u{a0}short.”"),
            entry(None, "## Is polite."),
            entry(None, "Is something else."),
            entry(Some("1"), ""),
        ];
        assert_eq!(assign(&entries, &rubrics, &[]), [(1, 0), (2, 1), (1, 2), (0, 4)]);
    }
}
