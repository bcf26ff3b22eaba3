//! Invocations: single turns of a conversation, from the user's message to the final response.

use std::borrow::Cow;

use super::config::either;
use super::content::{Content, FunctionCall, FunctionResponse, Part, ToolCall, event_is_read};
use super::results::EvalMetricResultPerInvocation;
use super::shape::{List, Shape, Type, View, Warnings, no_key, not_a_key, nothing_read, record, unread};
use crate::foundation::error::{ErrorCode, Result};
use crate::foundation::json::{Items, Json, JsonKind};
use crate::foundation::suggestion::suggestion;

pub use super::rubric::{Rubric, RubricContent};

record! {
    /// One turn: what the user said, what the agent did, what it answered.
    pub struct Invocation<'a> called "an invocation" {
        /// Identifies the turn.
        invocation_id: Cow<'a, str> = "invocation_id" | "invocationId" default;
        /// What the user said.
        user_content: Content<'a> = "user_content" | "userContent";
        /// The agent's final response; in an evalset, the expected one.
        final_response: Option<Content<'a>> = "final_response" | "finalResponse";
        /// What happened in between: `tool_uses`, as written by hand, or `invocation_events`, as recorded. In an
        /// evalset, the expected tool calls.
        intermediate_data: Option<IntermediateData<'a>> = "intermediate_data" | "intermediateData";
        /// When the turn took place, in seconds since 1970.
        creation_timestamp: f64 = "creation_timestamp" | "creationTimestamp" default;
        /// How long the turn took, in seconds.
        duration: Option<f64> = "duration" | "duration";
        /// The part of the duration with a model call in flight, in seconds.
        model_duration: Option<f64> = "model_duration" | "modelDuration";
        /// The part of the duration spent in tools while not waiting for a model, in seconds.
        tool_duration: Option<f64> = "tool_duration" | "toolDuration";
        /// The rubrics of this turn.
        rubrics: Option<List<'a, Rubric<'a>>> = "rubrics" | "rubrics";
        /// The agents of the app, with their instructions and tools.
        app_details: Option<Json<'a>> = "app_details" | "appDetails" => Type::Object;
    } rule invocation_is_read
}

/// Rejects a turn that has only unknown keys: it would be scored as an empty one. Also rejects keys that belong in
/// intermediate data, and agents with keys that judges would not be shown.
fn invocation_is_read(json: Json<'_>, _: &Warnings) -> Result<()> {
    let turn = Invocation::from_json(json);
    known_keys(json, "an invocation", Some(["intermediate_data.", "intermediateData."]), &DATA_KEYS)?;
    if let Some(app) = turn.app_details() {
        agents_are_read(app)?;
    }
    let is_empty = turn.user_content().parts().is_none()
        && turn.final_response().is_none()
        && turn.intermediate_data().is_none();
    if is_empty {
        nothing_read(json, "an invocation", "user_content, final_response and intermediate_data")
    } else {
        Ok(())
    }
}

/// Rejects misspelt keys and wrong types in app details, which are otherwise kept as they are.
fn agents_are_read(app: Json<'_>) -> Result<()> {
    known_keys(app, "app details", None, &[["agent_details", "agentDetails"]])?;
    let Some(agents) = either(app, ["agent_details", "agentDetails"]) else { return Ok(()) };
    check_kind(agents, JsonKind::Object, "an object (agents by their names)")?;
    for (_, agent) in agents.entries() {
        const TOOLS: [&str; 2] = ["tool_declarations", "toolDeclarations"];
        check_kind(agent, JsonKind::Object, "an object (an agent's details)")?;
        known_keys(agent, "an agent's details", None, &[["name"; 2], ["instructions"; 2], TOOLS])?;
        if let Some(instructions) = agent
            .get("instructions")
            .filter(|instructions| !instructions.is_null() && instructions.as_str().is_none())
        {
            return Err(instructions.expected("a string"));
        }
        if let Some(tools) = either(agent, TOOLS) {
            check_kind(tools, JsonKind::Array, "an array")?;
        }
    }
    Ok(())
}

fn check_kind(json: Json<'_>, kind: JsonKind, what: &str) -> Result<()> {
    if json.kind() == kind { Ok(()) } else { Err(json.expected(what)) }
}

