//! JSON Schemas of replies, for providers that constrain what a model writes.
//!
//! They allow nothing that [`reply`](super::super::reply) could not read: verdicts, labels and scores are
//! enumerations, and a reply has an entry for each rubric and each sentence that was asked about.

use crate::foundation::write::quoted;

/// A verdict on an answer.
pub(super) const MATCH: &str = r#"{"type":"object","properties":{"reasoning":{"type":"string"},"is_the_agent_response_valid":{"type":"string","enum":["valid","invalid"]}},"required":["reasoning","is_the_agent_response_valid"],"additionalProperties":false}"#;

/// A verdict on a simulated user's message.
pub(super) const TURN: &str = r#"{"type":"object","properties":{"reasoning":{"type":"string"},"is_valid":{"type":"string","enum":["valid","invalid"]}},"required":["reasoning","is_valid"],"additionalProperties":false}"#;

/// The sentences of an answer. There is at least one, since empty answers are not asked about.
pub(super) const SENTENCES: &str = r#"{"type":"object","properties":{"sentences":{"type":"array","items":{"type":"string"},"minItems":1}},"required":["sentences"],"additionalProperties":false}"#;

macro_rules! score {
    ($kind:literal, $scores:literal) => {
        concat!(
            r#"{"type":"object","properties":{"explanation":{"type":"string"},"score":{"type":""#,
            $kind,
            r#"","enum":["#,
            $scores,
            r#"]}},"required":["explanation","score"],"additionalProperties":false}"#
        )
    };
}

/// 0 or 1.
pub(super) const YES_OR_NO: &str = score!("integer", "0,1");

/// 1 to 5.
pub(super) const GRADE: &str = score!("integer", "1,2,3,4,5");

/// 0 to 1, in twentieths: finer differences are beyond a judge.
pub(super) const SHARE: &str = score!(
    "number",
    "0,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75,0.8,0.85,0.9,0.95,1"
);

/// The most entries that a schema names. Providers limit the size of schemas, and schemas cost input tokens.
pub(in crate::judge) const MOST_ENTRIES: usize = 100;

/// Whether an id may be a key of a schema. A provider may show the schema to the model outside of the prompt's fence,
/// so an id must not be able to say anything.
fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=64).contains(&id.len()) && id.bytes().all(is_plain)
}

/// Whether a reply on the rubrics with these ids is a list, because they are many or an id is more than a name.
pub(in crate::judge) fn are_listed(ids: &[&str]) -> bool {
    ids.len() > MOST_ENTRIES || !ids.iter().all(|id| is_plain(id))
}

/// A verdict on each of the rubrics with these ids: by id, or as a list where they are many or an id is more than a name.
#[must_use]
pub fn rubrics_schema(ids: &[&str]) -> String {
    const VERDICT: &str = r#""rationale":{"type":"string"},"verdict":{"type":"string","enum":["yes","no"]}"#;
    if are_listed(ids) {
        return format!(
            r#"{{"type":"object","properties":{{"rubrics":{{"type":"array","items":{{"type":"object","properties":{{"id":{{"type":"string"}},"property":{{"type":"string"}},{VERDICT}}},"required":["id","property","rationale","verdict"],"additionalProperties":false}},"minItems":{count},"maxItems":{count}}}}},"required":["rubrics"],"additionalProperties":false}}"#,
            count = ids.len(),
        );
    }
    let names: Vec<String> = ids.iter().map(|id| quoted(id)).collect();
    let entry = format!(
        r#"{{"type":"object","properties":{{{VERDICT}}},"required":["rationale","verdict"],"additionalProperties":false}}"#
    );
    format!(
        r#"{{"type":"object","properties":{{"rubrics":{}}},"required":["rubrics"],"additionalProperties":false}}"#,
        entries_schema(&names, &entry),
    )
}

/// An object with an entry under each of the names, which are written as JSON.
pub(in crate::judge) fn entries_schema(names: &[String], entry: &str) -> String {
    let entries: Vec<String> = names.iter().map(|name| [name, ":", entry].concat()).collect();
    format!(
        r#"{{"type":"object","properties":{{{}}},"required":[{}],"additionalProperties":false}}"#,
        entries.join(","),
        names.join(","),
    )
}

/// A label for each of the sentences.
#[must_use]
pub fn validations_schema(sentences: usize) -> String {
    format!(
        r#"{{"type":"object","properties":{{"validations":{{"type":"array","items":{{"type":"object","properties":{{"sentence":{{"type":"string"}},"label":{{"type":"string","enum":["supported","unsupported","contradictory","disputed","not_applicable"]}},"rationale":{{"type":"string"}},"supporting_excerpt":{{"type":"string"}},"contradicting_excerpt":{{"type":"string"}}}},"required":["sentence","label","rationale","supporting_excerpt","contradicting_excerpt"],"additionalProperties":false}},"minItems":{sentences},"maxItems":{sentences}}}}},"required":["validations"],"additionalProperties":false}}"#
    )
}
