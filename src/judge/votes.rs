//! The votes of a judge's samples: when they decide a verdict, and how many more samples to ask until then.
//!
//! A verdict is a majority: positive if more samples vote for it than against it, negative on a tie, unscored
//! if no sample did either. With p positive, q negative and r unknown votes, positive is certain when p > q +
//! r, negative when q > 0 and q ≥ p + r, unscored only when r = 0. No further reply can change a certain
//! verdict, so the result is the same as with all samples.
//!
//! As many samples are asked at a time as could decide every verdict at the earliest ([`Tally::settling`]):
//! ⌈n/2⌉ at first, then the fewest that the replies leave necessary. Each reply lowers that number by at most
//! one, so no sample is asked in vain: those asked are the shortest prefix of the samples that decides the
//! verdict, in whatever order replies arrive. A failed sample stays unknown, and another is asked instead as
//! long as one is left. If none is left and the verdict is open, the failed ones may be asked once more.
//!
//! A vote may also end on [`Evidence`]: as soon as the missing votes decide otherwise with a chance below a
//! risk. The same holds then: the next wave is the fewest votes that could end it, which one-sided votes do
//! first, and each reply lowers that number by at most one. So what is asked depends on the replies alone, not on
//! when they arrive. Of several verdicts, those that are decided are left out of what is asked later
//! ([`Votes::is_decided`]), so a wave waits until all earlier ones are answered.
//!
//! Of grades, the median decides: whatever is missing lies below or above it, so it is certain once both extremes
//! leave it where it is.
//!
//! Complexity: O(1) per verdict and reply; O(n) for grades; with evidence O(n log n) for n samples.

use std::ops::Range;

use super::evidence::Evidence;

/// The vote of one sample on one verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Valid, or yes.
    Positive,
    /// Invalid, or no.
    Negative,
    /// The reply mentions it, but says neither.
    Unscored,
    /// The reply does not mention it.
    Absent,
    /// The sample was not asked about it, since the verdict was decided before.
    NotAsked,
}

impl Vote {
    /// The vote for a verdict that may be unreadable.
    #[must_use]
    pub fn from_verdict(verdict: Option<bool>) -> Self {
        match verdict {
            Some(true) => Self::Positive,
            Some(false) => Self::Negative,
            None => Self::Unscored,
        }
    }

    /// Its score: 1 or 0, or none.
    #[must_use]
    pub fn score(self) -> Option<f64> {
        match self {
            Self::Positive => Some(1.0),
            Self::Negative => Some(0.0),
            Self::Unscored | Self::Absent | Self::NotAsked => None,
        }
    }
}

/// The combined result of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More samples were positive than negative.
    Positive,
    /// Some sample was negative, and no more were positive.
    Negative,
    /// No sample was positive or negative, but some mentioned it.
    Unscored,
    /// No sample mentioned it.
    Absent,
}

/// The votes on one verdict so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Samples that said valid, or yes.
    pub positive: u32,
    /// Samples that said invalid, or no.
    pub negative: u32,
    /// Samples that mentioned it and said neither.
    pub unscored: u32,
    /// Samples that did not mention it.
    pub absent: u32,
    /// Samples that were not asked about it.
    pub not_asked: u32,
}

impl Tally {
    /// Counts one more vote.
    pub fn count(&mut self, vote: Vote) {
        match vote {
            Vote::Positive => self.positive += 1,
            Vote::Negative => self.negative += 1,
            Vote::Unscored => self.unscored += 1,
            Vote::Absent => self.absent += 1,
            Vote::NotAsked => self.not_asked += 1,
        }
    }

    /// The verdict, if `missing` further votes cannot change it.
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

    /// The smallest number of votes that could settle the verdict if `missing` votes are unknown: 0 if it is
    /// settled, at most `missing`.
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

    /// With so many more votes.
    fn with(self, positive: u32, negative: u32) -> Self {
        Self { positive: self.positive + positive, negative: self.negative + negative, ..self }
    }

    /// The share of positive votes among the positive and negative ones, from 0.0 to 1.0; `None` if there are
    /// no such votes. ADK-TS scores `final_response_match_v2` this way.
    #[must_use]
    pub fn proportion(&self) -> Option<f64> {
        let scored = self.positive + self.negative;
        (scored > 0).then(|| f64::from(self.positive) / f64::from(scored))
    }
}

