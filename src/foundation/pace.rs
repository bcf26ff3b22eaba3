//! Long work in slices, so that a thread which has more to do gets its turn in between.
//!
//! What takes long on a large input is an `async fn` that counts its work with a [`Pace`] and waits there when a slice is
//! done. There is no executor and no waker: whoever polls the future decides when it goes on, and [`at_once`] runs it to
//! its end. The compiler writes the state machine that would otherwise be written by hand, and the way in slices and the
//! way in one piece are the same code.
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
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// How much is done before whoever polls has their turn. A unit takes some nanoseconds: about as long as a byte of JSON
/// takes to be read.
pub struct Pace {
    slice: usize,
    done: Cell<usize>,
}

impl Pace {
    /// All in one slice.
    #[must_use]
    pub const fn unbroken() -> Self {
        Self::of(usize::MAX)
    }

    /// In slices of so many units.
    #[must_use]
    pub const fn of(slice: usize) -> Self {
        Self { slice, done: Cell::new(0) }
    }

    /// How much to do between two calls of [`Pace::count`]: so much, or less where a slice is smaller.
    #[must_use]
    pub fn piece(&self, most: usize) -> usize {
        most.min(self.slice)
    }

    /// Counts what was done. Waits for the next slice if this one is over.
    pub async fn count(&self, units: usize) {
        let done = self.done.get().saturating_add(units);
        if done < self.slice {
            self.done.set(done);
            return;
        }
        self.done.set(0);
        let mut has_waited = false;
        poll_fn(|_| if std::mem::replace(&mut has_waited, true) { Poll::Ready(()) } else { Poll::Pending })
            .await;
    }
}

/// Goes on with work until its next slice is over; what came of it, if that was the last.
pub fn go_on<F: Future + ?Sized>(work: Pin<&mut F>) -> Option<F::Output> {
    match work.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Does work to its end.
pub fn at_once<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Some(output) = go_on(work.as_mut()) {
            return output;
        }
    }
}
