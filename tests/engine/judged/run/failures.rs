//! Faults, refusals, budgets, deadlines and cancellation.

use super::*;

// ---- faults

fn storm(made: &Made, options: &Options, seed: u64, look: &mut dyn FnMut(&Story<'_>)) {
    let mut chance = Chance(seed);
    let judge = &mut |_, asked: &Asked<'_>| match chance.percent(30) {
        true => fault(&mut chance),
        false => Fate::Reply(100 + chance.below(1_500), asked.reply()),
    };
    made.play(options, Scene { custom_takes: 500, ..Scene::default() }, judge, look);
}

#[test]
fn storms_lose_no_verdict_and_the_same_seed_gives_the_same_trace() {
    for seed in 2_000..2_080 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(14), seed % 2 == 0, seed % 5 == 0);
        let calm = calm_gist(&made, true);
        let mut options = options(1 + chance.below(16) as u32);
        options.judges.calls.timeout_ms = 5_000.0;
        options.judges.calls.seed = seed;
        let mut traces: Vec<Vec<(u64, Wish)>> = Vec::new();
        for (server, retries) in [(seed, seed), (seed, seed), (seed, seed + 1), (seed + 1, seed)] {
            options.judges.calls.seed = retries;
            storm(&made, &options, server, &mut |story| {
                assert_eq!(gist(&story.results), calm, "seed {seed}");
                traces.push(story.wishes.clone());
            });
            if seed % 4 != 0 && traces.len() == 2 {
                break;
            }
        }
        assert!(traces[0] == traces[1], "seed {seed}: two runs of one seed differ");
    }
}

#[test]
fn failed_samples_are_asked_once_more_when_the_rest_of_the_run_is_done() {
    let mut had_second_chance = 0;
    for seed in 3_000..3_060 {
        let made = made(seed, 1 + seed % 9, false, false);
        let calm = calm_gist(&made, true);
        let mut options = options(4);
        options.judges.calls.retry =
            RetryOptions { attempts: 2, initial_delay_ms: 10.0, ..RetryOptions::default() };
        // Of some questions no sample is answered before it was sent three times.
        let mut sent: HashMap<(u32, u32), u32> = HashMap::new();
        let mut is_ever_answered = false;
        let judge = &mut |_, asked: &Asked<'_>| {
            if Chance(asked.call.call.question.into()).percent(60) {
                is_ever_answered = true;
                return Fate::Reply(50, asked.reply());
            }
            let times = sent.entry((asked.call.call.question, asked.call.call.sample)).or_default();
            *times += 1;
            if *times < 3 { Fate::Fail(20, passing()) } else { Fate::Reply(50, asked.reply()) }
        };
        let found = made.play(&options, Scene::default(), judge, |story| gist(&story.results));
        if is_ever_answered {
            assert_eq!(found, calm, "seed {seed}");
            had_second_chance += u32::from(!sent.is_empty());
        }
    }
    assert!(had_second_chance > 30, "{had_second_chance}");
}

#[test]
fn a_judge_that_never_answers_is_not_asked_again_in_the_end() {
    for seed in 0..20 {
        let made = made(seed, 3, false, false);
        let mut options = options(4);
        options.judges.calls.retry = RetryOptions { attempts: 3, ..RetryOptions::default() };
        let judge = &mut |_, _: &Asked<'_>| Fate::Fail(5, passing());
        made.play(&options, Scene::default(), judge, |story| {
            assert!(story.sent().all(|(_, call, _)| call.attempt <= 3));
            let mut samples: Vec<_> =
                story.sent().map(|(_, call, _)| (call.question, call.sample, call.attempt)).collect();
            let all = samples.len();
            samples.sort_unstable();
            samples.dedup();
            assert_eq!(samples.len(), all, "seed {seed}: no attempt is made twice");
        });
    }
}

#[test]
fn a_key_that_is_refused_stops_its_metric_and_no_other() {
    let mut barred_runs = 0;
    for seed in 4_000..4_060 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(30), seed % 2 == 0, false);
        let calm = calm_gist(&made, true);
        let concurrency = 1 + chance.below(6);
        let from = chance.below(400);
        let refused = chance.below(3) as usize;
        let judge = &mut |now, asked: &Asked<'_>| match asked.call.metric == refused && now >= from {
            true => Fate::Fail(30, failure(FailureKind::Auth, false)),
            false => Fate::Reply(100, asked.reply()),
        };
        made.play(&options(concurrency as u32), Scene::default(), judge, |story| {
            let of_refused: Vec<u64> =
                story.sent().filter(|(_, _, metric)| *metric == refused).map(|(at, ..)| at).collect();
            let Some(first) = of_refused.iter().copied().find(|at| *at >= from) else { return };
            barred_runs += 1;
            assert!(of_refused.iter().all(|at| *at < first + 30), "seed {seed}: {of_refused:?}");
            for ((pairing, found), (_, calm)) in gist(&story.results).iter().zip(&calm) {
                for (metric, (found, calm)) in found.iter().zip(calm).enumerate() {
                    assert!(metric == refused || found == calm, "seed {seed}, case {pairing:?}");
                }
            }
            let metrics = story.results.iter().filter_map(|result| result.metrics.get(refused));
            let mut reasons =
                metrics.flat_map(|metric| &metric.turns).filter_map(|turn| turn.reason.as_deref());
            // A turn of hallucinations_v1 scores the steps that were checked.
            let is_told = reasons.any(|reason| reason.contains("out of order"));
            assert!(is_told || made.config.contains(HALLUCINATIONS), "seed {seed}");
        });
    }
    assert!(barred_runs > 20, "{barred_runs}");
}

