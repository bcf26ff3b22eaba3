//! SHA-256 (FIPS 180-4), which identifies prompts, requests and recordings.
//!
//! The same text has the same hash everywhere, anyone can compute it again (`sha256sum`), and nobody can write
//! a text that has another's hash or contains its own.

use sha2::{Digest, Sha256};

/// The hash of a string's UTF-8 bytes, as 64 hexadecimal digits.
///
/// ```
/// use adk_metrics::judge::digest::sha256;
///
/// assert!(sha256("abc").starts_with("ba7816bf8f01cfea"));
/// ```
#[must_use]
pub fn sha256(text: &str) -> String {
    let digits = |byte: u8| [byte >> 4, byte & 0xF];
    let character = |digit: u8| char::from(digit + if digit < 10 { b'0' } else { b'a' - 10 });
    Sha256::digest(text).into_iter().flat_map(digits).map(character).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_examples_of_the_standard() {
        let twice = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
        for (text, hash) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (twice, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
            (&"a".repeat(1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ] {
            assert_eq!(sha256(text), hash);
        }
    }

    #[test]
    fn every_length_of_padding_has_a_hash_of_its_own() {
        let mut hashes: Vec<_> = (0..130).map(|length| sha256(&"a".repeat(length))).collect();
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), 130);
    }
}
