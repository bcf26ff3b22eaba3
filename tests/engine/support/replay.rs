//! Scores conversations given as JSON, as files would hold them.

use adk_metrics::foundation::error::{Error, Result};
use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::metrics::{Case, Dialect, Evaluation, Explain, Scoring, TurnEvaluation};
use adk_metrics::model::invocation::{Invocation, Turns};
use adk_metrics::model::shape::{List, View, Warnings, check};
use adk_metrics::run::{MetricScorer, Plan, PlanOptions};

type Invocations<'a> = List<'a, Invocation<'a>>;

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
    pub(crate) fn evaluate(
        &mut self,
        metric: Json<'_>,
        actual: Json<'_>,
        expected: Json<'_>,
    ) -> Result<Evaluation<'static>, Error> {
        let plan =
            Plan::from_metric(&mut Document::parse(metric.raw())?, PlanOptions::default(), &self.warnings)?;
        let actual = self.invocations(actual)?;
        let expected = if expected.is_null() { None } else { Some(self.invocations(expected)?) };
        let case = Case { actual: turns(&actual), expected: expected.as_ref().map(turns) };
        let [metric] = plan.metrics.as_slice() else { panic!("a plan of one metric") };
        let MetricScorer::Engine(scorer) = &metric.scorer else { panic!("a metric of the engine") };
        let explained = scorer.evaluate(&case, &mut self.explained).map(unexplained);
        let silent = scorer.evaluate(&case, &mut self.silent);
        assert_eq!(silent, explained, "explanations change nothing");
        explained
    }

    fn invocations<'t>(&self, json: Json<'t>) -> Result<Document<'t>, Error> {
        let mut document = Document::parse(json.raw())?;
        check(&mut document, &Invocations::TYPE, &self.warnings)?;
        Ok(document)
    }
}

fn turns<'a>(invocations: &'a Document<'_>) -> Turns<'a> {
    Invocations::from_json(invocations.root()).into()
}

/// An evaluation without its explanations, which are all that it borrows.
fn unexplained(evaluation: Evaluation<'_>) -> Evaluation<'static> {
    let Evaluation { score, status, reason, details, error, turns } = evaluation;
    let turn = |TurnEvaluation { score, status, reason, details, explanation: _ }: TurnEvaluation<'_>| {
        TurnEvaluation { score, status, reason, details, explanation: None }
    };
    let turns = turns.into_iter().map(turn).collect();
    Evaluation { score, status, reason, details, error, turns }
}
