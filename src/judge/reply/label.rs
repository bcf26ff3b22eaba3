//! Reads a single label after a key, as in `"is_valid": ["valid"],`.
//!
//! google-adk finds it with a pattern that allows brackets and quotes around the label and requires a comma, a
//! line break or a closing brace after it. If the longest label is not followed by one, the pattern backtracks:
//! to the label up to its last comma, line break or brace; otherwise, if there is a line break between key and
//! label, to no label at all. [`label_at`] finds the same without backtracking: O(n).

use super::scan::{
    count, find, is_space, skip, skip_space, slice, span_end, trim, trim_end_matches, trim_matches,
};
use super::shown_text::ShownText;
use super::structured::{document, text_field, whole};

/// Whether the judge of `final_response_match_v2` calls the agent's response valid; `None` if the reply has no
/// known label, or if "valid" may be a quotation.
///
/// ```
/// use adk_metrics::judge::reply::{ShownText, final_response_match};
///
/// let reply = "```json\n{\"reasoning\": \"Same city.\", \"is_the_agent_response_valid\": \"valid\"}\n```";
/// assert_eq!(final_response_match(reply, &ShownText::default()), Some(true));
/// assert_eq!(final_response_match("It is valid.", &ShownText::default()), None);
/// ```
#[must_use]
pub fn final_response_match(reply: &str, shown: &ShownText<'_>) -> Option<bool> {
    const VALID: &str = "is_the_agent_response_valid";
    const INVALID: &str = "is_the_agent_response_invalid";
    let reply = answer(reply, shown);
    if let Some(label) = label(reply, "\"is_the_agent_response_valid\":", false) {
        return own(verdict(label.text), reply, VALID, is_negative, &label, shown);
    }
    if let Some(label) = label(reply, "\"is_the_agent_response_invalid\":", false) {
        let is_invalid = |label: &str| matches!(label, "true" | "invalid");
        let verdict = Some(!is_invalid(label.text));
        return own(verdict, reply, INVALID, is_invalid, &label, shown);
    }
    // In lower case only, as in google-adk.
    let by_json = |key| verdict(&structured(reply, key, shown)?);
    by_json(VALID).or_else(|| by_json(INVALID).map(|invalid| !invalid))
}

/// Whether the judge of `per_turn_user_simulator_quality_v1` calls the user's message valid; `None` if the
/// reply has no known label, or if "valid" may be a quotation.
///
/// ```
/// use adk_metrics::judge::reply::{ShownText, turn_validity};
///
/// let shown = ShownText::default();
/// assert_eq!(turn_validity(r#"{"criteria": [], "is_valid": True}"#, &shown), Some(true));
/// assert_eq!(turn_validity(r#"{"is_valid": "partially valid"}"#, &shown), Some(false));
/// ```
#[must_use]
pub fn turn_validity(reply: &str, shown: &ShownText<'_>) -> Option<bool> {
    const VALID: &str = "is_valid";
    let reply = answer(reply, shown);
    match label(reply, "\"is_valid\":", true) {
        Some(label) => {
            let mut word = trim_matches(label.text, &mut |c| c == '}').to_ascii_lowercase();
            word.retain(|c| c != ',');
            own(verdict(trim(&word)), reply, VALID, is_negative, &label, shown)
        }
        None => verdict(&structured(reply, VALID, shown)?.to_ascii_lowercase()),
    }
}

/// The text after a lone end tag of a model's thoughts, unless the judge was shown that tag or mentions it in JSON.
fn answer<'r>(reply: &'r str, shown: &ShownText<'_>) -> &'r str {
    const END: &str = "</think>";
    match reply.as_bytes().windows(END.len()).rposition(|part| part == END.as_bytes()) {
        Some(at) if !shown.has(END) && whole(reply).is_none() => slice(reply, at + END.len(), reply.len()),
        _ => reply,
    }
}

