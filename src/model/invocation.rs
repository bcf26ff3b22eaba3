//! Invocations: one turn of a conversation, from the user's words to the final response.

use std::borrow::Cow;

use super::content::{Content, FunctionCall, FunctionResponse, Part};
use super::error::{ErrorCode, Result};
use super::json::{Json, Kind};
use super::read::{At, Read, object, record};
use super::write::{Write, Writer};

record! {
    /// One turn: what the user said, what the agent did, what it answered.
    pub struct Invocation<'a> {
        /// Identifies the turn.
        invocation_id: Cow<'a, str> = "invocation_id" | "invocationId" default;
        /// What the user said.
        user_content: Content<'a> = "user_content" | "userContent";
        /// What the agent answered in the end.
        final_response: Option<Content<'a>> = "final_response" | "finalResponse";
        /// What happened on the way.
        intermediate_data: Option<IntermediateData<'a>> = "intermediate_data" | "intermediateData";
        /// When the turn took place, in seconds since 1970.
        creation_timestamp: f64 = "creation_timestamp" | "creationTimestamp" default;
        /// How long the turn took, in seconds.
        duration: Option<f64> = "duration" | "duration";
        /// Of the duration, the seconds with a model call in flight.
        model_duration: Option<f64> = "model_duration" | "modelDuration";
        /// Of the duration, the seconds in tools and not awaiting a model.
        tool_duration: Option<f64> = "tool_duration" | "toolDuration";
        /// The rubrics of this turn.
        rubrics: Option<Vec<Rubric<'a>>> = "rubrics" | "rubrics";
        /// The agents of the app, with their instructions and tools.
        app_details: Option<Json<'a>> = "app_details" | "appDetails" => object;
    } source source
}

record! {
    /// A property that a response or a trajectory should have.
    pub struct Rubric<'a> {
        /// Identifies the rubric.
        rubric_id: Cow<'a, str> = "rubric_id" | "rubricId";
        /// The property.
        rubric_content: RubricContent<'a> = "rubric_content" | "rubricContent";
        /// How to read the rubric's score.
        description: Option<Cow<'a, str>> = "description" | "description";
        /// Which metrics the rubric is for, such as `FINAL_RESPONSE_QUALITY`.
        r#type: Option<Cow<'a, str>> = "type" | "type";
    }
}

record! {
    /// The words of a rubric.
    pub struct RubricContent<'a> {
        /// The property in words, such as "The response names the price."
        text_property: Option<Cow<'a, str>> = "text_property" | "textProperty";
    }
}

/// What happened between the user's words and the final response.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(untagged))]
pub enum IntermediateData<'a> {
    /// Every event in order, as recorded from a run.
    Events(InvocationEvents<'a>),
    /// The tool calls alone, as written by hand.
    Summary(IntermediateSummary<'a>),
}

record! {
    /// Tool calls, tool responses and what sub-agents said, each in order.
    pub struct IntermediateSummary<'a> {
        /// The tool calls.
        tool_uses: Option<Vec<FunctionCall<'a>>> = "tool_uses" | "toolUses";
        /// The tool responses.
        tool_responses: Vec<FunctionResponse<'a>> = "tool_responses" | "toolResponses" default;
        /// What sub-agents said: author and parts.
        intermediate_responses: Vec<IntermediateResponse<'a>> = "intermediate_responses" | "intermediateResponses" default;
    }
}

record! {
    /// The events of a turn.
    pub struct InvocationEvents<'a> {
        /// The events, in order.
        invocation_events: Vec<InvocationEvent<'a>> = "invocation_events" | "invocationEvents" default;
    }
}

record! {
    /// Something an agent said or did.
    pub struct InvocationEvent<'a> {
        /// The name of the agent.
        author: Cow<'a, str> = "author" | "author";
        /// What it said, called or was answered.
        content: Option<Content<'a>> = "content" | "content";
        /// Sources that the model was given.
        grounding_metadata: Option<Json<'a>> = "grounding_metadata" | "groundingMetadata" => object;
        /// The tokens that the model reported.
        usage_metadata: Option<UsageMetadata<'a>> = "usage_metadata" | "usageMetadata";
        /// The model that was called.
        model_version: Option<Cow<'a, str>> = "model_version" | "modelVersion";
    }
}

