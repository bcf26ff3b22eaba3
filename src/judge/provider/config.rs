//! `judge_model_config`, which is written in the names of Gemini's `GenerateContentConfig`, as each
//! provider's own parameters.
//!
//! [`PARAMETERS`] is the whole mapping, and `docs/judges.md` shows it to users. O(n) in the config.

use super::{Endpoint, Provider};
use crate::model::json::{Json, Kind};
use crate::model::write::{quote, quoted};

/// What a parameter is called by the providers, in the order of [`Provider`].
///
/// A name that begins with a point stands in the object of generation settings
/// (`generationConfig`, `options`). No name: the provider has no such parameter.
struct Parameter(&'static str, [&'static str; 6]);

/// The names that are mapped. `systemInstruction` and `thinkingConfig` are not mere names: see
/// [`Settings::read`] and [`think`].
static PARAMETERS: [Parameter; 18] = [
    Parameter(
        "temperature",
        [".temperature", ".temperature", "temperature", "temperature", "temperature", ".temperature"],
    ),
    Parameter("topP", [".topP", ".topP", "top_p", "top_p", "top_p", ".top_p"]),
    Parameter("topK", [".topK", ".topK", "", "", "top_k", ".top_k"]),
    Parameter(
        "maxOutputTokens",
        [
            ".maxOutputTokens",
            ".maxOutputTokens",
            "max_completion_tokens",
            "max_output_tokens",
            "max_tokens",
            ".num_predict",
        ],
    ),
    Parameter("stopSequences", [".stopSequences", ".stopSequences", "stop", "", "stop_sequences", ".stop"]),
    Parameter("seed", [".seed", ".seed", "seed", "", "", ".seed"]),
    Parameter(
        "presencePenalty",
        [".presencePenalty", ".presencePenalty", "presence_penalty", "", "", ".presence_penalty"],
    ),
    Parameter(
        "frequencyPenalty",
        [".frequencyPenalty", ".frequencyPenalty", "frequency_penalty", "", "", ".frequency_penalty"],
    ),
    Parameter("candidateCount", [".candidateCount", ".candidateCount", "", "", "", ""]),
    Parameter("responseMimeType", [".responseMimeType", ".responseMimeType", "", "", "", ""]),
    Parameter("responseLogprobs", [".responseLogprobs", ".responseLogprobs", "logprobs", "", "", ""]),
    Parameter("logprobs", [".logprobs", ".logprobs", "top_logprobs", "top_logprobs", "", ""]),
    Parameter("mediaResolution", [".mediaResolution", ".mediaResolution", "", "", "", ""]),
    Parameter("thinkingConfig", [".", ".", ".", ".", ".", "."]),
    Parameter("systemInstruction", ["system", "system", "system", "system", "system", "system"]),
    Parameter("safetySettings", ["safetySettings", "safetySettings", "", "", "", ""]),
    Parameter("cachedContent", ["cachedContent", "cachedContent", "", "", "", ""]),
    Parameter("labels", ["", "labels", "", "", "", ""]),
];

/// The entries of a JSON object that is being written, without its braces.
#[derive(Default)]
pub(super) struct Entries(String);

impl Entries {
    /// Adds an entry whose value is JSON text.
    pub(super) fn json(&mut self, key: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        quote(key, &mut self.0);
        self.0.push(':');
        self.0.push_str(value);
    }

    /// Adds an entry whose value is a text.
    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.json(key, &quoted(value));
    }

    /// Adds the entries of another object after these.
    pub(super) fn append(&mut self, other: &Entries) {
        if !self.0.is_empty() && !other.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&other.0);
    }

    /// Whether there is no entry yet.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The whole object.
    pub(super) fn object(&self) -> String {
        ["{", &self.0, "}"].concat()
    }
}

/// A config in the words of one provider.
#[derive(Default)]
pub(super) struct Settings {
    /// Parameters that stand beside the prompt.
    pub(super) top: Entries,
    /// Parameters that stand in the object of generation settings.
    pub(super) nested: Entries,
    /// The system prompt: the question's, then the config's.
    pub(super) system: String,
    /// Whether the config limits the length of the reply.
    pub(super) limited: bool,
    /// How many tokens the model may think with, where the config says so.
    pub(super) thinking_budget: u64,
    /// Anthropic's `output_config.effort`.
    pub(super) effort: &'static str,
    /// What was left out, in words.
    pub(super) left_out: Vec<String>,
}

impl Settings {
    /// Maps a config for an endpoint. `with_schema` says that the reply's schema is sent along, which
    /// settles its type.
    pub(super) fn read(
        endpoint: &Endpoint,
        model: &str,
        config: Option<Json<'_>>,
        with_schema: bool,
    ) -> Self {
        let mut settings = Self::default();
        let Some(config) = config else { return settings };
        for (key, value) in config.entries() {
            if value.is_null() {
                continue;
            }
            let mut name = String::new();
            camel(&key, &mut name);
            let place = match PARAMETERS.iter().find(|parameter| parameter.0 == name) {
                Some(parameter) => parameter.1.get(endpoint.provider as usize).copied().unwrap_or_default(),
                None => "",
            };
            let taken = match name.as_str() {
                _ if place.is_empty() => false,
                "systemInstruction" => {
                    text_of(value, &mut settings.system);
                    true
                }
                "thinkingConfig" => think(endpoint.provider, value, &mut settings),
                "temperature" | "topP" | "topK" if !samples(endpoint) => false,
                "responseMimeType" if with_schema => true,
                "maxOutputTokens" => {
                    settings.limited = true;
                    let legacy =
                        place == "max_completion_tokens" && !knows_completion_tokens(endpoint, model);
                    settings.put(if legacy { "max_tokens" } else { place }, value.raw());
                    true
                }
                _ => {
                    let mut raw = String::new();
                    // Labels are names of the user's own; everything else is a shape of Gemini's.
                    if endpoint.provider.is_gemini() && name != "labels" {
                        camel_keys(value, &mut raw);
                    } else {
                        raw.push_str(value.raw());
                    }
                    settings.put(place, &raw);
                    true
                }
            };
            if !taken {
                settings.left_out.push(
                    [endpoint.provider.label(), " is not sent `", &key, "`: it has no such parameter here"]
                        .concat(),
                );
            }
        }
        settings
    }

