//! Vertex AI, now the Gemini Enterprise Agent Platform: Gemini's `generateContent` for a project and a
//! location, with a bearer token, or with only an API key (express mode).
//!
//! Source: <https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference>, and what
//! `@google/genai` sends.

use super::config::ParameterNames;
#[cfg(feature = "schema")]
use super::{DEFAULT_MODEL, FormField, ProviderManifest};
use super::{Endpoint, Protocol, escape, gemini};

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "vertex",
    label: "Vertex AI",
    keys: "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION with an access token, or GOOGLE_API_KEY",
    #[cfg(feature = "schema")]
    manifest: ProviderManifest {
        keys: &["GOOGLE_API_KEY"],
        address: "GOOGLE_VERTEX_BASE_URL",
        title: "Vertex AI",
        form: &[
            FormField::new("model", "Model").placeholder("gemini-3.5-flash-lite").hint(DEFAULT_MODEL),
            FormField::new("project", "Project"),
            FormField::new("location", "Location").placeholder("global"),
            FormField::secret("accessToken", "Access token")
                .hint("gcloud auth print-access-token prints one; it lasts an hour."),
            FormField::secret("apiKey", "Key")
                .hint("Instead of project and token: an API key of express mode."),
            FormField::new("baseUrl", "Another address"),
        ],
        needed: &[&["apiKey"], &["project", "accessToken"]],
        missing: "A project and an access token, or an API key, are missing.",
        ..ProviderManifest::EMPTY
    },
    parameters: ParameterNames::Google,
    unreachable: "Look for a network that is down, a blocker or a content security policy; if this page's origin is not allowed, ask from a server of your own and set `baseUrl` to it",
    not_found: "Check the model, the project and whether the location has this model",
    url,
    body: gemini::body,
    paths: gemini::REPLY_PATHS,
    read: gemini::read,
};

fn url(endpoint: &Endpoint, model: &str) -> String {
    let mut url = location_url(endpoint);
    let whole = model.starts_with("publishers/") || model.starts_with("projects/");
    url.push_str(if whole { "/" } else { "/publishers/google/models/" });
    escape(model, &mut url);
    url.push_str(":generateContent");
    url
}

/// The URL of a project's location; in express mode that of the API version.
pub(super) fn location_url(endpoint: &Endpoint) -> String {
    let location = endpoint.location.as_deref().unwrap_or("global");
    let project =
        endpoint.project.as_deref().filter(|_| endpoint.bearer.is_some() || endpoint.api_key.is_none());
    let (before, between, after) = match location {
        _ if project.is_none() => ("https://", "", "aiplatform.googleapis.com"),
        "global" => ("https://", "", "aiplatform.googleapis.com"),
        "us" | "eu" => ("https://aiplatform.", location, ".rep.googleapis.com"),
        _ => ("https://", location, "-aiplatform.googleapis.com"),
    };
    let mut location_url = endpoint.base(&[before, between, after].concat(), "v1beta1");
    if let Some(project) = project {
        location_url.push_str("/projects/");
        escape(project, &mut location_url);
        location_url.push_str("/locations/");
        escape(location, &mut location_url);
    }
    location_url
}