#[test]
fn a_server_that_is_none_is_not_asked_for_minutes() {
    for (seed, help) in (0..20).flat_map(|seed| [(seed, Some("A web page answered")), (seed, None)]) {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(12), false, false);
        let mut page = 0;
        let judge = &mut |_, _: &Asked<'_>| {
            page += 1;
            // Web pages differ in details.
            let message = if help.is_some() { format!("answered <p>{page}") } else { "answered []".into() };
            let help = help.map(ToOwned::to_owned);
            Fate::Fail(30, Failure { message, help, ..failure(FailureKind::Malformed, true) })
        };
        made.play(&options(4), Scene::default(), judge, |story| {
            // Those that are under way when the fourth answer comes are three more.
            for metric in 0..3 {
                let calls = story.sent().filter(|(_, _, asked)| *asked == metric).count();
                assert!(calls <= 7, "seed {seed}, metric {metric}: {calls} calls");
            }
            // Four answers to one question that are none take three delays.
            assert!(story.took <= 60_000, "seed {seed}: {}", story.took);
        });
    }
}

#[test]
fn a_server_that_answered_may_answer_nonsense_for_a_while() {
    let made = made(3, 6, false, false);
    let mut times = 0;
    let judge = &mut |_, asked: &Asked<'_>| {
        times += 1;
        match times {
            4..=12 => Fate::Fail(30, failure(FailureKind::Malformed, true)),
            _ => Fate::Reply(100, asked.reply()),
        }
    };
    made.play(&options(1), Scene::default(), judge, |story| {
        assert_eq!(gist(&story.results), calm_gist(&made, true));
    });
}

// ---- budgets and stops

/// The verdicts of turns that are there in spite of a stop are those that there would have been.
fn assert_part_of(story: &Story<'_>, made: &Made, what: &str) {
    let judge = &mut |_, asked: &Asked<'_>| Fate::Reply(100, asked.reply());
    made.play(&options(8), Scene::default(), judge, |calm| {
        for result in &story.results {
            let calm = calm.results.iter().find(|calm| calm.pairing == result.pairing).unwrap();
            for (index, (found, calm)) in result.metrics.iter().zip(&calm.metrics).enumerate() {
                for (turn, calm) in found.turns.iter().zip(&calm.turns) {
                    let is_mean_of_steps = made.config.contains(HALLUCINATIONS);
                    assert!(
                        turn.score.is_none() || turn.score == calm.score || is_mean_of_steps,
                        "{what}: metric {index} of {:?}",
                        result.pairing
                    );
                }
            }
        }
    });
}

fn latency(chance: &mut Chance) -> impl FnMut(u64, &Asked<'_>) -> Fate {
    let mut chance = chance.clone();
    move |_, asked| Fate::Reply(50 + chance.below(400), asked.reply())
}

#[test]
fn budgets_stop_at_once_and_let_calls_in_flight_finish() {
    let mut spent = 0;
    for seed in 5_000..5_090 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(25), seed % 2 == 0, false);
        let mut options = options(1 + chance.below(8) as u32);
        let price = Prices { input_per_million: 1e6, output_per_million: 0.0 };
        options.judges.prices = vec![("gemini-2.5-flash".into(), price)];
        let most = 1 + chance.below(60);
        let budget = &mut options.judges.calls.budget;
        match seed % 3 {
            0 => *budget = Budget { calls: Some(most as u32), ..Budget::default() },
            1 => *budget = Budget { tokens: Some(most * 200), ..Budget::default() },
            _ => *budget = Budget { cost: Some(most as f64 * 100.0), ..Budget::default() },
        }
        let mut judge = latency(chance);
        made.play(&options, Scene::default(), &mut judge, |story| {
            let sent = story.sent().count() as u64;
            assert!(seed % 3 != 0 || sent <= most, "seed {seed}: {sent} of {most} calls");
            assert_eq!(story.aborted().count(), 0, "seed {seed}");
            let of_budget = |result: &CaseResult<'_>| {
                let mut reasons = result.metrics.iter().filter_map(|metric| metric.reason.as_deref());
                reasons.any(|reason| reason.contains("budget"))
            };
            if story.results.iter().any(of_budget) {
                spent += 1;
                let last = story.sent().map(|(at, ..)| at).max().unwrap_or_default();
                assert!(story.took <= last + 450, "seed {seed}: nothing is waited for but the last calls");
            }
            assert_part_of(story, &made, &format!("seed {seed}"));
        });
    }
    assert!(spent > 35, "{spent}");
}

