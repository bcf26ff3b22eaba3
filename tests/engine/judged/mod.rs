//! The metrics that ask judges.

mod injection;
mod limits;
mod parity;
mod run;
