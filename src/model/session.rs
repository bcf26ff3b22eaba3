//! Sessions as ADK stores them, and how their events are grouped into turns.
//!
//! When the package runs an agent itself, it records turns while their events arrive
//! (`pkg-template/src/agents/record.ts`). `tests/agents/recordings.jsonl` holds both to the turns of google-adk.

use std::borrow::Cow;

use super::content::{Content, Part, event_is_read};
use super::evalset::UNITS_PER_CASE;
use super::invocation::UsageMetadata;
use super::shape::{List, Type, View, record};
use crate::foundation::interner::Interner;
use crate::foundation::json::{Json, JsonKind};
use crate::foundation::pace::Pace;
use crate::foundation::write::{Raw, Write, Writer};

record! {
    /// A session as ADK stores it.
    pub struct Session<'a> called "a session" {
        /// Its id.
        id: Option<Cow<'a, str>> = "id" | "id";
        /// The user.
        user_id: Option<Cow<'a, str>> = "user_id" | "userId";
        /// The case it belongs to, if someone added it to the file.
        eval_id: Option<Cow<'a, str>> = "eval_id" | "evalId";
        /// What happened, in order.
        events: List<'a, Event<'a>> = "events" | "events";
    } unknown_keys Kept
}

record! {
    /// Something that happened in a session.
    pub struct Event<'a> called "an event" {
        /// Who did it: the user, or an agent by its name.
        author: Option<Cow<'a, str>> = "author" | "author";
        /// The turn it belongs to.
        invocation_id: Cow<'a, str> = "invocation_id" | "invocationId" default;
        /// Text, tool calls or tool responses.
        content: Option<Content<'a>> = "content" | "content";
        /// When, in seconds since 1970; `@google/adk` has milliseconds.
        timestamp: f64 = "timestamp" | "timestamp" default;
        /// Whether it is a piece of a streamed answer.
        partial: Option<bool> = "partial" | "partial";
        /// Tools that are still running: a list, or the `{}` that JSON makes of ADK-TS's set.
        long_running_tool_ids: Option<Json<'a>> = "long_running_tool_ids" | "longRunningToolIds";
        /// How the event changes the session.
        actions: Option<Json<'a>> = "actions" | "actions" => Type::Object;
        /// Why the model gave no content.
        error_code: Option<Json<'a>> = "error_code" | "errorCode";
        /// Sources that the model was given.
        grounding_metadata: Option<Json<'a>> = "grounding_metadata" | "groundingMetadata" => Type::Object;
        /// The tokens that the model reported.
        usage_metadata: Option<UsageMetadata<'a>> = "usage_metadata" | "usageMetadata";
        /// The model that was called.
        model_version: Option<Cow<'a, str>> = "model_version" | "modelVersion";
    } unknown_keys Kept rule event_is_read
}

/// A turn of a session.
#[derive(Default)]
pub(super) struct SessionTurn<'a> {
    id: Cow<'a, str>,
    user: Option<Event<'a>>,
    final_response: Option<Content<'a>>,
    /// The index of the event with the final response.
    last_final: Option<usize>,
    events: Vec<Event<'a>>,
}

/// Groups the events of a session into turns by invocation id, as google-adk does. The last final response is the answer
/// (one with text takes precedence over one without), and its text is not repeated among the events. In ADK-TS 0.5.9 the
/// responses of tools that ran in parallel have an invocation id of their own; they are added to the turn before them.
pub(super) async fn turns_of<'a>(events: List<'a, Event<'a>>, pace: &Pace) -> Vec<SessionTurn<'a>> {
    let mut numbers = Interner::default();
    let mut turns: Vec<SessionTurn<'a>> = Vec::new();
    for event in events.iter() {
        pace.count(UNITS_PER_CASE).await;
        let id = event.invocation_id();
        let is_stray = !turns.is_empty() && numbers.find(&id).is_none() && event.has_only_tool_responses();
        let index = if is_stray { turns.len() - 1 } else { numbers.intern(id.clone()) };
        if index == turns.len() {
            turns.push(SessionTurn { id, ..SessionTurn::default() });
        }
        if let Some(turn) = turns.get_mut(index) {
            turn.add(event);
        }
    }
    turns
}

