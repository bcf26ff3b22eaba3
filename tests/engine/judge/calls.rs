//! The calls of judges under a simulated clock: order, limits, retries, budgets, stops.
//!
//! [`World`] plays host and server: an event queue over simulated milliseconds. What the server does
//! with a call is a function of the test; what is asked next is another.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use adk_metrics::judge::calls::{
    Ask, Budget, Call, CallAction, CallFailure, CallOptions, Calls, LossReason, LostSample, Millis, Prices,
    Progress, RetryOptions, Sample, Usage,
};
use adk_metrics::judge::votes::{Outcome, Vote, Votes, VotingRule};

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
                if let Some(sample) = self.calls.reply(now, id, usage) {
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

#[test]
fn chains_of_calls_keep_every_slot_busy() {
    const LATENCY: u64 = 1_000;
    let mut chance = Chance(1);
    let mut runs = 0;
    for total in [1, 2, 7, 16, 50, 101, 240] {
        for concurrency in [1, 2, 3, 8, 16, 64] {
            for longest in [1, 2, 3, 5, 12] {
                for _ in 0..10 {
                    let mut chains = vec![longest.min(total)];
                    while chains.iter().sum::<u32>() < total {
                        let left = total - chains.iter().sum::<u32>();
                        chains.push((1 + chance.below(longest.into()) as u32).min(left));
                    }
                    // The longest first, last, or anywhere.
                    let place = chance.below(chains.len() as u64) as usize;
                    chains.swap(0, place);
                    let rounds = total.div_ceil(concurrency) + longest.min(total) - 1;
                    let took = run_chains(&chains, concurrency, LATENCY);
                    assert!(
                        took <= u64::from(rounds) * LATENCY,
                        "{total} calls in {chains:?} at {concurrency} took {took} ms",
                    );
                    runs += 1;
                }
            }
        }
    }
    assert_eq!(runs, 2_100);
}

#[test]
fn a_hundred_thousand_calls_are_scheduled_alike() {
    assert_eq!(run_chains(&[2; 50_000], 500, 10), 2_000);
}

#[test]
fn follow_ups_go_before_questions_not_begun() {
    let mut world = World::new(CallOptions { concurrency: 1, ..CallOptions::default() });
    world.calls.ask(ask(0, 1));
    world.calls.ask(ask(1, 1));
    world.run(
        FOREVER,
        |_, _| reply(10),
        |calls, news| {
            if matches!(news, News::Reply(Sample { question: 0, sample: 0 })) {
                calls.ask(Ask { first_sample: 1, follow_up: true, ..ask(0, 1) });
            }
        },
    );
    let order: Vec<_> = world.sent().iter().map(|(_, call)| (call.question, call.sample)).collect();
    assert_eq!(order, [(0, 0), (0, 1), (1, 0)]);
}

#[test]
fn a_group_keeps_its_own_limit_and_holds_up_no_other() {
    let mut world = World::new(CallOptions { concurrency: 8, ..CallOptions::default() });
    let narrow = world.calls.add_group(Some(2), Prices::default());
    let wide = world.calls.add_group(None, Prices::default());
    world.calls.ask(Ask { group: narrow, ..ask(0, 20) });
    world.calls.ask(Ask { group: wide, ..ask(1, 60) });
    world.run(FOREVER, |_, _| reply(100), ignore);
    let mut at_once: BTreeMap<(u32, u64), u32> = BTreeMap::new();
    for (at, call) in world.sent() {
        *at_once.entry((call.question, at as u64)).or_default() += 1;
    }
    assert!((0..10).all(|round| at_once[&(0, round * 100)] == 2));
    assert!((0..10).all(|round| at_once[&(1, round * 100)] == 6));
    assert_eq!(world.now, 1_000);
}

#[test]
fn waits_grow_by_the_base_up_to_the_longest() {
    let retry = RetryOptions { jitter: 0.0, ..RetryOptions::default() };
    let mut world = World::new(CallOptions { retry, ..CallOptions::default() });
    world.calls.ask(ask(0, 1));
    let mut lost = None;
    world.run(
        FOREVER,
        |_, _| Fate::Fail(0, retryable()),
        |_, news| {
            if let News::Lost(loss) = news {
                lost = Some(loss);
            }
        },
    );
    let times: Vec<_> = world.sent().iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0.0, 5e3, 15e3, 35e3, 75e3, 155e3, 275e3]);
    assert_eq!(lost, Some(LostSample { question: 0, sample: 0, attempts: 7, reason: LossReason::Exhausted }));
    assert_eq!(world.calls.progress().lost, 1);
}

#[test]
fn jitter_spreads_each_wait_over_its_whole_length() {
    let mut shares = Vec::new();
    for seed in 0..1_000 {
        let mut calls = Calls::new(CallOptions { seed, ..CallOptions::default() });
        calls.ask(ask(0, 1));
        let CallAction::Send(call) = calls.poll(0.0) else { panic!() };
        assert_eq!(calls.failure(0.0, call.id, retryable()), None);
        let CallAction::WakeAt(at) = calls.poll(0.0) else { panic!() };
        shares.push(at / 5_000.0);
    }
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
    for tenth in 0..10 {
        let within = |share: &&f64| (**share * 10.0) as u32 == tenth;
        assert!((70..130).contains(&shares.iter().filter(within).count()));
    }
}

