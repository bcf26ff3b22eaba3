//! The prompts for judges.
//!
//! A prompt is a [`Template`] in a file of this folder, named after its metric. Its variables are in
//! [`Prompt::needed`] and [`Prompt::optional`]; a user's template may have the same ones. Reply formats are
//! separate files in `format/`, because the readers in [`reply`](super::reply) depend on them:
//! `{{reply_format}}` inserts one into any template.
//!
//! | variable | value |
//! |---|---|
//! | `user_prompt` | the user's message |
//! | `response`, `reference` | the agent's response, and the expected one |
//! | `instructions`, `tools`, `agents` | the agents' instructions, their tools, or both |
//! | `steps` | tool calls with their outputs |
//! | `grounding` | grounding metadata |
//! | `conversation` | all turns with their events |
//! | `rubrics` | ids and texts, as [`list_rubrics`] writes them |
//! | `context`, `sentences` | what the agent knew; the sentences of its response |
//! | `conversation_plan`, `conversation_history`, `user_message` | a simulated user's goals, the turns so far, its next message |
//! | `persona`, `stop_signal` | how the simulated user behaves; what it says to end the conversation |
//! | `reply_format` | the format of the reply |
//!
//! # The fence
//!
//! The judged content was written by others, possibly in order to influence the judge. So [`Prompt::render`]
//! puts it into blocks that begin and end with a marker, and first explains these blocks to the judge
//! (`fence.txt`). The marker is a hash of everything that goes into the prompt, and occurs nowhere in it: no
//! text can end its own block, and the same question always gives the same prompt.

mod persona;
mod schema;
mod template;

pub use persona::{Behavior, DEFAULT_PERSONA, PERSONAS, custom_persona, persona};
pub(in crate::judge) use schema::{MOST_ENTRIES, entries_schema, rubric_keys};
pub use schema::{rubrics_schema, validations_schema};
pub use template::Template;

use std::borrow::Cow;

use super::digest::sha256;
use super::reply::scan::find;
use crate::foundation::error::Result;
use crate::foundation::write::quote;

/// A kind of question.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// The metric's name; the two prompts of `hallucinations_v1` add `_segmenter` and `_validator`.
    pub id: &'static str,
    /// What its replies are used for.
    pub purpose: Purpose,
    /// The template.
    pub text: &'static str,
    /// The value of `{{reply_format}}`.
    pub reply_format: &'static str,
    /// The variables that every template must have.
    pub needed: &'static [&'static str],
    /// The variables that a template may have.
    pub optional: &'static [&'static str],
    /// A JSON Schema of the reply, for providers that can enforce one. None if it depends on what is asked about:
    /// [`rubrics_schema`], [`validations_schema`].
    pub schema: Option<&'static str>,
    /// What a readable reply contains, in words for users.
    pub wanted: &'static str,
}

/// What the replies to a question are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A decision by majority.
    Verdict,
    /// Splitting a text into sentences.
    Segment,
    /// Checking sentences against a context.
    Validate,
    /// A score.
    Score,
}

impl Purpose {
    /// The name in JSON and JavaScript.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Segment => "segment",
            Self::Validate => "validate",
            Self::Score => "score",
        }
    }
}

/// The value of a variable.
#[derive(Clone, Copy, Debug)]
pub struct PromptValue<'v> {
    /// The variable.
    pub name: &'static str,
    /// The value.
    pub text: &'v str,
    /// Whether it is content to judge. All text that does not come from this project is.
    pub is_fenced: bool,
}

const FENCE: &str = include_str!("fence.txt");
const USER_FENCE: &str = include_str!("fence_user.txt");
const RUBRICS_FORMAT: &str = include_str!("format/rubrics.txt");
const SCORE_FORMAT: &str = include_str!("format/score.txt");

const RUBRICS_WANTED: &str = "the lines `ID:`, `Property:`, `Rationale:` and `Verdict:` for each rubric";
const SCORE_WANTED: &str = r#"`{"explanation": "…", "score": 1}`"#;

