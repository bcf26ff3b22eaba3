//! The metrics: one file each, with a description of the metric (`INFO`) and its computation.
//!
//! # How a metric is computed
//!
//! 1. The config names a metric; [`find`] looks it up in [`REGISTRY`]. [`MetricInfo::build`] checks the
//!    criterion's settings and makes the metric: an [`AnyMetric`], which is either plain or judged.
//! 2. A plain metric implements [`Metric`]: `check` decides whether the conversation can be scored at all,
//!    `turn` scores one pair of turns, `conclude` makes the overall result. [`run`](crate::run) calls them one
//!    by one, so that a long conversation can be interrupted; `evaluate` calls them all at once.
//! 3. A judged metric implements [`Judged`]: `ask` plans questions, `prompt` renders them, `read` parses
//!    replies, `turn` and `overall` make the results. See [`judged`].
//! 4. Both return an [`Evaluation`] with a [`TurnEvaluation`] per turn: score, status, reason, and an
//!    [`Explanation`] if one is wanted.
//!
//! # Which file to read for what
//!
//! - `response_match_score`, `tool_trajectory_avg_score`, … — one file per metric, named after it.
//! - `call_metric` — shared by the three metrics that compare tool calls.
//! - `efficiency` — shared by the four informational metrics (calls, tokens, durations).
//! - `rubric_based` — shared by the three rubric metrics; [`rubrics`] collects the rubrics that apply to a
//!   turn.
//! - `vertex_scored` — shared by the five metrics that google-adk delegates to Vertex AI.
//! - `transcript` — conversations as text for prompts.
//! - `explanation` — how a score came about, as results show it.
//! - `registry` — what is known of a metric without running it, and the lookup by name.
//!
//! A new metric needs a file, and here its `mod` line and its entry in [`REGISTRY`].
//!
//! ```
//! use adk_metrics::foundation::json::Document;
//! use adk_metrics::metrics::{AnyMetric, Case, Dialect, Explain, Scoring};
//! use adk_metrics::model::{invocation::{Invocation, Turns}, shape::{List, View, Warnings, check}};
//! use adk_metrics::run::{MetricScorer, Plan, PlanOptions};
//!
//! let mut turns = Document::parse(r#"[{"user_content": {"parts": [{"text": "Weather?"}]},
//!     "final_response": {"parts": [{"text": "It is sunny."}]}}]"#)?;
//! check(&mut turns, &<List<'_, Invocation<'_>>>::TYPE, &Warnings::default())?;
//! let turns: Turns<'_> = <List<'_, Invocation<'_>>>::from_json(turns.root()).into();
//!
//! let mut config = Document::parse(r#"{"metric_name": "response_match_score", "threshold": 0.5}"#)?;
//! let plan = Plan::from_metric(&mut config, PlanOptions::default(), &Warnings::default())?;
//! let MetricScorer::Engine(metric) = &plan.metrics[0].scorer else { panic!("needs no judge") };
//!
//! let case = Case { actual: turns, expected: Some(turns) };
//! let evaluation = metric.evaluate(&case, &mut Scoring::new(Dialect::AdkPython, Explain::None))?;
//! assert_eq!(evaluation.score, Some(1.0));
//! # Ok::<(), adk_metrics::foundation::error::Error>(())
//! ```

mod call_metric;
mod efficiency;
mod explanation;
mod final_response_match;
mod hallucinations;
mod inference_call_count;
mod invocation_duration;
pub mod judged;
mod multi_turn_task_success;
mod multi_turn_tool_use_quality;
mod multi_turn_trajectory_quality;
mod registry;
mod response_evaluation_score;
mod response_match_score;
mod rubric_based;
mod rubric_based_final_response_quality;
mod rubric_based_multi_turn_trajectory_quality;
mod rubric_based_tool_use_quality;
pub mod rubrics;
mod safety;
mod token_usage;
mod tool_call_count;
mod tool_parameter_match;
mod tool_trajectory_avg_score;
mod tool_trajectory_f1;
mod transcript;
mod user_simulator_quality;
mod vertex_scored;

use std::borrow::Cow;
use std::pin::Pin;
use std::rc::Rc;

use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::pace::Pace;
use crate::foundation::write::{Write, Writer};
use crate::model::content::ToolCall;
use crate::model::invocation::{Invocation, Turns, TurnsIter};
use crate::model::results::EvalStatus;
use crate::text::Scorer;

pub use crate::text::Dialect;
pub use efficiency::{SecondsByKind, TokensByKind};
pub use explanation::{Explanation, MatchedToken, TokenOverlap};
use judged::{Judged, Work};
pub use registry::{
    Interval, MetricInfo, find, informational_metrics, metric_names, unknown_metric, unregistered_metric,
};