#[test]
fn what_the_server_says_wins_over_any_wait_of_our_own() {
    for after in [0.0, 1.0, 700.0, 400_000.0] {
        let mut world = World::new(CallOptions::default());
        world.calls.ask(ask(0, 1));
        let failure = CallFailure { retry_after_ms: Some(after), ..retryable() };
        let server = |_, call: &Call| if call.attempt == 1 { Fate::Fail(0, failure) } else { reply(0) };
        world.run(FOREVER, server, ignore);
        assert_eq!(world.sent().last().map(|(at, _)| *at), Some(after));
    }
    for nonsense in [-1.0, f64::NAN, f64::INFINITY] {
        let mut world = World::new(CallOptions::default());
        world.calls.ask(ask(0, 1));
        let failure = CallFailure { retry_after_ms: Some(nonsense), ..retryable() };
        let server = |_, call: &Call| if call.attempt == 1 { Fate::Fail(0, failure) } else { reply(0) };
        world.run(FOREVER, server, ignore);
        assert!(world.now <= 5_000 && world.sent().len() == 2, "{nonsense}");
    }
}

#[test]
fn what_another_attempt_would_not_change_is_not_tried_again() {
    let mut world = World::new(CallOptions::default());
    world.calls.ask(ask(3, 1));
    let mut lost = None;
    world.run(
        FOREVER,
        |_, _| Fate::Fail(5, CallFailure::default()),
        |_, news| {
            if let News::Lost(loss) = news {
                lost = Some(loss);
            }
        },
    );
    assert_eq!(lost, Some(LostSample { question: 3, sample: 0, attempts: 1, reason: LossReason::Refused }));
    assert_eq!(world.now, 5);
}

#[test]
fn one_attempt_means_that_nothing_is_sent_twice() {
    for failure in [retryable(), rate_limited(None), rate_limited(Some(10.0))] {
        let retry = RetryOptions { attempts: 1, ..RetryOptions::default() };
        let mut world = World::new(CallOptions { retry, ..CallOptions::default() });
        world.calls.ask(ask(0, 20));
        let server = |_, call: &Call| if call.sample == 9 { Fate::Fail(7, failure) } else { reply(10) };
        world.run(FOREVER, server, ignore);
        assert_eq!((world.sent().len(), world.calls.progress().lost), (20, 1));
    }
}

#[test]
fn a_call_that_takes_too_long_is_aborted_and_tried_again() {
    let mut world = World::new(CallOptions { timeout_ms: 2_000.0, ..CallOptions::default() });
    world.calls.ask(ask(0, 1));
    let mut replies = 0;
    let server = |_, call: &Call| if call.attempt == 1 { reply(30_000) } else { reply(100) };
    world.run(FOREVER, server, |_, news| replies += u32::from(matches!(news, News::Reply(_))));
    assert_eq!((world.aborted(), world.sent().len(), replies), (1, 2, 1), "the late reply is nobody's");
    assert!(world.trace.contains(&(2_000.0, CallAction::Abort(0))));
}

#[test]
fn a_call_that_always_hangs_is_lost_to_time() {
    let mut world = World::new(CallOptions { timeout_ms: 2_000.0, ..CallOptions::default() });
    world.calls.ask(ask(0, 1));
    world.run(FOREVER, |_, _| Fate::Hang, ignore);
    assert_eq!(
        world.losses(),
        [LostSample { question: 0, sample: 0, attempts: 7, reason: LossReason::TimedOut }]
    );
    assert_eq!(world.aborted(), 7);
}

#[test]
fn a_rate_limit_pauses_the_whole_run_until_the_time_the_server_gives() {
    let mut world = World::new(CallOptions::default());
    world.calls.ask(ask(0, 60));
    let server = |now, _: &Call| {
        if (500..1_000).contains(&now) { Fate::Fail(50, rate_limited(Some(4_000.0))) } else { reply(100) }
    };
    world.run(FOREVER, server, ignore);
    let times: Vec<_> = world.sent().iter().map(|(at, _)| *at).collect();
    assert!(times.iter().all(|&at| at <= 500.0 || at >= 4_550.0), "{times:?}");
    assert_eq!(times.iter().filter(|&&at| at == 4_550.0).count(), 4, "half as many as before");
    assert_eq!((world.calls.progress().lost, world.calls.open()), (0, 0));
}

#[test]
fn replies_bring_the_concurrency_back() {
    let mut world = World::new(CallOptions::default());
    world.calls.ask(ask(0, 200));
    let server = |_, call: &Call| {
        if call.id < 8 { Fate::Fail(10, rate_limited(None)) } else { reply(1_000) }
    };
    world.run(8_500, server, ignore);
    let mut rounds: BTreeMap<u64, u32> = BTreeMap::new();
    for (at, _) in world.sent() {
        *rounds.entry(at as u64 / 1_000).or_default() += 1;
    }
    assert_eq!(world.sent().iter().filter(|(at, _)| *at == 10.0).count(), 4, "one burst halves it once");
    assert_eq!(world.calls.progress().in_flight, 8, "{rounds:?}");
}

#[test]
fn a_slow_server_is_called_at_its_pace_and_loses_nothing() {
    // As providers do it: so many requests in a window of time, told or not when the next begins.
    for (window, most, told) in
        [(1_000, 5, true), (10_000, 20, true), (60_000, 60, true), (10_000, 20, false)]
    {
        let mut world = World::new(CallOptions { concurrency: 32, ..CallOptions::default() });
        world.calls.ask(ask(0, 500));
        let (mut begun, mut served, mut refused) = (0, 0, 0);
        let server = |now, _: &Call| {
            if now / window > begun {
                (begun, served) = (now / window, 0);
            }
            if served < most {
                served += 1;
                return reply(300);
            }
            refused += 1;
            Fate::Fail(20, rate_limited(told.then(|| (window - now % window) as f64)))
        };
        world.run(FOREVER, server, ignore);
        assert_eq!((world.calls.progress().lost, world.calls.open()), (0, 0), "{window} {most} {told}");
        let ideal = 500 / most * window;
        assert!(world.now <= 2 * ideal + 120_000, "{} ms, {ideal} ms at best", world.now);
        assert!(refused <= 600, "{refused} calls refused");
    }
}

