//! Vertex AI, today the Gemini Enterprise Agent Platform: Gemini's `generateContent` under a project
//! and a location, with a bearer token, or with an API key alone (express mode).
//!
//! Source: <https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference>, and what
//! `@google/genai` sends.

use super::{Endpoint, Protocol, escape, gemini};

pub(super) static PROTOCOL: Protocol = Protocol {
    name: "vertex",
    label: "Vertex AI",
    keys: "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION with an access token, or GOOGLE_API_KEY",
    unreachable: "Look for a network that is down, a blocker or a content security policy; Vertex AI may also not \
                  allow this page's origin: ask it from a server of your own and set `baseUrl` to that",
    not_found: "Check the model, the project and the location: not every location has every model",
    url,
    body: gemini::body,
    read: gemini::read,
};

fn url(endpoint: &Endpoint, model: &str) -> String {
    let mut url = place(endpoint);
    url.push('/');
    let whole = ["publishers/", "projects/", "models/"].iter().any(|start| model.starts_with(start));
    match model.split_once('/') {
        _ if whole => escape(model, &mut url),
        Some((publisher, model)) => {
            url.push_str("publishers/");
            escape(publisher, &mut url);
            url.push_str("/models/");
            escape(model, &mut url);
        }
        None => {
            url.push_str("publishers/google/models/");
            escape(model, &mut url);
        }
    }
    url.push_str(":generateContent");
    url
}

/// The address of a project's location; of the version alone in express mode.
pub(super) fn place(endpoint: &Endpoint) -> String {
    let location = endpoint.location.as_deref().unwrap_or("global");
    let mut path = String::new();
    escape(location, &mut path);
    let project =
        endpoint.project.as_deref().filter(|_| endpoint.bearer.is_some() || endpoint.api_key.is_none());
    let own = match (project, location) {
        (None, _) | (_, "global") => "https://aiplatform.googleapis.com".into(),
        (_, "us" | "eu") => ["https://aiplatform.", location, ".rep.googleapis.com"].concat(),
        _ => ["https://", &path.replace('/', "%2F"), "-aiplatform.googleapis.com"].concat(),
    };
    let mut place = endpoint.base(&own, "v1beta1");
    if let Some(project) = project {
        place.push_str("/projects/");
        escape(project, &mut place);
        place.push_str("/locations/");
        place.push_str(&path);
    }
    place
}
