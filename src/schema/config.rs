//! The JSON Schema of eval configs, made from the registry of metrics and their declared settings.
//!
//! It accepts what the reader accepts without a warning. For content that the reader unknown_keys Unread
//! (`custom_metrics`, `user_simulator_config`, `live_model_config`, the values in `judge_model_config`) it
//! describes what google-adk or the judge's provider accepts. It proposes `snake_case` keys first, and metrics
//! by their own names; ADK-TS's names are accepted too.

use serde_json::{Map, Value, json};

use super::settings;
use super::spellings::{schema_key, twin};
use crate::judge::provider::{self, ParameterType};
use crate::metrics::judged;
use crate::metrics::{Interval, MetricInfo, REGISTRY, metric_names};
use crate::model::config::{COMMON_KEYS, KnownSetting};

/// The schema of a config.
pub(super) fn schema() -> Value {
    let mut definitions = settings::definitions();
    definitions["JudgeModelOptions"] = judge_model_options();
    definitions["JudgeModelConfig"] = judge_model_config();
    definitions["Criterion"] = criterion();
    definitions["NotRead"] = json!({ "description": "Not read by this metric.", "doNotSuggest": true });
    let mut metrics = Map::new();
    let mut other_names = Map::new();
    for info in REGISTRY {
        definitions[info.name] = metric(info);
        let reference = format!("#/definitions/{}", info.name);
        metrics.insert(info.name.into(), json!({ "$ref": reference }));
        let names = [info.name.to_uppercase()];
        let names: Vec<_> =
            names.iter().map(String::as_str).chain(info.legacy_names.iter().copied()).collect();
        other_names.insert(format!("^({})$", names.join("|")), json!({ "$ref": reference }));
    }
    let at_top = at_top(&metrics, &other_names);
    let mut properties = Map::new();
    properties.insert("$schema".into(), schema_key());
    properties.insert(
        "criteria".into(),
        json!({
            "description": "The metrics to evaluate, by name, each with the threshold that its score has to reach, or with an object of settings. Without a config: tool_trajectory_avg_score 1, response_match_score 0.8. Counts, tokens and seconds are always reported.",
            "type": ["object", "null"],
            "properties": metrics,
            "patternProperties": other_names,
            "additionalProperties": {
                "description": "A metric of your own: one that is registered from JavaScript, or for google-adk one of `custom_metrics`.",
                "allOf": [{ "$ref": "#/definitions/Criterion" }],
                "properties": { "threshold": threshold_schema(0.8, None) },
            },
        }),
    );
    for (snake, camel, schema) in beside_criteria() {
        properties.insert(snake.into(), schema);
        properties.insert(camel.into(), twin(&format!("#/properties/{snake}")));
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "EvalConfig",
        "description": "Which metrics an evaluation has, and what each has to reach: `test_config.json` beside an evalset.",
        "type": "object",
        "properties": properties,
        "patternProperties": at_top,
        "oneOf": [
            {
                "required": ["criteria"],
                "properties": { "criteria": { "type": "object", "minProperties": 1 } },
                "propertyNames": { "not": { "pattern": metric_pattern() } },
                "errorMessage": "`criteria` names the metrics, at least one",
            },
            {
                "not": { "propertyNames": { "not": { "pattern": metric_pattern() } } },
                "properties": { "criteria": { "type": "null" } },
            },
        ],
        "additionalProperties": false,
        "definitions": definitions,
    })
}

/// A pattern for keys that matches the names of metrics.
fn metric_pattern() -> String {
    let upper: Vec<_> = REGISTRY.iter().map(|info| info.name.to_uppercase()).collect();
    let names: Vec<_> = metric_names().chain(upper.iter().map(String::as_str)).collect();
    format!("^({})$", names.join("|"))
}

/// Metrics at the top of a config without `criteria`, as ADK-TS's documentation has them.
fn at_top(metrics: &Map<String, Value>, other_names: &Map<String, Value>) -> Map<String, Value> {
    let own = metrics.iter().map(|(name, schema)| (format!("^{name}$"), schema.clone()));
    own.chain(other_names.iter().map(|(names, schema)| (names.clone(), schema.clone()))).collect()
}

