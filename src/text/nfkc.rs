//! NFKC (UAX #15) as in Python 3.11, with the data of Unicode 14, segment by segment.
//!
//! It replaces `icu_normalizer`, which takes 15 kB more of the WebAssembly module and follows newer versions of
//! Unicode (docs/decisions/0004-own-nfkc.md).
//!
//! Text consists of segments that normalise independently of each other: each begins at a character that
//! neither reorders nor merges with the text before it. A quick check by role decides whether a segment may
//! change; only those are decomposed, ordered and composed. The tables are stored packed (18 KB, 7 KB once
//! compressed), were recorded from the interpreter, and are unpacked on the first such segment (100 KB). Hangul
//! is computed. Characters unknown to Unicode 14 have no decomposition, rank or composition, so they stay where
//! they are and nothing moves across them.
//!
//! O(length) for the check; O(marks · classes) for a run of marks, with fewer than 60 classes.

use std::slice::Iter;
use std::sync::OnceLock;

use super::roles::Roles;
use super::tables::{FORM_FIRSTS, FORM_RUNS, FORM_TAILS, MERGING_MARKS, TAIL_PALETTE};
use super::utf8::decode;

/// Which characters may be left unnormalised.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// Those that become separators, like full-width punctuation: they are separators already.
    Words,
    /// None.
    Everything,
}

/// A segment of a text.
pub(super) struct Segment {
    /// Where it ends.
    pub(super) end: usize,
    /// Whether [`normalize`] may change it.
    pub(super) may_change: bool,
}

impl Segment {
    /// The segment that starts at `start`, where there must be a character.
    pub(super) fn at(text: &str, start: usize, fold: Fold, roles: &Roles) -> Self {
        let bytes = text.as_bytes();
        let mut end = start;
        let mut may_change = false;
        let mut rank = 0;
        while end < bytes.len() {
            let (code, width) = decode(bytes, end);
            let role = roles.role(code);
            if end > start && role.starts_segment() {
                break;
            }
            let previous = std::mem::replace(&mut rank, role.rank());
            may_change |=
                role.needs_nfkc() || rank < previous || fold == Fold::Everything && role.folds_away();
            end += width;
        }
        Self { end, may_change }
    }
}

/// Writes the NFKC form of one segment to `folded`, in place of what is there.
pub(super) fn normalize(segment: &str, folded: &mut String, roles: &Roles) {
    folded.clear();
    let forms = Decompositions::get(roles);
    let mut composer = Composer { forms, starter: None, at: 0, marks: Vec::new(), out: folded };
    for c in segment.chars() {
        match forms.entry(c) {
            CharHandling::Form(parts) => {
                for &part in parts {
                    composer.push(part, forms.rank(part, roles));
                }
            }
            CharHandling::Merging(rank) => composer.push(c, rank),
            CharHandling::Plain => composer.push(c, roles.role(c as u32).rank()),
        }
    }
    composer.finish();
}

/// Puts decomposed text together again.
struct Composer<'a> {
    forms: &'static Decompositions,
    /// The last character that is not a mark, with what has merged into it.
    starter: Option<char>,
    /// Where in `out` the starter belongs; marks that stay behind it are there already.
    at: usize,
    /// The marks since the starter: rank and code point.
    marks: Vec<(u8, char)>,
    out: &'a mut String,
}

impl Composer<'_> {
    fn push(&mut self, c: char, rank: u8) {
        if rank > 0 {
            self.marks.push((rank, c));
            return;
        }
        self.place_marks();
        let merged = match self.starter {
            Some(starter) if self.out.len() == self.at => self.forms.compose(starter, c),
            _ => None,
        };
        if merged.is_none() {
            self.place_starter();
        }
        self.starter = Some(merged.unwrap_or(c));
    }

    fn finish(mut self) {
        self.place_marks();
        self.place_starter();
    }

    /// Merges marks into the starter, or writes them after it, in the order of their ranks. A mark that stays
    /// prevents later marks of its rank from merging.
    ///
    /// One pass per rank, which also finds the next rank, needs no sort; there are few ranks.
    fn place_marks(&mut self) {
        const NONE: u8 = u8::MAX;
        let mut rank = 0;
        while rank != NONE {
            let mut next = NONE;
            let mut blocked = false;
            for &(other, mark) in &self.marks {
                if other > rank {
                    next = next.min(other);
                } else if other == rank {
                    let merged = match self.starter {
                        Some(starter) if !blocked => self.forms.compose(starter, mark),
                        _ => None,
                    };
                    if merged.is_some() {
                        self.starter = merged;
                    } else {
                        self.out.push(mark);
                        blocked = true;
                    }
                }
            }
            rank = next;
        }
        self.marks.clear();
    }

    fn place_starter(&mut self) {
        if let Some(starter) = self.starter {
            self.out.insert(self.at, starter);
        }
        self.at = self.out.len();
    }
}

