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

/// The keys of a reply on the rubrics with these ids: each its id, or its place where that is more than a name. None if
/// they are so many that a reply is a list.
pub(in crate::judge) fn rubric_keys(ids: &[&str]) -> Vec<String> {
    let mut keys = Vec::new();
    if ids.len() > MOST_ENTRIES {
        return keys;
    }
    for (at, id) in ids.iter().enumerate() {
        let mut key = (*id).to_owned();
        if !is_plain(id) {
            key = ["rubric_", &(at as u64 + 1).to_string()].concat();
            // Another rubric may be called so.
            while ids.contains(&&*key) {
                key.push('_');
            }
        }
        keys.push(key);
    }
    keys
}

/// A verdict on each of the rubrics with these ids: by key, or as a list where they are many. Where
/// a key does not name its rubric, the model copies it.
#[must_use]
pub fn rubrics_schema(ids: &[&str]) -> String {
    const PROPERTY: &str = r#""property":{"type":"string"},"#;
    let entry = |properties: &str, names: &str| {
        [
            r#"{"type":"object","properties":{"#,
            properties,
            r#""rationale":{"type":"string"},"verdict":{"type":"string","enum":["yes","no"]}},"required":["#,
            names,
            r#""rationale","verdict"],"additionalProperties":false}"#,
        ]
        .concat()
    };
    let mut entries = Vec::new();
    for (key, id) in rubric_keys(ids).iter().zip(ids) {
        let entry = if key == id { entry("", "") } else { entry(PROPERTY, r#""property","#) };
        entries.push((quoted(key), entry));
    }
    let rubrics = if entries.is_empty() {
        let entry = entry(&[r#""id":{"type":"string"},"#, PROPERTY].concat(), r#""id","property","#);
        list_schema(&entry, ids.len())
    } else {
        entries_schema(&entries)
    };
    only("rubrics", &rubrics)
}

/// An object with one property.
fn only(name: &str, schema: &str) -> String {
    format!(
        r#"{{"type":"object","properties":{{"{name}":{schema}}},"required":["{name}"],"additionalProperties":false}}"#
    )
}

/// A list of so many entries.
fn list_schema(entry: &str, count: usize) -> String {
    format!(r#"{{"type":"array","items":{entry},"minItems":{count},"maxItems":{count}}}"#)
}

/// An object with these entries, whose keys are written as JSON.
pub(in crate::judge) fn entries_schema(entries: &[(String, String)]) -> String {
    let mut properties = Vec::new();
    let mut names = Vec::new();
    for (name, entry) in entries {
        properties.push([name, ":", entry].concat());
        names.push(&**name);
    }
    format!(
        r#"{{"type":"object","properties":{{{}}},"required":[{}],"additionalProperties":false}}"#,
        properties.join(","),
        names.join(","),
    )
}

/// A label for each of the sentences.
#[must_use]
pub fn validations_schema(sentences: usize) -> String {
    const ENTRY: &str = r#"{"type":"object","properties":{"sentence":{"type":"string"},"label":{"type":"string","enum":["supported","unsupported","contradictory","disputed","not_applicable"]},"rationale":{"type":"string"},"supporting_excerpt":{"type":"string"},"contradicting_excerpt":{"type":"string"}},"required":["sentence","label","rationale","supporting_excerpt","contradicting_excerpt"],"additionalProperties":false}"#;
    only("validations", &list_schema(ENTRY, sentences))
}
