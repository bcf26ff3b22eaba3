//! OpenAI's chat completions, `POST /chat/completions`, which most other servers implement too.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat>, and what `openai` sends.

use super::config::{MappedSettings, ParameterNames};
use super::json_path::{append_strings, string};
use super::{DraftReply, Endpoint, Protocol, ReplyPaths, Request, UsagePaths, messages, without_thoughts};
#[cfg(feature = "schema")]
use super::{FormField, ProviderManifest};
use crate::foundation::json::Json;
use crate::foundation::write::{ObjectBuilder, Raw};

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "openai",
    label: "OpenAI",
    keys: "OPENAI_API_KEY",
    #[cfg(feature = "schema")]
    manifest: ProviderManifest {
        keys: &["OPENAI_API_KEY"],
        address: "OPENAI_BASE_URL",
        models: "^(?:gpt-|chatgpt-|o\\d)",
        foreign: "^(?:gemini|claude)[-/]",
        title: "OpenAI, or a compatible server",
        form: &[
            FormField::new("model", "Model").placeholder("gpt-6-luna").hint("The name that the server knows it by."),
            FormField::new("baseUrl", "Address").placeholder("https://api.openai.com/v1").hint("With the version, as in http://127.0.0.1:1234/v1. The server has to allow this page’s origin, and the headers authorization and content-type."),
            FormField::secret("apiKey", "Key").hint("May be left out for a server without keys."),
            FormField { choices: &[("chat", "Chat completions"), ("responses", "Responses")], ..FormField::new("api", "Protocol") },
        ],
        needed: &[&["apiKey"], &["baseUrl"]],
        missing: "The key, or the address of a server without keys, is missing.",
    },
    parameters: ParameterNames::Chat,
    unreachable: UNREACHABLE,
    not_found: NOT_FOUND,
    url: |endpoint, _| url(endpoint, "/chat/completions"),
    body,
    paths: ReplyPaths {
        own: &["choices"],
        stop: "choices/0/finish_reason",
        refusal: "choices/0/message/refusal",
        why: &[],
        usage: UsagePaths { input: &["usage/prompt_tokens"], output: &["usage/completion_tokens"], total: &["usage/total_tokens"] },
        model: "model",
    },
    read,
};

pub(super) const UNREACHABLE: &str = "The server has to send `Access-Control-Allow-Origin` for this page; otherwise ask from a server of your \
     own, which also keeps the key out of the page, and set `baseUrl` to it";
pub(super) const NOT_FOUND: &str =
    "Check the name of the model, and that `baseUrl` ends with the version, such as http://127.0.0.1:8000/v1";

pub(super) fn url(endpoint: &Endpoint, path: &str) -> String {
    [&endpoint.base("https://api.openai.com/v1", ""), path].concat()
}

fn body(request: &Request<'_>, model: &str, settings: &mut MappedSettings) -> String {
    let mut body = ObjectBuilder::default().with("model", &model);
    body.add("messages", &messages(&settings.system, request.prompt));
    body.append(std::mem::take(&mut settings.top));
    if let Some(schema) = request.response_schema {
        let format = ObjectBuilder::default().with("type", &"json_schema");
        body.add(
            "response_format",
            &format.with("json_schema", &strict_schema(ObjectBuilder::default(), schema)),
        );
    }
    body.to_json()
}

/// A schema as OpenAI's APIs take it, added to what comes before it.
pub(super) fn strict_schema(before: ObjectBuilder, schema: &str) -> ObjectBuilder {
    before.with("name", &"reply").with("strict", &true).with("schema", &Raw(schema))
}

fn read(body: Json<'_>, answer: &mut DraftReply) {
    answer.text = without_thoughts(string(body, "choices/0/message/content"));
    // Some servers return a list that has thoughts as parts of another type.
    append_strings(body, "choices/0/message/content", "", &mut answer.text);
}
