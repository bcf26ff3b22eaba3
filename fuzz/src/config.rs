//! A config is read, and can then be used to score, or is rejected with a reason.

use adk_metrics::foundation::json::Document;
use adk_metrics::model::shape::Warnings;
use adk_metrics::run::{Plan, PlanOptions};

use crate::scoring::score;

const EVALSET: &str = r#"{"eval_set_id":"s","eval_cases":[{"eval_id":"c","conversation":[{"invocation_id":"i",
    "user_content":{"parts":[{"text":"Turn the light on"}]},"final_response":{"parts":[{"text":"It is on now."}]},
    "intermediate_data":{"tool_uses":[{"name":"set","args":{"on":true,"level":0.5,"room":"Küche"}}]}}]}]}"#;
const ACTUAL: &str = r#"{"eval_set_id":"s","eval_cases":[{"eval_id":"c","conversation":[{"invocation_id":"i",
    "user_content":{"parts":[{"text":"Turn the light on"}]},"final_response":{"parts":[{"text":"Is it on now?"}]},
    "intermediate_data":{"tool_uses":[{"name":"set","args":{"on":true,"level":0.55,"room":"KÜCHE"}}]}}]}]}"#;

/// The input is a config or one metric with its settings.
pub fn check(input: &[u8]) {
    let document =
        || Document::from_bytes(input.to_vec()).and_then(Document::unwrapped).map(|(document, _)| document);
    let custom = ["mine".to_owned()];
    for is_config in [true, false] {
        let Ok(mut document) = document() else { return };
        let warnings = Warnings::default();
        let plan_options = PlanOptions { custom: &custom, ..PlanOptions::default() };
        let plan = if is_config {
            Plan::from_config(&mut document, plan_options, &warnings)
        } else {
            Plan::from_metric(&mut document, plan_options, &warnings)
        };
        match plan {
            Ok(plan) => assert!(score(EVALSET, ACTUAL, plan).is_ok()),
            Err(error) => assert!(!error.message.is_empty() && error.path.is_some(), "{error}"),
        }
    }
}
