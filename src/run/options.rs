//! The settings of a run that the host chooses.

use super::{JudgeOptions, Risk};
use crate::metrics::{Dialect, Explain};

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which implementation's scores to reproduce.
    pub dialect: Dialect,
    /// Which results to explain.
    pub explain: Explain,
    /// How many custom metrics the host computes at a time.
    pub concurrency: usize,
    /// How long the host may take for one of them, in milliseconds; unlimited if absent.
    pub timeout_ms: Option<f64>,
    /// Whether to skip samples that can no longer change a verdict.
    pub early_stop: bool,
    /// Whether a vote that stops early may also end before its verdict is certain.
    pub risk: Option<Risk>,
    /// How to ask judges.
    pub judges: JudgeOptions,
    /// Whether a case fails as a whole if the numbers of its actual and expected turns differ; otherwise each
    /// metric decides.
    pub same_turns: bool,
    /// The case that was selected, if it is the only one: a single run that names no case is its run.
    pub selected_case: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            explain: Explain::default(),
            concurrency: 8,
            timeout_ms: None,
            early_stop: true,
            risk: None,
            judges: JudgeOptions::default(),
            same_turns: true,
            selected_case: None,
        }
    }
}
