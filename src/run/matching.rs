//! Pairs the agent's runs with the cases of the evalset.

use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::interner::Interner;
use crate::foundation::json::Items;
use crate::foundation::write::quoted;
use crate::metrics::judged::Work;
use crate::model::actual::{ActualRun, ActualRuns};
use crate::model::evalset::{EvalCase, UNITS_PER_CASE};
use crate::model::shape::{List, View};

use super::ExpectedCase;

/// A case with one of its runs, as indexes into the evalset and the list of actual runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// The index of the case.
    pub case: usize,
    /// The index of its run; `None` if the agent has no run for the case.
    pub run: Option<usize>,
}

/// Pairs cases with runs by eval id, in the order of the cases; a repeated id is another run of its
/// case. Runs pair by place only if no id matches and there are as many runs as cases. Runs of no
/// case are warned of. Both are read on the way, one by one, so that it can stop after any of them.
pub(super) struct Matching<'a> {
    cases: Items<'a>,
    runs: ActualRuns<'a>,
    stage: Stage,
    ids: Interner<'a>,
    by_id: Vec<OfId>,
    /// Whether the id of a case is that of a run.
    matched: bool,
}

/// What is done with each case or run. A number says which comes next.
#[derive(Clone, Copy)]
enum Stage {
    ReadRuns,
    ReadCases,
    PairByPlace(usize),
    PairById(usize),
    WarnOfStrays(usize),
    Done,
}

/// What comes of it.
#[derive(Default)]
pub(super) struct Matched<'a> {
    pub(super) cases: Vec<ExpectedCase<'a>>,
    pub(super) runs: Vec<ActualRun<'a>>,
    pub(super) pairings: Vec<Pairing>,
    pub(super) warnings: Vec<Error>,
}

impl<'a> Matching<'a> {
    pub(super) fn new(cases: List<'a, EvalCase<'a>>, runs: ActualRuns<'a>) -> Self {
        let stage = Stage::ReadRuns;
        Self {
            cases: cases.json().items(),
            runs,
            stage,
            ids: Interner::default(),
            by_id: Vec::new(),
            matched: false,
        }
    }

    /// Goes on for as long as there is work left to do. Says whether all are paired.
    pub(super) fn go_on(&mut self, found: &mut Matched<'a>, work: &mut Work) -> bool {
        while !work.is_done() {
            work.add(UNITS_PER_CASE);
            self.stage = match self.stage {
                Stage::ReadRuns => self.read_run(found),
                Stage::ReadCases => self.read_case(found),
                Stage::PairByPlace(next) if next < found.runs.len() => {
                    found.pairings.push(Pairing { case: next, run: Some(next) });
                    Stage::PairByPlace(next + 1)
                }
                Stage::PairById(next) => self.pair_by_id(next, found),
                Stage::WarnOfStrays(next) => self.warn_if_stray(next, found),
                Stage::PairByPlace(_) | Stage::Done => return true,
            };
        }
        false
    }

    fn read_run(&mut self, found: &mut Matched<'a>) -> Stage {
        let Some(run) = self.runs.next() else { return Stage::ReadCases };
        let index = found.runs.len();
        if let Some(id) = run.eval_id.clone() {
            let number = self.ids.intern(id);
            if number == self.by_id.len() {
                self.by_id.push(OfId { first: index, ..OfId::default() });
            } else if let Some(of_id) = self.by_id.get_mut(number) {
                of_id.others.push(index);
            }
        }
        found.runs.push(run);
        Stage::ReadRuns
    }

    fn read_case(&mut self, found: &mut Matched<'a>) -> Stage {
        if let Some(case) = self.cases.next() {
            let case = ExpectedCase::from(EvalCase::from_json(case));
            self.matched = self.matched || self.ids.find(&case.eval_id).is_some();
            found.cases.push(case);
            return Stage::ReadCases;
        }
        if !self.matched && found.runs.len() == found.cases.len() {
            if !self.by_id.is_empty() {
                found.warnings.push(by_place());
            }
            return Stage::PairByPlace(0);
        }
        Stage::PairById(0)
    }

    fn pair_by_id(&mut self, case: usize, found: &mut Matched<'a>) -> Stage {
        let Some(ExpectedCase { eval_id, .. }) = found.cases.get(case) else { return Stage::WarnOfStrays(0) };
        match self.ids.find(eval_id).and_then(|number| self.by_id.get_mut(number)) {
            Some(of_id) if !of_id.taken => {
                of_id.taken = true;
                let runs = std::iter::once(of_id.first).chain(std::mem::take(&mut of_id.others));
                found.pairings.extend(runs.map(|run| Pairing { case, run: Some(run) }));
            }
            // Reached twice only if two cases share an id, and such files are rejected when they are read.
            Some(_) | None => found.pairings.push(Pairing { case, run: None }),
        }
        Stage::PairById(case + 1)
    }

    fn warn_if_stray(&mut self, index: usize, found: &mut Matched<'a>) -> Stage {
        let Some(run) = found.runs.get(index) else { return Stage::Done };
        let number = run.eval_id.as_deref().and_then(|id| self.ids.find(id));
        if number.and_then(|number| self.by_id.get(number)).is_none_or(|of_id| !of_id.taken) {
            found.warnings.push(stray(run));
        }
        Stage::WarnOfStrays(index + 1)
    }
}

/// The runs that share one eval id, and whether a case has claimed them.
#[derive(Default)]
struct OfId {
    first: usize,
    others: Vec<usize>,
    taken: bool,
}

#[cold]
fn by_place() -> Error {
    let message = "no actual conversation has the id of an eval case, so they go together by their order";
    Error::new(ErrorCode::ActualMissing, message.to_owned())
        .with_help("Is this what the agent did for this evalset?")
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
