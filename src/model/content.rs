//! Contents: what users, agents and tools said, in parts.

use std::borrow::Cow;

use super::json::Json;
use super::read::{object, record};

record! {
    /// A call of a tool, as an agent made it or should make it.
    pub struct FunctionCall<'a> {
        /// Links a call with its response; never compared.
        id: Option<Cow<'a, str>> = "id" | "id";
        /// The name of the tool.
        name: Option<Cow<'a, str>> = "name" | "name";
        /// The arguments: an object, or nothing.
        args: Option<Json<'a>> = "args" | "args" => object;
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
        response: Option<Json<'a>> = "response" | "response" => object;
    } extra other
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
    } extra other
}

record! {
    /// What one author said, in parts.
    pub struct Content<'a> {
        /// The parts, in order.
        parts: Option<Vec<Part<'a>>> = "parts" | "parts";
        /// `user` or `model`.
        role: Option<Cow<'a, str>> = "role" | "role";
    }
}

impl<'a> Content<'a> {
    /// A content of one text.
    #[must_use]
    pub fn of_text(text: Cow<'a, str>, role: &'static str) -> Self {
        let part = Part { text: Some(text), ..Part::default() };
        Self { parts: Some(vec![part]), role: Some(Cow::Borrowed(role)) }
    }

    /// The parts, none if there are none.
    pub fn parts(&self) -> impl Iterator<Item = &Part<'a>> {
        self.parts.iter().flatten()
    }

    /// The non-empty texts joined by line breaks, thoughts included: what google-adk compares.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        let mut texts = self.parts().filter_map(|part| part.text.as_deref()).filter(|text| !text.is_empty());
        let Some(first) = texts.next() else { return Cow::Borrowed("") };
        let Some(second) = texts.next() else { return Cow::Borrowed(first) };
        let mut joined = format!("{first}\n{second}");
        for text in texts {
            joined.push('\n');
            joined.push_str(text);
        }
        Cow::Owned(joined)
    }
}
