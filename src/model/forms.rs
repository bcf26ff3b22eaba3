//! Tells files of the wrong form what they look like: another of ADK's files, or one with a misspelt key.

use super::invocation::is_camel;
use super::shape::not_a_key;
use crate::foundation::error::Error;
use crate::foundation::json::Json;
use crate::foundation::suggestion::suggestion;

/// The error for a file that is another than what is expected, or in which the key that tells its form is misspelt.
#[cold]
pub(super) fn other_file(root: Json<'_>, expected: &str) -> Option<Error> {
    other_form(root, expected, &OTHER_FILES)
}

/// The same for the first item of a list.
#[cold]
pub(super) fn other_item(first: Json<'_>, expected: &str) -> Option<Error> {
    other_form(first, expected, &OTHER_LISTS)
}

fn other_form(json: Json<'_>, expected: &str, looks: &[(&[&str], &str)]) -> Option<Error> {
    match looks.iter().find(|(keys, _)| keys.iter().any(|key| json.get(key).is_some())) {
        Some((_, help)) => Some(json.expected(expected).with_help(*help)),
        None => misspelt(json),
    }
}

/// The error for the first key that is most likely a misspelling of one that tells a form.
fn misspelt(json: Json<'_>) -> Option<Error> {
    /// How many keys of an object are compared. Files have few.
    const MAX_KEYS: usize = 64;
    json.entries().take(MAX_KEYS).find_map(|(key, value)| {
        let spelling = usize::from(is_camel(&key));
        let meant =
            suggestion(&key, TELLING_KEYS.iter().filter_map(|(keys, _)| keys.get(spelling).copied()))?;
        // Many words resemble `data`.
        if *key == *meant || (meant == "data" && json.get("name").is_none()) {
            return None;
        }
        let (_, form) = TELLING_KEYS.iter().find(|(keys, _)| keys.get(spelling) == Some(&meant))?;
        Some(not_a_key(value, &key, form, meant))
    })
}

/// The keys that tell what an object is, in both spellings, and what it is.
const TELLING_KEYS: [([&str; 2], &str); 9] = [
    (["eval_cases", "evalCases"], "an evalset"),
    (["eval_case_results", "evalCaseResults"], "evalset results"),
    (["inference_results", "inferenceResults"], "a list of inference results"),
    (["inferences", "inferences"], "an inference result"),
    (["eval_case_id", "evalCaseId"], "an inference result"),
    (["events", "events"], "a session"),
    (["author", "author"], "an event"),
    (["query", "query"], "a turn of an old evalset"),
    (["data", "data"], "a case of an old evalset"),
];

/// Keys of objects that are not evalsets, and the help for each.
const OTHER_FILES: [(&[&str], &str); 6] = [
    (&["query", "data"], "An old form is a list: put this into [ ]"),
    (
        &["events"],
        "This looks like a session, which says what an agent did: give it as the actual runs (`actual`, `--actual`), with an evalset that says what is expected",
    ),
    (
        &[
            "eval_case_results",
            "evalCaseResults",
            "inference_results",
            "inferenceResults",
            "inferences",
            "eval_case_id",
            "evalCaseId",
        ],
        "This looks like results, which say what an agent did: give them as the actual runs (`actual`, `--actual`), with an evalset that says what is expected",
    ),
    (&["criteria"], "This looks like an eval config: give it as `config` (`--config`)"),
    (
        &["conversation", "conversation_scenario", "conversationScenario"],
        r#"This looks like one eval case: put it into {"eval_set_id": "…", "eval_cases": [ ]}"#,
    ),
    (&["conversations", "messages", "turns", "cases"], ONE_EVAL_SET),
];

/// Keys in the first item of arrays that are not evalsets, and the help for each.
const OTHER_LISTS: [(&[&str], &str); 5] = [
    (
        &["eval_cases", "evalCases"],
        "This looks like a list of evalsets: give one of them by itself, without [ ], or put the cases of all into one",
    ),
    (
        &["events", "author"],
        "This looks like sessions or their events, which say what an agent did: give them as the actual runs (`actual`, `--actual`), with an evalset that says what is expected",
    ),
    (
        &["inferences", "eval_case_id", "evalCaseId", "eval_case_results", "evalCaseResults"],
        "This looks like results, which say what an agent did: give them one by one as the actual runs (`actual`, `--actual`), with an evalset that says what is expected",
    ),
    (
        &["conversation", "conversation_scenario", "conversationScenario"],
        r#"This looks like the cases of an evalset: put the list into {"eval_set_id": "…", "eval_cases": … }"#,
    ),
    (&["user_content", "userContent", "conversations", "messages", "turns", "role"], ONE_EVAL_SET),
];

const ONE_EVAL_SET: &str = r#"An evalset looks like {"eval_set_id": "…", "eval_cases": [{"eval_id": "…", "conversation": [{"user_content": {"parts": [{"text": "…"}]}}]}]}"#;