impl<'a> SessionTurn<'a> {
    fn add(&mut self, event: Event<'a>) {
        if event.is_from_user() {
            if event.content().is_some() {
                self.user = Some(event);
            }
            return;
        }
        let has_text =
            |content: Option<Content<'a>>| content.is_some_and(|content| !content.text().is_empty());
        let is_kept = event.is_worth_keeping();
        if event.is_final_response() && (has_text(event.content()) || !has_text(self.final_response)) {
            self.final_response = event.content();
            self.last_final = is_kept.then_some(self.events.len());
        }
        if is_kept {
            self.events.push(event);
        }
    }
}

impl Write for SessionTurn<'_> {
    fn write(&self, out: &mut Writer) {
        let user = self.user.map_or(Json::NULL, |event| event.0);
        let events = self.events.iter().enumerate();
        let events =
            events.map(|(at, event)| TurnEvent { event: *event, is_answer: self.last_final == Some(at) });
        let events: Vec<TurnEvent<'_>> = events.collect();
        let mut turn = out.object();
        turn.entry("invocation_id", &self.id);
        match Event::from_json(user).content() {
            Some(content) => turn.entry("user_content", &content.0),
            None => turn.entry("user_content", &Raw("{}")),
        }
        turn.optional("final_response", &self.final_response.map(|content| content.0));
        turn.entry("intermediate_data", &TurnEvents(events));
        turn.entry("creation_timestamp", &in_seconds(Event::from_json(user).timestamp()));
        turn.end();
    }
}

/// A timestamp in seconds since 1970. Values after the year 5000 are taken for milliseconds.
fn in_seconds(timestamp: f64) -> f64 {
    if timestamp > 1e11 { timestamp / 1000.0 } else { timestamp }
}

struct TurnEvents<'a>(Vec<TurnEvent<'a>>);

impl Write for TurnEvents<'_> {
    fn write(&self, out: &mut Writer) {
        let mut data = out.object();
        data.entry("invocation_events", &self.0);
        data.end();
    }
}

/// An event to write to the intermediate data.
struct TurnEvent<'a> {
    event: Event<'a>,
    is_answer: bool,
}

impl Write for TurnEvent<'_> {
    fn write(&self, out: &mut Writer) {
        let event = self.event;
        let content = event.content().filter(|content| {
            !self.is_answer || content.all_parts().any(|part| part.function_call().is_some())
        });
        let mut object = out.object();
        object.entry("author", &event.author().unwrap_or_else(|| "agent".into()));
        object.optional("content", &content.map(|content| content.0));
        object.optional("grounding_metadata", &event.grounding_metadata());
        object.optional("usage_metadata", &event.usage_metadata().map(|usage| usage.0));
        object.optional("model_version", &event.model_version());
        object.end();
    }
}

impl<'a> Event<'a> {
    fn parts(self) -> impl Iterator<Item = Part<'a>> {
        self.content().unwrap_or_default().all_parts()
    }

    fn is_from_user(self) -> bool {
        self.author().is_some_and(|author| author.eq_ignore_ascii_case("user"))
    }

    /// Whether an agent's event consists of tool responses only.
    fn has_only_tool_responses(self) -> bool {
        let mut parts = self.parts().peekable();
        !self.is_from_user() && parts.peek().is_some() && parts.all(|part| part.function_response().is_some())
    }

    /// Whether google-adk considers the event the final response of a turn.
    fn is_final_response(self) -> bool {
        let Some(last) = self.parts().last() else { return false };
        let skips_summary = self.actions().and_then(|actions| {
            actions.get("skip_summarization").or_else(|| actions.get("skipSummarization"))?.as_bool()
        });
        let is_waiting = self
            .long_running_tool_ids()
            .is_some_and(|ids| ids.kind() == JsonKind::Array && ids.items().next().is_some());
        if skips_summary == Some(true) || is_waiting {
            return true;
        }
        let is_partial = self.partial() == Some(true);
        let calls = self.parts().any(|part| part.function_call().is_some());
        let failed = self.error_code().and_then(Json::as_str).is_some_and(|code| !code.is_empty());
        if failed && !is_partial && !calls {
            return true;
        }
        let answered = self.parts().any(|part| part.function_response().is_some());
        !calls && !answered && !is_partial && !last.has(["code_execution_result", "codeExecutionResult"])
    }

    fn is_worth_keeping(self) -> bool {
        self.grounding_metadata().is_some()
            || self.parts().any(|part| {
                part.function_call().is_some()
                    || part.function_response().is_some()
                    || part.text().is_some_and(|text| !text.is_empty())
                    || part.has(["inline_data", "inlineData"])
            })
    }
}
