//! The tokenizer of google-adk's `response_match_score`.
//!
//! After NFKC and lower-casing, each character is handled by its role (`roles.rs`): letters, digits and marks
//! form words; Chinese, Japanese and Korean characters are tokens of their own; Thai, Lao, Khmer and Myanmar
//! split into clusters; all others separate. ASCII words longer than three letters are stemmed, which the
//! vocabulary does once per distinct word.
//!
//! One pass over the text, eight bytes at a time through ASCII. Only text that normalisation changes is copied,
//! and nothing is allocated per token. O(length).

use super::nfkc::{Fold, Segment, for_each_char, normalize};
use super::python::{FinalSigmas, lower};
use super::roles::{CharKind, Role, Roles};
use super::tokens::{self, Collector, Origin, SINGLE};
use super::utf8::{Block, Letters, decode, decode_chunk, load};
use crate::foundation::pace::Pace;

/// Collects the tokens of `text`.
pub(super) fn tokenize(text: &str, words: Collector<'_>) {
    tokens::tokenize(text, false, &mut Scanner::new(text, words));
}

/// As [`tokenize`], in slices.
pub(super) async fn tokenize_paced(text: &str, words: Collector<'_>, pace: &Pace) {
    tokens::tokenize_paced(text, false, &mut Scanner::new(text, words), pace).await;
}

const SOURCE: Origin = Origin::Source(0);

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    words: Collector<'a>,
    /// For each capital sigma still to come, whether it ends its word; from the first one on.
    sigmas: Option<std::vec::IntoIter<bool>>,
    /// Where segments are normalised.
    folded: String,
}

impl<'a> tokens::Scan<'a> for Scanner<'a> {
    fn words(&mut self) -> &mut Collector<'a> {
        &mut self.words
    }

    fn mixed_block(&mut self, mut at: usize) -> usize {
        let end = self.bytes.len().min(at + Block::BYTES);
        while at < end {
            let letters = Letters::new(load(self.bytes, at), false);
            if letters.length > 0 {
                self.words.pending.push(letters.lower, letters.length, at);
                at += letters.length;
                if letters.length == 8 || at == self.bytes.len() {
                    continue;
                }
            }
            if letters.next < 0x80 {
                self.words.finish(at);
                at += 1;
            } else {
                at = self.beyond_ascii(at);
            }
        }
        at
    }
}