/// How votes become a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VotingRule {
    /// The majority decides.
    Majority {
        /// Whether to skip samples that cannot change the verdict.
        early_stop: bool,
    },
    /// The median of the grades decides, of an even number the lower of the two in the middle.
    Median {
        /// Whether to skip samples that cannot change it.
        early_stop: bool,
    },
    /// Every sample counts, as in a mean or in [`Tally::proportion`]: all are asked, and none may fail.
    Every,
}

/// The status of the vote on a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Missing replies may still change the result.
    Open,
    /// The result is the one that all samples would give, or all but certainly so.
    Settled,
    /// Too many samples failed: the remaining ones cannot decide.
    Undecidable,
}

/// The vote on one question. Each sample may vote on several verdicts, such as rubrics.
///
/// ```
/// use adk_metrics::judge::votes::{Outcome, Verdict, Vote, Votes, VotingRule};
///
/// let mut votes = Votes::new(5, 1, VotingRule::Majority { early_stop: true });
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
    rule: VotingRule,
    evidence: Option<Evidence>,
    tallies: Vec<Tally>,
    /// Sorted.
    grades: Vec<f64>,
}

impl Votes {
    /// A vote of at most `samples` samples (at least 1) on `verdicts` verdicts.
    #[must_use]
    pub fn new(samples: u32, verdicts: usize, rule: VotingRule) -> Self {
        Self {
            samples,
            asked: 0,
            known: 0,
            failed: Vec::new(),
            had_second_chance: false,
            rule,
            evidence: None,
            tallies: vec![Tally::default(); verdicts],
            grades: Vec::new(),
        }
    }

    /// Whether the vote skips samples that cannot change its verdicts.
    #[must_use]
    pub fn stops_early(&self) -> bool {
        self.rule == VotingRule::Majority { early_stop: true }
    }

    /// Lets the vote end on evidence as well.
    pub fn rest_on(&mut self, evidence: Evidence) {
        self.evidence = Some(evidence);
    }

    /// The indexes of the samples to ask now, which count as asked from then on. Empty if samples in flight
    /// must be awaited, or if further samples are useless.
    pub fn next_wave(&mut self) -> Range<u32> {
        let on_their_way = self.pending();
        let wanted = match self.outcome() {
            Outcome::Open if on_their_way > 0 && self.narrows() => 0,
            Outcome::Open => self.settling().saturating_sub(on_their_way),
            Outcome::Settled | Outcome::Undecidable => 0,
        };
        let first = self.asked;
        self.asked += wanted;
        first..self.asked
    }

    /// Whether later samples leave out the verdicts that are decided.
    fn narrows(&self) -> bool {
        self.evidence.is_some() && self.tallies.len() > 1
    }

    /// Whether no further sample needs to be asked about the verdict with this index.
    #[must_use]
    pub fn is_decided(&self, index: usize) -> bool {
        self.narrows() && self.verdict(index).is_some()
    }

    /// The failed samples to ask again, if they may still decide an [undecidable](Outcome::Undecidable)
    /// question; empty the second time. Call it when the rest of the run is done: temporary failures may be
    /// over by then.
    pub fn second_chance(&mut self) -> Vec<u32> {
        if self.had_second_chance || self.outcome() != Outcome::Undecidable {
            return Vec::new();
        }
        self.had_second_chance = true;
        std::mem::take(&mut self.failed)
    }

    /// Counts a reply: its vote on each verdict, in order. It does not mention verdicts beyond the end of
    /// `votes`.
    pub fn count(&mut self, votes: &[Vote]) {
        self.known += 1;
        let mut votes = votes.iter();
        for tally in &mut self.tallies {
            tally.count(votes.next().copied().unwrap_or(Vote::Absent));
        }
    }

    /// Takes the grade of a reply that is also [counted](Self::count). It matters where the median decides.
    pub fn grade(&mut self, grade: f64) {
        if !matches!(self.rule, VotingRule::Median { .. }) {
            return;
        }
        let at = self.grades.partition_point(|other| *other <= grade);
        self.grades.insert(at, grade);
    }

