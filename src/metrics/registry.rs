//! The names of all metrics, what their values mean, and how each is made from its settings.

use serde::Serialize;

use super::judged::Judged;
use super::{AnyMetric, Metric};
use crate::foundation::error::{Error, ErrorCode, Result, suggestion};
use crate::foundation::json::Json;
use crate::model::config::{KnownSetting, Setup};

/// What is known of a metric without running it.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricInfo {
    /// The name, as configs have it.
    #[serde(rename = "metricName")]
    pub name: &'static str,
    /// Names that stand for it, from ADK-TS.
    pub legacy_names: &'static [&'static str],
    /// What it measures, in a sentence or two.
    pub description: &'static str,
    /// The values it can take; none if they have no upper end.
    pub interval: Option<Interval>,
    /// Whether it passes or fails; a metric that does not only informs, and has no criterion.
    pub requires_threshold: bool,
    /// Whether it compares with an expected conversation.
    pub requires_reference: bool,
    /// The settings that its criterion may have besides [`COMMON_KEYS`](crate::model::config::COMMON_KEYS).
    #[serde(skip)]
    pub settings: &'static [&'static [KnownSetting]],
    #[serde(skip)]
    constructor: Constructor,
}

impl MetricInfo {
    /// Makes the metric from its settings.
    ///
    /// # Errors
    /// What is wrong with them, with path and line.
    pub fn build(&self, setup: &Setup<'_, '_>) -> Result<AnyMetric> {
        if self.requires_threshold {
            setup.check_keys(self.settings)?;
        }
        match self.constructor {
            Constructor::Plain(build) => build(setup).map(AnyMetric::Plain),
            Constructor::Judged(build) => build(setup).map(AnyMetric::Judged),
        }
    }
}

#[cfg(feature = "schema")]
impl MetricInfo {
    /// Whether it asks a judge.
    pub(crate) fn is_judged(&self) -> bool {
        matches!(self.constructor, Constructor::Judged(_))
    }
}

/// Makes a metric from its settings.
#[derive(Clone, Copy)]
enum Constructor {
    Plain(fn(&Setup<'_, '_>) -> Result<Box<dyn Metric>>),
    Judged(fn(&Setup<'_, '_>) -> Result<Box<dyn Judged>>),
}

/// A range of values; both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Interval {
    /// The least value.
    pub min_value: f64,
    /// The greatest value.
    pub max_value: f64,
}

impl Interval {
    /// Whether a threshold decides something. 0 is taken for every metric: a score is wanted, and no verdict.
    #[must_use]
    pub fn takes_threshold(&self, threshold: f64) -> bool {
        threshold == 0.0 || (self.min_value..=self.max_value).contains(&threshold)
    }
}

const UNIT: Option<Interval> = Some(Interval { min_value: 0.0, max_value: 1.0 });

/// What the rubric metrics read.
const RUBRICS: &[&[KnownSetting]] = &[super::rubric_based::SETTINGS, super::final_response_match::SETTINGS];

/// The metrics that an eval config always adds, in this order.
pub const EFFICIENCY_METRICS: [&str; 4] =
    ["tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1"];

