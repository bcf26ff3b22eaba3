//! Finds runs with user messages that differ from the evalset, such as a recording made before the evalset was edited. The
//! agent answered other questions, so the scores would be meaningless.

use super::Run;

impl Run<'_> {
    /// The first turn of a case result with a user message that differs from the evalset: the index of the case, the number
    /// of the turn, the user's message in the run and in the evalset. Empty if there is none, as with a simulated user, and
    /// for a case that cannot be scored.
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
        for (number, pair) in (1_u32..).zip(judged.case.pairs()) {
            let Some(expected) = pair.expected else { break };
            let [said, expected] = [pair.actual, expected].map(|turn| turn.user_content().text());
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
