//! Reading UTF-8 eight bytes at a time.

/// The top bit of every byte.
pub(super) const TOP_BITS: u64 = 0x8080_8080_8080_8080;

const fn each(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

/// Converts eight ASCII letters and digits to lower case. An underscore becomes DEL, which is not a letter and so can
/// represent it.
const LOWER_CASE: u64 = each(0x20);

/// The eight bytes from `at` on, the first lowest, with zeros after the end.
#[inline(always)]
pub(super) fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => load_end(bytes, at),
    }
}

fn load_end(bytes: &[u8], at: usize) -> u64 {
    let left = bytes.len().saturating_sub(at);
    if left == 0 {
        return 0;
    }
    match bytes.last_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk) >> (64 - 8 * left),
        None => bytes.get(at..).unwrap_or_default().iter().rev().fold(0, |word, &b| word << 8 | u64::from(b)),
    }
}

/// The `length` ASCII letters and digits at `at`, 1 to 8, in lower case, with zeros after them.
#[inline(always)]
pub(super) fn load_lower(bytes: &[u8], at: usize, length: usize) -> u64 {
    (load(bytes, at) | LOWER_CASE) & (u64::MAX >> (64 - 8 * length))
}

/// The top bit of each byte that is an ASCII letter or digit or, with `underscore`, `_`.
#[inline(always)]
const fn letter_bits(chunk: u64, underscore: bool) -> u64 {
    let low = chunk & !TOP_BITS;
    let lower = low | LOWER_CASE;
    let alpha = (lower + each(0x80 - b'a')) & !(lower + each(0x7F - b'z'));
    let digit = (low + each(0x80 - b'0')) & !(low + each(0x7F - b'9'));
    let other = if underscore { !((low ^ each(b'_')) + each(0x7F)) } else { 0 };
    (alpha | digit | other) & !chunk & TOP_BITS
}

/// The letters that eight bytes begin with.
#[derive(Clone, Copy)]
pub(super) struct Letters {
    /// In lower case, with zeros after the last.
    pub(super) lower: u64,
    /// How many there are, 0 to 8.
    pub(super) length: usize,
    /// The byte after them, if there are fewer than eight.
    pub(super) next: u8,
}

impl Letters {
    #[inline(always)]
    pub(super) const fn new(chunk: u64, underscore: bool) -> Self {
        let others = !letter_bits(chunk, underscore) & TOP_BITS;
        let lower = chunk | LOWER_CASE;
        if others == 0 {
            return Self { lower, length: 8, next: 0 };
        }
        let bits = others.trailing_zeros() - 7;
        Self { lower: lower & ((1 << bits) - 1), length: (bits / 8) as usize, next: (chunk >> bits) as u8 }
    }
}

/// Sixty-four bytes of text, with zeros after its end.
pub(super) struct Block([u64; 8]);

impl Block {
    pub(super) const BYTES: usize = 64;

    #[inline(always)]
    pub(super) fn read(bytes: &[u8], at: usize) -> Self {
        let block = bytes.get(at..).and_then(<[u8]>::first_chunk::<{ Self::BYTES }>);
        Self(match block {
            Some(block) => std::array::from_fn(|i| load(block, 8 * i)),
            None => std::array::from_fn(|i| load(bytes, at + 8 * i)),
        })
    }

    #[inline(always)]
    pub(super) fn is_ascii(&self) -> bool {
        self.0.iter().fold(0, |all, chunk| all | chunk) & TOP_BITS == 0
    }

    /// One bit per byte, the first lowest: whether it is a letter.
    #[inline(always)]
    pub(super) fn letters(&self, underscore: bool) -> u64 {
        self.0.iter().rev().fold(0, |letters, &chunk| {
            let bits = letter_bits(chunk, underscore) >> 7;
            letters << 8 | bits.wrapping_mul(0x0102_0408_1020_4080) >> 56
        })
    }
}

/// The code point at `at` and its width in bytes; `bytes` are UTF-8 and `at` starts a character.
#[inline(always)]
pub(super) fn decode(bytes: &[u8], at: usize) -> (u32, usize) {
    decode_chunk(load(bytes, at))
}

/// The code point that eight bytes begin with, and its width in bytes.
#[inline(always)]
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
            let bytes = [b'Q', b'7', byte, b'z', b'A', b'Z', b'0', b'9'];
            let chunk = u64::from_le_bytes(bytes);
            for underscore in [false, true] {
                let letters = Letters::new(chunk, underscore);
                if byte.is_ascii_alphanumeric() || underscore && byte == b'_' {
                    assert_eq!((letters.length, letters.lower), (8, chunk | LOWER_CASE));
                } else {
                    assert_eq!((letters.length, letters.next), (2, byte));
                    assert_eq!(letters.lower, load_lower(&bytes, 0, 2));
                }
            }
        }
    }

    #[test]
    fn a_block_has_one_bit_per_letter() {
        let text: Vec<u8> = (0..=127).collect();
        for at in 0..text.len() {
            for underscore in [false, true] {
                let block = Block::read(&text, at);
                assert!(block.is_ascii());
                for (i, byte) in text.iter().skip(at).take(Block::BYTES).enumerate() {
                    let expected = byte.is_ascii_alphanumeric() || underscore && *byte == b'_';
                    assert_eq!(block.letters(underscore) >> i & 1 == 1, expected, "{byte}");
                }
            }
        }
        assert!(!Block::read("0123456789é".as_bytes(), 0).is_ascii());
    }

    #[test]
    fn loading_stops_at_the_end() {
        for length in 0..20 {
            let text: Vec<u8> = (1..=length).collect();
            for at in 0..22 {
                let mut expected = [0; 8];
                for (to, from) in expected.iter_mut().zip(text.iter().skip(at)) {
                    *to = *from;
                }
                assert_eq!(load(&text, at), u64::from_le_bytes(expected));
            }
        }
    }
}