/// The schema of a metric's entry in a config.
fn metric(info: &MetricInfo) -> Value {
    let mut description = String::from(info.description);
    if let Some(range) = info.interval {
        description += &format!(" Score: {} to {}.", range.min_value, range.max_value);
    }
    if info.requires_reference {
        description += " Compares with the expected conversation.";
    }
    if info.is_judged() {
        description += " Asks a judge.";
    }
    if !info.requires_threshold {
        description += " Always reported: leave it out, it takes no threshold.";
        return json!({ "description": description, "not": {}, "doNotSuggest": true, "errorMessage": "It is always reported and takes no threshold." });
    }
    let threshold = info.interval.map_or(1.0, |range| 0.8 * range.max_value);
    let mut settings = Map::new();
    settings.insert("threshold".into(), threshold_schema(threshold, info.interval));
    let mut pairs = Vec::new();
    for setting in info.settings.iter().copied().flatten() {
        let [snake, camel] = setting.keys;
        insert(&mut settings, setting, &format!("#/definitions/{}", info.name));
        if snake != camel && !COMMON_KEYS.contains(&setting.keys) {
            pairs.push(json!({ "required": [snake, camel] }));
        }
    }
    for [snake, camel] in COMMON_KEYS {
        let is_read = snake == "judge_model_options" && info.is_judged();
        let reference = if is_read { "#/definitions/JudgeModelOptions" } else { "#/definitions/NotRead" };
        settings.entry(snake).or_insert_with(|| json!({ "$ref": reference }));
        settings.entry(camel).or_insert_with(|| twin(reference));
    }
    let mut schema = json!({
        "description": description,
        "defaultSnippets": [
            { "label": "threshold", "body": threshold },
            { "label": "threshold and settings", "body": { "threshold": threshold } },
        ],
        "allOf": [{ "$ref": "#/definitions/Criterion" }],
        "properties": settings,
        "additionalProperties": false,
    });
    limit(&mut schema, info.interval);
    if !pairs.is_empty() {
        schema["not"] = json!({ "type": "object", "anyOf": pairs });
    }
    schema
}

/// The schema of a criterion's threshold, with a proposal.
fn threshold_schema(proposal: f64, interval: Option<Interval>) -> Value {
    let range =
        interval.map_or(String::new(), |range| format!(" from {} to {}", range.min_value, range.max_value));
    let mut schema = json!({
        "allOf": [{ "$ref": "#/definitions/Threshold" }],
        "description": format!("What the score has to reach: a number{range}. Numbers in strings count too, and `true` for 1."),
        "examples": [proposal],
    });
    limit(&mut schema, interval);
    schema
}

/// Restricts numbers to thresholds that some scores reach and others do not ([`Interval::takes_threshold`]). A
/// schema cannot compare numeric strings, so these and other types stay unrestricted.
fn limit(schema: &mut Value, interval: Option<Interval>) {
    let Some(Interval { min_value, max_value }) = interval else { return };
    schema["minimum"] = min_value.min(0.0).into();
    schema["maximum"] = max_value.into();
    if min_value > 0.0 {
        let between = json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": min_value });
        let message = format!("Scores are from {min_value} to {max_value}.");
        schema["allOf"] = json!([schema["allOf"][0], { "not": between, "errorMessage": message }]);
    }
}

/// The schema of what all criteria have in common.
fn criterion() -> Value {
    let pairs = COMMON_KEYS.into_iter().filter(|[snake, camel]| snake != camel);
    let pairs: Vec<_> = pairs.map(|keys| json!({ "required": keys })).collect();
    json!({
        "anyOf": [{ "$ref": "#/definitions/Threshold" }, { "type": "object" }],
        "required": ["threshold"],
        "not": { "type": "object", "anyOf": pairs },
    })
}

/// Adds a setting in both spellings to the properties of the object at `pointer`.
fn insert(properties: &mut Map<String, Value>, setting: &KnownSetting, pointer: &str) {
    let [snake, camel] = setting.keys;
    properties.insert(snake.into(), (setting.schema)());
    if snake != camel {
        properties.insert(camel.into(), twin(&format!("{pointer}/properties/{snake}")));
    }
}

