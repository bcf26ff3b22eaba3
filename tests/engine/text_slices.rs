//! Texts are compared in slices as they are at once, wherever that is interrupted.

use std::pin::pin;

use adk_metrics::foundation::pace::{Pace, at_once, go_on};
use adk_metrics::metrics::judged::Work;
use adk_metrics::text::{Dialect, Overlap, Scorer};
use proptest::prelude::*;

const DIALECTS: [Dialect; 2] = [Dialect::AdkPython, Dialect::AdkTs];

fn overlap(dialect: Dialect, texts: &[String; 2], pace: &Pace) -> Overlap {
    let [reference, candidate] = texts;
    let mut scorer = Scorer::new(dialect);
    let rouge = at_once(scorer.rouge1_paced(reference, candidate, pace));
    let unwanted = at_once(scorer.overlap_paced(reference, candidate, pace, |_| false));
    assert_eq!(unwanted, (rouge, None));
    let (rouge, matched) = at_once(scorer.overlap_paced(reference, candidate, pace, |given| given == rouge));
    Overlap { rouge, matched: matched.unwrap_or_default() }
}

/// Words in several scripts, marks that join what is before them, and what is normalised.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z]{1,12} ?",
        "[A-Z][a-z]{0,4}s[ ,.]",
        Just("é e\u{301} \u{301}".to_owned()),
        Just("ﬁnd ½ Å ".to_owned()),
        Just("漢字、かな".to_owned()),
        Just("ΟΔΥΣΣΕΥΣ Σ".to_owned()),
        Just("กำลัง".to_owned()),
        Just("İK".to_owned()),
        Just("🌞\u{1f1e9}\u{1f1ea}".to_owned()),
        "[a-z0-9_]{20,80}",
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn slices_of_any_size_find_the_same(reference in text(), candidate in text(), slice in 1..200_usize) {
        let texts = [reference, candidate];
        for dialect in DIALECTS {
            let mut scorer = Scorer::new(dialect);
            let whole = scorer.overlap(&texts[0], &texts[1]);
            prop_assert_eq!(scorer.rouge1(&texts[0], &texts[1]), whole.rouge);
            for slice in [1, slice] {
                prop_assert_eq!(&overlap(dialect, &texts, &Pace::new(slice)), &whole);
            }
        }
    }
}

#[test]
fn long_texts_are_compared_in_as_many_slices_as_they_have_work() {
    let text = "The weather in London is sunny, and it stays so. ".repeat(20_000);
    let pace = Pace::new(Work::PER_POLL);
    for dialect in DIALECTS {
        let mut scorer = Scorer::new(dialect);
        let mut work = pin!(scorer.overlap_paced(&text, &text, &pace, |_| true));
        let mut slices = 1;
        while go_on(work.as_mut()).is_none() {
            slices += 1;
        }
        assert!(slices >= 2 * 8 * text.len() / Work::PER_POLL, "{slices} slices");
    }
}
