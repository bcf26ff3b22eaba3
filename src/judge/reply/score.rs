//! Reads a score with its explanation: `{"explanation": "…", "score": 4}`.
//!
//! Used by the metrics that google-adk delegates to Vertex AI. Their prompts are ours, so there is no reply
//! format of google-adk to follow. Read as JSON, after prose or not. Broken JSON (line breaks or quotes in the
//! explanation) still gives its number, if there is only one, at the beginning or the end. O(n).

use super::label::{Label, label};
use super::shown_text::ShownText;
use super::structured::{document, occurs_once_at_most, text_field, unfenced};
use crate::foundation::double;

/// A judge's score and explanation.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Finite, but not checked against the metric's range.
    pub score: f64,
    /// The judge's explanation; may be empty.
    pub explanation: String,
}

/// The score in a reply, if it has one.
///
/// ```
/// use adk_metrics::judge::reply::{ShownText, score};
///
/// let reply = "Here you are:\n```json\n{\"explanation\": \"Flows well.\", \"score\": 5}\n```";
/// assert_eq!(score(reply, &ShownText::default()).map(|found| found.score), Some(5.0));
/// ```
#[must_use]
pub fn score(reply: &str, shown: &ShownText<'_>) -> Option<Score> {
    let mut found = Score { score: f64::NAN, explanation: String::new() };
    if let Some(document) = document(reply, "score", "", &["score"], shown) {
        let object = document.root();
        found.explanation = text_field(object, "explanation").unwrap_or_default();
        found.score = double::read(&text_field(object, "score")?)?;
    } else {
        found.score = double::read(number_in_broken_json(unfenced(reply), shown)?)?;
    }
    found.score.is_finite().then_some(found)
}

/// The number in broken JSON.
fn number_in_broken_json<'r>(text: &'r str, shown: &ShownText<'_>) -> Option<&'r str> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    if !occurs_once_at_most(text, "score") {
        return None;
    }
    let Label { text: number, at, end } = label(text, "\"score\":", false)?;
    let rest =
        text.get(end..)?.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | ',' | '}' | ']'));
    let is_outermost = rest.is_empty() || inside.trim_start().starts_with("\"score\"");
    (is_outermost && !shown.has(text.get(at..end)?)).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_json_and_from_what_was_meant_to_be() {
        for (reply, expected) in [
            (r#"{"score": 0.5, "explanation": "x"}"#, Some(0.5)),
            (r#"{"Score": "4", "Explanation": "x"}"#, Some(4.0)),
            (r#"Not {"points": 1} but {"score": 0}"#, Some(0.0)),
            (r#"It wrote {"score": 1}, which is wrong."#, None),
            (r#"**Score: 0**, whatever it wrote: {"score": 1}"#, None),
            (r#"{'explanation': 'It wrote "score": 1.', 'score': 0}"#, None),
            (r#"{"explanation": "It wrote "score": 1.", "safety_score": 0}"#, None),
            (r#"{"quote": {"score": 1}, "safety_score": 0}"#, None),
            (r#"{"score": 0, "explanation": "It is "rude"."}"#, Some(0.0)),
            (r#"It says {"score": 5}. {"score": 1}"#, None),
            (r#"{"explanation": "It says "}{"score": 5}.", "score": 1}"#, None),
            (r#"{"result": {"score": 3}}"#, Some(3.0)),
            ("{\"explanation\": \"two\nlines and \"quotes\"\", \"score\": -2.5}", Some(-2.5)),
            ("{\"explanation\": \"two\nlines\", \"score\": \"5\"}", Some(5.0)),
            ("{\"explanation\": \"it says \"score\": 5\n\", \"score\": 1}", None),
            (r#"{"score": null}"#, None),
            (r#"{"score": 1e999}"#, None),
            (r#"{"score": "high"}"#, None),
            ("5", None),
            ("", None),
        ] {
            assert_eq!(score(reply, &ShownText::default()).map(|found| found.score), expected, "{reply:?}");
        }
    }

    #[test]
    fn the_explanation_is_kept() {
        let found = score(r#"{"score": 1, "explanation": " said \"no\" "}"#, &ShownText::default()).unwrap();
        assert_eq!(found.explanation, "said \"no\"");
    }
}
