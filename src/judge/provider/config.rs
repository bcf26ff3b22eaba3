//! Maps `judge_model_config`, which uses the names of Gemini's `GenerateContentConfig`, to each provider's
//! parameters.
//!
//! [`PARAMETERS`] is the complete mapping; `docs/judges.md` shows it to users. O(n) in the config.

use super::json_path::{for_each, string, string_at, whole};
use super::{Endpoint, Provider};
use crate::foundation::double;
use crate::foundation::error::Result;
use crate::foundation::json::{Json, JsonKind};
use crate::foundation::write::{ObjectBuilder, Raw};
use crate::model::shape;

/// A parameter. Google's name for it is that of the config.
struct Parameter {
    name: &'static str,
    ty: Type,
    mapping: Mapping,
    names: Names,
}

impl Parameter {
    const fn new(name: &'static str, ty: Type, mapping: Mapping, names: Names) -> Self {
        Self { name, ty, mapping, names }
    }
}

/// The names of a parameter in other protocols than Google's; empty where there is no such parameter.
struct Names {
    chat: &'static str,
    responses: &'static str,
    anthropic: &'static str,
    /// In `options`.
    ollama: &'static str,
}

/// No other protocol has the parameter.
const NONE: Names = Names { chat: "", responses: "", anthropic: "", ollama: "" };

impl Names {
    /// A name that all of them share.
    const fn all(name: &'static str) -> Self {
        Self { chat: name, responses: name, anthropic: name, ollama: name }
    }
}

/// The type of a parameter. What is inside arrays and objects is for the provider to check.
#[derive(Clone, Copy)]
pub(crate) enum Type {
    Number,
    /// A number from 0 to 1.
    Share,
    /// A number from 0 to 2.
    Heat,
    /// A whole number from this one to [`MOST`].
    Count(i64),
    /// A whole number.
    Integer,
    /// The number 1.
    One,
    String,
    /// True or false.
    Flag,
    Array,
    /// An array of strings.
    Strings,
    Object,
    /// A text, its parts, or a list of either.
    Content,
}

/// The largest count that providers take: Google's are integers of 32 bits.
const MOST: i64 = i32::MAX as i64;

/// Which names of parameters a provider uses.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ParameterNames {
    /// Those of OpenAI's chat completions.
    Chat,
    /// Those of OpenAI's responses.
    Responses,
    /// Anthropic's.
    Anthropic,
    /// Ollama's.
    Ollama,
    /// Google's, which are those of the config.
    Google,
}

/// How a parameter is mapped.
#[derive(Clone, Copy, PartialEq)]
enum Mapping {
    /// By its name. In Google's requests it belongs to `generationConfig`.
    No,
    /// By its name, but Anthropic's API rejects it.
    Sampling,
    /// The token limit of the reply.
    Limit,
    /// The type of the reply, which is determined by its schema.
    Type,
    /// By [`think`].
    Thinking,
    /// Joins the system prompt.
    System,
    /// In Google's requests it is a sibling of the contents.
    Beside,
    /// In Vertex AI's requests it is a sibling of the contents; the Gemini API does not have it.
    BesideInVertex,
}

/// The parameters that are mapped.
static PARAMETERS: &[Parameter] = &[
    Parameter::new("temperature", Type::Heat, Mapping::Sampling, Names::all("temperature")),
    Parameter::new("topP", Type::Share, Mapping::Sampling, Names::all("top_p")),
    Parameter::new(
        "topK",
        Type::Count(0),
        Mapping::Sampling,
        Names { anthropic: "top_k", ollama: "top_k", ..NONE },
    ),
    Parameter::new(
        "maxOutputTokens",
        Type::Count(1),
        Mapping::Limit,
        Names {
            chat: "max_completion_tokens",
            responses: "max_output_tokens",
            anthropic: "max_tokens",
            ollama: "num_predict",
        },
    ),
    Parameter::new(
        "stopSequences",
        Type::Strings,
        Mapping::No,
        Names { chat: "stop", anthropic: "stop_sequences", ollama: "stop", ..NONE },
    ),
    Parameter::new("seed", Type::Integer, Mapping::No, Names { chat: "seed", ollama: "seed", ..NONE }),
    Parameter::new(
        "presencePenalty",
        Type::Number,
        Mapping::No,
        Names { chat: "presence_penalty", ollama: "presence_penalty", ..NONE },
    ),
    Parameter::new(
        "frequencyPenalty",
        Type::Number,
        Mapping::No,
        Names { chat: "frequency_penalty", ollama: "frequency_penalty", ..NONE },
    ),
    Parameter::new("candidateCount", Type::One, Mapping::No, NONE),
    Parameter::new("responseMimeType", Type::String, Mapping::Type, NONE),
    Parameter::new("responseLogprobs", Type::Flag, Mapping::No, Names { chat: "logprobs", ..NONE }),
    Parameter::new(
        "logprobs",
        Type::Count(0),
        Mapping::No,
        Names { chat: "top_logprobs", responses: "top_logprobs", ..NONE },
    ),
    Parameter::new("mediaResolution", Type::String, Mapping::No, NONE),
    Parameter::new(
        "thinkingConfig",
        Type::Object,
        Mapping::Thinking,
        Names { chat: "reasoning_effort", responses: "reasoning", anthropic: "thinking", ollama: "think" },
    ),
    Parameter::new(
        "systemInstruction",
        Type::Content,
        Mapping::System,
        Names { chat: "messages", responses: "instructions", anthropic: "system", ollama: "messages" },
    ),
    Parameter::new("safetySettings", Type::Array, Mapping::Beside, NONE),
    Parameter::new("cachedContent", Type::String, Mapping::Beside, NONE),
    Parameter::new("labels", Type::Object, Mapping::BesideInVertex, NONE),
];

