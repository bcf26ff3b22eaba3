//! NFKC as Python 3.11 (Unicode 14) does it, segment by segment.
//!
//! Text falls into segments that normalise independently of each other: each begins at a
//! character that neither reorders nor merges with what stands before it. A quick check by role
//! says whether a segment may change; only those go through `icu_normalizer`. Its data is newer
//! than Unicode 14, but normalisation of assigned characters is stable by Unicode's policy, and
//! characters that Unicode 14 does not know are kept out of it. O(length) for the check; a
//! segment of n marks is sorted in O(n log n).

use icu_normalizer::ComposingNormalizerBorrowed;

use super::roles::Roles;
use super::utf8::decode;

/// Which characters may be left as they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// Those that become separators, like full-width punctuation: they separate as they are.
    Words,
    /// None.
    Everything,
}

/// A segment of a text, from a given place on.
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
            let role = roles.of(code);
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
    let mut rest = segment;
    if let Some(first) = segment.chars().next()
        && roles.of(first as u32).is_unassigned()
    {
        folded.push(first);
        rest = segment.get(first.len_utf8()..).unwrap_or_default();
    }
    // Writing to a string cannot fail.
    let _ = ComposingNormalizerBorrowed::new_nfkc().normalize_to(rest, folded);
}

/// Hands out every character of the NFKC form of a text.
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
mod tests {
    use super::*;

    fn nfkc(text: &str) -> String {
        let mut out = String::new();
        for_each_char(text, Roles::get(), &mut |c| out.push(c));
        out
    }

    fn may_change(text: &str) -> bool {
        let mut at = 0;
        while at < text.len() {
            let segment = Segment::at(text, at, Fold::Words, Roles::get());
            if segment.may_change {
                return true;
            }
            at = segment.end;
        }
        false
    }

    #[test]
    fn the_quick_check_passes_normalised_text_and_separators() {
        for text in ["plain", "déjà vu", "你好，世界…", "ผู้ใหญ่", "한국어"] {
            assert!(!may_change(text), "{text}");
        }
        for text in ["½", "ﬁ", "e\u{301}", "か\u{3099}", "＜\u{338}", "x\u{e48}\u{e38}"] {
            assert!(may_change(text), "{text}");
        }
    }

    #[test]
    fn marks_are_reordered_and_merged() {
        assert_eq!(nfkc("q\u{307}\u{323}"), "q\u{323}\u{307}");
        assert_eq!(nfkc("xe\u{301}t½"), "xét1⁄2");
        assert_eq!(nfkc("か\u{3099}"), "が");
        assert_eq!(nfkc("\u{1112}\u{1161}\u{11ab}"), "한");
        assert_eq!(nfkc("ｶﾞ"), "ガ");
        assert_eq!(nfkc("＜\u{338}，"), "≮,");
    }

    #[test]
    fn characters_newer_than_unicode_14_are_barriers() {
        assert_eq!(nfkc("\u{ece}\u{e48}\u{e38}"), "\u{ece}\u{e38}\u{e48}");
        assert_eq!(nfkc("\u{e48}\u{ece}\u{e38}"), "\u{e48}\u{ece}\u{e38}");
    }
}
