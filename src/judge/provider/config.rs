//! `judge_model_config`, which is written in the names of Gemini's `GenerateContentConfig`, as each
//! provider's own parameters.
//!
//! [`PARAMETERS`] is the whole mapping, and `docs/judges.md` shows it to users. O(n) in the config.

use super::json_path::{for_each, string, string_at, whole};
use super::{Endpoint, Provider};
use crate::foundation::json::Json;
use crate::foundation::write::{quote, quoted};

/// A parameter: its name in the config, what is special about it, and what OpenAI's chat completions and
/// responses, Anthropic and Ollama call it, in the order of [`Names`]. No name: there is none.
/// Google's name is the config's. Ollama's stand in `options`.
struct Parameter(&'static str, Special, [&'static str; 4]);

/// Whose names of parameters a provider has.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Names {
    /// Those of OpenAI's chat completions.
    Chat,
    /// Those of OpenAI's responses.
    Responses,
    /// Anthropic's.
    Anthropic,
    /// Ollama's.
    Ollama,
    /// Google's, which the config has.
    Google,
}

/// What is special about a parameter.
#[derive(Clone, Copy, PartialEq)]
enum Special {
    /// Nothing: Google has it in `generationConfig`.
    No,
    /// Anthropic's API refuses it.
    Sampling,
    /// The limit of the reply.
    Limit,
    /// The type of the reply, which its schema settles.
    Type,
    /// See [`think`].
    Thinking,
    /// Joins the system prompt.
    System,
    /// Google has it beside the contents.
    Beside,
    /// Vertex AI has it beside the contents, the Gemini API has not.
    BesideInVertex,
}

/// The names that are mapped.
static PARAMETERS: [Parameter; 18] = [
    Parameter("temperature", Special::Sampling, ["temperature", "temperature", "temperature", "temperature"]),
    Parameter("topP", Special::Sampling, ["top_p", "top_p", "top_p", "top_p"]),
    Parameter("topK", Special::Sampling, ["", "", "top_k", "top_k"]),
    Parameter(
        "maxOutputTokens",
        Special::Limit,
        ["max_completion_tokens", "max_output_tokens", "max_tokens", "num_predict"],
    ),
    Parameter("stopSequences", Special::No, ["stop", "", "stop_sequences", "stop"]),
    Parameter("seed", Special::No, ["seed", "", "", "seed"]),
    Parameter("presencePenalty", Special::No, ["presence_penalty", "", "", "presence_penalty"]),
    Parameter("frequencyPenalty", Special::No, ["frequency_penalty", "", "", "frequency_penalty"]),
    Parameter("candidateCount", Special::No, ["", "", "", ""]),
    Parameter("responseMimeType", Special::Type, ["", "", "", ""]),
    Parameter("responseLogprobs", Special::No, ["logprobs", "", "", ""]),
    Parameter("logprobs", Special::No, ["top_logprobs", "top_logprobs", "", ""]),
    Parameter("mediaResolution", Special::No, ["", "", "", ""]),
    Parameter("thinkingConfig", Special::Thinking, ["reasoning_effort", "reasoning", "thinking", "think"]),
    Parameter("systemInstruction", Special::System, ["messages", "instructions", "system", "messages"]),
    Parameter("safetySettings", Special::Beside, ["", "", "", ""]),
    Parameter("cachedContent", Special::Beside, ["", "", "", ""]),
    Parameter("labels", Special::BesideInVertex, ["", "", "", ""]),
];

/// The names that are mapped, in `camelCase`.
pub(crate) fn parameters() -> impl Iterator<Item = &'static str> {
    PARAMETERS.iter().map(|Parameter(name, ..)| *name)
}

/// The entries of a JSON object that is being written, without its braces.
#[derive(Default)]
pub(super) struct Entries(String);

