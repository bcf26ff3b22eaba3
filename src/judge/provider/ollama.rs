//! Ollama's chat, `POST /api/chat`, without streaming.
//!
//! Source: <https://docs.ollama.com/api/chat>, and what `ollama` sends.

use super::config::{MappedSettings, ParameterNames};
use super::json_path::string;
use super::{DraftReply, Protocol, ReplyPaths, Request, UsagePaths, messages, without_thoughts};
#[cfg(feature = "schema")]
use super::{FormField, ProviderManifest};
use crate::foundation::json::Json;
use crate::foundation::write::{ObjectBuilder, Raw};

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "ollama",
    label: "Ollama",
    keys: "OLLAMA_API_KEY",
    #[cfg(feature = "schema")]
    manifest: ProviderManifest {
        keys: &[],
        address: "OLLAMA_HOST",
        foreign: "^(?:(?:gemini|claude)[-/]|gpt-[345])",
        title: "Ollama: a model on this machine",
        form: &[
            FormField::new("model", "Model")
                .placeholder("llama3.2")
                .hint("A model that you have pulled: ollama list shows them."),
            FormField::new("baseUrl", "Address")
                .placeholder("http://127.0.0.1:11434")
                .hint("If Ollama refuses this page, start it with OLLAMA_ORIGINS={origin}."),
        ],
        needed: &[&[]],
        ..ProviderManifest::EMPTY
    },
    parameters: ParameterNames::Ollama,
    unreachable: "Start Ollama with this page's origin in OLLAMA_ORIGINS: `OLLAMA_ORIGINS=https://example.com ollama serve`",
    not_found: "`ollama pull` fetches a model",
    url: |endpoint, _| [&endpoint.base("http://127.0.0.1:11434", "api"), "/chat"].concat(),
    body,
    paths: ReplyPaths {
        own: &["message"],
        stop: "done_reason",
        refusal: "refusal",
        why: &[],
        usage: UsagePaths { input: &["prompt_eval_count"], output: &["eval_count"], total: &[] },
        model: "model",
    },
    read,
};

fn body(request: &Request<'_>, model: &str, settings: &mut MappedSettings) -> String {
    let mut body = ObjectBuilder::default().with("model", &model);
    body.add("messages", &messages(&settings.system, request.prompt));
    body.append(std::mem::take(&mut settings.top));
    if let Some(schema) = request.response_schema {
        body.add("format", &Raw(schema));
    }
    if !settings.nested.is_empty() {
        body.add("options", &settings.nested);
    }
    body.add("stream", &false);
    body.to_json()
}

fn read(body: Json<'_>, answer: &mut DraftReply) {
    // Thoughts are in a field of their own.
    answer.text = without_thoughts(string(body, "message/content"));
}