#[test]
fn an_overload_of_a_minute_loses_nothing() {
    for seed in 0..200 {
        let mut world = World::new(CallOptions { seed, ..CallOptions::default() });
        world.calls.ask(ask(0, 300));
        let server = |now, _: &Call| {
            if (3_000..63_000).contains(&now) { Fate::Fail(30, rate_limited(None)) } else { reply(500) }
        };
        world.run(FOREVER, server, ignore);
        assert_eq!((world.calls.progress().lost, world.calls.open()), (0, 0), "seed {seed}");
        let refused = world.sent().iter().filter(|(at, _)| (3_000.0..63_000.0).contains(at)).count();
        assert!(refused < 60, "{refused} calls of an overloaded server");
    }
}

#[test]
fn rate_limits_use_up_no_attempts_while_the_run_gets_replies() {
    let mut world = World::new(CallOptions { concurrency: 2, ..CallOptions::default() });
    world.calls.ask(ask(0, 1));
    world.calls.ask(ask(1, 10_000));
    let server = |_, call: &Call| {
        if call.question == 0 && call.attempt < 20 { Fate::Fail(10, rate_limited(None)) } else { reply(300) }
    };
    world.run(FOREVER, server, ignore);
    assert_eq!((world.calls.progress().lost, world.calls.progress().retried), (0, 19));
}

#[test]
fn retries_go_before_questions_not_begun() {
    let mut world = World::new(CallOptions { concurrency: 1, ..CallOptions::default() });
    world.calls.ask(ask(0, 100));
    let failure = CallFailure { retry_after_ms: Some(250.0), ..retryable() };
    let server = |_, call: &Call| if call.id == 0 { Fate::Fail(0, failure) } else { reply(100) };
    world.run(FOREVER, server, ignore);
    assert!(world.sent().iter().any(|&(at, call)| at == 300.0 && call.sample == 0 && call.attempt == 2));
}

#[test]
fn a_server_that_always_refuses_for_its_rate_ends_the_run() {
    let mut world = World::new(CallOptions::default());
    world.calls.ask(ask(0, 30));
    world.run(FOREVER, |_, _| Fate::Fail(10, rate_limited(None)), ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.lost, progress.calls, world.calls.open()), (30, 210, 0));

    let mut world = World::new(CallOptions::default());
    world.calls.ask(ask(0, 30));
    let server = |_, call: &Call| if call.id < 3 { reply(5) } else { Fate::Fail(10, rate_limited(None)) };
    world.run(FOREVER, server, ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.lost, progress.answered, world.calls.open()), (27, 3, 0), "after its last reply");
    assert!(progress.calls <= 3 + 27 * 8);
}

#[test]
fn the_longest_pause_that_the_server_gives_in_a_burst_holds() {
    let mut calls = Calls::new(CallOptions { concurrency: 3, ..CallOptions::default() });
    calls.ask(ask(0, 20));
    for _ in 0..3 {
        assert!(matches!(calls.poll(0.0), CallAction::Send(_)));
    }
    for (call, after) in [(0, 100.0), (1, 4_000.0), (2, 200.0)] {
        assert_eq!(calls.failure(50.0, call, rate_limited(Some(after))), None);
    }
    for now in [50.0, 150.0, 250.0, 4_000.0] {
        assert!(matches!(calls.poll(now), CallAction::WakeAt(at) if at <= 4_050.0), "at {now}");
    }
    assert!(matches!(calls.poll(4_050.0), CallAction::Send(_)));
}

#[test]
fn a_single_rate_limit_holds_its_own_call_only() {
    for told in [Some(60_000.0), None] {
        let mut world = World::new(CallOptions { concurrency: 4, ..CallOptions::default() });
        world.calls.ask(ask(0, 400));
        let server =
            |_, call: &Call| if call.id == 41 { Fate::Fail(10, rate_limited(told)) } else { reply(100) };
        world.run(FOREVER, server, ignore);
        let sent = world.sent();
        let others = sent.iter().filter(|(_, call)| call.attempt == 1).map(|(at, _)| *at);
        assert!(others.clone().fold(0.0, f64::max) <= 10_100.0, "400 calls, 4 at a time, 100 ms each");
        let again = sent.iter().find(|(_, call)| call.attempt == 2).map(|(at, _)| *at);
        let due = sent[41].0 + 10.0 + 60_000.0;
        assert!(told.is_none() || again == Some(due), "{again:?} instead of {due}");
    }
}

#[test]
fn the_place_of_a_limited_call_stays_empty_until_the_next_reply() {
    let mut calls = Calls::new(CallOptions { concurrency: 4, ..CallOptions::default() });
    calls.ask(ask(0, 20));
    for _ in 0..4 {
        assert!(matches!(calls.poll(0.0), CallAction::Send(_)));
    }
    assert_eq!(calls.failure(10.0, 0, rate_limited(Some(9_000.0))), None);
    assert_eq!(calls.poll(10.0), CallAction::WakeAt(9_010.0), "three in flight, one place kept empty");
    assert!(calls.reply(20.0, 1, NO_USAGE).is_some());
    assert!(matches!(calls.poll(20.0), CallAction::Send(_)));
    assert!(matches!(calls.poll(20.0), CallAction::Send(_)));
    assert!(matches!(calls.poll(20.0), CallAction::WakeAt(_)), "four in flight again");
}

