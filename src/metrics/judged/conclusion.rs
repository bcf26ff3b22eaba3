//! The result of a judged metric, made of all answers turn by turn: apart, because it can pause between turns, and
//! knows nothing of how the answers came.

use std::borrow::Cow;

use super::{Answer, Judged, JudgedCase, Samples, Work};
use crate::foundation::error::Result;
use crate::foundation::interner::Interner;
use crate::foundation::sort::sort;
use crate::metrics::{Evaluation, Explanation, NO_TURNS, Scoring, TurnEvaluation, mean, transcript};
use crate::model::results::EvalStatus;

/// The result of all answers, while it is made turn by turn.
pub struct Conclusion<'a> {
    answers: Vec<Answer>,
    /// The places of the answers by turn and step.
    order: Vec<usize>,
    next: usize,
    evaluation: Evaluation<'a>,
    sums: RubricSums,
}

impl<'a> Conclusion<'a> {
    /// Of answers, which need not all be [settled](Answer::is_settled).
    #[must_use]
    pub fn of(answers: Vec<Answer>) -> Self {
        let mut order: Vec<usize> = (0..answers.len()).collect();
        let place =
            |at: &usize| answers.get(*at).map(|answer| (answer.question.invocation, answer.question.step));
        // Answers to second questions stand in the order in which they came.
        sort(&mut order, |a, b| place(a).cmp(&place(b)));
        Self { answers, order, next: 0, evaluation: Evaluation::default(), sums: RubricSums::default() }
    }

    /// Goes on for as long as there is work left to do. The result, once it is there.
    ///
    /// # Errors
    /// Where google-adk raises.
    pub fn go_on(
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
        evaluation.status = EvalStatus::of_score(evaluation.score, judge_config.threshold);
        Ok(Some(evaluation))
    }
}

/// What becomes of rubrics over all turns.
#[derive(Default)]
pub struct RubricSums {
    numbers: Interner<'static>,
    /// The scores of each rubric.
    pub(in crate::metrics) by_rubric: Vec<(String, Vec<f64>)>,
    /// All scores.
    pub(in crate::metrics) scores: Vec<f64>,
}

impl RubricSums {
    /// Adds what one turn found of a rubric.
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

/// The turn that a score makes, with what the judge said where that is wanted.
pub(in crate::metrics) fn turn_of<'a>(
    score: Option<f64>,
    threshold: f64,
    answers: &[&Answer],
    scoring: &Scoring,
) -> TurnEvaluation<'a> {
    let mut turn =
        TurnEvaluation { score, status: EvalStatus::of_score(score, threshold), ..TurnEvaluation::default() };
    if score.is_none() {
        turn.reason = answers.first().map(|answer| answer.why_unscored());
    }
    if scoring.explain.wants(turn.status) && !answers.is_empty() {
        turn.explanation =
            Some(Box::new(Explanation { samples: Some(Samples::of(answers)), ..Explanation::default() }));
    }
    turn
}

/// Scores a conversation by a mean of its turns that have a score. Without one the first turn says why.
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
