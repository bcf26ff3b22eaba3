//! How the samples of each metric vote, so that later votes can end on evidence.
//!
//! What is learnt must not depend on when replies arrive, or a run that is resumed would ask something else. So
//! the prior is fitted once, to the first samples of a metric's first questions, in the order in which they are
//! planned. These questions end when they are certain. Those that are planned meanwhile are held back.

use super::super::Options;
use crate::judge::evidence::{Evidence, Fit, Prior};
use crate::metrics::judged::Answer;

/// How many questions of a metric a prior is fitted to.
pub const LEARNT_QUESTIONS: u32 = 20;

/// What a vote may end on before it is certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Risk {
    /// How likely all samples may decide otherwise, above 0 and below 1.
    pub most: f64,
    /// How samples vote; fitted to the run if absent.
    pub prior: Option<Prior>,
}

/// What is known of the votes of one metric.
#[derive(Clone)]
pub(super) struct Learning {
    risk: Risk,
    fit: Fit,
    begun: u32,
    learnt: u32,
    /// The questions that wait for the prior.
    held: Vec<u32>,
}

impl Learning {
    pub(super) fn new(options: &Options) -> Option<Self> {
        let risk = options.risk.filter(|_| options.early_stop)?;
        Some(Self { risk, fit: Fit::default(), begun: 0, learnt: 0, held: Vec::new() })
    }

    /// The prior, once it is known.
    pub(super) fn prior(&self) -> Option<Prior> {
        self.risk.prior
    }

    /// Prepares the vote on a new question. Returns whether it may be asked now.
    pub(super) fn admit(&mut self, question: u32, answer: &mut Answer) -> bool {
        if !answer.votes.stops_early() {
            return true;
        }
        if let Some(prior) = self.risk.prior {
            answer.votes.rest_on(Evidence { risk: self.risk.most, prior });
        } else if self.begun < LEARNT_QUESTIONS {
            self.begun += 1;
        } else {
            self.held.push(question);
            return false;
        }
        true
    }

    /// Learns from a question that is closed. Returns those that can be asked now, as the prior is known.
    pub(super) fn learn(&mut self, answer: &Answer) -> Vec<u32> {
        if self.risk.prior.is_some() || !answer.votes.stops_early() {
            return Vec::new();
        }
        // Later samples are asked where these disagree, so they are no fair sample of all.
        let first = answer.question.samples.div_ceil(2);
        for index in 0..answer.question.verdicts {
            let votes = answer.replies.iter().filter(|reply| reply.sample < first);
            let (mut positive, mut negative) = (0, 0);
            for score in votes.filter_map(|reply| reply.ballot.votes.get(index)?.score()) {
                if score > 0.5 { positive += 1 } else { negative += 1 }
            }
            self.fit.count(positive, negative);
        }
        self.learnt += 1;
        if self.learnt < LEARNT_QUESTIONS {
            return Vec::new();
        }
        self.risk.prior = Some(self.fit.prior());
        std::mem::take(&mut self.held)
    }
}
