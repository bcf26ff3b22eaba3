//! What has to hold for any input whatever. Each public module is one target: its `check` panics where something does not.
//!
//! cargo-fuzz looks for inputs that break them (`npm run fuzz`); the tests of this crate run them over the seeds, over what
//! was ever found, and over simple changes of both.
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

/// One thing that has to hold for any input.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of its module, of its program for cargo-fuzz and of its folders.
    pub name: &'static str,
    /// Panics if it does not hold.
    pub check: fn(&[u8]),
}

/// All of them.
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

/// The strings of an input that stands for several: they are separated by zero bytes.
fn strings(input: &[u8]) -> impl Iterator<Item = &str> {
    input.split(|byte| *byte == 0).filter_map(|part| std::str::from_utf8(part).ok())
}
