//! Text overlap: how much of a reference answer an agent's answer shares with it.
//!
//! ```
//! use adk_metrics::text::{rouge1, tokenize};
//!
//! assert_eq!(tokenize("The cats’ naïve 漢字"), ["the", "cat", "naïve", "漢", "字"]);
//! assert_eq!(rouge1("flights to Paris", "a flight to Paris").recall, 1.0);
//! ```
//!
//! In the order of the work: `nfkc` normalises, `adk_python` or `adk_ts` finds the words, `vocabulary`
//! interns and (with `porter`) stems them, `rouge` counts. `roles` and the generated `tables` have the
//! properties of every character as Python 3.11 knows them; `utf8` reads eight bytes at a time.

mod adk_python;
mod adk_ts;
mod nfkc;
mod porter;
mod roles;
mod rouge;
mod tables;
mod tokens;
mod utf8;
mod vocabulary;

pub(crate) use adk_python::lower_case;
pub use porter::stem;
pub use rouge::{Overlap, Rouge, Scorer, Span};

/// Whose numbers to reproduce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// google-adk on Python 3.11: multisets of stemmed Unicode words.
    #[default]
    AdkPython,
    /// `@iqai/adk` 0.5.9: sets of lower-cased ASCII words, not stemmed. Where it has no words to
    /// compare it gives 0; the NaN it can report for a whole case arises outside of ROUGE.
    AdkTs,
}

/// ROUGE-1 of a candidate against a reference, as google-adk computes it.
///
/// For more than one pair a [`Scorer`] is faster: it remembers the words it has seen.
///
/// ```
/// let rouge = adk_metrics::text::rouge1("It is sunny in Paris", "Paris is sunny");
/// assert_eq!(rouge.precision, 1.0);
/// assert_eq!(rouge.recall, 0.6);
/// assert_eq!(rouge.fmeasure, 0.7499999999999999);
/// ```
#[must_use]
pub fn rouge1(reference: &str, candidate: &str) -> Rouge {
    Scorer::new(Dialect::AdkPython).rouge1(reference, candidate)
}

/// The tokens that google-adk compares: normalised, lower-cased, stemmed, in order.
#[must_use]
pub fn tokenize(text: &str) -> Vec<String> {
    Scorer::new(Dialect::AdkPython).token_texts(text)
}

/// Whether Python's `str.isspace` and `\s` take a character for white space.
pub(crate) fn is_space(c: char) -> bool {
    // Python's control characters besides Unicode's white space.
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// A text without white space around it, as Python's `str.strip` gives it.
#[inline(never)]
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// A text without differences of case: Unicode's full case folding (`CaseFolding.txt`, C and F), as
/// Python's `str.casefold` gives it.
///
/// ```
/// use adk_metrics::text::fold_case;
///
/// assert_eq!(fold_case("Straße"), fold_case("STRASSE"));
/// ```
#[must_use]
pub fn fold_case(text: &str) -> String {
    unicase::UniCase::unicode(text).to_folded_case()
}

/// Hands out every character of the NFKC form (Unicode 14) of a text.
pub(crate) fn for_each_nfkc_char(text: &str, visit: &mut dyn FnMut(char)) {
    nfkc::for_each_char(text, roles::Roles::get(), visit);
}