/// How a character of the source is handled.
enum CharHandling<'a> {
    /// It is replaced by these characters: its full compatibility decomposition in canonical order.
    Form(&'a [char]),
    /// It is a mark of this rank that may merge with a letter.
    Merging(u8),
    /// Neither.
    Plain,
}

/// The unpacked tables.
struct Decompositions {
    /// For each page of code points, where its slots begin; 0 is an empty page.
    pages: Box<[u16]>,
    /// 0 for a plain character, [`Decompositions::MERGING`] + rank, or the number of a form from 1.
    slots: Vec<u16>,
    /// The characters of all forms.
    parts: Vec<char>,
    /// Where each form ends in `parts`; the first of these is where form 1 begins.
    ends: Vec<u16>,
    /// The pairs that compose and what to, in a hash table with linear probing, less than half full.
    pairs: Box<[Option<(char, char, char)>]>,
}

impl Decompositions {
    const PAGE: u32 = 0x80;
    /// No character from here on decomposes.
    const END: u32 = 0x3_0000;
    const MERGING: u16 = 0xFF00;
    const PAIRS_LOG2: u32 = 11;
    /// The most characters in the canonical decomposition of a character that NFKC keeps.
    const LONGEST_COMPOSED: usize = 4;

    /// The tables, unpacked on first use and shared from then on.
    fn get(roles: &Roles) -> &'static Self {
        static FORMS: OnceLock<Decompositions> = OnceLock::new();
        FORMS.get_or_init(|| Self::unpack(roles))
    }

    fn unpack(roles: &Roles) -> Self {
        let mut forms = Self {
            pages: vec![0; (Self::END / Self::PAGE) as usize].into(),
            slots: vec![0; Self::PAGE as usize],
            parts: Vec::new(),
            ends: vec![0],
            pairs: vec![None; 1 << Self::PAIRS_LOG2].into(),
        };
        let codes = forms.unpack_forms();
        let mut marks = MERGING_MARKS.iter();
        let mut code = 0;
        while let (Some(gap), Some(&rank)) = (number(&mut marks), marks.next()) {
            code += gap;
            forms.set_slot(code, Self::MERGING + u16::from(rank));
        }
        forms.derive_pairs(&codes, roles);
        forms
    }

    /// Reads the forms; returns whose they are.
    fn unpack_forms(&mut self) -> Vec<u32> {
        let palette: Vec<char> = DeltaDecoder::new(&TAIL_PALETTE).collect();
        let mut firsts = DeltaDecoder::new(&FORM_FIRSTS);
        let mut tails = FORM_TAILS.iter().map(|&byte| usize::from(byte));
        let mut runs = FORM_RUNS.iter();
        let mut codes = Vec::new();
        let mut code = 0;
        while let (Some(gap), Some(length)) = (number(&mut runs), number(&mut runs)) {
            code += gap;
            for (code, first) in (code..code + length).zip(firsts.by_ref()) {
                self.set_slot(code, self.ends.len() as u16);
                codes.push(code);
                self.parts.push(first);
                while let Some(mut index @ 1..) = tails.next() {
                    if index == 0xFF {
                        index += tails.next().unwrap_or_default();
                    }
                    self.parts.extend(palette.get(index - 1));
                }
                self.ends.push(self.parts.len() as u16);
            }
            code += length;
        }
        codes
    }

    fn set_slot(&mut self, code: u32, value: u16) {
        let Some(page) = self.pages.get_mut((code / Self::PAGE) as usize) else { return };
        if *page == 0 {
            *page = self.slots.len() as u16;
            self.slots.resize(self.slots.len() + Self::PAGE as usize, 0);
        }
        if let Some(slot) = self.slots.get_mut(usize::from(*page) + (code % Self::PAGE) as usize) {
            *slot = value;
        }
    }

    /// Finds the pairs that compose: those that a character which NFKC keeps decomposes to.
    ///
    /// Its second half is the last character of its form, its first half what those before
    /// compose to; so shorter forms come first.
    fn derive_pairs(&mut self, codes: &[u32], roles: &Roles) {
        for length in 2..=Self::LONGEST_COMPOSED {
            for (&code, number) in codes.iter().zip(1..) {
                let role = roles.role(code);
                if role.needs_nfkc() || role.folds_away() {
                    continue;
                }
                debug_assert!(!role.is_unassigned(), "both tables are of one version of Unicode");
                let form = self.form(number);
                if form.len() == length
                    && let Some(composed) = char::from_u32(code)
                    && let Some((&last, [first, middle @ ..])) = form.split_last()
                    && let Some(first) =
                        middle.iter().try_fold(*first, |first, &second| self.compose(first, second))
                    && let Some(slot) = probe(first, last).find(|&at| self.pairs.get(at) == Some(&None))
                    && let Some(pair) = self.pairs.get_mut(slot)
                {
                    *pair = Some((first, last, composed));
                }
            }
        }
    }

    fn form(&self, number: u16) -> &[char] {
        let number = usize::from(number);
        match self.ends.get(number - 1..=number) {
            Some(&[start, end]) => self.parts.get(start.into()..end.into()).unwrap_or_default(),
            _ => &[],
        }
    }

    fn entry(&self, c: char) -> CharHandling<'_> {
        let code = c as u32;
        let page = self.pages.get((code / Self::PAGE) as usize).copied().unwrap_or_default();
        let slot = self.slots.get(usize::from(page) + (code % Self::PAGE) as usize);
        match slot.copied().unwrap_or_default() {
            0 => CharHandling::Plain,
            merging @ Self::MERGING.. => CharHandling::Merging((merging - Self::MERGING) as u8),
            number => CharHandling::Form(self.form(number)),
        }
    }

    /// The canonical combining class of a character without decomposition; 0 if it is not a mark.
    fn rank(&self, c: char, roles: &Roles) -> u8 {
        match self.entry(c) {
            CharHandling::Merging(rank) => rank,
            _ => roles.role(c as u32).rank(),
        }
    }

    /// The composition of two characters.
    fn compose(&self, first: char, second: char) -> Option<char> {
        if let Some(syllable) = compose_hangul(first as u32, second as u32) {
            return Some(syllable);
        }
        probe(first, second)
            .map_while(|at| *self.pairs.get(at)?)
            .find(|&(a, b, _)| (a, b) == (first, second))
            .map(|(_, _, composed)| composed)
    }
}

