//! Redacts the secrets of an endpoint in foreign text, in any form in which they may be repeated. All messages
//! and replies go through this module.
//!
//! Servers, proxies and models repeat a key as it is, in another case, percent-encoded, escaped as in JSON or
//! HTML, in base64, or split into lines; text that passed through several of them may be escaped repeatedly.
//! Base64 credentials (`Basic …`) are repeated decoded. Text and secrets are folded to a form in which all of
//! these are equal, and compared in it. O(n) in the text, for each secret.

use std::iter::repeat_n;

use super::Endpoint;
use super::endpoint::is_credential;

/// Replaces a secret.
const MARK: &str = "[redacted]";

/// Shorter values are not secret, and redacting them would remove words from messages.
const MIN_SECRET_LENGTH: usize = 6;

/// Shorter secrets are searched verbatim only: in other forms they may be words.
const MIN_FOLDED_LENGTH: usize = 8;

/// A folded text: its bytes, and the range of the original text that each stands for.
#[derive(Default)]
struct Folded {
    bytes: Vec<u8>,
    spans: Vec<(usize, usize)>,
}

impl Folded {
    /// Folds ASCII case and the two alphabets of base64, decodes percent-encoding and the escapes of JSON and HTML,
    /// however often they were applied, and drops line breaks with the blanks after them.
    fn new(text: &str) -> Self {
        let source = text.as_bytes();
        let mut folded = Self::default();
        let mut at = 0;
        let mut after_break = false;
        while let Some(rest) = source.get(at..).filter(|rest| !rest.is_empty()) {
            let (byte, length) = decoded(rest);
            let is_break = matches!(byte, b'\n' | b'\r');
            let is_indent = after_break && matches!(byte, b' ' | b'\t');
            after_break = is_break || is_indent;
            if !after_break {
                folded.bytes.push(folded_byte(byte));
                folded.spans.push((at, at + length));
            }
            at += length;
        }
        folded
    }
}

/// A byte without its case; the digits of base64 that differ in URLs are those of other places.
const fn folded_byte(byte: u8) -> u8 {
    match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other.to_ascii_lowercase(),
    }
}

/// The maximum length of an escaped byte. Bytes that were escaped more often are not decoded.
const MAX_ESCAPE_LENGTH: usize = 32;

