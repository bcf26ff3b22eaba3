//! Anthropic's messages, `POST /v1/messages`.
//!
//! Source: <https://platform.claude.com/docs/en/api/messages>, and what `@anthropic-ai/sdk` sends. Since the
//! API version 2026-10-21 temperature and similar parameters are rejected, and the key is sent as a bearer
//! token. Users who set the header `anthropic-version` to the older version get its parameters and headers.

use super::config::{MappedSettings, ParameterNames};
use super::json_path::append_strings;
use super::{DraftReply, Protocol, ReplyPaths, Request, UsagePaths, messages};
#[cfg(feature = "schema")]
use super::{FormField, ProviderManifest};
use crate::foundation::json::{Document, Json, JsonKind};
use crate::foundation::write::{ObjectBuilder, Raw, Spelling, Write, Writer, quoted, to_json};
use crate::judge::prompt::{MOST_ENTRIES, entries_schema};

/// The API version these requests are written for.
pub(super) const VERSION: &str = "2026-10-21";
/// The previous version.
pub(super) const OLDER_VERSION: &str = "2023-06-01";
/// Anthropic requires a limit. No judgement is longer.
const MAX_TOKENS: u64 = 8192;

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "anthropic",
    label: "Anthropic",
    keys: "ANTHROPIC_API_KEY",
    #[cfg(feature = "schema")]
    manifest: ProviderManifest {
        keys: &["ANTHROPIC_API_KEY"],
        address: "ANTHROPIC_BASE_URL",
        models: "^claude-",
        foreign: "^(?:(?:gemini|gpt)[-/]|o\\d-)",
        title: "Anthropic",
        form: &[
            FormField::new("model", "Model").hint("The name that Anthropic knows it by."),
            FormField::secret("apiKey", "Key")
                .hint("From console.anthropic.com. It is sent to Anthropic alone."),
            FormField::new("baseUrl", "Another address").placeholder("https://api.anthropic.com"),
        ],
        needed: &[&["apiKey"]],
        missing: "The key is missing.",
    },
    parameters: ParameterNames::Anthropic,
    unreachable: "Look for a network that is down or a blocker; an organisation may forbid pages, and a server at `baseUrl` has to allow the headers that are sent",
    not_found: "Check the name of the model",
    url: |endpoint, _| [&endpoint.base("https://api.anthropic.com", "v1"), "/messages"].concat(),
    body,
    paths: ReplyPaths {
        own: &["content"],
        stop: "stop_reason",
        refusal: "refusal",
        why: &["stop_details/category", "stop_details/explanation"],
        usage: UsagePaths {
            input: &[
                "usage/input_tokens",
                "usage/cache_creation_input_tokens",
                "usage/cache_read_input_tokens",
            ],
            output: &["usage/output_tokens"],
            total: &[],
        },
        model: "model",
    },
    read,
};

fn body(request: &Request<'_>, model: &str, settings: &mut MappedSettings) -> String {
    let mut body = ObjectBuilder::default().with("model", &model);
    if !settings.system.is_empty() {
        body.add("system", &settings.system);
    }
    body.add("messages", &messages("", request.prompt));
    if !settings.limited {
        let max_tokens = MAX_TOKENS.saturating_add(settings.thinking_budget);
        body.add("max_tokens", &Raw(&max_tokens.to_string()));
    }
    body.append(std::mem::take(&mut settings.top));
    let mut output = ObjectBuilder::default();
    if !settings.effort.is_empty() {
        output.add("effort", &settings.effort);
    }
    if let Some(schema) = request.response_schema {
        let format = ObjectBuilder::default().with("type", &"json_schema");
        output.add("format", &format.with("schema", &Raw(&without_limits(schema))));
    }
    if !output.is_empty() {
        body.add("output_config", &output);
    }
    body.to_json()
}

fn read(body: Json<'_>, answer: &mut DraftReply) {
    // Blocks of other types are thoughts.
    append_strings(body, "content", "text", &mut answer.text);
}

/// A schema without the limits of numbers, strings and arrays, which the API rejects. An array of a fixed length
/// becomes an object with its places as keys. What a longer one holds has to be checked by a reader.
fn without_limits(schema: &str) -> String {
    match Document::parse(schema) {
        Ok(document) => to_json(&WithoutLimits(document.root()), Spelling::Camel),
        Err(_) => schema.to_owned(),
    }
}

struct WithoutLimits<'s>(Json<'s>);

impl Write for WithoutLimits<'_> {
    fn write(&self, out: &mut Writer) {
        const LIMITS: [&str; 9] = [
            "minItems",
            "maxItems",
            "minLength",
            "maxLength",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
        ];
        match self.0.kind() {
            JsonKind::Object => {
                if let Some((items, length)) = fixed_array(self.0) {
                    let entry = to_json(&Self(items), Spelling::Camel);
                    let entries: Vec<_> =
                        (1..=length).map(|place| (quoted(&place.to_string()), entry.clone())).collect();
                    return out.raw(&entries_schema(&entries));
                }
                let mut object = out.object();
                for (key, value) in self.0.entries() {
                    // A property may have such a name too; its value is a schema.
                    let is_limit = value.kind() == JsonKind::Number && LIMITS.contains(&&*key);
                    if !is_limit || is_allowed(&key, value) {
                        object.entry(&key, &Self(value));
                    }
                }
                object.end();
            }
            JsonKind::Array => self.0.items().map(Self).collect::<Vec<_>>().write(out),
            _ => out.raw(self.0.raw()),
        }
    }
}

/// The one limit that the API allows.
fn is_allowed(key: &str, value: Json<'_>) -> bool {
    key == "minItems" && value.raw() == "1"
}

/// What the items of an array are, and how many it has, where its schema leaves no choice.
fn fixed_array(schema: Json<'_>) -> Option<(Json<'_>, u64)> {
    let (least, most) = (schema.get("minItems")?.as_f64()?, schema.get("maxItems")?.as_f64()?);
    let is_fixed = least == most && most <= MOST_ENTRIES as f64;
    is_fixed.then_some((schema.get("items")?, most as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_removed_from_schemas_but_not_properties_with_their_names() {
        let schema = r#"{"type":"array","minItems":2,"maxItems":3,"items":{"type":"object","properties":{"minItems":{"type":"number","maximum":1,"enum":[0,1]}},"required":["minItems"]}}"#;
        let plain = r#"{"type":"array","items":{"type":"object","properties":{"minItems":{"type":"number","enum":[0,1]}},"required":["minItems"]}}"#;
        assert_eq!(without_limits(schema), plain);
        let one_or_more = r#"{"type":"array","items":{"type":"string"},"minItems":1}"#;
        assert_eq!(without_limits(one_or_more), one_or_more);
    }

    #[test]
    fn arrays_of_a_fixed_length_become_objects() {
        let schema = r#"{"type":"array","items":{"type":"string","maxLength":3},"minItems":2,"maxItems":2}"#;
        assert_eq!(
            without_limits(schema),
            r#"{"type":"object","properties":{"1":{"type":"string"},"2":{"type":"string"}},"required":["1","2"],"additionalProperties":false}"#,
        );
        let long = schema.replace(":2", ":101");
        assert_eq!(without_limits(&long), r#"{"type":"array","items":{"type":"string"}}"#);
    }
}
