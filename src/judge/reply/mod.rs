//! Readers of judge replies.
//!
//! Each reads a reply as google-adk does, including odd replies. If that finds nothing, the reply is read as
//! structured JSON, alone or after prose. Judges quote what they were shown, so in a reply that is not JSON as
//! a whole, a favourable verdict that the judge was shown does not count.
//!
//! | reader | for | finds |
//! |---|---|---|
//! | [`final_response_match`] | `final_response_match_v2` | valid or not |
//! | [`turn_validity`] | `per_turn_user_simulator_quality_v1` | valid or not |
//! | [`rubrics`], [`assign`] | the rubric metrics | a verdict for each rubric |
//! | [`sentences`] | the segmenter of `hallucinations_v1` | the sentences |
//! | [`validations`] | its validator | a label for each sentence |
//! | [`score`] | the metrics that google-adk delegates to Vertex AI | a number |
//!
//! A model can write anything, so every reader takes time linear in the length of the reply.
//!
//! Source: `final_response_match_v2.py`, `rubric_based_evaluator.py`, `hallucinations_v1.py` and
//! `per_turn_user_simulator_quality_v1.py` of google-adk, for behaviour.

mod hallucinations;
mod label;
mod rubrics;
pub(super) mod scan;
mod score;
mod shown_text;
mod structured;

pub use hallucinations::{Validation, sentences, validations};
pub use label::{final_response_match, turn_validity};
pub use rubrics::{RubricEntry, assign, rubrics};
pub(crate) use scan::{occurrences, trim};
pub use score::{Score, score};
pub use shown_text::ShownText;

#[cfg(test)]
mod tests {
    use super::scan::measured_work;
    use super::*;

    /// Replies on which careless readers backtrack: many beginnings, no end.
    const HOSTILE: [&str; 30] = [
        "[",
        "{",
        "\"",
        "]",
        "}",
        " ",
        "\n",
        "\\\"",
        "{\"",
        "[{\"a\":",
        "[]",
        "{}",
        "a",
        "<sentence>",
        "</sentence>",
        "sentence:",
        "\nsentence:\nlabel:",
        "label:\nrationale:",
        "ſentence:",
        "\nsupporting_excerpt:",
        "\nID: ",
        "Property: ",
        "\nProperty: x",
        "Rationale: ",
        "Verdict: yes\n",
        "\"is_valid\":",
        "\"is_valid\": [[\n\"\"",
        "\"is_the_agent_response_valid\": [\"",
        "\"score\":",
        "\"score\": 1",
    ];

    #[test]
    fn work_grows_no_faster_than_the_reply() {
        type Reader = fn(&str);
        let readers: [(&str, Reader); 6] = [
            ("final_response_match", |reply| _ = final_response_match(reply, &ShownText::default())),
            ("turn_validity", |reply| _ = turn_validity(reply, &ShownText::default())),
            ("rubrics", |reply| _ = rubrics(reply, &ShownText::default())),
            ("sentences", |reply| _ = sentences(reply, &ShownText::default())),
            ("validations", |reply| _ = validations(reply, &ShownText::default())),
            ("score", |reply| _ = score(reply, &ShownText::default())),
        ];
        for (name, read) in readers {
            for first in HOSTILE {
                for second in HOSTILE.into_iter().step_by(4) {
                    let reply = format!("{}{}", first.repeat(200), second.repeat(200));
                    let work = measured_work(|| read(&reply));
                    let most = 60 * reply.len();
                    assert!(work <= most, "{name} of {first:?}, {second:?}: {work} steps, not {most}");
                }
            }
        }
    }
}
