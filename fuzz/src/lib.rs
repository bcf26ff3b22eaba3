//! Properties that hold for any input. Each public module is one fuzz target, whose `check` panics if its
//! property is violated.
//!
//! cargo-fuzz searches for inputs that violate them (`npm run fuzz`). The tests of this crate check them for
//! the seeds, for all inputs that were ever found, and for simple mutations of both.
#![expect(clippy::missing_panics_doc, reason = "every check panics where something does not hold")]

pub mod alignment;
pub mod answers;
pub mod config;
pub mod evaluation;
pub mod json;
pub mod prompts;
pub mod replies;
pub mod rouge;
mod scoring;
pub mod seeds;
pub mod shapes;

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of its module, its cargo-fuzz program and its folders.
    pub name: &'static str,
    /// Panics if the property is violated.
    pub check: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [Target; 9] = [
    Target { name: "json", check: json::check },
    Target { name: "shapes", check: shapes::check },
    Target { name: "config", check: config::check },
    Target { name: "evaluation", check: evaluation::check },
    Target { name: "prompts", check: prompts::check },
    Target { name: "rouge", check: rouge::check },
    Target { name: "alignment", check: alignment::check },
    Target { name: "replies", check: replies::check },
    Target { name: "answers", check: answers::check },
];

/// Splits an input into strings at zero bytes.
fn strings(input: &[u8]) -> impl Iterator<Item = &str> {
    input.split(|byte| *byte == 0).filter_map(|part| std::str::from_utf8(part).ok())
}
