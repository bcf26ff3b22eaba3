//! Suggestions for misspelt names.
//!
//! It replaces `strsim::osa_distance`, which allocates for every pair of names although lengths rule out most
//! pairs. Tests compare it with the package's own version, which suggests options before the engine is loaded.

/// The name in `known` that `found` is most likely a misspelling of, if any is close.
///
/// Close is at most two edits (insertion, deletion, substitution, swap of two neighbours), and at most a third
/// of the length, after folding the case of ASCII and the difference between `camelCase` and `snake_case`.
#[must_use]
pub fn suggestion<'k>(found: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    closest(found, &mut known.into_iter())
}

#[cold]
fn closest<'k>(found: &str, known: &mut dyn Iterator<Item = &'k str>) -> Option<&'k str> {
    let fold = |name: &str| -> Vec<char> {
        name.chars().take(80).filter(|c| *c != '_' && *c != '-').map(|c| c.to_ascii_lowercase()).collect()
    };
    let target = fold(found);
    let mut closest = None;
    let mut least = 3;
    for name in known {
        let folded = fold(name);
        // The lengths alone rule out most names.
        if folded.len().abs_diff(target.len()) < least {
            let distance = edit_distance(&target, &folded);
            if distance < least && distance * 3 <= folded.len() {
                (closest, least) = (Some(name), distance);
            }
        }
    }
    closest
}

/// The optimal string alignment distance (Damerau's, in which no part is edited twice): insertions, deletions,
/// substitutions, and swaps of two neighbours. Dynamic programming with three rows: O(a·b) time, O(b) space.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    let mut row = previous.clone();
    for (i, from) in a.iter().enumerate() {
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (j, (to, cell)) in b.iter().zip(row.iter_mut().skip(1)).enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX - 1);
            left = (left + 1).min(at(&previous, j + 1) + 1).min(at(&previous, j) + usize::from(from != to));
            let is_swap = i > 0 && j > 0 && a.get(i - 1) == Some(to) && b.get(j - 1) == Some(from);
            if is_swap {
                left = left.min(at(&before, j - 1) + 1);
            }
            *cell = left;
        }
        std::mem::swap(&mut before, &mut previous);
        std::mem::swap(&mut previous, &mut row);
    }
    previous.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_close_names_only() {
        let known = ["match_type", "ignore_args", "threshold"];
        assert_eq!(suggestion("matchtype", known), Some("match_type"));
        assert_eq!(suggestion("treshold", known), Some("threshold"));
        assert_eq!(suggestion("ignoreArg", known), Some("ignore_args"));
        assert_eq!(suggestion("colour", known), None);
    }

    #[test]
    fn suggests_what_the_package_suggests() {
        let rows: Vec<(String, Vec<String>, Option<String>)> =
            serde_json::from_str(include_str!("../../tests/vectors/suggestions.json")).unwrap();
        for (found, known, meant) in rows {
            assert_eq!(suggestion(&found, known.iter().map(String::as_str)), meant.as_deref(), "{found}");
        }
    }

    #[test]
    fn distance_counts_edits() {
        let distance =
            |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("bial", "bail"), 1);
        assert_eq!(distance("ca", "abc"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
    }
}
