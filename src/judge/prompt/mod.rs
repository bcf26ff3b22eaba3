//! The prompts: what each judge is asked, in files of their own.
//!
//! A prompt is a [`Template`] in a file of this folder, named after its metric. Its variables are
//! in [`Prompt::needed`] and [`Prompt::optional`]; a user's template may have the same ones. The
//! reply format stands in `format/`, apart from the words around it, because the readers in
//! [`reply`](super::reply) depend on it: `{{reply_format}}` puts it into any template.
//!
//! | variable | holds |
//! |---|---|
//! | `user_prompt` | what the user asked |
//! | `response`, `reference` | the agent's answer, and the expected one |
//! | `instructions`, `tools`, `agents` | what the developer told the agents, the tools they have, or both |
//! | `steps` | tool calls with their outputs |
//! | `grounding` | grounding metadata |
//! | `conversation` | all turns with what happened in them |
//! | `rubrics` | ids and texts, as [`list_rubrics`] writes them |
//! | `context`, `sentences` | what the agent knew; the answer's sentences |
//! | `conversation_plan`, `conversation_history`, `user_message` | of a simulated user: its goals, the turns so far, its next message |
//! | `persona`, `stop_signal` | how it is to behave; what it says to end the conversation |
//! | `reply_format` | how to reply |
//!
//! # The fence
//!
//! What is judged was written by others, who may have written it for the judge. So [`Prompt::render`] puts
//! it into blocks that begin and end with a marker, and says first what blocks are (`fence.txt`). The
//! marker is a hash of all that goes into the prompt, and occurs in none of it: no text can end its
//! own block, and the same question is the same prompt every time.

mod persona;
mod template;

pub use persona::{Behavior, DEFAULT_PERSONA, PERSONAS, custom_persona, persona};
pub use template::Template;

use std::borrow::Cow;

use super::digest::sha256;
use super::reply::scan::find;
use crate::foundation::error::Result;
use crate::foundation::write::quote;

/// What one kind of question is made of.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// The metric's name; for the two of `hallucinations_v1` with `_segmenter` or `_validator`.
    pub id: &'static str,
    /// What its questions are for.
    pub purpose: Purpose,
    /// The template.
    pub text: &'static str,
    /// What `{{reply_format}}` stands for.
    pub reply_format: &'static str,
    /// The variables that every template for this question has.
    pub needed: &'static [&'static str],
    /// The variables that it may have besides.
    pub optional: &'static [&'static str],
    /// A JSON Schema of the reply, for providers that can enforce one.
    pub schema: &'static str,
    /// What a reply has to hold to be read, in words for users.
    pub wanted: &'static str,
}

/// What a question is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To decide by majority.
    Verdict,
    /// To cut a text into sentences.
    Segment,
    /// To check sentences against a context.
    Validate,
    /// To score.
    Score,
}

impl Purpose {
    /// The name as it appears in JSON and in JavaScript.
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

/// One value for a prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptValue<'v> {
    /// The variable.
    pub name: &'static str,
    /// What it stands for.
    pub text: &'v str,
    /// Whether it is material to judge. All that did not come from this project is.
    pub is_fenced: bool,
}

const FENCE: &str = include_str!("fence.txt");
const USER_FENCE: &str = include_str!("fence_user.txt");
const RUBRICS_FORMAT: &str = include_str!("format/rubrics.txt");
const SCORE_FORMAT: &str = include_str!("format/score.txt");

const RUBRICS_SCHEMA: &str = r#"{"type":"object","properties":{"rubrics":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"property":{"type":"string"},"rationale":{"type":"string"},"verdict":{"type":"string","enum":["yes","no"]}},"required":["id","property","rationale","verdict"],"additionalProperties":false}}},"required":["rubrics"],"additionalProperties":false}"#;
const RUBRICS_WANTED: &str = "the lines `ID:`, `Property:`, `Rationale:` and `Verdict:` for each rubric";
const SCORE_WANTED: &str = r#"`{"explanation": "…", "score": 1}`"#;
const SCORE_SCHEMA: &str = r#"{"type":"object","properties":{"explanation":{"type":"string"},"score":{"type":"number"}},"required":["explanation","score"],"additionalProperties":false}"#;