/// The schema of `judge_model_options`.
fn judge_model_options() -> Value {
    let mut properties = Map::new();
    for setting in judged::JUDGE_SETTINGS {
        insert(&mut properties, setting, "#/definitions/JudgeModelOptions");
    }
    json!({
        "description": "How the judge is asked: its model, how often, how many calls at a time.",
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": false,
    })
}

/// The schema of a model's settings, with the names of Gemini's `GenerateContentConfig`.
fn judge_model_config() -> Value {
    let mut properties = Map::new();
    for (camel, ty) in provider::parameters() {
        let description = match camel {
            "temperature" => "How freely it samples, from 0; 0 is the steadiest.",
            "topP" => "Sampling takes the likeliest tokens up to this probability, 0 to 1.",
            "topK" => "Sampling takes this many of the likeliest tokens.",
            "maxOutputTokens" => "The most tokens of a reply.",
            "stopSequences" => "Strings at which a reply ends.",
            "seed" => "Makes replies repeatable, where the provider can.",
            "presencePenalty" => "Discourages tokens that the reply has already.",
            "frequencyPenalty" => "Discourages tokens the more often the reply has them.",
            "candidateCount" => "How many replies are made; the first is read.",
            "responseMimeType" => "The type of the reply; where the reply has a schema, that settles it.",
            "responseLogprobs" => "Whether probabilities of tokens are returned; they are not read.",
            "logprobs" => "For how many alternatives of a token.",
            "mediaResolution" => "The resolution of media in prompts.",
            "thinkingConfig" => {
                "How much it thinks before it replies: {\"thinking_budget\": 1024}, in tokens."
            }
            "systemInstruction" => "Joins the system prompt: a string, or Gemini's Content.",
            "safetySettings" => "What Gemini's safety filters let through.",
            "cachedContent" => "The name of content that is cached at Google.",
            "labels" => "Labels for billing; Vertex AI only.",
            _ => "",
        };
        let mut property = json!({ "description": description });
        let kind = match ty {
            ParameterType::Number => json!({ "type": "number" }),
            ParameterType::Share => json!({ "type": "number", "minimum": 0, "maximum": 1 }),
            ParameterType::Heat => json!({ "type": "number", "minimum": 0, "maximum": 2 }),
            ParameterType::Count(least) => {
                json!({ "type": "integer", "minimum": least, "maximum": i32::MAX })
            }
            ParameterType::Integer => json!({ "type": "integer" }),
            ParameterType::One => json!({ "type": "integer", "minimum": 1, "maximum": 1 }),
            ParameterType::String => json!({ "type": "string" }),
            ParameterType::Flag => json!({ "type": "boolean" }),
            ParameterType::Array => json!({ "type": "array" }),
            ParameterType::Strings => json!({ "type": "array", "items": { "type": "string" } }),
            ParameterType::Object => json!({ "type": "object" }),
            ParameterType::Content => json!({}),
        };
        for (key, value) in kind.as_object().into_iter().flatten() {
            property[key] = value.clone();
        }
        let snake = in_snake_case(camel);
        if snake != camel {
            let pointer = format!("#/definitions/JudgeModelConfig/properties/{snake}");
            properties.insert(camel.into(), twin(&pointer));
        }
        properties.insert(snake, property);
    }
    json!({
        "description": "Sampling settings of the judge's model, in the names of Gemini's GenerateContentConfig; other providers are sent what they call the same.",
        "type": ["object", "null"],
        "properties": properties,
    })
}

