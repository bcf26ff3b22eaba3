//! Converts evalsets in the two old forms to the current schema.
//!
//! The old forms have no official names. Here they are called *rows* (`*.test.json`: a list of
//! `{query, expected_tool_use, reference, …}`, which together are one case) and *named rows* (`*.evalset.json`: a list of
//! `{name, data: rows, initial_session}`).

use std::borrow::Cow;

use super::evalset::{RepeatedIds, SessionInput, check_ids};
use super::invocation::is_tool_uses;
use super::shape::{List, Type, View, Warnings, check_paced, not_a_key, record, unread};
use crate::foundation::error::Result;
use crate::foundation::json::{Document, Json, JsonKind, MAX_BYTES};
use crate::foundation::pace::Pace;
use crate::foundation::write::{Spelling, Write, Writer};

record! {
    /// One turn in an old form.
    pub struct Row<'a> called "a turn of an old evalset" {
        /// What the user said.
        query: Cow<'a, str> = "query" | "query";
        /// What the agent should answer.
        reference: Option<Cow<'a, str>> = "reference" | "reference";
        /// The tool calls it should make.
        expected_tool_use: List<'a, OldToolUse<'a>> = "expected_tool_use" | "expectedToolUse" default;
        /// What sub-agents should say.
        expected_intermediate_agent_responses: List<'a, OldResponse<'a>> =
            "expected_intermediate_agent_responses" | "expectedIntermediateAgentResponses" default;
    } rule calls_are_read
}

/// Rejects names that other forms have for the tool calls: nothing would be expected of the agent.
fn calls_are_read(json: Json<'_>, _: &Warnings) -> Result<()> {
    let Some((key, value)) = unread(json, &is_tool_uses) else { return Ok(()) };
    Err(not_a_key(value, &key, "a turn of an old evalset", "expected_tool_use"))
}

record! {
    /// A tool call in an old form.
    pub struct OldToolUse<'a> called "a tool call of an old evalset" {
        /// The tool.
        tool_name: Cow<'a, str> = "tool_name" | "toolName";
        /// The arguments.
        tool_input: Option<Json<'a>> = "tool_input" | "toolInput" => Type::Object;
    }
}

record! {
    /// What a sub-agent said in an old form.
    pub struct OldResponse<'a> called "an intermediate response of an old evalset" {
        /// The agent.
        author: Cow<'a, str> = "author" | "author";
        /// What it said.
        text: Cow<'a, str> = "text" | "text";
    }
}

record! {
    /// One case in the newer of the old forms.
    pub struct NamedRows<'a> called "a case of an old evalset" {
        /// Its id.
        name: Cow<'a, str> = "name" | "name";
        /// The turns.
        data: List<'a, Row<'a>> = "data" | "data";
        /// How the session begins.
        initial_session: Option<SessionInput<'a>> = "initial_session" | "initialSession";
    }
}

/// Whether the first item of a list may belong to an old form. What is no object is left to its check.
pub(super) fn is_old(first: Json<'_>) -> bool {
    first.kind() != JsonKind::Object || ["query", "data"].iter().any(|key| first.get(key).is_some())
}

/// Converts an evalset in an old form to the current schema.
pub(super) async fn upgrade(
    mut document: Document<'_>,
    name: &str,
    warnings: &Warnings,
    repeated: RepeatedIds,
    pace: &Pace,
) -> Result<Document<'static>> {
    let named = document.root().items().next().is_some_and(|first| first.get("data").is_some());
    let ty = if named { <List<'_, NamedRows<'_>>>::TYPE } else { <List<'_, Row<'_>>>::TYPE };
    check_paced(&mut document, &ty, warnings, pace).await?;
    let root = document.root();
    if named {
        check_ids(&mut root.items().filter_map(|case| case.get("name")), repeated, warnings, pace).await?;
    }
    let mut out = Writer::new(Spelling::Snake);
    out.reserve(root.raw().len().saturating_mul(4).min(MAX_BYTES));
    let mut set = out.object();
    set.entry("eval_set_id", &name);
    set.entry("name", &name);
    let mut cases = set.begin_array("eval_cases");
    if named {
        for case in List::<NamedRows<'_>>::from_json(root).iter() {
            OldCase::from(case).write(cases.begin_item(), pace).await;
        }
    } else if root.items().next().is_some() {
        let case = OldCase { name: name.into(), rows: List::from_json(root), session: None };
        case.write(cases.begin_item(), pace).await;
    }
    cases.end();
    set.end();
    Document::rewritten(out.into_text(), pace).await
}

struct OldCase<'a> {
    name: Cow<'a, str>,
    rows: List<'a, Row<'a>>,
    session: Option<Json<'a>>,
}

struct OldTurn<'a>(usize, Row<'a>);

/// A content with one text part, and its role.
struct TextContent<'a>(Cow<'a, str>, &'static str);

impl<'a> From<NamedRows<'a>> for OldCase<'a> {
    fn from(case: NamedRows<'a>) -> Self {
        let says_something = |session: &SessionInput<'_>| {
            !session.app_name().is_empty() || !session.user_id().is_empty() || session.state().is_some()
        };
        let session = case.initial_session().filter(says_something).map(|session| session.0);
        Self { name: case.name(), rows: case.data(), session }
    }
}

impl OldCase<'_> {
    async fn write(&self, out: &mut Writer, pace: &Pace) {
        let mut case = out.object();
        case.entry("eval_id", &self.name);
        let mut turns = case.begin_array("conversation");
        for (at, row) in self.rows.iter().enumerate() {
            pace.count(turns.item(&OldTurn(at, row))).await;
        }
        turns.end();
        case.optional("session_input", &self.session);
        case.end();
    }
}

impl Write for OldTurn<'_> {
    fn write(&self, out: &mut Writer) {
        let Self(at, row) = self;
        let mut turn = out.object();
        turn.entry("invocation_id", &format!("turn-{}", at + 1));
        turn.entry("user_content", &TextContent(row.query(), "user"));
        turn.entry("final_response", &TextContent(row.reference().unwrap_or_default(), "model"));
        turn.entry("intermediate_data", &OldSteps(*row));
        turn.end();
    }
}

struct OldSteps<'a>(Row<'a>);

impl Write for OldSteps<'_> {
    fn write(&self, out: &mut Writer) {
        let mut steps = out.object();
        steps.entry("tool_uses", &self.0.expected_tool_use());
        steps.entry("intermediate_responses", &self.0.expected_intermediate_agent_responses());
        steps.end();
    }
}

impl Write for OldToolUse<'_> {
    fn write(&self, out: &mut Writer) {
        let mut call = out.object();
        call.entry("name", &self.tool_name());
        call.optional("args", &self.tool_input());
        call.end();
    }
}

impl Write for OldResponse<'_> {
    fn write(&self, out: &mut Writer) {
        out.raw("[");
        self.author().write(out);
        out.raw(",[{\"text\":");
        self.text().write(out);
        out.raw("}]]");
    }
}

impl Write for TextContent<'_> {
    fn write(&self, out: &mut Writer) {
        out.raw("{\"parts\":[{\"text\":");
        self.0.write(out);
        out.raw("}],\"role\":");
        self.1.write(out);
        out.raw("}");
    }
}
