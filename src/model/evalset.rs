//! Evalsets: the cases that an agent is evaluated on. The two old forms are converted by `old_evalset`.

use std::borrow::Cow;

use super::config::either;
use super::forms::{other_file, other_item};
use super::invocation::{Invocation, Rubric, Turns};
use super::old_evalset::{is_old, upgrade};
use super::shape::{List, Type, View, Warnings, check_paced, no_key, record, unread};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::interner::Interner;
use crate::foundation::json::{Document, Json, JsonKind};
use crate::foundation::pace::{Pace, at_once};
use crate::foundation::write::quoted;

/// The work of one pass over a case, in units of [`Pace`].
pub(crate) const UNITS_PER_CASE: usize = 64;

record! {
    /// A set of cases to evaluate an agent on.
    pub struct EvalSet<'a> called "an evalset" {
        /// Identifies the set.
        eval_set_id: Cow<'a, str> = "eval_set_id" | "evalSetId";
        /// Its name.
        name: Option<Cow<'a, str>> = "name" | "name";
        /// What it is about.
        description: Option<Cow<'a, str>> = "description" | "description";
        /// The cases.
        eval_cases: List<'a, EvalCase<'a>> = "eval_cases" | "evalCases";
        /// When it was made, in seconds since 1970.
        creation_timestamp: f64 = "creation_timestamp" | "creationTimestamp" default;
    }
}

record! {
    /// One conversation, or the scenario of one.
    pub struct EvalCase<'a> called "an eval case" {
        /// Identifies the case within its set. The agent's runs name their case by this id.
        eval_id: Cow<'a, str> = "eval_id" | "evalId";
        /// The turns, with what the agent is expected to do. A case has either this or a scenario.
        conversation: Option<List<'a, Invocation<'a>>> = "conversation" | "conversation";
        /// The scenario that a simulated user follows.
        conversation_scenario: Option<ConversationScenario<'a>> = "conversation_scenario" | "conversationScenario";
        /// How the session begins.
        session_input: Option<SessionInput<'a>> = "session_input" | "sessionInput";
        /// When it was made, in seconds since 1970.
        creation_timestamp: f64 = "creation_timestamp" | "creationTimestamp" default;
        /// Rubrics for every turn.
        rubrics: Option<List<'a, Rubric<'a>>> = "rubrics" | "rubrics";
        /// The expected session state after the conversation.
        final_session_state: Option<Json<'a>> = "final_session_state" | "finalSessionState" => Type::Object;
    } unknown_keys Kept rule one_kind_of_conversation
}

record! {
    /// A conversation to simulate.
    pub struct ConversationScenario<'a> called "a conversation scenario" {
        /// What the simulated user says first.
        starting_prompt: Cow<'a, str> = "starting_prompt" | "startingPrompt";
        /// What the simulated user wants, in words.
        conversation_plan: Cow<'a, str> = "conversation_plan" | "conversationPlan";
        /// Who the simulated user is: the id of a persona (`EXPERT`, `NOVICE`, `EVALUATOR`), or a persona as an object.
        user_persona: Option<Json<'a>> = "user_persona" | "userPersona" => PERSONA;
    }
}

record! {
    /// How the session of a case begins.
    pub struct SessionInput<'a> called "a session input" {
        /// The app.
        app_name: Cow<'a, str> = "app_name" | "appName" default;
        /// The user.
        user_id: Cow<'a, str> = "user_id" | "userId" default;
        /// A fixed session id.
        session_id: Option<Cow<'a, str>> = "session_id" | "sessionId";
        /// The state.
        state: Option<Json<'a>> = "state" | "state" => Type::Object;
    } unknown_keys Kept
}

/// The id of a persona, or a persona as an object.
const PERSONA: Type = Type::IdOr(&Persona::SHAPE);

record! {
    /// Who a simulated user is.
    pub struct Persona<'a> called "a persona" {
        /// Its id.
        id: Option<Cow<'a, str>> = "id" | "id";
        /// Who the user is, in words.
        description: Option<Cow<'a, str>> = "description" | "description";
        /// How the user behaves.
        behaviors: Option<List<'a, PersonaBehavior<'a>>> = "behaviors" | "behaviors";
    } unknown_keys Unread
}

record! {
    /// How a persona behaves in one respect.
    pub struct PersonaBehavior<'a> called "a behavior of a persona" {
        /// Its name.
        name: Option<Cow<'a, str>> = "name" | "name";
        /// What it is about.
        description: Option<Cow<'a, str>> = "description" | "description";
        /// What the user does.
        behavior_instructions: Option<List<'a, Cow<'a, str>>> = "behavior_instructions" | "behaviorInstructions";
        /// What a message of such a user does not do.
        violation_rubrics: Option<List<'a, Cow<'a, str>>> = "violation_rubrics" | "violationRubrics";
    } unknown_keys Unread
}

/// Keys of a turn. A case with these keys would expect nothing of its turns, so everything would pass.
const TURN_KEYS: [&str; 10] = [
    "user_content",
    "userContent",
    "final_response",
    "finalResponse",
    "intermediate_data",
    "intermediateData",
    "tool_uses",
    "toolUses",
    "expected_tool_use",
    "expectedToolUse",
];

