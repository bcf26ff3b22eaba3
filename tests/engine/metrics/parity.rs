//! google-adk's recorded answers, replayed: whole evaluations, configs, statuses, old files, shapes.
//! Deliberate differences are classes with a reason and a number of cases; there are no others.

mod config;
mod files;
mod scores;

use crate::support::{deviations, replay, spelling, vectors};
use adk_metrics::foundation::error::Error;
use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::foundation::write::Spelling;
use adk_metrics::metrics::{Details, Dialect, Evaluation, SecondsByKind, TokensByKind, TurnEvaluation};
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::results::{EvalSetResult, EvalStatus};
use adk_metrics::model::shape::{Record, View, Warnings, check};
use adk_metrics::run::{MetricScorer, Plan, PlanOptions};
use deviations::{Class, Deviation, DeviationKind, assert_classified, deviation};
use replay::Replayer;
use serde_json::{Map, Value, json};
use spelling::camel_case;
use vectors::{Differences, at, text};

fn parse(file: &str) -> Document<'static> {
    Document::parse(vectors::file(&format!("parity/vectors/{file}.json"))).unwrap()
}

fn recorded_error(result: Json<'_>) -> Option<String> {
    result.get("error").map(|error| error.as_str().unwrap().into_owned())
}

fn is_accepted(deviation: &Deviation) -> bool {
    matches!(deviation.kind, DeviationKind::Accepted { .. })
}

fn starts_with(deviation: &Deviation, starts: &[&str]) -> bool {
    starts.iter().any(|start| deviation.name.starts_with(start))
}
