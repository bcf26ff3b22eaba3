//! The tokenizer of `@iqai/adk` 0.5.9's `RougeEvaluator`.
//!
//! JavaScript's `toLowerCase`, then everything but `[A-Za-z0-9_]` separates. Only two characters
//! outside ASCII become ASCII letters in lower case: U+212A KELVIN SIGN gives `k`, and U+0130 gives
//! `i` with a combining dot, which separates. All others separate, so no Unicode data is needed.
//! O(length), nothing allocated per token.

use super::tokens::{self, Collector};
use super::utf8::{Block, Letters, decode, load};
use crate::foundation::pace::Pace;

/// Collects the tokens of `text`, repeated ones included.
pub(super) fn tokenize(text: &str, words: Collector<'_>) {
    tokens::tokenize(text, true, &mut Scanner { bytes: text.as_bytes(), words });
}

/// As [`tokenize`], in slices.
pub(super) async fn tokenize_paced(text: &str, words: Collector<'_>, pace: &Pace) {
    tokens::tokenize_paced(text, true, &mut Scanner { bytes: text.as_bytes(), words }, pace).await;
}

struct Scanner<'a> {
    bytes: &'a [u8],
    words: Collector<'a>,
}

impl<'a> tokens::Scan<'a> for Scanner<'a> {
    fn words(&mut self) -> &mut Collector<'a> {
        &mut self.words
    }

    fn mixed_block(&mut self, mut at: usize) -> usize {
        let Self { bytes, words } = self;
        let end = bytes.len().min(at + Block::BYTES);
        while at < end {
            let letters = Letters::new(load(bytes, at), true);
            if letters.length > 0 {
                words.pending.push(letters.lower, letters.length, at);
                at += letters.length;
                if letters.length == 8 || at == bytes.len() {
                    continue;
                }
            }
            let (code, width) = decode(bytes, at);
            let start = at;
            at += width;
            let letter = match code {
                0x212A => Some(b'k'),
                0x130 => Some(b'i'),
                _ => None,
            };
            if let Some(letter) = letter {
                words.pending.push(letter.into(), 1, start);
            }
            if letter != Some(b'k') {
                // Of U+0130 it is the dot that separates.
                words.finish(if letter.is_some() { at } else { start });
            }
        }
        at
    }
}
