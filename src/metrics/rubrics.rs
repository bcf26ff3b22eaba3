//! Which rubrics are in force for the turns of a case: those of the turn, those of the case, then those of the
//! expected turn. One that is there already in the same words is not added again.
//!
//! The rubrics of the case are kept once, however many turns there are. O(n log n) in all rubrics as they were
//! written.

use std::borrow::Cow;

use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::sort::{groups, sort};
use crate::foundation::write::quoted;
use crate::model::invocation::{Invocation, Rubric, Turns};
use crate::model::shape::List;

/// The rubrics of a case by turn.
#[derive(Clone, Default)]
pub struct CaseRubrics<'a> {
    of_case: Vec<Rubric<'a>>,
    /// What single turns have besides, up to the last that has anything.
    turns: Vec<OfTurn<'a>>,
}

/// What a turn has besides the rubrics of its case.
#[derive(Clone, Default)]
struct OfTurn<'a> {
    own: Vec<Rubric<'a>>,
    /// The places of the case's rubrics that the turn has itself, in order.
    repeated: Vec<usize>,
    expected: Vec<Rubric<'a>>,
}

/// The case's rubrics and their ids, in the order of the ids.
struct Known<'a> {
    ids: Vec<Cow<'a, str>>,
    by_id: Vec<usize>,
}

impl Known<'_> {
    fn find(&self, id: &str) -> Option<usize> {
        let id_at = |at: &usize| self.ids.get(*at).map_or("", |id| &**id);
        let place = self.by_id.binary_search_by(|at| id_at(at).cmp(id)).ok()?;
        self.by_id.get(place).copied()
    }
}

impl<'a> CaseRubrics<'a> {
    /// Reads the rubrics of a case, of what happened and of what was expected.
    ///
    /// # Errors
    /// `rubric_conflict` if an id stands for different words.
    pub fn read(of_case: List<'a, Rubric<'a>>, actual: Turns<'a>, expected: Turns<'a>) -> Result<Self> {
        let mut all = Self::default();
        let mut known = None;
        let mut expected = expected.iter();
        for (index, turn) in actual.iter().enumerate() {
            let known = match &known {
                Some(known) => known,
                None => known.insert(all.read_case(of_case)?),
            };
            let own = turn.rubrics().unwrap_or_default();
            let of_expected = expected.next().and_then(Invocation::rubrics).unwrap_or_default();
            let of_turn = all.read_turn(known, own.iter().collect(), of_expected.iter().collect())?;
            if !of_turn.own.is_empty() || !of_turn.expected.is_empty() {
                all.turns.resize_with(index, OfTurn::default);
                all.turns.push(of_turn);
            }
        }
        Ok(all)
    }

    fn read_case(&mut self, list: List<'a, Rubric<'a>>) -> Result<Known<'a>> {
        let rubrics: Vec<Rubric<'a>> = list.iter().collect();
        let mut ids: Vec<Cow<'a, str>> = rubrics.iter().map(|rubric| rubric.rubric_id()).collect();
        let mut kept = Vec::new();
        for ((rubric, group), id) in rubrics.into_iter().zip(groups(&ids)).zip(std::mem::take(&mut ids)) {
            match self.of_case.get(group) {
                None => {
                    self.of_case.push(rubric);
                    kept.push(id);
                }
                Some(first) => same(*first, rubric)?,
            }
        }
        let mut by_id: Vec<usize> = (0..kept.len()).collect();
        sort(&mut by_id, |a, b| kept.get(*a).cmp(&kept.get(*b)));
        Ok(Known { ids: kept, by_id })
    }

    fn read_turn(
        &self,
        known: &Known<'a>,
        own: Vec<Rubric<'a>>,
        expected: Vec<Rubric<'a>>,
    ) -> Result<OfTurn<'a>> {
        let mut of_turn = OfTurn::default();
        if own.is_empty() && expected.is_empty() {
            return Ok(of_turn);
        }
        let ids: Vec<Cow<'a, str>> = own.iter().chain(&expected).map(|rubric| rubric.rubric_id()).collect();
        // For each id of the turn the rubric that came with it first.
        let mut firsts: Vec<Rubric<'a>> = Vec::new();
        for (at, (group, id)) in groups(&ids).into_iter().zip(&ids).enumerate() {
            let in_case = known.find(id).and_then(|place| Some((place, *self.of_case.get(place)?)));
            let is_new = group == firsts.len();
            if let Some(rubric) = own.get(at) {
                if is_new {
                    firsts.push(*rubric);
                    if let Some((place, of_case)) = in_case {
                        same(*rubric, of_case)?;
                        of_turn.repeated.push(place);
                    }
                }
            } else if let Some(rubric) = at.checked_sub(own.len()).and_then(|at| expected.get(at)) {
                match (firsts.get(group), in_case) {
                    (Some(first), _) => same(*first, *rubric)?,
                    (None, Some((_, of_case))) => {
                        same(of_case, *rubric)?;
                        firsts.push(of_case);
                    }
                    (None, None) => {
                        firsts.push(*rubric);
                        of_turn.expected.push(*rubric);
                    }
                }
            }
        }
        sort(&mut of_turn.repeated, usize::cmp);
        of_turn.own = own;
        Ok(of_turn)
    }

    /// The rubrics of a turn.
    pub fn of_turn(&self, turn: usize) -> impl Iterator<Item = Rubric<'a>> {
        let (own, repeated, expected): (&[_], &[_], &[_]) = match self.turns.get(turn) {
            Some(OfTurn { own, repeated, expected }) => (own, repeated, expected),
            None => (&[], &[], &[]),
        };
        let of_case = self.of_case.iter().enumerate();
        let added =
            of_case.filter(|(place, _)| repeated.binary_search(place).is_err()).map(|(_, rubric)| rubric);
        own.iter().chain(added).chain(expected).copied()
    }
}

/// # Errors
/// `rubric_conflict` if two rubrics with one id have different words.
fn same(known: Rubric<'_>, other: Rubric<'_>) -> Result<()> {
    if known.words() == other.words() {
        return Ok(());
    }
    let id = quoted(&other.rubric_id());
    let message = format!("the rubric id {id} stands for two different rubrics");
    Err(Error::new(ErrorCode::RubricConflict, message).with_help("Give one of them another id"))
}