/// The first byte of a text, decoded, and the length of its escaped form. O(1).
fn decoded(rest: &[u8]) -> (u8, usize) {
    let near = rest.get(..MAX_ESCAPE_LENGTH).unwrap_or(rest);
    let number = |from: usize, to: usize, radix: u32| {
        let digits = near.get(from..to).filter(|digits| !digits.is_empty())?;
        let value = digits.iter().try_fold(0_u32, |value, digit| {
            value.checked_mul(radix)?.checked_add(char::from(*digit).to_digit(radix)?)
        })?;
        u8::try_from(value).ok()
    };
    let ascii = |value: Option<u8>| value.filter(u8::is_ascii);
    let times = |from: usize, again: &[u8]| {
        let rest = near.get(from..).unwrap_or_default();
        rest.chunks_exact(again.len()).take_while(|part| part.eq_ignore_ascii_case(again)).count()
            * again.len()
    };
    let escape = match *near {
        [b'%', ..] => {
            let skipped = times(1, b"25");
            number(1 + skipped, 3 + skipped, 16).or(number(1, 3, 16)).map(|byte| (byte, 3 + skipped))
        }
        [b'\\', ..] => {
            let at = 1 + times(1, b"\\");
            match near.get(at) {
                Some(b'u') => ascii(number(at + 1, at + 5, 16)).map(|byte| (byte, at + 5)),
                Some(b'x') => ascii(number(at + 1, at + 3, 16)).map(|byte| (byte, at + 3)),
                Some(b'n') => Some((b'\n', at + 1)),
                Some(b'r') => Some((b'\r', at + 1)),
                Some(escaped @ (b'/' | b'"')) => Some((*escaped, at + 1)),
                _ if at > 1 => Some((b'\\', at)),
                _ => None,
            }
        }
        [b'&', ..] => {
            let at = 1 + times(1, b"amp;");
            let length = near.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b';'));
            let end = at + length.unwrap_or_default();
            let named = match near.get(at..end) {
                Some([b'#', b'x' | b'X', ..]) => ascii(number(at + 2, end, 16)),
                Some([b'#', ..]) => ascii(number(at + 1, end, 10)),
                Some(b"quot") => Some(b'"'),
                Some(b"apos") => Some(b'\''),
                Some(b"lt") => Some(b'<'),
                Some(b"gt") => Some(b'>'),
                Some(b"sol") => Some(b'/'),
                Some(b"plus") => Some(b'+'),
                Some(b"equals") => Some(b'='),
                _ => None,
            };
            named.map(|byte| (byte, end + 1)).or((at > 1).then_some((b'&', at)))
        }
        _ => None,
    };
    escape.unwrap_or((rest.first().copied().unwrap_or_default(), 1))
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text that was encoded as base64, in either alphabet, padded or not; `None` if the bytes are not text.
fn base64_decoded(encoded: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut bits = 0_u32;
    for (at, byte) in encoded.trim_end_matches('=').bytes().enumerate() {
        let byte = match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        let digit = ALPHABET.iter().position(|known| *known == byte)?;
        bits = bits << 6 | u32::try_from(digit).ok()?;
        // Four digits encode three bytes; no byte ends after the first digit.
        if at % 4 != 0 {
            bytes.push((bits >> (6 - 2 * (at % 4))) as u8);
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
}

/// The folded base64 of bytes that follow `before` others: the digits that depend on no surrounding byte.
fn base64_form(secret: &[u8], before: usize) -> Vec<u8> {
    let mut digits = Vec::new();
    let (mut bits, mut length) = (0, 0);
    for byte in repeat_n(&0, before).chain(secret) {
        bits = bits << 8 | usize::from(*byte);
        length += 8;
        while length >= 6 {
            length -= 6;
            digits.extend(ALPHABET.get(bits >> length & 63).copied().map(folded_byte));
        }
    }
    digits.get((before * 8).div_ceil(6)..).unwrap_or_default().to_vec()
}

/// The secrets of an endpoint: keys, header values and their words, and credentials and query of the URL. For
/// base64 of text, such as `Basic` credentials, also that text and its password.
fn secrets_in(endpoint: &Endpoint) -> Vec<String> {
    let mut secrets = Vec::new();
    let (address, query) = endpoint.base_and_query();
    let credentials = address.split_once('@').map_or("", |(credentials, _)| credentials);
    let after_scheme = credentials.split_once('/').and_then(|(_, rest)| rest.strip_prefix('/'));
    let credentials = after_scheme.unwrap_or(credentials);
    let keys = [endpoint.api_key.as_deref(), endpoint.bearer.as_deref(), Some(credentials), Some(query)];
    for key in keys.into_iter().flatten() {
        // However short it is.
        add_secret(&mut secrets, key, 1);
    }
    for part in query.split(['&', '=']) {
        add_secret(&mut secrets, part, MIN_SECRET_LENGTH);
    }
    for (name, value) in &endpoint.headers {
        if is_credential(name) {
            add_secret(&mut secrets, value.strip_prefix("Bearer ").unwrap_or(value), 1);
        }
        add_secret(&mut secrets, value, MIN_SECRET_LENGTH);
        for word in value.split([' ', '\t', ';']) {
            add_secret(&mut secrets, word, MIN_SECRET_LENGTH);
            add_secret(&mut secrets, word.split_once('=').map_or("", |(_, value)| value), MIN_SECRET_LENGTH);
        }
    }
    secrets
}

fn add_secret(secrets: &mut Vec<String>, secret: &str, min_length: usize) {
    if secret.len() < min_length {
        return;
    }
    secrets.push(secret.to_owned());
    let Some(text) = base64_decoded(secret) else { return };
    let password = text.split_once(':').map_or("", |(_, password)| password);
    for part in [password, &text] {
        if part.len() >= MIN_SECRET_LENGTH {
            secrets.push(part.to_owned());
        }
    }
}

/// How many bytes of a text are searched if only its beginning is shown.
pub(super) const BEGINNING: usize = 32 * 1024;

/// The text with the secrets of an endpoint redacted, except for those that `known` contains: a reply must be
/// able to quote the question.
#[must_use]
pub fn redact(endpoint: &Endpoint, text: &str, known: &str) -> String {
    without(text, &secret_forms(endpoint, known), false)
}

/// The redacted beginning of a text: the whole text, or as much of its first [`BEGINNING`] bytes as certainly
/// ends in no secret.
pub(super) fn redact_beginning(endpoint: &Endpoint, text: &str) -> String {
    let beginning = text.get(..text.floor_char_boundary(BEGINNING)).unwrap_or_default();
    without(beginning, &secret_forms(endpoint, ""), beginning.len() < text.len())
}

/// The forms in which secrets are searched, and whether verbatim rather than folded.
fn secret_forms(endpoint: &Endpoint, known: &str) -> Vec<(Vec<u8>, bool)> {
    let mut forms: Vec<(Vec<u8>, bool)> = Vec::new();
    let folded_known = Folded::new(known).bytes;
    for secret in secrets_in(endpoint) {
        let folded = Folded::new(&secret).bytes;
        if holds(&folded_known, &folded) {
            continue;
        }
        if secret.len() < MIN_FOLDED_LENGTH {
            forms.push((secret.as_bytes().to_vec(), true));
            continue;
        }
        for before in 0..3 {
            forms.push((base64_form(secret.as_bytes(), before), false));
        }
        forms.push((folded, false));
    }
    forms
}

/// Redacts these forms. If the text was cut off, its end is dropped, because it may contain a part of a secret.
fn without(text: &str, forms: &[(Vec<u8>, bool)], is_cut: bool) -> String {
    let Folded { bytes, spans } = Folded::new(text);
    let end = if is_cut {
        let longest = forms.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
        bytes.len().saturating_sub(longest + MAX_ESCAPE_LENGTH)
    } else {
        bytes.len()
    };
    let text_end = spans.get(end).map_or(text.len(), |span| span.0);
    let mut safe = String::new();
    let mut copied = 0;
    let mut at = 0;
    while at < end {
        let rest = bytes.get(at..).unwrap_or_default();
        let begin = spans.get(at).map_or(text.len(), |span| span.0);
        // The longest match, since a secret may begin with another.
        let longest = forms.iter().filter_map(|(form, exact)| {
            let matches = if *exact {
                text.as_bytes().get(begin..).is_some_and(|rest| rest.starts_with(form))
            } else {
                rest.starts_with(form)
            };
            matches.then_some(form.len())
        });
        let length = longest.max().unwrap_or(0);
        if length == 0 {
            at += 1;
            continue;
        }
        safe.push_str(text.get(copied..begin).unwrap_or_default());
        safe.push_str(MARK);
        copied = spans.get(at + length - 1).map_or(text.len(), |span| span.1);
        at += length;
    }
    safe.push_str(text.get(copied..text_end.max(copied)).unwrap_or_default());
    safe
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && text.windows(part.len()).any(|window| window == part)
}
