//! The options for the calls of a run.

/// A point in time or a duration, in milliseconds. Points in time count from any fixed moment and are at least
/// 0.
pub type Millis = f64;

/// How to call judges.
#[derive(Clone, Debug)]
pub struct CallOptions {
    /// How many calls may be in flight at once, at least 1; 8 by default.
    pub concurrency: u32,
    /// How failed calls are retried.
    pub retry: RetryOptions,
    /// How long a call may take, in milliseconds; 120,000 by default, infinite for no limit.
    pub timeout_ms: Millis,
    /// How long the run may take from its first poll, in milliseconds; infinite by default.
    pub run_timeout_ms: Millis,
    /// How much the run may use; unlimited by default.
    pub budget: Budget,
    /// The seed of the random delays; 0 by default.
    pub seed: u64,
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            concurrency: 8,
            retry: RetryOptions::default(),
            timeout_ms: 120_000.0,
            run_timeout_ms: f64::INFINITY,
            budget: Budget::default(),
            seed: 0,
        }
    }
}

/// How failed calls are retried. The defaults are google-adk's, except for the jitter.
#[derive(Clone, Debug)]
pub struct RetryOptions {
    /// How often a sample is sent in total, at least 1; 7 by default. Rate limits do not count as long as the
    /// run gets replies, except if this is 1: then nothing is sent twice.
    pub attempts: u32,
    /// The longest delay after the first failure, in milliseconds; 5,000 by default. After faults that look
    /// temporary it is at most 500.
    pub initial_delay_ms: Millis,
    /// The longest delay after any failure, in milliseconds; 120,000 by default. A server may ask for more.
    pub max_delay_ms: Millis,
    /// The factor between one delay and the next, at least 1.0; 2.0 by default.
    pub base: f64,
    /// The random share of a delay, from 0.0 to 1.0 (the default).
    pub jitter: f64,
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self { attempts: 7, initial_delay_ms: 5_000.0, max_delay_ms: 120_000.0, base: 2.0, jitter: 1.0 }
    }
}

/// How much a run may use. Calls in flight may overdraw tokens and cost by whatever they use beyond
/// [`Ask::tokens`](super::Ask::tokens).
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// The most calls, retries included.
    pub calls: Option<u32>,
    /// The most tokens, input and output together.
    pub tokens: Option<u64>,
    /// The most money, in the currency of [`Prices`].
    pub cost: Option<f64>,
}

/// The prices of a model, in any currency; 0 by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prices {
    /// The price of a million input tokens.
    pub input_per_million: f64,
    /// The price of a million output tokens.
    pub output_per_million: f64,
}

impl Prices {
    /// The cost of these tokens.
    #[must_use]
    pub fn cost(self, usage: super::Usage) -> f64 {
        (usage.input_tokens as f64 * self.input_per_million
            + usage.output_tokens as f64 * self.output_per_million)
            / 1e6
    }
}
