//! Tool calls beside the expected ones.

mod alignment;
mod difference;
mod equal;
mod matching;
mod scores;
mod slices;
mod strategy;
