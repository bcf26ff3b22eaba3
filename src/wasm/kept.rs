//! Metrics that are kept to score one conversation after another, for evaluators: their settings are read once, the
//! tokenizer caches words, and a result is short JSON. A run, which returns columns, is faster only for many cases.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::evaluation::read_options;
use super::utf8_or_empty;
use crate::foundation::json::{Document, Json};
use crate::foundation::write::{Object, Spelling, Write, Writer, to_json};
use crate::metrics::{Case, Details, Evaluation, Metric, Scoring, TurnEvaluation};
use crate::model::invocation::{Invocation, Turns};
use crate::model::results::EvalStatus;
use crate::model::shape::{List, View, Warnings, check};
use crate::run::{MetricScorer, Plan};

/// A metric with its settings that the engine computes itself, without a judge or the host.
#[wasm_bindgen]
pub struct KeptMetric {
    metric: Rc<dyn Metric>,
    scoring: Scoring,
    text: Vec<u8>,
}

#[wasm_bindgen]
impl KeptMetric {
    /// Makes a metric from its settings. `None` if it needs a judge, or if there are errors or warnings about its settings:
    /// the caller then makes a run, which reports them.
    ///
    /// # Errors
    /// What is wrong with the options.
    #[wasm_bindgen(js_name = fromMetric)]
    pub fn from_metric(
        metric: &[u8],
        #[wasm_bindgen(unchecked_param_type = "RunOptions")] options: JsValue,
    ) -> std::result::Result<Option<Self>, JsValue> {
        let options = read_options(options)?;
        let warnings = Warnings::default();
        let plan = Document::from_bytes(metric)
            .and_then(|mut json| Plan::from_metric(&mut json, options.plan_options(), &warnings));
        let first = plan.ok().and_then(|plan| plan.metrics.into_iter().next());
        let Some(MetricScorer::Engine(metric)) = first.map(|planned| planned.scorer) else { return Ok(None) };
        if !warnings.into_vec().is_empty() {
            return Ok(None);
        }
        let options = options.into_run();
        let scoring = Scoring::new(options.dialect, options.explain);
        Ok(Some(Self { metric, scoring, text: Vec::new() }))
    }

    /// Reserves memory for a text in UTF-8 and returns its address.
    pub fn reserve(&mut self, bytes: usize) -> *const u8 {
        if self.text.len() < bytes {
            self.text.resize(bytes, 0);
        }
        self.text.as_ptr()
    }

    /// Scores the conversations in the first bytes of the reserved memory: an array of the actual and, optionally, the
    /// expected conversation, each an array of turns. The result is JSON. `None` if there are errors or warnings: the caller
    /// then makes a run, which reports them.
    pub fn score(&mut self, bytes: usize) -> Option<String> {
        let warnings = Warnings::default();
        let mut document = Document::parse(utf8_or_empty(self.text.get(..bytes))).ok()?;
        check(&mut document, &<List<'_, List<'_, Invocation<'_>>>>::TYPE, &warnings).ok()?;
        if !warnings.into_vec().is_empty() {
            return None;
        }
        let mut conversations = document.root().items().map(turns);
        let case = Case { actual: conversations.next()?, expected: conversations.next() };
        if self.metric.unused_setting(&mut case.expected.into_iter()).is_some() {
            return None;
        }
        let evaluation = self.metric.evaluate(&case, &mut self.scoring).ok()?;
        Some(to_json(&EvaluationJson(&evaluation), Spelling::Camel))
    }
}

fn turns(list: Json<'_>) -> Turns<'_> {
    List::<Invocation<'_>>::from_json(list).into()
}

/// An evaluation as JSON: the result of the conversation, with the results of its turns in `turns`.
struct EvaluationJson<'f, 'a>(&'f Evaluation<'a>);

impl Write for EvaluationJson<'_, '_> {
    fn write(&self, out: &mut Writer) {
        let Evaluation { score, status, reason, details, turns, .. } = self.0;
        let mut object = out.object();
        write_slot(&mut object, *score, *status, reason.as_deref(), details.as_deref());
        let mut array = object.begin_array("turns");
        for TurnEvaluation { score, status, reason, details, explanation } in turns {
            let mut object = array.begin_item().object();
            write_slot(&mut object, *score, *status, reason.as_deref(), details.as_deref());
            object.optional("explanation", &explanation.as_deref());
            object.end();
        }
        array.end();
        object.end();
    }
}

fn write_slot(
    object: &mut Object<'_>,
    score: Option<f64>,
    status: EvalStatus,
    reason: Option<&str>,
    details: Option<&Details>,
) {
    object.optional("score", &score);
    object.entry("evalStatus", &u32::from(status as u8));
    object.optional("reason", &reason);
    object.optional("details", &details);
}
