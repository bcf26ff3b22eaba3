//! What is known of a metric, how it is made from its settings, and how it is found by its name.

use serde::Serialize;

use super::judged::Judged;
use super::{AnyMetric, Metric, REGISTRY};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::Json;
use crate::foundation::suggestion::suggestion;
use crate::model::config::{KnownSetting, MetricConfig};

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
    /// What it counts, for a metric that only informs.
    #[serde(skip)]
    pub unit: Option<&'static str>,
    /// The name of its class in JavaScript.
    #[serde(skip)]
    pub class: &'static str,
    /// The settings that its criterion may have besides [`COMMON_KEYS`](crate::model::config::COMMON_KEYS).
    #[serde(skip)]
    pub settings: &'static [&'static [KnownSetting]],
    #[serde(skip)]
    pub(super) constructor: Constructor,
}

impl MetricInfo {
    /// What most metrics have in common that compare with an expected conversation and ask nobody.
    pub(super) const fn plain(build: fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Metric>>) -> Self {
        Self { requires_reference: true, ..Self::by(Constructor::Plain(build)) }
    }

    /// What metrics have in common that only inform: they count `unit`, and every config has them.
    pub(super) const fn informational(
        unit: &'static str,
        build: fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Metric>>,
    ) -> Self {
        Self {
            interval: None,
            requires_threshold: false,
            unit: Some(unit),
            ..Self::by(Constructor::Plain(build))
        }
    }

    /// What most metrics have in common that ask a judge.
    pub(super) const fn judged(build: fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Judged>>) -> Self {
        Self::by(Constructor::Judged(build))
    }

    const fn by(constructor: Constructor) -> Self {
        Self {
            name: "",
            legacy_names: &[],
            description: "",
            interval: Some(Interval { min_value: 0.0, max_value: 1.0 }),
            requires_threshold: true,
            requires_reference: false,
            unit: None,
            class: "",
            settings: &[],
            constructor,
        }
    }

    /// Makes the metric from its settings.
    ///
    /// # Errors
    /// What is wrong with them, with path and line.
    pub fn build(&self, metric_config: &MetricConfig<'_, '_>) -> Result<AnyMetric> {
        if self.requires_threshold {
            metric_config.check_keys(self.settings)?;
        }
        match self.constructor {
            Constructor::Plain(build) => build(metric_config).map(AnyMetric::Plain),
            Constructor::Judged(build) => build(metric_config).map(AnyMetric::Judged),
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
pub(super) enum Constructor {
    Plain(fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Metric>>),
    Judged(fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Judged>>),
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

/// The metrics that every config has: they only inform.
pub fn informational_metrics() -> impl Iterator<Item = &'static MetricInfo> {
    REGISTRY.iter().filter(|info| !info.requires_threshold)
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