/// The judge's own verdict. A favourable label counts only if it is that of the whole reply, or was not shown
/// to the judge.
fn own(
    verdict: Option<bool>,
    reply: &str,
    key: &str,
    is_against: fn(&str) -> bool,
    label: &Label<'_>,
    shown: &ShownText<'_>,
) -> Option<bool> {
    match verdict {
        Some(true) => {
            let document = whole(reply);
            let is_own = match document.as_ref().and_then(|document| text_field(document.root(), key)) {
                // The first label may belong to a nested object.
                Some(own) => own == label.text || !is_against(&own.to_ascii_lowercase()),
                None => !shown.has(slice(reply, label.at, label.end)),
            };
            is_own.then_some(true)
        }
        other => other,
    }
}

fn verdict(label: &str) -> Option<bool> {
    match label {
        "valid" | "true" => Some(true),
        label => is_negative(label).then_some(false),
    }
}

fn is_negative(label: &str) -> bool {
    matches!(label, "invalid" | "false" | "almost" | "partially" | "partially_valid" | "partially valid")
}

/// The value after a key.
pub(super) struct Label<'r> {
    pub(super) text: &'r str,
    /// Where the key begins.
    pub(super) at: usize,
    /// Where the label ends.
    pub(super) end: usize,
}

/// The label after the first occurrence of the key that has one. Unless `spaced`, without commas and braces at
/// its end.
pub(super) fn label<'r>(reply: &'r str, key: &str, spaced: bool) -> Option<Label<'r>> {
    let mut from = 0;
    while let Some(at) = find(reply, key, from) {
        from = at + key.len();
        if let Some((text, end)) = label_at(reply, from, spaced) {
            let text = if spaced { text } else { trim_end_matches(text, &mut |c| matches!(c, ',' | '}')) };
            return Some(Label { text, at, end });
        }
    }
    None
}

/// The label after a key that ends at `from`, and where it ends. It extends to a quote or closing bracket;
/// unless `spaced`, also to white space and `^`.
fn label_at(reply: &str, from: usize, spaced: bool) -> Option<(&str, usize)> {
    let opening = skip_space(reply, from);
    let brackets = skip(reply, opening, '[');
    let quotes = skip_space(reply, brackets);
    let start = skip(reply, quotes, '"');
    let end =
        span_end(reply, start, &mut |c| !matches!(c, '"' | ']') && (spaced || c != '^' && !is_space(c)));
    let longest = slice(reply, start, end);
    count(longest.len());
    if is_closed(reply, end) {
        return Some((longest, end));
    }
    if let Some(cut) = longest.bytes().rposition(|byte| matches!(byte, b',' | b'}' | b'\n')) {
        return Some((slice(longest, 0, cut), start + cut));
    }
    (is_broken(reply, from, opening) || is_broken(reply, brackets, quotes)).then_some(("", start))
}

/// Whether the required end follows a label: quotes, white space, brackets, white space, then a comma, brace or
/// line break.
fn is_closed(reply: &str, end: usize) -> bool {
    let quotes = skip(reply, end, '"');
    let space = skip_space(reply, quotes);
    let brackets = skip(reply, space, ']');
    let more_space = skip_space(reply, brackets);
    is_broken(reply, quotes, more_space) || matches!(reply.as_bytes().get(more_space), Some(b',' | b'}'))
}

/// Whether there is a line break in a range.
fn is_broken(reply: &str, from: usize, to: usize) -> bool {
    find(slice(reply, from, to), "\n", 0).is_some()
}