/// Every metric, in the order in which they are listed to users.
pub const REGISTRY: &[MetricInfo] = &[
    tool_trajectory_avg_score::INFO,
    response_match_score::INFO,
    tool_parameter_match::INFO,
    tool_trajectory_f1::INFO,
    tool_call_count::INFO,
    inference_call_count::INFO,
    token_usage::INFO,
    invocation_duration::INFO,
    final_response_match::INFO,
    rubric_based_final_response_quality::INFO,
    rubric_based_tool_use_quality::INFO,
    rubric_based_multi_turn_trajectory_quality::INFO,
    hallucinations::INFO,
    user_simulator_quality::INFO,
    safety::INFO,
    response_evaluation_score::INFO,
    multi_turn_task_success::INFO,
    multi_turn_trajectory_quality::INFO,
    multi_turn_tool_use_quality::INFO,
];

/// The most tool calls of one turn that are compared with others.
pub const MAX_CALLS: usize = 10_000;
/// The most bytes that their arguments may have together.
pub const MAX_CALL_BYTES: usize = 1 << 23;

/// The pace at which a turn is scored in slices.
fn in_slices() -> Pace {
    Pace::new(Work::PER_POLL)
}

/// A metric, by how it is computed.
pub enum AnyMetric {
    /// Computed from the conversations alone.
    Plain(Box<dyn Metric>),
    /// Computed from a judge's replies.
    Judged(Box<dyn Judged>),
}

/// A turn that is being scored in slices.
pub type SlicedTurn<'a> = Pin<Box<dyn Future<Output = Result<TurnEvaluation<'a>>> + 'a>>;

/// A metric that is computed from the conversations alone.
///
/// It is computed in steps, turn by turn, so that the host can interrupt a long conversation.
pub trait Metric {
    /// Checks whether the conversation can be scored at all.
    ///
    /// # Errors
    /// `reference_required` and `length_mismatch` where google-adk raises.
    fn check(&self, _: &Case<'_>, _: &Scoring) -> Result<()> {
        Ok(())
    }

    /// Warns of a setting that has no effect on any of the expected conversations.
    fn unused_setting(&self, _: &mut dyn Iterator<Item = Turns<'_>>) -> Option<Error> {
        None
    }

    /// Scores one turn. `pair.expected` is the expected turn at the same position, if there is one.
    ///
    /// # Errors
    /// Anything that prevents the whole conversation from being scored.
    fn turn<'a>(
        &self,
        case: &Case<'a>,
        pair: TurnPair<'a>,
        scoring: &mut Scoring,
    ) -> Result<TurnEvaluation<'a>>;

    /// Scores one turn in slices, with the result of [`Metric::turn`]. `None` if the turn is so small, or the metric so
    /// simple, that this does not take long.
    fn turn_in_slices<'a>(
        self: Rc<Self>,
        _: Case<'a>,
        _: TurnPair<'a>,
        _: &Scoring,
    ) -> Option<SlicedTurn<'a>> {
        None
    }

    /// Makes the result of the conversation from the results of its turns.
    fn conclude<'a>(
        &self,
        case: &Case<'a>,
        turns: Vec<TurnEvaluation<'a>>,
        scoring: &Scoring,
    ) -> Evaluation<'a>;
}

impl dyn Metric {
    /// Scores a whole conversation at once.
    ///
    /// # Errors
    /// Those of the steps.
    pub fn evaluate<'a>(&self, case: &Case<'a>, scoring: &mut Scoring) -> Result<Evaluation<'a>> {
        self.check(case, scoring)?;
        let mut turns = Vec::new();
        for pair in case.pairs() {
            turns.push(self.turn(case, pair, scoring)?);
        }
        Ok(self.conclude(case, turns, scoring))
    }
}

/// An actual turn and the expected turn at the same position.
#[derive(Clone, Copy)]
pub struct TurnPair<'a> {
    /// What the agent did.
    pub actual: Invocation<'a>,
    /// What was expected of it.
    pub expected: Option<Invocation<'a>>,
}

/// An iterator over the pairs of turns of a case.
pub struct TurnPairs<'a> {
    actual: TurnsIter<'a>,
    expected: Option<TurnsIter<'a>>,
}

impl<'a> Iterator for TurnPairs<'a> {
    type Item = TurnPair<'a>;

    fn next(&mut self) -> Option<TurnPair<'a>> {
        let actual = self.actual.next()?;
        Some(TurnPair { actual, expected: self.expected.as_mut().and_then(Iterator::next) })
    }
}

