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
use super::roles::{Kind, Roles, is_ideograph};
use super::tokens::{Collector, SINGLE};
use super::utf8::{Block, Letters, decode_chunk, load};

/// Collects the tokens of `text`.
pub(super) fn tokenize(text: &str, words: Collector<'_>) {
    let mut scan = Scan { text, words, sigmas: None };
    for_each_piece(text, Fold::Words, &mut |piece, origin| {
        scan.piece(piece.as_bytes(), origin);
    });
    scan.words.finish(text.len());
}

struct Scan<'a> {
    text: &'a str,
    words: Collector<'a>,
    /// For each capital sigma still to come, whether it ends its word; from the first one on.
    sigmas: Option<std::vec::IntoIter<bool>>,
}

impl Scan<'_> {
    fn piece(&mut self, bytes: &[u8], origin: Origin) {
        let mut at = 0;
        while at < bytes.len() {
            let block = Block::read(bytes, at);
            at = if block.is_ascii() {
                self.words.ascii_block(bytes, at, block.letters(false), origin)
            } else {
                self.mixed_block(bytes, at, origin)
            };
        }
    }

    /// Reads a block in which there are characters outside ASCII; returns where it ends.
    fn mixed_block(&mut self, bytes: &[u8], mut at: usize, origin: Origin) -> usize {
        let end = bytes.len().min(at + Block::BYTES);
        while at < end {
            let letters = Letters::of(load(bytes, at), false);
            if letters.length > 0 {
                let start = origin.start(at);
                self.words.pending.push(letters.lower, letters.length, start);
                at += letters.length;
                if letters.length == 8 || at == bytes.len() {
                    continue;
                }
            }
            if letters.next < 0x80 {
                self.words.finish(origin.end(at));
                at += 1;
            } else {
                at = self.beyond_ascii(bytes, at, origin);
            }
        }
        at
    }

    /// Reads characters outside ASCII from `at` on; returns where they end.
    fn beyond_ascii(&mut self, bytes: &[u8], mut at: usize, origin: Origin) -> usize {
        let roles = Roles::get();
        loop {
            let chunk = load(bytes, at);
            if chunk & 0x80 == 0 {
                return at;
            }
            let (code, width) = decode_chunk(chunk);
            let (start, end) = (origin.start(at), origin.end(at));
            let after = at + width;
            let kind = if is_ideograph(code) { Kind::Single } else { roles.of(code).kind() };
            match kind {
                Kind::Single => {
                    self.words.finish(end);
                    self.words.tokens.push(SINGLE | code, start, origin.end(after));
                }
                Kind::Separator => self.words.finish(end),
                Kind::Word | Kind::Base => {
                    if kind == Kind::Base {
                        self.words.finish(end);
                    }
                    let character = chunk & ((1 << (8 * width)) - 1);
                    self.words.pending.push(character, width, start);
                }
                Kind::Upper => {
                    for lower in char::from_u32(code).into_iter().flat_map(char::to_lowercase) {
                        self.words.pending.push_char(lower, start);
                    }
                }
                Kind::Sigma => {
                    let lower = if self.sigma_is_final() { 'ς' } else { 'σ' };
                    self.words.pending.push_char(lower, start);
                }
            }
            at = after;
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
