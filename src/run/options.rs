//! How a run is to go: what its host decides, apart from the inputs and the config.

use super::JudgeOptions;
use crate::metrics::{Dialect, Explain};

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whose scores to give.
    pub dialect: Dialect,
    /// Which results to explain.
    pub explain: Explain,
    /// How many metrics of the user's own the host computes at a time.
    pub concurrency: usize,
    /// How long the host may work on one, in milliseconds; no limit if absent.
    pub timeout_ms: Option<f64>,
    /// Whether judges are spared samples that cannot change a verdict.
    pub early_stop: bool,
    /// How to ask judges.
    pub judges: JudgeOptions,
    /// Whether a case fails as a whole if its actual and expected turns differ in number; otherwise
    /// each metric decides.
    pub same_turns: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dialect: Dialect::default(),
            explain: Explain::default(),
            concurrency: 8,
            timeout_ms: None,
            early_stop: true,
            judges: JudgeOptions::default(),
            same_turns: true,
        }
    }
}