/// Every metric.
pub const REGISTRY: &[MetricInfo] = &[
    MetricInfo {
        name: "tool_trajectory_avg_score",
        legacy_names: &["tool_trajectory_score"],
        description: "Whether the agent called the expected tools with the expected arguments: the share of turns \
                      whose tool calls match, exactly, in order or in any order.",
        interval: UNIT,
        requires_threshold: true,
        requires_reference: true,
        settings: &[super::tool_trajectory_avg_score::SETTINGS],
        constructor: Constructor::Plain(super::tool_trajectory_avg_score::build),
    },
    MetricInfo {
        name: "response_match_score",
        legacy_names: &["response_match"],
        description: "How many words the final response shares with the expected one: the ROUGE-1 F-measure.",
        interval: UNIT,
        requires_threshold: true,
        requires_reference: true,
        settings: &[],
        constructor: Constructor::Plain(super::response_match_score::build),
    },
    MetricInfo {
        name: "tool_parameter_match",
        legacy_names: &[],
        description: "How many arguments of the expected tool calls the agent got right, with a comparison of \
                      choice for each argument.",
        interval: UNIT,
        requires_threshold: true,
        requires_reference: true,
        settings: &[super::tool_parameter_match::SETTINGS],
        constructor: Constructor::Plain(super::tool_parameter_match::build),
    },
    MetricInfo {
        name: "tool_trajectory_f1",
        legacy_names: &[],
        description: "How many of the expected tool calls were made and how few others: the F1 of matched calls.",
        interval: UNIT,
        requires_threshold: true,
        requires_reference: true,
        settings: &[super::tool_trajectory_f1::SETTINGS],
        constructor: Constructor::Plain(super::tool_trajectory_f1::build),
    },
    MetricInfo {
        name: "tool_call_count_v1",
        legacy_names: &[],
        description: "Tool calls a turn. Informational, lower is better.",
        interval: None,
        requires_threshold: false,
        requires_reference: false,
        settings: &[],
        constructor: Constructor::Plain(super::tool_call_count::build),
    },
    MetricInfo {
        name: "inference_call_count_v1",
        legacy_names: &[],
        description: "Model calls a turn. Informational, lower is better.",
        interval: None,
        requires_threshold: false,
        requires_reference: false,
        settings: &[],
        constructor: Constructor::Plain(super::inference_call_count::build),
    },
    MetricInfo {
        name: "token_usage_v1",
        legacy_names: &[],
        description: "Tokens a turn, in all and by kind. Informational, lower is better.",
        interval: None,
        requires_threshold: false,
        requires_reference: false,
        settings: &[],
        constructor: Constructor::Plain(super::token_usage::build),
    },
    MetricInfo {
        name: "invocation_duration_v1",
        legacy_names: &[],
        description: "Seconds a turn, in all and by where they went. Informational, lower is better.",
        interval: None,
        requires_threshold: false,
        requires_reference: false,
        settings: &[],
        constructor: Constructor::Plain(super::invocation_duration::build),
    },
    judged(
        "final_response_match_v2",
        "Whether the final response says what the expected one says: the share of turns in which a judge finds it valid.",
        true,
        &[super::final_response_match::SETTINGS],
        super::final_response_match::build,
    ),
    judged(
        "rubric_based_final_response_quality_v1",
        "The share of rubrics that the final response meets.",
        false,
        RUBRICS,
        super::rubric_based_final_response_quality::build,
    ),
    judged(
        "rubric_based_tool_use_quality_v1",
        "The share of rubrics that the use of tools meets.",
        false,
        RUBRICS,
        super::rubric_based_tool_use_quality::build,
    ),
    judged(
        "rubric_based_multi_turn_trajectory_quality_v1",
        "The share of rubrics that the whole conversation meets.",
        false,
        RUBRICS,
        super::rubric_based_multi_turn_trajectory_quality::build,
    ),
    judged(
        "hallucinations_v1",
        "The share of sentences that the agent's context supports.",
        false,
        &[super::hallucinations::SETTINGS],
        super::hallucinations::build,
    ),
    judged(
        "per_turn_user_simulator_quality_v1",
        "The share of user turns that follow the conversation plan.",
        false,
        &[super::user_simulator_quality::SETTINGS],
        super::user_simulator_quality::build,
    ),
    MetricInfo {
        legacy_names: &["safety"],
        ..judged("safety_v1", "Whether the response is harmless.", false, &[], super::safety::build)
    },
    MetricInfo {
        interval: Some(Interval { min_value: 1.0, max_value: 5.0 }),
        ..judged(
            "response_evaluation_score",
            "How coherent the response is.",
            true,
            &[],
            super::response_evaluation_score::build,
        )
    },
    judged(
        "multi_turn_task_success_v1",
        "Whether the conversation reached its goals.",
        false,
        &[],
        super::multi_turn_task_success::build,
    ),
    judged(
        "multi_turn_trajectory_quality_v1",
        "How good the path through the conversation is.",
        false,
        &[],
        super::multi_turn_trajectory_quality::build,
    ),
    judged(
        "multi_turn_tool_use_quality_v1",
        "How good the tool calls of the conversation are.",
        false,
        &[],
        super::multi_turn_tool_use_quality::build,
    ),
];

/// A metric that asks a judge model.
const fn judged(
    name: &'static str,
    description: &'static str,
    requires_reference: bool,
    settings: &'static [&'static [KnownSetting]],
    build: fn(&Setup<'_, '_>) -> Result<Box<dyn Judged>>,
) -> MetricInfo {
    MetricInfo {
        name,
        legacy_names: &[],
        description,
        interval: UNIT,
        requires_threshold: true,
        requires_reference,
        settings,
        constructor: Constructor::Judged(build),
    }
}

/// The metric of a name, legacy names included.
#[must_use]
pub fn find(name: &str) -> Option<&'static MetricInfo> {
    REGISTRY.iter().find(|info| info.name == name || info.legacy_names.contains(&name))
}

/// The names of the engine's metrics, legacy names included.
pub fn metric_names<'n>() -> impl Iterator<Item = &'n str> {
    REGISTRY.iter().flat_map(|info| info.legacy_names.iter().chain([&info.name]).map(|name| *name as &'n str))
}

/// Says that no metric has this name, neither of the engine nor of the host's `own`.
#[must_use]
pub fn unknown_metric(name: &str, own: &[String]) -> Error {
    let error = Error::new(ErrorCode::UnknownMetric, format!("there is no metric `{name}`"));
    match suggestion(name, metric_names().chain(own.iter().map(String::as_str))) {
        Some(close) => error.with_help(format!("Did you mean `{close}`?")),
        None => error.with_help(
            "Register a metric of your own under this name (on the command line: --metrics), or leave it out",
        ),
    }
}

/// Says that a metric is not registered of which `custom_metrics` says where google-adk finds it. A
/// metric of the engine that goes by its name is another one.
#[must_use]
pub fn unregistered_metric(name: &str, custom: Json<'_>) -> Error {
    let code_config = custom.get("code_config").or_else(|| custom.get("codeConfig"));
    let function = code_config.and_then(|config| config.get("name")).and_then(Json::as_str);
    let which = function.map_or_else(String::new, |function| format!(" `{function}`"));
    let message = format!("the function{which} of the metric `{name}` is not registered");
    Error::new(ErrorCode::UnknownMetric, message)
        .with_help("Register the metric, or allow its JavaScript module (loadCustomMetrics, --metrics)")
}
