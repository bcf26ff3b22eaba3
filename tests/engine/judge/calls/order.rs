//! The order in which calls are sent.

use super::*;

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