#[test]
fn calls_that_hang_do_not_keep_the_places_of_limited_ones_empty() {
    let mut calls = Calls::new(CallOptions { concurrency: 4, ..CallOptions::default() });
    calls.ask(ask(0, 20));
    for _ in 0..4 {
        assert!(matches!(calls.poll(0.0), CallAction::Send(_)));
    }
    for call in 0..3 {
        assert_eq!(calls.failure(10.0, call, rate_limited(Some(1_000.0))), None);
    }
    assert_eq!(calls.poll(10.0), CallAction::WakeAt(1_010.0), "one is in flight, and hangs");
    for _ in 0..3 {
        assert!(matches!(calls.poll(1_010.0), CallAction::Send(_)));
    }
}

#[test]
fn sporadic_rate_limits_do_not_reduce_the_concurrency() {
    let mut world = World::new(CallOptions { concurrency: 8, ..CallOptions::default() });
    world.calls.ask(ask(0, 1_000));
    let mut chance = Chance(5);
    let server = |_, call: &Call| {
        let is_limited = call.attempt == 1 && chance.percent(10);
        if is_limited { Fate::Fail(30, rate_limited(Some(2_000.0))) } else { reply(100) }
    };
    world.run(FOREVER, server, ignore);
    assert!(world.now <= 1_000 / 8 * 100 * 13 / 10, "{} ms", world.now);
}

#[test]
fn a_connection_that_breaks_off_is_tried_again_within_half_a_second() {
    let retry = RetryOptions { jitter: 0.0, ..RetryOptions::default() };
    for (initial_delay_ms, first) in [(5_000.0, 500.0), (200.0, 200.0), (500.0, 500.0)] {
        let retry = RetryOptions { initial_delay_ms, ..retry.clone() };
        let mut world = World::new(CallOptions { retry, ..CallOptions::default() });
        world.calls.ask(ask(0, 1));
        let broken = CallFailure { disconnected: true, ..retryable() };
        world.run(FOREVER, |_, _| Fate::Fail(0, broken), ignore);
        let times: Vec<_> = world.sent().iter().map(|(at, _)| *at / first).collect();
        assert_eq!(times, [0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 63.0]);
    }
}

#[test]
fn a_fault_among_replies_is_tried_again_within_half_a_second() {
    let retry = RetryOptions { jitter: 0.0, ..RetryOptions::default() };
    let mut world = World::new(CallOptions { retry, concurrency: 2, ..CallOptions::default() });
    world.calls.ask(ask(0, 1_000));
    let server = |_, call: &Call| {
        if call.sample == 20 && call.attempt < 4 { Fate::Fail(0, retryable()) } else { reply(100) }
    };
    world.run(FOREVER, server, ignore);
    let sent = world.sent();
    let times: Vec<_> = sent.iter().filter(|(_, call)| call.sample == 20).map(|(at, _)| *at).collect();
    let waits: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits, [500.0, 1_000.0, 2_000.0]);
}

/// What becomes of an attempt at a sample, whoever makes it: so many of 100 fail, by a rate limit that
/// says when to come back, a fault of the server, or a connection that breaks off.
fn mixed(seed: u64, percent: u64, latency: u64, sample: u32, attempt: u32) -> Fate {
    let mut chance = Chance(seed ^ (u64::from(sample) << 20) ^ (u64::from(attempt) << 50));
    if !chance.percent(percent) {
        return reply(latency / 2 + chance.below(latency));
    }
    let soon = 1 + chance.below(latency);
    match chance.below(4) {
        0 => Fate::Fail(soon, rate_limited(Some(1_000.0 + 1_000.0 * chance.below(2) as f64))),
        1 => Fate::Fail(soon, retryable()),
        2 => Fate::Fail(soon, rate_limited(None)),
        _ => Fate::Fail(soon, CallFailure { disconnected: true, ..retryable() }),
    }
}

/// How long a plain limiter takes for one sample each of so many questions: so many calls at a time,
/// each tried again by itself after what the server says, or else half a second, then twice as long each
/// time up to 8 s, as the SDKs of providers do it. A call that waits gives its place to another.
fn plain_limiter(calls: u32, concurrency: usize, mut server: impl FnMut(u32, u32) -> Fate) -> u64 {
    let mut events = BinaryHeap::new();
    let mut ready: std::collections::VecDeque<(u32, u32)> = (0..calls).map(|sample| (sample, 1)).collect();
    let (mut now, mut in_flight, mut left) = (0, 0, calls);
    while left > 0 {
        while in_flight < concurrency
            && let Some((sample, attempt)) = ready.pop_front()
        {
            in_flight += 1;
            let (after, wait) = match server(sample, attempt) {
                Fate::Reply(after, _) => (after, None),
                Fate::Fail(after, failure) => {
                    let backoff = 500.0 * f64::from(1_u32 << (attempt - 1).min(4));
                    (after, Some(failure.retry_after_ms.unwrap_or(backoff) as u64))
                }
                Fate::Hang => panic!("a plain limiter waits for ever"),
            };
            events.push(Reverse((now + after, sample, attempt, wait, true)));
        }
        let Some(Reverse((at, sample, attempt, wait, is_landing))) = events.pop() else { break };
        now = at;
        match wait {
            _ if !is_landing => ready.push_front((sample, attempt)),
            Some(wait) => {
                in_flight -= 1;
                events.push(Reverse((now + wait, sample, attempt + 1, None, false)));
            }
            None => {
                in_flight -= 1;
                left -= 1;
            }
        }
    }
    now
}

