//! The judge's part of an explanation: samples, rubrics and sentences. Their shapes are part of the public
//! results.

use std::borrow::Cow;

use super::Answer;
use crate::foundation::write::json_object;
use crate::judge::calls::Usage;
use crate::judge::reply::Validation;

json_object! {
    /// How often a judge was asked about a turn, and what it said.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Samples {
        /// How many samples were asked.
        pub asked: u32 = "asked",
        /// The most samples that could have been asked.
        pub of: u32 = "of",
        /// How likely all of these would have decided otherwise; absent where that is certain not to be so.
        pub risk: Option<f64> = "risk",
        /// The vote of each sample.
        pub votes: Vec<SampleVote> = "votes",
    }
}

impl Samples {
    /// The samples of the answers about one turn.
    pub(super) fn from_answers(answers: &[&Answer]) -> Self {
        let mut samples = Self::default();
        for answer in answers {
            samples.asked += answer.votes.asked().saturating_sub(answer.unsent);
            samples.of += answer.question.samples;
            if answer.votes.at_risk().0 > 0 {
                samples.risk = Some(samples.risk.unwrap_or_default().max(answer.votes.risk()));
            }
            for reply in &answer.replies {
                samples.votes.push(SampleVote {
                    sample_index: reply.sample,
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

json_object! {
    /// The vote of one sample.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SampleVote {
        /// The index of the sample.
        pub sample_index: u32 = "sampleIndex",
        /// The judge that was asked, if a panel was. The package fills it in.
        pub judge: Option<String> = "judge",
        /// The purpose of the question: `verdict`, `segment`, `validate` or `score`.
        pub purpose: Cow<'static, str> = "purpose",
        /// The index of the step within the turn, if a metric asks about several.
        pub step_index: Option<u32> = "stepIndex",
        /// Its score; for several rubrics the mean. Absent if the reply could not be read or is about sentences.
        pub score: Option<f64> = "score",
        /// What the judge wrote.
        pub reply: String = "reply",
        /// The tokens it used.
        pub usage: Option<SampleUsage> = "usage",
        /// Whether nobody was asked for it: a cache, a recording, or the same question before had it.
        pub cached: Option<bool> = "cached",
    }
}

json_object! {
    /// The tokens of one reply.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SampleUsage {
        /// Tokens of the prompt.
        pub input_tokens: f64 = "inputTokens",
        /// Tokens of the reply.
        pub output_tokens: f64 = "outputTokens",
    }
}

impl From<Usage> for SampleUsage {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn from(usage: Usage) -> Self {
        Self { input_tokens: usage.input_tokens as f64, output_tokens: usage.output_tokens as f64 }
    }
}

json_object! {
    /// How the samples voted on one rubric.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RubricVotes {
        /// The rubric.
        pub rubric_id: String = "rubricId",
        /// The property in words.
        pub text: String = "text",
        /// The number of samples that said yes.
        pub yes: u32 = "yes",
        /// The number of samples that said no.
        pub no: u32 = "no",
        /// The number of samples that mentioned it and said neither.
        pub unscored: u32 = "unscored",
    }
}

json_object! {
    /// A judge's label for one sentence.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Sentence {
        /// The sentence.
        pub text: String = "text",
        /// `supported`, `unsupported`, `contradictory`, `disputed` or `not_applicable`.
        pub label: String = "label",
        /// Why it has this label.
        pub rationale: String = "rationale",
        /// What in the context supports it.
        pub supporting_excerpt: Option<String> = "supportingExcerpt",
        /// What in the context contradicts it.
        pub contradicting_excerpt: Option<String> = "contradictingExcerpt",
        /// The index of the step within the turn, if a metric asks about several.
        pub step_index: Option<u32> = "stepIndex",
    }
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

/// The index of a step; `None` for the first.
fn later_step(step: usize) -> Option<u32> {
    u32::try_from(step).ok().filter(|step| *step > 0)
}
