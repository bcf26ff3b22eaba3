//! Conversations as text for prompts: responses, tool calls with their outputs, the agents' tools and
//! instructions, grounding metadata, whole dialogues. JSON values keep their tokens as written, without white
//! space between them.
//!
//! Where a text has several lines of different kinds, each line begins with fixed words of this project, and
//! all foreign text, names included, is written as JSON. So no foreign text can pass for another line.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::foundation::interner::Interner;
use crate::foundation::json::Json;
use crate::foundation::sort::groups;
use crate::foundation::write::{Raw, Spelling, Write, Writer, push_compact, quote};
use crate::model::config::either;
use crate::model::content::{Content, FunctionCall, FunctionResponse, Part};
use crate::model::invocation::{
    IntermediateData, IntermediateResponse, IntermediateSummary, Invocation, InvocationEvent, Turns,
};
use crate::model::shape::Record;

/// Stands for anything that a turn or an agent does not have.
pub(super) const NONE: &str = "(none)";

/// Why all turns but the last have no result.
pub(super) const ONLY_THE_LAST: &str = "the conversation is judged as a whole; the last turn has the result";

/// The response of a turn: the text of the final response, preceded by those of its events if a criterion
/// includes them.
pub(super) fn answer(turn: Invocation<'_>, with_intermediate: bool) -> String {
    let mut texts = String::new();
    let mut add = |text: &str| {
        if !text.is_empty() {
            line(&mut texts, &[text]);
        }
    };
    if with_intermediate {
        for event in events(turn) {
            add(&event.content().unwrap_or_default().text());
        }
        for response in intermediate_responses(turn) {
            for text in response.parts().iter().filter_map(Part::text) {
                add(&text);
            }
        }
    }
    add(&turn.final_text());
    texts
}

/// The tool calls of a turn with their outputs, one per line.
pub(super) fn steps(turn: Invocation<'_>) -> String {
    let mut calls = Vec::new();
    let mut open = Vec::new();
    match turn.intermediate_data() {
        Some(IntermediateData::Events(_)) => {
            for event in events(turn) {
                for part in event.content().unwrap_or_default().all_parts() {
                    calls.extend(part.function_call());
                    open.extend(part.function_response());
                }
            }
        }
        Some(IntermediateData::Summary(summary)) => {
            calls.extend(summary.tool_uses().unwrap_or_default().iter());
            open.extend(summary.tool_responses().iter());
        }
        None => {}
    }
    // A response belongs to the call with the same id, or the same name if neither has one. Reports pair them too, in
    // `pkg-template/src/turn-events.ts`; `tests/vectors/tool-outputs.json` holds both.
    let mut keys = Vec::with_capacity(open.len() + calls.len());
    keys.extend(open.iter().map(|response| key(response.id(), response.name())));
    keys.extend(calls.iter().map(|call| key(call.id(), call.name())));
    let groups = groups(&keys);
    let mut waiting = vec![VecDeque::new(); groups.len()];
    for (response, &group) in open.iter().zip(&groups) {
        if let Some(waiting) = waiting.get_mut(group) {
            waiting.push_back(*response);
        }
    }
    let mut text = String::new();
    for (call, &group) in calls.into_iter().zip(groups.iter().skip(open.len())) {
        line(&mut text, &["call: "]);
        push_call(&mut text, call);
        line(&mut text, &["output: "]);
        match waiting.get_mut(group).and_then(VecDeque::pop_front) {
            Some(response) => push_output(&mut text, response),
            None => text.push_str(NONE),
        }
    }
    text
}

/// The key that a call and its response share: the id, or the name if there is none.
type StepKey<'a> = (Option<Cow<'a, str>>, Option<Cow<'a, str>>);

fn key<'a>(id: Option<Cow<'a, str>>, name: Option<Cow<'a, str>>) -> StepKey<'a> {
    if id.is_some() { (id, None) } else { (None, name) }
}

fn push_call(text: &mut String, call: FunctionCall<'_>) {
    quote(&call.name().unwrap_or_default(), text);
    text.push(' ');
    push_compact(call.args().map_or("{}", Json::raw), text);
}

fn push_output(text: &mut String, response: FunctionResponse<'_>) {
    push_compact(response.response().map_or("{}", Json::raw), text);
}

/// The grounding metadata of a turn's events, one per line.
pub(super) fn grounding(events: &mut dyn Iterator<Item = InvocationEvent<'_>>) -> String {
    let mut text = String::new();
    for event in events {
        if let Some(metadata) = event.grounding_metadata() {
            line(&mut text, &[]);
            push_compact(metadata.raw(), &mut text);
        }
    }
    text
}

