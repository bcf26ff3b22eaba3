//! Warnings, collected while reading. Apart, because readers of everything add to them, and shapes are only one cause.

use std::cell::RefCell;

use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::json::Json;

/// What was read but may surprise: collected while reading, at most [`Warnings::MOST`].
#[derive(Default)]
pub struct Warnings {
    all: RefCell<Vec<Error>>,
}

impl Warnings {
    /// How many warnings are kept.
    pub const MOST: usize = 100;

    /// Warns of a value, unless a warning with the same message is there or there are [`Self::MOST`].
    pub fn add(&self, location: Json<'_>, message: String) {
        self.note(location, message, None);
    }

    /// Warns of a value and says what to do about it.
    pub fn add_with_help(&self, location: Json<'_>, message: String, help: String) {
        self.note(location, message, Some(help));
    }

    fn note(&self, location: Json<'_>, message: String, help: Option<String>) {
        let mut all = self.all.borrow_mut();
        if all.len() < Self::MOST && all.iter().all(|known| known.message != message) {
            let path = location.path();
            let mut warning = Error::new(ErrorCode::InvalidInput, message);
            // What is said of a whole document is on none of its lines.
            if path != "$" {
                warning = warning.at_line(location.line());
            }
            warning = warning.at_path(path);
            warning.help = help;
            all.push(warning);
        }
    }

    /// The warnings in the order found.
    #[must_use]
    pub fn into_vec(self) -> Vec<Error> {
        self.all.into_inner()
    }
}
