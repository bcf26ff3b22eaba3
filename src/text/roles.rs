//! The role of a character in google-adk's tokenizer, by table lookup.
//!
//! The tables have the properties of every code point in Python 3.11 (Unicode 14.0.0). They are stored as runs
//! (8 KB) and unpacked once, on the first character outside ASCII, into one byte per code point below U+20000,
//! so that a lookup is a single load; the few runs above that are searched.

use std::sync::OnceLock;

use super::tables::{RUN_LENGTHS, RUN_ROLES};

/// Code points below this are looked up directly: the planes that hold nearly all scripts.
const DENSE: u32 = 0x2_0000;

/// One byte: a kind (low four bits) with case flags, or a reorderable mark with its rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Role(u8);

/// What tokenization does with a character.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CharKind {
    /// Ends the token before it and belongs to no token.
    Separator,
    /// Belongs to the same token as the characters before it.
    Word,
    /// As `Word`, once lower-cased.
    Upper,
    /// Capital sigma: as `Upper`, but its lower case depends on its neighbours.
    Sigma,
    /// A token of its own: Chinese, Japanese, Korean.
    Single,
    /// Starts a token that marks and letters may join: Thai, Lao, Khmer, Myanmar.
    Base,
}

const UNASSIGNED: u8 = 1;
const FOLDS_AWAY: u8 = 2;
const SINGLE: u8 = 6;
const UNASSIGNED_BASE: u8 = 8;
const UNSTABLE: u8 = 9;
const UNSTABLE_JOINING: u8 = 10;
const JOINING_WORD: u8 = 11;
const JOINING_SINGLE: u8 = 12;
const CASED: u8 = 0x10;
const CASE_IGNORABLE: u8 = 0x20;
const FIRST_MARK: u8 = 0x40;

impl Role {
    const KIND: u8 = 0xF;

    const fn is_mark(self) -> bool {
        self.0 >= FIRST_MARK
    }

    /// What tokenization does with the character in normalised text.
    pub(super) const fn kind(self) -> CharKind {
        if self.is_mark() {
            return CharKind::Word;
        }
        match self.0 & Self::KIND {
            3 | JOINING_WORD => CharKind::Word,
            4 => CharKind::Upper,
            5 => CharKind::Sigma,
            SINGLE | JOINING_SINGLE => CharKind::Single,
            7 | UNASSIGNED_BASE => CharKind::Base,
            _ => CharKind::Separator,
        }
    }

    /// Whether text can be cut before the character without changing its NFKC form.
    pub(super) const fn starts_segment(self) -> bool {
        !self.is_mark() && !matches!(self.0 & Self::KIND, UNSTABLE_JOINING | JOINING_WORD | JOINING_SINGLE)
    }

    /// Whether a segment with this character must go through NFKC before it is tokenized.
    ///
    /// Characters that NFKC turns into nothing but separators (full-width punctuation,
    /// ideographic spaces, ellipses) need not: they separate as they are.
    pub(super) const fn needs_nfkc(self) -> bool {
        !self.is_mark()
            && matches!(self.0 & Self::KIND, UNSTABLE | UNSTABLE_JOINING | JOINING_WORD | JOINING_SINGLE)
    }

    /// Whether NFKC turns the character into nothing but separators.
    pub(super) const fn folds_away(self) -> bool {
        !self.is_mark() && self.0 & Self::KIND == FOLDS_AWAY
    }

    /// Whether Unicode 14 has no such character, regardless of newer versions.
    pub(super) const fn is_unassigned(self) -> bool {
        !self.is_mark() && matches!(self.0 & Self::KIND, UNASSIGNED | UNASSIGNED_BASE)
    }

    /// The canonical order of a mark that NFKC may move, 0 for every other character.
    pub(super) const fn rank(self) -> u8 {
        if self.is_mark() { self.0 >> 1 } else { 0 }
    }

    /// Whether the character is a separator or a token of its own, and starts a segment that
    /// needs no normalisation unless something joins it.
    #[inline(always)]
    pub(super) const fn stands_alone(self) -> bool {
        matches!(self.0 & (Self::KIND | FIRST_MARK | 0x80), 0 | UNASSIGNED | FOLDS_AWAY | SINGLE)
    }

