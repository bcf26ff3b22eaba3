//! Any reply of a judge can be read, and text that the judge was shown never makes the result more favourable.

use adk_metrics::judge::reply::{
    ShownText, assign, final_response_match, rubrics, score, sentences, turn_validity, validations,
};

/// The input is what the judge was shown, and its reply; without a zero byte only the reply.
pub fn check(input: &[u8]) {
    let mut strings = crate::strings(input);
    let Some(first) = strings.next() else { return };
    let (prompt, reply) = strings.next().map_or(("", first), |reply| (first, reply));
    let plain = || ShownText::default();
    let shown = || ShownText::from_prompt(prompt);

    for read in [final_response_match, turn_validity] {
        if read(reply, &shown()) == Some(true) {
            assert_eq!(read(reply, &plain()), Some(true), "valid only with the shown text");
        }
    }
    let found = [score(reply, &plain()), score(reply, &shown())];
    for score in found.iter().flatten() {
        assert!(score.score.is_finite(), "{score:?}");
    }
    let positive = |shown: &ShownText<'_>| {
        rubrics(reply, shown).iter().filter(|entry| entry.verdict == Some(true)).count()
    };
    assert!(positive(&shown()) <= positive(&plain()), "more rubrics are met with the shown text");
    let supported = |shown: &ShownText<'_>| {
        validations(reply, shown).iter().filter(|found| found.is_supported() == Some(true)).count()
    };
    assert!(supported(&shown()) <= supported(&plain()), "more sentences are supported with the shown text");
    assert!(sentences(reply, &shown()).len() <= reply.len());

    let entries = rubrics(reply, &plain());
    let asked = [("1", prompt), ("tone", "Is polite."), (prompt, "")];
    for (rubric, entry) in assign(&entries, &asked, &[]) {
        assert!(entry < entries.len() && rubric < asked.len());
    }
}