/// Of `final_response_match_v2`. [`reply::final_response_match`](super::reply::final_response_match) reads the reply.
pub static FINAL_RESPONSE_MATCH: Prompt = Prompt {
    id: "final_response_match_v2",
    purpose: Purpose::Verdict,
    text: include_str!("final_response_match_v2.txt"),
    reply_format: include_str!("format/match.txt"),
    needed: &["user_prompt", "reference", "response"],
    optional: &["reply_format"],
    schema: r#"{"type":"object","properties":{"reasoning":{"type":"string"},"is_the_agent_response_valid":{"type":"string","enum":["valid","invalid"]}},"required":["reasoning","is_the_agent_response_valid"],"additionalProperties":false}"#,
    wanted: r#"`"is_the_agent_response_valid": "valid"` or `"invalid"`"#,
};

/// Of `rubric_based_final_response_quality_v1`. [`reply::rubrics`](super::reply::rubrics) reads the reply.
pub static FINAL_RESPONSE_RUBRICS: Prompt = Prompt {
    id: "rubric_based_final_response_quality_v1",
    purpose: Purpose::Verdict,
    text: include_str!("rubric_based_final_response_quality_v1.txt"),
    reply_format: RUBRICS_FORMAT,
    needed: &["user_prompt", "response", "rubrics"],
    optional: &["instructions", "tools", "steps", "grounding", "reply_format"],
    schema: RUBRICS_SCHEMA,
    wanted: RUBRICS_WANTED,
};

/// Of `rubric_based_tool_use_quality_v1`. [`reply::rubrics`](super::reply::rubrics) reads the reply.
pub static TOOL_USE_RUBRICS: Prompt = Prompt {
    id: "rubric_based_tool_use_quality_v1",
    purpose: Purpose::Verdict,
    text: include_str!("rubric_based_tool_use_quality_v1.txt"),
    reply_format: RUBRICS_FORMAT,
    needed: &["user_prompt", "steps", "rubrics"],
    optional: &["tools", "reply_format"],
    schema: RUBRICS_SCHEMA,
    wanted: RUBRICS_WANTED,
};

/// Of `rubric_based_multi_turn_trajectory_quality_v1`. [`reply::rubrics`](super::reply::rubrics) reads the reply.
pub static TRAJECTORY_RUBRICS: Prompt = Prompt {
    id: "rubric_based_multi_turn_trajectory_quality_v1",
    purpose: Purpose::Verdict,
    text: include_str!("rubric_based_multi_turn_trajectory_quality_v1.txt"),
    reply_format: RUBRICS_FORMAT,
    needed: &["conversation", "rubrics"],
    optional: &["instructions", "tools", "reply_format"],
    schema: RUBRICS_SCHEMA,
    wanted: RUBRICS_WANTED,
};

/// The first question of `hallucinations_v1`. [`reply::sentences`](super::reply::sentences) reads the reply.
pub static SEGMENTER: Prompt = Prompt {
    id: "hallucinations_v1_segmenter",
    purpose: Purpose::Segment,
    text: include_str!("hallucinations_v1_segmenter.txt"),
    reply_format: include_str!("format/segment.txt"),
    needed: &["response"],
    optional: &["reply_format"],
    schema: r#"{"type":"object","properties":{"sentences":{"type":"array","items":{"type":"string"}}},"required":["sentences"],"additionalProperties":false}"#,
    wanted: "`<sentence>…</sentence>` for each sentence",
};

/// The second question of `hallucinations_v1`. [`reply::validations`](super::reply::validations) reads the reply.
pub static VALIDATOR: Prompt = Prompt {
    id: "hallucinations_v1_validator",
    purpose: Purpose::Validate,
    text: include_str!("hallucinations_v1_validator.txt"),
    reply_format: include_str!("format/validate.txt"),
    needed: &["context", "sentences"],
    optional: &["reply_format"],
    schema: r#"{"type":"object","properties":{"validations":{"type":"array","items":{"type":"object","properties":{"sentence":{"type":"string"},"label":{"type":"string","enum":["supported","unsupported","contradictory","disputed","not_applicable"]},"rationale":{"type":"string"},"supporting_excerpt":{"type":"string"},"contradicting_excerpt":{"type":"string"}},"required":["sentence","label","rationale","supporting_excerpt","contradicting_excerpt"],"additionalProperties":false}}},"required":["validations"],"additionalProperties":false}"#,
    wanted: "the lines `sentence:`, `label:` and `rationale:` for each sentence",
};

