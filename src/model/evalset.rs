//! Evalsets: the cases that an agent is evaluated on, in today's schema and in the two old forms.
//!
//! The old forms have no names for what they are; here they are *rows* (`*.test.json`: a list of
//! `{query, expected_tool_use, reference, …}`, together one case) and *named rows*
//! (`*.evalset.json`: a list of `{name, data: rows, initial_session}`).

use std::borrow::Cow;

use super::content::{Content, FunctionCall, Part};
use super::error::{Error, ErrorCode, Result};
use super::invocation::{IntermediateData, IntermediateResponse, IntermediateSummary, Invocation, Rubric};
use super::json::{Json, Kind};
use super::read::{At, object, record};
use super::write::quoted;

record! {
    /// A set of cases to evaluate an agent on.
    pub struct EvalSet<'a> {
        /// Identifies the set.
        eval_set_id: Cow<'a, str> = "eval_set_id" | "evalSetId";
        /// Its name.
        name: Option<Cow<'a, str>> = "name" | "name";
        /// What it is about.
        description: Option<Cow<'a, str>> = "description" | "description";
        /// The cases.
        eval_cases: Vec<EvalCase<'a>> = "eval_cases" | "evalCases";
        /// When it was made, in seconds since 1970.
        creation_timestamp: f64 = "creation_timestamp" | "creationTimestamp" default;
    }
}

record! {
    /// One conversation, or the scenario of one.
    pub struct EvalCase<'a> {
        /// Identifies the case within its set.
        eval_id: Cow<'a, str> = "eval_id" | "evalId";
        /// The turns, with what is expected of the agent. Exactly one of this and the scenario is there.
        conversation: Option<Vec<Invocation<'a>>> = "conversation" | "conversation";
        /// The scenario that a simulated user follows.
        conversation_scenario: Option<ConversationScenario<'a>> = "conversation_scenario" | "conversationScenario";
        /// How the session begins.
        session_input: Option<SessionInput<'a>> = "session_input" | "sessionInput";
        /// When it was made, in seconds since 1970.
        creation_timestamp: f64 = "creation_timestamp" | "creationTimestamp" default;
        /// Rubrics for every turn.
        rubrics: Option<Vec<Rubric<'a>>> = "rubrics" | "rubrics";
        /// The session state expected in the end.
        final_session_state: Option<Json<'a>> = "final_session_state" | "finalSessionState" => object;
    } extra other
}

record! {
    /// A conversation to be simulated.
    pub struct ConversationScenario<'a> {
        /// What the simulated user says first.
        starting_prompt: Cow<'a, str> = "starting_prompt" | "startingPrompt";
        /// What the simulated user is after.
        conversation_plan: Cow<'a, str> = "conversation_plan" | "conversationPlan";
        /// Who the simulated user is: the id of a persona, or one spelled out.
        user_persona: Option<Json<'a>> = "user_persona" | "userPersona" => persona;
    }
}

record! {
    /// How the session of a case begins.
    pub struct SessionInput<'a> {
        /// The app.
        app_name: Cow<'a, str> = "app_name" | "appName" default;
        /// The user.
        user_id: Cow<'a, str> = "user_id" | "userId" default;
        /// A fixed session id.
        session_id: Option<Cow<'a, str>> = "session_id" | "sessionId";
        /// The state.
        state: Option<Json<'a>> = "state" | "state" => object;
    } extra other
}

fn persona(at: At<'_, '_>) -> Result<()> {
    match at.json.kind() {
        Kind::Object | Kind::PlainString | Kind::EscapedString => Ok(()),
        _ => Err(at.expected("the id of a persona or an object")),
    }
}

impl<'a> EvalSet<'a> {
    /// Reads an evalset in any of its forms. `name` stands for the id where an old form has none.
    ///
    /// # Errors
    /// `invalid_input` with the path and line of what does not fit.
    pub fn read_any(at: At<'a, '_>, name: &str) -> Result<Self> {
        let set = match at.json.kind() {
            Kind::Object => at.read::<EvalSet<'a>>()?,
            Kind::Array => read_old(at, name)?,
            _ => return Err(at.expected("an evalset: an object with `eval_cases`, or a list in an old form")),
        };
        for (index, case) in set.eval_cases.iter().enumerate() {
            if case.conversation.is_some() == case.conversation_scenario.is_some() {
                return Err(exactly_one(at, index, case));
            }
        }
        Ok(set)
    }
}

