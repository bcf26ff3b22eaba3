//! Which rubrics apply to the turns of a case: those of the turn, those of the case, then those of the expected
//! turn. A rubric that is there already with the same text is not added again.
//!
//! The rubrics of the case are stored once, however many turns there are. O(n log n) in the number of all
//! rubrics in the input.

use std::borrow::Cow;

use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::sort::{groups, sort};
use crate::foundation::write::quoted;
use crate::model::invocation::{Invocation, Rubric, Turns};
use crate::model::shape::List;

/// The most rubrics that a case and all its turns may have, repeated ones included. They are joined in one piece.
pub const MAX_RUBRICS: usize = 1 << 16;

/// The rubrics of a case by turn.
#[derive(Clone, Default)]
pub struct CaseRubrics<'a> {
    case_rubrics: Vec<Rubric<'a>>,
    /// The additional rubrics of single turns, up to the last turn that has any.
    turns: Vec<TurnRubrics<'a>>,
}

/// The rubrics that a turn has besides those of its case.
#[derive(Clone, Default)]
struct TurnRubrics<'a> {
    own: Vec<Rubric<'a>>,
    /// The indexes of the case's rubrics that the turn repeats, in ascending order.
    repeated: Vec<usize>,
    expected: Vec<Rubric<'a>>,
}

/// The ids of the case's rubrics, and their indexes sorted by id.
struct RubricIndex<'a> {
    ids: Vec<Cow<'a, str>>,
    by_id: Vec<usize>,
}

impl RubricIndex<'_> {
    fn find(&self, id: &str) -> Option<usize> {
        let id_at = |at: &usize| self.ids.get(*at).map_or("", |id| &**id);
        let index = self.by_id.binary_search_by(|at| id_at(at).cmp(id)).ok()?;
        self.by_id.get(index).copied()
    }
}

impl<'a> CaseRubrics<'a> {
    /// Collects the rubrics of a case, of its actual and of its expected turns.
    ///
    /// # Errors
    /// `rubric_conflict` if one id stands for different texts; `limit_exceeded` beyond [`MAX_RUBRICS`].
    pub fn read(case_rubrics: List<'a, Rubric<'a>>, actual: Turns<'a>, expected: Turns<'a>) -> Result<Self> {
        let of_turns = actual.iter().chain(expected.iter()).filter_map(Invocation::rubrics);
        let number: usize = of_turns.chain([case_rubrics]).map(|rubrics| rubrics.iter().count()).sum();
        if number > MAX_RUBRICS {
            let message =
                format!("the case and its turns have {number} rubrics; at most {MAX_RUBRICS} are read");
            return Err(
                Error::new(ErrorCode::LimitExceeded, message).with_help("Split the case into several")
            );
        }
        let mut all = Self::default();
        if number == 0 {
            return Ok(all);
        }
        let mut known = None;
        let mut expected = expected.iter();
        for (index, turn) in actual.iter().enumerate() {
            let known = match &known {
                Some(known) => known,
                None => known.insert(all.read_case(case_rubrics)?),
            };
            let own = turn.rubrics().unwrap_or_default();
            let expected_rubrics = expected.next().and_then(Invocation::rubrics).unwrap_or_default();
            let turn_rubrics =
                all.read_turn(known, own.iter().collect(), expected_rubrics.iter().collect())?;
            if !turn_rubrics.own.is_empty() || !turn_rubrics.expected.is_empty() {
                all.turns.resize_with(index, TurnRubrics::default);
                all.turns.push(turn_rubrics);
            }
        }
        Ok(all)
    }

    fn read_case(&mut self, list: List<'a, Rubric<'a>>) -> Result<RubricIndex<'a>> {
        let rubrics: Vec<Rubric<'a>> = list.iter().collect();
        let mut ids: Vec<Cow<'a, str>> = rubrics.iter().map(|rubric| rubric.rubric_id()).collect();
        let mut kept = Vec::new();
        for ((rubric, group), id) in rubrics.into_iter().zip(groups(&ids)).zip(std::mem::take(&mut ids)) {
            match self.case_rubrics.get(group) {
                None => {
                    self.case_rubrics.push(rubric);
                    kept.push(id);
                }
                Some(first) => same(*first, rubric)?,
            }
        }
        let mut by_id: Vec<usize> = (0..kept.len()).collect();
        sort(&mut by_id, |a, b| kept.get(*a).cmp(&kept.get(*b)));
        Ok(RubricIndex { ids: kept, by_id })
    }

    fn read_turn(
        &self,
        known: &RubricIndex<'a>,
        own: Vec<Rubric<'a>>,
        expected: Vec<Rubric<'a>>,
    ) -> Result<TurnRubrics<'a>> {
        let mut turn_rubrics = TurnRubrics::default();
        if own.is_empty() && expected.is_empty() {
            return Ok(turn_rubrics);
        }
        let ids: Vec<Cow<'a, str>> = own.iter().chain(&expected).map(|rubric| rubric.rubric_id()).collect();
        // For each id of the turn, the first rubric with that id.
        let mut firsts: Vec<Rubric<'a>> = Vec::new();
        for (at, (group, id)) in groups(&ids).into_iter().zip(&ids).enumerate() {
            let in_case = known.find(id).and_then(|index| Some((index, *self.case_rubrics.get(index)?)));
            let is_new = group == firsts.len();
            if let Some(rubric) = own.get(at) {
                if is_new {
                    firsts.push(*rubric);
                    if let Some((index, case_rubrics)) = in_case {
                        same(*rubric, case_rubrics)?;
                        turn_rubrics.repeated.push(index);
                    }
                }
            } else if let Some(rubric) = at.checked_sub(own.len()).and_then(|at| expected.get(at)) {
                match (firsts.get(group), in_case) {
                    (Some(first), _) => same(*first, *rubric)?,
                    (None, Some((_, case_rubrics))) => {
                        same(case_rubrics, *rubric)?;
                        firsts.push(case_rubrics);
                    }
                    (None, None) => {
                        firsts.push(*rubric);
                        turn_rubrics.expected.push(*rubric);
                    }
                }
            }
        }
        sort(&mut turn_rubrics.repeated, usize::cmp);
        turn_rubrics.own = own;
        Ok(turn_rubrics)
    }

    /// The rubrics that apply to a turn.
    pub fn for_turn(&self, turn: usize) -> impl Iterator<Item = Rubric<'a>> {
        let (own, repeated, expected): (&[_], &[_], &[_]) = match self.turns.get(turn) {
            Some(TurnRubrics { own, repeated, expected }) => (own, repeated, expected),
            None => (&[], &[], &[]),
        };
        let case_rubrics = self.case_rubrics.iter().enumerate();
        let added = case_rubrics
            .filter(|(index, _)| repeated.binary_search(index).is_err())
            .map(|(_, rubric)| rubric);
        own.iter().chain(added).chain(expected).copied()
    }
}

/// # Errors
/// `rubric_conflict` if two rubrics with the same id have different texts.
fn same(known: Rubric<'_>, other: Rubric<'_>) -> Result<()> {
    if known.property() == other.property() {
        return Ok(());
    }
    let id = quoted(&other.rubric_id());
    let message = format!("two different rubrics have the id {id}");
    Err(Error::new(ErrorCode::RubricConflict, message).with_help("Give one of them another id"))
}
