//! A string interner: maps equal strings to the same number.
//!
//! It replaces `HashMap<Cow<str>, usize>`, whose hash keys are not random on `wasm32-unknown-unknown`: the
//! author of a file could choose ids that collide and make reading it quadratic.
//!
//! A hash table, open-addressed with linear probing at a load of at most one half. O(length) per string. A
//! lookup visits at most a fixed number of slots: a string that finds all of them occupied is put into a sorted
//! list of blocks instead, where a lookup takes O(√n) at most.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::FxHasher;

const FIRST_SLOTS: usize = 16;

/// The most slots that a lookup visits. Among a million ordinary strings not one finds all of them occupied.
const MAX_PROBES: usize = 64;

/// The most numbers in a block of the sorted list.
const MAX_BLOCK: usize = 512;

/// Numbers distinct strings from 0, in order of first appearance.
#[derive(Default)]
pub(crate) struct Interner<'a> {
    texts: Vec<Text<'a>>,
    /// The number of a string plus one, or 0. The length is zero or a power of two.
    slots: Vec<u32>,
    /// The numbers of strings that found no slot, sorted by string, in blocks.
    crowded: Vec<Vec<u32>>,
}

/// A string with its hash, so that the table grows without reading strings.
struct Text<'a> {
    hash: u32,
    text: Cow<'a, str>,
}

impl<'a> From<Cow<'a, str>> for Text<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self { hash: hash(&text), text }
    }
}

fn hash(text: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish() as u32
}

impl<'a> Interner<'a> {
    /// The number of a string, which is added if it is new.
    #[inline(never)]
    pub(crate) fn intern(&mut self, text: Cow<'a, str>) -> usize {
        if self.texts.len() * 2 >= self.slots.len() {
            self.grow();
        }
        if let Some(known) = self.find(&text) {
            return known;
        }
        let count = self.texts.len();
        self.texts.push(text.into());
        self.enter(count);
        count
    }

    /// The number of a known string.
    #[inline(never)]
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        match self.slot(hash(text), Some(text)) {
            Some(at) => (*self.slots.get(at)? as usize).checked_sub(1),
            None => {
                let (block, at) = self.crowded_position(text);
                let number = *self.crowded.get(block)?.get(at)? as usize;
                (self.texts.get(number)?.text == text).then_some(number)
            }
        }
    }

    /// The slot of a string, or the free one for it, or for a new one with this hash; `None` if all slots that are visited
    /// are occupied by others.
    fn slot(&self, hash: u32, text: Option<&str>) -> Option<usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let is_other = |slot: &u32| {
            *slot != 0
                && self
                    .texts
                    .get(*slot as usize - 1)
                    .is_some_and(|known| known.hash != hash || text.is_none_or(|text| known.text != text))
        };
        let mut at = hash as usize & mask;
        for _ in 0..MAX_PROBES {
            #[cfg(test)]
            LOOKS.set(LOOKS.get() + 1);
            if !self.slots.get(at).is_some_and(is_other) {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Stores a new string in a slot or a block.
    fn enter(&mut self, number: usize) {
        let Some(Text { hash, text }) = self.texts.get(number) else { return };
        if let Some(slot) = self.slot(*hash, None).and_then(|at| self.slots.get_mut(at)) {
            *slot = number_of_slot(number);
            return;
        }
        let (block, at) = self.crowded_position(text);
        if self.crowded.is_empty() {
            self.crowded.push(Vec::new());
        }
        let Some(entries) = self.crowded.get_mut(block) else { return };
        entries.insert(at, number_of_slot(number) - 1);
        if entries.len() > MAX_BLOCK {
            let rest = entries.split_off(MAX_BLOCK / 2);
            self.crowded.insert(block + 1, rest);
        }
    }

    /// The block and the index in it at which a string is, or would be inserted.
    fn crowded_position(&self, text: &str) -> (usize, usize) {
        let is_before =
            |number: &u32| self.texts.get(*number as usize).is_some_and(|known| *known.text < *text);
        let begins_before =
            |block: &Vec<u32>| block.first().is_some_and(|first| !is_after(self, *first, text));
        let block = self.crowded.partition_point(begins_before).saturating_sub(1);
        (block, self.crowded.get(block).map_or(0, |entries| entries.partition_point(is_before)))
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 2).max(FIRST_SLOTS)];
        self.crowded.clear();
        for number in 0..self.texts.len() {
            self.enter(number);
        }
    }
}

fn is_after(numbers: &Interner<'_>, number: u32, text: &str) -> bool {
    numbers.texts.get(number as usize).is_some_and(|known| *known.text > *text)
}

fn number_of_slot(number: usize) -> u32 {
    u32::try_from(number + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
thread_local!(static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_numbered_in_order_of_first_appearance() {
        let mut numbers = Interner::default();
        assert_eq!(numbers.find(""), None);
        for _ in 0..2 {
            for number in 0..1000 {
                assert_eq!(numbers.intern(Cow::Owned(number.to_string())), number);
            }
        }
        assert_eq!(numbers.find("999"), Some(999));
        assert_eq!(numbers.find("1000"), None);
    }

    /// Strings whose hashes agree in the bits that choose one of 4,096 slots.
    fn colliding(count: usize) -> Vec<String> {
        let slot = |text: &str| {
            let mut hasher = FxHasher::default();
            hasher.write(text.as_bytes());
            hasher.finish() & 0xfff
        };
        (0..).map(|number: usize| number.to_string()).filter(|text| slot(text) == 7).take(count).collect()
    }

    #[test]
    fn strings_made_to_collide_are_interned_in_few_steps() {
        let texts = colliding(1_000);
        let mut numbers = Interner { slots: vec![0; 1 << 12], ..Interner::default() };
        LOOKS.set(0);
        for _ in 0..2 {
            for (number, text) in texts.iter().enumerate() {
                assert_eq!(numbers.intern(Cow::Borrowed(text)), number);
                assert_eq!(numbers.find(text), Some(number));
            }
        }
        assert_eq!(numbers.find("none of them"), None);
        assert!(LOOKS.get() <= texts.len() * 5 * 64, "{}", LOOKS.get());
    }

    #[test]
    fn crowded_strings_are_found_in_every_block() {
        let mut numbers = Interner {
            slots: vec![1; 16],
            texts: vec![Cow::Borrowed("all slots").into()],
            ..Interner::default()
        };
        let texts: Vec<String> = (0..3_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_string()).collect();
        for text in &texts {
            numbers.texts.push(Cow::Borrowed(&**text).into());
            numbers.enter(numbers.texts.len() - 1);
        }
        for (number, text) in texts.iter().enumerate() {
            assert_eq!(numbers.find(text), Some(number + 1));
        }
        assert_eq!(numbers.find("x"), None);
        assert!(numbers.crowded.len() > 5 && numbers.crowded.iter().all(|block| block.len() <= MAX_BLOCK));
    }
}
