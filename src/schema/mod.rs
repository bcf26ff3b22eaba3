//! JSON Schemas of the shapes that are stored or exchanged, made from the types that read them.

#![expect(clippy::indexing_slicing, reason = "keys of objects made here, when the package is built")]

mod config;
mod manifest;
pub(crate) mod settings;
pub(crate) mod spellings;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::foundation::error::Diagnostic;
use crate::metrics::Explanation;
use crate::model::config::EvalMetric;
use crate::model::evalset::EvalSet;
use crate::model::results::EvalSetResult;

/// The schemas by name. `evalset`, `results` and `config` are files, in both spellings; `shapes` has every
/// shape that the TypeScript types are made from, in `camelCase`.
#[must_use]
pub fn all() -> Vec<(&'static str, Value)> {
    let mut evalset = spellings::file_schema(schema_for::<EvalSet<'_>>());
    evalset["definitions"]["EvalCase"]["oneOf"] = one_kind_of_conversation();
    vec![
        ("evalset", evalset),
        ("results", spellings::file_schema(schema_for::<EvalSetResult<'_>>())),
        ("config", config::schema()),
        ("shapes", spellings::shapes_schema(schema_for::<Shapes<'_>>())),
    ]
}

/// What the TypeScript package needs to know of the engine: metrics, limits, defaults.
#[must_use]
pub fn manifest() -> Value {
    manifest::manifest()
}

/// Requires either turns or a scenario; the other may be `null`.
fn one_kind_of_conversation() -> Value {
    let given = |keys: &[&str], kind: &str| -> Value {
        let one = |key: &&str| json!({ "required": [key], "properties": { *key: { "type": kind } } });
        json!({ "anyOf": keys.iter().map(one).collect::<Vec<_>>() })
    };
    json!([
        given(&["conversation"], "array"),
        given(&["conversation_scenario", "conversationScenario"], "object")
    ])
}

/// Every type that TypeScript needs.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
struct Shapes<'a> {
    eval_set: EvalSet<'a>,
    eval_set_result: EvalSetResult<'a>,
    eval_metric: EvalMetric<'a>,
    explanation: Explanation<'a>,
    mistake: Diagnostic,
}

fn schema_for<T: JsonSchema>() -> Value {
    SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().into()
}
