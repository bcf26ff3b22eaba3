//! What is known about a run before anything is scored.

use serde::Serialize;

use super::error::{EngineError, InputWarning};
use super::{Entries, RawJson};
use crate::REFERENCE_VERSION;
use crate::metrics::judged::JudgeConfig;
use crate::run::{MetricScorer, PlannedMetric, Run};
use crate::wasm::ENGINE_VERSION;
use crate::wasm::columns::to_u32;

/// What is known about a run before anything is scored.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct RunHeader<'h> {
    engine_version: &'static str,
    reference_version: &'static str,
    eval_set_id: &'h str,
    /// In the order of the slots of the results.
    metrics: Vec<HeaderMetric<'h>>,
    /// How many case results there will be.
    total: u32,
    /// Warnings about the inputs.
    warnings: Vec<EngineError<'h>>,
}

impl<'h> RunHeader<'h> {
    pub(in crate::wasm) fn new(run: &'h Run<'_>, warnings: &'h [InputWarning]) -> Self {
        let input_warnings = warnings
            .iter()
            .map(|InputWarning { input, warning }| EngineError::in_input(warning, Some(input)));
        Self {
            engine_version: ENGINE_VERSION,
            reference_version: REFERENCE_VERSION,
            eval_set_id: run.eval_set_id(),
            metrics: run.plan().metrics.iter().map(|metric| HeaderMetric::new(run, metric)).collect(),
            total: to_u32(run.total()),
            warnings: input_warnings.chain(run.warnings().iter().map(EngineError::from)).collect(),
        }
    }
}

/// A metric of a run.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct HeaderMetric<'h> {
    metric_name: &'h str,
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schemas::criterion", default))]
    criterion: Option<RawJson<'h>>,
    /// Its judge, if it asks one.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<HeaderJudge<'h>>,
}

impl<'h> HeaderMetric<'h> {
    fn new(run: &'h Run<'_>, metric: &'h PlannedMetric) -> Self {
        let judge = match &metric.scorer {
            MetricScorer::Judge(judged) => {
                Some(HeaderJudge::new(judged.judge_config(), run.judge_model(judged.as_ref())))
            }
            _ => None,
        };
        Self {
            metric_name: &metric.name,
            threshold: metric.threshold,
            criterion: metric.criterion.as_deref().map(RawJson),
            judge,
        }
    }
}

/// The judge of a metric, and its prompts.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct HeaderJudge<'h> {
    /// Whether it is Vertex AI's evaluation service.
    vertex: bool,
    /// The model to ask, unless the judge has its own. Absent for Vertex AI's evaluation service.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'h str>,
    /// The names of the judges of a panel, which are asked in turn.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    panel: &'h [String],
    /// The hash of each prompt's template, by the prompt's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Entries>,
    /// The model's settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<RawJson<'h>>,
}

impl<'h> HeaderJudge<'h> {
    fn new(judge_config: &'h JudgeConfig, model: &'h str) -> Self {
        let JudgeConfig { vertex, prompts, options, .. } = judge_config;
        let hashes = || prompts.iter().map(|(prompt, template)| (prompt.id.to_owned(), template.hash()));
        Self {
            vertex: *vertex,
            model: (!vertex).then_some(model),
            panel: &options.panel,
            prompts: (!vertex).then(|| Entries(hashes().collect())),
            config: options.config.as_deref().map(RawJson),
        }
    }
}
