//! Finds runs with user messages that differ from the evalset, such as a recording made before the evalset was edited. The
//! agent answered other questions, so the scores would be meaningless.

use super::Run;
use crate::metrics::judged::Work;

/// The fields of a turn that a run reads whatever its metrics are: questions are compared, and rubrics join those of the
/// evalset.
pub const READ_BY_RUN: &[&str] = &["user_content.parts.text", "rubrics"];

/// How many case results are looked at in one call.
const RESULTS_AT_ONCE: usize = 32;

/// The most bytes of user messages of one case that are compared: it is done at once.
const MAX_COMPARED: usize = 1 << 22;

impl Run<'_> {
    /// Looks at some case results from `next` on, until there is one with a user message that differs from the evalset.
    /// `next` is moved behind those that were looked at. Of the first such turn: the index of the case, the number of the
    /// turn, the user's message in the run and in the evalset.
    #[must_use]
    pub fn other_question(&self, next: &mut usize) -> Vec<String> {
        let end = next.saturating_add(RESULTS_AT_ONCE);
        let mut compared = 0;
        while *next < end && compared < Work::PER_POLL {
            let found = self.other_question_in(*next, &mut compared);
            *next += 1;
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Empty if there is none, as with a simulated user, and for a case that cannot be scored. `compared` grows by the bytes
    /// of messages, of which a case has at most [`MAX_COMPARED`] compared.
    fn other_question_in(&self, pairing: usize, compared: &mut usize) -> Vec<String> {
        let Some((pairing, judged)) = self
            .matched
            .pairings
            .get(pairing)
            .and_then(|pairing| Some((pairing, self.scorable(*pairing).ok()?)))
        else {
            return Vec::new();
        };
        let most = compared.saturating_add(MAX_COMPARED);
        for (number, pair) in (1_u32..).zip(judged.case.pairs()) {
            let Some(expected) = pair.expected else { break };
            let [said, expected] = [pair.actual, expected].map(|turn| turn.user_content());
            *compared += said.0.raw().len() + expected.0.raw().len();
            if *compared > most {
                break;
            }
            let [said, expected] = [said, expected].map(|content| content.text());
            if !said.is_empty() && !without_white_space(&said).eq(without_white_space(&expected)) {
                let case = pairing.case as u32;
                return vec![case.to_string(), number.to_string(), said.into_owned(), expected.into_owned()];
            }
        }
        Vec::new()
    }
}

/// A text without white space, which may change when a file is reformatted.
fn without_white_space(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(|byte| *byte > b' ')
}
