//! The Porter stemmer, in the variant that google-adk's ROUGE runs on: NLTK's default mode.
//!
//! M. F. Porter, "An algorithm for suffix stripping", Program 14.3 (1980), 130–137, with the
//! deviations of NLTK 3.10.4: a short list of irregular forms, `-ies`/`-ied` kept as `-ie` in
//! words of four letters, `y` turned into `i` only after a consonant, `-bli`, `-fulli` and
//! `-logi` in step 2, and a final `-e` put back on two-letter vowel-consonant stems.
//!
//! Each step looks at the end of the word and rewrites it in place; a rule's condition reads the
//! part before the suffix once. O(length) per word, without allocation.

use std::borrow::Cow;

/// The stem of a lower-case English word; `"flies"` gives `"fli"`, `"skies"` gives `"sky"`.
///
/// Words of one or two letters and anything but `a`–`z` and `0`–`9` come back unchanged. ROUGE
/// stems only words of four letters or more; that rule is the tokenizer's, not this function's.
///
/// ```
/// use adk_metrics::text::stem;
///
/// assert_eq!(stem("relational"), "relat");
/// assert_eq!(stem("dying"), "die");
/// assert_eq!(stem("news"), "news");
/// ```
#[must_use]
pub fn stem(word: &str) -> Cow<'_, str> {
    if !word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
        return Cow::Borrowed(word);
    }
    let mut letters = word.as_bytes().to_vec();
    stem_in_place(&mut letters);
    if letters == word.as_bytes() {
        return Cow::Borrowed(word);
    }
    Cow::Owned(letters.into_iter().map(char::from).collect())
}

/// Replaces a word of ASCII letters (lower case) and digits by its stem.
pub(super) fn stem_in_place(word: &mut Vec<u8>) {
    if let Some(form) = irregular(word) {
        replace_end(word, word.len(), form);
        return;
    }
    if word.len() <= 2 {
        return;
    }
    plural(word);
    past_or_gerund(word);
    final_y(word);
    double_suffix(word);
    single_suffix(word);
    residual_suffix(word);
    final_e(word);
    final_ll(word);
}

fn irregular(word: &[u8]) -> Option<&'static [u8]> {
    Some(match word {
        b"sky" | b"skies" => b"sky",
        b"dying" => b"die",
        b"lying" => b"lie",
        b"tying" => b"tie",
        b"news" => b"news",
        b"inning" | b"innings" => b"inning",
        b"outing" | b"outings" => b"outing",
        b"canning" | b"cannings" => b"canning",
        b"howe" => b"howe",
        b"proceed" => b"proceed",
        b"exceed" => b"exceed",
        b"succeed" => b"succeed",
        _ => return None,
    })
}

/// Step 1a.
fn plural(word: &mut Vec<u8>) {
    if word.ends_with(b"ies") {
        let kept = if word.len() == 4 { 1 } else { 2 };
        replace_end(word, kept, b"");
    } else if word.ends_with(b"sses") {
        replace_end(word, 2, b"");
    } else if word.ends_with(b"s") && !word.ends_with(b"ss") {
        replace_end(word, 1, b"");
    }
}

/// Step 1b.
fn past_or_gerund(word: &mut Vec<u8>) {
    if word.ends_with(b"ied") {
        let kept = if word.len() == 4 { 1 } else { 2 };
        replace_end(word, kept, b"");
        return;
    }
    if let Some(before) = word.strip_suffix(b"eed") {
        if measure(before) > 0 {
            replace_end(word, 1, b"");
        }
        return;
    }
    let Some(before) = word.strip_suffix(b"ed").or_else(|| word.strip_suffix(b"ing")) else {
        return;
    };
    if !has_vowel(before) {
        return;
    }
    word.truncate(before.len());
    if [b"at", b"bl", b"iz"].iter().any(|end| word.ends_with(*end)) {
        word.push(b'e');
    } else if ends_with_double_consonant(word) {
        if !matches!(word.last(), Some(b'l' | b's' | b'z')) {
            word.pop();
        }
    } else if measure(word) == 1 && ends_consonant_vowel_consonant(word) {
        word.push(b'e');
    }
}