/// Rejects keys that resemble one of `keys`, each in both spellings. With a `prefix`, the keys belong under that path, so
/// they are rejected here even if they are spelt correctly.
fn known_keys(
    json: Json<'_>,
    what: &str,
    prefix: Option<[&str; 2]>,
    keys: &[[&'static str; 2]],
) -> Result<()> {
    let is_wrong = |key: &str| meant_of(key, keys).is_some_and(|meant| prefix.is_some() || meant != key);
    let Some((key, value)) = unread(json, &is_wrong) else { return Ok(()) };
    let [snake, camel] = prefix.unwrap_or_default();
    let prefix = if is_camel(&key) { camel } else { snake };
    Err(not_a_key(value, &key, what, &[prefix, meant_of(&key, keys).unwrap_or_default()].concat()))
}

/// Which of `keys`, each in both spellings, a key most likely means.
fn meant_of(key: &str, keys: &[[&'static str; 2]]) -> Option<&'static str> {
    let is_camel = is_camel(key);
    let other_name = OTHER_NAMES.iter().find(|(others, _)| others.contains(&key));
    let key = other_name.map_or(key, |(_, name)| name);
    suggestion(key, keys.iter().map(|[snake, camel]| if is_camel { *camel } else { *snake }))
}

/// Names that other libraries and the old forms have for a key.
const OTHER_NAMES: [(&[&str], &str); 2] = [
    (
        &[
            "tools",
            "tool_trajectory",
            "toolTrajectory",
            "tool_calls",
            "toolCalls",
            "expected_tool_use",
            "expectedToolUse",
            "expected_tool_calls",
            "expectedToolCalls",
        ],
        "tool_uses",
    ),
    (&["system_instruction", "systemInstruction", "system_prompt", "systemPrompt"], "instructions"),
];

/// Whether a key most likely means the tool calls of a turn.
pub(super) fn is_tool_uses(key: &str) -> bool {
    meant_of(key, &[["tool_uses", "toolUses"]]).is_some()
}

pub(super) fn is_camel(key: &str) -> bool {
    key.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// The keys of intermediate data in either form.
const DATA_KEYS: [[&str; 2]; 4] = [
    ["tool_uses", "toolUses"],
    ["tool_responses", "toolResponses"],
    ["intermediate_responses", "intermediateResponses"],
    ["invocation_events", "invocationEvents"],
];

/// Rejects misspelt keys of either form of intermediate data.
fn data_is_read(json: Json<'_>, _: &Warnings) -> Result<()> {
    known_keys(json, "intermediate data", None, &DATA_KEYS)
}

/// Does the same, and rejects a summary that has only unknown keys.
fn summary_is_read(json: Json<'_>, warnings: &Warnings) -> Result<()> {
    data_is_read(json, warnings)?;
    let data = IntermediateSummary::from_json(json);
    let is_empty = data.tool_uses().is_none()
        && data.tool_responses().is_empty()
        && data.intermediate_responses().is_empty();
    if is_empty {
        nothing_read(
            json,
            "intermediate data",
            "tool_uses, tool_responses and intermediate_responses, or invocation_events",
        )
    } else {
        Ok(())
    }
}

/// What happened between the user's message and the final response: every event in order, as recorded from a run, or the
/// tool calls alone, as written by hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IntermediateData<'a> {
    /// Every event in order.
    Events(InvocationEvents<'a>),
    /// The tool calls alone.
    Summary(IntermediateSummary<'a>),
}

impl<'a> View<'a> for IntermediateData<'a> {
    const TYPE: Type = Type::Choice("intermediate data", events_or_summary);

    fn from_json(json: Json<'a>) -> Self {
        if has_events(json) {
            Self::Events(View::from_json(json))
        } else {
            Self::Summary(View::from_json(json))
        }
    }
}

fn has_events(json: Json<'_>) -> bool {
    has(json, ["invocation_events", "invocationEvents"])
}

fn has(json: Json<'_>, keys: [&str; 2]) -> bool {
    json.entries().any(|(key, value)| keys.contains(&&*key) && !value.is_null())
}

/// Events if there is a key for them, otherwise a summary, as in google-adk.
fn events_or_summary(json: Json<'_>) -> Result<&'static Shape> {
    if !has_events(json) {
        return Ok(&IntermediateSummary::SHAPE);
    }
    if has(json, ["tool_uses", "toolUses"]) {
        let message = "`invocation_events` and `tool_uses` are both given";
        return Err(json.error(ErrorCode::InvalidInput, message).with_help("Keep one of the two"));
    }
    Ok(&InvocationEvents::SHAPE)
}

#[cfg(feature = "schema")]
impl IntermediateData<'_> {
    /// Its two possible shapes.
    pub(crate) const SHAPES: [&'static Shape; 2] = [&IntermediateSummary::SHAPE, &InvocationEvents::SHAPE];
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for IntermediateData<'_> {
    fn schema_name() -> Cow<'static, str> {
        "IntermediateData".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "What happened between the user's message and the final response.",
            "anyOf": [
                generator.subschema_for::<InvocationEvents<'_>>(),
                generator.subschema_for::<IntermediateSummary<'_>>(),
            ],
        })
    }
}

record! {
    /// Tool calls, tool responses and what sub-agents said, each in order.
    pub struct IntermediateSummary<'a> called "intermediate data" {
        /// The tool calls.
        tool_uses: Option<List<'a, FunctionCall<'a>>> = "tool_uses" | "toolUses";
        /// The tool responses.
        tool_responses: List<'a, FunctionResponse<'a>> = "tool_responses" | "toolResponses" default;
        /// What sub-agents said: author and parts.
        intermediate_responses: List<'a, IntermediateResponse<'a>> = "intermediate_responses" | "intermediateResponses" default;
    } rule summary_is_read
}

record! {
    /// The events of a turn.
    pub struct InvocationEvents<'a> called "intermediate data" {
        /// The events, in order.
        invocation_events: List<'a, InvocationEvent<'a>> = "invocation_events" | "invocationEvents" default;
    } rule data_is_read
}

record! {
    /// Something that an agent said or did.
    pub struct InvocationEvent<'a> called "an invocation event" {
        /// The name of the agent.
        author: Cow<'a, str> = "author" | "author";
        /// Its text, tool calls or tool responses.
        content: Option<Content<'a>> = "content" | "content";
        /// Sources that the model was given.
        grounding_metadata: Option<Json<'a>> = "grounding_metadata" | "groundingMetadata" => Type::Object;
        /// The tokens that the model reported.
        usage_metadata: Option<UsageMetadata<'a>> = "usage_metadata" | "usageMetadata";
        /// The model that was called.
        model_version: Option<Cow<'a, str>> = "model_version" | "modelVersion";
    } rule event_is_read
}

record! {
    /// The token counts of one model call.
    pub struct UsageMetadata<'a> called "usage metadata" {
        /// Tokens of the prompt.
        prompt_token_count: Option<i64> = "prompt_token_count" | "promptTokenCount";
        /// Tokens of the results of tools that the model called itself.
        tool_use_prompt_token_count: Option<i64> = "tool_use_prompt_token_count" | "toolUsePromptTokenCount";
        /// Tokens of the answer.
        candidates_token_count: Option<i64> = "candidates_token_count" | "candidatesTokenCount";
        /// Tokens of thoughts.
        thoughts_token_count: Option<i64> = "thoughts_token_count" | "thoughtsTokenCount";
        /// Tokens of the prompt that came from a cache.
        cached_content_token_count: Option<i64> = "cached_content_token_count" | "cachedContentTokenCount";
    } unknown_keys Kept rule usage_is_read
}

