//! The tokenizer of `@iqai/adk` 0.5.9's `RougeEvaluator`.
//!
//! JavaScript's `toLowerCase`, then everything but `[A-Za-z0-9_]` separates. Only two characters
//! outside ASCII become ASCII letters in lower case: U+212A KELVIN SIGN gives `k`, and U+0130 gives
//! `i` with a combining dot, which separates. All others separate, so no Unicode data is needed.
//! O(length), nothing allocated per token.

use super::tokens::{Collector, Origin};
use super::utf8::{Block, Letters, decode, load};

/// Collects the tokens of `text`, repeated ones included.
pub(super) fn tokenize(text: &str, mut words: Collector<'_>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let block = Block::read(bytes, at);
        at = if block.is_ascii() {
            words.ascii_block(bytes, at, block.letters(true), Origin::Source(0))
        } else {
            mixed_block(bytes, at, &mut words)
        };
    }
    words.finish(at);
}

/// Reads a block in which there are characters outside ASCII; returns where it ends.
fn mixed_block(bytes: &[u8], mut at: usize, words: &mut Collector<'_>) -> usize {
    let end = bytes.len().min(at + Block::BYTES);
    while at < end {
        let letters = Letters::of(load(bytes, at), true);
        if letters.length > 0 {
            words.pending.push(letters.lower, letters.length, at);
            at += letters.length;
            if letters.length == 8 || at == bytes.len() {
                continue;
            }
        }
        if letters.next < 0x80 {
            words.finish(at);
            at += 1;
            continue;
        }
        let (code, width) = decode(bytes, at);
        match code {
            0x212A => words.pending.push(u64::from(b'k'), 1, at),
            0x130 => {
                words.pending.push(u64::from(b'i'), 1, at);
                words.finish(at + width);
            }
            _ => words.finish(at),
        }
        at += width;
    }
    at
}