impl<'a> TurnPair<'a> {
    /// Both turns, for metrics that need a reference. `check` has already reported which conversations have
    /// none.
    fn both(self, name: &str, case: &Case<'a>) -> Result<(Invocation<'a>, Invocation<'a>)> {
        let expected = self.expected.ok_or_else(|| match case.expected {
            Some(expected) => length_mismatch(case.actual.len(), expected.len()),
            None => no_reference(name),
        })?;
        Ok((self.actual, expected))
    }

    /// Whether metrics that take more than linear time should score the turns in slices.
    fn is_large(self) -> bool {
        self.size() > 1 << 12
    }

    /// The approximate amount of text to read, in bytes.
    pub(crate) fn size(self) -> usize {
        self.actual.0.raw().len() + self.expected.map_or(0, |turn| turn.0.raw().len())
    }
}

/// The conversations of one case.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// What the agent did, turn by turn.
    pub actual: Turns<'a>,
    /// What was expected of it; `None` for a scenario.
    pub expected: Option<Turns<'a>>,
}

impl<'a> Case<'a> {
    /// The pairs of turns, in order.
    #[must_use]
    pub fn pairs(&self) -> TurnPairs<'a> {
        TurnPairs { actual: self.actual.iter(), expected: self.expected.map(Turns::iter) }
    }
}

/// The settings and caches that all metrics of a run share.
pub struct Scoring {
    /// Which implementation's scores to reproduce.
    pub dialect: Dialect,
    /// Which results to explain.
    pub explain: Explain,
    /// Whether to skip samples that can no longer change a verdict.
    pub early_stop: bool,
    /// The tokenizer, with a cache of the words it has seen.
    pub scorer: Scorer,
}

impl Scoring {
    /// The settings for a dialect, with early stop.
    #[must_use]
    pub fn new(dialect: Dialect, explain: Explain) -> Self {
        Self { dialect, explain, early_stop: true, scorer: Scorer::new(dialect) }
    }
}

/// Which results get an explanation. The others cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Explain {
    /// No result.
    None,
    /// Results that are not PASSED.
    Failures,
    /// Every result.
    #[default]
    All,
}

impl Explain {
    fn wants(self, status: EvalStatus) -> bool {
        match self {
            Self::None => false,
            Self::Failures => status != EvalStatus::Passed,
            Self::All => true,
        }
    }
}

/// The result of a metric for one conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluation<'a> {
    /// The score of the whole conversation.
    pub score: Option<f64>,
    /// How the evaluation ended.
    pub status: EvalStatus,
    /// Why there is no score.
    pub reason: Option<Cow<'static, str>>,
    /// What the score is made of.
    pub details: Option<Box<Details>>,
    /// Why the metric could not be computed.
    pub error: Option<Error>,
    /// One entry per turn.
    pub turns: Vec<TurnEvaluation<'a>>,
}

/// The result of a metric for one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnEvaluation<'a> {
    /// The score of the turn.
    pub score: Option<f64>,
    /// How the evaluation ended.
    pub status: EvalStatus,
    /// Why there is no score.
    pub reason: Option<Cow<'static, str>>,
    /// What the score is made of.
    pub details: Option<Box<Details>>,
    /// How the score came about.
    pub explanation: Option<Box<Explanation<'a>>>,
}

/// The parts of a score.
#[derive(Clone, Debug, PartialEq)]
pub enum Details {
    /// Tokens by kind.
    TokenUsage(TokensByKind),
    /// Seconds by kind.
    Duration(SecondsByKind),
    /// The scores of rubrics.
    Rubrics(Vec<RubricFinding>),
}

impl Details {
    /// The details of rubric findings; `None` if there are none.
    fn from_rubrics(findings: Vec<RubricFinding>) -> Option<Box<Self>> {
        (!findings.is_empty()).then(|| Box::new(Self::Rubrics(findings)))
    }
}

/// The result for one rubric, written as [`RubricScore`](crate::model::results::RubricScore).
#[derive(Clone, Debug, PartialEq)]
pub struct RubricFinding {
    /// The rubric.
    pub rubric_id: String,
    /// Why it got this score.
    pub rationale: Option<String>,
    /// 1 for yes, 0 for no; over a whole conversation the share of turns.
    pub score: Option<f64>,
}

impl Write for RubricFinding {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.field("rubric_id", "rubricId", &self.rubric_id);
        object.optional("rationale", &self.rationale);
        object.optional("score", &self.score);
        object.end();
    }
}

