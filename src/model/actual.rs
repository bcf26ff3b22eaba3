//! What the agent did: conversations to evaluate, from any file that holds them.
//!
//! Accepted are an evalset of actual conversations (old forms too), ADK's evalset results, inference
//! results, and sessions.

use std::borrow::Cow;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::content::Content;
use super::error::{ErrorCode, Result};
use super::evalset::EvalSet;
use super::invocation::{IntermediateData, Invocation, InvocationEvent, InvocationEvents, UsageMetadata};
use super::json::{Json, Kind};
use super::read::{At, object, record};
use super::results::EvalSetResult;
use super::write::quoted;

/// One run of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActualRun<'a> {
    /// The case it belongs to, where the file says so.
    pub eval_id: Option<Cow<'a, str>>,
    /// The turns; none if the run failed.
    pub invocations: Option<Vec<Invocation<'a>>>,
    /// The session.
    pub session_id: Option<Cow<'a, str>>,
    /// The user.
    pub user_id: Option<Cow<'a, str>>,
    /// Why the run failed.
    pub error_message: Option<Cow<'a, str>>,
}

record! {
    struct InferenceResult<'a> {
        app_name: Option<Cow<'a, str>> = "app_name" | "appName";
        eval_set_id: Option<Cow<'a, str>> = "eval_set_id" | "evalSetId";
        eval_case_id: Option<Cow<'a, str>> = "eval_case_id" | "evalCaseId";
        eval_id: Option<Cow<'a, str>> = "eval_id" | "evalId";
        inferences: Option<Vec<Invocation<'a>>> = "inferences" | "inferences";
        session_id: Option<Cow<'a, str>> = "session_id" | "sessionId";
        user_id: Option<Cow<'a, str>> = "user_id" | "userId";
        status: Option<Json<'a>> = "status" | "status";
        error_message: Option<Cow<'a, str>> = "error_message" | "errorMessage";
    }
}

record! {
    struct Session<'a> {
        id: Option<Cow<'a, str>> = "id" | "id";
        user_id: Option<Cow<'a, str>> = "user_id" | "userId";
        events: Vec<Event<'a>> = "events" | "events";
    } extra other
}

record! {
    struct Event<'a> {
        author: Option<Cow<'a, str>> = "author" | "author";
        invocation_id: Cow<'a, str> = "invocation_id" | "invocationId" default;
        content: Option<Content<'a>> = "content" | "content";
        timestamp: f64 = "timestamp" | "timestamp" default;
        partial: Option<bool> = "partial" | "partial";
        long_running_tool_ids: Option<Vec<Json<'a>>> = "long_running_tool_ids" | "longRunningToolIds";
        actions: Option<Json<'a>> = "actions" | "actions" => object;
        grounding_metadata: Option<Json<'a>> = "grounding_metadata" | "groundingMetadata" => object;
        usage_metadata: Option<UsageMetadata<'a>> = "usage_metadata" | "usageMetadata";
        model_version: Option<Cow<'a, str>> = "model_version" | "modelVersion";
    } extra other
}

