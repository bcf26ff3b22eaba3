//! Rate limits and faults that look temporary.

use super::*;

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
    assert!(calls.reply(20.0, 1, NO_USAGE, 0).is_some());
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
