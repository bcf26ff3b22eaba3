//! SHA-256 (FIPS 180-4), which identifies prompts, requests and recordings.
//!
//! The same text has the same hash everywhere, anyone can compute it again (`sha256sum`), and nobody can write
//! a text that has another's hash or contains its own.
//!
//! O(n) time and space.

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
const ROUNDS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
const START: [u32; 8] =
    [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];

/// The hash of a string's UTF-8 bytes, as 64 hexadecimal digits.
///
/// ```
/// use adk_metrics::judge::digest::sha256;
///
/// assert!(sha256("abc").starts_with("ba7816bf8f01cfea"));
/// ```
#[must_use]
pub fn sha256(text: &str) -> String {
    let bits = 8 * text.len() as u64;
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0x80);
    while bytes.len() % 64 != 56 {
        bytes.push(0);
    }
    bytes.extend(bits.to_be_bytes());

    let mut state = START;
    for block in bytes.as_chunks::<64>().0 {
        mix(&mut state, block);
    }

    let mut hex = String::new();
    for byte in state.map(u32::to_be_bytes).as_flattened() {
        for digit in [byte >> 4, byte & 0xF] {
            hex.push(char::from(digit + if digit < 10 { b'0' } else { b'a' - 10 }));
        }
    }
    hex
}

/// The compression function: a round for each word of the message schedule.
#[inline(never)]
#[expect(clippy::indexing_slicing, reason = "the indexes are below 64, which the compiler sees")]
fn mix(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut words = [0; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for at in 16..64 {
        let early = words[at - 15].rotate_right(7) ^ words[at - 15].rotate_right(18) ^ words[at - 15] >> 3;
        let late = words[at - 2].rotate_right(17) ^ words[at - 2].rotate_right(19) ^ words[at - 2] >> 10;
        words[at] = words[at - 16].wrapping_add(early).wrapping_add(words[at - 7]).wrapping_add(late);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, round) in words.into_iter().zip(ROUNDS) {
        let chosen = e & f ^ !e & g;
        let spread = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let first = h.wrapping_add(spread).wrapping_add(chosen).wrapping_add(round).wrapping_add(word);
        let majority = a & b ^ a & c ^ b & c;
        let spread = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(spread).wrapping_add(majority));
    }
    for (sum, part) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *sum = sum.wrapping_add(part);
    }
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