/// The events of a turn; none if they were not recorded.
pub(super) fn events(turn: Invocation<'_>) -> impl Iterator<Item = InvocationEvent<'_>> {
    turn.events().unwrap_or_default().iter()
}

/// The texts of sub-agents in a turn whose events were not recorded.
fn intermediate_responses(turn: Invocation<'_>) -> impl Iterator<Item = IntermediateResponse<'_>> {
    let summary = match turn.intermediate_data() {
        Some(IntermediateData::Summary(summary)) => summary,
        _ => IntermediateSummary::default(),
    };
    summary.intermediate_responses().iter()
}

/// An agent of the app.
struct Agent<'a> {
    name: Cow<'a, str>,
    instructions: Cow<'a, str>,
    tools: Option<Json<'a>>,
}

fn agents_in<'a>(turn: Invocation<'a>) -> impl Iterator<Item = Agent<'a>> {
    let details = turn.app_details().and_then(|app| either(app, ["agent_details", "agentDetails"]));
    details.unwrap_or(Json::NULL).entries().map(|(name, agent)| Agent {
        name,
        instructions: agent.get("instructions").and_then(Json::as_str).unwrap_or_default(),
        tools: either(agent, ["tool_declarations", "toolDeclarations"])
            .filter(|tools| tools.items().next().is_some()),
    })
}

/// The instructions of the agents, in the order in which the agents first appear.
pub(super) fn instructions(turns: &mut dyn Iterator<Item = Invocation<'_>>) -> String {
    described(turns, &|agent, text| {
        if !agent.instructions.is_empty() {
            line_about(text, "agent ", &agent.name);
            quote(&agent.instructions, text);
        }
    })
}

/// The tools of the agents.
pub(super) fn tools(turns: &mut dyn Iterator<Item = Invocation<'_>>) -> String {
    described(turns, &|agent, text| {
        if let Some(tools) = agent.tools {
            line_about(text, "agent ", &agent.name);
            push_compact(tools.raw(), text);
        }
    })
}

/// The instructions of the agents, each with its tools.
pub(super) fn agents(turns: &mut dyn Iterator<Item = Invocation<'_>>) -> String {
    described(turns, &|agent, text| {
        line_about(text, "agent ", &agent.name);
        quote(&agent.instructions, text);
        if let Some(tools) = agent.tools {
            line(text, &["tools: "]);
            push_compact(tools.raw(), text);
        }
    })
}

