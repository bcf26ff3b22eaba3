//! What a metric is that asks a judge.
//!
//! Such a metric is pure: it says what to ask ([`Judged::ask`], [`Judged::follow_up`]), what a reply
//! says ([`Judged::read`]) and what all replies come to ([`Judged::turn`], [`Judged::overall`]). Who is
//! asked, how often, how many at a time and what becomes of failures is the run's.
//!
//! In the order of the work: a config makes [`JudgeConfig`] and its [`JudgeModelOptions`]; [`Planning`] collects the
//! [`Question`]s about a case; replies make [`Answer`]s; [`Conclusion`] makes the result of them, with what
//! `explanation` holds of it. Planning and conclusion count their [`Work`], so that long cases can pause.

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
pub(super) use conclusion::{average, plain_mean, turn_of};
pub use explanation::{RubricVotes, SampleUsage, SampleVote, Samples, Sentence};
pub(super) use judge_config::PromptValues;
pub use judge_config::{JudgeConfig, PromptText};
pub use options::JudgeModelOptions;
#[cfg(feature = "schema")]
pub(crate) use options::SETTINGS;
pub use planning::{MAX_RUBRIC_BYTES, Planning, Questions};
pub use question::{Answer, Ballot, Question, SampleReply};
pub use work::Work;

/// The longest prompt that a judge is asked, in bytes.
pub const MAX_PROMPT_BYTES: usize = 4 << 20;

/// The most that the prompts of all calls under way may take, in bytes. It holds back calls, and refuses none.
pub const MAX_OPEN_PROMPT_BYTES: usize = 64 << 20;

/// A metric that asks a judge: what it makes of single turns, and of all of them.
pub trait Judged {
    /// How the judge is to be asked.
    fn judge_config(&self) -> &JudgeConfig;

    /// Whether the conversation can be judged at all.
    ///
    /// # Errors
    /// Where google-adk raises: no reference, no scenario, another number of turns.
    fn check(&self, case: &JudgedCase<'_>) -> Result<()>;

    /// Asks about one turn what needs no other answer.
    ///
    /// # Errors
    /// Where google-adk raises: no rubrics.
    fn ask(&self, case: &JudgedCase<'_>, turn: JudgedTurn<'_>, questions: &mut Questions<'_>) -> Result<()>;

    /// The words of a question, made when it is sent: few prompts exist at a time. A question that follows
    /// from an answer is given that too.
    fn prompt(&self, case: &JudgedCase<'_>, question: &Question, before: Option<&Answer>) -> PromptText;

    /// What the reply to one sample of a question says.
    fn read(&self, case: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot;

    /// The question that follows from an answered one.
    fn follow_up(&self, _answer: &Answer) -> Option<Question> {
        None
    }

    /// What the answers about one turn come to, which are in the order of their steps.
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

    /// Adds up a turn's result, so that [`Judged::overall`] need not look at all of them again.
    fn add_up(&self, _turn: &TurnEvaluation<'_>, _sums: &mut RubricSums) {}

    /// What all turns come to, which stand in the evaluation: adds its score, reason and details.
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
    /// Its place.
    pub index: usize,
    /// What happened.
    pub actual: Invocation<'a>,
    /// What was expected to, where that is known.
    pub expected: Option<Invocation<'a>>,
}

/// The conversation that a judge is asked about.
#[derive(Clone)]
pub struct JudgedCase<'a> {
    /// Both sides.
    pub case: Case<'a>,
    /// The scenario that a simulated user followed.
    pub scenario: Option<ConversationScenario<'a>>,
    /// The rubrics of each actual turn.
    pub rubrics: CaseRubrics<'a>,
    /// The turns that happened, each with the one that was expected in its place; once they are lined up.
    turns: Vec<JudgedTurn<'a>>,
}

impl<'a> JudgedCase<'a> {
    /// What is known of a conversation.
    #[must_use]
    pub fn new(case: Case<'a>, scenario: Option<ConversationScenario<'a>>, rubrics: CaseRubrics<'a>) -> Self {
        Self { case, scenario, rubrics, turns: Vec::new() }
    }

    /// Puts both sides beside each other, for a judge.
    #[must_use]
    pub fn lined_up(mut self) -> Self {
        let mut expected = self.case.expected.unwrap_or_default().iter();
        for (index, actual) in self.case.actual.iter().enumerate() {
            self.turns.push(JudgedTurn { index, actual, expected: expected.next() });
        }
        self
    }

    /// One of the turns.
    pub(super) fn turn(&self, index: usize) -> Option<JudgedTurn<'a>> {
        self.turns.get(index).copied()
    }
}
