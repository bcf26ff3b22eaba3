//! Pairs the agent's runs with the cases of the evalset.

use std::borrow::Cow;

use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::interner::Interner;
use crate::foundation::write::quoted;
use crate::model::actual::ActualRun;

use super::ExpectedCase;

/// A case with one of its runs, as indexes into the evalset and the list of actual runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// The index of the case.
    pub case: usize,
    /// The index of its run; `None` if the agent has no run for the case.
    pub run: Option<usize>,
}

/// Pairs cases with runs by eval id, in the order of the cases. A repeated id is another run of the same case.
/// If no id matches and there are as many runs as cases, they are paired by position instead. Returns a warning
/// for each run that belongs to no case.
pub(super) fn pair(cases: &[ExpectedCase<'_>], runs: &[ActualRun<'_>]) -> (Vec<Pairing>, Vec<Error>) {
    let mut ids = Interner::default();
    let mut by_id: Vec<OfId> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        if let Some(id) = run.eval_id.as_deref() {
            let number = ids.intern(Cow::Borrowed(id));
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
            // Reached twice only if two cases share an id, and such files are rejected when they are read.
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

/// The runs that share one eval id, and whether a case has claimed them.
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
