//! What the tokenizers of both dialects produce, and the word they are in the middle of.

use super::nfkc::Origin;
use super::vocabulary::{Key, Vocabulary};

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

    /// Gives memory back if there is much of it.
    pub(super) fn trim(&mut self, kept: usize) {
        if self.ids.capacity() > kept || self.spans.capacity() > kept {
            *self = Self::default();
        }
    }

    #[inline]
    pub(super) fn push(&mut self, id: u32, start: usize, end: usize) {
        self.ids.push(id);
        if self.keep_spans {
            self.spans.push((start, end));
        }
    }
}

impl Origin {
    /// Where in the source a token starts that starts at `at` in this piece.
    #[inline]
    pub(super) const fn start(self, at: usize) -> usize {
        match self {
            Self::Source(offset) => offset + at,
            Self::Folded { start, .. } => start,
        }
    }

    /// Where in the source a token ends that ends at `at` in this piece.
    #[inline]
    pub(super) const fn end(self, at: usize) -> usize {
        match self {
            Self::Source(offset) => offset + at,
            Self::Folded { start, .. } if at == 0 => start,
            Self::Folded { end, .. } => end,
        }
    }
}

/// A word whose end has not been seen yet; it may go on in the next piece of text.
#[derive(Default)]
pub(super) struct Pending {
    key: Key,
    length: usize,
    /// The whole word once it is longer than a key.
    long: Vec<u8>,
    start: usize,
}

impl Pending {
    /// Adds the `width` lowest bytes of `bytes`, 1 to 8; the others must be zero. `start` is
    /// where they come from in the source.
    #[inline]
    pub(super) fn push(&mut self, bytes: u64, width: usize, start: usize) {
        let length = self.length;
        if length == 0 {
            self.key = Key { low: bytes, high: 0 };
            self.start = start;
        } else if length < 8 {
            self.key.low |= bytes << (8 * length);
            self.key.high = bytes >> (64 - 8 * length);
        } else if length + width <= Key::BYTES {
            self.key.high |= bytes << (8 * (length - 8));
        } else {
            if length <= Key::BYTES {
                self.long.clear();
                self.long.extend(self.key.bytes());
            }
            let bytes = bytes.to_le_bytes();
            self.long.extend_from_slice(bytes.get(..width).unwrap_or_default());
        }
        self.length = length + width;
    }

    pub(super) fn push_char(&mut self, c: char, start: usize) {
        let mut utf8 = [0; 8];
        let width = c.encode_utf8(&mut utf8).len();
        self.push(u64::from_le_bytes(utf8), width, start);
    }

    /// Gives memory back if there is much of it.
    pub(super) fn trim(&mut self, kept: usize) {
        if self.long.capacity() > kept {
            self.long = Vec::new();
        }
    }

    /// Ends the word, if there is one: its last byte in the source is just before `end`.
    #[inline]
    pub(super) fn finish(&mut self, end: usize, vocabulary: &mut Vocabulary, tokens: &mut Tokens) {
        if self.length == 0 {
            return;
        }
        let id = if self.length <= Key::BYTES {
            vocabulary.short_word(self.key)
        } else {
            vocabulary.long_word(&self.long)
        };
        self.length = 0;
        tokens.push(id, self.start, end);
    }
}
