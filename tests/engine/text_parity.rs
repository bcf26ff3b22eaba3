//! The text module against the recorded answers of google-adk and ADK-TS, and its own laws.
//!
//! `tests/parity/README.md` and `tests/adk-ts/README.md` describe the vectors.

use std::fs;

use adk_metrics::text::{Dialect, Rouge, Scorer, Span, fold_case, stem, tokenize};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

fn read(path: &str) -> String {
    fs::read_to_string(format!("{}/tests/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn vectors<T: for<'a> Deserialize<'a>>(path: &str) -> T {
    serde_json::from_str(&read(path)).unwrap()
}

#[derive(Deserialize)]
struct Pair {
    reference: String,
    candidate: String,
    precision: Box<RawValue>,
    recall: Box<RawValue>,
    fmeasure: Box<RawValue>,
}

#[test]
fn scores_equal_google_adk_to_the_last_bit() {
    #[derive(Deserialize)]
    struct File {
        pairs: Vec<Pair>,
    }
    // `f64::from_str` rounds correctly, which serde_json does not by default.
    let exact = |number: &RawValue| number.get().parse::<f64>().unwrap();
    let file: File = vectors("parity/vectors/rouge.json");
    assert!(file.pairs.len() > 1000);
    let mut scorer = Scorer::new(Dialect::AdkPython);
    for pair in &file.pairs {
        let expected = Rouge {
            precision: exact(&pair.precision),
            recall: exact(&pair.recall),
            fmeasure: exact(&pair.fmeasure),
        };
        let Pair { reference, candidate, .. } = pair;
        assert_eq!(scorer.rouge1(reference, candidate), expected, "{reference:?} {candidate:?}");
    }
}

#[test]
fn case_is_folded_as_python_folds_it() {
    #[derive(Deserialize)]
    struct File {
        unassigned: Vec<(u32, u32)>,
        folds: Vec<(char, String)>,
    }
    let file: File = vectors("parity/vectors/casefold.json");
    assert!(file.folds.len() > 1500);
    let mut folds = file.folds.into_iter().peekable();
    for c in '\0'..=char::MAX {
        let expected = folds.next_if(|(of, _)| *of == c).map(|(_, fold)| fold);
        let code = u32::from(c);
        let next = file.unassigned.partition_point(|(_, last)| *last < code);
        // Letters that came with a later Unicode than the recorded Python knows may fold.
        if file.unassigned.get(next).is_none_or(|(first, _)| code < *first) {
            assert_eq!(fold_case(&c.to_string()), expected.unwrap_or(c.to_string()), "U+{code:04X}");
        }
    }
    assert!(folds.next().is_none());
}

#[test]
fn tokens_equal_google_adk_in_random_texts() {
    #[derive(Deserialize)]
    struct File {
        texts: Vec<(String, String)>,
    }
    let file: File = vectors("parity/vectors/tokens.json");
    assert!(file.texts.len() > 1000);
    for (text, expected) in &file.texts {
        assert_eq!(tokenize(text).join(" "), *expected, "{text:?}");
    }
}

/// Every code point of short runs, and of long ones the ends and a sample.
#[test]
fn tokens_equal_google_adk_around_every_kind_of_code_point() {
    #[derive(Deserialize)]
    struct File {
        templates: Vec<String>,
        classes: Vec<Vec<String>>,
        folds: Vec<(u32, String)>,
        runs: Vec<(u32, u32, usize)>,
    }
    let file: File = vectors("parity/vectors/tokenizer.json");
    let folds: std::collections::HashMap<_, _> = file.folds.into_iter().collect();
    for &(first, last, class) in &file.runs {
        let ends = |code: &u32| code - first < 200 || last - code < 20 || code.is_multiple_of(251);
        for c in (first..=last).filter(ends).filter_map(char::from_u32) {
            let mut text = String::new();
            let mut expected = Vec::new();
            let fold = folds.get(&(c as u32)).map_or("", String::as_str);
            for (template, tokens) in file.templates.iter().zip(&file.classes[class]) {
                text += &template.replace("{}", &c.to_string());
                // Ends the word, and no rule of casing or normalisation reaches across it.
                text += "\n";
                let tokens = tokens.replace('\u{E000}', &c.to_string()).replace('\u{E001}', fold);
                expected.extend(tokens.split(' ').filter(|t| !t.is_empty()).map(str::to_owned));
            }
            assert_eq!(tokenize(&text), expected, "U+{:04X}", c as u32);
        }
    }
}

#[test]
fn stems_equal_nltk() {
    let file = read("parity/vectors/stemmer.tsv");
    let mut words = 0;
    for (word, expected) in file.lines().filter_map(|line| line.split_once('\t')) {
        let expected = if expected.is_empty() { word } else { expected };
        let actual = if word.len() > 3 { stem(word) } else { word.into() };
        assert_eq!(actual, expected, "{word}");
        words += 1;
    }
    assert!(words > 100_000);
}

#[test]
fn scores_equal_adk_ts() {
    #[derive(Deserialize)]
    struct File {
        cases: Vec<Case>,
    }
    #[derive(Deserialize)]
    struct Case {
        name: String,
        actual: Value,
        expected: Value,
        result: Outcome,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Outcome {
        #[serde(default)]
        per_invocation_results: Vec<Scored>,
    }
    #[derive(Deserialize)]
    struct Scored {
        score: Option<Box<RawValue>>,
    }
    fn text(invocation: &Value) -> String {
        let parts = invocation["finalResponse"]["parts"].as_array();
        let texts = parts.into_iter().flatten().filter_map(|part| part["text"].as_str());
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }
    let file: File = vectors("adk-ts/vectors.json");
    let mut scorer = Scorer::new(Dialect::AdkTs);
    let mut compared = 0;
    for case in file.cases.iter().filter(|case| case.name.starts_with("rouge")) {
        for (i, result) in case.result.per_invocation_results.iter().enumerate() {
            if let Some(score) = &result.score {
                let rouge = scorer.rouge1(&text(&case.expected[i]), &text(&case.actual[i]));
                let expected: f64 = score.get().parse().unwrap();
                assert_eq!(rouge.fmeasure, expected, "{}", case.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 1000);
}

#[test]
fn very_long_texts_take_linear_time() {
    const LENGTH: usize = 300_000;
    let mut scorer = Scorer::new(Dialect::AdkPython);
    for unit in [
        "a",
        "y",
        "7",
        " ",
        "中",
        "ก",
        "\u{e49}",
        "\u{301}",
        "\u{315}\u{300}",
        "\u{327}\u{301}",
        "Σ",
        "Σ.",
        "\u{fdfa}",
        "½",
        "\u{1100}\u{1161}",
        "e\u{301}",
        "ｶﾞ",
        "\u{ece}\u{301}",
        "か\u{3099}",
        "😀",
        "ab ",
        "é",
        "É",
        "\u{3099}",
    ] {
        let text = unit.repeat(LENGTH / unit.len());
        let rouge = scorer.rouge1(&text, &text);
        assert!([0.0, 1.0].contains(&rouge.fmeasure), "{unit:?}");
    }
}

#[test]
fn matched_words_are_found_in_the_original_text() {
    let (reference, candidate) = ("😀 Ｃafé, ﬁnd ½ İstanbul", "find the CAFE\u{301} 1 i\u{307}stanbul");
    let overlap = Scorer::new(Dialect::AdkPython).overlap(reference, candidate);
    let slice = |text: &str, span: Span| {
        let units: Vec<u16> = text.encode_utf16().collect();
        String::from_utf16(&units[span.start..span.end]).unwrap()
    };
    let words: Vec<_> =
        overlap.matched.iter().map(|&(r, c)| (slice(reference, r), slice(candidate, c))).collect();
    let expected = [("Ｃafé", "CAFE\u{301}"), ("ﬁnd", "find"), ("½", "1"), ("İstanbul", "i\u{307}stanbul")];
    assert_eq!(words, expected.map(|(r, c)| (r.to_owned(), c.to_owned())));
}

#[test]
fn repeated_words_are_paired_in_order() {
    let spans = |dialect| {
        let overlap = Scorer::new(dialect).overlap("a b a a", "a c a");
        let starts = overlap.matched.iter().map(|(r, c)| (r.start, c.start));
        starts.collect::<Vec<_>>()
    };
    assert_eq!(spans(Dialect::AdkPython), [(0, 0), (4, 4)]);
    assert_eq!(spans(Dialect::AdkTs), [(0, 0)]);
}

/// Texts that repeat words and mix scripts, marks, sigmas and arbitrary characters.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-cA-C]{1,3}",
        2 => "(running|runs|Flies|internationalization|snake_case)",
        4 => "[ .,\n_-]",
        2 => "[中文字かガ한]{1,3}",
        2 => "[กขไ\u{e38}\u{e49}\u{e34}]{1,4}",
        1 => "[ΣσΑ']{1,3}",
        1 => "[\u{300}-\u{345}\u{3099}]{1,3}",
        1 => "[ﬁ½①Ａ，…İK😀]",
        1 => "\\PC{1,2}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn dialects() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::AdkPython), Just(Dialect::AdkTs)]
}

proptest! {
    #[test]
    fn scores_are_fractions_and_swapping_the_texts_swaps_them(
        a in texts(), b in texts(), dialect in dialects()
    ) {
        let mut scorer = Scorer::new(dialect);
        let one = scorer.rouge1(&a, &b);
        let other = scorer.rouge1(&b, &a);
        for score in [one.precision, one.recall, one.fmeasure] {
            prop_assert!((0.0..=1.0).contains(&score));
        }
        prop_assert_eq!((one.precision, one.recall), (other.recall, other.precision));
        prop_assert_eq!(one.fmeasure, other.fmeasure);
    }

    #[test]
    fn a_text_with_words_matches_itself(text in texts(), dialect in dialects()) {
        let rouge = Scorer::new(dialect).rouge1(&text, &text);
        let expected = if rouge.recall == 0.0 { 0.0 } else { 1.0 };
        prop_assert_eq!(rouge, Rouge { precision: expected, recall: expected, fmeasure: expected });
        if dialect == Dialect::AdkPython {
            prop_assert_eq!(expected == 0.0, tokenize(&text).is_empty());
        }
    }

    #[test]
    fn what_a_scorer_has_seen_does_not_change_its_scores(
        pairs in prop::collection::vec((texts(), texts()), 1..5), dialect in dialects()
    ) {
        let mut seasoned = Scorer::new(dialect);
        for (a, b) in &pairs {
            let fresh = Scorer::new(dialect).rouge1(a, b);
            prop_assert_eq!(seasoned.rouge1(a, b), fresh);
            prop_assert_eq!(seasoned.overlap(a, b).rouge, fresh);
        }
    }

    #[test]
    fn spans_lie_in_the_texts_in_order(a in texts(), b in texts(), dialect in dialects()) {
        let is_boundary = |text: &str, offset: usize| {
            let mut at = 0;
            let mut starts = text.chars().map(|c| { at += c.len_utf16(); at });
            offset == 0 || starts.any(|boundary| boundary == offset)
        };
        let overlap = Scorer::new(dialect).overlap(&a, &b);
        for (in_a, in_b) in &overlap.matched {
            for (text, span) in [(&a, in_a), (&b, in_b)] {
                prop_assert!(span.start < span.end);
                prop_assert!(is_boundary(text, span.start) && is_boundary(text, span.end));
            }
        }
        prop_assert!(overlap.matched.is_sorted_by_key(|(in_a, _)| (in_a.start, in_a.end)));
        prop_assert_eq!(overlap.matched.is_empty(), overlap.rouge.fmeasure == 0.0);
    }
}