#[test]
fn mixed_faults_cost_little_more_time_than_with_a_plain_limiter() {
    const CALLS: u32 = 2_000;
    for percent in [0, 5, 30] {
        for (concurrency, latency) in [(8, 50), (8, 1_000), (32, 50), (32, 1_000)] {
            let (mut ours, mut plain) = (0, 0);
            for seed in 0..10 {
                let options = CallOptions { concurrency, seed, ..CallOptions::default() };
                let mut world = World::new(options);
                for question in 0..CALLS {
                    world.calls.ask(ask(question, 1));
                }
                let server = |_, call: &Call| mixed(seed, percent, latency, call.question, call.attempt);
                let mut again = Vec::new();
                world.run(FOREVER, server, |_, news| {
                    if let News::Lost(loss) = news {
                        again.push(loss.question);
                    }
                });
                // As the run does it: what failed too often is asked once more in the end.
                for question in again {
                    world.calls.revert_losses(1);
                    world.calls.ask(ask(question, 1));
                }
                world.run(FOREVER, server, ignore);
                assert_eq!((world.calls.progress().lost, world.calls.open()), (0, 0));
                ours += world.now;
                plain += plain_limiter(CALLS, concurrency as usize, |sample, attempt| {
                    mixed(seed, percent, latency, sample, attempt)
                });
            }
            assert!(
                ours * 10 <= plain * 13,
                "{percent} %, {concurrency} at a time, {latency} ms: {ours} ms instead of {plain}"
            );
        }
    }
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

/// Votes on 20 questions of 5 samples while the server fails so many of 100 calls. Gives the samples
/// and the verdicts lost.
fn storm(seed: u64, percent: u64) -> (u32, usize) {
    let mut chance = Chance(seed);
    let mut world = World::new(CallOptions { seed, timeout_ms: 30_000.0, ..CallOptions::default() });
    // Judges agree with themselves mostly.
    let ballots: Vec<Vec<Vote>> = (0..20)
        .map(|_| {
            let positive = [100, 98, 90, 60, 2][chance.below(5) as usize];
            let vote = |yes| if yes { Vote::Positive } else { Vote::Negative };
            (0..5).map(|_| vote(chance.percent(positive))).collect()
        })
        .collect();
    let mut votes = vec![Votes::new(5, 1, VotingRule::Majority { early_stop: true }); 20];
    for (question, votes) in votes.iter_mut().enumerate() {
        world.calls.ask(ask(question as u32, votes.next_wave().len() as u32));
    }
    let mut server = |_: u64, _: &Call| {
        if chance.percent(percent) { fault(&mut chance) } else { reply(200 + chance.below(4_000)) }
    };
    loop {
        world.run(FOREVER, &mut server, |calls, news| {
            let (question, wave) = match news {
                News::Reply(Sample { question, sample }) => {
                    let votes = &mut votes[question as usize];
                    votes.count(&[ballots[question as usize][sample as usize]]);
                    (question, votes.next_wave())
                }
                News::Lost(LostSample { question, sample, attempts, reason }) => {
                    assert!(attempts >= 7 && matches!(reason, LossReason::Exhausted | LossReason::TimedOut));
                    votes[question as usize].fail(sample);
                    (question, votes[question as usize].next_wave())
                }
            };
            let next = ask(question, wave.len() as u32);
            calls.ask(Ask { first_sample: wave.start, follow_up: true, ..next });
        });
        let mut again = false;
        for (question, votes) in votes.iter_mut().enumerate() {
            for first_sample in votes.second_chance() {
                world.calls.ask(Ask { first_sample, ..ask(question as u32, 1) });
                again = true;
            }
        }
        if !again {
            break;
        }
    }
    assert_eq!(world.calls.open(), 0);
    let mut lost = 0;
    for (votes, ballots) in votes.iter().zip(&ballots) {
        let positive = ballots.iter().filter(|&&vote| vote == Vote::Positive).count();
        match votes.outcome() {
            Outcome::Settled => {
                let verdict = if positive > 2 { Vote::Positive } else { Vote::Negative };
                assert_eq!(format!("{:?}", votes.verdict(0)), format!("Some({verdict:?})"));
            }
            Outcome::Undecidable => lost += 1,
            Outcome::Open => panic!("a question is forgotten"),
        }
    }
    (world.calls.progress().lost, lost)
}

#[test]
fn storms_lose_no_verdict() {
    for percent in [5, 10, 20, 30] {
        let (mut samples, mut verdicts) = (0, 0);
        for seed in 0..1_000 {
            let lost = storm(seed, percent);
            (samples, verdicts) = (samples + lost.0, verdicts + lost.1);
        }
        assert_eq!(verdicts, 0, "at {percent} %, of 20,000; {samples} samples");
    }
}

#[test]
fn a_budget_of_calls_is_kept_to_the_call() {
    for most in [0, 1, 7, 8, 9, 25] {
        let budget = Budget { calls: Some(most), ..Budget::default() };
        let mut world = World::new(CallOptions { budget, ..CallOptions::default() });
        world.calls.ask(ask(0, 30));
        let mut replies = 0;
        world.run(FOREVER, |_, _| reply(100), |_, news| replies += u32::from(matches!(news, News::Reply(_))));
        let progress = world.calls.progress();
        assert_eq!((progress.calls, replies, progress.lost), (most, most, 30 - most));
        assert!(world.losses().iter().all(|loss| loss.reason == LossReason::BudgetExceeded));
        assert_eq!((world.aborted(), world.calls.open()), (0, 0));
        assert_eq!(world.now, u64::from(most.div_ceil(8)) * 100, "nothing is waited for");
    }
}

#[test]
fn a_spent_budget_leaves_no_retry_waiting() {
    let budget = Budget { calls: Some(1), ..Budget::default() };
    let mut world = World::new(CallOptions { budget, ..CallOptions::default() });
    world.calls.ask(ask(0, 1));
    world.run(FOREVER, |_, _| Fate::Fail(10, retryable()), ignore);
    assert_eq!(
        world.losses(),
        [LostSample { question: 0, sample: 0, attempts: 1, reason: LossReason::BudgetExceeded }]
    );
    assert_eq!(world.now, 10);
}

#[test]
fn budgets_of_tokens_and_money_hold_what_calls_are_expected_to_use() {
    let usage = Usage { input_tokens: 1_000, output_tokens: 0 };
    let prices = Prices { input_per_million: 2.0, output_per_million: 8.0 };
    for budget in [
        Budget { tokens: Some(10_500), ..Budget::default() },
        Budget { cost: Some(0.021), ..Budget::default() },
    ] {
        let mut world = World::new(CallOptions { budget, ..CallOptions::default() });
        let group = world.calls.add_group(None, prices);
        world.calls.ask(Ask { group, tokens: 1_000, ..ask(0, 30) });
        world.run(FOREVER, |_, _| Fate::Reply(100, usage), ignore);
        let progress = world.calls.progress();
        assert_eq!((progress.calls, progress.lost), (10, 20));
        assert!((progress.cost - 0.02).abs() < 1e-12);
    }
}

#[test]
fn what_calls_use_less_than_expected_is_used_by_others() {
    let budget = Budget { tokens: Some(5_000), ..Budget::default() };
    let mut world = World::new(CallOptions { budget, ..CallOptions::default() });
    world.calls.ask(Ask { tokens: 1_000, ..ask(0, 30) });
    let usage = Usage { input_tokens: 100, output_tokens: 150 };
    world.run(FOREVER, |_, _| Fate::Reply(100, usage), ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.calls, progress.usage.total()), (17, 4_250), "an 18th might need 1,000");
}

