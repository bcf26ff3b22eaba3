//! The descriptions of the metrics, how each is built from its settings, and the lookup by name.

use super::judged::{JUDGE_SETTINGS, Judged};
use super::{AnyMetric, Metric, REGISTRY};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::Json;
use crate::foundation::suggestion::suggestion;
use crate::model::config::{KnownSetting, MetricConfig};

/// The description of a metric.
#[derive(Clone, Copy)]
pub struct MetricInfo {
    /// The name used in configs.
    pub name: &'static str,
    /// Alternative names, from ADK-TS.
    pub legacy_names: &'static [&'static str],
    /// What it measures, in a sentence or two.
    pub description: &'static str,
    /// The range of its scores; `None` if they have no upper limit.
    pub interval: Option<Interval>,
    /// Whether it passes or fails. A metric that does neither is informational and has no criterion.
    pub requires_threshold: bool,
    /// Whether it requires an expected conversation.
    pub requires_reference: bool,
    /// What it counts, for informational metrics.
    pub unit: Option<&'static str>,
    /// What a vote for and a vote against are called, for metrics decided by majority. Rubrics have words of their own.
    #[cfg(feature = "schema")]
    pub vote_words: Option<[&'static str; 2]>,
    /// The fields of a turn that it reads, as paths of keys; all fields if empty. A host may omit the others.
    pub reads: &'static [&'static str],
    /// The name of its class in JavaScript.
    pub class: &'static str,
    /// The settings that its criterion may have in addition to [`COMMON_KEYS`](crate::model::config::COMMON_KEYS).
    pub settings: &'static [&'static [KnownSetting]],
    pub(super) constructor: Constructor,
}

impl MetricInfo {
    /// The common values of most metrics that compare with a reference and ask no judge.
    pub(super) const fn plain(build: fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Metric>>) -> Self {
        Self { requires_reference: true, ..Self::from_constructor(Constructor::Plain(build)) }
    }

    /// The common values of informational metrics: they count `unit`, and every run has them.
    pub(super) const fn informational(
        unit: &'static str,
        build: fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Metric>>,
    ) -> Self {
        Self {
            interval: None,
            requires_threshold: false,
            unit: Some(unit),
            ..Self::from_constructor(Constructor::Plain(build))
        }
    }

    /// The common values of most metrics that ask a judge.
    pub(super) const fn judged(build: fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Judged>>) -> Self {
        Self::from_constructor(Constructor::Judged(build))
    }

    const fn from_constructor(constructor: Constructor) -> Self {
        Self {
            name: "",
            legacy_names: &[],
            description: "",
            interval: Some(Interval { min_value: 0.0, max_value: 1.0 }),
            requires_threshold: true,
            requires_reference: false,
            unit: None,
            #[cfg(feature = "schema")]
            vote_words: None,
            reads: &[],
            class: "",
            settings: &[],
            constructor,
        }
    }

    /// Builds the metric from its settings.
    ///
    /// # Errors
    /// What is wrong with the settings, with path and line.
    pub fn build(&self, metric_config: &MetricConfig<'_, '_>) -> Result<AnyMetric> {
        if self.requires_threshold {
            let is_judged = matches!(self.constructor, Constructor::Judged(_));
            metric_config.check_keys(self.settings, if is_judged { JUDGE_SETTINGS } else { &[] })?;
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

/// Builds a metric from its settings.
#[derive(Clone, Copy)]
pub(super) enum Constructor {
    Plain(fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Metric>>),
    Judged(fn(&MetricConfig<'_, '_>) -> Result<Box<dyn Judged>>),
}

/// A range of values, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The smallest value.
    pub min_value: f64,
    /// The largest value.
    pub max_value: f64,
}

impl Interval {
    /// Whether some scores reach the threshold and others do not. 0 is accepted for every metric: it asks for a
    /// score without a verdict.
    #[must_use]
    pub fn takes_threshold(&self, threshold: f64) -> bool {
        threshold == 0.0 || (self.min_value..=self.max_value).contains(&threshold)
    }
}

/// The informational metrics, which every run has.
pub fn informational_metrics() -> impl Iterator<Item = &'static MetricInfo> {
    REGISTRY.iter().filter(|info| !info.requires_threshold)
}

/// Finds a metric by its name or a legacy name.
#[must_use]
pub fn find(name: &str) -> Option<&'static MetricInfo> {
    REGISTRY.iter().find(|info| info.name == name || info.legacy_names.contains(&name))
}

/// The names of the engine's metrics, legacy names included.
pub fn metric_names<'n>() -> impl Iterator<Item = &'n str> {
    REGISTRY.iter().flat_map(|info| info.legacy_names.iter().chain([&info.name]).map(|name| *name as &'n str))
}

/// The error for a name that neither the engine's metrics nor the host's own have.
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

/// The error for a metric that `custom_metrics` maps to a Python function and that is not registered. An engine
/// metric of the same name is a different metric.
#[must_use]
pub fn unregistered_metric(name: &str, custom: Json<'_>) -> Error {
    let code_config = custom.get("code_config").or_else(|| custom.get("codeConfig"));
    let function = code_config.and_then(|config| config.get("name")).and_then(Json::as_str);
    let which = function.map_or_else(String::new, |function| format!(" `{function}`"));
    let message = format!("the function{which} of the metric `{name}` is not registered");
    Error::new(ErrorCode::UnknownMetric, message)
        .with_help("Register the metric, or allow its JavaScript module (loadCustomMetrics, --metrics)")
}