/// Warns of a token count under a name that is not read: its tokens are missing from `token_usage_v1`. The total is no loss:
/// it is added up.
fn usage_is_read(json: Json<'_>, warnings: &Warnings) -> Result<()> {
    let is_count = |key: &str| (key.ends_with("ount") || key.ends_with("okens")) && !key.starts_with("total");
    if let Some((key, value)) = unread(json, &is_count) {
        warnings.add(value, no_key(&key, UsageMetadata::SHAPE.name) + " and is not read");
    }
    Ok(())
}

/// An intermediate response of a sub-agent: `[author, parts]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntermediateResponse<'a>(Json<'a>);

impl<'a> View<'a> for IntermediateResponse<'a> {
    const TYPE: Type = Type::Pair(&[<Cow<'_, str>>::TYPE, <List<'_, Part<'_>>>::TYPE]);

    fn from_json(json: Json<'a>) -> Self {
        Self(json)
    }
}

impl<'a> IntermediateResponse<'a> {
    /// The author.
    #[must_use]
    pub fn author(self) -> Cow<'a, str> {
        self.0.items().next().and_then(Json::as_str).unwrap_or_default()
    }

    /// The parts of the response.
    #[must_use]
    pub fn parts(self) -> List<'a, Part<'a>> {
        View::from_json(self.0.items().nth(1).unwrap_or(Json::NULL))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for IntermediateResponse<'_> {
    fn schema_name() -> Cow<'static, str> {
        "IntermediateResponse".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = <(Cow<'_, str>, Vec<Part<'_>>)>::json_schema(generator);
        schema.insert(
            "description".into(),
            "An intermediate response of a sub-agent: `[author, parts]`.".into(),
        );
        schema
    }
}

