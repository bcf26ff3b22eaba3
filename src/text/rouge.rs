//! ROUGE-1: how many words two texts share.
//!
//! Lin, Chin-Yew, "ROUGE: a Package for Automatic Evaluation of Summaries", 2004, with the order of
//! floating-point operations of rouge_score 0.1.2, so that scores are equal to the last bit.
//!
//! Tokens are small integers. A pair of texts is counted in an array indexed by token; afterwards only the
//! touched entries are cleared. O(length of both texts).

use super::tokens::{Collector, PendingWord, SINGLE, Tokens};
use super::vocabulary::Vocabulary;
use super::{Dialect, adk_python, adk_ts};
use crate::foundation::pace::{Pace, at_once};

/// ROUGE-1 of a candidate against a reference; each number lies in 0..=1 and none is ever NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rouge {
    /// Shared tokens by tokens of the candidate; 0 without any.
    pub precision: f64,
    /// Shared tokens by tokens of the reference; 0 without any.
    pub recall: f64,
    /// The harmonic mean of the two; 0 if both are 0. This is ADK's `response_match_score`.
    pub fmeasure: f64,
}

impl Rouge {
    fn from_counts(shared: usize, reference: usize, candidate: usize) -> Self {
        let precision = shared as f64 / candidate.max(1) as f64;
        let recall = shared as f64 / reference.max(1) as f64;
        let sum = precision + recall;
        let fmeasure = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
        Self { precision, recall, fmeasure }
    }
}

/// A range of a text, in UTF-16 code units as in JavaScript: `text.slice(start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first code unit.
    pub start: usize,
    /// Offset just after the last code unit.
    pub end: usize,
}

/// A score and the words it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// The same as [`Scorer::rouge1`] gives.
    pub rouge: Rouge,
    /// The ranges of each shared token in the reference and in the candidate, sorted by the range in the
    /// reference. A token that occurs m times in one text and n times in the other is paired min(m, n) times,
    /// first with first and so on; in [`Dialect::AdkTs`] once.
    pub matched: Vec<(Span, Span)>,
}

/// The work for a token once it is read.
const WORK_OF_TOKEN: usize = 16;

/// Buffers with more elements are freed after a call.
const MAX_KEPT: usize = 1 << 18;

const FIRST_SINGLE: usize = 0x3040;
const LAST_SINGLE: usize = 0xD7AF;

/// Scores many pairs of texts and shares work between them.
///
/// Each distinct word is stemmed and interned once, and buffers are reused. Memory stays within about 25 MB
/// between calls, however many texts are scored: a vocabulary that has grown too large is dropped.
///
/// ```
/// use adk_metrics::text::{Dialect, Scorer};
///
/// let mut scorer = Scorer::new(Dialect::AdkPython);
/// let rouge = scorer.rouge1("The cats are sleeping.", "A cat sleeps");
/// assert_eq!((rouge.precision, rouge.recall), (2.0 / 3.0, 0.5));
/// ```
pub struct Scorer {
    dialect: Dialect,
    vocabulary: Vocabulary,
    pending: PendingWord,
    reference: Tokens,
    candidate: Tokens,
    counts: Counts,
}

