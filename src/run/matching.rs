//! Which run of the agent belongs to which case.

use std::borrow::Cow;

use crate::model::actual::ActualRun;
use crate::model::error::{Error, ErrorCode};
use crate::model::invocation::{Invocation, Rubric};
use crate::model::numbers::Numbers;
use crate::model::write::quoted;

use super::ExpectedCase;

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
pub(super) fn pair(cases: &[ExpectedCase<'_>], runs: &[ActualRun<'_>]) -> (Vec<Pairing>, Vec<Error>) {
    let mut ids = Numbers::default();
    let mut by_id: Vec<OfId> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        if let Some(id) = run.eval_id.as_deref() {
            let number = ids.of(Cow::Borrowed(id));
            if number == by_id.len() {
                by_id.push(OfId { first: index, ..OfId::default() });
            } else if let Some(of_id) = by_id.get_mut(number) {
                of_id.others.push(index);
            }
        }
    }
    let matched = cases.iter().any(|case| ids.find(&case.eval_id).is_some());
    if !matched && runs.len() == cases.len() {
        let pairings = (0..runs.len()).map(|index| Pairing { case: index, run: Some(index) }).collect();
        return (pairings, Vec::new());
    }
    let mut pairings = Vec::with_capacity(runs.len());
    let mut warnings = Vec::new();
    for (case, ExpectedCase { eval_id, .. }) in cases.iter().enumerate() {
        match ids.find(eval_id).and_then(|number| by_id.get_mut(number)) {
            Some(of_id) if !of_id.taken => {
                of_id.taken = true;
                let runs = std::iter::once(of_id.first).chain(std::mem::take(&mut of_id.others));
                pairings.extend(runs.map(|run| Pairing { case, run: Some(run) }));
            }
            // A file with an id that two cases have is not read.
            Some(_) | None => pairings.push(Pairing { case, run: None }),
        }
    }
    let is_stray = |run: &&ActualRun<'_>| {
        let number = run.eval_id.as_deref().and_then(|id| ids.find(id));
        number.and_then(|number| by_id.get(number)).is_none_or(|of_id| !of_id.taken)
    };
    warnings.extend(runs.iter().filter(is_stray).map(stray));
    (pairings, warnings)
}

/// The runs of one eval id, and whether a case has them.
#[derive(Default)]
struct OfId {
    first: usize,
    others: Vec<usize>,
    taken: bool,
}

#[cold]
fn stray(run: &ActualRun<'_>) -> Error {
    let name = match run.eval_id.as_deref().or(run.session_id.as_deref()) {
        Some(name) => format!("the actual conversation {}", quoted(name)),
        None => "an actual conversation".into(),
    };
    Error::new(ErrorCode::ActualMissing, format!("{name} belongs to no eval case and is left out"))
        .with_help("Runs belong to cases by eval id")
}

/// The rubrics of an actual turn: its own, those of the case, then those of the expected turn. One
/// that is there already in the same words is not added again.
///
/// # Errors
/// `rubric_conflict` if an id stands for different words.
pub fn rubrics<'a>(
    case: &ExpectedCase<'a>,
    actual: Invocation<'a>,
    expected: Option<Invocation<'a>>,
) -> Result<Vec<Rubric<'a>>, Error> {
    let of_turn = expected.and_then(Invocation::rubrics).unwrap_or_default();
    let mut all: Vec<_> = actual.rubrics().unwrap_or_default().iter().collect();
    for rubric in case.case.rubrics().unwrap_or_default().iter().chain(of_turn.iter()) {
        let id = rubric.rubric_id();
        match all.iter().find(|known| known.rubric_id() == id) {
            None => all.push(rubric),
            Some(known) if known.words() == rubric.words() => {}
            Some(_) => {
                let message = format!("the rubric id {} stands for two different rubrics", quoted(&id));
                return Err(
                    Error::new(ErrorCode::RubricConflict, message).with_help("Give one of them another id")
                );
            }
        }
    }
    Ok(all)
}