record! {
    /// The token counts of one model call.
    pub struct UsageMetadata<'a> {
        /// Tokens of the prompt.
        prompt_token_count: Option<i64> = "prompt_token_count" | "promptTokenCount";
        /// Tokens of the results of tools that the model itself called.
        tool_use_prompt_token_count: Option<i64> = "tool_use_prompt_token_count" | "toolUsePromptTokenCount";
        /// Tokens of the answer.
        candidates_token_count: Option<i64> = "candidates_token_count" | "candidatesTokenCount";
        /// Tokens of thoughts.
        thoughts_token_count: Option<i64> = "thoughts_token_count" | "thoughtsTokenCount";
        /// Tokens of the prompt that came from a cache.
        cached_content_token_count: Option<i64> = "cached_content_token_count" | "cachedContentTokenCount";
    } extra other
}

/// What a sub-agent said on the way: `[author, parts]`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntermediateResponse<'a>(pub Cow<'a, str>, pub Vec<Part<'a>>);

impl<'a> Read<'a> for IntermediateResponse<'a> {
    fn read(at: At<'a, '_>) -> Result<Self> {
        let mut items = at.json.items();
        match (items.next(), items.next(), items.next()) {
            (Some(author), Some(parts), None) => {
                Ok(Self(at.item(0, author).read()?, at.item(1, parts).read()?))
            }
            _ => Err(at.expected("an author and a list of parts")),
        }
    }
}

impl Write for IntermediateResponse<'_> {
    fn write(&self, out: &mut Writer) {
        out.raw("[");
        self.0.write(out);
        out.raw(",");
        self.1.write(out);
        out.raw("]");
    }
}

impl<'a> Read<'a> for IntermediateData<'a> {
    /// Events if there is a key for them, else a summary, as google-adk decides.
    fn read(at: At<'a, '_>) -> Result<Self> {
        if at.json.kind() != Kind::Object {
            return Err(at.expected("an object (IntermediateData)"));
        }
        let has =
            |keys: [&str; 2]| at.json.entries().any(|(key, value)| keys.contains(&&*key) && !value.is_null());
        if !has(["invocation_events", "invocationEvents"]) {
            return at.read().map(Self::Summary);
        }
        if has(["tool_uses", "toolUses"]) {
            let message = "`invocation_events` and `tool_uses` are both given";
            return Err(at.error(ErrorCode::InvalidInput, message).with_help("Keep one of the two"));
        }
        at.read().map(Self::Events)
    }
}

impl Write for IntermediateData<'_> {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Events(events) => events.write(out),
            Self::Summary(summary) => summary.write(out),
        }
    }
}

impl<'a> Invocation<'a> {
    /// The tool calls of the turn in the order made.
    #[must_use]
    pub fn tool_calls(&self) -> Cow<'_, [FunctionCall<'a>]> {
        match &self.intermediate_data {
            None => Cow::Borrowed(&[]),
            Some(IntermediateData::Summary(summary)) => {
                Cow::Borrowed(summary.tool_uses.as_deref().unwrap_or_default())
            }
            Some(IntermediateData::Events(events)) => {
                let contents = events.invocation_events.iter().filter_map(|event| event.content.as_ref());
                contents.flat_map(Content::parts).filter_map(|part| part.function_call.clone()).collect()
            }
        }
    }

    /// The events of the turn; none if only a summary was recorded.
    #[must_use]
    pub fn events(&self) -> &[InvocationEvent<'a>] {
        match &self.intermediate_data {
            Some(IntermediateData::Events(events)) => &events.invocation_events,
            _ => &[],
        }
    }

    /// Whether events were recorded, be it an empty list.
    #[must_use]
    pub fn has_events(&self) -> bool {
        matches!(self.intermediate_data, Some(IntermediateData::Events(_)))
    }

    /// The text of the final response; empty if there is none.
    #[must_use]
    pub fn final_text(&self) -> Cow<'_, str> {
        self.final_response.as_ref().map_or(Cow::Borrowed(""), Content::text)
    }
}