/// A normalised character.
struct Character {
    code: u32,
    /// The length of its UTF-8.
    width: usize,
    /// Its UTF-8, in the first `width` bytes.
    bytes: u64,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, words: Collector<'a>) -> Self {
        Self { text, bytes: text.as_bytes(), words, sigmas: None, folded: String::new() }
    }

    /// Reads non-ASCII characters from `at` on, up to the next ASCII character. Returns where they end.
    fn beyond_ascii(&mut self, mut at: usize) -> usize {
        let roles = Roles::get();
        let (mut code, mut width) = decode(self.bytes, at);
        let mut role = roles.role(code);
        if !role.starts_segment() && at > 0 {
            self.words.pending.unpush_ascii();
            at = self.segment(at - 1, roles);
            (code, width) = decode(self.bytes, at);
            role = roles.role(code);
        }
        while code >= 0x80 {
            if role.stands_alone() && !self.words.tokens.keep_spans {
                at = self.stand_alone(at, roles);
                (code, width) = decode(self.bytes, at);
                role = roles.role(code);
                if code < 0x80 {
                    break;
                }
            }
            let after = at + width;
            let (next, next_width) = decode(self.bytes, after);
            let next_role = roles.role(next);
            if !role.needs_nfkc() && next_role.starts_segment() {
                let character = Character { code, width, bytes: load(self.bytes, at) };
                self.character(role, character, SOURCE, at);
                (at, code, width, role) = (after, next, next_width, next_role);
            } else {
                at = self.segment(at, roles);
                (code, width) = decode(self.bytes, at);
                role = roles.role(code);
            }
        }
        at
    }

    /// Reads up to a block of three-byte characters from `at` on that are tokens or separators by themselves:
    /// Chinese and Japanese with its punctuation. Returns where they end, which is before the last one if the
    /// next character may join it.
    fn stand_alone(&mut self, mut at: usize, roles: &Roles) -> usize {
        const MOST: usize = 32;
        let mut found = [0; MOST];
        let mut count = 0;
        let mut last = (at, 0);
        let start = at;
        for _ in 0..MOST {
            let chunk = load(self.bytes, at);
            if chunk & 0xF0 != 0xE0 {
                break;
            }
            let (code, _) = decode_chunk(chunk);
            let role = roles.role(code);
            if !role.stands_alone() {
                break;
            }
            last = (at, count);
            if let Some(slot) = found.get_mut(count) {
                *slot = SINGLE | code;
            }
            count += usize::from(role.is_single());
            at += 3;
        }
        if load(self.bytes, at) & 0x80 != 0 {
            (at, count) = last;
        }
        if at > start {
            self.words.finish(start);
            let found = found.get(..count).unwrap_or_default();
            self.words.tokens.ids.extend_from_slice(found);
        }
        at
    }

    /// Reads the segment that starts at `start`; returns where it ends.
    fn segment(&mut self, start: usize, roles: &Roles) -> usize {
        let Segment { end, may_change } = Segment::at(self.text, start, Fold::Words, roles);
        let segment = self.text.get(start..end).unwrap_or_default();
        if !may_change {
            self.characters(segment, Origin::Source(start), roles);
            return end;
        }
        let mut folded = std::mem::take(&mut self.folded);
        normalize(segment, &mut folded, roles);
        let same = segment
            .chars()
            .zip(folded.chars())
            .take_while(|(before, after)| before == after)
            .map(|(before, _)| before.len_utf8())
            .sum();
        let (unchanged, changed) = folded.split_at_checked(same).unwrap_or_default();
        self.characters(unchanged, Origin::Source(start), roles);
        let start = start + same;
        self.characters(changed, Origin::Folded { start, end }, roles);
        self.folded = folded;
        end
    }

    /// Reads normalised text.
    fn characters(&mut self, text: &str, origin: Origin, roles: &Roles) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let chunk = load(bytes, at);
            let (code, width) = decode_chunk(chunk);
            self.character(roles.role(code), Character { code, width, bytes: chunk }, origin, at);
            at += width;
        }
    }

    /// Reads one normalised character.
    #[inline(always)]
    fn character(&mut self, role: Role, character: Character, origin: Origin, at: usize) {
        let Character { code, width, bytes } = character;
        let (start, end) = (origin.start(at), origin.end(at));
        let kind = role.kind();
        if let CharKind::Base | CharKind::Separator | CharKind::Single = kind {
            self.words.finish(end);
        }
        match kind {
            CharKind::Word | CharKind::Base => {
                let bytes = bytes & ((1 << (8 * width)) - 1);
                self.words.pending.push(bytes, width, start);
            }
            CharKind::Separator => {}
            CharKind::Single => {
                let after = origin.end(at + width);
                self.words.tokens.push(SINGLE | code, start, after);
            }
            CharKind::Upper => {
                for lower in char::from_u32(code).into_iter().flat_map(lower) {
                    self.words.pending.push_char(lower, start);
                }
            }
            CharKind::Sigma => {
                let lower = if self.sigma_is_final() { 'ς' } else { 'σ' };
                self.words.pending.push_char(lower, start);
            }
        }
    }

    fn sigma_is_final(&mut self) -> bool {
        let text = self.text;
        let finals = || {
            let mut sigmas = FinalSigmas::default();
            for_each_char(text, Roles::get(), &mut |c| sigmas.see(c));
            sigmas.finals.into_iter()
        };
        self.sigmas.get_or_insert_with(finals).next().unwrap_or(false)
    }
}
