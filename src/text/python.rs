//! Python's string methods, as Python 3.11 has them (Unicode 14): what google-adk does to strings is done here.
//!
//! They replace Rust's own, which differ: `char::to_lowercase` follows the compiler's version of Unicode, `str::trim`
//! leaves four control characters that `str.strip` removes, and case folding and NFKC are not in the standard library.
//!
//! O(length) each.

use super::nfkc;
use super::roles::{CharKind, Roles};
use super::tables::{FOLD_RUNS, LONG_FOLDS, LOWER_RUNS};

/// Whether `str.isspace` and `\s` treat a character as white space.
pub(crate) fn is_space(c: char) -> bool {
    // Python adds four control characters to Unicode's white space.
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Removes white space around a text: `str.strip`.
#[inline(never)]
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Calls `visit` with every character of the text's NFKC form: `unicodedata.normalize`.
pub(crate) fn for_each_nfkc_char(text: &str, visit: &mut dyn FnMut(char)) {
    nfkc::for_each_char(text, Roles::get(), visit);
}

/// Lower-cases a text: `str.lower`.
#[cold]
pub(crate) fn lower_case(text: &str) -> String {
    let mut sigmas = FinalSigmas::default();
    text.chars().for_each(|c| sigmas.see(c));
    let mut finals = sigmas.finals.into_iter();
    let mut lower_case = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'Σ' if finals.next() == Some(true) => lower_case.push('ς'),
            _ => lower(c).for_each(|c| lower_case.push(c)),
        }
    }
    lower_case
}

/// For each capital sigma among the characters, whether it ends a word: a cased character precedes it and none
/// follows, ignoring case-ignorable characters (Unicode's Final_Sigma).
#[derive(Default)]
pub(super) struct FinalSigmas {
    pub(super) finals: Vec<bool>,
    after_cased: bool,
    after_sigma: bool,
}

impl FinalSigmas {
    #[cold]
    #[inline(never)]
    pub(super) fn see(&mut self, c: char) {
        let role = Roles::get().role(c as u32);
        if role.is_case_ignorable() {
            return;
        }
        if self.after_sigma
            && let Some(last) = self.finals.last_mut()
        {
            *last &= !role.is_cased();
        }
        self.after_sigma = role.kind() == CharKind::Sigma;
        if self.after_sigma {
            self.finals.push(self.after_cased);
        }
        self.after_cased = role.is_cased();
    }
}

/// Lower-cases one character as `str.lower` does, capital sigmas aside: into another one, or itself; İ becomes two.
pub(super) fn lower(c: char) -> impl Iterator<Item = char> {
    let code = c as u32;
    let (lower, mark) = match c {
        'İ' => (Some('i'), Some('\u{307}')),
        _ => (char::from_u32(code.wrapping_add_signed(distance(&LOWER_RUNS, code).unwrap_or(0))), None),
    };
    lower.into_iter().chain(mark)
}

/// Folds the case of a text: full case folding (`CaseFolding.txt`, C and F), as Python's `str.casefold`.
///
/// ```
/// use adk_metrics::text::fold_case;
///
/// assert_eq!(fold_case("Straße"), fold_case("STRASSE"));
/// ```
#[must_use]
pub fn fold_case(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        let code = c as u32;
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
        } else if let Ok(at) = LONG_FOLDS.binary_search_by_key(&code, |(code, _)| *code) {
            folded.push_str(LONG_FOLDS.get(at).map_or("", |(_, long)| long));
        } else if let Some(distance) = distance(&FOLD_RUNS, code) {
            folded.extend(char::from_u32(code.wrapping_add_signed(distance)));
        } else {
            folded.extend(lower(c));
        }
    }
    folded
}

/// The distance from a character to its other case, by runs of a first and a last character and their distance.
fn distance(runs: &[(u32, u32, i32)], code: u32) -> Option<i32> {
    let after = runs.partition_point(|(first, ..)| *first <= code);
    let (first, last, distance) = *runs.get(after.checked_sub(1)?)?;
    // Capitals and their small letters take turns where the distance is 1.
    let belongs = code <= last && (distance != 1 || (code - first).is_multiple_of(2));
    belongs.then_some(distance)
}

#[cfg(test)]
mod tests {
    use unicase::UniCase;

    use super::*;

    /// Every character, and whether Unicode 14 has it.
    fn characters() -> impl Iterator<Item = (char, bool)> {
        let all = (0..=u32::from(char::MAX)).filter_map(char::from_u32);
        all.map(|c| (c, !Roles::get().role(c as u32).is_unassigned()))
    }

    #[test]
    fn lower_case_is_that_of_every_character_of_unicode_14() {
        for (c, is_known) in characters() {
            if is_known {
                assert!(lower(c).eq(c.to_lowercase()), "{c:?}");
            } else {
                assert!(lower(c).eq([c]), "{c:?} is new since");
            }
        }
    }

    #[test]
    fn folded_case_is_that_of_every_character_of_unicode_14() {
        for (c, is_known) in characters() {
            let text = c.to_string();
            let expected = if is_known { UniCase::unicode(&text).to_folded_case() } else { text.clone() };
            assert_eq!(fold_case(&text), expected, "{c:?}");
        }
    }
    #[test]
    fn a_capital_sigma_has_another_lower_case_at_the_end_of_a_word() {
        assert_eq!(lower_case("ΟΔΥΣΣΕΥΣ ΣΑΣ. Σ İ"), "οδυσσευς σας. σ i\u{307}");
    }
}
