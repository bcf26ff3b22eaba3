//! Text overlap: how many words an agent's response shares with a reference.
//!
//! ```
//! use adk_metrics::text::{rouge1, tokenize};
//!
//! assert_eq!(tokenize("The cats’ naïve 漢字"), ["the", "cat", "naïve", "漢", "字"]);
//! assert_eq!(rouge1("flights to Paris", "a flight to Paris").recall, 1.0);
//! ```
//!
//! In the order of the data:
//!
//! 1. `nfkc` normalises the text, segment by segment.
//! 2. `adk_python` or `adk_ts`, depending on the [`Dialect`], splits it into words; `tokens` is what both have
//!    in common.
//! 3. `vocabulary` interns the words and stems them with `porter`.
//! 4. `rouge` counts the shared tokens.
//!
//! `python` has Python's string methods, which the other modules of the crate use too. `roles` and the generated
//! `tables` have the properties of all characters in Python 3.11; `utf8` reads eight bytes at a time.

mod adk_python;
mod adk_ts;
mod nfkc;
mod porter;
pub(crate) mod python;
mod roles;
mod rouge;
mod tables;
mod tokens;
mod utf8;
mod vocabulary;

pub use porter::stem;
pub use python::fold_case;
pub use rouge::{Overlap, Rouge, Scorer, Span};

/// The implementation whose scores are reproduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// google-adk on Python 3.11: multisets of stemmed Unicode words.
    #[default]
    AdkPython,
    /// `@iqai/adk` 0.5.9: sets of lower-cased ASCII words, not stemmed. It scores 0 if there are no words to
    /// compare; the NaN that it can report for a whole case does not come from ROUGE.
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
