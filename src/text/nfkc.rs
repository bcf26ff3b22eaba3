//! NFKC as Python 3.11 (Unicode 14) does it, piece by piece and without copying what is
//! already normalised.
//!
//! Text falls into segments that normalise independently of each other: each begins at a
//! character that neither reorders nor merges with what stands before it. A quick check by role
//! finds the segments that may change; only those go through `icu_normalizer`. Its data is newer
//! than Unicode 14, but normalisation of assigned characters is stable by Unicode's policy, and
//! characters that Unicode 14 does not know are kept out of it. O(length) for the check; a
//! segment of n marks is sorted in O(n log n).

use icu_normalizer::ComposingNormalizerBorrowed;

use super::roles::{Roles, is_ideograph};
use super::utf8::{decode, first_non_ascii};

/// Where a piece of normalised text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is the source text from this byte on, unchanged.
    Source(usize),
    /// It is what these bytes of the source text became, as a whole.
    Folded { start: usize, end: usize },
}

/// Which characters may be left as they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// Those that become separators, like full-width punctuation: they separate as they are.
    Words,
    /// None.
    Everything,
}

/// Hands out the NFKC form of a text, in order, in pieces.
pub(super) fn for_each_piece(text: &str, fold: Fold, visit: &mut dyn FnMut(&str, Origin)) {
    let bytes = text.as_bytes();
    let mut at = first_non_ascii(bytes, 0);
    if at == bytes.len() {
        visit(text, Origin::Source(0));
        return;
    }
    let roles = Roles::get();
    let mut pieces = Pieces { text, visit, copied: 0, folded: String::new() };
    let mut segment = at.saturating_sub(1);
    let mut changes = false;
    let mut rank = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte < 0x80 {
            if changes {
                pieces.fold(roles, segment, at);
            }
            at = first_non_ascii(bytes, at);
            segment = at - 1;
            (changes, rank) = (false, 0);
            continue;
        }
        let (code, width) = decode(bytes, at);
        if is_ideograph(code) && !changes {
            segment = at;
            rank = 0;
            at += width;
            continue;
        }
        let role = roles.of(code);
        let needs = role.needs_nfkc() || fold == Fold::Everything && role.folds_away();
        if role.starts_segment() {
            if changes {
                pieces.fold(roles, segment, at);
            }
            segment = at;
            (changes, rank) = (needs, 0);
        } else {
            let previous = std::mem::replace(&mut rank, role.rank());
            changes |= needs || rank < previous;
        }
        at += width;
    }
    if changes {
        pieces.fold(roles, segment, at);
    }
    pieces.unchanged_to(bytes.len());
}

struct Pieces<'a> {
    text: &'a str,
    visit: &'a mut dyn FnMut(&str, Origin),
    /// How much of the source has been handed out.
    copied: usize,
    folded: String,
}

impl Pieces<'_> {
    /// Hands out the source text up to `end` as it is.
    fn unchanged_to(&mut self, end: usize) {
        if let Some(piece) = self.text.get(self.copied..end)
            && !piece.is_empty()
        {
            (self.visit)(piece, Origin::Source(self.copied));
        }
        self.copied = end;
    }

    /// Normalises one segment and hands it out if that changes it.
    #[inline(never)]
    fn fold(&mut self, roles: &Roles, start: usize, end: usize) {
        let segment = self.text.get(start..end).unwrap_or_default();
        self.folded.clear();
        let mut rest = segment;
        if let Some(first) = segment.chars().next()
            && roles.of(first as u32).is_unassigned()
        {
            self.folded.push(first);
            rest = segment.get(first.len_utf8()..).unwrap_or_default();
        }
        // Writing to a string cannot fail.
        let _ = ComposingNormalizerBorrowed::new_nfkc().normalize_to(rest, &mut self.folded);
        if self.folded == segment {
            return;
        }
        let same: usize = segment
            .chars()
            .zip(self.folded.chars())
            .take_while(|(before, after)| before == after)
            .map(|(before, _)| before.len_utf8())
            .sum();
        self.unchanged_to(start + same);
        let changed = self.folded.get(same..).unwrap_or_default();
        let start = start + same;
        (self.visit)(changed, Origin::Folded { start, end });
        self.copied = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nfkc(text: &str, fold: Fold) -> String {
        let mut out = String::new();
        for_each_piece(text, fold, &mut |piece, _| out.push_str(piece));
        out
    }

    fn pieces(text: &str) -> Vec<(String, Origin)> {
        let mut out = Vec::new();
        for_each_piece(text, Fold::Words, &mut |piece, origin| {
            out.push((piece.to_owned(), origin));
        });
        out
    }

    #[test]
    fn normalised_text_comes_back_in_one_piece() {
        for text in ["plain", "déjà vu", "你好，世界…", "ผู้ใหญ่", "한국어", "a\u{915}\u{94d}"]
        {
            assert_eq!(pieces(text), [(text.to_owned(), Origin::Source(0))]);
        }
    }

    #[test]
    fn changed_segments_know_where_they_come_from() {
        assert_eq!(
            pieces("xe\u{301}t½"),
            [
                ("x".to_owned(), Origin::Source(0)),
                ("é".to_owned(), Origin::Folded { start: 1, end: 4 }),
                ("t".to_owned(), Origin::Source(4)),
                ("1⁄2".to_owned(), Origin::Folded { start: 5, end: 7 }),
            ]
        );
    }

    #[test]
    fn marks_are_reordered_and_merged() {
        assert_eq!(nfkc("q\u{307}\u{323}", Fold::Words), "q\u{323}\u{307}");
        assert_eq!(nfkc("か\u{3099}", Fold::Words), "が");
        assert_eq!(nfkc("\u{1112}\u{1161}\u{11ab}", Fold::Words), "한");
        assert_eq!(nfkc("ｶﾞ", Fold::Words), "ガ");
    }

    #[test]
    fn characters_newer_than_unicode_14_are_barriers() {
        let text = "\u{ece}\u{e48}\u{e38}";
        assert_eq!(nfkc(text, Fold::Words), "\u{ece}\u{e38}\u{e48}");
        let text = "\u{e48}\u{ece}\u{e38}";
        assert_eq!(nfkc(text, Fold::Words), text);
    }

    #[test]
    fn separators_are_folded_only_on_request() {
        assert_eq!(nfkc("好，", Fold::Words), "好，");
        assert_eq!(nfkc("好，", Fold::Everything), "好,");
        assert_eq!(nfkc("＜\u{338}", Fold::Words), "≮");
    }
}
