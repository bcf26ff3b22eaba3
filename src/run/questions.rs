//! Finds runs in which the user said something else than in the evalset, such as a recording from before the evalset was
//! edited: its answers are to other questions, so that their scores say nothing.

use super::Run;

impl Run<'_> {
    /// The first turn of a case result in which the user said something else than in the evalset: the id of the case, the
    /// number of the turn, what the user said, what the user says in the evalset. Empty if there is none, as with a simulated
    /// user, and for a case that cannot be scored.
    #[must_use]
    pub fn other_question(&self, pairing: usize) -> Vec<String> {
        let Some((pairing, judged)) = self
            .matched
            .pairings
            .get(pairing)
            .and_then(|pairing| Some((pairing, self.scorable(*pairing).ok()?)))
        else {
            return Vec::new();
        };
        let mut number = 0_u32;
        for pair in judged.case.pairs() {
            number += 1;
            let Some(expected) = pair.expected else { break };
            let [said, expected] = [pair.actual, expected].map(|turn| turn.user_content().text());
            if !said.is_empty() && !letters(&said).eq(letters(&expected)) {
                let case = pairing.case as u32;
                return vec![case.to_string(), number.to_string(), said.into_owned(), expected.into_owned()];
            }
        }
        Vec::new()
    }
}

/// A text without what may change when it is laid out anew.
fn letters(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().filter(|byte| *byte > b' ')
}