/// The parameters: their names in `camelCase`, and their types.
pub(crate) fn parameters() -> impl Iterator<Item = (&'static str, Type)> {
    PARAMETERS.iter().map(|parameter| (parameter.name, parameter.ty))
}

/// The names inside `thinkingConfig`.
pub(crate) const THINKING: [&str; 3] = ["thinkingLevel", "thinkingBudget", "includeThoughts"];

/// The parameter of a name in either spelling.
fn parameter(key: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| is_name(key, parameter.name))
}

/// Whether a key names a parameter.
///
/// # Errors
/// If it does, and the value has another type.
pub(crate) fn is_parameter(key: &str, value: Json<'_>) -> Result<bool> {
    let Some(Parameter { ty, .. }) = parameter(key) else { return Ok(false) };
    let whole = shape::whole(value);
    let (fits, expected) = match ty {
        Type::Number => (value.as_number().is_some(), "a number"),
        Type::Share => ((0.0..=1.0).contains(&number(value)), "a number from 0 to 1"),
        Type::Heat => ((0.0..=2.0).contains(&number(value)), "a number from 0 to 2"),
        Type::Count(least) => (
            whole.is_some_and(|found| (*least..=MOST).contains(&found)),
            match least {
                0 => "a whole number from 0 to 2147483647",
                _ => "a whole number from 1 to 2147483647",
            },
        ),
        Type::Integer => (whole.is_some(), "a whole number"),
        Type::One => (whole == Some(1), "1, since only the first candidate is read and all are paid for"),
        Type::String => (value.as_str().is_some(), "a string"),
        Type::Flag => (value.as_bool().is_some(), "true or false"),
        Type::Array => (value.kind() == JsonKind::Array, "an array"),
        Type::Strings => (
            value.kind() == JsonKind::Array && value.items().all(|item| item.as_str().is_some()),
            "an array of strings",
        ),
        Type::Object => (value.kind() == JsonKind::Object, "an object"),
        Type::Content => (true, ""),
    };
    if fits { Ok(true) } else { Err(value.expected(expected)) }
}

/// A number; of anything else none that any range contains.
fn number(value: Json<'_>) -> f64 {
    value.as_number().and_then(double::read).unwrap_or(f64::NAN)
}

/// A config mapped to one provider.
#[derive(Default)]
pub(super) struct MappedSettings {
    /// Parameters on the top level of the request.
    pub(super) top: ObjectBuilder,
    /// Parameters in the object of generation settings.
    pub(super) nested: ObjectBuilder,
    /// The system prompt: that of the question, then that of the config.
    pub(super) system: String,
    /// Whether the config limits the length of the reply.
    pub(super) limited: bool,
    /// The token budget for thinking, if the config sets one.
    pub(super) thinking_budget: u64,
    /// Anthropic's `output_config.effort`.
    pub(super) effort: &'static str,
    /// Sentences about settings that are not sent.
    pub(super) left_out: Vec<String>,
}

impl MappedSettings {
    /// Maps a config for an endpoint. `with_schema` says that the reply's schema is sent, which determines the
    /// reply's type.
    pub(super) fn read(
        endpoint: &Endpoint,
        model: &str,
        config: Option<Json<'_>>,
        with_schema: bool,
    ) -> Self {
        let mut settings = Self::default();
        let Some(config) = config else { return settings };
        for (key, value) in config.entries() {
            if !value.is_null() && !settings.take(endpoint, model, &key, value, with_schema) {
                let warning =
                    [&endpoint.label(), " is not sent `", &key, "`: it has no such parameter or value"];
                settings.left_out.push(warning.concat());
            }
        }
        settings
    }