    /// The median of the grades so far: what some sample said. It is that of all samples once the vote is settled.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        self.grades.get(self.grades.len().saturating_sub(1) / 2).copied()
    }

    /// The smallest number of further grades after which the median could be certain.
    ///
    /// It is certain once it is the same whether all missing grades are lower or higher. The next grades settle it
    /// the earliest if they all equal the median so far, which is as close to the middle of all as any.
    fn settling_median(&self) -> u32 {
        let missing = self.missing();
        let middle = (self.grades.len() as u32 + missing).saturating_sub(1) / 2;
        let (mut below, mut not_above) = (0, 0);
        if let Some(median) = self.median() {
            below = self.grades.partition_point(|grade| *grade < median) as u32;
            not_above = self.grades.partition_point(|grade| *grade <= median) as u32;
        }
        let most = (below + missing).saturating_sub(middle);
        most.max((middle + 1).saturating_sub(not_above)).min(missing)
    }

    /// Counts a sample that failed.
    pub fn fail(&mut self, sample: u32) {
        self.failed.push(sample);
    }

    /// Whether the result is settled, may still change, or cannot be decided.
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

    /// The smallest number of further replies after which nothing needs to be asked.
    fn settling(&self) -> u32 {
        let missing = self.missing();
        let settling = |all: u32, tally: &Tally| all.max(self.settling_of(tally));
        match self.rule {
            VotingRule::Majority { early_stop: true } => self.tallies.iter().fold(0, settling),
            VotingRule::Majority { early_stop: false } => {
                self.tallies.iter().fold(missing.saturating_sub(self.failed()), settling)
            }
            VotingRule::Median { early_stop: true } => self.settling_median(),
            VotingRule::Median { early_stop: false } => {
                missing.saturating_sub(self.failed()).max(self.settling_median())
            }
            VotingRule::Every => missing,
        }
    }

    /// The smallest number of further votes that could settle one verdict.
    fn settling_of(&self, tally: &Tally) -> u32 {
        let missing = self.missing_of(tally);
        let certain = tally.settling(missing);
        let Some(evidence) = &self.evidence else { return certain };
        let is_enough = |further: u32| {
            let left = missing - further;
            [tally.with(further, 0), tally.with(0, further)]
                .iter()
                .any(|tally| evidence.verdict(tally, left).is_some())
        };
        let (mut least, mut most) = (0, certain);
        while least < most {
            let middle = (least + most) / 2;
            if is_enough(middle) {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        most
    }

    /// How likely all samples would have decided otherwise, of the verdict where that is likeliest; 0.0 if all are
    /// certain.
    #[must_use]
    pub fn risk(&self) -> f64 {
        let chance =
            |tally: &Tally| self.evidence.map_or(0.0, |it| it.chance_of_other(tally, self.missing_of(tally)));
        self.tallies.iter().map(chance).fold(0.0, f64::max)
    }

    /// How many verdicts rest on evidence, and how many more samples it would have taken at least to be certain of
    /// all.
    #[must_use]
    pub fn at_risk(&self) -> (u32, u32) {
        if self.evidence.is_none() || self.outcome() != Outcome::Settled {
            return (0, 0);
        }
        let further =
            self.tallies.iter().map(|tally| (tally.settling(self.missing_of(tally)), tally.not_asked));
        let further = further.filter(|(further, _)| *further > 0);
        // Samples that were asked about other verdicts could have been asked about this one too.
        further.fold((0, 0), |(verdicts, samples), (further, not_asked)| {
            (verdicts + 1, samples.max(further.saturating_sub(not_asked)))
        })
    }

    /// How many samples are unknown: not asked, not answered yet, or failed.
    #[must_use]
    pub fn missing(&self) -> u32 {
        self.samples.saturating_sub(self.known)
    }

    /// How many votes on one verdict are unknown.
    fn missing_of(&self, tally: &Tally) -> u32 {
        self.missing() + tally.not_asked
    }

    /// The verdict with this index, if unknown samples cannot change it, or hardly so.
    #[must_use]
    pub fn verdict(&self, index: usize) -> Option<Verdict> {
        let tally = self.tallies.get(index)?;
        let missing = self.missing_of(tally);
        tally.verdict(missing).or_else(|| self.evidence?.verdict(tally, missing))
    }

    /// The votes so far, by verdict.
    #[must_use]
    pub fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// How many samples were asked.
    #[must_use]
    pub fn asked(&self) -> u32 {
        self.asked
    }

    /// How many of the samples asked have neither a vote nor failed.
    #[must_use]
    pub fn pending(&self) -> u32 {
        self.asked.saturating_sub(self.known + self.failed())
    }

    /// How many samples failed and are not asked again.
    #[must_use]
    pub fn failed(&self) -> u32 {
        self.failed.len() as u32
    }

    /// How many samples were not asked: a settled result does not need them.
    #[must_use]
    pub fn unasked(&self) -> u32 {
        self.samples - self.asked
    }
}
