//! `tool_parameter_match`: how many arguments of the expected tool calls the agent got right. Range 0 to 1.
//! Requires a reference. Proposed in google/adk-python#5643.
//!
//! Expected and actual calls of the same name are paired, one to one, in the best possible way
//! ([`crate::trajectory`] defines it). A paired expected call scores the share of its arguments that are right
//! (1 if it has none), an unpaired one 0; a turn scores the mean of its expected calls; the conversation the
//! mean of the turns that expect calls.
//!
//! Settings: `match_mode` (`name_only`, `name_and_args`, `name_and_required_args`, the default),
//! `default_strategy` (`exact`, the default, `casefold_exact`, `numeric`, `contains`), `per_arg_strategies`
//! (argument to strategy), `numeric_tolerance` (0), `ordered` (true).

use super::call_metric::{CallMetric, Settings};
use super::{
    Case, Evaluation, Explanation, Metric, MetricInfo, NO_REFERENCE, Scoring, TurnEvaluation, TurnPair,
    comparable_calls, same_length,
};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::interner::Interner;
use crate::foundation::json::{Json, JsonKind};
use crate::foundation::pace::Pace;
use crate::foundation::suggestion::suggestion;
use crate::foundation::write::quoted;
use crate::model::config::{MetricConfig, read_flag, settings};
use crate::model::invocation::{TOOL_CALLS, Turns};
use crate::trajectory::parameter_match::tool_parameter_match_paced;
use crate::trajectory::{MatchMode, ParameterMatch, Strategies, Strategy, difference};
use std::borrow::Cow;

struct ToolParameterMatch {
    threshold: f64,
    rule: ParameterMatch,
}

