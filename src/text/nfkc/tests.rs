//! Tests of [`super`], in a file of their own because they are as long as a third of it.

use super::*;
use icu_normalizer::ComposingNormalizerBorrowed;
use proptest::prelude::*;

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
fn the_rules_of_uax_15_hold() {
    for (text, expected) in [
        // Order first, then merge: the mark below goes before the one above.
        ("s\u{307}\u{323}", "ṩ"),
        // Merging resumes behind a mark that stays, unless one of the same class stays.
        ("a\u{31b}\u{302}", "â\u{31b}"),
        ("a\u{334}\u{301}", "á\u{334}"),
        ("b\u{301}\u{301}", "b\u{301}\u{301}"),
        ("a\u{301}\u{301}", "á\u{301}"),
        // A starter merges only with what stands directly before it.
        ("\u{cc6}\u{cc2}\u{cd5}", "\u{ccb}"),
        ("\u{1100}\u{334}\u{1161}", "\u{1100}\u{334}\u{1161}"),
        ("\u{dd9}\u{dcf}\u{dca}", "\u{ddd}"),
        // Singletons and excluded compositions come apart for good.
        ("\u{212b}\u{2126}x\u{340}", "ÅΩx\u{300}"),
        ("\u{958}\u{fb1d}", "\u{915}\u{93c}\u{5d9}\u{5b4}"),
        ("\u{308}\u{301}", "\u{308}\u{301}"),
        // Hangul by arithmetic: a final consonant joins an open syllable only.
        ("가\u{11a8}", "각"),
        ("각\u{11a8}", "각\u{11a8}"),
        ("가\u{11a7}", "가\u{11a7}"),
        ("ﾡￂ", "가"),
        ("\u{fdfa}", "صلى الله عليه وسلم"),
        ("㍿𝔘Ⅷ", "株式会社UVIII"),
        // No letter to merge with.
        ("\u{301}\u{323}", "\u{323}\u{301}"),
        ("", ""),
    ] {
        assert_eq!(nfkc(text), expected, "{text:?}");
    }
}

#[test]
fn characters_newer_than_unicode_14_are_barriers() {
    assert_eq!(nfkc("\u{ece}\u{e48}\u{e38}"), "\u{ece}\u{e38}\u{e48}");
    assert_eq!(nfkc("\u{e48}\u{ece}\u{e38}"), "\u{e48}\u{ece}\u{e38}");
}

#[test]
fn a_long_run_of_marks_is_ordered_in_linear_time() {
    let mark = |i: usize| ['\u{301}', '\u{323}', '\u{334}', '\u{345}', '\u{5b0}'][i % 5];
    let marks: String = (0..200_000).map(mark).collect();
    let text = format!("a{marks}");
    assert_eq!(nfkc(&text), by_icu(&text));
}

/// What ICU4X says. Its Unicode is newer, but normalisation of assigned characters is stable.
fn by_icu(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfkc().normalize(text).into_owned()
}

fn assigned() -> impl Iterator<Item = char> {
    ('\0'..=char::MAX).filter(|&c| !Roles::get().role(c as u32).is_unassigned())
}

fn rank(c: char) -> u8 {
    Decompositions::get(Roles::get()).rank(c, Roles::get())
}

#[test]
fn every_character_of_unicode_14_agrees_with_icu() {
    for c in assigned() {
        let text = format!("{c}a{c}\u{301}\u{323}");
        assert_eq!(nfkc(&text), by_icu(&text), "U+{:04X}", c as u32);
    }
}

#[test]
fn decomposition_and_reordering_agree_with_icu_next_to_every_class_of_marks() {
    let mut marks: Vec<char> = assigned().filter(|&c| rank(c) > 0).collect();
    marks.sort_by_key(|&c| rank(c));
    marks.dedup_by_key(|&mut c| rank(c));
    assert!(marks.len() > 50);
    let forms = Decompositions::get(Roles::get());
    for c in assigned().filter(|&c| !matches!(forms.entry(c), CharHandling::Plain)) {
        let text: String = marks.iter().flat_map(|&mark| [c, mark, '\u{301}', c]).collect();
        assert_eq!(nfkc(&text), by_icu(&text), "U+{:04X}", c as u32);
    }
}

proptest! {
    #[test]
    fn random_texts_agree_with_icu(text in "(\\p{Any}|[\\p{M}aéờsΑ]|[ᄀ-ᇿ가-깋]|[ぁ-ヿ゙ﾞ]|[ｦ-ￜ㌀-㏿ﷰ-﷽]){0,24}") {
        let known = |c: &char| !Roles::get().role(*c as u32).is_unassigned();
        let text: String = text.chars().filter(known).collect();
        prop_assert_eq!(nfkc(&text), by_icu(&text));
    }
}