/// Describes each agent once: turns mostly repeat the agents of earlier turns.
fn described(
    turns: &mut dyn Iterator<Item = Invocation<'_>>,
    describe: &dyn Fn(&Agent<'_>, &mut String),
) -> String {
    let mut known = Interner::default();
    let mut all = String::new();
    for turn in turns {
        for agent in agents_in(turn) {
            let mut text = String::new();
            describe(&agent, &mut text);
            if !text.is_empty() && known.find(&text).is_none() {
                line(&mut all, &[&text]);
                known.intern(text.into());
            }
        }
    }
    all
}

/// The messages and events of all turns.
pub(super) fn whole_conversation_text(turns: Turns<'_>) -> String {
    let mut text = String::new();
    for (index, turn) in turns.iter().enumerate() {
        line(&mut text, &["Turn ", &(index as u64 + 1).to_string()]);
        speech(&mut text, "user", &turn.user_content().text());
        for event in events(turn) {
            event_line(&mut text, event);
        }
        for response in intermediate_responses(turn) {
            for words in response.parts().iter().filter_map(Part::text) {
                line_about(&mut text, "said by ", &response.author());
                quote(&words, &mut text);
            }
        }
        // With events, the tool calls are already listed among them.
        let steps = if turn.events().is_none() { steps(turn) } else { String::new() };
        if !steps.is_empty() {
            line(&mut text, &[&steps]);
        }
        speech(&mut text, "agent", &turn.final_text());
    }
    text
}

/// The messages of all turns, without their events.
pub(super) fn turns_text(turns: &mut dyn Iterator<Item = Invocation<'_>>) -> String {
    let mut text = String::new();
    for turn in turns {
        speech(&mut text, "user", &turn.user_content().text());
        speech(&mut text, "agent", &turn.final_text());
    }
    text
}

/// Adds a line for each part of an event: text, tool calls, tool outputs.
pub(super) fn event_line(text: &mut String, event: InvocationEvent<'_>) {
    let Some(content) = event.content() else { return };
    let author = event.author();
    let words = content.text();
    if !words.is_empty() {
        line_about(text, "said by ", &author);
        quote(&words, text);
    }
    for part in content.all_parts() {
        if let Some(call) = part.function_call() {
            line_about(text, "called by ", &author);
            push_call(text, call);
        }
        if let Some(response) = part.function_response() {
            line_about(text, "output of ", &response.name().unwrap_or_default());
            push_output(text, response);
        }
    }
}

/// Adds a message by the user or the agent.
fn speech(text: &mut String, speaker: &str, words: &str) {
    if !words.is_empty() {
        line(text, &[speaker, ": "]);
        quote(words, text);
    }
}

/// Begins a line about an agent or a tool.
fn line_about(text: &mut String, what: &str, name: &str) {
    line(text, &[what]);
    quote(name, text);
    text.push_str(": ");
}

/// Adds a line.
pub(super) fn line(text: &mut String, parts: &[&str]) {
    if !text.is_empty() {
        text.push('\n');
    }
    for part in parts {
        text.push_str(part);
    }
}

/// A conversation in the format of Vertex AI's evaluation service: agents by name, and turns with events.
pub(super) fn for_vertex(turns: Turns<'_>) -> String {
    let mut out = Writer::new(Spelling::Camel);
    let mut conversation = out.object();
    let mut agents = conversation.begin_object("agents");
    let mut known = Interner::default();
    for agent in turns.iter().flat_map(agents_in) {
        if known.find(&agent.name).is_some() {
            continue;
        }
        let mut entry = agents.begin_object(&agent.name);
        entry.entry("agentId", &agent.name);
        entry.entry("instruction", &agent.instructions);
        entry.optional("tools", &agent.tools);
        entry.end();
        known.intern(agent.name);
    }
    agents.end();
    let mut list = conversation.begin_array("turns");
    for (index, turn) in turns.iter().enumerate() {
        let mut entry = list.begin_item().object();
        entry.entry("turnIndex", &(index as u32));
        entry.entry("turnId", &turn.invocation_id());
        let mut all = entry.begin_array("events");
        all.item(&VertexEvent { author: "user".into(), content: Some(turn.user_content()) });
        for event in events(turn).filter(|event| event.content().is_some()) {
            all.item(&VertexEvent { author: event.author(), content: event.content() });
        }
        all.item(&VertexEvent { author: "agent".into(), content: turn.final_response() });
        all.end();
        entry.end();
    }
    list.end();
    conversation.end();
    out.into_text()
}

/// An event in the format of Vertex AI's evaluation service.
struct VertexEvent<'a> {
    author: Cow<'a, str>,
    content: Option<Content<'a>>,
}

impl Write for VertexEvent<'_> {
    fn write(&self, out: &mut Writer) {
        let content = self.content.map(|content| content.to_json(Spelling::Camel));
        let mut event = out.object();
        event.entry("author", &self.author);
        event.optional("content", &content.as_deref().map(Raw));
        event.end();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::foundation::json::Document;
    use crate::model::shape::{View, Warnings, check};

    /// `name#id`, or a name alone, as the fields of a call or an output.
    fn named(text: &Value) -> Value {
        match text.as_str().unwrap().split_once('#') {
            Some((name, id)) => json!({ "name": name, "id": id }),
            None => json!({ "name": text }),
        }
    }

    #[test]
    fn pairs_outputs_with_calls_as_the_package_does() {
        let cases: Vec<Value> =
            serde_json::from_str(include_str!("../../tests/vectors/tool-outputs.json")).unwrap();
        for case in cases {
            let list = |key: &str| case[key].as_array().unwrap().iter();
            let outputs: Vec<Value> = list("outputs")
                .enumerate()
                .map(|(index, output)| {
                    let mut output = named(output);
                    output["response"] = json!({ "output": index });
                    output
                })
                .collect();
            let turn = json!({ "user_content": {}, "intermediate_data": {
                "tool_uses": list("calls").map(named).collect::<Vec<_>>(),
                "tool_responses": outputs,
            } });
            let mut document = Document::from_bytes(turn.to_string().into_bytes()).unwrap();
            check(&mut document, &Invocation::TYPE, &Warnings::default()).unwrap();
            let text = steps(Invocation::from_json(document.root()));
            let shown = text.lines().filter_map(|line| line.strip_prefix("output: ")).map(str::to_owned);
            let pairs = if case["judged"].is_null() { list("pairs") } else { list("judged") };
            let expected = pairs.map(|pair| match pair.as_u64() {
                Some(index) => format!(r#"{{"output":{index}}}"#),
                None => NONE.to_owned(),
            });
            assert!(shown.eq(expected), "{case}: {text}");
        }
    }
}
