//! The calls of judges: everything that all questions share, as a state machine without I/O, clock
//! or randomness of its own.
//!
//! The owner asks samples of its questions and polls; [`Calls::poll`] says what to do next: send a
//! call, abort one, give up a sample, or wait. Replies and failures are handed back by call. The
//! same options, calls of these methods and times give the same actions.
//!
//! - **Order.** First come, first served; follow-ups and retries go before questions not begun, so
//!   that chains start early and cases finish early. No slot is left idle while something may be
//!   sent, so N calls of latency L in chains of at most c take at most (⌈N/P⌉ + c − 1)·L at a
//!   parallelism of P, if no group has a limit: whenever slots are idle every open chain advances, which happens at most c
//!   times (Graham, "Bounds for certain multiprocessing anomalies", 1966).
//! - **Retries** wait `initial · base^k`, at most `max`, times a random share (full jitter; M. Brooker,
//!   "Exponential backoff and jitter", 2015), or as long as the server says. `initial` is half a second at
//!   most where the fault looks like a passing one: the connection broke off, or the run got a reply since
//!   the call's attempt before.
//! - **Rate limits** hold their own call. Its slot stays empty until the run gets a reply or the call may be
//!   sent again, so that one limit among replies costs next to nothing. A burst, which is as many limits in
//!   a row as there are slots (at least 3) with no reply between them, concerns the run: the number of slots
//!   is halved, and grows by one per round of replies (additive increase, multiplicative decrease), and
//!   nothing is sent before the longest time that the server gave in the burst. A call that was rate limited uses up an
//!   attempt only if the whole run got no reply since its attempt before.
//! - **Budgets and deadlines** are checked before each send. At the end of a budget calls in flight
//!   may still finish; at the deadline, or when cancelled, they are aborted.
//!
//! Complexity: O(log n) a step for n retries waiting and calls in flight, besides the bytes moved when a call
//! lands or is to be tried again. A stopped run gives up one sample per step.
//!
//! ```
//! use adk_metrics::judge::calls::{Action, Ask, Call, Calls, Options, Usage};
//!
//! let mut calls = Calls::new(Options { concurrency: 1, ..Options::default() });
//! let group = calls.add_group(None, Default::default());
//! calls.ask(Ask { question: 7, samples: 2, group, ..Ask::default() });
//! let Action::Send(Call { id, sample: 0, .. }) = calls.poll(0.0) else { panic!("one call may be sent") };
//! assert_eq!(calls.poll(0.0), Action::WakeAt(120_000.0), "the time limit of the call");
//! assert!(calls.reply(800.0, id, Usage::default()).is_some_and(|sample| sample.question == 7));
//! assert!(matches!(calls.poll(800.0), Action::Send(Call { sample: 1, .. })));
//! ```

mod event;
mod options;
mod progress;
mod retry;
mod task;

use std::collections::VecDeque;

pub use event::{Action, Ask, Call, CallFailure, LostSample, Reason, Sample};
pub use options::{Budget, Millis, Options, Prices, RetryOptions};
pub use progress::{Progress, Usage};
use retry::{FailedAttempt, Pace, Retry};
use task::{Group, InFlightCall, SampleTask};

/// The calls of one run.
#[derive(Debug)]
pub struct Calls {
    options: Options,
    now: Millis,
    /// Set by the first poll.
    deadline: Option<Millis>,
    groups: Vec<Group>,
    /// Follow-ups and retries.
    urgent: VecDeque<SampleTask>,
    fresh: VecDeque<SampleTask>,
    /// Tasks that wait for their next attempt, the one due first last.
    retries: Vec<Retry>,
    /// By call id, hence by the time they were sent and by the time they time out.
    in_flight: Vec<InFlightCall>,
    /// How many tokens the calls in flight are expected to use.
    reserved_tokens: u64,
    /// The expected tokens at the price of input.
    reserved_cost: f64,
    pace: Pace,
    next_call: u32,
    stopped: Option<Reason>,
    /// The loss that goes with the last abort.
    aborted: Option<LostSample>,
    progress: Progress,
    latency_sum: Millis,
}

