//! Contents: what users, agents and tools said, in parts.

use std::borrow::Cow;

use super::config::either;
use super::shape::{List, Type, View as _, Warnings, not_a_key, nothing_read, record, unread};
use crate::foundation::error::Result;
use crate::foundation::json::Json;

record! {
    /// A call of a tool, as an agent made it or should make it.
    pub struct FunctionCall<'a> called "a tool call" {
        /// Links a call with its response; never compared.
        id: Option<Cow<'a, str>> = "id" | "id";
        /// The name of the tool.
        name: Option<Cow<'a, str>> = "name" | "name";
        /// The arguments: an object, or nothing.
        args: Option<Json<'a>> = "args" | "args" => Type::Object;
    } rule call_is_read
}

/// A tool call with its fields extracted, for repeated comparisons.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall<'a> {
    /// The name of the tool.
    pub name: Option<Cow<'a, str>>,
    /// The arguments: an object, or nothing.
    pub args: Option<Json<'a>>,
}

impl<'a> From<FunctionCall<'a>> for ToolCall<'a> {
    fn from(call: FunctionCall<'a>) -> Self {
        Self { name: call.name(), args: call.args() }
    }
}

record! {
    /// What a tool answered.
    pub struct FunctionResponse<'a> called "a tool response" {
        /// The id of the call that this answers.
        id: Option<Cow<'a, str>> = "id" | "id";
        /// The name of the tool.
        name: Option<Cow<'a, str>> = "name" | "name";
        /// The answer.
        response: Option<Json<'a>> = "response" | "response" => Type::Object;
    } unknown_keys Kept
}

record! {
    /// A piece of a content: text, a tool call, a tool response, or something else.
    pub struct Part<'a> called "a part" {
        /// Text.
        text: Option<Cow<'a, str>> = "text" | "text";
        /// Whether the text is the model's thought rather than its answer.
        thought: Option<bool> = "thought" | "thought";
        /// A tool call.
        function_call: Option<FunctionCall<'a>> = "function_call" | "functionCall";
        /// A tool's answer.
        function_response: Option<FunctionResponse<'a>> = "function_response" | "functionResponse";
    } unknown_keys Kept rule part_is_read
}

record! {
    /// What one author said, in parts.
    pub struct Content<'a> called "a content" {
        /// The parts, in order.
        parts: Option<List<'a, Part<'a>>> = "parts" | "parts";
        /// `user` or `model`.
        role: Option<Cow<'a, str>> = "role" | "role";
    } rule content_is_read
}

/// Rejects a call with its name or arguments under unknown keys: it would count as a call without them.
fn call_is_read(json: Json<'_>, _: &Warnings) -> Result<()> {
    let call = FunctionCall::from_json(json);
    let is_missing = |key: &str, synonyms: &[&str]| match unread(json, &|other| synonyms.contains(&other)) {
        Some((other, value)) => Err(not_a_key(value, &other, "a tool call", key)),
        None => Ok(()),
    };
    if call.name().is_none() {
        is_missing("name", &["tool_name", "toolName", "tool", "function"])?;
    }
    if call.args().is_none() {
        is_missing("args", &["arguments", "tool_input", "toolInput", "input", "parameters", "params"])?;
    }
    Ok(())
}

/// The keys of google-adk's parts that are not fields of [`Part`], in both spellings.
const OTHER_PART_KEYS: [&str; 26] = [
    "inline_data",
    "inlineData",
    "file_data",
    "fileData",
    "executable_code",
    "executableCode",
    "code_execution_result",
    "codeExecutionResult",
    "thought_signature",
    "thoughtSignature",
    "video_metadata",
    "videoMetadata",
    "media_resolution",
    "mediaResolution",
    "tool_call",
    "toolCall",
    "tool_response",
    "toolResponse",
    "part_metadata",
    "partMetadata",
    "audio_transcription",
    "audioTranscription",
    "media_processing",
    "mediaProcessing",
    "speech_metadata",
    "speechMetadata",
];

/// Rejects a part with only unknown keys, such as its text under another name: it would count as empty.
fn part_is_read(json: Json<'_>, _: &Warnings) -> Result<()> {
    let part = Part::from_json(json);
    let is_read =
        part.text().is_some() || part.function_call().is_some() || part.function_response().is_some();
    if is_read || unread(json, &|key| OTHER_PART_KEYS.contains(&key)).is_some() {
        return Ok(());
    }
    nothing_read(json, "a part", "text, function_call and function_response")
}

/// Rejects a content that has unknown keys and no parts: it would count as empty.
fn content_is_read(json: Json<'_>, _: &Warnings) -> Result<()> {
    if Content::from_json(json).parts().is_some() {
        return Ok(());
    }
    nothing_read(json, "a content", r#"role and parts, as in {"role": "user", "parts": [{"text": "…"}]}"#)
}

/// Rejects an event with text or tool calls outside of `content.parts`, unless the content repeats them: they would not be
/// read.
pub(super) fn event_is_read(json: Json<'_>, _: &Warnings) -> Result<()> {
    let content = either(json, ["content"; 2]).map(Content::from_json);
    let is_wrong = |key: &str, value: Json<'_>| match key {
        "parts" | "function_call" | "functionCall" | "function_response" | "functionResponse" => true,
        "tool_calls" | "toolCalls" | "tool_uses" | "toolUses" | "function_calls" | "functionCalls" => {
            value.items().next().is_some()
        }
        // ADK-TS repeats the text of the content.
        "text" => !value.as_str().is_some_and(|text| content.unwrap_or_default().says(&text)),
        "message" => content.is_none(),
        _ => false,
    };
    for (key, value) in json.other_entries().filter(|(_, value)| !value.is_null()) {
        if let Some(key) = key.as_str().filter(|key| is_wrong(key, value)) {
            return Err(not_a_key(value, &key, "an event", "content.parts"));
        }
    }
    Ok(())
}

impl Part<'_> {
    /// Whether the part has a value for a key, in either spelling.
    pub(super) fn has(self, keys: [&str; 2]) -> bool {
        self.0.entries().any(|(key, value)| keys.contains(&key.as_ref()) && !value.is_null())
    }
}

impl<'a> Content<'a> {
    /// The parts; empty if absent.
    pub fn all_parts(self) -> impl Iterator<Item = Part<'a>> {
        self.parts().unwrap_or_default().iter()
    }

    /// The non-empty texts joined by line breaks, thoughts included: what google-adk compares.
    #[must_use]
    pub fn text(self) -> Cow<'a, str> {
        let mut texts = self.all_parts().filter_map(Part::text).filter(|text| !text.is_empty());
        let Some(first) = texts.next() else { return Cow::Borrowed("") };
        let Some(second) = texts.next() else { return first };
        let mut joined = first.into_owned();
        joined.push('\n');
        joined.push_str(&second);
        for text in texts {
            joined.push('\n');
            joined.push_str(&text);
        }
        Cow::Owned(joined)
    }

    /// Whether a text consists of texts of the parts, in order.
    fn says(self, text: &str) -> bool {
        let mut rest = text.trim();
        for part in self.all_parts().filter_map(Part::text) {
            rest = rest.strip_prefix(part.trim()).unwrap_or(rest).trim_start();
        }
        rest.is_empty()
    }
}
