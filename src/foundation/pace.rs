//! Divides long work into slices, so that the thread can do other things in between.
//!
//! A function that takes long on a large input is an `async fn`. It counts its work with a [`Pace`], which yields at the
//! end of a slice. There is no executor and no waker: the caller polls the future with [`go_on`] when it wants the next
//! slice, or runs it to its end with [`at_once`]. The compiler writes the state machine that would otherwise be written by
//! hand, and both ways of running use the same code.
//!
//! ```
//! use adk_metrics::foundation::pace::{Pace, at_once};
//!
//! async fn sum(numbers: &[u64], pace: &Pace) -> u64 {
//!     let mut sum = 0;
//!     for number in numbers {
//!         sum += number;
//!         pace.count(1).await;
//!     }
//!     sum
//! }
//! assert_eq!(at_once(sum(&[1, 2, 3], &Pace::unbroken())), 6);
//! ```

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// How much work to do before yielding to the caller. A unit takes a few nanoseconds, about as long as parsing a byte of
/// JSON.
pub struct Pace {
    slice: usize,
    done: Cell<usize>,
}

impl Pace {
    /// Never yields.
    #[must_use]
    pub const fn unbroken() -> Self {
        Self::new(usize::MAX)
    }

    /// Yields after every `slice` units.
    #[must_use]
    pub const fn new(slice: usize) -> Self {
        Self { slice, done: Cell::new(0) }
    }

    /// How many units to do between two calls of [`Pace::count`]: `most`, or the size of a slice if that is smaller.
    #[must_use]
    pub fn piece(&self, most: usize) -> usize {
        most.min(self.slice)
    }

    /// Counts work that was done where it cannot yield. The next [`Pace::count`] yields for it.
    pub fn add(&self, units: usize) {
        self.done.set(self.done.get().saturating_add(units));
    }

    /// Counts work that was done. What it returns yields if the slice is used up.
    pub fn count(&self, units: usize) -> Yield {
        self.add(units);
        let is_due = self.done.get() >= self.slice;
        if is_due {
            self.done.set(0);
        }
        Yield { is_due }
    }
}

/// Yields once, if that is due.
#[must_use = "it yields when it is awaited"]
pub struct Yield {
    is_due: bool,
}

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::take(&mut self.is_due) { Poll::Pending } else { Poll::Ready(()) }
    }
}

/// Does the next slice of some work. Returns its result if it is done.
pub fn go_on<F: Future + ?Sized>(work: Pin<&mut F>) -> Option<F::Output> {
    match work.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Does all of some work, without a pause.
pub fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Some(output) = go_on(work.as_mut()) {
            return output;
        }
    }
}
