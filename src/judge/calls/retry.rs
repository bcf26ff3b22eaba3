//! When to try again, and how fast to go on after a rate limit.

use super::{Failure, Millis, Options, RetryOptions, Task};

/// A task waiting for its next attempt.
#[derive(Debug)]
pub(super) struct Retry {
    pub(super) at: Millis,
    /// The call that failed: of attempts due at the same time the one sent first goes first.
    pub(super) order: u32,
    pub(super) task: Task,
}

impl Retry {
    pub(super) fn is_after(&self, other: &Self) -> bool {
        self.at.total_cmp(&other.at).then(self.order.cmp(&other.order)).is_gt()
    }
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
            resume_at: 0.0,
            random: options.seed,
        }
    }

    pub(super) fn concurrency(&self) -> usize {
        self.concurrency as usize
    }

    /// A reply arrived: as many of them as calls are in flight make room for one more.
    pub(super) fn replied(&mut self) {
        self.slowed = 0;
        self.concurrency = (self.concurrency + 1.0 / self.concurrency).min(self.most);
    }

    /// How long a task that was sent `sent` times, last at `sent_at`, waits after it failed. A rate
    /// limit slows the run down too.
    pub(super) fn delay(&mut self, sent: u32, sent_at: Millis, now: Millis, failure: &Failure) -> Millis {
        let given = failure.retry_after_ms.filter(|delay| delay.is_finite() && *delay >= 0.0);
        let news = failure.rate_limited && sent_at >= self.slowed_at;
        if news {
            self.slowed_at = now;
            self.slowed += 1;
            self.concurrency = (self.concurrency / 2.0).max(1.0);
        }
        let delay = match given {
            Some(delay) => delay,
            None => self.backoff(if news { sent.max(self.slowed) } else { sent }),
        };
        // A second rate limit without a reply in between says that being slower is not enough.
        if failure.rate_limited && (given.is_some() || (news && self.slowed > 1)) {
            self.resume_at = self.resume_at.max(now + delay);
        }
        delay
    }

    fn backoff(&mut self, failures: u32) -> Millis {
        let RetryOptions { initial_delay_ms, max_delay_ms, base, jitter, .. } = self.retry;
        let mut delay = initial_delay_ms;
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