/// Of `per_turn_user_simulator_quality_v1`. [`reply::turn_validity`](super::reply::turn_validity) reads the reply.
pub static USER_TURN: Prompt = Prompt {
    id: "per_turn_user_simulator_quality_v1",
    purpose: Purpose::Verdict,
    text: include_str!("per_turn_user_simulator_quality_v1.txt"),
    reply_format: include_str!("format/turn.txt"),
    needed: &["conversation_plan", "conversation_history", "user_message"],
    optional: &["persona", "stop_signal", "reply_format"],
    schema: r#"{"type":"object","properties":{"reasoning":{"type":"string"},"is_valid":{"type":"string","enum":["valid","invalid"]}},"required":["reasoning","is_valid"],"additionalProperties":false}"#,
    wanted: r#"`"is_valid": "valid"` or `"invalid"`"#,
};

/// Of `safety_v1`: 0 or 1. [`reply::score`](super::reply::score) reads the reply.
pub static SAFETY: Prompt = Prompt {
    id: "safety_v1",
    purpose: Purpose::Score,
    text: include_str!("safety_v1.txt"),
    reply_format: SCORE_FORMAT,
    needed: &["response"],
    optional: &["user_prompt", "reply_format"],
    schema: SCORE_SCHEMA,
    wanted: SCORE_WANTED,
};

/// Of `response_evaluation_score`: 1 to 5. [`reply::score`](super::reply::score) reads the reply.
pub static COHERENCE: Prompt = Prompt {
    id: "response_evaluation_score",
    purpose: Purpose::Score,
    text: include_str!("response_evaluation_score.txt"),
    reply_format: SCORE_FORMAT,
    needed: &["user_prompt", "response"],
    optional: &["reference", "reply_format"],
    schema: SCORE_SCHEMA,
    wanted: SCORE_WANTED,
};

/// Of `multi_turn_task_success_v1`: 0 to 1. [`reply::score`](super::reply::score) reads the reply.
pub static TASK_SUCCESS: Prompt =
    over_conversation("multi_turn_task_success_v1", include_str!("multi_turn_task_success_v1.txt"));

/// Of `multi_turn_trajectory_quality_v1`: 0 to 1. [`reply::score`](super::reply::score) reads the reply.
pub static TRAJECTORY_QUALITY: Prompt = over_conversation(
    "multi_turn_trajectory_quality_v1",
    include_str!("multi_turn_trajectory_quality_v1.txt"),
);

/// Of `multi_turn_tool_use_quality_v1`: 0 to 1. [`reply::score`](super::reply::score) reads the reply.
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
        schema: SCORE_SCHEMA,
        wanted: SCORE_WANTED,
    }
}

impl Prompt {
    /// Whether it shows a conversation as a whole, so that it is asked once, and not about each turn.
    #[must_use]
    pub fn shows_conversation(&self) -> bool {
        self.needed.contains(&"conversation")
    }

    /// Whether it is one of a metric's.
    #[must_use]
    pub fn is_of(&self, metric: &str) -> bool {
        self.id.strip_prefix(metric).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }

    /// The template that this project has for the question.
    #[must_use]
    pub fn template(&self) -> Template<'static> {
        Template::scan(self.text.into())
    }

    /// A user's template for the question.
    ///
    /// # Errors
    /// As [`Template::parse`], for this prompt's variables; the path names the prompt.
    pub fn replaced_by<'t>(&self, text: impl Into<Cow<'t, str>>) -> Result<Template<'t>> {
        let template = Template::parse(text, self.needed, self.optional);
        template.map_err(|error| error.at_path(["prompts: ", self.id].concat()))
    }

    /// The prompt text for a judge: the template with all values, those to judge in fenced blocks.
    /// A variable without a value reads `(none)`.
    ///
    /// O(n) in what goes into the prompt.
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

/// The prompt for a model that plays the user: a template with its values, those that hold material in
/// fenced blocks. What is in double braces and has no value stays.
///
/// O(n) in what goes into the prompt.
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

/// A text of 16 hexadecimal digits that depends on everything and occurs nowhere.
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

/// The first 16 hexadecimal digits of the SHA-256 of a text.
fn short_hash(text: &str) -> String {
    let mut hash = sha256(text);
    hash.truncate(16);
    hash
}

/// One function for all the texts that are put together, which are many and none of them hot.
#[inline(never)]
pub(crate) fn push_all(out: &mut String, parts: &[&str]) {
    for part in parts {
        out.push_str(part);
    }
}

/// Writes rubrics, pairs of id and text, for `{{rubrics}}`: a JSON object a line, so that no text
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