fn exactly_one(at: At<'_, '_>, index: usize, case: &EvalCase<'_>) -> Error {
    let cases = ["eval_cases", "evalCases"].into_iter().find_map(|key| Some((key, at.json.get(key)?)));
    let (key, json) = cases.unwrap_or(("eval_cases", at.json));
    let list = at.entry(key, json);
    let place = list.item(index, json.items().nth(index).unwrap_or(json));
    let problem = if case.conversation.is_some() { "both are" } else { "neither is" };
    let message = format!(
        "an eval case has either `conversation` or `conversation_scenario`; in {} {problem} there",
        quoted(&case.eval_id)
    );
    place.error(ErrorCode::InvalidInput, message)
}

record! {
    struct Row<'a> {
        query: Cow<'a, str> = "query" | "query";
        reference: Option<Cow<'a, str>> = "reference" | "reference";
        expected_tool_use: Vec<OldToolUse<'a>> = "expected_tool_use" | "expectedToolUse" default;
        expected_intermediate_agent_responses: Vec<OldResponse<'a>> =
            "expected_intermediate_agent_responses" | "expectedIntermediateAgentResponses" default;
    }
}

record! {
    struct OldToolUse<'a> {
        tool_name: Cow<'a, str> = "tool_name" | "toolName";
        tool_input: Option<Json<'a>> = "tool_input" | "toolInput" => object;
    }
}

record! {
    struct OldResponse<'a> {
        author: Cow<'a, str> = "author" | "author";
        text: Cow<'a, str> = "text" | "text";
    }
}

record! {
    struct NamedRows<'a> {
        name: Cow<'a, str> = "name" | "name";
        data: Vec<Row<'a>> = "data" | "data";
        initial_session: Option<SessionInput<'a>> = "initial_session" | "initialSession";
    }
}

fn read_old<'a>(at: At<'a, '_>, name: &str) -> Result<EvalSet<'a>> {
    let eval_cases = match at.json.items().next() {
        None => Vec::new(),
        Some(first) if first.get("data").is_some() => {
            at.read::<Vec<NamedRows<'a>>>()?.into_iter().map(NamedRows::into_case).collect()
        }
        Some(_) => {
            let rows = NamedRows { name: Cow::Owned(name.into()), data: at.read()?, initial_session: None };
            vec![rows.into_case()]
        }
    };
    let name = Cow::<str>::Owned(name.into());
    Ok(EvalSet { eval_set_id: name.clone(), name: Some(name), eval_cases, ..EvalSet::default() })
}

impl<'a> NamedRows<'a> {
    fn into_case(self) -> EvalCase<'a> {
        let is_empty = |session: &SessionInput<'_>| {
            session.app_name.is_empty() && session.user_id.is_empty() && session.state.is_none()
        };
        EvalCase {
            eval_id: self.name,
            conversation: Some(
                self.data.into_iter().enumerate().map(|(i, row)| row.into_invocation(i)).collect(),
            ),
            conversation_scenario: None,
            session_input: self.initial_session.filter(|session| !is_empty(session)),
            creation_timestamp: 0.0,
            rubrics: None,
            final_session_state: None,
            other: Vec::new(),
        }
    }
}

impl<'a> Row<'a> {
    fn into_invocation(self, index: usize) -> Invocation<'a> {
        let tool_uses = self.expected_tool_use.into_iter();
        let responses = self.expected_intermediate_agent_responses.into_iter();
        let summary = IntermediateSummary {
            tool_uses: Some(
                tool_uses
                    .map(|call| FunctionCall { id: None, name: Some(call.tool_name), args: call.tool_input })
                    .collect(),
            ),
            tool_responses: Vec::new(),
            intermediate_responses: responses
                .map(|response| {
                    let part = Part { text: Some(response.text), ..Part::default() };
                    IntermediateResponse(response.author, vec![part])
                })
                .collect(),
        };
        Invocation {
            invocation_id: Cow::Owned(format!("turn-{}", index + 1)),
            user_content: Content::of_text(self.query, "user"),
            final_response: Some(Content::of_text(self.reference.unwrap_or_default(), "model")),
            intermediate_data: Some(IntermediateData::Summary(summary)),
            ..Invocation::default()
        }
    }
}
