//! `tool_trajectory_f1`: how many expected tool calls were made, and how few others. Range 0 to 1;
//! compares with a reference. Proposed in google/adk-python#5306.
//!
//! With M matched pairs of calls, A actual and E expected calls a turn scores 2M / (A + E), and 1 if
//! there are none on either side. `match_mode` says when two calls match: `name_only`,
//! `name_and_args`, or `name_and_required_args` (default: every expected argument is there and
//! equal, others may be). `ordered` (default true) asks for the same order. The conversation's score
//! is the mean of its turns.

use super::tool_parameter_match::{match_mode, no_reference};
use super::{
    Case, Evaluation, Explanation, Metric, MetricInfo, NO_TURNS, Scoring, Surplus, TurnEvaluation,
    turn_by_turn,
};
use crate::foundation::error::Result;
use crate::model::config::{Setup, read_flag, settings};
use crate::model::invocation::Invocation;
use crate::trajectory::{CallEquality, MatchMode, difference, tool_trajectory_f1};

struct ToolTrajectoryF1 {
    name: String,
    threshold: f64,
    mode: MatchMode,
    ordered: bool,
}

settings! {
    /// When an actual call is an expected one.
    MODE: MatchMode = MatchMode::NameAndRequiredArgs, "match_mode" | "matchMode";
    /// Whether calls have to come in the expected order.
    ORDERED: bool = true, "ordered" | "ordered";
}

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "tool_trajectory_f1",
    class: "ToolTrajectoryF1Evaluator",
    description: "How many of the expected tool calls were made and how few others: the F1 of matched calls.",
    settings: &[SETTINGS],
    ..MetricInfo::plain(build)
};

fn build(setup: &Setup<'_, '_>) -> Result<Box<dyn Metric>> {
    Ok(Box::new(ToolTrajectoryF1 {
        name: setup.name.into(),
        threshold: setup.threshold()?,
        mode: setup.setting(MODE, match_mode)?,
        ordered: setup.setting(ORDERED, read_flag)?,
    }))
}

impl Metric for ToolTrajectoryF1 {
    fn evaluate<'a>(&self, case: &Case<'a>, scoring: &mut Scoring) -> Result<Evaluation<'a>> {
        if case.expected.is_none() {
            return Ok(no_reference(case));
        }
        let turns = turn_by_turn(&self.name, case, Surplus::Refused, &mut |actual, expected| {
            self.turn(actual, expected, scoring)
        })?;
        Ok(Evaluation::mean(turns, self.threshold, NO_TURNS))
    }
}

impl ToolTrajectoryF1 {
    fn turn<'a>(
        &self,
        actual: Invocation<'a>,
        expected: Invocation<'a>,
        scoring: &Scoring,
    ) -> Result<TurnEvaluation<'a>> {
        let (actual, expected) = (actual.tool_calls(), expected.tool_calls());
        let f1 = tool_trajectory_f1(self.mode, self.ordered, &expected, &actual)?;
        let mut turn = TurnEvaluation::scored(f1.score, self.threshold);
        if scoring.explain.wants(turn.status) {
            let equality = CallEquality::from(self.mode);
            let alignment = difference::explain(&expected, &actual, equality, self.ordered);
            turn.explanation =
                Some(Box::new(Explanation { alignment: Some(alignment), ..Explanation::default() }));
        }
        Ok(turn)
    }
}
