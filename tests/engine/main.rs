//! The engine's tests, by subject. They are one program, which is linked once.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what does not hold fails its test"
)]

mod files;
mod judge;
mod judged;
mod metrics;
mod run;
mod support;
mod text_parity;
mod text_slices;
mod trajectory;
