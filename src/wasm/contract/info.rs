//! Versions and metrics of the engine.

use serde::Serialize;

use crate::REFERENCE_VERSION;
use crate::metrics::{Interval, MetricInfo, REGISTRY};
use crate::wasm::ENGINE_VERSION;

/// The engine's version, the version of google-adk that it reproduces, and the metrics.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct EngineInfo {
    engine_version: &'static str,
    reference_version: &'static str,
    metrics: Vec<KnownMetric>,
}

impl EngineInfo {
    pub(in crate::wasm) fn new() -> Self {
        Self {
            engine_version: ENGINE_VERSION,
            reference_version: REFERENCE_VERSION,
            metrics: REGISTRY.iter().map(KnownMetric::from).collect(),
        }
    }
}

/// The description of a metric.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct KnownMetric {
    metric_name: &'static str,
    /// Its names in ADK-TS.
    legacy_names: &'static [&'static str],
    description: &'static str,
    /// The range of its values; absent if they have no upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<ValueInterval>,
    /// Whether it passes or fails. A metric that does not is informational and has no criterion.
    requires_threshold: bool,
}

impl From<&MetricInfo> for KnownMetric {
    fn from(info: &MetricInfo) -> Self {
        Self {
            metric_name: info.name,
            legacy_names: info.legacy_names,
            description: info.description,
            interval: info.interval.map(ValueInterval::from),
            requires_threshold: info.requires_threshold,
        }
    }
}

/// The smallest and the largest possible value of a metric.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct ValueInterval {
    min_value: f64,
    max_value: f64,
}

impl From<Interval> for ValueInterval {
    fn from(Interval { min_value, max_value }: Interval) -> Self {
        Self { min_value, max_value }
    }
}
