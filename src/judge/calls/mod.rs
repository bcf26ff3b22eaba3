//! The queue of judge calls: concurrency, retries, rate limits, budgets and deadlines, as a state machine
//! without I/O, clock or randomness of its own.
//!
//! The owner asks for samples of its questions and polls. [`Calls::poll`] says what to do next: send a call,
//! abort one, give up a sample, or wait. The owner reports replies and failures by call. The same options,
//! method calls and times give the same actions.
//!
//! - **Order.** First come, first served; follow-ups and retries go before new questions, so that chains start
//!   early and cases finish early. No slot stays idle while something may be sent, so N calls of latency L in
//!   chains of at most c take at most (⌈N/P⌉ + c − 1)·L at a parallelism of P, if no group has a limit:
//!   whenever slots are idle, every open chain advances, which happens at most c times (Graham, "Bounds for
//!   certain multiprocessing anomalies", 1966).
//! - **Retries** wait `initial · base^k`, at most `max`, times a random share (full jitter; M. Brooker,
//!   "Exponential backoff and jitter", 2015), or as long as the server says. `initial` is at most half a second
//!   if the fault looks temporary: the connection broke off, or the run got a reply since the call's previous
//!   attempt.
//! - **Rate limits** delay only the limited call. Its slot stays empty until the run gets a reply or the call
//!   may be sent again, so a single limit among replies costs next to nothing. A burst is as many limits in a
//!   row as there are slots (at least 3) without a reply in between. It slows down the whole run: the number of
//!   slots is halved, and grows by one per round of replies (additive increase, multiplicative decrease), and
//!   nothing is sent before the longest delay that the server gave in the burst. A rate-limited call uses up an
//!   attempt only if the whole run got no reply since its previous attempt.
//! - **Budgets and deadlines** are checked before each call. When the budget is spent, calls in flight may
//!   still finish; at the deadline, or on cancellation, they are aborted.
//!
//! Complexity: O(log n) per step for n waiting retries and calls in flight, besides the bytes moved when a call
//! ends or is queued for a retry. A stopped run gives up one sample per step.
//!
//! ```
//! use adk_metrics::judge::calls::{Ask, Call, CallAction, CallOptions, Calls, Usage};
//!
//! let mut calls = Calls::new(CallOptions { concurrency: 1, ..CallOptions::default() });
//! let group = calls.add_group(None, Default::default());
//! calls.ask(Ask { question: 7, samples: 2, group, ..Ask::default() });
//! let CallAction::Send(Call { id, sample: 0, .. }) = calls.poll(0.0) else { panic!("one call may be sent") };
//! assert_eq!(calls.poll(0.0), CallAction::WakeAt(120_000.0), "the time limit of the call");
//! assert!(calls.reply(800.0, id, Usage::default(), 0).is_some_and(|sample| sample.question == 7));
//! assert!(matches!(calls.poll(800.0), CallAction::Send(Call { sample: 1, .. })));
//! ```

mod budget;
mod event;
mod options;
mod progress;
mod retry;
mod task;

use std::collections::VecDeque;

pub use event::{Ask, Call, CallAction, CallFailure, LossReason, LostSample, Sample};
pub use options::{Budget, CallOptions, Millis, Prices, RetryOptions};
pub use progress::{Progress, Usage};
use retry::{FailedAttempt, Retry, Throttle};
use task::{Expected, Group, InFlightCall, SampleTask};

/// The calls of one run.
#[derive(Debug)]
pub struct Calls {
    options: CallOptions,
    now: Millis,
    /// Set by the first poll.
    deadline: Option<Millis>,
    groups: Vec<Group>,
    /// Follow-ups and retries, which go first.
    urgent: VecDeque<SampleTask>,
    fresh: VecDeque<SampleTask>,
    /// Failed samples that wait for their next attempt, sorted so that the last one is due first.
    retries: Vec<Retry>,
    /// Sorted by call id, and so by the times of sending and of timing out.
    in_flight: Vec<InFlightCall>,
    /// Of the calls in flight.
    reserved: Expected,
    throttle: Throttle,
    next_call: u32,
    stopped: Option<LossReason>,
    /// What the budget is spent of.
    spent: &'static str,
    /// What the call that it has no room for would take of it; 0 if nothing of it is left.
    no_room_for: f64,
    /// The sample lost by the last abort, which the next poll reports.
    aborted: Option<LostSample>,
    progress: Progress,
    /// How many times output was counted.
    charges: u32,
    latency_sum: Millis,
}

