//! The readers of judge replies against the recorded answers of google-adk's own parsers.
//!
//! `tests/parity/README.md` describes the vectors.

use adk_metrics::judge::reply::{self, ShownText};
use serde::Deserialize;

#[derive(Deserialize)]
struct File<T> {
    replies: Vec<T>,
    #[serde(default)]
    rubrics: Vec<Vec<(String, String)>>,
}

fn vectors<T: for<'a> Deserialize<'a>>(name: &str) -> File<T> {
    let path = format!("{}/tests/parity/vectors/judge_replies_{name}.json", env!("CARGO_MANIFEST_DIR"));
    let file: File<T> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(file.replies.len() > 1000);
    file
}

fn verdict(score: Option<f64>) -> Option<bool> {
    score.map(|score| score == 1.0)
}

/// Checks a reader of labels. Replies in which the reference finds nothing, but we find JSON with the
/// key that its pattern missed, are a difference on purpose; there have to be as many as stated.
fn assert_labels_agree(name: &str, read: fn(&str, &ShownText<'_>) -> Option<bool>, read_as_json: usize) {
    let mut only_ours = 0;
    for (reply, score) in vectors::<(String, Option<f64>)>(name).replies {
        let found = read(&reply, &ShownText::default());
        if found != verdict(score) {
            assert_eq!(score, None, "{reply:?}: found {found:?}");
            only_ours += 1;
        }
    }
    assert_eq!(only_ours, read_as_json, "replies read as JSON where the reference finds nothing");
}

#[test]
fn labels_of_final_response_match_equal_google_adk() {
    assert_labels_agree("match", reply::final_response_match, 26);
}

#[test]
fn labels_of_user_turns_equal_google_adk() {
    assert_labels_agree("turn", reply::turn_validity, 36);
}

type Scored = (Option<String>, String, String, Option<f64>);

#[test]
fn verdicts_on_rubrics_equal_google_adk() {
    type Row = (usize, String, Vec<Scored>, Vec<(String, String, Option<f64>)>);
    let file = vectors::<Row>("rubrics");
    for (set, reply, recorded, assigned) in &file.replies {
        let entries = reply::rubrics(reply, &ShownText::default());
        let found: Vec<_> = entries.iter().map(|e| (&e.id, &e.property, &e.rationale, e.verdict)).collect();
        let expected: Vec<_> =
            recorded.iter().map(|(id, property, why, score)| (id, property, why, verdict(*score))).collect();
        assert_eq!(found, expected, "{reply:?}");

        let rubrics: Vec<_> =
            file.rubrics[*set].iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        let found: Vec<_> = reply::assign(&entries, &rubrics, &[])
            .into_iter()
            .map(|(rubric, entry)| {
                (rubrics[rubric].0, entries[entry].rationale.as_str(), entries[entry].verdict)
            })
            .collect();
        let expected: Vec<_> =
            assigned.iter().map(|(id, why, score)| (id.as_str(), why.as_str(), verdict(*score))).collect();
        assert_eq!(found, expected, "{reply:?}");
    }
}

#[test]
fn sentences_equal_google_adk() {
    for (reply, recorded) in vectors::<(String, Vec<String>)>("sentences").replies {
        assert_eq!(reply::sentences(&reply, &ShownText::default()), recorded, "{reply:?}");
    }
}

#[test]
fn validations_equal_google_adk() {
    type Row = (String, Vec<(String, String, String, Option<String>, Option<String>)>);
    for (reply, recorded) in vectors::<Row>("validations").replies {
        let found: Vec<_> = reply::validations(&reply, &ShownText::default())
            .into_iter()
            .map(|v| (v.sentence, v.label, v.rationale, v.supporting_excerpt, v.contradicting_excerpt))
            .collect();
        assert_eq!(found, recorded, "{reply:?}");
    }
}
