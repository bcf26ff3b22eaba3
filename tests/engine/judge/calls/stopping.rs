//! Cancellation and deadlines.

use super::*;

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
    let lost =
        LostSample { question: 2, sample: 0, attempts: 0, is_unsent: true, reason: LossReason::Cancelled };
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