#[test]
fn unknown_sizes_overdraw_a_budget_by_calls_in_flight_only() {
    let budget = Budget { tokens: Some(5_000), ..Budget::default() };
    let mut world = World::new(CallOptions { budget, ..CallOptions::default() });
    world.calls.ask(ask(0, 100));
    let usage = Usage { input_tokens: 900, output_tokens: 100 };
    world.run(FOREVER, |_, call| Fate::Reply(100 + u64::from(call.id), usage), ignore);
    assert!(world.calls.progress().calls <= 5 + 7, "{:?}", world.calls.progress());
}

#[test]
fn usage_that_is_not_reported_counts_as_expected() {
    let mut world = World::new(CallOptions::default());
    let group = world.calls.add_group(None, Prices { input_per_million: 1.0, output_per_million: 10.0 });
    world.calls.ask(Ask { group, tokens: 500, ..ask(0, 4) });
    world.run(FOREVER, |_, _| reply(10), ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.usage.input_tokens, progress.cost), (2_000, 0.002));
}

#[test]
fn calls_in_flight_may_finish_at_the_end_of_a_budget() {
    let mut world = World::new(CallOptions::default());
    world.calls.ask(ask(0, 20));
    let server = |_, call: &Call| if call.sample == 3 { Fate::Fail(100, retryable()) } else { reply(100) };
    world.run(50, server, ignore);
    world.calls.stop(LossReason::BudgetExceeded);
    let mut news = Vec::new();
    world.run(FOREVER, server, |_, what| {
        if let News::Lost(loss) = what {
            news.push(loss.reason);
        }
    });
    assert_eq!((world.aborted(), world.sent().len(), world.calls.progress().answered), (0, 8, 7));
    assert_eq!(news, [LossReason::BudgetExceeded; 13]);
}

#[test]
fn failures_that_were_paid_for_count() {
    let mut world = World::new(CallOptions::default());
    let prices = Prices { input_per_million: 1.0, output_per_million: 10.0 };
    let group = world.calls.add_group(None, prices);
    world.calls.ask(Ask { group, ..ask(0, 1) });
    let usage = Usage { input_tokens: 1_000, output_tokens: 100 };
    let server = |_, call: &Call| match call.attempt {
        1 => Fate::Fail(10, CallFailure { usage, ..retryable() }),
        _ => Fate::Reply(10, usage),
    };
    world.run(FOREVER, server, ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.usage.input_tokens, progress.usage.output_tokens), (2_000, 200));
    assert_eq!(progress.cost, 0.004);
}

#[test]
fn cancelling_stops_at_once() {
    let mut world = World::new(CallOptions::default());
    let group = world.calls.add_group(Some(2), Prices::default());
    world.calls.ask(ask(0, 20));
    world.calls.ask(Ask { group, ..ask(1, 20) });
    let server = |_, call: &Call| {
        if call.sample % 5 == 4 { Fate::Fail(100, retryable()) } else { reply(100) }
    };
    let mut replies = 0;
    world.run(350, server, |_, news| replies += u32::from(matches!(news, News::Reply(_))));
    let sent = world.sent().len();
    let in_flight = world.calls.progress().in_flight as usize;
    assert!(in_flight > 0);
    world.calls.stop(LossReason::Cancelled);
    world.run(FOREVER, server, |_, news| replies += u32::from(matches!(news, News::Reply(_))));
    assert_eq!((world.sent().len(), world.aborted()), (sent, in_flight));
    let losses = world.losses();
    assert_eq!(losses.len() as u32, 40 - replies);
    assert!(losses.iter().all(|loss| loss.reason == LossReason::Cancelled));
    assert!(world.trace.iter().all(|(at, action)| *at <= 350.0 || *action == CallAction::Idle));

    world.calls.ask(ask(2, 1));
    let lost = LostSample { question: 2, sample: 0, attempts: 0, reason: LossReason::Cancelled };
    assert_eq!(world.calls.poll(400.0), CallAction::Lost(lost), "what is asked afterwards");
    assert_eq!((world.calls.poll(400.0), world.calls.open()), (CallAction::Idle, 0));
}

