//! Parse errors: one small enum while parsing, turned into an [`Error`] on failure.

use super::Parser;
use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::json::{MAX_DEPTH, MAX_ESCAPES, MAX_KEYS, MAX_STRING_BYTES, MAX_VALUES, SMALLER};
use crate::foundation::write::quoted;

/// Why a text is not JSON.
#[derive(Clone, Copy)]
pub(super) enum Fault {
    Value,
    End,
    CommaOrBracket,
    CommaOrBrace,
    Key,
    Colon,
    Digit,
    Control,
    OpenString,
    Surrogate,
    Escape,
    Hex,
    Repeated { key: u32 },
    TooDeep,
    TooMany,
    ManyKeys,
    LongString,
}

impl Parser<'_> {
    #[cold]
    pub(super) fn to_error(&self, fault: Fault) -> Error {
        let invalid = |message: &str| Error::new(ErrorCode::InvalidJson, message);
        match fault {
            Fault::Value => self.unexpected("a value"),
            Fault::End => self.unexpected("the end of the input"),
            Fault::CommaOrBracket => self.unexpected("`,` or `]`"),
            Fault::CommaOrBrace => self.unexpected("`,` or `}`"),
            Fault::Key => self.unexpected("a key in double quotes"),
            Fault::Colon => self.unexpected("`:`"),
            Fault::Digit => self.unexpected("a digit"),
            Fault::Control => invalid("a string contains a control character")
                .with_help("Write it as an escape, such as \\n or \\u0000"),
            Fault::OpenString => invalid("the input ends inside a string").with_help("Is the file complete?"),
            Fault::Surrogate => {
                let unit = self.text.get(self.at..self.at + 6).unwrap_or_default().to_ascii_lowercase();
                invalid(&format!("{unit} is half of a surrogate pair"))
                    .with_help("The text was cut in the middle of a character; write the whole of it")
            }
            Fault::Escape => {
                invalid("unknown escape in a string").with_help("A backslash itself is written \\\\")
            }
            Fault::Hex => invalid("\\u is not followed by four hexadecimal digits"),
            Fault::Repeated { key } => {
                invalid(&format!("the key {} is given twice", quoted(&self.key(key as usize))))
                    .with_help("Keep one of the two")
            }
            Fault::TooDeep => Error::new(
                ErrorCode::LimitExceeded,
                format!("values are nested more than {MAX_DEPTH} levels deep"),
            ),
            Fault::TooMany => {
                Error::new(ErrorCode::LimitExceeded, format!("the input has more than {MAX_VALUES} values"))
                    .with_help(SMALLER)
            }
            Fault::ManyKeys => {
                Error::new(ErrorCode::LimitExceeded, format!("an object has more than {MAX_KEYS} keys"))
            }
            Fault::LongString => Error::new(
                ErrorCode::LimitExceeded,
                format!("a string has more than {MAX_STRING_BYTES} bytes or {MAX_ESCAPES} escapes"),
            ),
        }
    }

    fn unexpected(&self, expected: &str) -> Error {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(found) = rest.chars().next() else {
            let message = format!("expected {expected}, but the input ends here");
            return Error::new(ErrorCode::InvalidJson, message).with_help("Is the file complete?");
        };
        let error =
            Error::new(ErrorCode::InvalidJson, format!("expected {expected}, found {}", shown(found)));
        if rest.starts_with("NaN") || rest.starts_with('I') {
            return error.with_help("JSON has no NaN and no Infinity; leave the value out or use null");
        }
        match found {
            '\'' => error.with_help("JSON strings are written in double quotes"),
            '/' | '#' => error.with_help("JSON has no comments"),
            ']' | '}' => error.with_help("Is there an extra comma before it?"),
            _ if !self.text.trim_ascii_start().starts_with(['{', '[']) => {
                error.with_help("This is not JSON: convert it first")
            }
            _ => error,
        }
    }
}

/// A character in single quotes, or as `U+…` if it is a control character.
fn shown(character: char) -> String {
    if character.is_control() { format!("U+{:04X}", character as u32) } else { format!("'{character}'") }
}