impl Scorer {
    /// A scorer that has not seen any word yet.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            vocabulary: Vocabulary::new(dialect == Dialect::AdkPython),
            pending: PendingWord::default(),
            reference: Tokens::default(),
            candidate: Tokens::default(),
            counts: Counts::default(),
        }
    }

    /// The score of a candidate against a reference.
    pub fn rouge1(&mut self, reference: &str, candidate: &str) -> Rouge {
        self.tokenize(reference, candidate, false);
        let rouge = at_once(self.count(&Pace::unbroken()));
        self.trim();
        rouge
    }

    /// As [`Scorer::rouge1`], in slices.
    pub async fn rouge1_paced(&mut self, reference: &str, candidate: &str, pace: &Pace) -> Rouge {
        self.tokenize_paced(reference, candidate, false, pace).await;
        let rouge = self.count(pace).await;
        self.trim();
        rouge
    }

    /// As [`Scorer::overlap`], in slices. The words are given where the score says that they are `wanted`.
    pub async fn overlap_paced(
        &mut self,
        reference: &str,
        candidate: &str,
        pace: &Pace,
        wanted: impl FnOnce(Rouge) -> bool,
    ) -> (Rouge, Option<Vec<(Span, Span)>>) {
        self.tokenize_paced(reference, candidate, true, pace).await;
        let tokens = self.reference.ids.len() + self.candidate.ids.len();
        let rouge = self.count(pace).await;
        let matched = wanted(rouge).then(|| self.matched(reference, candidate));
        self.trim();
        pace.count(tokens * WORK_OF_TOKEN).await;
        (rouge, matched)
    }

    /// The score of a candidate against a reference, and the words that contribute to it.
    pub fn overlap(&mut self, reference: &str, candidate: &str) -> Overlap {
        self.tokenize(reference, candidate, true);
        let rouge = at_once(self.count(&Pace::unbroken()));
        let matched = self.matched(reference, candidate);
        self.trim();
        Overlap { rouge, matched }
    }

    fn matched(&mut self, reference: &str, candidate: &str) -> Vec<(Span, Span)> {
        let in_reference = utf16_spans(reference, &self.reference.spans);
        let in_candidate = utf16_spans(candidate, &self.candidate.spans);
        let spans = |(r, c): (usize, usize)| Some((*in_reference.get(r)?, *in_candidate.get(c)?));
        self.pairs().into_iter().filter_map(spans).collect()
    }

    /// The tokens of a text as strings.
    pub(super) fn token_texts(&mut self, text: &str) -> Vec<String> {
        self.tokenize(text, "", false);
        let texts = self.vocabulary.texts();
        let token_text = |&id: &u32| {
            if id < SINGLE {
                texts.get(id as usize - 1).cloned()
            } else {
                char::from_u32(id & !SINGLE).map(String::from)
            }
        };
        let tokens = self.reference.ids.iter().filter_map(token_text).collect();
        self.trim();
        tokens
    }

    async fn tokenize_paced(&mut self, reference: &str, candidate: &str, keep_spans: bool, pace: &Pace) {
        for (text, tokens) in [(reference, &mut self.reference), (candidate, &mut self.candidate)] {
            tokens.clear(keep_spans);
            let words = Collector { vocabulary: &mut self.vocabulary, pending: &mut self.pending, tokens };
            match self.dialect {
                Dialect::AdkPython => adk_python::tokenize_paced(text, words, pace).await,
                Dialect::AdkTs => adk_ts::tokenize_paced(text, words, pace).await,
            }
        }
        self.counts.make_room(self.vocabulary.id_end());
    }

    fn tokenize(&mut self, reference: &str, candidate: &str, keep_spans: bool) {
        let tokenize = match self.dialect {
            Dialect::AdkPython => adk_python::tokenize,
            Dialect::AdkTs => adk_ts::tokenize,
        };
        for (text, tokens) in [(reference, &mut self.reference), (candidate, &mut self.candidate)] {
            tokens.clear(keep_spans);
            tokenize(
                text,
                Collector { vocabulary: &mut self.vocabulary, pending: &mut self.pending, tokens },
            );
        }
        self.counts.make_room(self.vocabulary.id_end());
    }

    async fn count(&mut self, pace: &Pace) -> Rouge {
        let (reference, candidate) = (&self.reference.ids, &self.candidate.ids);
        let counts = &mut self.counts;
        let rouge = match self.dialect {
            Dialect::AdkPython => {
                for piece in pieces(reference, pace) {
                    for &id in piece {
                        *counts.get_mut(id) += 1;
                    }
                    pace.count(piece.len() * WORK_OF_TOKEN).await;
                }
                let mut shared = 0;
                for piece in pieces(candidate, pace) {
                    for &id in piece {
                        let left = counts.get_mut(id);
                        shared += usize::from(*left > 0);
                        *left = left.saturating_sub(1);
                    }
                    pace.count(piece.len() * WORK_OF_TOKEN).await;
                }
                Rouge::from_counts(shared, reference.len(), candidate.len())
            }
            Dialect::AdkTs => {
                const IN_REFERENCE: u32 = 1;
                const IN_CANDIDATE: u32 = 2;
                let (mut in_reference, mut in_candidate, mut shared) = (0, 0, 0);
                for piece in pieces(reference, pace) {
                    for &id in piece {
                        let seen = counts.get_mut(id);
                        in_reference += usize::from(*seen == 0);
                        *seen = IN_REFERENCE;
                    }
                    pace.count(piece.len() * WORK_OF_TOKEN).await;
                }
                for piece in pieces(candidate, pace) {
                    for &id in piece {
                        let seen = counts.get_mut(id);
                        in_candidate += usize::from(*seen < IN_CANDIDATE);
                        shared += usize::from(*seen == IN_REFERENCE);
                        *seen |= IN_CANDIDATE;
                    }
                    pace.count(piece.len() * WORK_OF_TOKEN).await;
                }
                counts.clear(candidate);
                Rouge::from_counts(shared, in_reference, in_candidate)
            }
        };
        counts.clear(reference);
        rouge
    }

    /// Which token of the reference is paired with which of the candidate, by position.
    fn pairs(&mut self) -> Vec<(usize, usize)> {
        let (reference, candidate) = (&self.reference.ids, &self.candidate.ids);
        // For each token the position + 1 of its first unpaired occurrence, and for each occurrence that of the
        // next one.
        let mut following: Vec<u32> = Vec::with_capacity(candidate.len());
        for (position, &id) in candidate.iter().enumerate().rev() {
            let first = self.counts.get_mut(id);
            following.push(std::mem::replace(first, position as u32 + 1));
        }
        following.reverse();
        let mut pairs = Vec::new();
        for (position, &id) in reference.iter().enumerate() {
            let first = self.counts.get_mut(id);
            if let Some(partner) = (*first as usize).checked_sub(1) {
                pairs.push((position, partner));
                *first = match self.dialect {
                    Dialect::AdkPython => following.get(partner).copied().unwrap_or(0),
                    Dialect::AdkTs => 0,
                };
            }
        }
        self.counts.clear(candidate);
        pairs
    }

    fn trim(&mut self) {
        self.vocabulary.trim();
        self.pending.trim(MAX_KEPT);
        self.reference.trim(MAX_KEPT);
        self.candidate.trim(MAX_KEPT);
        self.counts.trim(MAX_KEPT);
    }
}

