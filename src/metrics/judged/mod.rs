//! Metrics that ask a judge.
//!
//! Such a metric has no state: [`Judged::ask`] and [`Judged::follow_up`] say what to ask, [`Judged::read`] what
//! a reply means, [`Judged::turn`] and [`Judged::overall`] what the result is. [`run`](crate::run) decides when
//! a judge is asked and what happens after failures.
//!
//! In the order of the data:
//!
//! 1. A config gives [`JudgeConfig`] with its [`JudgeModelOptions`].
//! 2. [`Planning`] collects the [`Question`]s about a case.
//! 3. Replies become [`Ballot`]s; all ballots of a question are its [`Answer`].
//! 4. [`Conclusion`] computes the result from the answers; `explanation` has what the result shows of them.
//!
//! Planning and conclusion count their [`Work`], so that long cases can be interrupted.

mod conclusion;
mod explanation;
mod judge_config;
mod options;
mod planning;
mod question;
mod work;

use super::rubrics::CaseRubrics;
use super::{Case, Evaluation, Scoring, TurnEvaluation};
use crate::foundation::error::Result;
use crate::model::evalset::ConversationScenario;
use crate::model::invocation::Invocation;

pub use crate::judge::prompt::Purpose;
pub use conclusion::{Conclusion, RubricSums};
pub(super) use conclusion::{average, judged_turn, plain_mean};
pub use explanation::{RubricVotes, SampleUsage, SampleVote, Samples, Sentence};
pub(super) use judge_config::PromptValues;
pub use judge_config::{JudgeConfig, PromptText};
pub use options::JudgeModelOptions;
#[cfg(feature = "schema")]
pub(crate) use options::MODEL as JUDGE_MODEL;
pub(crate) use options::SETTINGS as JUDGE_SETTINGS;
pub use planning::{MAX_RUBRIC_BYTES, Planning, Questions};
pub use question::{Answer, Ballot, Question, SampleReply};
pub use work::Work;

/// The longest prompt that is sent to a judge, in bytes.
pub const MAX_PROMPT_BYTES: usize = 4 << 20;

/// The most bytes that the prompts of all calls in flight may take. Calls wait for room; none is rejected for
/// this.
pub const MAX_OPEN_PROMPT_BYTES: usize = 64 << 20;

/// A metric that asks a judge.
pub trait Judged {
    /// How the judge is asked.
    fn judge_config(&self) -> &JudgeConfig;

    /// Checks whether the conversation can be judged at all.
    ///
    /// # Errors
    /// Where google-adk raises: no reference, no scenario, another number of turns.
    fn check(&self, case: &JudgedCase<'_>) -> Result<()>;

    /// Asks the questions about one turn that depend on no other answer.
    ///
    /// # Errors
    /// Where google-adk raises: no rubrics.
    fn ask(&self, case: &JudgedCase<'_>, turn: JudgedTurn<'_>, questions: &mut Questions<'_>) -> Result<()>;

    /// Renders the prompt of a question. Called when the question is sent, so that few prompts are in memory.
    /// `before` is the answer that a follow-up question depends on.
    fn prompt(&self, case: &JudgedCase<'_>, question: &Question, before: Option<&Answer>) -> PromptText;

    /// Parses the reply of one sample.
    fn read(&self, case: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot;

    /// The question to ask after an answer is settled, if any.
    fn follow_up(&self, _answer: &Answer) -> Option<Question> {
        None
    }

    /// The result of a turn. `answers` are sorted by step.
    ///
    /// # Errors
    /// Where google-adk raises.
    fn turn<'a>(
        &self,
        case: &JudgedCase<'a>,
        turn: JudgedTurn<'a>,
        answers: &[&Answer],
        scoring: &Scoring,
    ) -> Result<TurnEvaluation<'a>>;

    /// Adds a turn's result to the sums that [`Judged::overall`] is given.
    fn add_up(&self, _turn: &TurnEvaluation<'_>, _sums: &mut RubricSums) {}

    /// Completes the evaluation, which has the results of all turns: sets score, reason and details.
    fn overall(
        &self,
        answers: &[Answer],
        sums: RubricSums,
        scoring: &Scoring,
        evaluation: &mut Evaluation<'_>,
    );
}

/// One turn of a conversation that is judged.
#[derive(Clone, Copy)]
pub struct JudgedTurn<'a> {
    /// Its index.
    pub index: usize,
    /// What the agent did.
    pub actual: Invocation<'a>,
    /// What was expected of it, if known.
    pub expected: Option<Invocation<'a>>,
}

/// The conversation that a judge is asked about.
#[derive(Clone)]
pub struct JudgedCase<'a> {
    /// The actual and the expected turns.
    pub case: Case<'a>,
    /// The scenario that a simulated user followed.
    pub scenario: Option<ConversationScenario<'a>>,
    /// The rubrics that apply to each turn.
    pub rubrics: CaseRubrics<'a>,
    /// The actual turns, each with the expected turn at the same position. Empty until
    /// [`JudgedCase::with_paired_turns`].
    turns: Vec<JudgedTurn<'a>>,
}

impl<'a> JudgedCase<'a> {
    /// A conversation whose turns are not paired yet.
    #[must_use]
    pub fn new(case: Case<'a>, scenario: Option<ConversationScenario<'a>>, rubrics: CaseRubrics<'a>) -> Self {
        Self { case, scenario, rubrics, turns: Vec::new() }
    }

    /// Pairs actual and expected turns.
    #[must_use]
    pub fn with_paired_turns(mut self) -> Self {
        let mut expected = self.case.expected.unwrap_or_default().iter();
        for (index, actual) in self.case.actual.iter().enumerate() {
            self.turns.push(JudgedTurn { index, actual, expected: expected.next() });
        }
        self
    }

    /// The turn at an index.
    pub(super) fn turn(&self, index: usize) -> Option<JudgedTurn<'a>> {
        self.turns.get(index).copied()
    }
}