#[test]
fn the_first_reason_to_stop_stays_but_a_budget_can_be_cut_short() {
    let mut calls = Calls::new(CallOptions::default());
    calls.stop(LossReason::BudgetExceeded);
    calls.stop(LossReason::Cancelled);
    calls.stop(LossReason::Deadline);
    assert_eq!(calls.stopped(), Some(LossReason::Cancelled));
}

#[test]
fn the_deadline_of_the_run_aborts_what_is_open() {
    let mut world = World::new(CallOptions { run_timeout_ms: 950.0, ..CallOptions::default() });
    world.now = 5_000;
    world.calls.ask(ask(0, 200));
    world.run(FOREVER, |_, _| reply(100), ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.calls, progress.lost, world.aborted()), (80, 128, 8));
    assert!(world.losses().iter().all(|loss| loss.reason == LossReason::Deadline));
    assert!(world.trace.iter().all(|(at, action)| *at <= 5_950.0 || *action == CallAction::Idle));
}

#[test]
fn a_cache_hit_is_no_call() {
    let mut world = World::new(CallOptions {
        budget: Budget { calls: Some(2), ..Budget::default() },
        ..CallOptions::default()
    });
    world.calls.count_cached(3);
    world.calls.ask(ask(0, 10));
    for _ in 0..8 {
        let CallAction::Send(call) = world.calls.poll(0.0) else { panic!() };
        assert_eq!(
            world.calls.resolve_from_cache(call.id),
            Some(Sample { question: 0, sample: call.sample })
        );
        assert_eq!(world.calls.resolve_from_cache(call.id), None);
    }
    world.run(FOREVER, |_, _| reply(100), ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.cached, progress.calls, progress.lost, world.calls.open()), (11, 2, 0, 0));
}

#[test]
fn a_call_that_is_no_longer_needed_frees_its_place() {
    let mut calls = Calls::new(CallOptions { concurrency: 1, ..CallOptions::default() });
    calls.ask(ask(0, 2));
    let CallAction::Send(call) = calls.poll(0.0) else { panic!() };
    assert_eq!(calls.withdraw(call.id), Some(Sample { question: 0, sample: 0 }));
    assert!(matches!(calls.poll(0.0), CallAction::Send(Call { sample: 1, .. })));
    assert_eq!((calls.progress().calls, calls.progress().cached), (1, 0));

    assert_eq!(calls.failure(0.0, 1, retryable()), None);
    let CallAction::Send(call) = calls.poll(5_000.0) else { panic!() };
    assert_eq!((call.attempt, calls.progress().retried), (2, 1));
    assert_eq!(calls.withdraw(call.id), Some(Sample { question: 0, sample: 1 }));
    assert_eq!((calls.progress().calls, calls.progress().retried, calls.open()), (1, 0, 0));
}

#[test]
fn time_never_goes_back() {
    let mut calls = Calls::new(CallOptions { concurrency: 1, timeout_ms: 100.0, ..CallOptions::default() });
    calls.ask(ask(0, 2));
    assert!(matches!(calls.poll(1_000.0), CallAction::Send(Call { timeout_at: 1_100.0, .. })));
    assert_eq!(calls.poll(f64::NAN), CallAction::WakeAt(1_100.0));
    assert!(calls.reply(400.0, 0, Usage::default()).is_some());
    assert!(matches!(calls.poll(-5.0), CallAction::Send(Call { timeout_at: 1_100.0, .. })));
}

#[test]
fn reports_of_unknown_calls_are_ignored() {
    let mut calls = Calls::new(CallOptions::default());
    calls.ask(ask(0, 1));
    assert!(matches!(calls.poll(0.0), CallAction::Send(Call { id: 0, .. })));
    assert_eq!(calls.reply(0.0, 17, Usage::default()), None);
    assert_eq!(calls.failure(0.0, 17, retryable()), None);
    assert!(calls.reply(0.0, 0, Usage::default()).is_some());
    assert_eq!(calls.reply(0.0, 0, Usage::default()), None, "a second reply");
    assert_eq!(calls.progress().lost, 0);
}

#[test]
fn progress_says_what_is_done_and_how_long_the_rest_takes() {
    let mut world = World::new(CallOptions { concurrency: 4, ..CallOptions::default() });
    world.calls.ask(ask(0, 40));
    assert_eq!(world.calls.progress().left_ms, None);
    let server = |_, call: &Call| {
        if call.id == 0 { Fate::Fail(500, retryable()) } else { Fate::Reply(1_000, NO_USAGE) }
    };
    world.run(4_100, server, ignore);
    world.calls.count_saved(2);
    let progress = world.calls.progress();
    assert_eq!((progress.in_flight, progress.saved), (4, 2));
    let replies = progress.calls - 4 - 1;
    assert_eq!(progress.queued, 40 - replies - 4);
    let left = f64::from(40 - replies) / 4.0 * 1_000.0;
    assert!((progress.left_ms.unwrap() - left).abs() < 1e-6);
    world.run(FOREVER, server, ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.calls, progress.retried, progress.left_ms), (41, 1, Some(0.0)));
}

