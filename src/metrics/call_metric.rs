//! Metrics that compare the tool calls of turns. A comparison takes more than linear time, so each such metric
//! writes it once, at a [`Pace`]: small turns are scored without a break, large ones in slices.

use std::rc::Rc;

use super::{
    Case, Dialect, Evaluation, Explain, Metric, Scoring, SlicedTurn, TurnEvaluation, TurnPair, in_slices,
};
use crate::foundation::error::{Error, Result};
use crate::foundation::pace::{Pace, at_once};
use crate::model::invocation::Turns;

/// The settings of a run that a comparison needs. A copy, because a turn in slices outlives the borrow of
/// [`Scoring`].
#[derive(Clone, Copy)]
pub(super) struct Settings {
    /// Which implementation's scores to reproduce.
    pub(super) dialect: Dialect,
    /// Which results to explain.
    pub(super) explain: Explain,
}

impl From<&Scoring> for Settings {
    fn from(&Scoring { dialect, explain, .. }: &Scoring) -> Self {
        Self { dialect, explain }
    }
}

/// A [`Metric`] that compares tool calls. All of its methods but [`compare`](Self::compare) are those of `Metric`.
pub(super) trait CallMetric: 'static {
    fn check(&self, case: &Case<'_>, scoring: &Scoring) -> Result<()>;

    fn unused_setting(&self, _: &mut dyn Iterator<Item = Turns<'_>>) -> Option<Error> {
        None
    }

    /// Scores one turn.
    ///
    /// # Errors
    /// Anything that prevents the whole conversation from being scored.
    async fn compare<'a>(
        &self,
        case: Case<'a>,
        pair: TurnPair<'a>,
        settings: Settings,
        pace: &Pace,
    ) -> Result<TurnEvaluation<'a>>;

    fn conclude<'a>(
        &self,
        case: &Case<'a>,
        turns: Vec<TurnEvaluation<'a>>,
        scoring: &Scoring,
    ) -> Evaluation<'a>;
}

impl<M: CallMetric> Metric for M {
    fn check(&self, case: &Case<'_>, scoring: &Scoring) -> Result<()> {
        CallMetric::check(self, case, scoring)
    }

    fn unused_setting(&self, conversations: &mut dyn Iterator<Item = Turns<'_>>) -> Option<Error> {
        CallMetric::unused_setting(self, conversations)
    }

    fn turn<'a>(
        &self,
        case: &Case<'a>,
        pair: TurnPair<'a>,
        scoring: &mut Scoring,
    ) -> Result<TurnEvaluation<'a>> {
        at_once(self.compare(*case, pair, (&*scoring).into(), &Pace::unbroken()))
    }

    fn turn_in_slices<'a>(
        self: Rc<Self>,
        case: Case<'a>,
        pair: TurnPair<'a>,
        scoring: &Scoring,
    ) -> Option<SlicedTurn<'a>> {
        let settings = scoring.into();
        pair.is_large().then(|| -> SlicedTurn<'a> {
            Box::pin(async move { self.compare(case, pair, settings, &in_slices()).await })
        })
    }

    fn conclude<'a>(
        &self,
        case: &Case<'a>,
        turns: Vec<TurnEvaluation<'a>>,
        scoring: &Scoring,
    ) -> Evaluation<'a> {
        CallMetric::conclude(self, case, turns, scoring)
    }
}
