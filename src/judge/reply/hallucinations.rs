//! Reads the two replies of `hallucinations_v1`: sentences in tags, then a block of fields for each sentence.
//!
//! A validator's block begins at the next `sentence:` anywhere. Its other fields follow in order, each after a
//! line break, and each value extends to the next field, so a block that lacks a field swallows the text after
//! it. Names are matched as by Python's `re.IGNORECASE`, which accepts `ſ` for s, and `İ` and `ı` for i. A
//! field that is missing from here on is also missing later, so nothing is searched twice: O(n).

use super::shown_text::ShownText;
use std::cell::OnceCell;

use super::scan::{count, find, slice, span_end, trim};
use super::structured::{document, field, objects, text_field, whole};
use crate::foundation::json::Document;

const OPEN: &str = "<sentence>";
const CLOSE: &str = "</sentence>";
const FIELDS: [&str; 4] = ["\nlabel:", "\nrationale:", "\nsupporting_excerpt:", "\ncontradicting_excerpt:"];

/// What a validator says about one sentence. All strings are trimmed.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// The sentence as the judge copied it.
    pub sentence: String,
    /// The label as written; [`Validation::is_supported`] reads it.
    pub label: String,
    /// The rationale.
    pub rationale: String,
    /// What in the context supports the sentence.
    pub supporting_excerpt: Option<String>,
    /// What in the context contradicts it.
    pub contradicting_excerpt: Option<String>,
}

impl Validation {
    /// What the label contributes to the score: `supported` and `not_applicable` count 1; `unsupported`,
    /// `contradictory` and `disputed` count 0; sentences with other labels are not counted.
    #[must_use]
    pub fn is_supported(&self) -> Option<bool> {
        let label = self.label.to_ascii_lowercase();
        match &*label {
            "supported" | "not_applicable" => Some(true),
            "unsupported" | "contradictory" | "disputed" => Some(false),
            _ => None,
        }
    }
}

/// The sentences of a segmenter's reply: the texts between its tags, unchanged.
///
/// A reply that is, as a whole, JSON with a list `sentences` is read as JSON before tags are searched: the
/// response under evaluation may contain such tags itself.
///
/// ```
/// use adk_metrics::judge::reply::{ShownText, sentences};
///
/// let shown = ShownText::default();
/// let reply = "<sentence>Hi.</sentence>\n<sentence>It rains.</sentence>";
/// assert_eq!(sentences(reply, &shown), ["Hi.", "It rains."]);
/// assert_eq!(sentences(r#"{"sentences": ["Hi.", "It rains."]}"#, &shown), ["Hi.", "It rains."]);
/// ```
#[must_use]
pub fn sentences(reply: &str, shown: &ShownText<'_>) -> Vec<String> {
    let listed = listed(whole(reply));
    if !listed.is_empty() || shown.has(OPEN) || shown.has(CLOSE) {
        return listed;
    }
    let mut sentences = Vec::new();
    let mut from = 0;
    while let Some(open) = find(reply, OPEN, from)
        && let Some(close) = find(reply, CLOSE, open + OPEN.len())
    {
        sentences.push(slice(reply, open + OPEN.len(), close).to_owned());
        from = close + CLOSE.len();
    }
    if sentences.is_empty() { self::listed(document(reply, "sentences", "", &[], shown)) } else { sentences }
}

fn listed(document: Option<Document<'_>>) -> Vec<String> {
    let mut sentences = Vec::new();
    let Some(document) = document else { return sentences };
    let Some(list) = field(document.root(), "sentences") else { return sentences };
    for sentence in list.items() {
        if let Some(text) = sentence.as_str() {
            sentences.push(text.into_owned());
        }
    }
    sentences
}

/// What a validator's reply says, sentence by sentence. A block in favour of a sentence is left out if it is a
/// quotation of what the judge was shown.
///
/// ```
/// use adk_metrics::judge::reply::{ShownText, validations};
///
/// let reply = "sentence: It rains.\nlabel: supported\nrationale: It says so.\n\
///              supporting_excerpt: Rain all day.\ncontradicting_excerpt: null\n";
/// let found = validations(reply, &ShownText::default());
/// assert_eq!(found[0].is_supported(), Some(true));
/// assert_eq!(found[0].contradicting_excerpt, None);
/// ```
#[must_use]
pub fn validations(reply: &str, shown: &ShownText<'_>) -> Vec<Validation> {
    let text = trim(reply);
    let mut validations = Vec::new();
    let mut from = 0;
    let mut has_blocks = false;
    // The label may be written in any case.
    let was_shown = |label| shown.has(&["label:", label, "rationale:"].concat());
    let [supported, not_applicable] = [OnceCell::new(), OnceCell::new()];
    while let Some((next, block)) = block(text, from) {
        has_blocks = true;
        let is_quoted = match &*block.label.to_ascii_lowercase() {
            "supported" => *supported.get_or_init(|| was_shown("supported")),
            "not_applicable" => *not_applicable.get_or_init(|| was_shown("not_applicable")),
            _ => false,
        };
        if !is_quoted {
            validations.push(block);
        }
        from = next;
    }
    if has_blocks { validations } else { structured(reply, shown) }
}

/// The next block at or after `from`, and where it ends.
fn block(text: &str, from: usize) -> Option<(usize, Validation)> {
    let (_, mut at) = find_name(text, "sentence:", from)?;
    let mut values = [const { String::new() }; 4];
    for (name, value) in FIELDS.iter().zip(&mut values) {
        let (start, end) = find_name(text, name, at)?;
        *value = trim(slice(text, at, start)).to_owned();
        at = end;
    }
    let end = find_name(text, "\nsentence:", at).map_or(text.len(), |(start, _)| start);
    let [sentence, label, rationale, supporting] = values;
    let contradicting = trim(slice(text, at, end)).to_owned();
    let validation = Validation {
        sentence,
        label,
        rationale,
        supporting_excerpt: excerpt(supporting),
        contradicting_excerpt: excerpt(contradicting),
    };
    Some((end, validation))
}

