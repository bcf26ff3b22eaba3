//! Many faults at once, compared with a plain limiter.

use super::*;

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
                "{percent}%, {concurrency} at a time, {latency} ms: {ours} ms instead of {plain}"
            );
        }
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
                News::Lost(LostSample { question, sample, attempts, reason, .. }) => {
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
        assert_eq!(verdicts, 0, "at {percent}%, of 20,000; {samples} samples");
    }
}