impl Calls {
    /// A queue without calls.
    #[must_use]
    pub fn new(options: CallOptions) -> Self {
        Self {
            throttle: Throttle::new(&options),
            options,
            now: 0.0,
            deadline: None,
            groups: Vec::new(),
            urgent: VecDeque::new(),
            fresh: VecDeque::new(),
            retries: Vec::new(),
            in_flight: Vec::new(),
            reserved: Expected::default(),
            next_call: 0,
            stopped: None,
            spent: "",
            no_room_for: 0.0,
            aborted: None,
            progress: Progress::default(),
            charges: 0,
            latency_sum: 0.0,
        }
    }

    /// Adds a group of calls, such as those of one metric. At most `parallelism_limit` of them (at least 1;
    /// unlimited if absent) are in flight at a time.
    pub fn add_group(&mut self, parallelism_limit: Option<u32>, prices: Prices) -> u32 {
        let limit = parallelism_limit.map_or(u32::MAX, |limit| limit.max(1));
        self.groups.push(Group { limit, in_flight: 0, prices: vec![prices], waiting: VecDeque::new() });
        self.groups.len() as u32 - 1
    }

    /// Sets what the calls of a group cost: the prices of the judges that are asked for samples 0, 1, … in turn.
    pub fn set_prices(&mut self, group: u32, prices: Vec<Prices>) {
        if let Some(group) = self.groups.get_mut(group as usize) {
            group.prices = prices;
        }
    }

    /// Queues samples. If the run has stopped, the next polls give them up.
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

    /// Starts the time limit of the run, which the first poll does otherwise.
    pub fn start(&mut self, now: Millis) {
        self.deadline.get_or_insert(now + self.options.run_timeout_ms);
    }

    /// Returns what to do at the time `now`, which is at least 0; times that go backwards count as the latest
    /// time seen. Poll repeatedly until the result is to wait.
    pub fn poll(&mut self, now: Millis) -> CallAction {
        self.poll_with(now, &mut |_, tokens| Some(tokens))
    }

    /// Like [`Calls::poll`], for callers that know how many tokens a call uses only when it is sent. `size`
    /// gets the question and the tokens passed to [`Calls::ask`], and returns the expected tokens, or `None` to
    /// hold the call back until another call has ended. At least one call must be in flight then.
    pub fn poll_with(&mut self, now: Millis, size: &mut dyn FnMut(u32, u32) -> Option<u32>) -> CallAction {
        self.advance(now);
        let deadline = *self.deadline.get_or_insert(self.now + self.options.run_timeout_ms);
        if let Some(loss) = self.aborted.take() {
            return CallAction::Lost(loss);
        }
        if self.now >= deadline && self.open() > 0 {
            self.stop(LossReason::Deadline);
        }
        if self.in_flight.is_empty()
            && self.progress.queued > 0
            && let Some(spent) = self.spent_by(Expected::default())
        {
            self.stop_for_budget(spent, Expected::default());
        }
        if let Some(flight) = self.in_flight.first() {
            let stopped = self.stopped.filter(|&reason| reason != LossReason::BudgetExceeded);
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
            return CallAction::Send(call);
        }
        if let Some(reason) = self.stopped
            && let Some(task) = self.take_any()
        {
            return CallAction::Lost(self.lose(task, reason));
        }
        self.wait(deadline)
    }

    /// The next call to send, if the limits allow one.
    fn send(&mut self, size: &mut dyn FnMut(u32, u32) -> Option<u32>) -> Option<Call> {
        if self.now < self.throttle.resume_at {
            return None;
        }
        while self.in_flight.len() < self.throttle.room(self.now) {
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
            let expected = self.expected(&task);
            if let Some(spent) = self.spent_by(expected) {
                self.urgent.push_front(task);
                // Calls in flight may use less than they reserved, which may be enough.
                if self.in_flight.is_empty() {
                    self.stop_for_budget(spent, expected);
                }
                return None;
            }
            return Some(self.launch(task, expected));
        }
        None
    }

    fn launch(&mut self, mut task: SampleTask, expected: Expected) -> Call {
        if let Some(group) = self.groups.get_mut(task.group as usize) {
            group.in_flight += 1;
        }
        if task.sent > 0 || task.again {
            self.progress.retried += 1;
        }
        task.sent += 1;
        self.progress.calls += 1;
        self.progress.queued -= 1;
        self.reserved.tokens += expected.tokens;
        self.reserved.cost += expected.cost;
        let call = self.next_call;
        self.next_call += 1;
        let timeout_at = self.now + self.options.timeout_ms;
        self.in_flight.push(InFlightCall { call, sent_at: self.now, timeout_at, task, expected });
        Call { id: call, question: task.question, sample: task.sample, attempt: task.sent, timeout_at }
    }

