//! Numbers for texts, in one place and in few bytes: the standard library's hash map brings 3 KB into the
//! WebAssembly module for every type of its keys.
//!
//! A hash table, open-addressed with linear probing at a load of at most one half. O(length) a text.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::FxHasher;

const FIRST_SLOTS: usize = 16;

/// Numbers different texts from 0 on, in the order they come.
#[derive(Default)]
pub(crate) struct Numbers<'a> {
    texts: Vec<Cow<'a, str>>,
    /// One more than the number of a text, or 0. None at all, or a power of two.
    slots: Vec<u32>,
}

impl<'a> Numbers<'a> {
    /// The number of a text, which may be new.
    #[inline(never)]
    pub(crate) fn of(&mut self, text: Cow<'a, str>) -> usize {
        if self.texts.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let count = self.texts.len();
        let at = slot_of(&text, &self.texts, &self.slots);
        match self.slots.get_mut(at) {
            Some(free) if *free == 0 => {
                *free = number_of_slot(count);
                self.texts.push(text);
                count
            }
            known => known.map_or(0, |slot| *slot as usize - 1),
        }
    }

    /// The number of a text that came before.
    #[inline(never)]
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let slot = self.slots.get(slot_of(text, &self.texts, &self.slots))?;
        (*slot as usize).checked_sub(1)
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 2).max(FIRST_SLOTS)];
        for (number, text) in self.texts.iter().enumerate() {
            let at = slot_of(text, &self.texts, &self.slots);
            if let Some(slot) = self.slots.get_mut(at) {
                *slot = number_of_slot(number);
            }
        }
    }
}

fn number_of_slot(number: usize) -> u32 {
    u32::try_from(number + 1).unwrap_or(u32::MAX)
}

/// The slot that has a text, or the free one that would.
#[inline(never)]
fn slot_of(text: &str, texts: &[Cow<'_, str>], slots: &[u32]) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    let mask = slots.len().wrapping_sub(1);
    let mut at = hasher.finish() as usize & mask;
    let is_other =
        |slot: &u32| *slot != 0 && texts.get(*slot as usize - 1).is_some_and(|known| known != text);
    while slots.get(at).is_some_and(is_other) {
        at = (at + 1) & mask;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_the_numbers_of_their_first_time() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.find(""), None);
        for _ in 0..2 {
            for number in 0..1000 {
                assert_eq!(numbers.of(Cow::Owned(number.to_string())), number);
            }
        }
        assert_eq!(numbers.find("999"), Some(999));
        assert_eq!(numbers.find("1000"), None);
    }
}
