//! When a vote may end before its verdict is certain: a model of how the samples of a question vote.
//!
//! Every sample of a question votes yes with a chance that is the question's own, and these chances follow a
//! beta distribution ([`Prior`]). After p votes for and q against, the chance follows Beta(positive + p,
//! negative + q), and the votes that are missing a beta-binomial distribution. The prior is given, or fitted to
//! pairs of votes on the same question ([`Fit`]).
//!
//! Questions to come may be harder than those that it was fitted to. So it holds for nine of ten questions only:
//! of the tenth, nothing is taken for known, and its samples vote like a coin (`UNLIKE`). This is an
//! ε-contaminated prior (J. Berger, L. M. Berliner, "Robust Bayes and Empirical Bayes Analysis with
//! ε-Contaminated Priors", Annals of Statistics 14, 1986).
//!
//! Complexity: O(missing votes) for a chance, O(1) per verdict for the fit.

use super::votes::{Tally, Verdict};

/// How likely the samples of a question vote yes: a beta distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Its first parameter, above 0: as many votes for count before any vote.
    pub positive: f64,
    /// Its second parameter, above 0: as many votes against.
    pub negative: f64,
}

/// The share of questions that the prior does not hold for.
const UNLIKE: f64 = 0.1;

/// How their samples vote: yes as often as no.
const COIN: Prior = Prior { positive: 1e9, negative: 1e9 };

/// What a vote may end on before it is certain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// How likely all samples may decide otherwise, above 0 and below 1.
    pub risk: f64,
    /// How samples vote.
    pub prior: Prior,
}

impl Evidence {
    /// The verdict of the votes so far, if all samples decide otherwise with a chance below the risk.
    #[must_use]
    pub fn verdict(&self, tally: &Tally, missing: u32) -> Option<Verdict> {
        let &Tally { positive, negative, .. } = tally;
        let verdict = if positive > negative {
            Verdict::Positive
        } else if negative > 0 {
            Verdict::Negative
        } else {
            return None;
        };
        (self.chance_of_other(tally, missing) < self.risk).then_some(verdict)
    }

    /// How likely the missing votes turn the verdict of those so far into another one.
    #[must_use]
    pub fn chance_of_other(&self, tally: &Tally, missing: u32) -> f64 {
        if tally.verdict(missing).is_some() {
            return 0.0;
        }
        // The votes so far tell how likely the question is one of either kind.
        let like = (1.0 - UNLIKE) * self.prior.chance_of(tally);
        let unlike = UNLIKE * COIN.chance_of(tally);
        let of_other =
            like * self.prior.chance_of_other(tally, missing) + unlike * COIN.chance_of_other(tally, missing);
        of_other / (like + unlike)
    }
}

impl Prior {
    /// How likely votes are those of a tally, in their order.
    fn chance_of(&self, &Tally { positive, negative, .. }: &Tally) -> f64 {
        let (mut a, mut b, mut chance) = (self.positive, self.negative, 1.0);
        for _ in 0..positive {
            chance *= a / (a + b);
            a += 1.0;
        }
        for _ in 0..negative {
            chance *= b / (a + b);
            b += 1.0;
        }
        chance
    }

    /// How likely the missing votes turn the verdict, where this is how samples vote.
    fn chance_of_other(&self, &Tally { positive, negative, .. }: &Tally, missing: u32) -> f64 {
        let (p, q, r) = (f64::from(positive), f64::from(negative), f64::from(missing));
        let (a, b) = (self.positive + p, self.negative + q);
        // With so many further votes for it at most, the verdict is negative.
        let most = ((q + r - p) / 2.0).floor();
        // The chances of each number of votes for it are those of `most`, times these factors.
        let (mut below, mut above) = (1.0, 0.0);
        let (mut k, mut factor) = (most, 1.0);
        while k > 0.0 {
            factor *= k * (b + r - k) / ((r - k + 1.0) * (a + k - 1.0));
            below += factor;
            k -= 1.0;
        }
        (k, factor) = (most, 1.0);
        while k < r {
            factor *= (r - k) * (a + k) / ((k + 1.0) * (b + r - k - 1.0));
            above += factor;
            k += 1.0;
        }
        (if positive > negative { below } else { above }) / (below + above)
    }
}

/// A prior that is fitted to votes by moments: how often a vote is for it, and how often both of two votes on
/// the same question are.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Ordered pairs of votes on the same question.
    pairs: f64,
    /// Those whose first vote is for it.
    positive: f64,
    /// Those whose votes both are.
    both: f64,
}

impl Default for Fit {
    /// Begins with two votes that contradict each other, so that no votes make later ones certain.
    fn default() -> Self {
        Self { pairs: 2.0, positive: 1.0, both: 0.0 }
    }
}

impl Fit {
    /// Counts the votes on one verdict. Fewer than two say nothing.
    pub fn count(&mut self, positive: u32, negative: u32) {
        let (p, n) = (f64::from(positive), f64::from(positive + negative));
        self.pairs += n * (n - 1.0);
        self.positive += p * (n - 1.0);
        self.both += p * (p - 1.0);
    }

    /// The prior. Where the votes on a question do not go together, it hardly differs from a fixed chance.
    #[must_use]
    pub fn prior(&self) -> Prior {
        let (mean, both) = (self.positive / self.pairs, self.both / self.pairs);
        let strength = (mean - both) / (both - mean * mean).max(1e-6);
        Prior { positive: mean * strength, negative: (1.0 - mean) * strength }
    }
}
