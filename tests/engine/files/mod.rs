//! What ADK writes is read, in every shape.

mod properties;
mod readers;
mod slices;
