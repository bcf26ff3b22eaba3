//! A question for a judge, and what came of it: apart, because the run and the metrics share these, and everything
//! else here is about one side.

use std::borrow::Cow;

use super::{MAX_PROMPT_BYTES, PromptText, Work};
use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::write::quoted;
use crate::judge::calls::Usage;
use crate::judge::prompt::{Purpose, push_all};
use crate::judge::reply::Validation;
use crate::judge::votes::{Outcome, Rule, Verdict, Vote, Votes};

/// One question for a judge, asked of one or several samples.
#[derive(Clone, Debug)]
pub struct Question {
    /// What it is for.
    pub purpose: Purpose,
    /// The turn it is about.
    pub invocation: usize,
    /// The step of the turn, where a turn has several; 0 otherwise.
    pub step: usize,
    /// The prompt, while a call is under way; for Vertex AI's evaluation service the body of the request.
    pub prompt: String,
    /// How long the prompt is, in bytes, as far as that is known. Beyond [`MAX_PROMPT_BYTES`] nothing is asked.
    pub bytes: usize,
    /// The place of the answer that it follows from, if it does.
    pub follows: Option<usize>,
    /// The JSON Schema of a structured reply.
    pub schema: Option<&'static str>,
    /// What a reply has to hold to be read, in words; empty where the reply is no judge's.
    pub wanted: &'static str,
    /// The most samples to ask.
    pub samples: u32,
    /// On how many verdicts a reply votes.
    pub verdicts: usize,
    /// How the votes make a result.
    pub rule: Rule,
}

impl Question {
    /// One sample, one verdict, about the first turn.
    pub(in crate::metrics) fn new(schema: Option<&'static str>) -> Self {
        Self {
            bytes: 0,
            follows: None,
            purpose: Purpose::Verdict,
            invocation: 0,
            step: 0,
            prompt: String::new(),
            schema,
            wanted: "",
            samples: 1,
            verdicts: 1,
            rule: Rule::Every,
        }
    }

    /// Takes the words that it asks by.
    pub fn take_prompt(&mut self, PromptText { text, bytes }: PromptText) {
        self.prompt = text;
        self.bytes = bytes;
    }

    /// Why the question cannot be asked, if so.
    #[must_use]
    pub fn refusal(&self) -> Option<Error> {
        (self.bytes > MAX_PROMPT_BYTES).then(|| {
            let (bytes, most) = (self.bytes.to_string(), MAX_PROMPT_BYTES.to_string());
            let message = ["the prompt has ", &bytes, " bytes; at most ", &most, " are asked"].concat();
            Error::new(ErrorCode::LimitExceeded, message)
        })
    }
}

/// What one reply says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ballot {
    /// A vote for each verdict of the question.
    pub votes: Vec<Vote>,
    /// What the reply is worth; of rubrics the mean.
    pub score: Option<f64>,
    /// Why, verdict by verdict.
    pub rationales: Vec<Option<String>>,
    /// The sentences of a segmenter.
    pub sentences: Vec<String>,
    /// The labels of a validator.
    pub validations: Vec<Validation>,
}

impl Ballot {
    /// Of a reply that says yes, no, or nothing that can be read.
    pub(in crate::metrics) fn of_label(label: Option<bool>) -> Self {
        let vote = Vote::of(label);
        Self { votes: vec![vote], score: vote.score(), ..Self::default() }
    }

    /// Of a reply that gives a score; above 0.5 it is a vote for.
    pub(in crate::metrics) fn of_score(score: f64) -> Self {
        Self { score: Some(score), ..Self::of_label(Some(score > 0.5)) }
    }
}

/// The reply to one sample.
#[derive(Clone, Debug)]
pub struct SampleReply {
    /// Which sample.
    pub sample: u32,
    /// What the judge wrote.
    pub text: String,
    /// What it cost, where that is known.
    pub usage: Option<Usage>,
    /// Whether it came from a cache.
    pub cached: bool,
    /// What it says.
    pub ballot: Ballot,
}

/// The characters of a reply that a reason quotes.
const LONGEST_QUOTE: usize = 200;

/// All that came of a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The votes.
    pub votes: Votes,
    /// The replies, by sample.
    pub replies: Vec<SampleReply>,
    /// Why a sample has no reply.
    pub failure: Option<Error>,
}

impl Answer {
    /// What it takes to put it into a result.
    pub(super) fn weight(&self) -> usize {
        let verdicts = self.question.verdicts * Work::OF_RUBRIC;
        self.replies.iter().map(|reply| reply.text.len()).sum::<usize>() + verdicts
    }

    /// Whether the result of the question stands.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.votes.outcome() == Outcome::Settled
    }

    /// The score of a settled majority.
    pub(in crate::metrics) fn majority(&self) -> Option<f64> {
        match self.votes.verdict(0) {
            Some(Verdict::Positive) => Some(1.0),
            Some(Verdict::Negative) => Some(0.0),
            _ => None,
        }
    }

    /// Why there is no score: what failed, or that no reply said anything.
    pub(in crate::metrics) fn why_unscored(&self) -> Cow<'static, str> {
        match &self.failure {
            Some(failure) if !self.is_settled() => failure.to_string().into(),
            _ => self.unreadable().into(),
        }
    }

    /// That no reply could be read, with the first of them and what was expected.
    #[cold]
    fn unreadable(&self) -> String {
        let mut why = String::from("no reply of the judge could be read");
        if !self.question.wanted.is_empty() {
            push_all(&mut why, &[": expected ", self.question.wanted]);
        }
        if let Some(first) = self.replies.first() {
            let said = first.text.trim();
            let head: String = said.chars().take(LONGEST_QUOTE).collect();
            let more = if head.len() < said.len() { "…" } else { "" };
            let found = if self.question.wanted.is_empty() { ": " } else { ", found " };
            push_all(&mut why, &[found, &quoted(&[&head, more].concat())]);
        }
        why
    }

    /// The failure where it leaves the result open, if it is the judge's; not if the run was stopped.
    pub(in crate::metrics) fn judge_failure(&self) -> Option<&Error> {
        let of_judge = |error: &&Error| matches!(error.code, ErrorCode::JudgeFailed | ErrorCode::Timeout);
        self.failure.as_ref().filter(of_judge).filter(|_| !self.is_settled())
    }
}
