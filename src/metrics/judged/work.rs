//! How much was done since the host last had its turn: apart from planning and conclusion, which both count it, and
//! all that a run needs to know of how long they take.

/// How much was done since the host last had its turn. A unit takes some nanoseconds: about as long as a byte
/// of a prompt takes to be put together, hashed and written.
#[derive(Default)]
pub struct Work(usize);

impl Work {
    /// What is done before the host has its turn: a few milliseconds' worth, where it is to have it after 25 at most.
    pub const PER_POLL: usize = 1 << 19;
    /// What a turn takes besides its texts.
    pub(crate) const OF_TURN: usize = 64;
    /// What a rubric takes each time that it is looked at.
    pub(in crate::metrics) const OF_RUBRIC: usize = 128;

    /// Counts what is done.
    pub fn add(&mut self, units: usize) {
        self.0 = self.0.saturating_add(units);
    }

    /// Whether the host is to have its turn.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0 >= Self::PER_POLL
    }

    /// How much was done.
    #[must_use]
    pub fn units(&self) -> usize {
        self.0
    }
}
