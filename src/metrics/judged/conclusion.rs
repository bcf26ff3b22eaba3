//! The result of a judged metric, computed from all answers turn by turn. It can be interrupted between turns.

use std::borrow::Cow;

use super::{Answer, Judged, JudgedCase, Samples, Work};
use crate::foundation::error::Result;
use crate::foundation::interner::Interner;
use crate::foundation::sort::sort;
use crate::metrics::{Evaluation, Explanation, NO_TURNS, Scoring, TurnEvaluation, mean, transcript};
use crate::model::results::EvalStatus;

/// A result in progress.
pub struct Conclusion<'a> {
    answers: Vec<Answer>,
    /// The indexes of the answers, sorted by turn and step.
    order: Vec<usize>,
    next: usize,
    evaluation: Evaluation<'a>,
    sums: RubricSums,
}

impl<'a> Conclusion<'a> {
    /// The answers need not all be [settled](Answer::is_settled).
    #[must_use]
    pub fn new(answers: Vec<Answer>) -> Self {
        let mut order: Vec<usize> = (0..answers.len()).collect();
        let position =
            |at: &usize| answers.get(*at).map(|answer| (answer.question.invocation, answer.question.step));
        // The sort is stable, so follow-up answers stay in the order in which they arrived.
        sort(&mut order, |a, b| position(a).cmp(&position(b)));
        Self { answers, order, next: 0, evaluation: Evaluation::default(), sums: RubricSums::default() }
    }

    /// Continues until all turns are done or the work for one poll is done. Returns the result once it is complete.
    ///
    /// # Errors
    /// Where google-adk raises.
    pub fn advance(
        &mut self,
        judged: &dyn Judged,
        case: &JudgedCase<'a>,
        scoring: &Scoring,
        work: &mut Work,
    ) -> Result<Option<Evaluation<'a>>> {
        let judge_config = judged.judge_config();
        let evaluation = &mut self.evaluation;
        if evaluation.turns.is_empty()
            && judge_config.raises
            && let Some(failure) = self.answers.iter().find_map(Answer::judge_failure)
        {
            return Err(failure.clone());
        }
        while let Some(turn) = case.turns.get(evaluation.turns.len()).copied() {
            if work.is_done() {
                return Ok(None);
            }
            work.add(Work::OF_TURN);
            let mut own: Vec<&Answer> = Vec::new();
            while let Some(answer) = self.order.get(self.next).and_then(|at| self.answers.get(*at))
                && answer.question.invocation == turn.index
            {
                work.add(answer.weight());
                own.push(answer);
                self.next += 1;
            }
            let turn = if own.is_empty() && judge_config.whole_conversation {
                TurnEvaluation::not_evaluated(transcript::ONLY_THE_LAST)
            } else {
                judged.turn(case, turn, &own, scoring)?
            };
            judged.add_up(&turn, &mut self.sums);
            evaluation.turns.push(turn);
        }
        let mut evaluation = std::mem::take(evaluation);
        judged.overall(&self.answers, std::mem::take(&mut self.sums), scoring, &mut evaluation);
        evaluation.status = EvalStatus::from_score(evaluation.score, judge_config.threshold);
        Ok(Some(evaluation))
    }
}

/// The scores of all rubrics over all turns.
#[derive(Default)]
pub struct RubricSums {
    numbers: Interner<'static>,
    /// The scores of each rubric.
    pub(in crate::metrics) by_rubric: Vec<(String, Vec<f64>)>,
    /// All scores.
    pub(in crate::metrics) scores: Vec<f64>,
}

impl RubricSums {
    /// Adds the score of one rubric in one turn.
    pub(in crate::metrics) fn add(&mut self, id: &str, score: Option<f64>) {
        let number = self.numbers.find(id).unwrap_or_else(|| {
            self.by_rubric.push((id.to_owned(), Vec::new()));
            self.numbers.intern(Cow::Owned(id.to_owned()))
        });
        self.scores.extend(score);
        if let Some((_, scores)) = self.by_rubric.get_mut(number) {
            scores.extend(score);
        }
    }
}

/// The result of a turn with this score, with an explanation from the judge's answers if one is wanted.
pub(in crate::metrics) fn judged_turn<'a>(
    score: Option<f64>,
    threshold: f64,
    answers: &[&Answer],
    scoring: &Scoring,
) -> TurnEvaluation<'a> {
    let mut turn = TurnEvaluation {
        score,
        status: EvalStatus::from_score(score, threshold),
        ..TurnEvaluation::default()
    };
    if score.is_none() {
        turn.reason = answers.first().map(|answer| answer.why_unscored());
    }
    if scoring.explain.wants(turn.status) && !answers.is_empty() {
        turn.explanation = Some(Box::new(Explanation {
            samples: Some(Samples::from_answers(answers)),
            ..Explanation::default()
        }));
    }
    turn
}

/// Scores a conversation by a mean of the turns that have a score. If none has, the reason is that of the first
/// turn.
pub(in crate::metrics) fn average(evaluation: &mut Evaluation<'_>, mean: fn(&[f64]) -> Option<f64>) {
    let mut scores = Vec::new();
    let mut why = None;
    for turn in &evaluation.turns {
        scores.extend(turn.score);
        why = why.or(turn.reason.as_ref());
    }
    evaluation.score = mean(&scores);
    if evaluation.score.is_none() {
        evaluation.reason = Some(why.cloned().unwrap_or(NO_TURNS.into()));
    }
}

/// The plain mean.
pub(in crate::metrics) fn plain_mean(scores: &[f64]) -> Option<f64> {
    mean(scores.iter().copied())
}
