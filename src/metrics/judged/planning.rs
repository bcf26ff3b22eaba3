//! Plans the questions about a conversation turn by turn. Planning can be interrupted between turns, and limits
//! what all turns hold together.

use super::{JudgeConfig, Judged, JudgedCase, JudgedTurn, Question, RubricVotes, Work};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::judge::votes::VotingRule;
use crate::metrics::Scoring;

/// The most bytes that the rubrics of all turns of a conversation may take. Each turn stores its own results.
pub const MAX_RUBRIC_BYTES: usize = 64 << 20;

/// The questions about one conversation that depend on no other answer, while they are being planned.
pub struct Planning {
    turn: usize,
    /// The bytes that the rubrics of all turns take.
    rubrics: usize,
    /// The length of the simulated user's history, in bytes.
    history: usize,
    list: Vec<Question>,
}

impl Planning {
    /// Starts with the first turn.
    ///
    /// # Errors
    /// Where google-adk raises.
    pub fn begin(judged: &dyn Judged, case: &JudgedCase<'_>) -> Result<Self> {
        judged.check(case)?;
        let judge_config = judged.judge_config();
        let turn = if judge_config.whole_conversation { case.turns.len().saturating_sub(1) } else { 0 };
        Ok(Self { turn, rubrics: 0, history: 0, list: Vec::new() })
    }

    /// Continues until all turns are planned or the work for one poll is done. Returns whether all are planned.
    ///
    /// # Errors
    /// Where google-adk raises.
    pub fn advance(
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

    /// The questions, sorted by turn.
    #[must_use]
    pub fn into_questions(self) -> Vec<Question> {
        self.list
    }
}

/// Collects the questions about one turn.
pub struct Questions<'q> {
    judge_config: &'q JudgeConfig,
    pub(in crate::metrics) scoring: &'q Scoring,
    turn: JudgedTurn<'q>,
    planning: &'q mut Planning,
    work: &'q mut Work,
}

impl Questions<'_> {
    /// Asks the metric's first prompt, decided by the majority of as many samples as the config asks for.
    pub(in crate::metrics) fn ballot(&mut self) -> &mut Question {
        let (samples, early_stop) = (self.judge_config.options.samples, self.scoring.early_stop);
        let question = self.judge_config.question(0);
        let question = self.add(question);
        question.samples = samples;
        question.rule = VotingRule::Majority { early_stop };
        question
    }

    /// Asks a question about the turn.
    pub(in crate::metrics) fn add(&mut self, question: Question) -> &mut Question {
        let question = self.planning.list.push_mut(question);
        question.invocation = self.turn.index;
        question
    }

    /// Counts the rubrics of a turn, which its results repeat.
    ///
    /// # Errors
    /// `limit_exceeded` if the rubrics of all turns take too much.
    pub(in crate::metrics) fn count_rubrics(&mut self, number: usize, bytes: usize) -> Result<()> {
        self.work.add(number * Work::OF_RUBRIC);
        self.planning.rubrics += bytes + number * size_of::<RubricVotes>();
        if self.planning.rubrics > MAX_RUBRIC_BYTES { Err(too_many_rubrics()) } else { Ok(()) }
    }

    /// Counts what a turn adds to the history that later prompts show. Returns the length of the history.
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
