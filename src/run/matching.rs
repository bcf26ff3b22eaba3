//! Pairs the cases of the evalset with the agent's runs.

use std::borrow::Cow;

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

/// Pairs cases with runs by eval id, in the order of the cases. A repeated id is another run of its case. A run that names
/// no case has the id of its session. If no id matches, cases are paired by position where there are as many runs, and
/// the only case that was selected with a single run that names none. Runs without a case get a warning. O(n).
///
/// Cases and runs are handled one by one, so that pairing can pause after any of them.
pub(super) struct Pairer<'a> {
    cases: Items<'a>,
    runs: ActualRuns<'a>,
    stage: Stage,
    ids: Interner<'a>,
    runs_by_id: Vec<RunsWithId>,
    /// Whether any case has the id of a run.
    any_id_matches: bool,
    /// The only case that was selected.
    selected_case: Option<String>,
    /// Its index, if the only run belongs to it whatever its id.
    case_of_only_run: Option<usize>,
}

/// The step to do next, with the index of the case or run that it concerns.
#[derive(Clone, Copy)]
enum Stage {
    ReadRuns,
    ReadCases,
    PairByPosition(usize),
    PairById(usize),
    WarnOfUnpaired(usize),
    Done,
}

/// The cases and runs, and how they are paired.
#[derive(Default)]
pub(super) struct Matched<'a> {
    pub(super) cases: Vec<ExpectedCase<'a>>,
    pub(super) runs: Vec<ActualRun<'a>>,
    pub(super) pairings: Vec<Pairing>,
    pub(super) warnings: Vec<Error>,
}

impl<'a> Pairer<'a> {
    pub(super) fn new(
        cases: List<'a, EvalCase<'a>>,
        runs: ActualRuns<'a>,
        selected_case: Option<String>,
    ) -> Self {
        let stage = Stage::ReadRuns;
        Self {
            cases: cases.json().items(),
            runs,
            stage,
            ids: Interner::default(),
            runs_by_id: Vec::new(),
            any_id_matches: false,
            selected_case,
            case_of_only_run: None,
        }
    }

    /// Continues until the work for one poll is done. Returns whether all cases are paired.
    pub(super) fn advance(&mut self, found: &mut Matched<'a>, work: &mut Work) -> bool {
        while !work.is_done() {
            work.add(UNITS_PER_CASE);
            self.stage = match self.stage {
                Stage::ReadRuns => self.read_run(found),
                Stage::ReadCases => self.read_case(found),
                Stage::PairByPosition(next) if next < found.runs.len() => {
                    found.pairings.push(Pairing { case: next, run: Some(next) });
                    Stage::PairByPosition(next + 1)
                }
                Stage::PairById(next) => self.pair_by_id(next, found),
                Stage::WarnOfUnpaired(next) => self.warn_if_unpaired(next, found),
                Stage::PairByPosition(_) | Stage::Done => return true,
            };
        }
        false
    }

    fn read_run(&mut self, found: &mut Matched<'a>) -> Stage {
        let Some(run) = self.runs.next() else { return Stage::ReadCases };
        let index = found.runs.len();
        if let Some(id) = id_of(&run).cloned() {
            let number = self.ids.intern(id);
            if number == self.runs_by_id.len() {
                self.runs_by_id.push(RunsWithId { first: index, ..RunsWithId::default() });
            } else if let Some(runs) = self.runs_by_id.get_mut(number) {
                runs.others.push(index);
            }
        }
        found.runs.push(run);
        Stage::ReadRuns
    }

    fn read_case(&mut self, found: &mut Matched<'a>) -> Stage {
        if let Some(case) = self.cases.next() {
            let case = ExpectedCase::from(EvalCase::from_json(case));
            self.any_id_matches = self.any_id_matches || self.ids.find(&case.eval_id).is_some();
            found.cases.push(case);
            return Stage::ReadCases;
        }
        if self.any_id_matches {
            return Stage::PairById(0);
        }
        let only_run = if let [run] = &*found.runs { Some(run) } else { None };
        let names_no_case = only_run.is_some_and(|run| run.eval_id.is_none());
        if found.runs.len() == found.cases.len() {
            if !self.runs_by_id.is_empty() && !names_no_case {
                found.warnings.push(paired_by_position(found.runs.iter().all(|run| run.eval_id.is_none())));
            }
            return Stage::PairByPosition(0);
        }
        if names_no_case && let Some(id) = self.selected_case.as_deref() {
            self.case_of_only_run = found.cases.iter().position(|case| case.eval_id == id);
        }
        Stage::PairById(0)
    }

    fn pair_by_id(&mut self, case: usize, found: &mut Matched<'a>) -> Stage {
        let Some(ExpectedCase { eval_id, .. }) = found.cases.get(case) else {
            return Stage::WarnOfUnpaired(0);
        };
        if self.case_of_only_run == Some(case) {
            found.pairings.push(Pairing { case, run: Some(0) });
            return Stage::PairById(case + 1);
        }
        match self.ids.find(eval_id).and_then(|number| self.runs_by_id.get_mut(number)) {
            Some(runs) if !runs.are_paired => {
                runs.are_paired = true;
                let runs = std::iter::once(runs.first).chain(std::mem::take(&mut runs.others));
                found.pairings.extend(runs.map(|run| Pairing { case, run: Some(run) }));
            }
            // Reached twice only if two cases share an id, and such files are rejected when they are read.
            Some(_) | None => found.pairings.push(Pairing { case, run: None }),
        }
        Stage::PairById(case + 1)
    }

    fn warn_if_unpaired(&mut self, index: usize, found: &mut Matched<'a>) -> Stage {
        let Some(run) = found.runs.get(index).filter(|_| self.case_of_only_run.is_none()) else {
            return Stage::Done;
        };
        let number = id_of(run).and_then(|id| self.ids.find(id));
        if number.and_then(|number| self.runs_by_id.get(number)).is_none_or(|runs| !runs.are_paired) {
            found.warnings.push(unpaired(run));
        }
        Stage::WarnOfUnpaired(index + 1)
    }
}

/// The runs with one eval id, and whether they are paired with a case.
#[derive(Default)]
struct RunsWithId {
    first: usize,
    others: Vec<usize>,
    are_paired: bool,
}

/// What pairs a run with a case: the eval id or, where none is given, the id of the session.
fn id_of<'r, 'a>(run: &'r ActualRun<'a>) -> Option<&'r Cow<'a, str>> {
    run.eval_id.as_ref().or(run.session_id.as_ref())
}

/// How a session says to which case it belongs.
const NAME_ITS_CASE: &str = "Write the eval id of its case into the session as `eval_id`; in JavaScript, `evalIds` of readSessions and readTraces do";

#[cold]
fn paired_by_position(are_sessions: bool) -> Error {
    let message = "no actual conversation has the id of an eval case, so they are paired in their order";
    let help = if are_sessions { NAME_ITS_CASE } else { "Is this what the agent did for this evalset?" };
    Error::new(ErrorCode::ActualMissing, message).with_help(help)
}

#[cold]
fn unpaired(run: &ActualRun<'_>) -> Error {
    let name = match id_of(run) {
        Some(name) => format!("the actual conversation {}", quoted(name)),
        None => "an actual conversation".into(),
    };
    let is_session = id_of(run) == run.session_id.as_ref();
    Error::new(ErrorCode::ActualMissing, format!("{name} belongs to no eval case and is left out"))
        .with_help(if is_session { NAME_ITS_CASE } else { "Runs are matched with cases by eval id" })
}
