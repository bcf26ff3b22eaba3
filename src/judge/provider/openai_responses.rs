//! OpenAI's responses, `POST /responses`.
//!
//! Source: <https://platform.openai.com/docs/api-reference/responses>, and what `openai` sends.

#[cfg(feature = "schema")]
use super::ProviderManifest;
use super::config::{MappedSettings, ParameterNames};
use super::json_path::{append_strings, for_each, string};
use super::openai_chat::{NOT_FOUND, UNREACHABLE, strict_schema, url};
use super::{DraftReply, Protocol, ReplyPaths, Request, UsagePaths};
use crate::foundation::json::Json;
use crate::foundation::write::ObjectBuilder;

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "openai-responses",
    label: "OpenAI",
    keys: "OPENAI_API_KEY",
    #[cfg(feature = "schema")]
    manifest: ProviderManifest {
        keys: &["OPENAI_API_KEY"],
        address: "OPENAI_BASE_URL",
        foreign: "^(?:gemini|claude)[-/]",
        ..ProviderManifest::EMPTY
    },
    parameters: ParameterNames::Responses,
    unreachable: UNREACHABLE,
    not_found: NOT_FOUND,
    url: |endpoint, _| url(endpoint, "/responses"),
    body,
    paths: ReplyPaths {
        own: &["output"],
        stop: "incomplete_details/reason",
        refusal: "refusal",
        why: &[],
        usage: UsagePaths {
            input: &["usage/input_tokens"],
            output: &["usage/output_tokens"],
            total: &["usage/total_tokens"],
        },
        model: "model",
    },
    read,
};

fn body(request: &Request<'_>, model: &str, settings: &mut MappedSettings) -> String {
    let mut body = ObjectBuilder::default().with("model", &model);
    if !settings.system.is_empty() {
        body.add("instructions", &settings.system);
    }
    body.add("input", &request.prompt);
    // Asks the provider not to store the question, which it does by default.
    body.add("store", &false);
    body.append(std::mem::take(&mut settings.top));
    if let Some(schema) = request.response_schema {
        let format = ObjectBuilder::default().with("type", &"json_schema");
        body.add("text", &ObjectBuilder::default().with("format", &strict_schema(format, schema)));
    }
    body.to_json()
}

fn read(body: Json<'_>, answer: &mut DraftReply) {
    // Items of other types are reasoning and tool calls, whose content has other types.
    for_each(body, "output", &mut |item| {
        append_strings(item, "content", "output_text", &mut answer.text);
        for_each(item, "content", &mut |part| answer.refusal.push_str(&string(part, "refusal")));
    });
}
