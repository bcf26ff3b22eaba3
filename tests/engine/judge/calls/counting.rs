//! Cache hits, withdrawn calls and the counts of a run.

use super::*;

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
    assert!(calls.reply(400.0, 0, Usage::default(), 0).is_some());
    assert!(matches!(calls.poll(-5.0), CallAction::Send(Call { timeout_at: 1_100.0, .. })));
}

#[test]
fn reports_of_unknown_calls_are_ignored() {
    let mut calls = Calls::new(CallOptions::default());
    calls.ask(ask(0, 1));
    assert!(matches!(calls.poll(0.0), CallAction::Send(Call { id: 0, .. })));
    assert_eq!(calls.reply(0.0, 17, Usage::default(), 0), None);
    assert_eq!(calls.failure(0.0, 17, retryable()), None);
    assert!(calls.reply(0.0, 0, Usage::default(), 0).is_some());
    assert_eq!(calls.reply(0.0, 0, Usage::default(), 0), None, "a second reply");
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
    world.calls.count_saved(2, (0, 0));
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
fn the_time_left_respects_how_many_calls_of_a_metric_may_be_open() {
    let mut world = World::new(CallOptions { concurrency: 8, ..CallOptions::default() });
    let group = world.calls.add_group(Some(1), Prices::default());
    for question in 0..10 {
        let mut one = ask(question, 1);
        one.group = group;
        world.calls.ask(one);
    }
    world.run(2_500, |_, _: &Call| Fate::Reply(1_000, NO_USAGE), ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.in_flight, progress.queued), (1, 7));
    assert!((progress.left_ms.unwrap() - 8_000.0).abs() < 1e-6, "{progress:?}");
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
    assert!(calls.reply(1.0, call.id, NO_USAGE, 0).is_some());
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

#[test]
fn tokens_that_are_not_reported_are_estimated_for_each_side() {
    let cases = [
        // Reported, estimated output, counted.
        ((0, 0), 50, (200, 50), 1),
        ((30, 0), 50, (30, 50), 1),
        ((0, 7), 0, (200, 7), 1),
        ((0, 0), 0, (200, 0), 1),
        ((30, 7), 0, (30, 7), 0),
        ((30, 0), 0, (30, 0), 0),
    ];
    for ((input_tokens, output_tokens), estimate, (input, output), unreported) in cases {
        let budget = Budget { tokens: Some(250), ..Budget::default() };
        let mut calls = Calls::new(CallOptions { concurrency: 1, budget, ..CallOptions::default() });
        let prices = Prices { input_per_million: 1e6, output_per_million: 2e6 };
        let group = calls.add_group(None, prices);
        calls.ask(Ask { samples: 2, group, tokens: 200, ..ask(0, 2) });
        let CallAction::Send(call) = calls.poll(0.0) else { panic!() };
        let reported = Usage { input_tokens, output_tokens };
        assert!(calls.reply(1.0, call.id, reported, estimate).is_some());
        let progress = calls.progress();
        assert_eq!(progress.usage, Usage { input_tokens: input, output_tokens: output });
        assert_eq!(progress.unreported, unreported, "{reported:?}");
        assert!((progress.cost - (input + 2 * output) as f64).abs() < 1e-9);
        let is_spent = matches!(calls.poll(1.0), CallAction::Lost(_));
        assert_eq!(
            is_spent,
            input + output + (200 + output) > 250,
            "{reported:?}: another call is expected to take as much"
        );
    }
}

#[test]
fn retries_of_a_group_need_not_wait() {
    let mut calls = Calls::new(CallOptions::default());
    let groups = [None, None].map(|limit| calls.add_group(limit, Prices::default()));
    for group in groups {
        calls.ask(Ask { group, ..ask(group, 1) });
    }
    for id in 0..2 {
        assert!(matches!(calls.poll(0.0), CallAction::Send(_)));
        assert_eq!(calls.failure(0.0, id, retryable()), None);
    }
    assert!(matches!(calls.poll(0.0), CallAction::WakeAt(_)));
    calls.hurry(groups[1]);
    assert!(matches!(calls.poll(0.0), CallAction::Send(Call { question: 1, attempt: 2, .. })));
    assert!(matches!(calls.poll(0.0), CallAction::WakeAt(_)), "those of the other group wait");
}
