//! The tokenizer of google-adk 2.13.0's `response_match_score`.
//!
//! NFKC, lower case, then by character (`roles.rs`): letters, digits and marks form words;
//! Chinese, Japanese and Korean characters are tokens of their own; Thai, Lao, Khmer and Myanmar
//! split into clusters; everything else separates. ASCII words longer than three letters are
//! stemmed, which the vocabulary does once per distinct word.
//!
//! One pass over the text, eight bytes at a time through ASCII; nothing is copied but what
//! normalisation changes, and nothing is allocated per token. O(length).

use super::nfkc::{Fold, Origin, for_each_piece};
use super::roles::{Kind, Roles};
use super::tokens::{Pending, SINGLE, Tokens};
use super::utf8::{Letters, decode_chunk, load};
use super::vocabulary::Vocabulary;

/// Appends the tokens of `text` to `tokens`.
pub(super) fn tokenize(text: &str, vocabulary: &mut Vocabulary, pending: &mut Pending, tokens: &mut Tokens) {
    let mut scan = Scan { text, vocabulary, pending, tokens, sigmas: None };
    for_each_piece(text, Fold::Words, &mut |piece, origin| {
        scan.piece(piece.as_bytes(), origin);
    });
    scan.finish(text.len());
}

struct Scan<'a> {
    text: &'a str,
    vocabulary: &'a mut Vocabulary,
    pending: &'a mut Pending,
    tokens: &'a mut Tokens,
    /// For each capital sigma still to come, whether it ends its word; from the first one on.
    sigmas: Option<std::vec::IntoIter<bool>>,
}

impl Scan<'_> {
    #[inline]
    fn finish(&mut self, end: usize) {
        self.pending.finish(end, self.vocabulary, self.tokens);
    }

    fn piece(&mut self, bytes: &[u8], origin: Origin) {
        let mut at = 0;
        while at < bytes.len() {
            let letters = Letters::of(load(bytes, at), false);
            if letters.length > 0 {
                self.pending.push(letters.lower, letters.length, origin.start(at));
                at += letters.length;
                if letters.length == 8 || at == bytes.len() {
                    continue;
                }
            }
            if letters.next < 0x80 {
                self.finish(origin.end(at));
                at += 1;
            } else {
                at = self.beyond_ascii(bytes, at, origin);
            }
        }
    }

    /// Reads characters outside ASCII from `at` on; returns where they end.
    #[inline(never)]
    fn beyond_ascii(&mut self, bytes: &[u8], mut at: usize, origin: Origin) -> usize {
        let roles = Roles::get();
        loop {
            let chunk = load(bytes, at);
            if chunk & 0x80 == 0 {
                return at;
            }
            let (code, width) = decode_chunk(chunk);
            let character = chunk & ((1 << (8 * width)) - 1);
            match roles.of(code).kind() {
                Kind::Single => {
                    self.finish(origin.end(at));
                    let (start, end) = (origin.start(at), origin.end(at + width));
                    self.tokens.push(SINGLE | code, start, end);
                }
                Kind::Word => self.pending.push(character, width, origin.start(at)),
                Kind::Separator => self.finish(origin.end(at)),
                Kind::Base => {
                    self.finish(origin.end(at));
                    self.pending.push(character, width, origin.start(at));
                }
                Kind::Upper => {
                    for lower in char::from_u32(code).into_iter().flat_map(char::to_lowercase) {
                        self.pending.push_char(lower, origin.start(at));
                    }
                }
                Kind::Sigma => {
                    let lower = if self.sigma_is_final() { 'ς' } else { 'σ' };
                    self.pending.push_char(lower, origin.start(at));
                }
            }
            at += width;
        }
    }

    fn sigma_is_final(&mut self) -> bool {
        let text = self.text;
        self.sigmas.get_or_insert_with(|| final_sigmas(text).into_iter()).next().unwrap_or(false)
    }
}

/// For each capital sigma in the NFKC form of a text, whether it ends a word: a cased character
/// stands before it and none after it, case-ignorable characters left out (Unicode's Final_Sigma).
#[cold]
fn final_sigmas(text: &str) -> Vec<bool> {
    let roles = Roles::get();
    let mut finals = Vec::new();
    let mut after_cased = false;
    for_each_piece(text, Fold::Everything, &mut |piece, _| {
        for c in piece.chars() {
            let role = roles.of(c as u32);
            if role.is_case_ignorable() {
                continue;
            }
            if let Some((last, true)) = finals.last_mut().map(|(last, open)| (last, std::mem::take(open))) {
                *last &= !role.is_cased();
            }
            if role.kind() == Kind::Sigma {
                finals.push((after_cased, true));
            }
            after_cased = role.is_cased();
        }
    });
    finals.into_iter().map(|(is_final, _)| is_final).collect()
}
