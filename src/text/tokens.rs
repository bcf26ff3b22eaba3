//! The output of both tokenizers, and the word that is being read.

use std::ops::Range;

use super::utf8::{Block, load_lower};
use super::vocabulary::{Vocabulary, WordKey};
use crate::foundation::pace::Pace;

/// Ids at or above this are characters that are tokens by themselves: the bit plus the code point.
pub(super) const SINGLE: u32 = 1 << 31;

/// The tokens of one text, in order.
#[derive(Default)]
pub(super) struct Tokens {
    pub(super) ids: Vec<u32>,
    /// Byte range of each token in the source text; empty unless asked for.
    pub(super) spans: Vec<(usize, usize)>,
    pub(super) keep_spans: bool,
}

impl Tokens {
    pub(super) fn clear(&mut self, keep_spans: bool) {
        self.ids.clear();
        self.spans.clear();
        self.keep_spans = keep_spans;
    }

    /// Frees memory if there is much of it.
    pub(super) fn trim(&mut self, kept: usize) {
        if self.ids.capacity() > kept || self.spans.capacity() > kept {
            *self = Self::default();
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, id: u32, start: usize, end: usize) {
        self.ids.push(id);
        if self.keep_spans {
            self.spans.push((start, end));
        }
    }
}

/// Where a piece of text comes from.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// The source text from this byte on, unchanged.
    Source(usize),
    /// The normalised form of these bytes of the source text.
    Folded { start: usize, end: usize },
}

impl Origin {
    /// Where in the source a token starts that starts at `at` in this piece.
    #[inline(always)]
    pub(super) const fn start(self, at: usize) -> usize {
        match self {
            Self::Source(offset) => offset + at,
            Self::Folded { start, .. } => start,
        }
    }

    /// Where in the source a token ends that ends at `at` in this piece.
    #[inline(always)]
    pub(super) const fn end(self, at: usize) -> usize {
        match self {
            Self::Source(offset) => offset + at,
            Self::Folded { start, .. } if at == 0 => start,
            Self::Folded { end, .. } => end,
        }
    }
}

/// A word whose end has not been read yet; it may continue in the next piece of text.
#[derive(Default)]
pub(super) struct PendingWord {
    key: WordKey,
    length: usize,
    /// The whole word once it is longer than a key.
    long: Vec<u8>,
    start: usize,
}

impl PendingWord {
    /// Adds the `width` lowest bytes of `bytes`, 1 to 8; the others must be zero. `start` is
    /// where they come from in the source.
    #[inline(always)]
    pub(super) fn push(&mut self, bytes: u64, width: usize, start: usize) {
        let length = self.length;
        if length == 0 {
            self.key = WordKey { low: bytes, high: 0 };
            self.start = start;
        } else if length < 8 {
            self.key.low |= bytes << (8 * length);
            self.key.high = bytes >> (64 - 8 * length);
        } else if length + width <= WordKey::BYTES {
            self.key.high |= bytes << (8 * (length - 8));
        } else {
            if length <= WordKey::BYTES {
                self.long.clear();
                self.long.extend(self.key.bytes());
            }
            let bytes = bytes.to_le_bytes();
            self.long.extend_from_slice(bytes.get(..width).unwrap_or_default());
        }
        self.length = length + width;
    }

    /// Takes back the last byte that was added, if any; it must be an ASCII letter or digit.
    pub(super) fn unpush_ascii(&mut self) {
        let Some(length) = self.length.checked_sub(1) else {
            return;
        };
        self.length = length;
        if length < 8 {
            self.key.low &= !(0xFF << (8 * length));
        } else if length < WordKey::BYTES {
            self.key.high &= !(0xFF << (8 * (length - 8)));
        } else {
            self.long.pop();
            if let Some(key) = WordKey::pack(&self.long) {
                self.key = key;
            }
        }
    }

    pub(super) fn push_char(&mut self, c: char, start: usize) {
        let mut utf8 = [0; 8];
        let width = c.encode_utf8(&mut utf8).len();
        self.push(u64::from_le_bytes(utf8), width, start);
    }

    /// Frees memory if there is much of it.
    pub(super) fn trim(&mut self, kept: usize) {
        if self.long.capacity() > kept {
            self.long = Vec::new();
        }
    }
}

/// Collects the words of a text as a tokenizer finds them.
pub(super) struct Collector<'a> {
    pub(super) vocabulary: &'a mut Vocabulary,
    pub(super) pending: &'a mut PendingWord,
    pub(super) tokens: &'a mut Tokens,
}

