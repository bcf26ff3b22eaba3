//! The metrics beside google-adk and ADK-TS.

mod adk_ts_parity;
mod parity;
mod proposed;
mod worked_examples;
