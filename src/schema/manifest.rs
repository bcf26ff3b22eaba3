//! The manifest: what the TypeScript package needs to know of the engine before it is loaded, and for types.
//! `scripts/manifest.mjs` makes modules from it. Hosts with a loaded engine ask it instead (`engineInfo`).

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::foundation::json::{MAX_BYTES, MAX_DEPTH, MAX_VALUES};
use crate::judge::prompt;
use crate::judge::provider::{FailureKind, Provider, kind_from_status, may_pass, parameters};
use crate::metrics::judged::{JUDGE_MODEL, MAX_PROMPT_BYTES};
use crate::metrics::{MetricInfo, REGISTRY};
use crate::model::config::{DEFAULT_CONFIG, UserSimulatorConfig};
use crate::model::evalset::ConversationScenario;
use crate::model::invocation::{IntermediateData, Invocation};
use crate::model::shape::{Field, Presence, Shape, Type};
use crate::run::{MAX_REFUSALS, READ_BY_RUN};

pub(super) fn manifest() -> Value {
    let defaults: Value = serde_json::from_str(DEFAULT_CONFIG).unwrap_or_default();
    // In the order of the metrics, which an object would not keep.
    let defaults: Vec<_> =
        REGISTRY.iter().filter_map(|info| Some((info.name, defaults["criteria"].get(info.name)?))).collect();
    let mut purposes: Vec<_> = prompt::ALL.iter().map(|prompt| prompt.purpose.as_str()).collect();
    let mut seen = HashSet::new();
    purposes.retain(|purpose| seen.insert(*purpose));
    json!({
        "purposes": purposes,
        "readByRun": fields(&[&Invocation::SHAPE], READ_BY_RUN),
        "providers": Provider::ALL.map(Provider::manifest),
        "metrics": REGISTRY.iter().map(metric).collect::<Vec<_>>(),
        "defaultCriteria": defaults,
        "defaultModel": JUDGE_MODEL.default,
        "settings": parameters().map(|(name, _)| name).collect::<Vec<_>>(),
        "keys": {
            "CONVERSATION_SCENARIO_KEYS": keys(&ConversationScenario::SHAPE),
            "USER_SIMULATOR_KEYS": keys(&UserSimulatorConfig::SHAPE),
        },
        "limits": {
            "MAX_BYTES": MAX_BYTES,
            "MAX_DEPTH": MAX_DEPTH,
            "MAX_VALUES": MAX_VALUES,
            "MAX_PROMPT_BYTES": MAX_PROMPT_BYTES,
            "MAX_REFUSALS": MAX_REFUSALS,
        },
        "statuses": {
            "REJECTED_STATUSES": statuses(|status| kind_from_status(status) == FailureKind::Auth),
            "RETRIED_STATUSES": statuses(may_pass),
        },
    })
}

/// The keys of a record in its order: in `camelCase`, and as files have them.
fn keys(shape: &Shape) -> Vec<(&'static str, &'static str)> {
    shape.fields.iter().map(|field| (field.camel, field.snake)).collect()
}

/// The HTTP statuses of errors for which something holds.
fn statuses(holds: impl Fn(u64) -> bool) -> Vec<u64> {
    (400..600).filter(|status| holds(*status)).collect()
}

fn metric(info: &MetricInfo) -> Value {
    let prompts: Vec<_> = prompt::ALL.iter().filter(|prompt| prompt.belongs_to(info.name)).collect();
    let by_purpose = |prompt: &&&prompt::Prompt| (prompt.purpose.as_str().to_owned(), prompt.id.into());
    json!({
        "name": info.name,
        "legacyNames": info.legacy_names,
        "className": info.class,
        "description": info.description,
        "unit": info.unit,
        "voteWords": info.vote_words,
        "reads": if info.reads.is_empty() { Value::Null } else { fields(&[&Invocation::SHAPE], info.reads) },
        "takesCriterion": info.requires_threshold,
        "range": info.interval.map(|range| [range.min_value, range.max_value]),
        "asksJudge": info.is_judged(),
        "prompts": prompts.iter().map(by_purpose).collect::<serde_json::Map<_, _>>(),
        "ofConversation": prompts.iter().any(|prompt| prompt.shows_conversation()),
    })
}

/// The fields of a record: those that are read with their own fields, `true` for a whole value, `false` for what is not read;
/// and what stands for a field that is not read and has to be there, as JSON.
fn fields(shapes: &[&Shape], reads: &[&str]) -> Value {
    let known: Vec<_> = shapes.iter().flat_map(|shape| shape.fields).collect();
    for path in reads {
        let key = path.split('.').next();
        assert!(known.iter().any(|field| Some(field.snake) == key), "`{path}` is no field");
    }
    let of_field = |field: &Field| {
        let inner = |path: &&str| path.strip_prefix(field.snake)?.strip_prefix('.').map(str::to_owned);
        let inner: Vec<_> = reads.iter().filter_map(inner).collect();
        let inner: Vec<_> = inner.iter().map(String::as_str).collect();
        let read = match shapes_of(&field.ty) {
            _ if reads.contains(&field.snake) => true.into(),
            Some(shapes) if !inner.is_empty() => fields(&shapes, &inner),
            _ => match (field.presence, field.ty) {
                (Presence::Required, Type::String) => r#""""#.into(),
                (Presence::Required, _) => "{}".into(),
                _ => false.into(),
            },
        };
        (field.camel.to_owned(), read)
    };
    known.iter().map(|field| of_field(field)).collect::<serde_json::Map<_, _>>().into()
}

/// What a value looks like, if it is a record or a list of records.
fn shapes_of(ty: &Type) -> Option<Vec<&'static Shape>> {
    match ty {
        Type::Record(shape) => Some(vec![*shape]),
        Type::Choice(..) => Some(IntermediateData::SHAPES.to_vec()),
        Type::List(item) => shapes_of(item),
        _ => None,
    }
}
