//! The manifest: what the TypeScript package needs to know of the engine before it is loaded, and for types.
//! `scripts/manifest.mjs` makes modules from it. Hosts with a loaded engine ask it instead (`engineInfo`).

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::foundation::json::{MAX_BYTES, MAX_DEPTH, MAX_VALUES};
use crate::judge::prompt;
use crate::judge::provider::Provider;
use crate::metrics::{MetricInfo, REGISTRY};
use crate::model::config::DEFAULT_CONFIG;

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
        "providers": Provider::ALL.map(Provider::manifest),
        "metrics": REGISTRY.iter().map(metric).collect::<Vec<_>>(),
        "defaultCriteria": defaults,
        "limits": { "MAX_BYTES": MAX_BYTES, "MAX_DEPTH": MAX_DEPTH, "MAX_VALUES": MAX_VALUES },
    })
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
        "takesCriterion": info.requires_threshold,
        "asksJudge": info.is_judged(),
        "prompts": prompts.iter().map(by_purpose).collect::<serde_json::Map<_, _>>(),
        "ofConversation": prompts.iter().any(|prompt| prompt.shows_conversation()),
    })
}
