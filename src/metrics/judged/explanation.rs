//! The judge's part of an explanation: samples, rubrics and sentences. Their shapes are part of the public
//! results.

use std::borrow::Cow;

use super::Answer;
use crate::foundation::write::{Write, Writer};
use crate::judge::calls::Usage;
use crate::judge::reply::Validation;

/// How often a judge was asked about a turn, and what it said.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct Samples {
    /// How many samples were asked.
    pub asked: u32,
    /// How many might have been.
    pub of: u32,
    /// What each said.
    pub votes: Vec<SampleVote>,
}

impl Samples {
    /// The samples of the answers about one turn.
    pub(super) fn from_answers(answers: &[&Answer]) -> Self {
        let mut samples = Self::default();
        for answer in answers {
            samples.asked += answer.votes.asked();
            samples.of += answer.question.samples;
            for reply in &answer.replies {
                samples.votes.push(SampleVote {
                    sample_index: reply.sample,
                    #[cfg(feature = "schema")]
                    judge: None,
                    purpose: answer.question.purpose.as_str().into(),
                    step_index: later_step(answer.question.step),
                    score: reply.ballot.score,
                    reply: reply.text.clone(),
                    usage: reply.usage.map(SampleUsage::from),
                    cached: reply.cached.then_some(true),
                });
            }
        }
        samples
    }
}

impl Write for Samples {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("asked", &self.asked);
        object.entry("of", &self.of);
        object.entry("votes", &self.votes);
        object.end();
    }
}

/// What one sample said.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct SampleVote {
    /// Which sample.
    pub sample_index: u32,
    /// Who said it, where a panel was asked; the package adds it.
    #[cfg(feature = "schema")]
    pub judge: Option<String>,
    /// What it was asked for: `verdict`, `segment`, `validate` or `score`.
    pub purpose: Cow<'static, str>,
    /// The answer within the turn that it is about, where a metric asks about several.
    pub step_index: Option<u32>,
    /// What it is worth, a mean if it speaks of several rubrics; absent if the reply could not be read,
    /// or is about sentences.
    pub score: Option<f64>,
    /// What the judge wrote.
    pub reply: String,
    /// What it cost.
    pub usage: Option<SampleUsage>,
    /// Whether it came from a cache.
    pub cached: Option<bool>,
}

impl Write for SampleVote {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("sampleIndex", &self.sample_index);
        object.entry("purpose", &self.purpose);
        object.optional("stepIndex", &self.step_index);
        object.optional("score", &self.score);
        object.entry("reply", &self.reply);
        object.optional("usage", &self.usage);
        object.optional("cached", &self.cached);
        object.end();
    }
}

/// The tokens of one reply.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct SampleUsage {
    /// Tokens of the prompt.
    pub input_tokens: f64,
    /// Tokens of the reply.
    pub output_tokens: f64,
}

impl From<Usage> for SampleUsage {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn from(usage: Usage) -> Self {
        Self { input_tokens: usage.input_tokens as f64, output_tokens: usage.output_tokens as f64 }
    }
}

impl Write for SampleUsage {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("inputTokens", &self.input_tokens);
        object.entry("outputTokens", &self.output_tokens);
        object.end();
    }
}

/// How the samples voted on one rubric.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct RubricVotes {
    /// The rubric.
    pub rubric_id: String,
    /// The property in words.
    pub text: String,
    /// Samples that found it met.
    pub yes: u32,
    /// Samples that did not.
    pub no: u32,
    /// Samples that spoke of it and said neither.
    pub unscored: u32,
}

impl Write for RubricVotes {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("rubricId", &self.rubric_id);
        object.entry("text", &self.text);
        for (key, count) in [("yes", self.yes), ("no", self.no), ("unscored", self.unscored)] {
            object.entry(key, &count);
        }
        object.end();
    }
}

/// What a judge says of one sentence.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct Sentence {
    /// The sentence.
    pub text: String,
    /// `supported`, `unsupported`, `contradictory`, `disputed` or `not_applicable`.
    pub label: String,
    /// Why.
    pub rationale: String,
    /// What in the context supports it.
    pub supporting_excerpt: Option<String>,
    /// What in the context contradicts it.
    pub contradicting_excerpt: Option<String>,
    /// The answer within the turn that it is part of, where a metric asks about several.
    pub step_index: Option<u32>,
}

impl Sentence {
    /// A sentence that a validator labelled, in the given step of a turn.
    pub(in crate::metrics) fn from_validation(found: Validation, step: usize) -> Self {
        Self {
            text: found.sentence,
            label: found.label,
            rationale: found.rationale,
            supporting_excerpt: found.supporting_excerpt,
            contradicting_excerpt: found.contradicting_excerpt,
            step_index: later_step(step),
        }
    }
}

impl Write for Sentence {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("text", &self.text);
        object.entry("label", &self.label);
        object.entry("rationale", &self.rationale);
        object.optional("supportingExcerpt", &self.supporting_excerpt);
        object.optional("contradictingExcerpt", &self.contradicting_excerpt);
        object.optional("stepIndex", &self.step_index);
        object.end();
    }
}

/// The index of a step; `None` for the first.
fn later_step(step: usize) -> Option<u32> {
    u32::try_from(step).ok().filter(|step| *step > 0)
}
