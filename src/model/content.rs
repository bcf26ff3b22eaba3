//! Contents: what users, agents and tools said, in parts.

use std::borrow::Cow;

use super::json::Json;
use super::shape::{List, Type, record};

record! {
    /// A call of a tool, as an agent made it or should make it.
    pub struct FunctionCall<'a> {
        /// Links a call with its response; never compared.
        id: Option<Cow<'a, str>> = "id" | "id";
        /// The name of the tool.
        name: Option<Cow<'a, str>> = "name" | "name";
        /// The arguments: an object, or nothing.
        args: Option<Json<'a>> = "args" | "args" => Type::Object;
    }
}

/// A tool call with its fields at hand, for being compared many times.
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
    pub struct FunctionResponse<'a> {
        /// The id of the call that this answers.
        id: Option<Cow<'a, str>> = "id" | "id";
        /// The name of the tool.
        name: Option<Cow<'a, str>> = "name" | "name";
        /// The answer.
        response: Option<Json<'a>> = "response" | "response" => Type::Object;
    } keeps others
}

record! {
    /// A piece of a content: text, a tool call, a tool response, or something else.
    pub struct Part<'a> {
        /// Text.
        text: Option<Cow<'a, str>> = "text" | "text";
        /// Whether the text is the model's thought rather than its answer.
        thought: Option<bool> = "thought" | "thought";
        /// A tool call.
        function_call: Option<FunctionCall<'a>> = "function_call" | "functionCall";
        /// A tool's answer.
        function_response: Option<FunctionResponse<'a>> = "function_response" | "functionResponse";
    } keeps others
}

record! {
    /// What one author said, in parts.
    pub struct Content<'a> {
        /// The parts, in order.
        parts: Option<List<'a, Part<'a>>> = "parts" | "parts";
        /// `user` or `model`.
        role: Option<Cow<'a, str>> = "role" | "role";
    }
}

impl Part<'_> {
    /// Whether it has a key, in either spelling, that is no field.
    pub(super) fn has(self, keys: [&str; 2]) -> bool {
        self.0.entries().any(|(key, value)| keys.contains(&key.as_ref()) && !value.is_null())
    }
}

impl<'a> Content<'a> {
    /// The parts, none if there are none.
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
}