    /// Aborts the oldest call, because the run stopped or because the call took too long.
    fn abort_first(&mut self, stopped: Option<LossReason>) -> CallAction {
        let Some(flight) = self.land(0) else { return CallAction::Idle };
        self.progress.failed += 1;
        self.aborted = match stopped {
            Some(reason) => Some(self.lose(flight.task, reason)),
            None => {
                let failure = CallFailure { retryable: true, ..CallFailure::default() };
                self.try_again(flight, &failure, LossReason::TimedOut)
            }
        };
        CallAction::Abort(flight.call)
    }

    /// Reports that a call was answered. Returns its sample, or `None` if the reply is no longer needed.
    /// An input of 0 counts as expected; `unreported_output` estimates the output that `usage` lacks.
    pub fn reply(&mut self, now: Millis, call: u32, usage: Usage, unreported_output: u64) -> Option<Sample> {
        self.advance(now);
        let InFlightCall { task, sent_at, .. } = self.find(call)?;
        let mut used = usage;
        if usage.input_tokens == 0 {
            used.input_tokens = u64::from(task.tokens);
        }
        used.output_tokens += unreported_output;
        self.charge(&task, used);
        self.progress.answered += 1;
        self.progress.unreported += u32::from(usage.total() == 0 || used != usage);
        self.latency_sum += self.now - sent_at;
        self.throttle.replied();
        Some(task.sample())
    }

    /// Reports that a call failed. It is retried later unless its lost sample is returned.
    pub fn failure(&mut self, now: Millis, call: u32, failure: CallFailure) -> Option<LostSample> {
        self.advance(now);
        let flight = self.find(call)?;
        self.progress.failed += 1;
        self.charge(&flight.task, failure.usage);
        let reason = if failure.retryable { LossReason::Exhausted } else { LossReason::Refused };
        self.try_again(flight, &failure, reason)
    }

    /// Queues another attempt, if there is to be one.
    fn try_again(
        &mut self,
        flight: InFlightCall,
        failure: &CallFailure,
        reason: LossReason,
    ) -> Option<LostSample> {
        let mut task = flight.task;
        let looks_temporary = self.progress.answered > task.replies_before;
        if !failure.rate_limited || !looks_temporary {
            task.attempts += 1;
        }
        task.replies_before = self.progress.answered;
        let failed =
            FailedAttempt { sent: task.sent, sent_at: flight.sent_at, now: self.now, looks_temporary };
        let delay = self.throttle.delay(failed, failure);
        let attempts = self.options.retry.attempts;
        if !failure.retryable || attempts <= 1 || task.attempts >= attempts {
            return Some(self.lose(task, reason));
        }
        if let Some(stopped) = self.stopped {
            return Some(self.lose(task, stopped));
        }
        self.progress.queued += 1;
        let retry = Retry { at: self.now + delay, order: flight.call, task };
        let index = self.retries.partition_point(|known| known.is_after(&retry));
        self.retries.insert(index, retry);
        None
    }

    /// Ends the delays of the retries of a group.
    pub fn hurry(&mut self, group: u32) {
        let due = self.retries.extract_if(.., |retry| retry.task.group == group);
        self.urgent.extend(due.map(|retry| retry.task));
    }

    /// Reports that the reply to a call was found in a cache, so that the call was not sent.
    pub fn resolve_from_cache(&mut self, call: u32) -> Option<Sample> {
        let task = self.recall(call)?;
        self.progress.cached += 1;
        Some(task.sample())
    }

    /// Reports that a call was not sent because its sample is no longer needed.
    pub fn withdraw(&mut self, call: u32) -> Option<Sample> {
        let task = self.recall(call)?;
        self.progress.asked -= 1;
        Some(task.sample())
    }

    /// Reports that a call was not sent because it would be refused. Its sample will have no reply.
    pub fn reject(&mut self, call: u32) -> Option<Sample> {
        let task = self.recall(call)?;
        self.progress.lost += 1;
        if task.sent <= 1 && !task.again {
            self.progress.unsent += 1;
        }
        Some(task.sample())
    }

