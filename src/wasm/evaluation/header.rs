//! What is known before anything is scored, as JSON. Apart, because it is the only part of a run that is written as a
//! whole.

use crate::REFERENCE_VERSION;
use crate::foundation::error::Error;
use crate::foundation::write::{Raw, Write, Writer};
use crate::metrics::judged::JudgeConfig;
use crate::model::shape::Warnings;
use crate::run::{MetricScorer, PlannedMetric, Run};
use crate::wasm::ENGINE_VERSION;
use crate::wasm::columns::place;

/// A warning about one of several inputs: places in it are those of that input.
pub(super) struct OfInput {
    input: &'static str,
    warning: Error,
}

pub(super) fn of_inputs<const N: usize>(found: [(&'static str, Warnings); N]) -> Vec<OfInput> {
    let of_input =
        |(input, of): (_, Warnings)| of.into_vec().into_iter().map(move |warning| OfInput { input, warning });
    found.into_iter().flat_map(of_input).collect()
}

impl Write for OfInput {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        self.warning.write_fields(&mut object);
        object.entry("input", &self.input);
        object.end();
    }
}

/// What is known before anything is scored.
pub(super) struct Header<'h, 'a> {
    pub(super) run: &'h Run<'a>,
    pub(super) warnings: &'h [OfInput],
}

impl Write for Header<'_, '_> {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("engineVersion", &ENGINE_VERSION);
        object.entry("referenceVersion", &REFERENCE_VERSION);
        object.entry("evalSetId", &self.run.eval_set_id());
        let metrics = self.run.plan().metrics.iter().map(|metric| HeaderMetric { run: self.run, metric });
        object.entry("metrics", &metrics.collect::<Vec<_>>());
        object.entry("total", &place(self.run.total()));
        let of_inputs = self.warnings.iter().map(|warning| -> &dyn Write { warning });
        let of_run = self.run.warnings().iter().map(|warning| -> &dyn Write { warning });
        object.entry("warnings", &of_inputs.chain(of_run).collect::<Vec<_>>());
        object.end();
    }
}

struct HeaderMetric<'h, 'a> {
    run: &'h Run<'a>,
    metric: &'h PlannedMetric,
}

impl Write for HeaderMetric<'_, '_> {
    fn write(&self, out: &mut Writer) {
        let metric = self.metric;
        let mut object = out.object();
        object.entry("metricName", &metric.name);
        object.optional("threshold", &metric.threshold);
        object.optional("criterion", &metric.criterion.as_deref().map(Raw));
        if let MetricScorer::Judge(judged) = &metric.scorer {
            let judge_config = judged.judge_config();
            object
                .entry("judge", &JudgeHeader { model: self.run.judge_model(judged.as_ref()), judge_config });
        }
        object.end();
    }
}

/// Who judges a metric, and by which prompts.
struct JudgeHeader<'h> {
    model: &'h str,
    judge_config: &'h JudgeConfig,
}

impl Write for JudgeHeader<'_> {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("vertex", &self.judge_config.vertex);
        if !self.judge_config.vertex {
            object.entry("model", &self.model);
            object.entry("prompts", &PromptHashes(self.judge_config));
        }
        object.optional("config", &self.judge_config.options.config.as_deref().map(Raw));
        object.end();
    }
}

/// The hash of each prompt's template, by its id.
struct PromptHashes<'h>(&'h JudgeConfig);

impl Write for PromptHashes<'_> {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        for (prompt, template) in &self.0.prompts {
            object.entry(prompt.id, &template.hash());
        }
        object.end();
    }
}
