//! Scores conversations given as JSON, as files would hold them.

use adk_metrics::metrics::{Case, Dialect, Evaluation, Explain, Scoring};
use adk_metrics::model::error::{Error, Result};
use adk_metrics::model::invocation::Invocation;
use adk_metrics::model::json::Json;
use adk_metrics::model::read::{At, Warnings};
use adk_metrics::run::{MetricScorer, Plan};

/// Scores conversations one after the other, with and without explanations.
pub(crate) struct Replayer {
    silent: Scoring,
    explained: Scoring,
    /// One for all, since the line of a warning takes a walk through the file.
    warnings: Warnings,
}

impl Replayer {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self {
            silent: Scoring::new(dialect, Explain::None),
            explained: Scoring::new(dialect, Explain::All),
            warnings: Warnings::default(),
        }
    }

    /// Scores one conversation with one metric, from their JSON.
    pub(crate) fn evaluate<'a>(
        &mut self,
        metric: Json<'a>,
        actual: Json<'a>,
        expected: Json<'a>,
    ) -> Result<Evaluation<'a>, Error> {
        let plan = Plan::of_metric(At::root(metric, &self.warnings), &[])?;
        let actual: Vec<Invocation<'a>> = At::root(actual, &self.warnings).read()?;
        let expected: Option<Vec<Invocation<'a>>> = At::root(expected, &self.warnings).read()?;
        let case = Case { actual: &actual, expected: expected.as_deref() };
        let [metric] = plan.metrics.as_slice() else { panic!("a plan of one metric") };
        let MetricScorer::Engine(scorer) = &metric.scorer else { panic!("a metric of the engine") };
        let mut explained = scorer.evaluate(&case, &mut self.explained);
        for turn in explained.iter_mut().flat_map(|explained| &mut explained.turns) {
            turn.explanation = None;
        }
        let silent = scorer.evaluate(&case, &mut self.silent);
        assert_eq!(silent, explained, "explanations change nothing");
        silent
    }
}
