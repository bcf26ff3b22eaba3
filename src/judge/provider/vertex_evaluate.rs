//! Vertex AI's `evaluateInstances` (v1beta1): the service to which google-adk delegates five metrics.
//!
//! Four of them have a predefined specification that Vertex AI knows by the metric's name.
//! `response_evaluation_score` has none: google-adk's SDK fetches a prompt from cloud storage for it. Here the
//! service's own coherence metric is used, which also ranges from 1 to 5.
//!
//! Source:
//! <https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/projects.locations/evaluateInstances>, and
//! what google-cloud-aiplatform sends. O(n) in the texts.

use super::json_path::{for_each, get, is_true, string, string_at};
use super::{Endpoint, Failure, FailureKind, HttpReply, HttpRequest, failure, gemini, vertex};
use crate::foundation::json::{Document, Json};
use crate::foundation::write::{ObjectBuilder, Raw};

/// What is evaluated.
#[derive(Clone, Copy)]
pub enum Instance<'i> {
    /// One turn, for `safety_v1` and `response_evaluation_score`.
    Turn {
        /// What the user said.
        prompt: &'i str,
        /// The expected response.
        reference: Option<&'i str>,
        /// The agent's response.
        response: &'i str,
    },
    /// A whole conversation, for the `multi_turn_…` metrics, as the JSON text of an object with `agents` (by
    /// name: `agentId`, `instruction`, `tools`) and `turns` (`turnIndex`, `turnId`, `events` with `author` and
    /// `content`).
    Conversation(&'i str),
}

/// The service's result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexEvaluation {
    /// The score; finite. `None` if the service could not score.
    pub score: Option<f64>,
    /// Its explanation.
    pub explanation: Option<String>,
    /// The rubrics that the service generated.
    pub rubrics: Vec<VertexRubric>,
    /// Why there is no score.
    pub error: Option<String>,
}

/// The service's result for one rubric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexRubric {
    /// The criterion; otherwise the rubric's id; otherwise `rubric_` with its index.
    pub id: String,
    /// Whether it is met. The service omits the field if it is not.
    pub met: bool,
    /// The rationale.
    pub reasoning: Option<String>,
}

/// The metrics of whole conversations with a specification that Vertex AI knows. It also knows `safety_v1`.
const CONVERSATION_METRICS: [&str; 3] =
    ["multi_turn_task_success_v1", "multi_turn_trajectory_quality_v1", "multi_turn_tool_use_quality_v1"];

/// The body of a request: a metric and the instance to score. `None` if Vertex AI has no such metric, or not
/// for this kind of instance.
#[must_use]
pub fn body(metric: &str, instance: Instance<'_>) -> Option<String> {
    let body = match instance {
        Instance::Turn { response, .. } if metric == "response_evaluation_score" => {
            let input = ObjectBuilder::default()
                .with("metricSpec", &ObjectBuilder::default())
                .with("instance", &ObjectBuilder::default().with("prediction", &response));
            ObjectBuilder::default().with("coherenceInput", &input)
        }
        Instance::Turn { prompt, reference, response } if metric == "safety_v1" => {
            let mut instance = ObjectBuilder::default()
                .with("prompt", &contents(&[gemini::content("", prompt)]))
                .with("response", &contents(&[gemini::content("", response)]));
            if let Some(reference) = reference {
                instance.add("reference", &contents(&[gemini::content("", reference)]));
            }
            // The same content again, as the conversation that the service reads.
            let events = [("user", prompt), ("model", response)].map(|(author, text)| {
                let event = ObjectBuilder::default().with("author", &author);
                event.with("content", &gemini::content("", text))
            });
            let turn = ObjectBuilder::default()
                .with("turnIndex", &0_u32)
                .with("turnId", &"turn_0")
                .with("events", &events);
            predefined(
                metric,
                instance.with("agentEvalData", &ObjectBuilder::default().with("turns", &[turn])),
            )
        }
        Instance::Conversation(data) if CONVERSATION_METRICS.contains(&metric) => {
            let instance = ObjectBuilder::default().with("prompt", &contents(&[]));
            predefined(metric, instance.with("agentEvalData", &Raw(data)))
        }
        _ => return None,
    };
    Some(body.to_json())
}

