//! Warnings, collected by all readers.

use std::cell::{Cell, RefCell};

use crate::foundation::error::{Error, ErrorCode};
use crate::foundation::json::Json;

/// Warnings about input that was read but may not mean what its author intended. At most [`Warnings::MOST`] are
/// kept.
#[derive(Default)]
pub struct Warnings {
    /// Whether a metric selects rubrics by type, so that readers warn of rubrics with an unknown type. It is set when the
    /// config is read, and copied to the warnings of the conversations.
    pub read_rubric_types: Cell<bool>,
    all: RefCell<Vec<Error>>,
}

impl Warnings {
    /// The maximum number of warnings.
    pub const MOST: usize = 100;

    /// Adds a warning about a value, unless there is one with the same message, or there are [`Self::MOST`].
    pub fn add(&self, location: Json<'_>, message: String) {
        self.note(location, message, None);
    }

    /// Adds a warning about a value, with advice.
    pub fn add_with_help(&self, location: Json<'_>, message: String, help: String) {
        self.note(location, message, Some(help));
    }

    fn note(&self, location: Json<'_>, message: String, help: Option<String>) {
        let mut all = self.all.borrow_mut();
        if all.len() < Self::MOST && all.iter().all(|known| known.message != message) {
            let path = location.path();
            let mut warning = Error::new(ErrorCode::InvalidInput, message);
            // A warning about the whole document has no line.
            if path != "$" {
                warning = warning.at_line(location.line());
            }
            warning = warning.at_path(path);
            warning.help = help;
            all.push(warning);
        }
    }

    /// The warnings, in the order in which they were added.
    #[must_use]
    pub fn into_vec(self) -> Vec<Error> {
        self.all.into_inner()
    }
}