/// The fields that [`Invocation::final_text`] reads.
pub const FINAL_TEXT: &[&str] = &["final_response.parts.text"];

/// The fields that [`Invocation::tool_calls`] reads.
pub const TOOL_CALLS: &[&str] = &[
    "intermediate_data.tool_uses.name",
    "intermediate_data.tool_uses.args",
    "intermediate_data.invocation_events.content.parts.function_call.name",
    "intermediate_data.invocation_events.content.parts.function_call.args",
];

/// The fields that [`Invocation::call_count`] reads.
pub const CALL_COUNT: &[&str] = &[
    "intermediate_data.tool_uses.name",
    "intermediate_data.invocation_events.content.parts.function_call.name",
];

impl<'a> Invocation<'a> {
    /// The tool calls of the turn, in order.
    #[must_use]
    pub fn tool_calls(self) -> Vec<ToolCall<'a>> {
        let mut calls = Vec::new();
        match self.intermediate_data() {
            None => {}
            Some(IntermediateData::Summary(summary)) => {
                calls.extend(summary.tool_uses().unwrap_or_default().iter().map(ToolCall::from));
            }
            Some(IntermediateData::Events(events)) => {
                for content in events.invocation_events().iter().filter_map(InvocationEvent::content) {
                    calls.extend(content.all_parts().filter_map(Part::function_call).map(ToolCall::from));
                }
            }
        }
        calls
    }

    /// The number of tool calls.
    #[must_use]
    pub fn call_count(self) -> usize {
        match self.intermediate_data() {
            None => 0,
            Some(IntermediateData::Summary(summary)) => summary.tool_uses().map_or(0, List::len),
            Some(IntermediateData::Events(_)) => self.tool_calls().len(),
        }
    }

    /// The events of the turn; `None` if they were not recorded.
    #[must_use]
    pub fn events(self) -> Option<List<'a, InvocationEvent<'a>>> {
        match self.intermediate_data() {
            Some(IntermediateData::Events(events)) => Some(events.invocation_events()),
            _ => None,
        }
    }

    /// The text of the final response; empty if there is none.
    #[must_use]
    pub fn final_text(self) -> Cow<'a, str> {
        self.final_response().map_or(Cow::Borrowed(""), Content::text)
    }
}

/// The turns of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Turns<'a> {
    list: Json<'a>,
    /// Whether the items are results that contain the invocations.
    are_results: bool,
}

/// No turns.
impl Default for Turns<'_> {
    fn default() -> Self {
        Self { list: Json::NULL, are_results: false }
    }
}

impl<'a> From<List<'a, Invocation<'a>>> for Turns<'a> {
    fn from(list: List<'a, Invocation<'a>>) -> Self {
        Self { list: list.json(), are_results: false }
    }
}

/// The turns of the actual invocations.
impl<'a> From<List<'a, EvalMetricResultPerInvocation<'a>>> for Turns<'a> {
    fn from(list: List<'a, EvalMetricResultPerInvocation<'a>>) -> Self {
        Self { list: list.json(), are_results: true }
    }
}

/// An iterator over the turns of a conversation.
#[derive(Clone, Copy)]
pub struct TurnsIter<'a> {
    items: Items<'a>,
    are_results: bool,
}

impl<'a> Iterator for TurnsIter<'a> {
    type Item = Invocation<'a>;

    fn next(&mut self) -> Option<Invocation<'a>> {
        let item = self.items.next()?;
        Some(if self.are_results {
            EvalMetricResultPerInvocation::from_json(item).actual_invocation()
        } else {
            Invocation::from_json(item)
        })
    }
}

impl<'a> Turns<'a> {
    /// The turns, in order.
    #[must_use]
    pub fn iter(self) -> TurnsIter<'a> {
        TurnsIter { items: self.list.items(), are_results: self.are_results }
    }

    /// The number of turns. O(n).
    #[must_use]
    pub fn len(self) -> usize {
        self.list.items().count()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.list.items().next().is_none()
    }
}
