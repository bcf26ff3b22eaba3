//! Any readable files are scored completely: every result has a finite score or a reason.

use adk_metrics::foundation::json::Document;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{Plan, PlanOptions};

use crate::scoring::score;

/// All metrics of the engine that have settings.
const CONFIG: &str = r#"{"criteria":{"tool_trajectory_avg_score":{"threshold":1,"match_type":"ANY_ORDER"},
    "response_match_score":0.5,"tool_trajectory_f1":{"threshold":0.5,"match_mode":"name_only"},
    "tool_parameter_match":{"threshold":0.5,"per_arg_strategies":{"a":"numeric","b":"casefold_exact"},
    "numeric_tolerance":0.1}}}"#;

/// The input is an evalset, a zero byte and what the agent did; without a zero byte it is both.
pub fn check(input: &[u8]) {
    let mut files = crate::strings(input);
    let Some(expected) = files.next() else { return };
    let actual = files.next().unwrap_or(expected);
    let plan = Document::parse(CONFIG)
        .and_then(|mut config| Plan::from_config(&mut config, PlanOptions::default(), &Warnings::default()));
    assert!(plan.is_ok(), "the config is valid");
    if let Ok(plan) = plan {
        assert!(score(expected, actual, plan).unwrap_or(true), "no metric asks anybody");
    }
}
