//! The votes of a judge's samples: when they settle a verdict, and how many more to ask while they
//! do not.
//!
//! A verdict is a majority: positive if more samples say so than deny it, negative on a tie,
//! unscored if no sample said either. With p positive and q negative samples and r not known yet,
//! positive is certain when p > q + r, negative when q > 0 and q ≥ p + r, unscored only when r = 0.
//! What is certain no reply can change, so the result is the one that all samples would give.
//!
//! Samples are asked so that as many are on their way as could settle every verdict at the earliest
//! ([`Tally::settling`]): ⌈n/2⌉ at first, then as few as replies leave necessary. Each reply lowers
//! that number by one at most, so no sample is asked that turns out not to be needed: those asked are
//! the shortest run of samples from the first one on that settles the verdict, in whatever order
//! their replies arrive. A sample that failed stays unknown; another takes its place as long as one
//! is left. If none is and the verdict is open, those that failed may be asked once more.
//!
//! Complexity: O(1) per verdict and reply.

use std::ops::Range;

/// What one sample says about one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Valid, or yes.
    Positive,
    /// Invalid, or no.
    Negative,
    /// The reply speaks of it, but says neither.
    Unscored,
    /// The reply does not speak of it.
    Absent,
}

impl Vote {
    /// Of a verdict that may be missing.
    #[must_use]
    pub fn from_verdict(verdict: Option<bool>) -> Self {
        match verdict {
            Some(true) => Self::Positive,
            Some(false) => Self::Negative,
            None => Self::Unscored,
        }
    }

    /// What it is worth: 1 or 0, or nothing.
    #[must_use]
    pub fn score(self) -> Option<f64> {
        match self {
            Self::Positive => Some(1.0),
            Self::Negative => Some(0.0),
            Self::Unscored | Self::Absent => None,
        }
    }
}

/// What the samples say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More samples were positive than negative.
    Positive,
    /// Some sample was negative, and no more were positive.
    Negative,
    /// No sample was positive or negative, but some spoke of it.
    Unscored,
    /// No sample spoke of it.
    Absent,
}

/// The votes known for one verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Samples that said valid, or yes.
    pub positive: u32,
    /// Samples that said invalid, or no.
    pub negative: u32,
    /// Samples that spoke of it and said neither.
    pub unscored: u32,
    /// Samples that did not speak of it.
    pub absent: u32,
}

impl Tally {
    /// Counts the vote of one more sample.
    pub fn count(&mut self, vote: Vote) {
        match vote {
            Vote::Positive => self.positive += 1,
            Vote::Negative => self.negative += 1,
            Vote::Unscored => self.unscored += 1,
            Vote::Absent => self.absent += 1,
        }
    }

    /// The verdict that `missing` further votes cannot change, if there is one.
    ///
    /// ```
    /// use adk_metrics::judge::votes::{Tally, Verdict};
    ///
    /// let tally = Tally { positive: 2, negative: 1, ..Tally::default() };
    /// assert_eq!(tally.verdict(0), Some(Verdict::Positive));
    /// assert_eq!(tally.verdict(1), None, "one more negative vote would make a tie");
    /// ```
    #[must_use]
    pub fn verdict(&self, missing: u32) -> Option<Verdict> {
        let &Tally { positive, negative, unscored, .. } = self;
        if positive > negative + missing {
            Some(Verdict::Positive)
        } else if negative > 0 && negative >= positive + missing {
            Some(Verdict::Negative)
        } else if missing > 0 {
            None
        } else if unscored > 0 {
            Some(Verdict::Unscored)
        } else {
            Some(Verdict::Absent)
        }
    }

    /// The smallest number of votes that could settle the verdict if `missing` are not known: 0 if it
    /// is settled, at most `missing`.
    #[must_use]
    pub fn settling(&self, missing: u32) -> u32 {
        if missing == 0 {
            return 0;
        }
        let &Tally { positive: p, negative: q, .. } = self;
        let positive = (q + missing + 2).saturating_sub(p) / 2;
        let negative = (p + missing + 1).saturating_sub(q) / 2;
        positive.min(negative)
    }

    /// The share of positive votes among those that are positive or negative, from 0.0 to 1.0;
    /// none if there are no such votes. This is how ADK-TS scores `final_response_match_v2`.
    #[must_use]
    pub fn proportion(&self) -> Option<f64> {
        let scored = self.positive + self.negative;
        (scored > 0).then(|| f64::from(self.positive) / f64::from(scored))
    }
}

/// How samples make a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The majority decides.
    Majority {
        /// Whether samples are left out that cannot change the verdict.
        early_stop: bool,
    },
    /// Every sample matters, as in a mean or in [`Tally::proportion`]: all are asked, and none may fail.
    Every,
}

/// How far the vote on a question has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Replies are missing that may change the result.
    Open,
    /// The result is the one that all samples would give.
    Settled,
    /// Too many samples failed: those that are left cannot settle the result.
    Undecidable,
}