/// The slots of the hash table in which a pair may be, in probing order.
fn probe(first: char, second: char) -> impl Iterator<Item = usize> {
    const PLACES: usize = 1 << Decompositions::PAIRS_LOG2;
    let mixed = (first as u32).rotate_left(16) ^ second as u32;
    let hash = mixed.wrapping_mul(0x9E37_79B1) >> (u32::BITS - Decompositions::PAIRS_LOG2);
    (0..PLACES).map(move |step| (hash as usize + step) % PLACES)
}

/// The Hangul syllable of two jamo, or of a syllable and its final consonant (Unicode, 3.12).
fn compose_hangul(first: u32, second: u32) -> Option<char> {
    const SYLLABLES: u32 = 0xAC00;
    const SYLLABLE_COUNT: u32 = LEADING_COUNT * VOWEL_COUNT * TRAILING_COUNT;
    const LEADING_COUNT: u32 = 19;
    const VOWEL_COUNT: u32 = 21;
    /// Together with none.
    const TRAILING_COUNT: u32 = 28;
    let leading = first.wrapping_sub(0x1100);
    let vowel = second.wrapping_sub(0x1161);
    if leading < LEADING_COUNT && vowel < VOWEL_COUNT {
        return char::from_u32(SYLLABLES + (leading * VOWEL_COUNT + vowel) * TRAILING_COUNT);
    }
    let open = first.wrapping_sub(SYLLABLES);
    let trailing = second.wrapping_sub(0x11A7);
    if open < SYLLABLE_COUNT && open.is_multiple_of(TRAILING_COUNT) && (1..TRAILING_COUNT).contains(&trailing)
    {
        return char::from_u32(first + trailing);
    }
    None
}

/// Decodes characters from zigzag LEB128 differences to the previous one.
struct DeltaDecoder {
    bytes: Iter<'static, u8>,
    last: u32,
}

impl DeltaDecoder {
    fn new(bytes: &'static [u8]) -> Self {
        Self { bytes: bytes.iter(), last: 0 }
    }
}

impl Iterator for DeltaDecoder {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let zigzag = number(&mut self.bytes)?;
        self.last = self.last.wrapping_add(zigzag >> 1 ^ (zigzag & 1).wrapping_neg());
        char::from_u32(self.last)
    }
}

/// The next LEB128 number.
fn number(bytes: &mut Iter<'_, u8>) -> Option<u32> {
    let mut value = 0;
    for shift in (0..u32::BITS).step_by(7) {
        let &byte = bytes.next()?;
        value |= u32::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Some(value)
}

/// Calls `visit` with every character of the text's NFKC form.
pub(super) fn for_each_char(text: &str, roles: &Roles, visit: &mut dyn FnMut(char)) {
    let mut folded = String::new();
    let mut at = 0;
    while at < text.len() {
        let Segment { end, may_change } = Segment::at(text, at, Fold::Everything, roles);
        let mut segment = text.get(at..end).unwrap_or_default();
        if may_change {
            normalize(segment, &mut folded, roles);
            segment = &folded;
        }
        segment.chars().for_each(&mut *visit);
        at = end;
    }
}

#[cfg(test)]
mod tests;