/// Reads what the agent did from a file of any accepted shape. `name` stands for the id where an
/// old evalset has none.
///
/// # Errors
/// `invalid_input` with the path and line of what does not fit.
pub fn read_actual<'a>(at: At<'a, '_>, name: &str) -> Result<Vec<ActualRun<'a>>> {
    let has = |json: Json<'_>, keys: [&str; 2]| keys.iter().any(|key| json.get(key).is_some());
    if at.json.kind() == Kind::Array {
        let first = at.json.items().next();
        if first.is_some_and(|first| {
            has(first, ["inferences", "eval_case_id"]) || has(first, ["evalCaseId", "status"])
        }) {
            let inferences: Vec<InferenceResult<'a>> = at.read()?;
            return Ok(inferences.into_iter().map(of_inference).collect());
        }
        if first.is_some_and(|first| has(first, ["events", "events"])) {
            return Ok(at.read::<Vec<Session<'a>>>()?.into_iter().map(of_session).collect());
        }
        return of_eval_set(at, name);
    }
    if has(at.json, ["eval_case_results", "evalCaseResults"]) {
        return Ok(of_results(EvalSetResult::read_any(at)?));
    }
    if has(at.json, ["inference_results", "inferenceResults"]) {
        let inferences = at.find::<Vec<InferenceResult<'a>>>(["inference_results", "inferenceResults"])?;
        return Ok(inferences.into_iter().flatten().map(of_inference).collect());
    }
    if has(at.json, ["inferences", "inferences"]) {
        return Ok(vec![of_inference(at.read()?)]);
    }
    if has(at.json, ["events", "events"]) {
        return Ok(vec![of_session(at.read()?)]);
    }
    if has(at.json, ["eval_cases", "evalCases"]) {
        return of_eval_set(at, name);
    }
    Err(at.expected("what the agent did: an evalset, evalset results, inference results or a session"))
}

fn of_eval_set<'a>(at: At<'a, '_>, name: &str) -> Result<Vec<ActualRun<'a>>> {
    let set = EvalSet::read_any(at, name)?;
    set.eval_cases
        .into_iter()
        .map(|case| {
            if case.conversation.is_none() {
                let message = format!(
                    "{} is a scenario; what the agent did needs a conversation",
                    quoted(&case.eval_id)
                );
                return Err(at.error(ErrorCode::InvalidInput, message));
            }
            let session = case.session_input;
            let (session_id, user_id) = session.map_or((None, None), |s| (s.session_id, Some(s.user_id)));
            Ok(ActualRun {
                eval_id: Some(case.eval_id),
                invocations: case.conversation,
                session_id,
                user_id: user_id.filter(|id| !id.is_empty()),
                error_message: None,
            })
        })
        .collect()
}

fn of_results(results: EvalSetResult<'_>) -> Vec<ActualRun<'_>> {
    let cases = results.eval_case_results.into_iter();
    cases
        .map(|case| ActualRun {
            eval_id: Some(case.eval_id),
            invocations: Some(
                case.eval_metric_result_per_invocation
                    .into_iter()
                    .map(|turn| turn.actual_invocation)
                    .collect(),
            ),
            session_id: Some(case.session_id),
            user_id: case.user_id,
            error_message: None,
        })
        .collect()
}

fn of_inference(inference: InferenceResult<'_>) -> ActualRun<'_> {
    let failed = inference.status.is_some_and(|status| {
        status.as_f64() == Some(2.0)
            || status.as_str().is_some_and(|word| word.eq_ignore_ascii_case("failure"))
    });
    ActualRun {
        eval_id: inference.eval_case_id.or(inference.eval_id),
        invocations: inference.inferences.filter(|_| !failed),
        session_id: inference.session_id,
        user_id: inference.user_id,
        error_message: inference.error_message,
    }
}

fn of_session(session: Session<'_>) -> ActualRun<'_> {
    let case = session.other.iter().find(|(key, _)| key == "eval_id" || key == "evalId");
    ActualRun {
        eval_id: case.and_then(|(_, json)| json.as_str()),
        invocations: Some(invocations_of_events(session.events)),
        session_id: session.id,
        user_id: session.user_id,
        error_message: None,
    }
}

/// The invocations of a session, as google-adk makes them of its events: grouped by invocation id;
/// the last final response is the answer (one with text wins over one without), and its text is not
/// repeated among the events.
fn invocations_of_events(events: Vec<Event<'_>>) -> Vec<Invocation<'_>> {
    let mut places: HashMap<Cow<'_, str>, usize, FxBuildHasher> = HashMap::default();
    let mut groups: Vec<(Cow<'_, str>, Vec<Event<'_>>)> = Vec::new();
    for event in events {
        let id = event.invocation_id.clone();
        let place = *places.entry(id.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, group)) => group.push(event),
            None => groups.push((id, vec![event])),
        }
    }
    groups.into_iter().map(|(id, group)| invocation_of_events(id, group)).collect()
}

fn invocation_of_events<'a>(invocation_id: Cow<'a, str>, events: Vec<Event<'a>>) -> Invocation<'a> {
    let mut invocation = Invocation { invocation_id, ..Invocation::default() };
    let mut kept: Vec<Event<'a>> = Vec::new();
    let mut last_final = None;
    for event in events {
        if event.author.as_deref().is_some_and(|author| author.eq_ignore_ascii_case("user")) {
            if let Some(content) = event.content {
                invocation.user_content = content;
                invocation.creation_timestamp = event.timestamp;
            }
            continue;
        }
        if event.is_final_response() {
            let has_text = invocation.final_response.as_ref().is_some_and(|c| !c.text().is_empty());
            if !has_text || event.content.as_ref().is_some_and(|c| !c.text().is_empty()) {
                invocation.final_response.clone_from(&event.content);
                last_final = event.is_worth_keeping().then_some(kept.len());
            }
        }
        if event.is_worth_keeping() {
            kept.push(event);
        }
    }
    let invocation_events = kept
        .into_iter()
        .enumerate()
        .map(|(index, event)| InvocationEvent {
            content: event.content.clone().filter(|content| {
                last_final != Some(index) || content.parts().any(|p| p.function_call.is_some())
            }),
            author: event.author.unwrap_or_else(|| "agent".into()),
            grounding_metadata: event.grounding_metadata,
            usage_metadata: event.usage_metadata,
            model_version: event.model_version,
        })
        .collect();
    invocation.intermediate_data = Some(IntermediateData::Events(InvocationEvents { invocation_events }));
    invocation
}

impl<'a> Event<'a> {
    fn parts(&self) -> impl Iterator<Item = &super::content::Part<'a>> {
        self.content.iter().flat_map(Content::parts)
    }

    /// Whether the event ends a turn as far as google-adk is concerned.
    fn is_final_response(&self) -> bool {
        let skips_summary = self.actions.and_then(|actions| {
            actions.get("skip_summarization").or_else(|| actions.get("skipSummarization"))?.as_bool()
        });
        let is_known = |part: &super::content::Part<'_>, keys: [&str; 2]| {
            part.other.iter().any(|(key, _)| keys.contains(&key.as_ref()))
        };
        if self.parts().next().is_none() {
            return false;
        }
        if skips_summary == Some(true)
            || self.long_running_tool_ids.as_ref().is_some_and(|ids| !ids.is_empty())
        {
            return true;
        }
        let failed = self.other.iter().any(|(key, code)| {
            matches!(key.as_ref(), "error_code" | "errorCode")
                && code.as_str().is_some_and(|code| !code.is_empty())
        });
        if failed && self.partial != Some(true) && self.parts().all(|part| part.function_call.is_none()) {
            return true;
        }
        self.parts().all(|part| part.function_call.is_none() && part.function_response.is_none())
            && self.partial != Some(true)
            && !self
                .parts()
                .last()
                .is_some_and(|part| is_known(part, ["code_execution_result", "codeExecutionResult"]))
    }

    fn is_worth_keeping(&self) -> bool {
        self.grounding_metadata.is_some()
            || self.parts().any(|part| {
                part.function_call.is_some()
                    || part.function_response.is_some()
                    || part.text.as_deref().is_some_and(|text| !text.is_empty())
                    || part.other.iter().any(|(key, _)| key == "inline_data" || key == "inlineData")
            })
    }
}