impl Calls {
    /// A run without calls.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            pace: Pace::new(&options),
            options,
            now: 0.0,
            deadline: None,
            groups: Vec::new(),
            urgent: VecDeque::new(),
            fresh: VecDeque::new(),
            retries: Vec::new(),
            in_flight: Vec::new(),
            reserved_tokens: 0,
            reserved_cost: 0.0,
            next_call: 0,
            stopped: None,
            aborted: None,
            progress: Progress::default(),
            latency_sum: 0.0,
        }
    }

    /// Adds a group of calls, such as those of one metric: at most `parallelism_limit` of them (at
    /// least 1; no limit of their own if absent) are in flight at a time, and these are their prices.
    pub fn add_group(&mut self, parallelism_limit: Option<u32>, prices: Prices) -> u32 {
        let limit = parallelism_limit.map_or(u32::MAX, |limit| limit.max(1));
        self.groups.push(Group { limit, in_flight: 0, prices, waiting: VecDeque::new() });
        self.groups.len() as u32 - 1
    }

    /// Asks samples. Once the run has stopped they are given up by the next polls.
    pub fn ask(&mut self, ask: Ask) {
        let queue = if ask.follow_up { &mut self.urgent } else { &mut self.fresh };
        for index in 0..ask.samples {
            queue.push_back(SampleTask {
                question: ask.question,
                sample: ask.first_sample + index,
                group: ask.group,
                tokens: ask.tokens,
                again: ask.again,
                sent: 0,
                attempts: 0,
                replies_before: 0,
            });
        }
        self.progress.queued += ask.samples;
        self.progress.asked += ask.samples;
    }

    /// What to do at the time `now`, which must be at least 0; a time before the last one counts as
    /// the last one. To be repeated until it says to wait.
    pub fn poll(&mut self, now: Millis) -> Action {
        self.poll_with(now, &mut |_, tokens| Some(tokens))
    }

    /// As [`Calls::poll`], where only `size` knows how many tokens a call about a question is expected to use, which it is
    /// asked when the call's turn comes; it is given what [`Calls::ask`] was told. Nothing holds the call back until
    /// another has landed, so there has to be one.
    pub fn poll_with(&mut self, now: Millis, size: &mut dyn FnMut(u32, u32) -> Option<u32>) -> Action {
        self.advance(now);
        let deadline = *self.deadline.get_or_insert(self.now + self.options.run_timeout_ms);
        if let Some(loss) = self.aborted.take() {
            return Action::Lost(loss);
        }
        if self.now >= deadline && self.open() > 0 {
            self.stop(Reason::Deadline);
        }
        if self.in_flight.is_empty() && self.progress.queued > 0 && !self.affordable(0, 0.0) {
            self.stop(Reason::BudgetExceeded);
        }
        if let Some(flight) = self.in_flight.first() {
            let stopped = self.stopped.filter(|&reason| reason != Reason::BudgetExceeded);
            if stopped.is_some() || self.now >= flight.timeout_at {
                return self.abort_first(stopped);
            }
        }
        while let Some(due) = self.retries.pop_if(|retry| retry.at <= self.now) {
            self.urgent.push_back(due.task);
        }
        if self.stopped.is_none()
            && let Some(call) = self.send(size)
        {
            return Action::Send(call);
        }
        if let Some(reason) = self.stopped
            && let Some(task) = self.take_any()
        {
            return Action::Lost(self.lose(task, reason));
        }
        self.wait(deadline)
    }

    /// The next call to send now, if the limits allow one.
    fn send(&mut self, size: &mut dyn FnMut(u32, u32) -> Option<u32>) -> Option<Call> {
        if self.now < self.pace.resume_at {
            return None;
        }
        while self.in_flight.len() < self.pace.room(self.now) {
            let mut task = self.urgent.pop_front().or_else(|| self.fresh.pop_front())?;
            if let Some(group) = self.groups.get_mut(task.group as usize)
                && group.in_flight >= group.limit
            {
                group.waiting.push_back(task);
                continue;
            }
            let Some(tokens) = size(task.question, task.tokens) else {
                self.urgent.push_front(task);
                return None;
            };
            task.tokens = tokens;
            if !self.affordable(task.tokens, self.expected_cost(&task)) {
                self.urgent.push_front(task);
                // What calls in flight leave of their reservations may suffice.
                if self.in_flight.is_empty() {
                    self.stop(Reason::BudgetExceeded);
                }
                return None;
            }
            return Some(self.launch(task));
        }
        None
    }

    /// Whether the budget allows a call of so many tokens at this cost beside those in flight.
    fn affordable(&self, tokens: u32, cost: f64) -> bool {
        let Budget { calls, tokens: most_tokens, cost: most_cost } = self.options.budget;
        let used = self.progress.usage.total() + self.reserved_tokens;
        let spent = self.progress.cost + self.reserved_cost;
        calls.is_none_or(|most| self.progress.calls < most)
            && most_tokens.is_none_or(|most| used < most && used + u64::from(tokens) <= most)
            && most_cost.is_none_or(|most| spent < most && spent + cost <= most)
    }

    fn expected_cost(&self, task: &SampleTask) -> f64 {
        self.groups.get(task.group as usize).map_or(0.0, |group| group.prices.cost(task.expected()))
    }

    fn launch(&mut self, mut task: SampleTask) -> Call {
        if let Some(group) = self.groups.get_mut(task.group as usize) {
            group.in_flight += 1;
        }
        if task.sent > 0 || task.again {
            self.progress.retried += 1;
        }
        task.sent += 1;
        self.progress.calls += 1;
        self.progress.queued -= 1;
        self.reserved_tokens += u64::from(task.tokens);
        self.reserved_cost += self.expected_cost(&task);
        let call = self.next_call;
        self.next_call += 1;
        let timeout_at = self.now + self.options.timeout_ms;
        self.in_flight.push(InFlightCall { call, sent_at: self.now, timeout_at, task });
        Call { id: call, question: task.question, sample: task.sample, attempt: task.sent, timeout_at }
    }

    /// Aborts the call sent first: because the run stopped, or because the call took too long.
    fn abort_first(&mut self, stopped: Option<Reason>) -> Action {
        let Some(flight) = self.land(0) else { return Action::Idle };
        self.progress.failed += 1;
        self.aborted = match stopped {
            Some(reason) => Some(self.lose(flight.task, reason)),
            None => {
                let failure = CallFailure { retryable: true, ..CallFailure::default() };
                self.try_again(flight, &failure, Reason::TimedOut)
            }
        };
        Action::Abort(flight.call)
    }

    /// A call was answered. Returns whose reply it is, or nothing if nobody waits for it any more.
    /// Tokens that are not reported are counted as expected.
    pub fn reply(&mut self, now: Millis, call: u32, usage: Usage) -> Option<Sample> {
        self.advance(now);
        let flight = self.find(call)?;
        let task = flight.task;
        let is_reported = usage.total() > 0;
        self.charge(task.group, if is_reported { usage } else { task.expected() });
        self.progress.answered += 1;
        self.progress.unreported += u32::from(!is_reported);
        self.latency_sum += self.now - flight.sent_at;
        self.pace.replied();
        Some(task.sample())
    }

    /// A call failed. It is tried again later, unless the loss of its sample is returned.
    pub fn failure(&mut self, now: Millis, call: u32, failure: CallFailure) -> Option<LostSample> {
        self.advance(now);
        let flight = self.find(call)?;
        self.progress.failed += 1;
        self.charge(flight.task.group, failure.usage);
        let reason = if failure.retryable { Reason::Exhausted } else { Reason::Refused };
        self.try_again(flight, &failure, reason)
    }

    /// Queues another attempt, if there is to be one.
    fn try_again(
        &mut self,
        flight: InFlightCall,
        failure: &CallFailure,
        reason: Reason,
    ) -> Option<LostSample> {
        let mut task = flight.task;
        let is_passing = self.progress.answered > task.replies_before;
        if !failure.rate_limited || !is_passing {
            task.attempts += 1;
        }
        task.replies_before = self.progress.answered;
        let failed = FailedAttempt { sent: task.sent, sent_at: flight.sent_at, now: self.now, is_passing };
        let delay = self.pace.delay(failed, failure);
        let attempts = self.options.retry.attempts;
        if !failure.retryable || attempts <= 1 || task.attempts >= attempts {
            return Some(self.lose(task, reason));
        }
        if let Some(stopped) = self.stopped {
            return Some(self.lose(task, stopped));
        }
        self.progress.queued += 1;
        let retry = Retry { at: self.now + delay, order: flight.call, task };
        let place = self.retries.partition_point(|known| known.is_after(&retry));
        self.retries.insert(place, retry);
        None
    }

    /// The owner found the reply to a call that it was to send in a cache, and did not send it.
    pub fn resolve_from_cache(&mut self, call: u32) -> Option<Sample> {
        let task = self.recall(call)?;
        self.progress.cached += 1;
        Some(task.sample())
    }

    /// The owner did not send a call, because its sample is no longer needed.
    pub fn withdraw(&mut self, call: u32) -> Option<Sample> {
        let task = self.recall(call)?;
        self.progress.asked -= 1;
        Some(task.sample())
    }

    /// The owner did not send a call, because it would be refused: its sample will have no reply.
    pub fn reject(&mut self, call: u32) -> Option<Sample> {
        let task = self.recall(call)?;
        self.progress.lost += 1;
        Some(task.sample())
    }

    /// Takes back that a call was sent.
    fn recall(&mut self, call: u32) -> Option<SampleTask> {
        let task = self.find(call)?.task;
        self.progress.calls -= 1;
        if task.sent > 1 || task.again {
            self.progress.retried -= 1;
        }
        Some(task)
    }

    /// Counts samples whose replies were at hand before they were asked.
    pub fn count_cached(&mut self, samples: u32) {
        self.progress.asked += samples;
        self.progress.cached += samples;
    }

    /// Counts samples that need not be asked because the verdict is settled.
    pub fn count_saved(&mut self, samples: u32) {
        self.progress.saved += samples;
    }

    /// Takes back the loss of samples, which are asked again.
    pub fn revert_losses(&mut self, samples: u32) {
        self.progress.lost = self.progress.lost.saturating_sub(samples);
        self.progress.asked = self.progress.asked.saturating_sub(samples);
    }

    /// Stops the run; the first reason stays. The next polls abort the calls in flight (not for
    /// [`Reason::BudgetExceeded`]: these may finish) and give up every open sample.
    pub fn stop(&mut self, reason: Reason) {
        if self.stopped.is_none_or(|stopped| stopped == Reason::BudgetExceeded) {
            self.stopped = Some(reason);
        }
    }

    /// Why the run has stopped, if it has.
    #[must_use]
    pub fn stopped(&self) -> Option<Reason> {
        self.stopped
    }

    /// Whether the time for the run is over.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| self.now >= deadline)
    }

    /// How far the run has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let mut progress = self.progress;
        progress.in_flight = self.in_flight.len() as u32;
        let rounds = f64::from(self.open()) / self.pace.concurrency() as f64;
        let pause = (self.pace.resume_at - self.now).max(0.0);
        progress.left_ms = (self.progress.answered > 0)
            .then(|| pause + rounds * self.latency_sum / f64::from(self.progress.answered));
        progress
    }

    /// Whether another call could be sent now, if there were one; also once the run has stopped, when
    /// what is asked is given up at once.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let may_send = self.now >= self.pace.resume_at && self.in_flight.len() < self.pace.room(self.now);
        may_send || self.stopped.is_some()
    }

    /// How many samples have neither a reply nor a loss yet.
    #[must_use]
    pub fn open(&self) -> u32 {
        self.progress.queued + self.in_flight.len() as u32
    }

    fn advance(&mut self, now: Millis) {
        self.now = self.now.max(now);
    }

    /// A task that is not in flight.
    fn take_any(&mut self) -> Option<SampleTask> {
        let queued = self.urgent.pop_front().or_else(|| self.fresh.pop_front());
        queued
            .or_else(|| self.groups.iter_mut().find_map(|group| group.waiting.pop_front()))
            .or_else(|| self.retries.pop().map(|retry| retry.task))
            .inspect(|_| self.progress.queued -= 1)
    }

    fn lose(&mut self, task: SampleTask, reason: Reason) -> LostSample {
        self.progress.lost += 1;
        task.lost(reason)
    }

    fn find(&mut self, call: u32) -> Option<InFlightCall> {
        let index = self.in_flight.binary_search_by_key(&call, |flight| flight.call).ok()?;
        self.land(index)
    }

    /// Takes a call out of flight and frees its place.
    fn land(&mut self, index: usize) -> Option<InFlightCall> {
        let flight = (index < self.in_flight.len()).then(|| self.in_flight.remove(index))?;
        self.reserved_tokens -= u64::from(flight.task.tokens);
        self.reserved_cost -= self.expected_cost(&flight.task);
        if let Some(group) = self.groups.get_mut(flight.task.group as usize) {
            group.in_flight -= 1;
            if let Some(task) = group.waiting.pop_front() {
                self.urgent.push_back(task);
            }
        }
        Some(flight)
    }

    fn charge(&mut self, group: u32, usage: Usage) {
        self.progress.usage.add(usage);
        if let Some(group) = self.groups.get(group as usize) {
            self.progress.cost += group.prices.cost(usage);
        }
    }

    fn wait(&self, deadline: Millis) -> Action {
        let mut at = f64::INFINITY;
        if let Some(flight) = self.in_flight.first() {
            at = at.min(flight.timeout_at);
        }
        if let Some(retry) = self.retries.last() {
            at = at.min(retry.at);
        }
        for change in self.pace.next_changes(self.now) {
            if self.progress.queued > 0 {
                at = at.min(change);
            }
        }
        if self.open() > 0 {
            at = at.min(deadline);
        }
        if at < f64::INFINITY { Action::WakeAt(at) } else { Action::Idle }
    }
}