#[test]
fn the_deadline_and_cancelling_abort_what_is_open() {
    for seed in 6_000..6_090 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(25), seed % 2 == 0, seed % 7 == 0);
        let concurrency = 1 + chance.below(8) as u32;
        let mut options = options(concurrency);
        let at = 1 + chance.below(2_000);
        let is_deadline = seed % 2 == 1;
        let mut scene = Scene { custom_takes: 30, ..Scene::default() };
        match is_deadline {
            true => options.judges.calls.run_timeout_ms = at as f64,
            false => scene.cancel_at = Some(at),
        }
        let mut judge = latency(chance);
        made.play(&options, scene, &mut judge, |story| {
            assert!(story.sent().all(|(sent, ..)| sent < at || (!is_deadline && sent == at)), "seed {seed}");
            assert!(story.aborted().all(|aborted| aborted == at), "seed {seed}");
            assert!(story.aborted().count() <= concurrency as usize);
            assert!(story.took <= at, "seed {seed}: took {} of {at} ms", story.took);
            assert_part_of(story, &made, &format!("seed {seed}"));
        });
    }
}

#[test]
fn a_pause_with_nothing_left_to_send_ends_with_the_next_case() {
    for seed in 0..40 {
        let chance = &mut Chance(seed);
        let made = made(seed, 12, false, false);
        let mut options = options(1 + chance.below(3) as u32);
        options.judges.calls.retry.attempts = 1;
        let judge = &mut |_, asked: &Asked<'_>| {
            let limited = Failure { retry_after_ms: Some(1_000.0), ..limited() };
            if chance.percent(50) { Fate::Fail(10, limited) } else { Fate::Reply(100, asked.reply()) }
        };
        made.play(&options, Scene::default(), judge, |story| {
            assert_part_of(story, &made, &format!("seed {seed}"))
        });
    }
}

/// Faults that pass and faults that do not, refused keys, limits, budgets and stops, all at once.
#[test]
fn every_run_ends_with_every_case_under_any_failures() {
    for seed in 7_000..7_150 {
        let chance = &mut Chance(seed);
        let made = made(seed, 1 + chance.below(12), seed % 2 == 0, seed % 3 == 0);
        let mut options = Options { early_stop: chance.percent(70), ..options(1 + chance.below(10) as u32) };
        let judging = &mut options.judges.calls;
        judging.retry.attempts = 1 + chance.below(3) as u32;
        judging.timeout_ms = 2_500.0;
        judging.seed = seed;
        if chance.percent(20) {
            judging.run_timeout_ms = chance.below(20_000) as f64;
        }
        if chance.percent(20) {
            judging.budget.calls = Some(chance.below(100) as u32);
        }
        let cancel_at = chance.percent(20).then(|| chance.below(20_000));
        let scene = Scene { custom_takes: chance.below(900), cancel_at, keeps_busy: false };
        let faults = chance.below(60);
        let mut chance = chance.clone();
        let judge = &mut |_, asked: &Asked<'_>| match chance.below(100) {
            0..4 => Fate::Fail(chance.below(300), lasting()),
            4 if faults > 40 => {
                let refused = failure(FailureKind::Auth, false);
                Fate::Fail(chance.below(300), refused)
            }
            5..10 => Fate::Cached(asked.reply()),
            other if other < faults => fault(&mut chance),
            _ => Fate::Reply(chance.below(1_500), asked.reply()),
        };
        made.play(&options, scene, judge, |story| assert_part_of(story, &made, &format!("seed {seed}")));
    }
}

#[test]
fn a_run_that_is_cancelled_before_it_begins_asks_nobody() {
    let made = made(1, 20, true, false);
    made.run(&options(4), |run| {
        run.cancel();
        let judge = &mut |_, _: &JudgeCall, _: &Question| -> Fate { panic!("a judge is asked") };
        let mut script = Script { judge, custom_takes: 0, cancel_at: None, keeps_busy: false };
        let story = play(run, &options(4), &mut script);
        assert_eq!(story.results.len(), run.total());
        assert!(story.results.iter().all(|result| result.failure.is_some()));
    });
}
