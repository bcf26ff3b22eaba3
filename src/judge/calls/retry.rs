//! Retries: the delay after a failure, and the throttling of the run after rate limits.

use super::{CallFailure, CallOptions, Millis, RetryOptions, SampleTask};

/// A sample that waits for its next attempt.
#[derive(Debug)]
pub(super) struct Retry {
    pub(super) at: Millis,
    /// The id of the failed call. Among attempts due at the same time, the call sent first goes first.
    pub(super) order: u32,
    pub(super) task: SampleTask,
}

impl Retry {
    pub(super) fn is_after(&self, other: &Self) -> bool {
        self.at.total_cmp(&other.at).then(self.order.cmp(&other.order)).is_gt()
    }
}

/// The longest first delay after a fault that looks temporary, in milliseconds.
const MAX_FIRST_DELAY: Millis = 500.0;

/// The fewest consecutive rate limits that count as a burst.
const MIN_BURST: usize = 3;

/// An attempt that failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailedAttempt {
    /// How often the sample was sent.
    pub(super) sent: u32,
    pub(super) sent_at: Millis,
    pub(super) now: Millis,
    /// Whether the run got a reply since the sample's previous attempt, so that the fault looks temporary.
    pub(super) looks_temporary: bool,
}

/// Limits how many calls are in flight, and when the next is sent, after rate limits.
#[derive(Debug)]
pub(super) struct Throttle {
    retry: RetryOptions,
    most: f64,
    /// How many calls may be in flight; the integer part counts.
    concurrency: f64,
    /// When the concurrency was last halved. Failures of earlier calls say nothing about the new concurrency.
    slowed_at: Millis,
    /// How often it was halved since the last reply.
    slowed: u32,
    /// The number of rate limits since the last reply or burst.
    limits: usize,
    /// When the last of the limited calls may be sent again.
    limits_end: Millis,
    /// The latest of the times that the server gave for them.
    server_limit: Millis,
    /// Nothing is sent before this time.
    pub(super) resume_at: Millis,
    random: u64,
}

impl Throttle {
    pub(super) fn new(options: &CallOptions) -> Self {
        let most = f64::from(options.concurrency.max(1));
        Self {
            retry: options.retry.clone(),
            most,
            concurrency: most,
            slowed_at: 0.0,
            slowed: 0,
            limits: 0,
            limits_end: 0.0,
            server_limit: 0.0,
            resume_at: 0.0,
            random: options.seed,
        }
    }

    pub(super) fn concurrency(&self) -> usize {
        self.concurrency as usize
    }

    /// How many calls may be in flight now. The slots of calls that were limited since the last reply stay
    /// empty until these calls may be sent again.
    pub(super) fn room(&self, now: Millis) -> usize {
        let most = self.concurrency();
        if now >= self.limits_end { most } else { most.min(self.burst().saturating_sub(self.limits)) }
    }

    /// How many consecutive rate limits slow the run down.
    fn burst(&self) -> usize {
        self.concurrency().max(MIN_BURST)
    }

    /// The times at which more calls may be sent even without a reply.
    pub(super) fn next_changes(&self, now: Millis) -> impl Iterator<Item = Millis> {
        let limits_end = if self.limits > 0 { self.limits_end } else { 0.0 };
        [self.resume_at, limits_end].into_iter().filter(move |&at| now < at)
    }

    /// Counts a reply. As many replies as calls in flight allow one more call.
    pub(super) fn replied(&mut self) {
        self.slowed = 0;
        self.forget_limits();
        self.concurrency = (self.concurrency + 1.0 / self.concurrency).min(self.most);
    }

    fn forget_limits(&mut self) {
        self.limits = 0;
        self.limits_end = 0.0;
        self.server_limit = 0.0;
    }

    /// The delay after a failure. A burst of rate limits slows down the run too.
    pub(super) fn delay(&mut self, failed: FailedAttempt, failure: &CallFailure) -> Millis {
        let now = failed.now;
        let given = failure.retry_after_ms.filter(|delay| delay.is_finite() && *delay >= 0.0);
        let first = match failure.disconnected || failed.looks_temporary {
            true => self.retry.initial_delay_ms.min(MAX_FIRST_DELAY),
            false => self.retry.initial_delay_ms,
        };
        // Calls sent before the run was slowed down say nothing about its new speed.
        if !failure.rate_limited || failed.sent_at < self.slowed_at {
            return given.unwrap_or_else(|| self.backoff(first, failed.sent));
        }
        self.limits += 1;
        if let Some(delay) = given {
            self.server_limit = self.server_limit.max(now + delay);
        }
        let is_burst = self.limits >= self.burst();
        let mut times = failed.sent;
        if is_burst {
            self.slowed += 1;
            times = times.max(self.slowed);
        }
        let delay = given.unwrap_or_else(|| self.backoff(first, times));
        self.limits_end = self.limits_end.max(now + delay);
        if is_burst {
            self.slowed_at = now;
            self.concurrency = (self.concurrency / 2.0).max(1.0);
            self.resume_at = self.resume_at.max(self.server_limit);
            // A second burst without a reply in between shows that slowing down is not enough.
            if self.slowed > 1 {
                self.resume_at = self.resume_at.max(now + delay);
            }
            self.forget_limits();
        }
        delay
    }

    fn backoff(&mut self, first: Millis, failures: u32) -> Millis {
        let RetryOptions { max_delay_ms, base, jitter, .. } = self.retry;
        let mut delay = first;
        for _ in 1..failures {
            if delay >= max_delay_ms {
                break;
            }
            delay *= base;
        }
        (delay.min(max_delay_ms) * (1.0 - jitter * self.random())).max(0.0)
    }

    /// A random number, at least 0 and less than 1. SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable
    /// pseudorandom number generators", OOPSLA 2014.
    fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        (bits >> 11) as f64 / (1u64 << 53) as f64
    }
}