fn excerpt(text: String) -> Option<String> {
    if text.eq_ignore_ascii_case("null") { None } else { Some(text) }
}

/// The range of a name at or after `from`. The name is lower-case ASCII and matches in any case.
fn find_name(text: &str, name: &str, from: usize) -> Option<(usize, usize)> {
    let first = *name.as_bytes().first()?;
    for (step, c) in slice(text, from, text.len()).char_indices() {
        if is_same(c, first) {
            let start = from + step;
            let mut left = name.as_bytes();
            let end = span_end(text, start, &mut |c| match left {
                [expected, rest @ ..] if is_same(c, *expected) => {
                    left = rest;
                    true
                }
                _ => false,
            });
            if left.is_empty() {
                count(step);
                return Some((start, end));
            }
        }
    }
    count(text.len() - from);
    None
}

fn is_same(found: char, expected: u8) -> bool {
    let folded = match found {
        'ſ' => 's',
        'İ' | 'ı' => 'i',
        found => found.to_ascii_lowercase(),
    };
    folded == char::from(expected)
}

fn structured(reply: &str, shown: &ShownText<'_>) -> Vec<Validation> {
    let mut validations = Vec::new();
    let document = document(reply, "validations", "label", &["label", "rationale"], shown);
    let Some(document) = document else { return validations };
    for (_, item) in objects(document.root(), "validations") {
        let Some(label) = text_field(item, "label") else { continue };
        validations.push(Validation {
            sentence: text_field(item, "sentence").unwrap_or_default(),
            label,
            rationale: text_field(item, "rationale").unwrap_or_default(),
            supporting_excerpt: text_field(item, "supporting_excerpt").and_then(excerpt),
            contradicting_excerpt: text_field(item, "contradicting_excerpt").and_then(excerpt),
        });
    }
    validations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(reply: &str) -> Vec<String> {
        super::sentences(reply, &ShownText::default())
    }

    fn validations(reply: &str) -> Vec<Validation> {
        super::validations(reply, &ShownText::default())
    }

    const BLOCK: &str = "sentence: S\nlabel: Supported\nrationale: R\n\
                         supporting_excerpt: E\nF\ncontradicting_excerpt: NULL";

    #[test]
    fn sentences_may_run_over_lines_and_hold_a_tag() {
        assert_eq!(sentences("x<sentence>a\nb</sentence><sentence></sentence>"), ["a\nb", ""]);
        assert_eq!(sentences("<sentence><sentence>a</sentence></sentence>"), ["<sentence>a"]);
        assert!(sentences("<sentence>a").is_empty());
        assert!(sentences("</sentence>").is_empty());
    }

    #[test]
    fn tags_inside_a_structured_reply_are_part_of_the_sentence() {
        let reply = r#"{"sentences": ["<sentence>Fine.</sentence>", "Wrong."]}"#;
        assert_eq!(sentences(reply), ["<sentence>Fine.</sentence>", "Wrong."]);
        assert_eq!(sentences(&format!("So:\n{}", r#"{"sentences": ["a"]}"#)), ["a"]);
    }

    #[test]
    fn a_block_has_its_fields_in_order_and_runs_to_the_next() {
        let reply = format!("Here:\n{BLOCK}\n\n{BLOCK}");
        let found = validations(&reply);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0].supporting_excerpt.as_deref(), Some("E\nF"));
        assert_eq!((found[0].contradicting_excerpt.as_deref(), found[0].is_supported()), (None, Some(true)));
    }

    #[test]
    fn an_incomplete_block_swallows_the_next_and_is_lost_at_the_end() {
        let incomplete = "sentence: A\nlabel: unsupported\nrationale: Q\n";
        let found = validations(&format!("{incomplete}{BLOCK}\n{incomplete}"));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].label, "unsupported");
        assert_eq!(found[0].rationale, "Q\nsentence: S\nlabel: Supported\nrationale: R");
    }

    #[test]
    fn names_are_matched_without_regard_to_case_as_python_does() {
        let reply = BLOCK.to_uppercase().replace('S', "ſ").replace('I', "ı");
        assert_eq!(validations(&reply).len(), 1);
    }

    #[test]
    fn labels_count_for_against_or_not() {
        for (label, expected) in [
            ("supported", Some(true)),
            ("Not_Applicable", Some(true)),
            ("UNSUPPORTED", Some(false)),
            ("contradictory", Some(false)),
            ("disputed", Some(false)),
            ("supported.", None),
            ("`supported`", None),
        ] {
            assert_eq!(
                validations(&BLOCK.replace("Supported", label))[0].is_supported(),
                expected,
                "{label}"
            );
        }
    }

    #[test]
    fn json_that_is_quoted_in_a_broken_block_is_not_read() {
        let json = r#"{"validations": [{"sentence": "S", "label": "supported"}]}"#;
        assert_eq!(validations(json).len(), 1);
        assert!(
            validations(&format!("sentence: S\nlabel: unsupported\nrationale: It says {json}.")).is_empty()
        );
    }

    #[test]
    fn structured_json_is_read_where_there_is_no_block() {
        let reply = r#"{"validations": [{"sentence": "S", "label": "disputed", "rationale": "R",
            "supporting_excerpt": "E", "contradicting_excerpt": null}, {"sentence": "T"}]}"#;
        let found = validations(reply);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].supporting_excerpt.as_deref(), Some("E"));
        assert_eq!((found[0].contradicting_excerpt.as_deref(), found[0].is_supported()), (None, Some(false)));
    }
}
