//! Which run of the agent belongs to which case.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::model::actual::ActualRun;
use crate::model::error::{Error, ErrorCode};
use crate::model::evalset::{EvalCase, EvalSet};
use crate::model::invocation::{Invocation, Rubric};
use crate::model::write::quoted;

/// A case with one run of it, as places in the evalset and among the actual runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// Which case.
    pub case: usize,
    /// Which run of it; none if there is none.
    pub run: Option<usize>,
}

/// Pairs cases with runs by eval id, in the order of the cases; a repeated id is another run of its
/// case. Runs pair by place only if no id matches and there are as many runs as cases. Runs of no
/// case are warned of.
pub(super) fn pair(set: &EvalSet<'_>, runs: &[ActualRun<'_>]) -> (Vec<Pairing>, Vec<Error>) {
    let mut by_id: HashMap<&str, OfId, FxBuildHasher> = HashMap::default();
    for (index, run) in runs.iter().enumerate() {
        if let Some(id) = run.eval_id.as_deref() {
            by_id.entry(id).or_default().runs.push(index);
        }
    }
    let matched = set.eval_cases.iter().any(|case| by_id.contains_key(case.eval_id.as_ref()));
    if !matched && runs.len() == set.eval_cases.len() {
        let pairings = (0..runs.len()).map(|index| Pairing { case: index, run: Some(index) }).collect();
        return (pairings, Vec::new());
    }
    let mut pairings = Vec::with_capacity(runs.len());
    let mut warnings = Vec::new();
    for (case, EvalCase { eval_id, .. }) in set.eval_cases.iter().enumerate() {
        match by_id.get_mut(eval_id.as_ref()).map(|of_id| (std::mem::take(&mut of_id.runs), &mut of_id.taken))
        {
            Some((runs, taken)) if !*taken => {
                *taken = true;
                pairings.extend(runs.into_iter().map(|run| Pairing { case, run: Some(run) }));
            }
            Some(_) => {
                warnings.push(ambiguous(eval_id));
                pairings.push(Pairing { case, run: None });
            }
            None => pairings.push(Pairing { case, run: None }),
        }
    }
    let is_stray = |run: &&ActualRun<'_>| {
        run.eval_id.as_deref().and_then(|id| by_id.get(id)).is_none_or(|of_id| !of_id.taken)
    };
    warnings.extend(runs.iter().filter(is_stray).map(stray));
    (pairings, warnings)
}

/// The runs of one eval id, and whether a case has them.
#[derive(Default)]
struct OfId {
    runs: Vec<usize>,
    taken: bool,
}

fn ambiguous(eval_id: &str) -> Error {
    let message =
        format!("the eval id {} stands for several cases; its runs go to the first", quoted(eval_id));
    Error::new(ErrorCode::InvalidInput, message).with_help("Give each case an id of its own")
}

fn stray(run: &ActualRun<'_>) -> Error {
    let name = match run.eval_id.as_deref().or(run.session_id.as_deref()) {
        Some(name) => format!("the actual conversation {}", quoted(name)),
        None => "an actual conversation".into(),
    };
    Error::new(ErrorCode::ActualMissing, format!("{name} belongs to no eval case and is left out"))
        .with_help("Runs belong to cases by eval id")
}

/// Adds the rubrics of the case, then those of each expected turn, to the actual turns. One that is
/// there already in the same words is not added again.
///
/// # Errors
/// `rubric_conflict` if an id stands for different words.
pub(super) fn add_rubrics<'a>(case: &EvalCase<'a>, turns: &mut [Invocation<'a>]) -> Result<(), Error> {
    let expected = case.conversation.as_deref().unwrap_or_default();
    for (index, turn) in turns.iter_mut().enumerate() {
        let of_turn = expected.get(index).and_then(|turn| turn.rubrics.as_ref());
        for rubric in case.rubrics.iter().chain(of_turn).flatten() {
            add_rubric(rubric, turn)?;
        }
    }
    Ok(())
}

fn add_rubric<'a>(rubric: &Rubric<'a>, turn: &mut Invocation<'a>) -> Result<(), Error> {
    let rubrics = turn.rubrics.get_or_insert_default();
    match rubrics.iter().find(|known| known.rubric_id == rubric.rubric_id) {
        None => rubrics.push(rubric.clone()),
        Some(known) if known.rubric_content == rubric.rubric_content => {}
        Some(_) => {
            let message =
                format!("the rubric id {} stands for two different rubrics", quoted(&rubric.rubric_id));
            return Err(
                Error::new(ErrorCode::RubricConflict, message).with_help("Give one of them another id")
            );
        }
    }
    Ok(())
}
