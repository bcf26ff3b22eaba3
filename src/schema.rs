//! JSON Schemas of the shapes that are stored or exchanged, made from the types that read them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use crate::metrics::Explanation;
use crate::model::config::EvalMetric;
use crate::model::error::Error;
use crate::model::evalset::EvalSet;
use crate::model::results::EvalSetResult;

/// The schemas by name: `evalset` and `results` are kinds of files in `camelCase`, `shapes` holds
/// every shape that the TypeScript types are made from.
#[must_use]
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("evalset", of::<EvalSet<'_>>()),
        ("results", of::<EvalSetResult<'_>>()),
        ("shapes", of::<Shapes<'_>>()),
    ]
}

/// Everything that TypeScript needs a type for.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
struct Shapes<'a> {
    eval_set: EvalSet<'a>,
    eval_set_result: EvalSetResult<'a>,
    eval_metric: EvalMetric<'a>,
    explanation: Explanation<'a>,
    mistake: Error,
}

fn of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft07().into_generator().into_root_schema_for::<T>()
}
