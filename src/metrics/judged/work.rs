//! Counts work, so that a run knows when to give control back to the host.

/// The work done since the host last had control. A unit takes a few nanoseconds, about as long as rendering, hashing and
/// sending one byte of a prompt.
#[derive(Default)]
pub struct Work(usize);

impl Work {
    /// The work for one poll, after which the host gets control. It takes a few milliseconds; the limit for the host is 25.
    pub const PER_POLL: usize = 1 << 19;
    /// The work for a turn, without that for its texts.
    pub(crate) const OF_TURN: usize = 64;
    /// The work for each visit of a rubric.
    pub(in crate::metrics) const OF_RUBRIC: usize = 128;

    /// Counts work that was done.
    pub fn add(&mut self, units: usize) {
        self.0 = self.0.saturating_add(units);
    }

    /// Whether the work for one poll is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0 >= Self::PER_POLL
    }

    /// The units of work done.
    #[must_use]
    pub fn units(&self) -> usize {
        self.0
    }
}
