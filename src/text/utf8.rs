//! Reading UTF-8 eight bytes at a time.

/// The top bit of every byte.
pub(super) const TOP_BITS: u64 = 0x8080_8080_8080_8080;

const fn each(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

/// The eight bytes from `at` on, the first lowest, with zeros after the end.
#[inline]
pub(super) fn load(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => rest.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b)),
    }
}

/// The ASCII letters and digits that eight bytes begin with.
#[derive(Clone, Copy)]
pub(super) struct Letters {
    /// Lower-cased, with zeros after the last.
    pub(super) lower: u64,
    /// How many there are, 0 to 8.
    pub(super) length: usize,
    /// The byte after them, if there are fewer than eight.
    pub(super) next: u8,
}

impl Letters {
    /// With `underscore`, `_` counts as a letter.
    #[inline]
    pub(super) const fn of(chunk: u64, underscore: bool) -> Self {
        let low = chunk & !TOP_BITS;
        let lower = low | each(0x20);
        let alpha = (lower + each(0x80 - b'a')) & !(lower + each(0x7F - b'z'));
        let digit = (low + each(0x80 - b'0')) & !(low + each(0x7F - b'9'));
        let mut is_letter = alpha | digit;
        let mut folded = lower;
        if underscore {
            let other = low ^ each(b'_');
            let equal = !(other + each(0x7F));
            is_letter |= equal;
            // Keeps the bit that separates `_` from DEL.
            folded = lower ^ (equal & TOP_BITS) >> 2;
        }
        let others = !(is_letter & !chunk) & TOP_BITS;
        if others == 0 {
            return Self { lower: folded, length: 8, next: 0 };
        }
        let bits = others.trailing_zeros() - 7;
        Self { lower: folded & ((1 << bits) - 1), length: (bits / 8) as usize, next: (chunk >> bits) as u8 }
    }
}

/// The position of the first byte from `at` on that is not ASCII, or the length.
pub(super) fn first_non_ascii(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        let found = load(bytes, at) & TOP_BITS;
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    bytes.len()
}

/// The code point at `at` and its width in bytes; `bytes` are UTF-8 and `at` starts a character.
#[inline]
pub(super) fn decode(bytes: &[u8], at: usize) -> (u32, usize) {
    decode_chunk(load(bytes, at))
}

/// The code point that eight bytes begin with, and its width in bytes.
#[inline]
pub(super) fn decode_chunk(chunk: u64) -> (u32, usize) {
    let lead = chunk as u32 & 0xFF;
    let tail = |n: u32| (chunk >> (8 * n)) as u32 & 0x3F;
    match lead {
        0..0x80 => (lead, 1),
        0x80..0xE0 => ((lead & 0x1F) << 6 | tail(1), 2),
        0xE0..0xF0 => ((lead & 0xF) << 12 | tail(1) << 6 | tail(2), 3),
        _ => ((lead & 7) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_decodes_to_itself() {
        for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let text = c.to_string();
            assert_eq!(decode(text.as_bytes(), 0), (c as u32, c.len_utf8()));
        }
    }

    #[test]
    fn letters_end_at_every_byte_that_is_none() {
        for byte in 0..=u8::MAX {
            let chunk = u64::from_le_bytes([b'Q', b'7', byte, b'z', b'A', b'Z', b'0', b'9']);
            for underscore in [false, true] {
                let letters = Letters::of(chunk, underscore);
                if byte.is_ascii_alphanumeric() || underscore && byte == b'_' {
                    let expected = [b'q', b'7', byte.to_ascii_lowercase(), b'z', b'a', b'z', b'0', b'9'];
                    assert_eq!((letters.length, letters.lower), (8, u64::from_le_bytes(expected)));
                } else {
                    assert_eq!((letters.length, letters.next), (2, byte));
                    assert_eq!(letters.lower, u64::from(b'q') | u64::from(b'7') << 8);
                }
            }
        }
    }

    #[test]
    fn the_first_byte_outside_ascii_is_found_anywhere() {
        for at in 0..40 {
            let text = format!("{}é{}", "a".repeat(at), "b".repeat(40 - at));
            assert_eq!(first_non_ascii(text.as_bytes(), 0), at);
            assert_eq!(first_non_ascii(text.as_bytes(), at + 2), text.len());
        }
    }
}
