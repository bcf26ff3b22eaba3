//! Delays between attempts, and calls that are not retried.

use super::*;

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
    assert_eq!(
        lost,
        Some(LostSample {
            question: 0,
            sample: 0,
            attempts: 7,
            is_unsent: false,
            reason: LossReason::Exhausted
        })
    );
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
fn the_servers_delay_takes_precedence_over_the_backoff() {
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
fn failures_that_a_retry_would_not_change_are_not_retried() {
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
    assert_eq!(
        lost,
        Some(LostSample {
            question: 3,
            sample: 0,
            attempts: 1,
            is_unsent: false,
            reason: LossReason::Refused
        })
    );
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
        [LostSample { question: 0, sample: 0, attempts: 7, is_unsent: false, reason: LossReason::TimedOut }]
    );
    assert_eq!(world.aborted(), 7);
}