/// The prompt of `final_response_match_v2`. [`reply::final_response_match`](super::reply::final_response_match)
/// reads the reply.
pub static FINAL_RESPONSE_MATCH: Prompt = Prompt {
    id: "final_response_match_v2",
    purpose: Purpose::Verdict,
    text: include_str!("final_response_match_v2.txt"),
    reply_format: include_str!("format/match.txt"),
    needed: &["user_prompt", "reference", "response"],
    optional: &["reply_format"],
    schema: Some(schema::MATCH),
    wanted: r#"`{"is_the_agent_response_valid": "valid"}` or `"invalid"`"#,
};

/// The prompt of `rubric_based_final_response_quality_v1`. [`reply::rubrics`](super::reply::rubrics) reads the
/// reply.
pub static FINAL_RESPONSE_RUBRICS: Prompt = Prompt {
    id: "rubric_based_final_response_quality_v1",
    purpose: Purpose::Verdict,
    text: include_str!("rubric_based_final_response_quality_v1.txt"),
    reply_format: RUBRICS_FORMAT,
    needed: &["user_prompt", "response", "rubrics"],
    optional: &["instructions", "tools", "steps", "grounding", "reply_format"],
    schema: None,
    wanted: RUBRICS_WANTED,
};

/// The prompt of `rubric_based_tool_use_quality_v1`. [`reply::rubrics`](super::reply::rubrics) reads the reply.
pub static TOOL_USE_RUBRICS: Prompt = Prompt {
    id: "rubric_based_tool_use_quality_v1",
    purpose: Purpose::Verdict,
    text: include_str!("rubric_based_tool_use_quality_v1.txt"),
    reply_format: RUBRICS_FORMAT,
    needed: &["user_prompt", "steps", "rubrics"],
    optional: &["tools", "reply_format"],
    schema: None,
    wanted: RUBRICS_WANTED,
};

/// The prompt of `rubric_based_multi_turn_trajectory_quality_v1`. [`reply::rubrics`](super::reply::rubrics)
/// reads the reply.
pub static TRAJECTORY_RUBRICS: Prompt = Prompt {
    id: "rubric_based_multi_turn_trajectory_quality_v1",
    purpose: Purpose::Verdict,
    text: include_str!("rubric_based_multi_turn_trajectory_quality_v1.txt"),
    reply_format: RUBRICS_FORMAT,
    needed: &["conversation", "rubrics"],
    optional: &["instructions", "tools", "reply_format"],
    schema: None,
    wanted: RUBRICS_WANTED,
};

/// The first prompt of `hallucinations_v1`. [`reply::sentences`](super::reply::sentences) reads the reply.
pub static SEGMENTER: Prompt = Prompt {
    id: "hallucinations_v1_segmenter",
    purpose: Purpose::Segment,
    text: include_str!("hallucinations_v1_segmenter.txt"),
    reply_format: include_str!("format/segment.txt"),
    needed: &["response"],
    optional: &["reply_format"],
    schema: Some(schema::SENTENCES),
    wanted: "`<sentence>…</sentence>` for each sentence",
};

/// The second prompt of `hallucinations_v1`. [`reply::validations`](super::reply::validations) reads the reply.
pub static VALIDATOR: Prompt = Prompt {
    id: "hallucinations_v1_validator",
    purpose: Purpose::Validate,
    text: include_str!("hallucinations_v1_validator.txt"),
    reply_format: include_str!("format/validate.txt"),
    needed: &["context", "sentences"],
    optional: &["reply_format"],
    schema: None,
    wanted: "the lines `sentence:`, `label:` and `rationale:` for each sentence",
};

/// The prompt of `per_turn_user_simulator_quality_v1`. [`reply::turn_validity`](super::reply::turn_validity)
/// reads the reply.
pub static USER_TURN: Prompt = Prompt {
    id: "per_turn_user_simulator_quality_v1",
    purpose: Purpose::Verdict,
    text: include_str!("per_turn_user_simulator_quality_v1.txt"),
    reply_format: include_str!("format/turn.txt"),
    needed: &["conversation_plan", "conversation_history", "user_message"],
    optional: &["persona", "stop_signal", "reply_format"],
    schema: Some(schema::TURN),
    wanted: r#"`{"is_valid": "valid"}` or `"invalid"`"#,
};

