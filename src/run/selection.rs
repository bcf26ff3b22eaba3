//! The cases that a run is restricted to. They may be many, so they are looked up one by one.

use std::borrow::Cow;

use super::{ExpectedCase, Run};
use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::interner::Interner;
use crate::foundation::write::quoted;

/// The ids of the cases that are wanted, and which of an evalset's cases have one of them.
#[derive(Default)]
pub struct Selection {
    ids: Interner<'static>,
    /// For each id, whether a case has it.
    is_there: Vec<(String, bool)>,
    /// For each case that was looked at, whether it is wanted.
    is_wanted: Vec<bool>,
}

impl Selection {
    /// Adds an id.
    pub fn want(&mut self, id: String) {
        if self.ids.intern(Cow::Owned(id.clone())) == self.is_there.len() {
            self.is_there.push((id, false));
        }
    }

    /// Looks at the next case of the evalset.
    pub fn look_at(&mut self, case: &ExpectedCase<'_>) {
        let of_id = self.ids.find(&case.eval_id).and_then(|number| self.is_there.get_mut(number));
        self.is_wanted.push(of_id.is_some());
        if let Some((_, is_there)) = of_id {
            *is_there = true;
        }
    }
}

impl Run<'_> {
    /// Restricts the run to the cases with these ids. Call it before the first poll.
    ///
    /// # Errors
    /// `invalid_input` if the evalset has no case with such an id.
    pub fn select(&mut self, eval_ids: &[String]) -> Result<(), Error> {
        let mut selection = Selection::default();
        eval_ids.iter().for_each(|id| selection.want(id.clone()));
        self.matched.cases.iter().for_each(|case| selection.look_at(case));
        self.keep(&selection)
    }

    /// Restricts the run to a selection that has looked at all cases. Call it before the first poll.
    ///
    /// # Errors
    /// `invalid_input` if the evalset has no case with such an id.
    pub fn keep(&mut self, Selection { is_there, is_wanted, .. }: &Selection) -> Result<(), Error> {
        if let Some((unknown, _)) = is_there.iter().find(|(_, is_there)| !is_there) {
            let known: Vec<_> = self.matched.cases.iter().take(5).map(|case| quoted(&case.eval_id)).collect();
            let message = format!("the evalset has no case {}", quoted(unknown));
            return Err(Error::new(ErrorCode::InvalidInput, message)
                .with_help(format!("It has {}", known.join(", "))));
        }
        self.matched.pairings.retain(|pairing| is_wanted.get(pairing.case).copied().unwrap_or(false));
        Ok(())
    }
}
