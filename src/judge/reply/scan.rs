//! Scanning of replies: spans of characters, searches, white space as Python defines it.
//!
//! Positions are byte offsets at character boundaries. All searches of the readers go through this module, so
//! that a test can count how many bytes are read.

use crate::text::python;

pub(super) use crate::text::python::is_space;

/// The text without white space around it.
pub(crate) fn trim(text: &str) -> &str {
    count(text.len());
    python::trim(text)
}

/// The text without the matching characters around it.
pub(super) fn trim_matches<'t>(text: &'t str, belongs: &mut dyn FnMut(char) -> bool) -> &'t str {
    count(text.len());
    trim_end_matches(slice(text, span_end(text, 0, belongs), text.len()), belongs)
}

/// The text without the matching characters at its end.
pub(super) fn trim_end_matches<'t>(text: &'t str, belongs: &mut dyn FnMut(char) -> bool) -> &'t str {
    text.trim_end_matches(belongs)
}

/// The text between two positions.
pub(in crate::judge) fn slice(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

/// The end of the span of matching characters that starts at `from`.
pub(in crate::judge) fn span_end(text: &str, from: usize, belongs: &mut dyn FnMut(char) -> bool) -> usize {
    let mut end = from;
    for c in slice(text, from, text.len()).chars() {
        if !belongs(c) {
            break;
        }
        end += c.len_utf8();
    }
    count(end - from);
    end
}

/// The end of the white space that starts at `from`.
pub(super) fn skip_space(text: &str, from: usize) -> usize {
    span_end(text, from, &mut is_space)
}

/// The end of the span of one repeated character that starts at `from`.
pub(super) fn skip(text: &str, from: usize, repeated: char) -> usize {
    span_end(text, from, &mut |c| c == repeated)
}

/// The first occurrence of an ASCII needle at or after `from`. O(n) if the beginning of the needle rarely
/// recurs in it.
pub(in crate::judge) fn find(text: &str, needle: &str, from: usize) -> Option<usize> {
    let (&first, rest) = needle.as_bytes().split_first()?;
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(step) = bytes.get(at..)?.iter().position(|byte| *byte == first) {
        count(step + 1);
        at += step;
        if bytes.get(at + 1..)?.starts_with(rest) {
            return Some(at);
        }
        at += 1;
    }
    count(bytes.len() - at);
    None
}

/// How often an ASCII needle occurs, occurrences that overlap aside. O(n) as [`find`].
pub(crate) fn occurrences(text: &str, needle: &str) -> usize {
    let ends = |from| find(text, needle, from).map(|at| at + needle.len());
    std::iter::successors(ends(0), |end| ends(*end)).count()
}

/// Whether a text contains another one. O(n) whatever they are (Knuth, Morris and Pratt).
pub(super) fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    count(text.len() + part.len());
    // For each beginning of the part, how much of its end is also a beginning of the part.
    let mut borders: Vec<usize> = Vec::with_capacity(part.len());
    // How much of the part precedes `byte` and includes it, if `matched` bytes precede it.
    let matched_with = |borders: &[usize], mut matched: usize, byte: u8| {
        while part.get(matched) != Some(&byte) {
            match matched.checked_sub(1).and_then(|last| borders.get(last)) {
                Some(shorter) => matched = *shorter,
                None => return 0,
            }
        }
        matched + 1
    };
    for (at, byte) in part.iter().enumerate() {
        let border =
            if at == 0 { 0 } else { matched_with(&borders, borders.last().copied().unwrap_or(0), *byte) };
        borders.push(border);
    }
    let mut matched = 0;
    part.is_empty()
        || text.iter().any(|byte| {
            matched = matched_with(&borders, matched, *byte);
            matched == part.len()
        })
}

/// Whether a lower-case ASCII word occurs, in any case.
pub(super) fn contains_ignore_case(text: &str, word: &str) -> bool {
    count(text.len());
    text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// Adds to the work that [`measured_work`] measures.
#[cfg(not(test))]
pub(super) fn count(_bytes: usize) {}

#[cfg(test)]
std::thread_local! {
    static WORK: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
pub(super) fn count(bytes: usize) {
    WORK.set(WORK.get() + bytes + 1);
}

/// The number of bytes read, plus one per search.
#[cfg(test)]
pub(super) fn measured_work(task: impl FnOnce()) -> usize {
    WORK.set(0);
    task();
    WORK.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_pythons() {
        assert_eq!(trim("\u{1c}\u{1f}\u{85}\u{3000}\u{2028} a b \u{b}\n"), "a b");
        assert_eq!(trim("\u{feff}a\u{200b}"), "\u{feff}a\u{200b}");
        assert_eq!(skip_space("a\u{a0}\n b", 1), 5);
    }

    #[test]
    fn a_needle_is_found_from_a_place_on() {
        assert_eq!(find("abcabc", "bc", 0), Some(1));
        assert_eq!(find("abcabc", "bc", 2), Some(4));
        assert_eq!(find("abcab", "bc", 2), None);
        assert_eq!(find("é<<sentence>", "<sentence>", 0), Some(3));
    }

    #[test]
    fn occurrences_do_not_overlap() {
        assert_eq!(occurrences("aaaaa stop aa", "aa"), 3);
        assert_eq!(occurrences("", "aa"), 0);
    }

    proptest::proptest! {
        #[test]
        fn a_part_is_contained_where_the_standard_library_finds_it(text in "[abé]{0,40}", part in "[abé]{0,6}") {
            proptest::prop_assert_eq!(contains(&text, &part), text.contains(&part));
        }
    }
}