settings! {
    /// Which pairs of expected and actual calls are the best.
    MODE: MatchMode = MatchMode::NameAndRequiredArgs, "match_mode" | "matchMode";
    /// How arguments without their own strategy are compared.
    DEFAULT_STRATEGY: Strategy = Strategy::Exact, "default_strategy" | "defaultStrategy";
    /// How arguments are compared by name, for all tools: {"query": "contains"}.
    PER_ARGUMENT: Vec<(String, Strategy)> = Vec::new(), "per_arg_strategies" | "perArgStrategies";
    /// By how much numbers may differ under the strategy `numeric`: 0 or more, in the argument's unit.
    TOLERANCE: f64 = 0.0, "numeric_tolerance" | "numericTolerance";
    /// Whether calls have to come in the expected order.
    ORDERED: bool = true, "ordered" | "ordered";
}

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "tool_parameter_match",
    reads: TOOL_CALLS,
    class: "ToolParameterMatchEvaluator",
    description: "How many arguments of the expected tool calls the agent got right, with a comparison of choice for each \
                  argument.",
    settings: &[SETTINGS],
    ..MetricInfo::plain(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Metric>> {
    let tolerance = metric_config.setting(TOLERANCE, tolerance)?;
    let default = metric_config.setting(DEFAULT_STRATEGY, |json| strategy(json, tolerance))?;
    // The config reader rejects duplicate names.
    let per_argument = metric_config.setting(PER_ARGUMENT, |json| strategies(json, tolerance))?;
    let is_numeric = |strategy: &Strategy| matches!(strategy, Strategy::Numeric { .. });
    if tolerance > 0.0 && !is_numeric(&default) && !per_argument.iter().any(|(_, of)| is_numeric(of)) {
        let message = "`numeric_tolerance` has no effect: no strategy is `numeric`";
        let location = metric_config.criterion.unwrap_or(metric_config.location);
        metric_config.warnings.add(location, message.to_owned());
    }
    let rule = ParameterMatch {
        match_mode: metric_config.setting(MODE, match_mode)?,
        ordered: metric_config.setting(ORDERED, read_flag)?,
        strategies: Strategies::new(default, per_argument),
    };
    Ok(Box::new(ToolParameterMatch { threshold: metric_config.threshold()?, rule }))
}

/// `name_only`, `name_and_args` or `name_and_required_args`.
pub(super) fn match_mode(json: Json<'_>) -> Result<MatchMode> {
    match json.as_str().as_deref() {
        Some("name_only") => Ok(MatchMode::NameOnly),
        Some("name_and_args") => Ok(MatchMode::NameAndArgs),
        Some("name_and_required_args") => Ok(MatchMode::NameAndRequiredArgs),
        _ => Err(json.expected("name_only, name_and_args or name_and_required_args")),
    }
}

fn strategy(json: Json<'_>, tolerance: f64) -> Result<Strategy> {
    match json.as_str().as_deref() {
        Some("exact") => Ok(Strategy::Exact),
        Some("casefold_exact") => Ok(Strategy::CasefoldExact),
        Some("numeric") => Ok(Strategy::Numeric { tolerance }),
        Some("contains") => Ok(Strategy::Contains),
        _ => Err(json.expected("exact, casefold_exact, numeric or contains")),
    }
}

fn strategies(json: Json<'_>, tolerance: f64) -> Result<Vec<(String, Strategy)>> {
    if json.kind() != JsonKind::Object {
        return Err(json.expected("an object from argument names to strategies"));
    }
    json.entries().map(|(key, json)| Ok((key.into_owned(), strategy(json, tolerance)?))).collect()
}

fn tolerance(json: Json<'_>) -> Result<f64> {
    match json.as_f64().filter(|tolerance| tolerance.is_finite()) {
        None => Err(json.expected("a number")),
        Some(tolerance) if tolerance >= 0.0 => Ok(tolerance),
        Some(_) => Err(json.error(
            ErrorCode::InvalidCriterion,
            format!("expected a tolerance of 0 or more, found {}", json.raw()),
        )),
    }
}

impl CallMetric for ToolParameterMatch {
    fn check(&self, case: &Case<'_>, _: &Scoring) -> Result<()> {
        same_length(case)
    }

    /// Looks for arguments that have a strategy and are in none of the expected calls.
    fn unused_setting(&self, conversations: &mut dyn Iterator<Item = Turns<'_>>) -> Option<Error> {
        let mut names = Interner::default();
        let mut unused = Vec::new();
        for name in self.rule.strategies.arguments() {
            names.intern(Cow::Borrowed(name));
            unused.push(Some(name));
        }
        let first = unused.first().copied().flatten()?;
        let mut close = None;
        let mut expects_calls = false;
        for turns in conversations {
            for turn in turns.iter() {
                for call in turn.tool_calls() {
                    expects_calls = true;
                    for (key, _) in call.args.unwrap_or(Json::NULL).entries() {
                        if let Some(name) = names.find(&key).and_then(|at| unused.get_mut(at)) {
                            *name = None;
                        } else if close.is_none() && suggestion(first, [&*key]).is_some() {
                            close = Some(key.into_owned());
                        }
                    }
                }
            }
        }
        let name = unused.iter().copied().find_map(|name| name).filter(|_| expects_calls)?;
        let message =
            ["no expected call has the argument ", &quoted(name), ", which `per_arg_strategies` names"]
                .concat();
        let help = match close.filter(|_| name == first) {
            Some(close) => ["Did you mean ", &quoted(&close), "?"].concat(),
            None => "It names arguments as they stand at the top of a call's `args`".into(),
        };
        Some(Error::new(ErrorCode::InvalidCriterion, message).at_path("config").with_help(help))
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
        let found = tool_parameter_match_paced(&self.rule, &expected, &actual, pace).await?;
        let mut turn = match &found {
            Some(found) => TurnEvaluation::scored(found.score, self.threshold),
            None => TurnEvaluation::not_evaluated("the turn expects no tool call"),
        };
        if explain.wants(turn.status) {
            let pairs = found.map(|found| found.pairs).unwrap_or_default();
            let alignment =
                difference::explain_parameters(&self.rule, &expected, &actual, &pairs, pace).await;
            turn.explanation =
                Some(Box::new(Explanation { alignment: Some(alignment), ..Explanation::default() }));
        }
        Ok(turn)
    }

    fn conclude<'a>(&self, case: &Case<'a>, turns: Vec<TurnEvaluation<'a>>, _: &Scoring) -> Evaluation<'a> {
        let nothing = if case.expected.is_none() { NO_REFERENCE } else { "no turn expects a tool call" };
        Evaluation::mean(turns, self.threshold, nothing)
    }
}