/// The prompt of `safety_v1`: 0 or 1. [`reply::score`](super::reply::score) reads the reply.
pub static SAFETY: Prompt = Prompt {
    id: "safety_v1",
    purpose: Purpose::Score,
    text: include_str!("safety_v1.txt"),
    reply_format: SCORE_FORMAT,
    needed: &["response"],
    optional: &["user_prompt", "reply_format"],
    schema: Some(schema::YES_OR_NO),
    wanted: SCORE_WANTED,
};

/// The prompt of `response_evaluation_score`: 1 to 5. [`reply::score`](super::reply::score) reads the reply.
pub static COHERENCE: Prompt = Prompt {
    id: "response_evaluation_score",
    purpose: Purpose::Score,
    text: include_str!("response_evaluation_score.txt"),
    reply_format: SCORE_FORMAT,
    needed: &["user_prompt", "response"],
    optional: &["reference", "reply_format"],
    schema: Some(schema::GRADE),
    wanted: SCORE_WANTED,
};

/// The prompt of `multi_turn_task_success_v1`: 0 to 1. [`reply::score`](super::reply::score) reads the reply.
pub static TASK_SUCCESS: Prompt =
    over_conversation("multi_turn_task_success_v1", include_str!("multi_turn_task_success_v1.txt"));

/// The prompt of `multi_turn_trajectory_quality_v1`: 0 to 1. [`reply::score`](super::reply::score) reads the
/// reply.
pub static TRAJECTORY_QUALITY: Prompt = over_conversation(
    "multi_turn_trajectory_quality_v1",
    include_str!("multi_turn_trajectory_quality_v1.txt"),
);

/// The prompt of `multi_turn_tool_use_quality_v1`: 0 to 1. [`reply::score`](super::reply::score) reads the
/// reply.
pub static TOOL_USE_QUALITY: Prompt =
    over_conversation("multi_turn_tool_use_quality_v1", include_str!("multi_turn_tool_use_quality_v1.txt"));

/// Every prompt.
pub static ALL: [&Prompt; 12] = [
    &FINAL_RESPONSE_MATCH,
    &FINAL_RESPONSE_RUBRICS,
    &TOOL_USE_RUBRICS,
    &TRAJECTORY_RUBRICS,
    &SEGMENTER,
    &VALIDATOR,
    &USER_TURN,
    &SAFETY,
    &COHERENCE,
    &TASK_SUCCESS,
    &TRAJECTORY_QUALITY,
    &TOOL_USE_QUALITY,
];

const fn over_conversation(id: &'static str, text: &'static str) -> Prompt {
    Prompt {
        id,
        purpose: Purpose::Score,
        text,
        reply_format: SCORE_FORMAT,
        needed: &["conversation"],
        optional: &["agents", "reply_format"],
        schema: Some(schema::SHARE),
        wanted: SCORE_WANTED,
    }
}

impl Prompt {
    /// Whether it shows a whole conversation, so that it is asked once instead of for each turn.
    #[must_use]
    pub fn shows_conversation(&self) -> bool {
        self.needed.contains(&"conversation")
    }

    /// Whether it belongs to a metric.
    #[must_use]
    pub fn belongs_to(&self, metric: &str) -> bool {
        self.id.strip_prefix(metric).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }

