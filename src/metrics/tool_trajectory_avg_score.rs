//! `tool_trajectory_avg_score`: the share of turns whose tool calls match the expected ones. Range 0 to 1.
//! Requires a reference.
//!
//! `match_type` defines a match: `EXACT` (default) is the same calls in the same order, `IN_ORDER` the expected
//! calls in order with others in between, `ANY_ORDER` the expected calls in any order. Calls are equal if their
//! names and, unless `ignore_args`, their arguments are; see [`crate::trajectory`]. A turn scores 1 or 0.
//!
//! In the `adk-ts` dialect the match is always exact, arguments are compared as JavaScript serialises them, and
//! a turn without a list of tool calls is not evaluated.

use super::call_metric::{CallMetric, Settings};
use super::{
    Case, Dialect, Evaluation, Explanation, ExtraTurns, Metric, MetricInfo, NO_TURNS, Scoring,
    TurnEvaluation, TurnPair, comparable, comparable_calls,
};
use crate::foundation::error::Result;
use crate::foundation::json::Json;
use crate::foundation::pace::Pace;
use crate::model::config::{MetricConfig, read_flag, settings};
use crate::model::invocation::{IntermediateData, Invocation, TOOL_CALLS};
use crate::model::results::EvalStatus;
use crate::text::python::trim;
use crate::trajectory::matching::matches_paced;
use crate::trajectory::{CallEquality, MatchType, difference};

struct ToolTrajectoryAvgScore {
    name: String,
    threshold: f64,
    match_type: MatchType,
    equality: CallEquality,
}

settings! {
    /// How closely the tool calls have to follow the expected ones.
    MATCH_TYPE: MatchType = MatchType::Exact, "match_type" | "matchType";
    /// Whether calls are compared by the names of their tools alone.
    IGNORE_ARGS: bool = false, "ignore_args" | "ignoreArgs";
}

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "tool_trajectory_avg_score",
    legacy_names: &["tool_trajectory_score"],
    reads: TOOL_CALLS,
    class: "TrajectoryEvaluator",
    description: "Whether the agent called the expected tools with the expected arguments: the share of turns whose tool calls match, \
                  exactly, in order or in any order.",
    settings: &[SETTINGS],
    ..MetricInfo::plain(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Metric>> {
    let ignore_args = metric_config.setting(IGNORE_ARGS, read_flag)?;
    Ok(Box::new(ToolTrajectoryAvgScore {
        name: metric_config.name.into(),
        threshold: metric_config.threshold()?,
        match_type: metric_config.setting(MATCH_TYPE, match_type)?,
        equality: if ignore_args { CallEquality::Name } else { CallEquality::Args },
    }))
}

/// `EXACT`, `IN_ORDER` or `ANY_ORDER` in any case, with `-` or a space for `_`; or 0, 1 or 2.
fn match_type(json: Json<'_>) -> Result<MatchType> {
    // Among all other characters, Python's `upper` maps only the dotless i to a letter of these names.
    let plain = |c: char| match c {
        '-' | ' ' => '_',
        'ı' => 'I',
        _ => c.to_ascii_uppercase(),
    };
    let word = json.as_str();
    let word = word.as_deref().map(trim);
    let number = json.as_f64().or_else(|| json.as_bool().map(|flag| f64::from(u8::from(flag))));
    let types = [
        ("EXACT", 0.0, MatchType::Exact),
        ("IN_ORDER", 1.0, MatchType::InOrder),
        ("ANY_ORDER", 2.0, MatchType::AnyOrder),
    ];
    let named = types.into_iter().find(|(name, value, _)| {
        number == Some(*value) || word.is_some_and(|word| word.chars().map(plain).eq(name.chars()))
    });
    named.map(|(.., of)| of).ok_or_else(|| json.expected("EXACT, IN_ORDER or ANY_ORDER"))
}

impl CallMetric for ToolTrajectoryAvgScore {
    fn check(&self, case: &Case<'_>, scoring: &Scoring) -> Result<()> {
        if scoring.dialect == Dialect::AdkTs {
            Ok(())
        } else {
            comparable(&self.name, case, ExtraTurns::Error)
        }
    }

    async fn compare<'a>(
        &self,
        case: Case<'a>,
        pair: TurnPair<'a>,
        Settings { dialect, explain }: Settings,
        pace: &Pace,
    ) -> Result<TurnEvaluation<'a>> {
        let (mut match_type, mut equality) = (self.match_type, self.equality);
        if dialect == Dialect::AdkTs {
            if !lists_calls(pair.actual) {
                return Ok(TurnEvaluation::not_evaluated("the actual turn has no `toolUses`"));
            }
            if !lists_calls(pair.both(&self.name, &case)?.1) {
                return Ok(TurnEvaluation::not_evaluated("the expected turn has no `toolUses`"));
            }
            (match_type, equality) = (MatchType::Exact, CallEquality::ArgsAsJsText);
        }
        let (actual, expected) = pair.both(&self.name, &case)?;
        let (actual, expected) = (comparable_calls(actual)?, comparable_calls(expected)?);
        let matched = matches_paced(match_type, equality, &expected, &actual, pace).await?;
        let mut turn = TurnEvaluation::scored(if matched { 1.0 } else { 0.0 }, self.threshold);
        if explain.wants(turn.status) {
            let mut explanation = Explanation::default();
            if expected.is_empty() && !actual.is_empty() && match_type != MatchType::Exact {
                let warning = "no tool call is expected, so any calls match; use EXACT to allow none";
                explanation.warnings.push(warning.into());
            }
            let ordered = match_type != MatchType::AnyOrder;
            explanation.alignment =
                Some(difference::explain_paced(&expected, &actual, equality, ordered, None, pace).await);
            turn.explanation = Some(Box::new(explanation));
        }
        Ok(turn)
    }

    /// In its dialect, scores as `@iqai/adk` 0.5.9 does: where no turn has a score, the overall status compares
    /// 0 with the threshold, so a conversation in which nothing was evaluated usually fails.
    fn conclude<'a>(
        &self,
        _: &Case<'a>,
        turns: Vec<TurnEvaluation<'a>>,
        scoring: &Scoring,
    ) -> Evaluation<'a> {
        let mut whole = Evaluation::mean(turns, self.threshold, NO_TURNS);
        if scoring.dialect == Dialect::AdkTs && whole.score.is_none() {
            whole.score = Some(0.0);
            whole.status = EvalStatus::from_score(whole.score, self.threshold);
            whole.reason = None;
        }
        whole
    }
}

fn lists_calls(turn: Invocation<'_>) -> bool {
    matches!(turn.intermediate_data(), Some(IntermediateData::Summary(summary)) if summary.tool_uses().is_some())
}
