//! The JSON parser: one pass over the text that records where every value begins and ends.
//!
//! With `json` it replaces `serde_json`: integers keep their digits, every value knows its position, and nothing is
//! copied (docs/decisions/0001-json-index.md).
//!
//! While parsing, an error is one small enum; the full [`Error`](super::error::Error) is built only on failure. A parser
//! that passes whole errors around spends more time on them than on the input.

mod fault;

use std::borrow::Cow;

use super::error::Result;
use super::interner::Interner;
use super::json::{
    JsonKind, MAX_DEPTH, MAX_ESCAPES, MAX_KEYS, MAX_STRING_BYTES, MAX_VALUES, Slot, line_of, string,
};
use super::pace::Pace;
use fault::Fault;

/// How many bytes are parsed between two calls of [`Pace::count`]. A string is always parsed to its end.
const PIECE: usize = 1 << 14;

/// The initial capacity is computed from at most this many bytes of the text.
const SMALL: usize = 1 << 20;

/// The fewest bytes per value for which capacity is reserved ahead.
const DENSEST: usize = 4;

/// Indexes a text of at most `u32::MAX` bytes.
///
/// # Errors
/// `invalid_json` with the line of the first byte that is not JSON; `limit_exceeded`.
pub(super) async fn parse(text: &str, pace: &Pace) -> Result<Vec<Slot>> {
    let mut parser = Parser::new(text);
    loop {
        let begun = parser.at;
        match parser.advance(pace.piece(PIECE)) {
            Ok(true) => return Ok(parser.slots),
            Ok(false) => {
                pace.count(parser.at - begun).await;
                if let Some(room) = parser.needed_room() {
                    parser.slots = moved(&parser.slots, room, pace).await;
                }
            }
            Err(fault) => return Err(parser.to_error(fault).at_line(line_of(text, parser.at))),
        }
    }
}

/// The same slots in a larger vector, copied in slices: a vector that grows by itself copies everything at once.
async fn moved(slots: &[Slot], room: usize, pace: &Pace) -> Vec<Slot> {
    let mut larger = Vec::with_capacity(room);
    for piece in slots.chunks(PIECE) {
        larger.extend_from_slice(piece);
        pace.count(piece.len()).await;
    }
    larger
}

struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    slots: Vec<Slot>,
    /// The arrays and objects that are open, innermost last.
    open: Vec<OpenContainer>,
    /// For each open object with more keys than a [`KeyFilter`] can distinguish: its slot and its keys.
    many_keys: Vec<(usize, Interner<'t>)>,
    next: Next,
}

/// An array or object whose end has not been reached.
struct OpenContainer {
    slot: usize,
    is_array: bool,
    keys: KeyFilter,
}

/// What comes next in the text.
#[derive(Clone, Copy)]
enum Next {
    Value,
    /// The closing bracket of the innermost array or object.
    End,
}

/// Distinguishes most keys of an object without comparing them: one bit per key, chosen by its length and three of its
/// bytes.
#[derive(Default)]
struct KeyFilter {
    bits: u64,
    count: u32,
}

impl KeyFilter {
    /// Adds a key. Returns whether the same key may have been added before.
    #[inline(always)]
    fn insert(&mut self, key: &[u8]) -> bool {
        let byte = |at: usize| u64::from(key.get(at).copied().unwrap_or(0));
        let hash =
            byte(0) * 31 + byte(key.len() / 2) * 7 + byte(key.len().wrapping_sub(1)) + key.len() as u64 * 13;
        let bit = 1u64 << (hash & 63);
        let seen = self.bits & bit != 0;
        self.bits |= bit;
        self.count += 1;
        seen
    }

