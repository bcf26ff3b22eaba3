//! Numbers for texts, in one place: every type of hash map by itself would bring 3 KB into the
//! WebAssembly module.

use std::borrow::Cow;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

/// Numbers different texts from 0 on, in the order they come.
#[derive(Default)]
pub(crate) struct Numbers<'a>(HashMap<Cow<'a, str>, u32, FxBuildHasher>);

impl<'a> Numbers<'a> {
    /// The number of a text, which may be new.
    #[inline(never)]
    pub(crate) fn of(&mut self, text: Cow<'a, str>) -> usize {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(text).or_insert(next) as usize
    }

    /// The number of a text that came before.
    #[inline(never)]
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        self.0.get(text).map(|number| *number as usize)
    }
}
