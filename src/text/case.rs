//! Lower and folded case of single characters, as Python 3.11 knows them (Unicode 14).

use super::tables::{FOLD_RUNS, LONG_FOLDS, LOWER_RUNS};

/// Lower-cases one character as Python's `str.lower` does, capital sigmas aside: into another one, or itself; İ becomes
/// two.
pub(super) fn lower(c: char) -> impl Iterator<Item = char> {
    let code = c as u32;
    let (lower, mark) = match c {
        'İ' => (Some('i'), Some('\u{307}')),
        _ => (char::from_u32(code.wrapping_add_signed(distance(&LOWER_RUNS, code).unwrap_or(0))), None),
    };
    lower.into_iter().chain(mark)
}

/// Folds the case of a text: full case folding (`CaseFolding.txt`, C and F), as Python's `str.casefold` does.
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

    use super::super::roles::Roles;
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
}
