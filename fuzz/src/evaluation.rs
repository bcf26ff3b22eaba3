//! What an agent did is scored against an evalset to the end: every result has a finite score or a reason.

use adk_metrics::foundation::json::Document;
use adk_metrics::metrics::Explain;
use adk_metrics::model::actual::ActualFile;
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{Action, Options, Plan, PlanOptions, Run};

/// Every metric of the engine's own that has settings.
const CONFIG: &str = r#"{"criteria":{"tool_trajectory_avg_score":{"threshold":1,"match_type":"ANY_ORDER"},
    "response_match_score":0.5,"tool_trajectory_f1":{"threshold":0.5,"match_mode":"name_only"},
    "tool_parameter_match":{"threshold":0.5,"per_arg_strategies":{"a":"numeric","b":"casefold_exact"},
    "numeric_tolerance":0.1}}}"#;

/// The input is an evalset, a zero byte and what an agent did; without a zero byte, both.
pub fn check(input: &[u8]) {
    let mut files = crate::strings(input);
    let Some(expected) = files.next() else { return };
    let actual = files.next().unwrap_or(expected);
    let plan = Document::parse(CONFIG)
        .and_then(|mut config| Plan::from_config(&mut config, PlanOptions::default(), &Warnings::default()));
    assert!(plan.is_ok(), "the config is valid");
    if let Ok(plan) = plan {
        score(expected, actual, plan);
    }
}

/// Scores one file against another as far as that takes no judge. Whether both could be read.
pub(crate) fn score(expected: &str, actual: &str, plan: Plan) -> bool {
    let warnings = Warnings::default();
    let read_expected =
        Document::parse(expected).and_then(|document| EvalSetFile::read(document, "name", &warnings));
    let read_actual =
        Document::parse(actual).and_then(|document| ActualFile::read(document, "name", &warnings));
    let (Ok(expected), Ok(actual)) = (read_expected, read_actual) else { return false };
    let options = Options { explain: Explain::All, ..Options::default() };
    let mut run = Run::new(expected.set(), actual.runs(), plan, options);
    while let Action::Case(case) = run.poll(0.0) {
        for evaluation in case.metrics {
            let turns = evaluation.turns.iter().map(|turn| (turn.score, &turn.reason));
            for (score, reason) in turns.chain([(evaluation.score, &evaluation.reason)]) {
                assert!(score.is_some() || reason.is_some(), "no score and no reason");
                assert!(score.is_none_or(f64::is_finite), "{score:?}");
            }
        }
    }
    true
}