    /// Whether the object has more keys than the filter can distinguish.
    fn is_full(&self) -> bool {
        self.count > u64::BITS
    }
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        Self {
            text,
            bytes,
            at: if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 },
            slots: Vec::with_capacity(bytes.len().min(SMALL) / 20),
            open: Vec::with_capacity(16),
            many_keys: Vec::new(),
            next: Next::Value,
        }
    }

    /// The capacity to grow to if the values of the next piece may not fit, extrapolated from the density of the text so far.
    fn needed_room(&self) -> Option<usize> {
        let (size, count) = (self.bytes.len(), self.slots.len());
        if self.slots.capacity() - count > PIECE.min(size - self.at.min(size)) {
            return None;
        }
        let as_before = count as u64 * size as u64 / self.at.max(1) as u64;
        let dense = (as_before + as_before / 16) as usize;
        Some(dense.min(size / DENSEST).max(count + count / 2 + PIECE).min(MAX_VALUES))
    }

    /// Parses about `bytes` more bytes. Returns whether the end of the text was reached.
    fn advance(&mut self, bytes: usize) -> Result<bool, Fault> {
        let until = self.at.saturating_add(bytes);
        let mut next = self.next;
        loop {
            match next {
                Next::Value => self.value()?,
                Next::End => self.close(),
            }
            let Some(open) = self.open.last() else { break };
            let first = self.slots.len() == open.slot + 1;
            next = if open.is_array { self.array_step(first)? } else { self.object_step(first)? };
            if self.at >= until {
                self.next = next;
                return Ok(false);
            }
        }
        match self.peek() {
            None => Ok(true),
            Some(_) => Err(Fault::End),
        }
    }

    /// Decides what comes next after a value in an array, or at its start.
    #[inline(always)]
    fn array_step(&mut self, first: bool) -> Result<Next, Fault> {
        match self.peek() {
            Some(b']') => return Ok(Next::End),
            Some(b',') if !first => self.at += 1,
            _ if first => {}
            _ => return Err(Fault::CommaOrBracket),
        }
        Ok(Next::Value)
    }

    /// Decides what comes next after a value in an object, or at its start. Parses the next key, if there is one.
    #[inline(always)]
    fn object_step(&mut self, first: bool) -> Result<Next, Fault> {
        match self.peek() {
            Some(b'}') => {
                if self.open.last().is_some_and(|open| open.keys.is_full()) {
                    self.many_keys.pop();
                }
                return Ok(Next::End);
            }
            Some(b',') if !first => {
                self.at += 1;
                self.skip_space();
            }
            _ if first => {}
            _ => return Err(Fault::CommaOrBrace),
        }
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(Fault::Key);
        }
        self.string()?;
        self.reject_repeated_key()?;
        if self.peek() != Some(b':') {
            return Err(Fault::Colon);
        }
        self.at += 1;
        Ok(Next::Value)
    }

    /// Compares the key that was parsed last with the earlier keys of its object that may be equal.
    #[inline(always)]
    fn reject_repeated_key(&mut self) -> Result<(), Fault> {
        let (Some(slot), Some(open)) = (self.slots.last(), self.open.last_mut()) else { return Ok(()) };
        let may_repeat = if slot.kind == JsonKind::PlainString {
            let key = self.bytes.get(slot.start as usize + 1..slot.end as usize - 1);
            open.keys.insert(key.unwrap_or_default())
        } else {
            let key = string(self.text, *slot).unwrap_or_default();
            open.keys.insert(key.as_bytes())
        };
        if open.keys.is_full() {
            self.look_up_among_many()
        } else if may_repeat {
            self.compare_with_earlier()
        } else {
            Ok(())
        }
    }

    #[cold]
    fn compare_with_earlier(&self) -> Result<(), Fault> {
        let last = self.slots.len() - 1;
        let Some(open) = self.open.last() else { return Ok(()) };
        let name = self.key(last);
        if self.keys(open.slot).any(|at| at < last && self.key(at) == name) {
            return Err(Fault::Repeated { key: offset(last) });
        }
        Ok(())
    }

    /// The slots of an object's keys. The object may still be open.
    fn keys(&self, object: usize) -> impl Iterator<Item = usize> {
        let mut next = object + 1;
        std::iter::from_fn(move || {
            let key = next;
            next = self.slots.get(key + 1).map_or(self.slots.len(), |value| value.next as usize);
            (key < self.slots.len()).then_some(key)
        })
    }

    fn key(&self, at: usize) -> Cow<'t, str> {
        self.slots.get(at).and_then(|slot| string(self.text, *slot)).unwrap_or_default()
    }

    /// Looks up the key that was parsed last among the keys of an object with many keys.
    #[cold]
    fn look_up_among_many(&mut self) -> Result<(), Fault> {
        let last = self.slots.len() - 1;
        let Some(open) = self.open.last() else { return Ok(()) };
        let (object, count) = (open.slot, open.keys.count as usize);
        if count > MAX_KEYS {
            return Err(Fault::ManyKeys);
        }
        if self.many_keys.last().is_none_or(|(of, _)| *of != object) {
            let mut names = Interner::default();
            for at in self.keys(object).filter(|at| *at < last) {
                names.intern(self.key(at));
            }
            self.many_keys.push((object, names));
        }
        let name = self.key(last);
        let Some((_, names)) = self.many_keys.last_mut() else { return Ok(()) };
        if names.intern(name) + 1 < count { Err(Fault::Repeated { key: offset(last) }) } else { Ok(()) }
    }

    #[inline(always)]
    fn value(&mut self) -> Result<(), Fault> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'"') => self.string(),
            Some(b'{') => self.open(JsonKind::Object),
            Some(b'[') => self.open(JsonKind::Array),
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                self.push(start, JsonKind::Number)
            }
            Some(b'n') => self.word(b"null", JsonKind::Null),
            Some(b't') => self.word(b"true", JsonKind::True),
            Some(b'f') => self.word(b"false", JsonKind::False),
            _ => Err(Fault::Value),
        }
    }

    fn word(&mut self, word: &[u8], kind: JsonKind) -> Result<(), Fault> {
        let start = self.at;
        if self.bytes.get(start..start + word.len()) != Some(word) {
            return Err(Fault::Value);
        }
        self.at += word.len();
        self.push(start, kind)
    }

    #[inline(always)]
    fn push(&mut self, start: usize, kind: JsonKind) -> Result<(), Fault> {
        if self.slots.len() >= MAX_VALUES {
            return Err(Fault::TooMany);
        }
        let next = offset(self.slots.len() + 1);
        self.slots.push(Slot { start: offset(start), end: offset(self.at), next, kind, field: 0 });
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, kind: JsonKind) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Fault::TooDeep);
        }
        let start = self.at;
        self.at += 1;
        self.open.push(OpenContainer {
            slot: self.slots.len(),
            is_array: kind == JsonKind::Array,
            keys: KeyFilter::default(),
        });
        self.push(start, kind)
    }

    #[inline(always)]
    fn close(&mut self) {
        self.at += 1;
        let (next, end) = (offset(self.slots.len()), offset(self.at));
        if let Some(slot) = self.open.pop().and_then(|open| self.slots.get_mut(open.slot)) {
            slot.end = end;
            slot.next = next;
        }
    }

    /// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
    fn number(&mut self) -> Result<(), Fault> {
        let byte = |parser: &Self| parser.bytes.get(parser.at).copied();
        if byte(self) == Some(b'-') {
            self.at += 1;
        }
        match byte(self) {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if byte(self) == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(byte(self), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(byte(self), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(Fault::Digit) } else { Ok(()) }
    }

    /// A string, from its opening quote on.
    #[inline(always)]
    fn string(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let from = start + 1;
        self.at = from + plain_length(self.bytes.get(from..).unwrap_or_default());
        if self.bytes.get(self.at) != Some(&b'"') {
            return self.rest_of_string(start);
        }
        self.at += 1;
        if self.at - start > MAX_STRING_BYTES {
            return Err(Fault::LongString);
        }
        self.push(start, JsonKind::PlainString)
    }

    /// The rest of a string that contains more than plain text: escapes, control characters, or the end of the input.
    fn rest_of_string(&mut self, start: usize) -> Result<(), Fault> {
        for _ in 0..=MAX_ESCAPES {
            match self.bytes.get(self.at) {
                Some(b'"') if self.at - start < MAX_STRING_BYTES => {
                    self.at += 1;
                    return self.push(start, JsonKind::EscapedString);
                }
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(Fault::Control),
                None => return Err(Fault::OpenString),
            }
            self.at += plain_length(self.bytes.get(self.at..).unwrap_or_default());
        }
        Err(Fault::LongString)
    }

    fn escape(&mut self) -> Result<(), Fault> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let unit = self.hex(self.at + 2)?;
                if !(0xD800..0xE000).contains(&unit) {
                    self.at += 6;
                } else if unit < 0xDC00
                    && self.bytes.get(self.at + 6..self.at + 8) == Some(b"\\u")
                    && (0xDC00..0xE000).contains(&self.hex(self.at + 8)?)
                {
                    self.at += 12;
                } else {
                    return Err(Fault::Surrogate);
                }
            }
            None => return Err(Fault::OpenString),
            Some(_) => return Err(Fault::Escape),
        }
        Ok(())
    }

    fn hex(&self, at: usize) -> std::result::Result<u32, Fault> {
        let digits = self.bytes.get(at..at + 4).unwrap_or_default();
        // 1 before the digits, so that their number shows.
        let read =
            digits.iter().try_fold(1, |read, digit| Some(read << 4 | char::from(*digit).to_digit(16)?));
        read.and_then(|read: u32| read.checked_sub(0x1_0000)).ok_or(Fault::Hex)
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// The next byte that is not white space.
    #[inline(always)]
    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.bytes.get(self.at).copied()
    }
}

/// A position as a `u32`: inputs are far shorter than 4 GiB.
#[inline(always)]
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The number of leading bytes that need no escape in a string: up to a quote, a backslash or a control character.
/// Eight bytes per step; see "Hacker's Delight" 6–1 on finding bytes in words.
#[inline(always)]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let below_space = |word: u64| word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    let (words, _) = bytes.as_chunks::<8>();
    for (index, chunk) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let special = zero_bytes(word ^ (ONES * u64::from(b'"')))
            | zero_bytes(word ^ (ONES * u64::from(b'\\')))
            | below_space(word);
        if special != 0 {
            // Borrows run upwards only, so the lowest flagged byte is always a true one.
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let done = words.len() * 8;
    let tail = bytes.get(done..).unwrap_or_default();
    done + tail.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).unwrap_or(tail.len())
}

#[cfg(test)]
mod tests {
    use super::plain_length;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn plain_length_is_what_a_byte_loop_finds(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let simple = bytes.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).unwrap_or(bytes.len());
            prop_assert_eq!(plain_length(&bytes), simple);
        }
    }
}