    /// Maps one parameter. Returns false if the provider has no equivalent.
    fn take(
        &mut self,
        endpoint: &Endpoint,
        model: &str,
        key: &str,
        value: Json<'_>,
        with_schema: bool,
    ) -> bool {
        let provider = endpoint.provider;
        let Some(Parameter { name, mapping, names, .. }) = parameter(key) else { return false };
        let mut target = match provider.protocol().parameters {
            ParameterNames::Google if provider == Provider::Gemini && *mapping == Mapping::BesideInVertex => {
                ""
            }
            ParameterNames::Google => name,
            ParameterNames::Chat => names.chat,
            ParameterNames::Responses => names.responses,
            ParameterNames::Anthropic => names.anthropic,
            ParameterNames::Ollama => names.ollama,
        };
        let mut nested = provider.is_gemini() || provider == Provider::Ollama;
        match mapping {
            Mapping::Type if with_schema => return true,
            _ if target.is_empty() => return false,
            Mapping::Sampling if !samples(endpoint) => return false,
            Mapping::Thinking if !provider.is_gemini() => return think(provider, value, self),
            Mapping::System => {
                append_content(value, &mut self.system);
                return true;
            }
            Mapping::Limit => {
                self.limited = true;
                if provider == Provider::OpenAiChat && !knows_completion_tokens(endpoint, model) {
                    target = "max_tokens";
                }
            }
            Mapping::Beside | Mapping::BesideInVertex => nested = false,
            _ => {}
        }
        let entries = if nested { &mut self.nested } else { &mut self.top };
        // Google accepts the keys inside in either spelling.
        entries.add(target, &value);
        true
    }
}

/// Whether the endpoint accepts temperature and similar parameters. Anthropic rejects them since the API
/// version 2026-10-21, even at their default values; users who need them choose the older version.
fn samples(endpoint: &Endpoint) -> bool {
    endpoint.provider != Provider::Anthropic || endpoint.is_older_anthropic()
}

/// Whether chat completions limit a reply by `max_completion_tokens`. OpenAI's reasoning models reject
/// `max_tokens`; most compatible servers know only that.
fn knows_completion_tokens(endpoint: &Endpoint, model: &str) -> bool {
    let name = model.strip_prefix("openai/").unwrap_or(model);
    endpoint.base_url.is_none()
        || matches!(name.as_bytes(), [b'o', b'0'..=b'9', ..])
        || name.starts_with("chatgpt-")
        || (name.starts_with("gpt-") && !name.starts_with("gpt-oss"))
}

/// Maps `thinkingConfig` for providers other than Google. Returns false if the provider cannot express it.
/// Whether thoughts are included matters only for Google: they are never read.
fn think(provider: Provider, config: Json<'_>, settings: &mut MappedSettings) -> bool {
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
                    settings.top.add("reasoning_effort", &effort);
                } else {
                    settings.top.add("reasoning", &ObjectBuilder::default().with("effort", &effort));
                }
            }
            Provider::Anthropic | Provider::Ollama if !effort.is_empty() => {
                if effort == "minimal" {
                    effort = "low";
                }
                if provider == Provider::Anthropic {
                    settings.effort = effort;
                } else {
                    settings.top.add("think", &effort);
                }
            }
            Provider::Anthropic if budget == "0" => {
                settings.top.add("thinking", &ObjectBuilder::default().with("type", &"disabled"));
            }
            Provider::Anthropic if tokens > 0 => {
                // The API rejects less.
                settings.thinking_budget = tokens.max(1024);
                let thinking = ObjectBuilder::default()
                    .with("type", &"enabled")
                    .with("budget_tokens", &Raw(&settings.thinking_budget.to_string()));
                settings.top.add("thinking", &thinking);
            }
            Provider::Ollama if !budget.is_empty() => {
                settings.top.add("think", &(budget != "0"));
            }
            // The model decides by default.
            _ => understood &= budget == "-1",
        }
    }
    understood
}

/// Appends the texts of a content in any of its forms: a string, parts, or a list of either.
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
pub(crate) fn is_name(key: &str, name: &str) -> bool {
    let mut name = name.bytes();
    for byte in key.bytes() {
        if byte != b'_' && name.next().is_none_or(|other| !other.eq_ignore_ascii_case(&byte)) {
            return false;
        }
    }
    name.next().is_none()
}