#[test]
fn every_sample_is_answered_or_lost_exactly_once() {
    for seed in 0..3_000 {
        let mut chance = Chance(seed);
        let maybe = |chance: &mut Chance, most| chance.percent(20).then(|| chance.below(most));
        let budget = Budget {
            calls: maybe(&mut chance, 120).map(|most| most as u32),
            tokens: maybe(&mut chance, 40_000),
            cost: maybe(&mut chance, 100).map(|most| most as f64 / 1_000.0),
        };
        let concurrency = 1 + chance.below(12) as u32;
        let run_timeout_ms = maybe(&mut chance, 300_000).map_or(f64::INFINITY, |after| after as f64);
        let options = CallOptions {
            concurrency,
            timeout_ms: 10_000.0,
            run_timeout_ms,
            budget,
            seed,
            ..CallOptions::default()
        };
        let mut world = World::new(options);
        let prices = Prices { input_per_million: 1.0, output_per_million: 4.0 };
        let limits = [None, Some(2)];
        let groups = limits.map(|limit| world.calls.add_group(limit, prices));
        let mut settled: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let samples = 5;
        for question in 0..12 {
            let group = groups[question as usize % 2];
            let tokens = chance.below(900) as u32;
            world.calls.ask(Ask { group, tokens, ..ask(question, samples) });
        }
        let stop_at = if chance.percent(20) { chance.below(30_000) } else { FOREVER };
        let percent = chance.below(60);
        let mut server = |_: u64, _: &Call| {
            let used = Usage { input_tokens: chance.below(900), output_tokens: chance.below(90) };
            match chance.percent(percent) {
                true if chance.percent(10) => Fate::Fail(5, CallFailure::default()),
                true => fault(&mut chance),
                false => Fate::Reply(200 + chance.below(4_000), used),
            }
        };
        let mut owner = |calls: &mut Calls, news: News| {
            let (question, sample) = match news {
                News::Reply(Sample { question, sample }) => (question, sample),
                News::Lost(LostSample { question, sample, .. }) => (question, sample),
            };
            *settled.entry((question, sample)).or_default() += 1;
            // A chain: the first sample of some questions asks for one more.
            if sample == 0 && question < 6 {
                calls.ask(Ask { first_sample: samples, follow_up: true, ..ask(question, 1) });
            }
        };
        world.run(stop_at, &mut server, &mut owner);
        let sent_before = world.sent().len();
        if stop_at != FOREVER {
            world.calls.stop(LossReason::Cancelled);
            world.run(FOREVER, &mut server, &mut owner);
            assert_eq!(world.sent().len(), sent_before, "seed {seed}");
        }
        let progress = world.calls.progress();
        assert_eq!((world.calls.open(), progress.in_flight, world.in_flight), (0, 0, 0), "seed {seed}");
        assert_eq!(settled.len(), 12 * samples as usize + 6, "seed {seed}");
        assert!(settled.values().all(|&times| times == 1), "seed {seed}");
        assert!(world.most_in_flight <= concurrency as usize);
        assert!(budget.calls.is_none_or(|most| progress.calls <= most));
        let first_attempts = world.sent().iter().filter(|(_, call)| call.attempt == 1).count();
        assert_eq!(progress.retried as usize, world.sent().len() - first_attempts);
        assert_eq!(progress.calls, progress.answered + progress.failed, "seed {seed}");
        assert_eq!(progress.asked, progress.answered + progress.cached + progress.lost, "seed {seed}");
        assert_eq!(progress.asked as usize, settled.len(), "seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let trace = |seed| {
        let mut chance = Chance(3);
        let mut world = World::new(CallOptions { seed, timeout_ms: 3_000.0, ..CallOptions::default() });
        let group = world.calls.add_group(Some(3), Prices::default());
        world.calls.ask(ask(0, 60));
        world.calls.ask(Ask { group, ..ask(1, 60) });
        let server = |_, _: &Call| {
            if chance.percent(40) { fault(&mut chance) } else { reply(200 + chance.below(4_000)) }
        };
        world.run(FOREVER, server, ignore);
        world.trace
    };
    assert_eq!(trace(11), trace(11));
    assert_ne!(trace(11), trace(12));
}

#[test]
fn at_any_time_every_call_and_every_sample_is_counted_once() {
    for seed in 0..300 {
        let mut chance = Chance(seed);
        let mut world = World::new(CallOptions { seed, timeout_ms: 3_000.0, ..CallOptions::default() });
        world.calls.ask(ask(0, 30));
        let mut server = |_: u64, _: &Call| {
            if chance.percent(40) { fault(&mut chance) } else { reply(200 + chance.below(4_000)) }
        };
        for until in (0..40_000).step_by(1_700) {
            world.run(until, &mut server, ignore);
            let now = world.calls.progress();
            assert_eq!(now.calls, now.answered + now.failed + now.in_flight, "seed {seed} at {until}");
            let done = now.answered + now.cached + now.lost;
            assert_eq!(now.asked, done + now.queued + now.in_flight, "seed {seed} at {until}");
        }
    }
}

#[test]
fn a_sample_that_is_asked_again_after_all_counts_once() {
    let mut calls = Calls::new(CallOptions::default());
    calls.ask(ask(0, 1));
    let CallAction::Send(call) = calls.poll(0.0) else { panic!() };
    assert!(calls.failure(0.0, call.id, CallFailure::default()).is_some());
    calls.revert_losses(1);
    calls.ask(Ask { again: true, ..ask(0, 1) });
    let CallAction::Send(call) = calls.poll(0.0) else { panic!() };
    assert!(calls.reply(1.0, call.id, NO_USAGE).is_some());
    let Progress { asked, calls, answered, failed, retried, lost, .. } = calls.progress();
    assert_eq!((asked, calls, answered, failed, retried, lost), (1, 2, 1, 1, 1, 0));
}

#[test]
fn replies_that_do_not_say_what_they_took_are_counted() {
    let mut world = World::new(CallOptions::default());
    world.calls.ask(ask(0, 10));
    let usage = Usage { input_tokens: 5, output_tokens: 1 };
    let server = |_, call: &Call| Fate::Reply(10, if call.sample < 4 { NO_USAGE } else { usage });
    world.run(FOREVER, server, ignore);
    assert_eq!((world.calls.progress().answered, world.calls.progress().unreported), (10, 4));
}
