//! The tokenizer of `@iqai/adk` 0.5.9's `RougeEvaluator`.
//!
//! JavaScript's `toLowerCase`, then everything but `[A-Za-z0-9_]` separates. Only two characters
//! outside ASCII become ASCII letters in lower case: U+212A KELVIN SIGN gives `k`, and U+0130 gives
//! `i` with a combining dot, which separates. All others separate, so no Unicode data is needed.
//! O(length), nothing allocated per token.

use super::tokens::{Pending, Tokens};
use super::utf8::{Letters, decode, load};
use super::vocabulary::Vocabulary;

/// Appends the tokens of `text` to `tokens`, repeated ones included.
pub(super) fn tokenize(text: &str, vocabulary: &mut Vocabulary, pending: &mut Pending, tokens: &mut Tokens) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let letters = Letters::of(load(bytes, at), true);
        if letters.length > 0 {
            pending.push(letters.lower, letters.length, at);
            at += letters.length;
            if letters.length == 8 || at == bytes.len() {
                continue;
            }
        }
        if letters.next < 0x80 {
            pending.finish(at, vocabulary, tokens);
            at += 1;
            continue;
        }
        let (code, width) = decode(bytes, at);
        match code {
            0x212A => pending.push(u64::from(b'k'), 1, at),
            0x130 => {
                pending.push(u64::from(b'i'), 1, at);
                pending.finish(at + width, vocabulary, tokens);
            }
            _ => pending.finish(at, vocabulary, tokens),
        }
        at += width;
    }
    pending.finish(at, vocabulary, tokens);
}