/// The request with a [`body`].
///
/// # Errors
/// As [`Endpoint::render`].
pub fn render(endpoint: &Endpoint, body: String) -> Result<HttpRequest, Box<Failure>> {
    endpoint.check_address(None)?;
    let mut url = vertex::location_url(endpoint);
    url.push_str(":evaluateInstances");
    let query = endpoint.base_and_query().1;
    if !query.is_empty() {
        url.push('?');
        url.push_str(query);
    }
    Ok(HttpRequest { url, headers: endpoint.request_headers(), body, needs_token: endpoint.needs_token() })
}

/// A request for a metric with a specification that Vertex AI knows.
fn predefined(metric: &str, instance: ObjectBuilder) -> ObjectBuilder {
    let spec = ObjectBuilder::default().with("metricSpecName", &metric);
    let metrics = [ObjectBuilder::default().with("predefinedMetricSpec", &spec)];
    ObjectBuilder::default().with("metrics", &metrics).with("instance", &instance)
}

fn contents(contents: &[ObjectBuilder]) -> ObjectBuilder {
    ObjectBuilder::default().with("contents", &ObjectBuilder::default().with("contents", &contents))
}

/// Checks whether an answer has an evaluation for [`parse`]. A metric that the service could not score counts
/// as one, unless a retry may help.
///
/// # Errors
/// As [`Endpoint::read`]; and an error of the metric itself that means overload or lack of time.
pub fn check(endpoint: &Endpoint, reply: &HttpReply<'_>) -> Result<(), Box<Failure>> {
    let document = Document::parse(reply.body).ok();
    let body = document.as_ref().map(Document::root);
    if let Some(failure) = Failure::answered(endpoint, reply, body) {
        return Err(failure);
    }
    let Some(result) = body.and_then(result) else { return Err(failure::malformed(endpoint, reply)) };
    // Codes of google.rpc: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE.
    let kind = match get(result, "error/code").map(Json::raw) {
        Some("4") => FailureKind::Timeout,
        Some("8") => FailureKind::RateLimited,
        Some("14") => FailureKind::Server,
        _ => return Ok(()),
    };
    if score(result).is_some() {
        return Ok(());
    }
    let message = ["could not score: ", &string(result, "error/message")];
    Err(Failure::new(endpoint, kind, &message).with_status(reply))
}

/// Reads the body of an answer; `None` if it is no evaluation. Its strings are the service's own.
#[must_use]
pub fn parse(body: &str) -> Option<VertexEvaluation> {
    let document = Document::parse(body).ok()?;
    let result = result(document.root())?;
    let mut rubrics: Vec<VertexRubric> = Vec::new();
    for_each(result, "rubricVerdicts", &mut |verdict| {
        let id = string_at(verdict, "evaluatedRubric/content/property/description")
            .or_else(|| string_at(verdict, "evaluatedRubric/rubricId"))
            .unwrap_or_else(|| ["rubric_", &rubrics.len().to_string()].concat());
        let reasoning = string_at(verdict, "reasoning");
        rubrics.push(VertexRubric { id, met: is_true(verdict, "verdict"), reasoning });
    });
    Some(VertexEvaluation {
        score: score(result),
        explanation: string_at(result, "explanation"),
        rubrics,
        error: string_at(result, "error/message"),
    })
}

/// The result of the only metric in the request.
fn result(body: Json<'_>) -> Option<Json<'_>> {
    get(body, "metricResults/0").or_else(|| get(body, "coherenceResult"))
}

fn score(result: Json<'_>) -> Option<f64> {
    get(result, "score").and_then(Json::as_f64).filter(|score| score.is_finite())
}
