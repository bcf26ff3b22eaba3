//! Finds runs with user messages that differ from the evalset, such as a recording made before the evalset was edited. The
//! agent answered other questions, so the scores would be meaningless.

use super::Run;
use crate::metrics::judged::Work;

/// The fields of a turn that a run reads whatever its metrics are: questions are compared, and rubrics join those of the
/// evalset.
pub const READ_BY_RUN: &[&str] = &["user_content.parts.text", "rubrics"];

/// How many case results are looked at in one call.
const RESULTS_AT_ONCE: usize = 128;

/// The most bytes of user messages of one case that are compared: it is done at once.
const MAX_COMPARED: usize = 1 << 22;

impl Run<'_> {
    /// Looks at some case results from `next` on, and moves `next` behind them. Returns in how many of them a user message
    /// differs from the evalset. Of the first such turn: the index of the case, the number of the turn, the user's message
    /// in the run and in the evalset.
    #[must_use]
    pub fn other_questions(&self, next: &mut usize) -> (usize, Vec<String>) {
        let end = next.saturating_add(RESULTS_AT_ONCE);
        let (mut count, mut first, mut compared) = (0, Vec::new(), 0);
        while *next < end && compared < Work::PER_POLL {
            if let Some(found) = self.other_question_in(*next, &mut compared) {
                count += 1;
                if count == 1 {
                    first = found;
                }
            }
            *next += 1;
        }
        (count, first)
    }

    /// `None` also with a simulated user, and for a case whose turns have no counterparts. `compared` grows by the bytes of
    /// messages, of which a case has at most [`MAX_COMPARED`] compared.
    fn other_question_in(&self, pairing: usize, compared: &mut usize) -> Option<Vec<String>> {
        let pairing = self.matched.pairings.get(pairing)?;
        let said = self.matched.runs.get(pairing.run?)?.turns?;
        let expected = self.matched.cases.get(pairing.case)?.turns?;
        if said.len() != expected.len() {
            return None;
        }
        let most = compared.saturating_add(MAX_COMPARED);
        for (number, (said, expected)) in (1_u32..).zip(said.iter().zip(expected.iter())) {
            let [said, expected] = [said, expected].map(|turn| turn.user_content());
            let [raw_said, raw_expected] = [said.0.raw(), expected.0.raw()];
            *compared += raw_said.len() + raw_expected.len();
            if *compared > most {
                break;
            }
            if raw_said == raw_expected {
                continue;
            }
            let [said, expected] = [said, expected].map(|content| content.text());
            if !said.is_empty() && !without_white_space(&said).eq(without_white_space(&expected)) {
                let case = pairing.case as u32;
                return Some(vec![
                    case.to_string(),
                    number.to_string(),
                    said.into_owned(),
                    expected.into_owned(),
                ]);
            }
        }
        None
    }
}

/// A text without white space, which may change when a file is reformatted.
fn without_white_space(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(|byte| *byte > b' ')
}
