//! What is asked about a conversation, planned turn by turn: apart, because planning can pause between turns, and
//! bounds what all turns together hold.

use super::{JudgeConfig, Judged, JudgedCase, JudgedTurn, Question, RubricVotes, Work};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::judge::votes::Rule;
use crate::metrics::Scoring;

/// The most that the rubrics of all turns of a conversation may take, each turn having its own results, in bytes.
pub const MAX_RUBRIC_BYTES: usize = 64 << 20;

/// The questions about one conversation that need no other answer, while they are planned turn by turn.
pub struct Planning {
    turn: usize,
    /// What the rubrics of all turns take.
    rubrics: usize,
    /// What the simulated user's history takes.
    history: usize,
    list: Vec<Question>,
}

impl Planning {
    /// Begins with the first turn.
    ///
    /// # Errors
    /// Where google-adk raises.
    pub fn begin(judged: &dyn Judged, case: &JudgedCase<'_>) -> Result<Self> {
        judged.check(case)?;
        let judge_config = judged.judge_config();
        let turn = if judge_config.whole_conversation { case.turns.len().saturating_sub(1) } else { 0 };
        Ok(Self { turn, rubrics: 0, history: 0, list: Vec::new() })
    }

    /// Goes on for as long as there is work left to do. Says whether all turns are planned.
    ///
    /// # Errors
    /// Where google-adk raises.
    pub fn go_on(
        &mut self,
        judged: &dyn Judged,
        case: &JudgedCase<'_>,
        scoring: &Scoring,
        work: &mut Work,
    ) -> Result<bool> {
        while let Some(turn) = case.turns.get(self.turn).copied() {
            if work.is_done() {
                return Ok(false);
            }
            work.add(Work::OF_TURN);
            self.turn += 1;
            judged.ask(
                case,
                turn,
                &mut Questions { judge_config: judged.judge_config(), scoring, turn, planning: self, work },
            )?;
        }
        Ok(true)
    }

    /// The questions in the order of their turns.
    #[must_use]
    pub fn into_questions(self) -> Vec<Question> {
        self.list
    }
}

/// The questions about a conversation, while they are asked turn by turn.
pub struct Questions<'q> {
    judge_config: &'q JudgeConfig,
    pub(in crate::metrics) scoring: &'q Scoring,
    turn: JudgedTurn<'q>,
    planning: &'q mut Planning,
    work: &'q mut Work,
}

impl Questions<'_> {
    /// Asks by the first prompt for a majority over the samples that the config asks for.
    pub(in crate::metrics) fn ballot(&mut self) -> &mut Question {
        let (samples, early_stop) = (self.judge_config.options.samples, self.scoring.early_stop);
        let question = self.judge_config.question(0);
        let question = self.add(question);
        question.samples = samples;
        question.rule = Rule::Majority { early_stop };
        question
    }

    /// Asks a question about the turn.
    #[inline(never)]
    pub(in crate::metrics) fn add(&mut self, question: Question) -> &mut Question {
        let question = self.planning.list.push_mut(question);
        question.invocation = self.turn.index;
        question
    }

    /// Counts the rubrics of a turn, which its results repeat.
    ///
    /// # Errors
    /// `limit_exceeded` if those of all turns take too much.
    pub(in crate::metrics) fn count_rubrics(&mut self, number: usize, bytes: usize) -> Result<()> {
        self.work.add(number * Work::OF_RUBRIC);
        self.planning.rubrics += bytes + number * size_of::<RubricVotes>();
        if self.planning.rubrics > MAX_RUBRIC_BYTES { Err(too_many_rubrics()) } else { Ok(()) }
    }

    /// Counts what a turn adds to the history that later prompts show. Returns what all have by then.
    pub(in crate::metrics) fn count_history(&mut self, bytes: usize) -> usize {
        self.work.add(bytes);
        self.planning.history += bytes;
        self.planning.history
    }
}

#[cold]
fn too_many_rubrics() -> Error {
    let limit = (MAX_RUBRIC_BYTES >> 20).to_string();
    let message = ["the rubrics of all turns together take more than ", &limit, " MiB"].concat();
    Error::new(ErrorCode::LimitExceeded, message).with_help("Split the conversation into several cases")
}
