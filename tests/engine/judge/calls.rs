//! The calls of judges under a simulated clock: order, limits, retries, budgets, stops.
//!
//! [`World`] plays host and server: an event queue over simulated milliseconds. What the server does
//! with a call is a function of the test; what is asked next is another.

mod budgets;
mod counting;
mod order;
mod rate_limits;
mod retries;
mod stopping;
mod storms;

use adk_metrics::judge::calls::{
    Ask, Budget, Call, CallAction, CallFailure, CallOptions, Calls, LossReason, LostSample, Millis, Prices,
    Progress, RetryOptions, Sample, Usage,
};
use adk_metrics::judge::votes::{Outcome, Vote, Votes, VotingRule};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// SplitMix64, for what tests leave to chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (bits ^ (bits >> 31)) % n
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What becomes of a call, and after how many milliseconds.
#[derive(Clone, Copy)]
enum Fate {
    Reply(u64, Usage),
    Fail(u64, CallFailure),
    Hang,
}

const NO_USAGE: Usage = Usage { input_tokens: 0, output_tokens: 0 };

fn reply(after: u64) -> Fate {
    Fate::Reply(after, NO_USAGE)
}

fn retryable() -> CallFailure {
    CallFailure { retryable: true, ..CallFailure::default() }
}

fn rate_limited(retry_after_ms: Option<Millis>) -> CallFailure {
    CallFailure { retryable: true, rate_limited: true, retry_after_ms, ..CallFailure::default() }
}

/// What the owner of the questions hears.
enum News {
    Reply(Sample),
    Lost(LostSample),
}

struct World {
    calls: Calls,
    now: u64,
    events: BinaryHeap<Reverse<(u64, u32)>>,
    fates: BTreeMap<u32, Fate>,
    trace: Vec<(Millis, CallAction)>,
    in_flight: usize,
    most_in_flight: usize,
}

impl World {
    fn new(options: CallOptions) -> Self {
        Self {
            calls: Calls::new(options),
            now: 0,
            events: BinaryHeap::new(),
            fates: BTreeMap::new(),
            trace: Vec::new(),
            in_flight: 0,
            most_in_flight: 0,
        }
    }

    /// Goes on until nothing is left to do, or to the time `until`.
    fn run(
        &mut self,
        until: u64,
        mut server: impl FnMut(u64, &Call) -> Fate,
        mut owner: impl FnMut(&mut Calls, News),
    ) {
        loop {
            let action = self.calls.poll(self.now as f64);
            self.trace.push((self.now as f64, action));
            let wake = match action {
                CallAction::Send(call) => {
                    let fate = server(self.now, &call);
                    if let Fate::Reply(after, _) | Fate::Fail(after, _) = fate {
                        self.events.push(Reverse((self.now + after, call.id)));
                    }
                    self.fates.insert(call.id, fate);
                    self.in_flight += 1;
                    self.most_in_flight = self.most_in_flight.max(self.in_flight);
                    continue;
                }
                CallAction::Abort(call) => {
                    assert!(self.fates.contains_key(&call), "call {call} is aborted and was not sent");
                    self.in_flight -= 1;
                    continue;
                }
                CallAction::Lost(loss) => {
                    owner(&mut self.calls, News::Lost(loss));
                    continue;
                }
                CallAction::WakeAt(at) => {
                    assert!(at > self.now as f64, "waiting for the past never ends");
                    at.ceil() as u64
                }
                CallAction::Idle => u64::MAX,
            };
            let next = self.events.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
            if next.min(wake) > until || next.min(wake) == u64::MAX {
                break;
            }
            self.now = next.min(wake);
            if next <= wake
                && let Some(Reverse((_, id))) = self.events.pop()
            {
                self.deliver(id, &mut owner);
            }
        }
    }

    /// Hands over what came of a call; late news of an aborted call too.
    fn deliver(&mut self, id: u32, owner: &mut impl FnMut(&mut Calls, News)) {
        let (now, open) = (self.now as f64, self.calls.progress().in_flight);
        match self.fates[&id] {
            Fate::Reply(_, usage) => {
                if let Some(sample) = self.calls.reply(now, id, usage, 0) {
                    owner(&mut self.calls, News::Reply(sample));
                }
            }
            Fate::Fail(_, failure) => {
                if let Some(loss) = self.calls.failure(now, id, failure) {
                    owner(&mut self.calls, News::Lost(loss));
                }
            }
            Fate::Hang => {}
        }
        self.in_flight -= (open - self.calls.progress().in_flight) as usize;
    }

    fn sent(&self) -> Vec<(Millis, Call)> {
        let call = |&(at, action): &(Millis, CallAction)| match action {
            CallAction::Send(call) => Some((at, call)),
            _ => None,
        };
        self.trace.iter().filter_map(call).collect()
    }

    fn aborted(&self) -> usize {
        self.trace.iter().filter(|(_, action)| matches!(action, CallAction::Abort(_))).count()
    }

    fn losses(&self) -> Vec<LostSample> {
        let loss = |&(_, action): &(Millis, CallAction)| match action {
            CallAction::Lost(loss) => Some(loss),
            _ => None,
        };
        self.trace.iter().filter_map(loss).collect()
    }
}

const FOREVER: u64 = u64::MAX;

fn ask(question: u32, samples: u32) -> Ask {
    Ask { question, samples, ..Ask::default() }
}

fn ignore(_: &mut Calls, _: News) {}

/// Runs chains of calls, each link asked when the one before is answered; gives the time it took.
fn run_chains(chains: &[u32], concurrency: u32, latency: u64) -> u64 {
    let mut world = World::new(CallOptions { concurrency, ..CallOptions::default() });
    let mut left = chains.to_vec();
    for (question, _) in chains.iter().enumerate() {
        world.calls.ask(ask(question as u32, 1));
    }
    world.run(
        FOREVER,
        |_, _| reply(latency),
        |calls, news| {
            let News::Reply(sample) = news else { panic!("nothing fails here") };
            let left = &mut left[sample.question as usize];
            *left -= 1;
            if *left > 0 {
                let first_sample = sample.sample + 1;
                calls.ask(Ask { first_sample, follow_up: true, ..ask(sample.question, 1) });
            }
        },
    );
    assert_eq!(world.calls.open(), 0);
    assert!(left.iter().all(|&left| left == 0));
    assert!(world.most_in_flight <= concurrency as usize);
    world.now
}

/// What 30 of 100 calls suffer in a storm.
fn fault(chance: &mut Chance) -> Fate {
    let after = 20 + chance.below(1_500);
    match chance.below(6) {
        0 => Fate::Fail(after, rate_limited(None)),
        1 => Fate::Fail(after, rate_limited(Some(chance.below(5_000) as f64))),
        // 5xx and resets are told apart only in their words.
        2 | 3 => Fate::Fail(after, retryable()),
        // Half replies and malformed bodies were paid for.
        4 => Fate::Fail(
            after,
            CallFailure { usage: Usage { input_tokens: 900, output_tokens: 9 }, ..retryable() },
        ),
        _ => Fate::Hang,
    }
}