/// The vote on one question, whose samples may each speak of several verdicts, such as rubrics.
///
/// ```
/// use adk_metrics::judge::votes::{Outcome, Rule, Verdict, Vote, Votes};
///
/// let mut votes = Votes::new(5, 1, Rule::Majority { early_stop: true });
/// assert_eq!(votes.next_wave(), 0..3);
/// votes.count(&[Vote::Positive]);
/// votes.count(&[Vote::Negative]);
/// assert_eq!(votes.next_wave(), 3..4, "two more of a kind settle it, and one is on its way");
/// votes.count(&[Vote::Positive]);
/// votes.fail(2);
/// assert_eq!(votes.next_wave(), 4..5);
/// votes.count(&[Vote::Positive]);
/// assert_eq!(votes.outcome(), Outcome::Settled);
/// assert_eq!(votes.verdict(0), Some(Verdict::Positive));
/// ```
#[derive(Clone, Debug)]
pub struct Votes {
    samples: u32,
    asked: u32,
    known: u32,
    failed: Vec<u32>,
    had_second_chance: bool,
    rule: Rule,
    tallies: Vec<Tally>,
}

impl Votes {
    /// A vote of at most `samples` samples (at least 1) on `verdicts` verdicts.
    #[must_use]
    pub fn new(samples: u32, verdicts: usize, rule: Rule) -> Self {
        Self {
            samples,
            asked: 0,
            known: 0,
            failed: Vec::new(),
            had_second_chance: false,
            rule,
            tallies: vec![Tally::default(); verdicts],
        }
    }

    /// The samples to ask now, by index; they count as asked. Empty if those on their way must be
    /// waited for, or if nothing more can be gained.
    pub fn next_wave(&mut self) -> Range<u32> {
        let on_their_way = self.asked.saturating_sub(self.known + self.failed());
        let wanted = match self.outcome() {
            Outcome::Open => self.settling().saturating_sub(on_their_way),
            Outcome::Settled | Outcome::Undecidable => 0,
        };
        let first = self.asked;
        self.asked += wanted;
        first..self.asked
    }

    /// The samples that failed, to be asked again, if they may still decide what is
    /// [undecidable](Outcome::Undecidable) without them; empty the second time. Worth it for failures
    /// that pass, when the rest of the run is done.
    pub fn second_chance(&mut self) -> Vec<u32> {
        if self.had_second_chance || self.outcome() != Outcome::Undecidable {
            return Vec::new();
        }
        self.had_second_chance = true;
        std::mem::take(&mut self.failed)
    }

    /// Counts the reply to a sample: its vote on each verdict, in their order. Verdicts beyond the
    /// end of `votes` are absent from the reply.
    pub fn count(&mut self, votes: &[Vote]) {
        self.known += 1;
        let mut votes = votes.iter();
        for tally in &mut self.tallies {
            tally.count(votes.next().copied().unwrap_or(Vote::Absent));
        }
    }

    /// Counts a sample that was asked and failed.
    pub fn fail(&mut self, sample: u32) {
        self.failed.push(sample);
    }

    /// Whether the result stands, may still change, or is lost.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let settling = self.settling();
        if settling > self.missing().saturating_sub(self.failed()) {
            Outcome::Undecidable
        } else if settling > 0 {
            Outcome::Open
        } else {
            Outcome::Settled
        }
    }

    /// The fewest further replies after which nothing is to be asked any more.
    fn settling(&self) -> u32 {
        let missing = self.missing();
        let settling = |all: u32, tally: &Tally| all.max(tally.settling(missing));
        match self.rule {
            Rule::Majority { early_stop: true } => self.tallies.iter().fold(0, settling),
            Rule::Majority { early_stop: false } => {
                self.tallies.iter().fold(missing.saturating_sub(self.failed()), settling)
            }
            Rule::Every => missing,
        }
    }

    /// How many samples are not known: not asked, not answered yet, or failed.
    #[must_use]
    pub fn missing(&self) -> u32 {
        self.samples.saturating_sub(self.known)
    }

    /// The verdict with this index, if the samples that are not known cannot change it.
    #[must_use]
    pub fn verdict(&self, index: usize) -> Option<Verdict> {
        self.tallies.get(index)?.verdict(self.missing())
    }

    /// The votes known so far, by verdict.
    #[must_use]
    pub fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// How many samples were asked.
    #[must_use]
    pub fn asked(&self) -> u32 {
        self.asked
    }

    /// How many samples failed and are not asked again.
    #[must_use]
    pub fn failed(&self) -> u32 {
        self.failed.len() as u32
    }

    /// How many samples a settled result was spared; 0 while it is not settled.
    #[must_use]
    pub fn saved(&self) -> u32 {
        if self.outcome() == Outcome::Settled { self.samples - self.asked } else { 0 }
    }
}
