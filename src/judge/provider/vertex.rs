//! Vertex AI, today the Gemini Enterprise Agent Platform: Gemini's `generateContent` under a project
//! and a location, with a bearer token, or with an API key alone (express mode).
//!
//! Source: <https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference>, and what
//! `@google/genai` sends.

use super::config::Names;
use super::{Endpoint, Protocol, Variables, escape, gemini};

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "vertex",
    label: "Vertex AI",
    keys: "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION with an access token, or GOOGLE_API_KEY",
    variables: Variables { keys: &["GOOGLE_API_KEY"], address: "GOOGLE_VERTEX_BASE_URL" },
    models: "",
    parameters: Names::Google,
    unreachable: "Look for a network that is down, a blocker or a content security policy; if this page's origin is not allowed, ask from a server of your own and set `baseUrl` to it",
    not_found: "Check the model, the project and whether the location has this model",
    url,
    body: gemini::body,
    paths: gemini::REPLY_PATHS,
    read: gemini::read,
};

fn url(endpoint: &Endpoint, model: &str) -> String {
    let mut url = place(endpoint);
    let whole = model.starts_with("publishers/") || model.starts_with("projects/");
    url.push_str(if whole { "/" } else { "/publishers/google/models/" });
    escape(model, &mut url);
    url.push_str(":generateContent");
    url
}

/// The address of a project's location; of the version alone in express mode.
pub(super) fn place(endpoint: &Endpoint) -> String {
    let location = endpoint.location.as_deref().unwrap_or("global");
    let project =
        endpoint.project.as_deref().filter(|_| endpoint.bearer.is_some() || endpoint.api_key.is_none());
    let (before, between, after) = match location {
        _ if project.is_none() => ("https://", "", "aiplatform.googleapis.com"),
        "global" => ("https://", "", "aiplatform.googleapis.com"),
        "us" | "eu" => ("https://aiplatform.", location, ".rep.googleapis.com"),
        _ => ("https://", location, "-aiplatform.googleapis.com"),
    };
    let mut place = endpoint.base(&[before, between, after].concat(), "v1beta1");
    if let Some(project) = project {
        place.push_str("/projects/");
        escape(project, &mut place);
        place.push_str("/locations/");
        escape(location, &mut place);
    }
    place
}