/// Step 1c.
fn final_y(word: &mut Vec<u8>) {
    if let Some(before) = word.strip_suffix(b"y")
        && before.len() > 1
        && ends_with_consonant(before)
    {
        replace_end(word, 1, b"i");
    }
}

type SuffixRule = (&'static [u8], &'static [u8]);

/// Step 2. Rules are grouped by last letter; within a group the order is the algorithm's.
fn double_suffix(word: &mut Vec<u8>) {
    if word.strip_suffix(b"alli").is_some_and(|s| measure(s) > 0) {
        replace_end(word, 2, b"");
    }
    let rules: &[SuffixRule] = match word.last() {
        Some(b'l') => &[(b"ational", b"ate"), (b"tional", b"tion")],
        Some(b'i') => &[
            (b"enci", b"ence"),
            (b"anci", b"ance"),
            (b"bli", b"ble"),
            (b"alli", b"al"),
            (b"entli", b"ent"),
            (b"eli", b"e"),
            (b"ousli", b"ous"),
            (b"aliti", b"al"),
            (b"iviti", b"ive"),
            (b"biliti", b"ble"),
            (b"fulli", b"ful"),
        ],
        Some(b'r') => &[(b"izer", b"ize"), (b"ator", b"ate")],
        Some(b'n') => &[(b"ization", b"ize"), (b"ation", b"ate")],
        Some(b'm') => &[(b"alism", b"al")],
        Some(b's') => &[(b"iveness", b"ive"), (b"fulness", b"ful"), (b"ousness", b"ous")],
        _ => return,
    };
    if !apply(word, rules, |before| measure(before) > 0)
        && word.ends_with(b"logi")
        && word.strip_suffix(b"ogi").is_some_and(|s| measure(s) > 0)
    {
        word.pop();
    }
}

/// Step 3.
fn single_suffix(word: &mut Vec<u8>) {
    let rules: &[SuffixRule] = match word.last() {
        Some(b'e') => &[(b"icate", b"ic"), (b"ative", b""), (b"alize", b"al")],
        Some(b'i') => &[(b"iciti", b"ic")],
        Some(b'l') => &[(b"ical", b"ic"), (b"ful", b"")],
        Some(b's') => &[(b"ness", b"")],
        _ => return,
    };
    apply(word, rules, |before| measure(before) > 0);
}

/// Step 4.
fn residual_suffix(word: &mut Vec<u8>) {
    let rules: &[SuffixRule] = match word.last() {
        Some(b'l') => &[(b"al", b"")],
        Some(b'e') => &[
            (b"ance", b""),
            (b"ence", b""),
            (b"able", b""),
            (b"ible", b""),
            (b"ate", b""),
            (b"ive", b""),
            (b"ize", b""),
        ],
        Some(b'r') => &[(b"er", b"")],
        Some(b'c') => &[(b"ic", b"")],
        Some(b't') => &[(b"ant", b""), (b"ement", b""), (b"ment", b""), (b"ent", b"")],
        Some(b'u') => &[(b"ou", b"")],
        Some(b'm') => &[(b"ism", b"")],
        Some(b'i') => &[(b"iti", b"")],
        Some(b's') => &[(b"ous", b"")],
        Some(b'n') => {
            apply(word, &[(b"ion", b"")], |before| {
                matches!(before.last(), Some(b's' | b't')) && measure(before) > 1
            });
            return;
        }
        _ => return,
    };
    apply(word, rules, |before| measure(before) > 1);
}

/// Step 5a.
fn final_e(word: &mut Vec<u8>) {
    if let Some(before) = word.strip_suffix(b"e") {
        let m = measure(before);
        if m > 1 || m == 1 && !ends_consonant_vowel_consonant(before) {
            word.pop();
        }
    }
}

