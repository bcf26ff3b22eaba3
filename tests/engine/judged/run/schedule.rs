//! Calls are sent as early as limits allow, and every sample is answered or spared.

use super::*;

// ---- time

#[test]
fn calls_of_equal_length_finish_in_time_with_no_slot_idle() {
    const LATENCY: u64 = 1_000;
    let mut questions = 0;
    for seed in 0..240 {
        let chance = &mut Chance(seed);
        let made = made(seed, cases(chance), seed % 3 == 0, false);
        let concurrency = 1 + chance.below(32) as u32;
        let early_stop = chance.percent(60);
        let scene = Scene { keeps_busy: true, ..Scene::default() };
        let judge = &mut |_, asked: &Asked<'_>| Fate::Reply(LATENCY, asked.reply());
        made.play(&Options { early_stop, ..options(concurrency) }, scene, judge, |story| {
            let number = story.sent().count() as u64;
            questions += number;
            let rounds = number.div_ceil(u64::from(concurrency)) + story.longest_chain.max(1) - 1;
            assert!(
                story.took <= rounds * LATENCY,
                "seed {seed}: {number} calls in chains of {} at {concurrency} took {} ms",
                story.longest_chain,
                story.took,
            );
        });
    }
    assert!(questions > 5_000, "{questions}");
}

#[test]
fn limits_hold_and_the_order_of_replies_changes_nothing() {
    for seed in 1_000..1_150 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(14), true, true);
        let early_stop = chance.percent(60);
        let calm = calm_gist(&made, false);
        let mut options = Options { early_stop, ..options(1 + chance.below(12) as u32) };
        options.concurrency = 1 + chance.below(4) as usize;
        let scene = Scene { custom_takes: chance.below(3_000), ..Scene::default() };
        let mut cached = 0;
        let mut latencies = chance.clone();
        let judge = &mut |_, asked: &Asked<'_>| {
            if latencies.percent(10) {
                cached += 1;
                return Fate::Cached(asked.reply());
            }
            Fate::Reply(latencies.below(2_000), asked.reply())
        };
        made.play(&options, scene, judge, |story| assert_eq!(gist(&story.results), calm, "seed {seed}"));
    }
}

#[test]
fn every_sample_is_answered_or_spared() {
    for seed in 0..60 {
        let made = made(seed, 1 + seed % 7, false, false);
        let options = options(5);
        made.run(&options, |run| {
            let metrics: Vec<String> = run.plan().metrics.iter().map(|metric| metric.name.clone()).collect();
            let mut latency = Chance(seed);
            let mut script = Script {
                judge: &mut |_, call, question| {
                    let asked = Asked { call, question, metric: &metrics[call.metric] };
                    match latency.percent(20) {
                        true => Fate::Cached(asked.reply()),
                        false => Fate::Reply(latency.below(900), asked.reply()),
                    }
                },
                custom_takes: 0,
                cancel_at: None,
                keeps_busy: true,
            };
            let samples = play(run, &options, &mut script).samples;
            let progress = run.progress();
            assert_eq!(progress.answered + progress.cached + progress.saved, samples, "seed {seed}");
            assert_eq!((progress.lost, progress.calls), (0, progress.answered), "seed {seed}");
        });
    }
}