    /// The project's own template.
    #[must_use]
    pub fn template(&self) -> Template<'static> {
        Template::scan(self.text.into())
    }

    /// A user's template for this prompt.
    ///
    /// # Errors
    /// As [`Template::parse`], for this prompt's variables; the path names the prompt.
    pub fn replaced_by<'t>(&self, text: impl Into<Cow<'t, str>>) -> Result<Template<'t>> {
        let template = Template::parse(text, self.needed, self.optional);
        template.map_err(|error| error.at_path(["prompts: ", self.id].concat()))
    }

    /// Renders the prompt for a judge: the template with its values, fenced ones in blocks. Variables without a
    /// value become `(none)`.
    ///
    /// O(n) in the length of the prompt.
    ///
    /// ```
    /// use adk_metrics::judge::prompt::{SEGMENTER, PromptValue};
    ///
    /// let template = SEGMENTER.replaced_by("Split this: {{response}}").unwrap();
    /// let prompt = SEGMENTER.render(
    ///     &template,
    ///     &[PromptValue { name: "response", text: "It rains. It pours.", is_fenced: true }],
    /// );
    /// assert!(prompt.contains(" name=\"response\">\nIt rains. It pours.\n</data-"));
    /// ```
    #[must_use]
    pub fn render(&self, template: &Template<'_>, values: &[PromptValue<'_>]) -> String {
        let marker = marker(template, values);
        let mut out = String::new();
        Template::scan(FENCE.into()).fill(&mut out, &mut |_, out| out.push_str(&marker));
        out.push('\n');
        template.fill(&mut out, &mut |name, out| {
            let value = values.iter().find(|value| value.name == name);
            match value {
                Some(PromptValue { text, is_fenced: true, .. }) => push_block(out, &marker, name, text),
                Some(value) => out.push_str(value.text),
                None if name == "reply_format" => out.push_str(self.reply_format.trim_end()),
                None => out.push_str("(none)"),
            }
        });
        out
    }
}

/// Renders the prompt for a model that plays the user: a template with its values, fenced ones in blocks. Text
/// in double braces that has no value stays as it is.
///
/// O(n) in the length of the prompt.
///
/// ```
/// use adk_metrics::judge::prompt::{PromptValue, simulated_user};
///
/// let history = PromptValue { name: "conversation_history", text: "agent: \"Hello!\"", is_fenced: true };
/// let prompt = simulated_user("So far:\n{{ conversation_history }}", &[history]);
/// assert!(prompt.contains(" name=\"conversation_history\">\nagent: \"Hello!\"\n</data-"));
/// ```
#[must_use]
pub fn simulated_user(template: &str, values: &[PromptValue<'_>]) -> String {
    let template = Template::scan(template.into());
    let marker = marker(&template, values);
    let mut out = String::new();
    Template::scan(USER_FENCE.into()).fill(&mut out, &mut |_, out| out.push_str(&marker));
    out.push('\n');
    template.fill(&mut out, &mut |name, out| match values.iter().find(|value| value.name == name) {
        Some(PromptValue { text, is_fenced: true, .. }) => push_block(out, &marker, name, text),
        Some(value) => out.push_str(value.text),
        None => push_all(out, &["{{", name, "}}"]),
    });
    out
}

fn push_block(out: &mut String, marker: &str, name: &str, text: &str) {
    push_all(out, &["<data-", marker, " name=\"", name, "\">\n"]);
    push_all(out, &[text, "\n</data-", marker, ">"]);
}

/// A marker of 16 hexadecimal digits that depends on all inputs and occurs in none of them.
fn marker(template: &Template<'_>, values: &[PromptValue<'_>]) -> String {
    let mut all = template.text().to_owned();
    for value in values {
        push_all(&mut all, &["\0", value.name, "\0", value.text]);
    }
    loop {
        let marker = short_hash(&all);
        if find(&all, &marker, 0).is_none() {
            return marker;
        }
        all.push('\0');
    }
}

/// The first 16 hexadecimal digits of a string's SHA-256.
fn short_hash(text: &str) -> String {
    let mut hash = sha256(text);
    hash.truncate(16);
    hash
}

/// Appends strings. A single function keeps the code small: there are many callers, and none is hot.
pub(crate) fn push_all(out: &mut String, parts: &[&str]) {
    for part in parts {
        out.push_str(part);
    }
}

/// Writes rubrics, given as pairs of id and text, for `{{rubrics}}`: one JSON object per line, so that no text
/// can pass for another rubric.
///
/// ```
/// use adk_metrics::judge::prompt::list_rubrics;
///
/// assert_eq!(list_rubrics(&[("tone", "Is polite.")]), r#"{"id": "tone", "property": "Is polite."}"#);
/// ```
#[must_use]
pub fn list_rubrics(rubrics: &[(&str, &str)]) -> String {
    let mut list = String::new();
    for (id, text) in rubrics {
        if !list.is_empty() {
            list.push('\n');
        }
        list.push_str("{\"id\": ");
        quote(id, &mut list);
        list.push_str(", \"property\": ");
        quote(text, &mut list);
        list.push('}');
    }
    list
}
