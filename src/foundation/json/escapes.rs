//! The escapes of JSON strings.

/// Replaces the escapes of a string. They were validated when it was parsed.
pub(super) fn unescape(escaped: &str) -> String {
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = rest.bytes().position(|byte| byte == b'\\') {
        let (plain, after) = (rest.get(..at).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
        text.push_str(plain);
        let (character, length) = match after.bytes().next() {
            Some(b'b') => ('\u{8}', 1),
            Some(b'f') => ('\u{c}', 1),
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'u') => {
                let unit = |at: usize| {
                    let digits = after.bytes().skip(at).take(4);
                    digits.fold(0, |unit, digit| unit << 4 | char::from(digit).to_digit(16).unwrap_or(0))
                };
                match unit(1) {
                    high @ 0xD800..0xDC00 => {
                        let code = 0x10000 + ((high - 0xD800) << 10) + unit(7).wrapping_sub(0xDC00);
                        (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 11)
                    }
                    code => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 5),
                }
            }
            // A quotation mark, a backslash or a slash.
            Some(other) => (char::from(other), 1),
            None => break,
        };
        text.push(character);
        rest = after.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}