    fn put(&mut self, place: &str, value: &str) {
        match place.strip_prefix('.') {
            Some(name) => self.nested.json(name, value),
            None => self.top.json(place, value),
        }
    }
}

/// Whether the endpoint takes temperature and the like. Anthropic refuses them since the API version
/// 2026-10-21, even at their default values; a user who needs them asks for the older version.
fn samples(endpoint: &Endpoint) -> bool {
    endpoint.provider != Provider::Anthropic || endpoint.is_older_anthropic()
}

/// Whether chat completions limit a reply by `max_completion_tokens`. OpenAI's reasoning models refuse
/// `max_tokens`; most compatible servers know nothing else.
fn knows_completion_tokens(endpoint: &Endpoint, model: &str) -> bool {
    let name = model.strip_prefix("openai/").unwrap_or(model).as_bytes();
    endpoint.base_url.is_none()
        || matches!(name, [b'o', b'0'..=b'9', ..] | [b'c', b'h', b'a', b't', b'g', b'p', b't', ..])
        || name.starts_with(b"gpt-") && !name.starts_with(b"gpt-oss")
}

/// `thinkingConfig` for a provider: false if it says something that the provider cannot express.
/// Whether thoughts are included matters to Gemini alone, since they are never read.
fn think(provider: Provider, config: Json<'_>, settings: &mut Settings) -> bool {
    if provider.is_gemini() {
        let mut raw = String::new();
        camel_keys(config, &mut raw);
        settings.nested.json("thinkingConfig", &raw);
        return true;
    }
    let mut understood = true;
    for (key, value) in config.entries() {
        let mut name = String::new();
        camel(&key, &mut name);
        let effort = match (name.as_str(), value.as_str().unwrap_or_default().to_ascii_lowercase().as_str()) {
            ("thinkingLevel", "minimal") if matches!(provider, Provider::Anthropic | Provider::Ollama) => {
                "low"
            }
            ("thinkingLevel", "minimal") => "minimal",
            ("thinkingLevel", "low") => "low",
            ("thinkingLevel", "medium") => "medium",
            ("thinkingLevel", "high") => "high",
            _ => "",
        };
        let budget = if name == "thinkingBudget" { value.raw() } else { "" };
        let tokens = budget.parse::<u64>().unwrap_or(0);
        match provider {
            _ if value.is_null() || name == "includeThoughts" => {}
            Provider::OpenAiChat | Provider::OpenAiResponses if !effort.is_empty() || budget == "0" => {
                let effort = if budget == "0" { "none" } else { effort };
                if provider == Provider::OpenAiChat {
                    settings.top.text("reasoning_effort", effort);
                } else {
                    settings.top.json("reasoning", &["{\"effort\":\"", effort, "\"}"].concat());
                }
            }
            Provider::Anthropic if !effort.is_empty() => settings.effort = effort,
            Provider::Anthropic if budget == "0" => settings.top.json("thinking", r#"{"type":"disabled"}"#),
            Provider::Anthropic if tokens > 0 => {
                // Fewer are refused.
                settings.thinking_budget = tokens.max(1024);
                let budget = settings.thinking_budget.to_string();
                settings
                    .top
                    .json("thinking", &[r#"{"type":"enabled","budget_tokens":"#, &budget, "}"].concat());
            }
            Provider::Ollama if !effort.is_empty() => settings.top.text("think", effort),
            Provider::Ollama if !budget.is_empty() => {
                settings.top.json("think", if budget == "0" { "false" } else { "true" });
            }
            // As much as the model likes is what it does anyway.
            _ => understood &= budget == "-1",
        }
    }
    understood
}

/// The texts of a content, in whichever of its forms: a text, parts, a list of either.
fn text_of(content: Json<'_>, text: &mut String) {
    if let Some(found) = content.as_str() {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&found);
    }
    for item in content.items() {
        text_of(item, text);
    }
    for (key, value) in content.entries() {
        if key == "text" || key == "parts" {
            text_of(value, text);
        }
    }
}

/// A key in Gemini's JSON spelling: `thinking_budget` as `thinkingBudget`.
pub(super) fn camel(key: &str, out: &mut String) {
    let mut raise = false;
    for character in key.chars() {
        if character == '_' {
            raise = true;
        } else {
            out.push(if raise { character.to_ascii_uppercase() } else { character });
            raise = false;
        }
    }
}

/// JSON with every key in Gemini's spelling.
fn camel_keys(json: Json<'_>, out: &mut String) {
    let mut separator = "";
    match json.kind() {
        Kind::Object => {
            out.push('{');
            for (key, value) in json.entries() {
                out.push_str(separator);
                separator = ",";
                let mut name = String::new();
                camel(&key, &mut name);
                quote(&name, out);
                out.push(':');
                camel_keys(value, out);
            }
            out.push('}');
        }
        Kind::Array => {
            out.push('[');
            for item in json.items() {
                out.push_str(separator);
                separator = ",";
                camel_keys(item, out);
            }
            out.push(']');
        }
        _ => out.push_str(json.raw()),
    }
}