/// Step 5b.
fn final_ll(word: &mut Vec<u8>) {
    if word.ends_with(b"ll") && word.strip_suffix(b"l").is_some_and(|s| measure(s) > 1) {
        word.pop();
    }
}

/// Applies the first rule with a suffix of the word, if `condition` holds for the part before the suffix. Returns whether
/// there is such a rule, even if the condition does not hold.
fn apply(word: &mut Vec<u8>, rules: &[SuffixRule], condition: impl Fn(&[u8]) -> bool) -> bool {
    for &(suffix, replacement) in rules {
        if let Some(before) = word.strip_suffix(suffix) {
            if condition(before) {
                replace_end(word, suffix.len(), replacement);
            }
            return true;
        }
    }
    false
}

fn replace_end(word: &mut Vec<u8>, length: usize, replacement: &[u8]) {
    word.truncate(word.len().saturating_sub(length));
    word.extend_from_slice(replacement);
}

/// For each letter, whether it is a consonant: not a vowel, and for `y` not after a consonant.
fn consonants(word: &[u8]) -> impl Iterator<Item = bool> {
    word.iter().scan(false, |previous, letter| {
        *previous = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !*previous,
            _ => true,
        };
        Some(*previous)
    })
}

/// The number of vowel-consonant sequences, Porter's m.
fn measure(word: &[u8]) -> usize {
    let mut after_vowel = false;
    let mut count = 0;
    for consonant in consonants(word) {
        count += usize::from(after_vowel && consonant);
        after_vowel = !consonant;
    }
    count
}

fn has_vowel(word: &[u8]) -> bool {
    consonants(word).any(|consonant| !consonant)
}

fn ends_with_consonant(word: &[u8]) -> bool {
    consonants(word).last().unwrap_or(false)
}

fn ends_with_double_consonant(word: &[u8]) -> bool {
    matches!(word, [.., a, b] if a == b) && ends_with_consonant(word)
}

/// Porter's condition \*o, and NLTK's addition for stems of two letters.
fn ends_consonant_vowel_consonant(word: &[u8]) -> bool {
    let mut last = [false; 3];
    for consonant in consonants(word) {
        let [_, b, c] = last;
        last = [b, c, consonant];
    }
    match word {
        [_, _] => matches!(last, [_, false, true]),
        [.., _, _, end] => last == [true, false, true] && !matches!(end, b'w' | b'x' | b'y'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(&str, &str)]) {
        for (word, expected) in pairs {
            assert_eq!(stem(word), *expected, "{word}");
        }
    }

    #[test]
    fn each_step_rewrites_its_suffixes() {
        check(&[
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("cats", "cat"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("conflated", "conflat"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("vietnamization", "vietnam"),
            ("electricity", "electr"),
            ("goodness", "good"),
            ("adjustment", "adjust"),
            ("adoption", "adopt"),
            ("probate", "probat"),
            ("controlling", "control"),
        ]);
    }

    #[test]
    fn nltk_deviates_from_the_paper() {
        check(&[
            ("skies", "sky"),
            ("dying", "die"),
            ("news", "news"),
            ("innings", "inning"),
            ("dies", "die"),
            ("died", "die"),
            ("enjoy", "enjoy"),
            ("spy", "spi"),
            ("archaeology", "archaeolog"),
            ("hopefully", "hope"),
            ("geology", "geolog"),
        ]);
    }

    #[test]
    fn a_rule_whose_condition_fails_ends_its_step() {
        check(&[("feed", "feed"), ("sing", "sing"), ("rational", "ration")]);
    }

    #[test]
    fn short_words_and_other_text_come_back_unchanged() {
        check(&[("as", "as"), ("", ""), ("Flies", "Flies"), ("naïve", "naïve")]);
    }

    #[test]
    fn a_run_of_y_alternates() {
        check(&[("yyyyyed", "yyyi"), ("sayyy", "sayyy")]);
    }
}