fn one_kind_of_conversation(json: Json<'_>, _: &Warnings) -> Result<()> {
    let case = EvalCase::from_json(json);
    if let Some((key, value)) = unread(json, &|key| TURN_KEYS.contains(&key)) {
        let error = value.error(ErrorCode::InvalidInput, no_key(&key, "an eval case"));
        return Err(error.with_help("It belongs in a turn, an item of `conversation`"));
    }
    let problem = match (case.conversation(), case.conversation_scenario()) {
        (Some(_), Some(_)) => "both are",
        (None, None) => "neither is",
        _ => return Ok(()),
    };
    let message = format!(
        "an eval case has either `conversation` or `conversation_scenario`; in {} {problem} there",
        quoted(&case.eval_id())
    );
    let error = json.error(ErrorCode::InvalidInput, message);
    let other = ["messages", "turns"].into_iter().find(|key| json.get(key).is_some());
    Err(match other {
        Some(other) => error.with_help(format!(
            "`{other}` is not read: the turns of a case belong in `conversation`, each with its `user_content`"
        )),
        None => error,
    })
}

impl<'a> EvalCase<'a> {
    /// The turns with what the agent is expected to do; `None` if the case is a scenario.
    #[must_use]
    pub fn turns(self) -> Option<Turns<'a>> {
        self.conversation().map(Turns::from)
    }
}

const WHAT_IT_IS: &str = "an evalset: an object with `eval_cases`, or a list in an old form";

/// A file with an evalset, in any form.
pub struct EvalSetFile<'t> {
    pub(super) document: Document<'t>,
    /// Whether the positions in the document are those in the file.
    pub in_place: bool,
}

impl<'t> EvalSetFile<'t> {
    /// Reads an evalset in any of its forms, in which every case has a unique id. `name` is the id of an evalset in an old
    /// form, which has none.
    ///
    /// # Errors
    /// `invalid_input` with the path and line of what does not fit.
    pub fn read(document: Document<'t>, name: &str, warnings: &Warnings) -> Result<Self> {
        at_once(Self::read_paced(document, name, warnings, &Pace::unbroken()))
    }

    /// As [`EvalSetFile::read`], in slices.
    ///
    /// # Errors
    /// As [`EvalSetFile::read`].
    pub async fn read_paced(
        document: Document<'t>,
        name: &str,
        warnings: &Warnings,
        pace: &Pace,
    ) -> Result<Self> {
        let file = Self::read_with(document, name, warnings, RepeatedIds::Error, pace).await?;
        if file.set().eval_cases().is_empty() {
            warnings.add(file.document.root(), "the evalset has no cases: there is nothing to score".into());
        }
        Ok(file)
    }

    /// Reads an evalset of what an agent did, in which a repeated id denotes another run of its case.
    ///
    /// # Errors
    /// `invalid_input` with the path and line of what does not fit.
    pub fn read_runs(document: Document<'t>, name: &str, warnings: &Warnings) -> Result<Self> {
        at_once(Self::read_with(document, name, warnings, RepeatedIds::Runs, &Pace::unbroken()))
    }

    pub(super) async fn read_with(
        document: Document<'t>,
        name: &str,
        warnings: &Warnings,
        repeated: RepeatedIds,
        pace: &Pace,
    ) -> Result<Self> {
        let (mut document, unwrapped) = document.unwrapped_paced(pace).await?;
        match document.root().kind() {
            JsonKind::Object => {
                let root = document.root();
                if either(root, ["eval_cases", "evalCases"]).is_none()
                    && let Some(error) = other_file(root, WHAT_IT_IS)
                {
                    return Err(error);
                }
                check_paced(&mut document, &EvalSet::TYPE, warnings, pace).await?;
                let cases = EvalSet::from_json(document.root()).eval_cases();
                let mut ids = cases.iter().filter_map(|case| either(case.0, ["eval_id", "evalId"]));
                check_ids(&mut ids, repeated, warnings, pace).await?;
                drop(ids);
                Ok(Self { document, in_place: !unwrapped })
            }
            JsonKind::Array => {
                if let Some(first) = document.root().items().next().filter(|first| !is_old(*first))
                    && let Some(error) = other_item(first, WHAT_IT_IS)
                {
                    return Err(error);
                }
                let mut document = upgrade(document, name, warnings, repeated, pace).await?;
                check_paced(&mut document, &EvalSet::TYPE, warnings, pace).await?;
                Ok(Self { document, in_place: false })
            }
            _ => Err(document.root().expected(WHAT_IT_IS)),
        }
    }

    /// The evalset.
    #[must_use]
    pub fn set(&self) -> EvalSet<'_> {
        EvalSet::from_json(self.document.root())
    }
}

/// Warns of a blank id, which reports replace.
fn warn_of_blank(id: Json<'_>, warnings: &Warnings) {
    if id.as_str().is_some_and(|id| id.trim().is_empty()) {
        let message = "the case has an empty eval id; reports call it `(no id)`";
        warnings.add_with_help(id, message.into(), "Give it a visible id".into());
    }
}

/// What a repeated case id means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RepeatedIds {
    /// A mistake.
    Error,
    /// Another run of the same case.
    Runs,
}

/// Checks the ids of all cases.
pub(super) async fn check_ids(
    ids: &mut dyn Iterator<Item = Json<'_>>,
    repeated: RepeatedIds,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<()> {
    let mut numbers = Interner::default();
    let mut first_uses = Vec::new();
    for json in ids {
        pace.count(UNITS_PER_CASE).await;
        warn_of_blank(json, warnings);
        if repeated == RepeatedIds::Runs {
            continue;
        }
        let Some(id) = json.as_str() else { continue };
        let number = numbers.intern(id.clone());
        match first_uses.get(number) {
            None => first_uses.push(json),
            Some(first) => return Err(duplicate_id(&id, *first, json)),
        }
    }
    Ok(())
}

#[cold]
fn duplicate_id(id: &str, first: Json<'_>, second: Json<'_>) -> Error {
    let (id, path, line) = (quoted(id), first.path(), first.line());
    second
        .error(ErrorCode::InvalidInput, format!("the eval id {id} is already used at {path} (line {line})"))
        .with_help("Give each case an id of its own: what the agent did belongs to cases by their ids")
}