/// The dialect-specific part of a tokenizer: non-ASCII text.
pub(super) trait Scan<'a> {
    /// Where its words go.
    fn words(&mut self) -> &mut Collector<'a>;

    /// Reads a block in which there are characters outside ASCII; returns where it ends.
    fn mixed_block(&mut self, at: usize) -> usize;
}

/// Collects the words of a text, `_` being a letter in it with `underscore`.
pub(super) fn tokenize(text: &str, underscore: bool, scan: &mut dyn Scan<'_>) {
    let end = read(text, 0..text.len(), underscore, scan);
    scan.words().finish(end);
}

/// As [`tokenize`], in slices.
pub(super) async fn tokenize_paced(text: &str, underscore: bool, scan: &mut dyn Scan<'_>, pace: &Pace) {
    /// The bytes that are read between two counts of work.
    const PIECE: usize = 1 << 14;
    /// The work for a byte.
    const WORK: usize = 8;
    let mut at = 0;
    while at < text.len() {
        let begin = at;
        at = read(text, begin..text.len().min(begin + pace.piece(PIECE)), underscore, scan);
        pace.count((at - begin) * WORK).await;
    }
    scan.words().finish(at);
}

/// Reads a part of a text, and what belongs to its last characters; returns where to go on.
fn read(text: &str, part: Range<usize>, underscore: bool, scan: &mut dyn Scan<'_>) -> usize {
    let bytes = text.as_bytes();
    let Range { start: mut at, end } = part;
    while at < end {
        at = scan.words().ascii_blocks(bytes, at..end, underscore);
        if at < end {
            at = scan.mixed_block(at);
        }
    }
    at
}

impl Collector<'_> {
    /// Ends the pending word, if there is one: its last byte in the source is just before `end`.
    #[inline(always)]
    pub(super) fn finish(&mut self, end: usize) {
        let length = std::mem::take(&mut self.pending.length);
        if length == 0 {
            return;
        }
        let id = if length <= WordKey::BYTES {
            self.vocabulary.short_word(self.pending.key)
        } else {
            self.vocabulary.long_word(&self.pending.long)
        };
        self.tokens.push(id, self.pending.start, end);
    }

    /// Takes the words of the blocks of ASCII text that begin in `part`; returns where they end.
    #[inline(always)]
    fn ascii_blocks(&mut self, bytes: &[u8], part: Range<usize>, underscore: bool) -> usize {
        let Range { start: mut at, end } = part;
        while at < end {
            let block = Block::read(bytes, at);
            if !block.is_ascii() {
                break;
            }
            let letters = if underscore { block.letters(true) } else { block.letters(false) };
            at = self.ascii_block(bytes, at, letters);
        }
        at
    }

    /// Reads the words of a block of ASCII text; `letters` marks their bytes.
    ///
    /// Returns where to continue: after the block, or at its last word if that may continue.
    #[inline(always)]
    fn ascii_block(&mut self, bytes: &[u8], at: usize, mut letters: u64) -> usize {
        let end = bytes.len().min(at + Block::BYTES);
        if self.pending.length > 0 {
            let continued = letters.trailing_ones() as usize;
            self.push_letters(bytes, at..at + continued);
            if at + continued == end {
                return end;
            }
            self.finish(at + continued);
            letters &= letters.wrapping_add(1);
        }
        let after = letters << 1;
        let mut starts = letters & !after;
        let mut ends = after & !letters;
        if end - at < Block::BYTES {
            ends &= (1 << (end - at)) - 1;
        }
        while ends != 0 {
            let start = at + starts.trailing_zeros() as usize;
            self.ascii_word(bytes, start..at + ends.trailing_zeros() as usize);
            starts &= starts - 1;
            ends &= ends - 1;
        }
        if starts == 0 {
            return end;
        }
        let open = at + starts.trailing_zeros() as usize;
        if open > at && end < bytes.len() {
            return open;
        }
        self.push_letters(bytes, open..end);
        end
    }

    #[inline(always)]
    fn ascii_word(&mut self, bytes: &[u8], word: Range<usize>) {
        let length = word.len();
        if length > WordKey::BYTES {
            self.push_letters(bytes, word.clone());
            self.finish(word.end);
            return;
        }
        let low = load_lower(bytes, word.start, length.min(8));
        let high = match length.checked_sub(8) {
            None | Some(0) => 0,
            Some(length) => load_lower(bytes, word.start + 8, length),
        };
        let id = self.vocabulary.short_word(WordKey { low, high });
        self.tokens.push(id, word.start, word.end);
    }

    fn push_letters(&mut self, bytes: &[u8], letters: Range<usize>) {
        for at in letters.clone().step_by(8) {
            let length = (letters.end - at).min(8);
            let lower = load_lower(bytes, at, length);
            self.pending.push(lower, length, at);
        }
    }
}
