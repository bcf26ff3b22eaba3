//! Moves through a reply: runs, searches, white space as Python sees it.
//!
//! Places are byte offsets at character boundaries. Every search goes through here, so that a
//! test can count how many bytes are looked at.

/// Whether Python's `str.isspace` and `\s` take the character for white space.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The text without white space around it.
pub(crate) fn trim(text: &str) -> &str {
    count(text.len());
    text.trim_matches(is_space)
}

/// A copy of the text without white space around it. One function for all the copies, which are
/// many and none of them hot.
#[inline(never)]
pub(super) fn trimmed(text: &str) -> String {
    trim(text).to_owned()
}

/// What stands between two places.
pub(super) fn slice(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

/// The end of the white space at a place.
pub(super) fn skip_space(text: &str, from: usize) -> usize {
    let rest = slice(text, from, text.len());
    let length = rest.find(|c| !is_space(c)).unwrap_or(rest.len());
    count(length);
    from + length
}

/// The end of the run of an ASCII character at a place.
pub(super) fn skip(text: &str, from: usize, run_of: u8) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    let length = rest.iter().position(|byte| *byte != run_of).unwrap_or(rest.len());
    count(length);
    from + length
}

/// Where an ASCII needle occurs first, from a place on. For needles whose beginning does not recur in
/// them often, O(n).
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

/// Whether an ASCII word in lower case occurs, in whatever case.
pub(super) fn contains_folded(text: &str, word: &str) -> bool {
    count(text.len());
    text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// Adds to the work that [`work_of`] measures.
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

/// How many bytes are looked at, counting one more for each look.
#[cfg(test)]
pub(super) fn work_of(task: impl FnOnce()) -> usize {
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
}
