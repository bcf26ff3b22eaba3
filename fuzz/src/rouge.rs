//! ROUGE-1 equals its definition, is between 0 and 1, and does not depend on earlier texts; its spans are
//! within the texts.

use std::collections::HashMap;

use adk_metrics::text::{Dialect, Scorer, fold_case, rouge1, tokenize};

/// The input is a reference and a candidate.
pub fn check(input: &[u8]) {
    let mut strings = crate::strings(input);
    let (Some(reference), candidate) = (strings.next(), strings.next().unwrap_or_default()) else { return };
    let rouge = rouge1(reference, candidate);
    assert_eq!((rouge.precision, rouge.recall, rouge.fmeasure), by_definition(reference, candidate));
    for dialect in [Dialect::AdkPython, Dialect::AdkTs] {
        let fresh = Scorer::new(dialect).rouge1(reference, candidate);
        let mut scorer = Scorer::new(dialect);
        scorer.rouge1(candidate, reference);
        assert_eq!(scorer.rouge1(reference, candidate), fresh, "a scorer that has scored before");
        let overlap = scorer.overlap(reference, candidate);
        assert_eq!(overlap.rouge, fresh);
        for number in [fresh.precision, fresh.recall, fresh.fmeasure] {
            assert!((0.0..=1.0).contains(&number), "{fresh:?}");
        }
        let lengths = [reference, candidate].map(|text| text.encode_utf16().count());
        for (in_reference, in_candidate) in overlap.matched {
            for (span, length) in [in_reference, in_candidate].into_iter().zip(lengths) {
                assert!(span.start < span.end && span.end <= length, "{span:?} of {length}");
            }
        }
    }
    let folded = fold_case(reference);
    assert_eq!(fold_case(&folded), folded, "folding twice");
}

/// Precision, recall and F-measure of the multisets of tokens.
fn by_definition(reference: &str, candidate: &str) -> (f64, f64, f64) {
    let (reference, candidate) = (tokenize(reference), tokenize(candidate));
    let mut left = HashMap::<_, usize>::new();
    for token in &reference {
        *left.entry(token).or_default() += 1;
    }
    let mut shared = 0.0;
    for token in &candidate {
        if let Some(count) = left.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1.0;
        }
    }
    let share = |of: usize| if of == 0 { 0.0 } else { shared / of as f64 };
    let (precision, recall) = (share(candidate.len()), share(reference.len()));
    let sum = precision + recall;
    (precision, recall, if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 })
}