fn in_snake_case(camel: &str) -> String {
    let mut snake = String::new();
    for c in camel.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// The keys of a config besides its criteria, with their schemas.
fn beside_criteria() -> [(&'static str, &'static str, Value); 3] {
    [
        (
            "custom_metrics",
            "customMetrics",
            json!({
                "description": "Where google-adk finds metrics written in Python, by their names in `criteria`. Here a config runs code only with your leave: register the metric, or name its JavaScript module in `loadCustomMetrics` or `--metrics`.",
                "type": ["object", "null"],
                "additionalProperties": {
                    "type": "object",
                    "properties": object_schema(&[
                        ("code_config", "codeConfig", json!({
                            "description": "The Python function.",
                            "type": "object",
                            "properties": { "name": { "description": "Its dotted path, `my_package.my_module.my_metric`; here also a JavaScript module and its export, `./metrics.mjs#politeness`.", "type": "string" } },
                            "required": ["name"],
                            "additionalProperties": false,
                        })),
                        ("description", "description", json!({ "description": "What it measures.", "type": "string", "default": "" })),
                        ("metric_info", "metricInfo", json!({
                            "description": "What is known of it; without it scores are from 0 to 1.",
                            "anyOf": [{
                                "type": "object",
                                "properties": object_schema(&[
                                    ("metric_name", "metricName", json!({ "description": "The metric's name.", "type": "string" }), ),
                                    ("description", "description", json!({ "description": "What it measures.", "type": ["string", "null"] })),
                                    ("metric_value_info", "metricValueInfo", json!({ "description": "The values it can take: {\"interval\": {\"min_value\": 0, \"max_value\": 1}}.", "type": "object" })),
                                    ("requires_threshold", "requiresThreshold", json!({ "description": "Whether it passes or fails.", "type": "boolean", "default": true })),
                                ]),
                                "allOf": [either_schema("metric_name", "metricName"), either_schema("metric_value_info", "metricValueInfo")],
                                "additionalProperties": false,
                            }, { "type": "null" }],
                        })),
                    ]),
                    "allOf": [either_schema("code_config", "codeConfig")],
                },
            }),
        ),
        (
            "user_simulator_config",
            "userSimulatorConfig",
            json!({
                "description": "Who plays the user of cases with a conversation scenario, in google-adk and where AgentEvaluator runs an agent.",
                "type": ["object", "null"],
                "properties": object_schema(&[
                    ("type", "type", json!({ "description": "Which simulator; here the user always writes.", "enum": ["llm_backed", "llm_audio", null], "default": "llm_backed" })),
                    ("model", "model", json!({ "description": "The model that plays the user.", "type": "string", "default": "gemini-2.5-flash" })),
                    ("model_configuration", "modelConfiguration", json!({ "$ref": "#/definitions/JudgeModelConfig" })),
                    ("max_allowed_invocations", "maxAllowedInvocations", json!({ "description": "The most turns of a conversation, the starting prompt included; at most 100 for a file, however many it asks for (-1: no limit).", "type": "integer", "default": 20 })),
                    ("custom_instructions", "customInstructions", json!({ "description": "A prompt of your own. It has to hold {{ stop_signal }}, {{ conversation_plan }} and {{ conversation_history }}, and {{ persona }} for scenarios with a persona.", "type": ["string", "null"] })),
                    ("include_function_calls", "includeFunctionCalls", json!({ "description": "Whether the model is shown tool calls and their responses.", "type": "boolean", "default": false })),
                ]),
                "additionalProperties": false,
            }),
        ),
        (
            "live_model_config",
            "liveModelConfig",
            json!({
                "description": "How google-adk runs live models. Not read here.",
                "type": ["object", "null"],
                "properties": object_schema(&[
                    ("timeout_seconds", "timeoutSeconds", json!({ "description": "How long a turn may take, in seconds.", "type": "integer" })),
                ]),
            }),
        ),
    ]
}

/// An object schema with all properties in both spellings. The schemas are small, so each is repeated.
fn object_schema(fields: &[(&str, &str, Value)]) -> Value {
    let mut properties = Map::new();
    for (snake, camel, schema) in fields {
        properties.insert((*snake).into(), schema.clone());
        if snake != camel {
            let mut twin = schema.clone();
            twin["suggestSortText"] = "~".into();
            properties.insert((*camel).into(), twin);
        }
    }
    properties.into()
}

fn either_schema(snake: &str, camel: &str) -> Value {
    json!({ "anyOf": [{ "required": [snake] }, { "required": [camel] }] })
}