    /// Undoes the sending of a call.
    fn recall(&mut self, call: u32) -> Option<SampleTask> {
        let task = self.find(call)?.task;
        self.progress.calls -= 1;
        if task.sent > 1 || task.again {
            self.progress.retried -= 1;
        }
        Some(task)
    }

    /// Stops the run; the first reason stays. The next polls abort the calls in flight (not for
    /// [`LossReason::BudgetExceeded`]: these may finish) and give up every open sample.
    pub fn stop(&mut self, reason: LossReason) {
        if self.stopped.is_none_or(|stopped| stopped == LossReason::BudgetExceeded) {
            self.stopped = Some(reason);
        }
    }

    /// Why the run was stopped, if it was.
    #[must_use]
    pub fn stopped(&self) -> Option<LossReason> {
        self.stopped
    }

    /// Whether the time for the run is over.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| self.now >= deadline)
    }

    /// The progress of the run.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let mut progress = self.progress;
        progress.in_flight = self.in_flight.len() as u32;
        let all = f64::from(self.open()) / self.throttle.concurrency() as f64;
        let rounds = self.groups.iter().map(Group::rounds).fold(all, f64::max);
        let pause = (self.throttle.resume_at - self.now).max(0.0);
        progress.left_ms = (self.progress.answered > 0)
            .then(|| pause + rounds * self.latency_sum / f64::from(self.progress.answered));
        progress
    }

    /// Whether another call could be sent now. Also true once the run has stopped, because samples are then
    /// given up at once.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let may_send =
            self.now >= self.throttle.resume_at && self.in_flight.len() < self.throttle.room(self.now);
        may_send || self.stopped.is_some()
    }

    /// How many samples are neither answered nor lost.
    #[must_use]
    pub fn open(&self) -> u32 {
        self.progress.queued + self.in_flight.len() as u32
    }

    fn advance(&mut self, now: Millis) {
        self.now = self.now.max(now);
    }

    /// Takes a sample that is not in flight.
    fn take_any(&mut self) -> Option<SampleTask> {
        let queued = self.urgent.pop_front().or_else(|| self.fresh.pop_front());
        queued
            .or_else(|| self.groups.iter_mut().find_map(|group| group.waiting.pop_front()))
            .or_else(|| self.retries.pop().map(|retry| retry.task))
            .inspect(|_| self.progress.queued -= 1)
    }

    fn lose(&mut self, task: SampleTask, reason: LossReason) -> LostSample {
        self.progress.lost += 1;
        if task.is_unsent() {
            self.progress.unsent += 1;
        }
        task.lost(reason)
    }

    fn find(&mut self, call: u32) -> Option<InFlightCall> {
        let index = self.in_flight.binary_search_by_key(&call, |flight| flight.call).ok()?;
        self.land(index)
    }

    /// Removes a call from those in flight and frees its slot.
    fn land(&mut self, index: usize) -> Option<InFlightCall> {
        let flight = (index < self.in_flight.len()).then(|| self.in_flight.remove(index))?;
        self.reserved.tokens -= flight.expected.tokens;
        self.reserved.cost -= flight.expected.cost;
        if let Some(group) = self.groups.get_mut(flight.task.group as usize) {
            group.in_flight -= 1;
            if let Some(task) = group.waiting.pop_front() {
                self.urgent.push_back(task);
            }
        }
        Some(flight)
    }

    /// Counts tokens of a call in flight that its outcome does not report.
    pub fn charge_call(&mut self, call: u32, usage: Usage) {
        if let Some(flight) = self.in_flight.iter().find(|flight| flight.call == call) {
            let task = flight.task;
            self.charge(&task, usage);
        }
    }

    fn charge(&mut self, task: &SampleTask, usage: Usage) {
        self.charges += u32::from(usage.output_tokens > 0);
        self.progress.usage.add(usage);
        if let Some(group) = self.groups.get(task.group as usize) {
            self.progress.cost += group.cost(task.sample, usage);
        }
    }

    fn wait(&self, deadline: Millis) -> CallAction {
        let mut at = f64::INFINITY;
        if let Some(flight) = self.in_flight.first() {
            at = at.min(flight.timeout_at);
        }
        if let Some(retry) = self.retries.last() {
            at = at.min(retry.at);
        }
        for change in self.throttle.next_changes(self.now) {
            if self.progress.queued > 0 {
                at = at.min(change);
            }
        }
        if self.open() > 0 {
            at = at.min(deadline);
        }
        if at < f64::INFINITY { CallAction::WakeAt(at) } else { CallAction::Idle }
    }
}