/// The label in structured JSON: a string, or a boolean.
fn structured(reply: &str, key: &str, shown: &ShownText<'_>) -> Option<String> {
    let document = document(reply, key, "", &["verdict", "valid", "label", "answer"], shown)?;
    text_field(document.root(), key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn final_response_match(reply: &str) -> Option<bool> {
        super::final_response_match(reply, &ShownText::default())
    }

    fn turn_validity(reply: &str) -> Option<bool> {
        super::turn_validity(reply, &ShownText::default())
    }

    #[test]
    fn the_label_of_a_match_is_read_through_brackets_quotes_and_fences() {
        for (value, expected) in [
            (r#" "valid"}"#, Some(true)),
            (r#""valid","#, Some(true)),
            ("\n [ \"true\" ] \n}", Some(true)),
            ("[[invalid]],", Some(false)),
            ("almost\n", Some(false)),
            ("\"partially_valid\"\n", Some(false)),
            ("valid}```", Some(true)),
            ("valid,\"x", Some(true)),
            ("\"Valid\"}", None),
            ("\"valid\" x", None),
            ("\n\"valid\" x", None),
            ("valid^}", None),
            ("true", None),
        ] {
            let reply = format!("{{\"is_the_agent_response_valid\":{value}");
            assert_eq!(final_response_match(&reply), expected, "{reply:?}");
        }
    }

    #[test]
    fn the_first_matching_label_counts() {
        let key = "\"is_the_agent_response_valid\":";
        assert_eq!(final_response_match(&format!("{key} \"a b\" {key} \"valid\"}}")), Some(true));
        assert_eq!(final_response_match(&format!("{key} maybe, {key} \"valid\"}}")), None);
        assert_eq!(final_response_match(&format!("{key}\n\"a b\" {key} \"valid\"}}")), None);
    }

    #[test]
    fn a_key_that_asks_for_the_opposite_is_understood() {
        let reply = |label: &str| format!("{{\"is_the_agent_response_invalid\": {label}}}");
        assert_eq!(final_response_match(&reply("true")), Some(false));
        assert_eq!(final_response_match(&reply("\"invalid\"")), Some(false));
        assert_eq!(final_response_match(&reply("\"valid\"")), Some(true));
        assert_eq!(final_response_match(&reply("anything")), Some(true));
    }

    #[test]
    fn the_label_of_a_turn_may_hold_white_space_and_commas() {
        for (value, expected) in [
            (" True,\n}", Some(true)),
            ("\"VALID\"}", Some(true)),
            ("\"Partially Valid\"\n", Some(false)),
            ("[ false ]}", Some(false)),
            (" true}\n```", Some(true)),
            (" true}\n```\n", None),
            ("\"tr,ue\"}", Some(true)),
            ("\"maybe\"}", None),
        ] {
            let reply = format!("{{\"is_valid\":{value}");
            assert_eq!(turn_validity(&reply), expected, "{reply:?}");
        }
    }

    #[test]
    fn json_is_read_where_the_pattern_finds_nothing() {
        assert_eq!(final_response_match(r#"{"is_the_agent_response_valid" : "valid"}"#), Some(true));
        assert_eq!(final_response_match(r#"{"is_the_agent_response_valid" : false}"#), Some(false));
        assert_eq!(final_response_match(r#"{"is_the_agent_response_invalid" : true}"#), Some(false));
        assert_eq!(
            final_response_match(r#"So {it} is {"is_the_agent_response_valid" : " valid "}"#),
            Some(true)
        );
        assert_eq!(turn_validity(r#"{"is_valid" : "Partially valid"}"#), Some(false));
        assert_eq!(turn_validity(r#"{"is_valid" : 7}"#), None);
    }

    #[test]
    fn white_space_before_the_colon_changes_nothing() {
        for label in ["Valid", "valid", "VALID", "True", "Invalid", "partially_valid", "maybe"] {
            let [close, apart] = ["", " "].map(|space| {
                final_response_match(&format!("{{\"is_the_agent_response_valid\"{space}: \"{label}\"}}"))
            });
            assert_eq!(close, apart, "{label}");
        }
    }

    #[test]
    fn thoughts_of_a_model_are_not_its_answer() {
        let quoted = "It wrote \"is_the_agent_response_valid\": \"valid\"}.";
        let own = "{\"is_the_agent_response_valid\": \"invalid\"}";
        assert_eq!(final_response_match(&format!("{quoted}</think>{own}")), Some(false));
    }

    #[test]
    fn a_nested_label_is_not_the_replys() {
        let reply = r#"{"quote": {"is_valid": "valid"}, "is_valid": "invalid"}"#;
        assert_eq!(turn_validity(reply), None);
    }
}