    /// Whether a character that stands alone is a token.
    #[inline(always)]
    pub(super) const fn is_single(self) -> bool {
        self.0 & Self::KIND == SINGLE
    }

    /// Whether the character has the property Cased and not Case_Ignorable.
    pub(super) const fn is_cased(self) -> bool {
        !self.is_mark() && self.0 & CASED != 0
    }

    /// Whether the character has the property Case_Ignorable.
    pub(super) const fn is_case_ignorable(self) -> bool {
        if self.is_mark() { self.0 & 1 != 0 } else { self.0 & CASE_IGNORABLE != 0 }
    }
}

/// The unpacked tables.
pub(super) struct Roles {
    dense: Box<[u8]>,
    /// First code point and role of each run at or above [`DENSE`], in order.
    sparse: Box<[(u32, u8)]>,
}

impl Roles {
    /// The tables, unpacked on first use and shared from then on.
    pub(super) fn get() -> &'static Self {
        static ROLES: OnceLock<Roles> = OnceLock::new();
        ROLES.get_or_init(Self::unpack)
    }

    fn unpack() -> Self {
        let mut dense = Vec::with_capacity(DENSE as usize);
        let mut sparse = Vec::new();
        let mut start = 0;
        let mut lengths = RUN_LENGTHS.iter();
        for &role in &RUN_ROLES {
            let mut length = 0;
            let mut shift = 0;
            for &byte in lengths.by_ref() {
                length |= u32::from(byte & 0x7F) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            let end = start + length;
            if start < DENSE {
                dense.resize(end.min(DENSE) as usize, role);
            }
            if end > DENSE {
                sparse.push((start, role));
            }
            start = end;
        }
        Self { dense: dense.into(), sparse: sparse.into() }
    }

    #[inline(always)]
    pub(super) fn role(&self, code: u32) -> Role {
        match self.dense.get(code as usize) {
            Some(&role) => Role(role),
            None => self.sparse_role(code),
        }
    }

    #[cold]
    fn sparse_role(&self, code: u32) -> Role {
        let after = self.sparse.partition_point(|&(start, _)| start <= code);
        let run = after.checked_sub(1).and_then(|at| self.sparse.get(at));
        Role(run.map_or(UNASSIGNED, |&(_, role)| role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(c: char) -> Role {
        Roles::get().role(c as u32)
    }

    #[test]
    fn the_runs_cover_every_code_point() {
        let roles = Roles::get();
        assert_eq!(roles.dense.len(), DENSE as usize);
        assert!(roles.sparse.is_sorted_by_key(|&(start, _)| start));
        assert!(roles.role(0x10_FFFF).is_unassigned());
    }

    #[test]
    fn scripts_have_the_kinds_of_the_reference() {
        for (c, kind) in [
            ('a', CharKind::Word),
            ('é', CharKind::Word),
            ('É', CharKind::Upper),
            ('Σ', CharKind::Sigma),
            ('_', CharKind::Separator),
            ('中', CharKind::Single),
            ('・', CharKind::Single),
            ('々', CharKind::Word),
            ('㐀', CharKind::Word),
            ('𠀀', CharKind::Word),
            ('ไ', CharKind::Base),
            ('฿', CharKind::Base),
            ('\u{e49}', CharKind::Word),
            ('\u{301}', CharKind::Word),
            ('\u{3099}', CharKind::Single),
            ('😀', CharKind::Separator),
        ] {
            assert_eq!(role(c).kind(), kind, "{c}");
        }
    }

    #[test]
    fn characters_newer_than_unicode_14_are_unassigned() {
        for c in ['\u{ece}', '\u{1c89}', '\u{a7da}', '\u{31350}', '\u{11f02}'] {
            assert!(role(c).is_unassigned(), "{c}");
        }
    }

    #[test]
    fn only_what_can_change_needs_normalising() {
        for c in ['½', 'ﬁ', 'Ａ', '\u{301}', 'ｶ', '\u{1161}'] {
            assert!(role(c).needs_nfkc(), "{c}");
        }
        for c in ['é', '，', '\u{3000}', '…', '中', '한', '\u{e49}', 'ß'] {
            assert!(!role(c).needs_nfkc(), "{c}");
        }
    }
}