/// A counter per token; all are zero between pairs.
#[derive(Default)]
struct Counts {
    words: Vec<u32>,
    singles: Vec<u32>,
    /// A dummy counter for ids out of range, which do not occur.
    dummy: u32,
}

impl Counts {
    fn make_room(&mut self, word_ids: usize) {
        if self.words.len() < word_ids {
            self.words.resize(word_ids.next_power_of_two(), 0);
        }
    }

    #[inline(always)]
    fn get_mut(&mut self, id: u32) -> &mut u32 {
        let count = if id < SINGLE {
            self.words.get_mut(id as usize)
        } else {
            if self.singles.is_empty() {
                self.singles = vec![0; LAST_SINGLE - FIRST_SINGLE + 1];
            }
            let code = (id & !SINGLE) as usize;
            self.singles.get_mut(code.wrapping_sub(FIRST_SINGLE))
        };
        count.unwrap_or(&mut self.dummy)
    }

    fn clear(&mut self, ids: &[u32]) {
        for &id in ids {
            *self.get_mut(id) = 0;
        }
    }

    fn trim(&mut self, kept: usize) {
        if self.words.len() > kept {
            self.words = Vec::new();
        }
    }
}

/// Tokens in pieces that are counted at once.
fn pieces<'t>(ids: &'t [u32], pace: &Pace) -> std::slice::Chunks<'t, u32> {
    ids.chunks(pace.piece(usize::MAX) / WORK_OF_TOKEN + 1)
}

/// Byte spans in ascending order to spans in UTF-16 code units.
fn utf16_spans(text: &str, spans: &[(usize, usize)]) -> Vec<Span> {
    if text.is_ascii() {
        return spans.iter().map(|&(start, end)| Span { start, end }).collect();
    }
    let mut starts = Utf16Cursor::new(text);
    let mut ends = Utf16Cursor::new(text);
    spans
        .iter()
        .map(|&(start, end)| Span { start: starts.utf16_offset(start), end: ends.utf16_offset(end) })
        .collect()
}

struct Utf16Cursor<'a> {
    text: &'a str,
    byte: usize,
    offset: usize,
}

impl<'a> Utf16Cursor<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, byte: 0, offset: 0 }
    }

    /// `byte` must not be smaller than in the call before.
    fn utf16_offset(&mut self, byte: usize) -> usize {
        let passed = self.text.get(self.byte..byte).unwrap_or_default();
        self.offset += passed.encode_utf16().count();
        self.byte = byte;
        self.offset
    }
}
