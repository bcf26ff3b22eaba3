//! Metrics that the host computes: the task it is given, the scores it returns, and the result made of them.

use super::reasons::{not_evaluated, unscored};
use super::{Millis, Pairing, Run};
use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode};
use crate::metrics::{Evaluation, TurnEvaluation, mean, turns as in_words};
use crate::model::invocation::Turns;
use crate::model::results::EvalStatus;

/// A metric that the host computes for one run of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomTask {
    /// The id to pass to [`Run::handle_custom`].
    pub id: TaskId,
    /// The index of the metric in the plan.
    pub metric: usize,
    /// The case and run to score.
    pub pairing: Pairing,
}

/// Identifies a task within its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub u32);

/// The host's result.
#[derive(Clone, Debug, Default)]
pub struct CustomEvaluation {
    /// That of the whole conversation; its score is the mean of the turns' if absent.
    pub overall: CustomScore,
    /// One entry per turn, or empty.
    pub turns: Vec<CustomScore>,
}

/// The host's score of a conversation or a turn and, where the host decides it itself, the status.
#[derive(Clone, Debug, Default)]
pub struct CustomScore {
    /// The score.
    pub score: Option<f64>,
    /// The status; derived from the threshold if absent.
    pub status: Option<EvalStatus>,
    /// Why there is no score.
    pub reason: Option<String>,
}

pub(super) struct OpenTask {
    pub(super) custom: CustomTask,
    pub(super) pairing_index: usize,
    pub(super) until: Option<Millis>,
}

impl Run<'_> {
    /// Accepts the host's result for a task. Results for tasks that are no longer open are ignored.
    pub fn handle_custom(&mut self, id: TaskId, found: Result<CustomEvaluation, Error>) {
        if let Some(at) = self.working.iter().position(|task| task.custom.id == id) {
            let task = self.working.remove(at);
            self.settle(&task, found);
        }
    }

    pub(super) fn expire(&mut self, now: Millis) {
        let is_late = |task: &OpenTask| task.until.is_some_and(|until| until <= now);
        while let Some(at) = self.working.iter().position(is_late) {
            let task = self.working.remove(at);
            let limit = self.options.timeout_ms.unwrap_or_default();
            let message = format!("no answer within {} ms", double::to_text(limit));
            self.settle(&task, Err(Error::new(ErrorCode::Timeout, message)));
        }
    }

    pub(super) fn settle(&mut self, task: &OpenTask, found: Result<CustomEvaluation, Error>) {
        let Some(open) = self.open.iter_mut().find(|open| open.pairing_index == task.pairing_index) else {
            return;
        };
        let run = task.custom.pairing.run.and_then(|run| self.matched.runs.get(run));
        let turns = run.and_then(|run| run.turns).map_or(0, Turns::len);
        let threshold = self.plan.metrics.get(task.custom.metric).and_then(|metric| metric.threshold);
        let evaluation =
            found.and_then(|found| evaluation_from_host(found, turns, threshold.unwrap_or_default()));
        if let Some(entry) = open.result.metrics.get_mut(task.custom.metric) {
            *entry = evaluation.unwrap_or_else(|error| not_evaluated(error, turns));
        }
        open.missing -= 1;
        self.settle_case_if_complete(task.pairing_index);
    }
}

/// Completes the host's result: statuses from the threshold, the overall score from the mean of the turns, and
/// a reason wherever a score is missing.
fn evaluation_from_host<'a>(
    found: CustomEvaluation,
    turns: usize,
    threshold: f64,
) -> Result<Evaluation<'a>, Error> {
    let CustomEvaluation { overall, turns: given } = found;
    let score = overall.score.or_else(|| mean(given.iter().filter_map(|turn| turn.score)));
    let scores = given.iter().map(|turn| turn.score).chain([score]).flatten();
    if let Some(score) = scores.into_iter().find(|score| !score.is_finite()) {
        let message =
            format!("the metric gave {}; a score is a finite number, or absent", double::to_text(score));
        return Err(Error::new(ErrorCode::CustomMetricFailed, message));
    }
    if !given.is_empty() && given.len() != turns {
        let message =
            format!("the metric gave results for {}; the conversation has {turns}", in_words(given.len()));
        return Err(Error::new(ErrorCode::CustomMetricFailed, message));
    }
    let status = |status: Option<EvalStatus>, score| {
        status.unwrap_or_else(|| EvalStatus::from_score(score, threshold))
    };
    let reason = |given: Option<String>, score: Option<f64>| match (given, score) {
        (Some(reason), _) => Some(reason.into()),
        (None, None) => Some("the metric returned no score".into()),
        (None, Some(_)) => None,
    };
    let per_turn = given.into_iter().map(|turn| TurnEvaluation {
        score: turn.score,
        status: status(turn.status, turn.score),
        reason: reason(turn.reason, turn.score),
        ..TurnEvaluation::default()
    });
    let mut per_turn: Vec<_> = per_turn.collect();
    if per_turn.is_empty() {
        per_turn = unscored(turns, "the metric scores whole conversations");
    }
    Ok(Evaluation {
        score,
        status: status(overall.status, score),
        reason: reason(overall.reason, score),
        turns: per_turn,
        ..Evaluation::default()
    })
}