impl Write for Details {
    /// Writes [`EvalMetricResultDetails`](crate::model::results::EvalMetricResultDetails).
    fn write(&self, out: &mut Writer) {
        let mut details = out.object();
        match self {
            Self::TokenUsage(tokens) => details.field("token_usage_details", "tokenUsageDetails", tokens),
            Self::Duration(seconds) => details.field("duration_details", "durationDetails", seconds),
            Self::Rubrics(rubrics) => details.field("rubric_scores", "rubricScores", rubrics),
        }
        details.end();
    }
}

impl<'a> TurnEvaluation<'a> {
    fn scored(score: f64, threshold: f64) -> Self {
        Self { score: Some(score), status: EvalStatus::from_score(Some(score), threshold), ..Self::default() }
    }

    pub(crate) fn not_evaluated(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: Some(reason.into()), ..Self::default() }
    }
}

impl<'a> Evaluation<'a> {
    /// The mean of the turns that have a score. `reason` applies if none has.
    fn mean(turns: Vec<TurnEvaluation<'a>>, threshold: f64, nothing: &'static str) -> Self {
        let score = mean(turns.iter().filter_map(|turn| turn.score));
        Self {
            score,
            status: EvalStatus::from_score(score, threshold),
            reason: score.is_none().then_some(Cow::Borrowed(nothing)),
            turns,
            ..Self::default()
        }
    }
}

/// The sum from left to right divided by the number of values: google-adk's mean for every metric except the
/// rubric metrics and hallucinations.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut count = 0.0;
    let mut sum = 0.0;
    for value in values {
        sum += value;
        count += 1.0;
    }
    (count > 0.0).then(|| sum / count)
}

pub(crate) const NO_TURNS: &str = "there are no turns to evaluate";
const NO_REFERENCE: &str = "there is no expected conversation to compare with";

/// What to do with expected turns that have no actual turn.
#[derive(Clone, Copy, PartialEq)]
enum ExtraTurns {
    Error,
    Ignored,
}

/// Fails if the turns cannot be compared one by one.
fn comparable(name: &str, case: &Case<'_>, extra_turns: ExtraTurns) -> Result<()> {
    let (found, wanted) = (case.actual.len(), reference(name, case)?.len());
    if found > wanted || (found < wanted && extra_turns == ExtraTurns::Error) {
        return Err(length_mismatch(found, wanted));
    }
    Ok(())
}

/// The tool calls of a turn, for metrics that compare them.
///
/// # Errors
/// `limit_exceeded` for more than [`MAX_CALLS`], or [`MAX_CALL_BYTES`].
fn comparable_calls(turn: Invocation<'_>) -> Result<Vec<ToolCall<'_>>> {
    let calls = turn.tool_calls();
    let bytes: usize = calls.iter().filter_map(|call| call.args).map(|args| args.raw().len()).sum();
    if calls.len() <= MAX_CALLS && bytes <= MAX_CALL_BYTES {
        return Ok(calls);
    }
    let (number, plural) = (calls.len(), if calls.len() == 1 { "" } else { "s" });
    let message = format!(
        "the turn has {number} tool call{plural} with {bytes} bytes of arguments; at most {MAX_CALLS} and {MAX_CALL_BYTES} are compared"
    );
    Err(Error::new(ErrorCode::LimitExceeded, message).with_help("Split the turn into several"))
}

/// Fails if there are expected turns and their number differs from that of the actual turns.
fn same_length(case: &Case<'_>) -> Result<()> {
    let actual = case.actual.len();
    match case.expected.map(Turns::len) {
        Some(expected) if expected != actual => Err(length_mismatch(actual, expected)),
        _ => Ok(()),
    }
}

fn reference<'a>(name: &str, case: &Case<'a>) -> Result<Turns<'a>> {
    case.expected.ok_or_else(|| no_reference(name))
}

fn no_reference(name: &str) -> Error {
    Error::new(
        ErrorCode::ReferenceRequired,
        format!("`{name}` compares with expected turns, and there are none"),
    )
    .with_help("Give the case a `conversation`, or leave this metric out")
}

/// The error for conversations that cannot be compared turn by turn.
pub(crate) fn length_mismatch(actual: usize, expected: usize) -> Error {
    Error::new(
        ErrorCode::LengthMismatch,
        format!("the actual conversation has {}, the expected one {expected}", turns(actual)),
    )
    .with_help("Each expected turn is compared with the actual turn at the same place")
}

/// A number of turns in words.
pub(crate) fn turns(number: usize) -> String {
    if number == 1 { "1 turn".into() } else { format!("{number} turns") }
}