impl Entries {
    /// Adds an entry whose value is JSON text, in pieces.
    #[inline(never)]
    pub(super) fn json(&mut self, key: &str, value: &[&str]) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        quote(key, &mut self.0);
        self.0.push(':');
        for piece in value {
            self.0.push_str(piece);
        }
    }

    /// Adds an entry whose value is a text.
    #[inline(never)]
    pub(super) fn string(&mut self, key: &str, value: &str) {
        self.json(key, &[&quoted(value)]);
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
        let provider = endpoint.provider;
        for (key, value) in config.entries() {
            if !value.is_null() && !settings.take(endpoint, model, &key, value, with_schema) {
                let warning = [provider.label(), " is not sent `", &key, "`: it has no such parameter here"];
                settings.left_out.push(warning.concat());
            }
        }
        settings
    }

    /// Maps one parameter: false if there is no place for it.
    fn take(
        &mut self,
        endpoint: &Endpoint,
        model: &str,
        key: &str,
        value: Json<'_>,
        with_schema: bool,
    ) -> bool {
        let provider = endpoint.provider;
        let Some(Parameter(name, special, names)) =
            PARAMETERS.iter().find(|parameter| is_name(key, parameter.0))
        else {
            return false;
        };
        let mut place = match provider {
            Provider::Gemini if *special == Special::BesideInVertex => "",
            Provider::Gemini | Provider::Vertex => name,
            _ => names.get(provider.protocol().parameters as usize).copied().unwrap_or_default(),
        };
        let mut nested = provider.is_gemini() || provider == Provider::Ollama;
        match special {
            Special::Type if with_schema => return true,
            _ if place.is_empty() => return false,
            Special::Sampling if !samples(endpoint) => return false,
            Special::Thinking if !provider.is_gemini() => return think(provider, value, self),
            Special::System => {
                append_content(value, &mut self.system);
                return true;
            }
            Special::Limit => {
                self.limited = true;
                if provider == Provider::OpenAiChat && !knows_completion_tokens(endpoint, model) {
                    place = "max_tokens";
                }
            }
            Special::Beside | Special::BesideInVertex => nested = false,
            _ => {}
        }
        let entries = if nested { &mut self.nested } else { &mut self.top };
        // Google reads the keys inside in either spelling.
        entries.json(place, &[value.raw()]);
        true
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
    let name = model.strip_prefix("openai/").unwrap_or(model);
    endpoint.base_url.is_none()
        || matches!(name.as_bytes(), [b'o', b'0'..=b'9', ..])
        || name.starts_with("chatgpt-")
        || (name.starts_with("gpt-") && !name.starts_with("gpt-oss"))
}

/// `thinkingConfig` for a provider other than Google: false if it says something that the provider cannot
/// express. Whether thoughts are included matters to Google alone, since they are never read.
fn think(provider: Provider, config: Json<'_>, settings: &mut Settings) -> bool {
    const EFFORTS: [&str; 4] = ["minimal", "low", "medium", "high"];
    let mut understood = true;
    for (key, value) in config.entries() {
        let level = string(value, "");
        let mut effort =
            EFFORTS.iter().find(|effort| effort.eq_ignore_ascii_case(&level)).copied().unwrap_or_default();
        let budget = value.as_number().unwrap_or_default();
        let tokens = whole(value).unwrap_or(0);
        match provider {
            _ if value.is_null() || is_name(&key, "includeThoughts") => {}
            Provider::OpenAiChat | Provider::OpenAiResponses if !effort.is_empty() || budget == "0" => {
                if budget == "0" {
                    effort = "none";
                }
                if provider == Provider::OpenAiChat {
                    settings.top.string("reasoning_effort", effort);
                } else {
                    settings.top.json("reasoning", &["{\"effort\":\"", effort, "\"}"]);
                }
            }
            Provider::Anthropic | Provider::Ollama if !effort.is_empty() => {
                if effort == "minimal" {
                    effort = "low";
                }
                if provider == Provider::Anthropic {
                    settings.effort = effort;
                } else {
                    settings.top.string("think", effort);
                }
            }
            Provider::Anthropic if budget == "0" => {
                settings.top.json("thinking", &[r#"{"type":"disabled"}"#])
            }
            Provider::Anthropic if tokens > 0 => {
                // Fewer are refused.
                settings.thinking_budget = tokens.max(1024);
                let budget = settings.thinking_budget.to_string();
                settings.top.json("thinking", &[r#"{"type":"enabled","budget_tokens":"#, &budget, "}"]);
            }
            Provider::Ollama if !budget.is_empty() => {
                settings.top.json("think", &[if budget == "0" { "false" } else { "true" }]);
            }
            // As much as the model likes is what it does anyway.
            _ => understood &= budget == "-1",
        }
    }
    understood
}

/// Appends the texts of a content, in whichever of its forms: a text, parts, a list of either.
fn append_content(content: Json<'_>, out: &mut String) {
    for path in ["", "text"] {
        if let Some(found) = string_at(content, path) {
            if !out.is_empty() {
                out.push_str("\n\n");
            }
            out.push_str(&found);
        }
    }
    for path in ["", "parts"] {
        for_each(content, path, &mut |item| append_content(item, out));
    }
}

/// Whether a key is a name in either spelling: `top_p` and `topP`.
#[inline(never)]
pub(crate) fn is_name(key: &str, name: &str) -> bool {
    let mut name = name.bytes();
    for byte in key.bytes() {
        if byte != b'_' && name.next().is_none_or(|other| !other.eq_ignore_ascii_case(&byte)) {
            return false;
        }
    }
    name.next().is_none()
}
