//! Budgets of calls, tokens and money.

use super::*;

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
        assert_eq!((progress.unsent, world.calls.spent()), (30 - most, "calls"));
        assert!(world.losses().iter().all(|loss| loss.is_unsent));
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
        [LostSample {
            question: 0,
            sample: 0,
            attempts: 1,
            is_unsent: false,
            reason: LossReason::BudgetExceeded
        }]
    );
    assert_eq!(world.now, 10);
    assert_eq!((world.calls.progress().lost, world.calls.progress().unsent), (1, 0), "it was asked");
}

#[test]
fn budgets_of_tokens_and_money_hold_what_calls_are_expected_to_use() {
    let usage = Usage { input_tokens: 1_000, output_tokens: 0 };
    let prices = Prices { input_per_million: 2.0, output_per_million: 8.0 };
    for (budget, spent, message) in [
        (
            Budget { tokens: Some(10_500), ..Budget::default() },
            "tokens",
            "one more call would take about 1000 tokens, more than is left of the budget of 10500 tokens for judges",
        ),
        (
            Budget { cost: Some(0.021), ..Budget::default() },
            "money",
            "one more call would cost about 0.002, more than is left of the budget of 0.021 for judges",
        ),
    ] {
        let mut world = World::new(CallOptions { budget, ..CallOptions::default() });
        let group = world.calls.add_group(None, prices);
        world.calls.ask(Ask { group, tokens: 1_000, ..ask(0, 30) });
        world.run(FOREVER, |_, _| Fate::Reply(100, usage), ignore);
        let progress = world.calls.progress();
        assert_eq!((progress.calls, progress.lost, progress.unsent), (10, 20, 20));
        assert_eq!(world.calls.spent(), spent);
        assert_eq!(world.calls.spent_message(), message);
        assert!((progress.cost - 0.02).abs() < 1e-12);
    }
}

#[test]
fn a_budget_says_what_it_is_and_what_a_call_would_take_of_it() {
    let prices = Prices { input_per_million: 0.36, output_per_million: 8.0 };
    let said = |budget, input_tokens| {
        let mut world = World::new(CallOptions { budget, ..CallOptions::default() });
        let group = world.calls.add_group(None, prices);
        world.calls.ask(Ask { group, tokens: 1_000, ..ask(0, 30) });
        let usage = Usage { input_tokens, output_tokens: 0 };
        world.run(FOREVER, |_, _| Fate::Reply(100, usage), ignore);
        world.calls.spent_message()
    };
    let cost = |cost| Budget { cost: Some(cost), ..Budget::default() };
    let tokens = |tokens| Budget { tokens: Some(tokens), ..Budget::default() };
    let calls = |calls| Budget { calls: Some(calls), ..Budget::default() };
    let no_call =
        "one call would cost about 0.00036, more than the budget of 0.00001 for judges: no call was made";
    assert_eq!(said(cost(0.000_01), 1_000), no_call);
    assert_eq!(said(cost(0.003_6), 10_000), "the budget of 0.0036 for judges is spent");
    let no_call = "one call would take about 1000 tokens, more than the budget of 400 tokens for judges: no call was made";
    assert_eq!(said(tokens(400), 1_000), no_call);
    assert_eq!(said(tokens(1_000), 1_000), "the budget of 1000 tokens for judges is spent");
    assert_eq!(said(calls(1), 1_000), "the budget of 1 call for judges is spent");
    assert_eq!(said(calls(7), 1_000), "the budget of 7 calls for judges is spent");
}

#[test]
fn tokens_that_a_call_reserved_but_did_not_use_are_available_to_others() {
    let budget = Budget { tokens: Some(5_000), ..Budget::default() };
    let mut world = World::new(CallOptions { budget, ..CallOptions::default() });
    world.calls.ask(Ask { tokens: 1_000, ..ask(0, 30) });
    let usage = Usage { input_tokens: 100, output_tokens: 150 };
    world.run(FOREVER, |_, _| Fate::Reply(100, usage), ignore);
    let progress = world.calls.progress();
    assert_eq!((progress.calls, progress.usage.total()), (16, 4_000), "a 17th might need 1,150");
}

#[test]
fn replies_are_expected_to_be_as_long_as_those_before() {
    let usage = Usage { input_tokens: 100, output_tokens: 900 };
    let prices = Prices { input_per_million: 1.0, output_per_million: 10.0 };
    let budgets = [
        (Budget { tokens: Some(20_500), ..Budget::default() }, "about 1000 tokens"),
        (Budget { cost: Some(0.183), ..Budget::default() }, "about 0.0091"),
    ];
    for (budget, expected) in budgets {
        let mut world = World::new(CallOptions { budget, ..CallOptions::default() });
        let group = world.calls.add_group(None, prices);
        world.calls.ask(Ask { group, tokens: 100, ..ask(0, 100) });
        world.run(FOREVER, |_, _| Fate::Reply(100, usage), ignore);
        assert_eq!(world.calls.progress().calls, 20, "{budget:?}");
        assert!(world.calls.spent_message().contains(expected), "{}", world.calls.spent_message());
    }
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
