//! A question for a judge and its answer, which the run and the metrics share.

use std::borrow::Cow;

use super::{MAX_PROMPT_BYTES, PromptText, Work};
use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::write::quoted;
use crate::judge::calls::Usage;
use crate::judge::digest::sha256;
use crate::judge::prompt::{Purpose, push_all};
use crate::judge::reply::Validation;
use crate::judge::votes::{Outcome, Verdict, Vote, Votes, VotingRule};

/// A question for a judge, asked of one or more samples.
#[derive(Clone, Debug)]
pub struct Question {
    /// What it is for.
    pub purpose: Purpose,
    /// The index of the turn.
    pub invocation: usize,
    /// The index of the step in the turn; 0 if turns have no steps.
    pub step: usize,
    /// The prompt, while a call is in flight; for Vertex AI's evaluation service the body of the request.
    pub prompt: String,
    /// The prompt's SHA-256, once it was rendered: questions of one metric with the same prompt are the same.
    pub digest: String,
    /// The length of the prompt in bytes, as far as it is known. Prompts beyond [`MAX_PROMPT_BYTES`] are not
    /// sent.
    pub bytes: usize,
    /// The index of the answer that a follow-up question depends on.
    pub follows: Option<usize>,
    /// The JSON Schema of a structured reply, once the prompt was rendered.
    pub schema: Option<Cow<'static, str>>,
    /// What a readable reply contains, in words; empty if the reply is not a judge's.
    pub wanted: &'static str,
    /// The most samples to ask for.
    pub samples: u32,
    /// How many verdicts there are to vote on.
    pub verdicts: usize,
    /// The verdicts that further samples are not asked about, as they are decided: one flag for each, or none.
    pub decided: Vec<bool>,
    /// How votes become a result.
    pub rule: VotingRule,
}

impl Question {
    /// A question for one sample and one verdict, about the first turn.
    pub(in crate::metrics) fn new() -> Self {
        Self {
            bytes: 0,
            follows: None,
            purpose: Purpose::Verdict,
            invocation: 0,
            step: 0,
            prompt: String::new(),
            digest: String::new(),
            schema: None,
            wanted: "",
            samples: 1,
            verdicts: 1,
            decided: Vec::new(),
            rule: VotingRule::Every,
        }
    }

    /// Stores the rendered prompt.
    pub fn take_prompt(&mut self, PromptText { text, bytes, schema }: PromptText) {
        self.prompt = text;
        self.bytes = bytes;
        self.schema = schema;
    }

    /// Computes the digest of the prompt, unless it is known. O(n).
    pub fn identify(&mut self) {
        if self.digest.is_empty() {
            self.digest = sha256(&self.prompt);
        }
    }

    /// Lets go of the prompt, which can be rendered again.
    ///
    /// Returns how many bytes it had.
    pub fn drop_prompt(&mut self) -> usize {
        self.schema = None;
        std::mem::take(&mut self.prompt).len()
    }

    /// Why the question cannot be asked, if it cannot.
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
    /// One vote per verdict of the question.
    pub votes: Vec<Vote>,
    /// The score of the reply; with rubrics their mean.
    pub score: Option<f64>,
    /// One rationale per verdict.
    pub rationales: Vec<Option<String>>,
    /// The sentences that a segmenter found.
    pub sentences: Vec<String>,
    /// The labels that a validator gave.
    pub validations: Vec<Validation>,
}

impl Ballot {
    /// A reply that says yes, no, or nothing that can be read.
    pub(in crate::metrics) fn from_label(label: Option<bool>) -> Self {
        let vote = Vote::from_verdict(label);
        Self { votes: vec![vote], score: vote.score(), ..Self::default() }
    }

    /// Whether nothing of the reply could be read.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        self.score.is_none() && self.sentences.is_empty() && self.validations.is_empty()
    }

    /// A reply that gives a score; above 0.5 it votes yes.
    pub(in crate::metrics) fn from_score(score: f64) -> Self {
        Self { score: Some(score), ..Self::from_label(Some(score > 0.5)) }
    }
}

/// The reply of one sample.
#[derive(Clone, Debug)]
pub struct SampleReply {
    /// The index of the sample.
    pub sample: u32,
    /// What the judge wrote.
    pub text: String,
    /// The tokens it used, if reported.
    pub usage: Option<Usage>,
    /// Whether it came from a cache.
    pub cached: bool,
    /// What it says.
    pub ballot: Ballot,
}

/// The most characters of a reply that a reason quotes.
const MAX_QUOTE_CHARS: usize = 200;

/// A question with everything that was replied to it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The votes.
    pub votes: Votes,
    /// How many of its samples were given up before they were sent.
    pub unsent: u32,
    /// The replies, sorted by sample.
    pub replies: Vec<SampleReply>,
    /// Why a sample has no reply, if one has none.
    pub failure: Option<Error>,
}

impl Answer {
    /// The work of putting it into a result.
    pub(super) fn weight(&self) -> usize {
        let verdicts = self.question.verdicts * Work::OF_RUBRIC;
        self.replies.iter().map(|reply| reply.text.len()).sum::<usize>() + verdicts
    }

    /// Whether the votes have decided the question.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.votes.outcome() == Outcome::Settled
    }

    /// Leaves out of later samples what is decided, so that their prompt is another one. Returns how many bytes
    /// the prompt had that is let go.
    pub fn leave_out_decided(&mut self) -> usize {
        let decided: Vec<bool> = (0..self.question.verdicts).map(|at| self.votes.is_decided(at)).collect();
        if !decided.contains(&true) || decided == self.question.decided {
            return 0;
        }
        self.question.decided = decided;
        self.question.digest.clear();
        self.question.drop_prompt()
    }

    /// The score of a settled majority.
    pub(in crate::metrics) fn majority(&self) -> Option<f64> {
        match self.votes.verdict(0) {
            Some(Verdict::Positive) => Some(1.0),
            Some(Verdict::Negative) => Some(0.0),
            _ => None,
        }
    }

    /// Why there is no score: a failure, or that no reply could be read.
    pub(in crate::metrics) fn why_unscored(&self) -> Cow<'static, str> {
        match &self.failure {
            Some(failure) if !self.is_settled() => failure.to_string().into(),
            _ => self.unreadable().into(),
        }
    }

    /// The reason for an answer without a readable reply: what was expected, and the first reply.
    #[cold]
    fn unreadable(&self) -> String {
        let mut why = String::from("no reply of the judge could be read");
        if !self.question.wanted.is_empty() {
            push_all(&mut why, &[": expected ", self.question.wanted]);
        }
        if let Some(first) = self.replies.first() {
            let reply = first.text.trim();
            let head: String = reply.chars().take(MAX_QUOTE_CHARS).collect();
            let more = if head.len() < reply.len() { "…" } else { "" };
            let found = if self.question.wanted.is_empty() { ": " } else { ", found " };
            push_all(&mut why, &[found, &quoted(&[&head, more].concat())]);
        }
        why
    }

    /// The judge's failure, if it left the question open. Cancelling the run is no such failure.
    pub(in crate::metrics) fn judge_failure(&self) -> Option<&Error> {
        let is_judges = |error: &&Error| matches!(error.code, ErrorCode::JudgeFailed | ErrorCode::Timeout);
        self.failure.as_ref().filter(is_judges).filter(|_| !self.is_settled())
    }
}
