//! When to try again, and how fast to go on after a rate limit.

use super::{CallFailure, Millis, Options, RetryOptions, SampleTask};

/// A task waiting for its next attempt.
#[derive(Debug)]
pub(super) struct Retry {
    pub(super) at: Millis,
    /// The call that failed: of attempts due at the same time the one sent first goes first.
    pub(super) order: u32,
    pub(super) task: SampleTask,
}

impl Retry {
    pub(super) fn is_after(&self, other: &Self) -> bool {
        self.at.total_cmp(&other.at).then(self.order.cmp(&other.order)).is_gt()
    }
}

/// The longest first wait after a fault that looks like a passing one, in milliseconds.
const SOON: Millis = 500.0;

/// The fewest rate limits in a row that are a burst.
const SMALLEST_BURST: usize = 3;

/// A call that failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailedAttempt {
    /// How often its sample was sent.
    pub(super) sent: u32,
    pub(super) sent_at: Millis,
    pub(super) now: Millis,
    /// Whether the run got a reply since the sample's attempt before.
    pub(super) is_passing: bool,
}

/// How fast the run goes.
#[derive(Debug)]
pub(super) struct Pace {
    retry: RetryOptions,
    most: f64,
    /// How many calls may be in flight; the whole part counts.
    concurrency: f64,
    /// When the concurrency was last halved. What was sent before says nothing about the new one.
    slowed_at: Millis,
    /// How often that happened since the last reply.
    slowed: u32,
    /// How many calls were rate limited since the last reply or burst.
    limits: usize,
    /// When the last of these may be sent again.
    limits_end: Millis,
    /// The latest of the times that the server gave for these.
    told: Millis,
    /// Nothing is sent before this time.
    pub(super) resume_at: Millis,
    random: u64,
}

impl Pace {
    pub(super) fn new(options: &Options) -> Self {
        let most = f64::from(options.concurrency.max(1));
        Self {
            retry: options.retry.clone(),
            most,
            concurrency: most,
            slowed_at: 0.0,
            slowed: 0,
            limits: 0,
            limits_end: 0.0,
            told: 0.0,
            resume_at: 0.0,
            random: options.seed,
        }
    }

    pub(super) fn concurrency(&self) -> usize {
        self.concurrency as usize
    }

    /// How many calls may be in flight at a time: the slots of calls that were limited since the last
    /// reply stay empty until these may be sent again.
    pub(super) fn room(&self, now: Millis) -> usize {
        let most = self.concurrency();
        if now >= self.limits_end { most } else { most.min(self.burst().saturating_sub(self.limits)) }
    }

    /// How many rate limits in a row slow the run down.
    fn burst(&self) -> usize {
        self.concurrency().max(SMALLEST_BURST)
    }

    /// When more may be sent than now, without a reply.
    pub(super) fn next_changes(&self, now: Millis) -> impl Iterator<Item = Millis> {
        let limits_end = if self.limits > 0 { self.limits_end } else { 0.0 };
        [self.resume_at, limits_end].into_iter().filter(move |&at| now < at)
    }

    /// A reply arrived: as many of them as calls are in flight make room for one more.
    pub(super) fn replied(&mut self) {
        self.slowed = 0;
        self.forget_limits();
        self.concurrency = (self.concurrency + 1.0 / self.concurrency).min(self.most);
    }

    fn forget_limits(&mut self) {
        self.limits = 0;
        self.limits_end = 0.0;
        self.told = 0.0;
    }

    /// How long a call that failed waits. A burst of rate limits slows the run down too.
    pub(super) fn delay(&mut self, failed: FailedAttempt, failure: &CallFailure) -> Millis {
        let now = failed.now;
        let given = failure.retry_after_ms.filter(|delay| delay.is_finite() && *delay >= 0.0);
        let first = match failure.disconnected || failed.is_passing {
            true => self.retry.initial_delay_ms.min(SOON),
            false => self.retry.initial_delay_ms,
        };
        // What was sent before the run was slowed down says nothing about its new pace.
        if !failure.rate_limited || failed.sent_at < self.slowed_at {
            return given.unwrap_or_else(|| self.backoff(first, failed.sent));
        }
        self.limits += 1;
        if let Some(delay) = given {
            self.told = self.told.max(now + delay);
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
            self.resume_at = self.resume_at.max(self.told);
            // A second burst without a reply in between says that being slower is not enough.
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

    /// At least 0, less than 1. SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable
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
