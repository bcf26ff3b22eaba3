//! `tool_trajectory_f1`: how many expected tool calls were made, and how few others. Range 0 to 1. Requires a
//! reference. Proposed in google/adk-python#5306.
//!
//! With M matched pairs of calls, A actual and E expected calls, a turn scores 2M / (A + E), and 1 if there are
//! none on either side. `match_mode` defines when two calls match: `name_only`, `name_and_args`, or
//! `name_and_required_args` (default: every expected argument is present and equal, others are allowed).
//! `ordered` (default true) requires the same order. The conversation's score is the mean of its turns.

use super::call_metric::{CallMetric, Settings};
use super::tool_parameter_match::match_mode;
use super::{
    Case, Evaluation, Explanation, Metric, MetricInfo, NO_REFERENCE, NO_TURNS, Scoring, TurnEvaluation,
    TurnPair, comparable_calls, same_length,
};
use crate::foundation::error::Result;
use crate::foundation::pace::Pace;
use crate::model::config::{MetricConfig, read_flag, settings};
use crate::model::invocation::TOOL_CALLS;
use crate::trajectory::f1::tool_trajectory_f1_paced;
use crate::trajectory::{CallEquality, MatchMode, difference};

struct ToolTrajectoryF1 {
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
    reads: TOOL_CALLS,
    class: "ToolTrajectoryF1Evaluator",
    description: "How many of the expected tool calls were made and how few others: the F1 of matched calls.",
    settings: &[SETTINGS],
    ..MetricInfo::plain(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Metric>> {
    Ok(Box::new(ToolTrajectoryF1 {
        threshold: metric_config.threshold()?,
        mode: metric_config.setting(MODE, match_mode)?,
        ordered: metric_config.setting(ORDERED, read_flag)?,
    }))
}

impl CallMetric for ToolTrajectoryF1 {
    fn check(&self, case: &Case<'_>, _: &Scoring) -> Result<()> {
        same_length(case)
    }

    async fn compare<'a>(
        &self,
        _: Case<'a>,
        pair: TurnPair<'a>,
        Settings { explain, .. }: Settings,
        pace: &Pace,
    ) -> Result<TurnEvaluation<'a>> {
        let Some(expected) = pair.expected else { return Ok(TurnEvaluation::not_evaluated(NO_REFERENCE)) };
        let (actual, expected) = (comparable_calls(pair.actual)?, comparable_calls(expected)?);
        let f1 = tool_trajectory_f1_paced(self.mode, self.ordered, &expected, &actual, pace).await?;
        let mut turn = TurnEvaluation::scored(f1.score, self.threshold);
        if explain.wants(turn.status) {
            let (equality, pairs) = (CallEquality::from(self.mode), Some(f1.pairs));
            let alignment =
                difference::explain_paced(&expected, &actual, equality, self.ordered, pairs, pace).await;
            turn.explanation =
                Some(Box::new(Explanation { alignment: Some(alignment), ..Explanation::default() }));
        }
        Ok(turn)
    }

    fn conclude<'a>(&self, case: &Case<'a>, turns: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
        let nothing = if case.expected.is_none() { NO_REFERENCE } else { NO_TURNS };
        Evaluation::mean(turns, self.threshold, nothing)
    }
}
