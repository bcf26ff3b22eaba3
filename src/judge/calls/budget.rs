//! Whether the budget of [`Calls`] allows another call, and what it is spent of.

use super::task::SampleTask;
use super::{Budget, Calls, LossReason};
use crate::foundation::double;

impl Calls {
    /// Which budget does not allow another call with these tokens and this cost.
    pub(super) fn spent_by(&self, tokens: u32, cost: f64) -> Option<&'static str> {
        let Budget { calls, tokens: most_tokens, cost: most_cost } = self.options.budget;
        let used = self.progress.usage.total() + self.reserved_tokens;
        let spent = self.progress.cost + self.reserved_cost;
        let limits = [
            ("calls", calls.is_some_and(|most| self.progress.calls >= most)),
            ("tokens", most_tokens.is_some_and(|most| used >= most || used + u64::from(tokens) > most)),
            ("money", most_cost.is_some_and(|most| spent >= most || spent + cost > most)),
        ];
        limits.into_iter().find_map(|(what, is_spent)| is_spent.then_some(what))
    }

    /// Ends the run for its budget.
    ///
    /// # Arguments
    ///
    /// * `tokens`, `cost`: Of the call that it has no room for; 0 if nothing of it is left.
    pub(super) fn stop_for_budget(&mut self, spent: &'static str, tokens: u32, cost: f64) {
        self.spent = spent;
        self.no_room_for = if spent == "money" { cost } else { f64::from(tokens) };
        self.stop(LossReason::BudgetExceeded);
    }

    /// Why [`LossReason::BudgetExceeded`] stopped the run, with the limit.
    #[must_use]
    pub fn spent_message(&self) -> String {
        let Budget { calls, tokens, cost } = self.options.budget;
        let (limit, unit) = match self.spent {
            "calls" if calls == Some(1) => (1.0, " call"),
            "calls" => (f64::from(calls.unwrap_or_default()), " calls"),
            "tokens" => (tokens.unwrap_or_default() as f64, " tokens"),
            _ => (cost.unwrap_or_default(), ""),
        };
        let budget = ["the budget of ", &double::to_text(limit), unit, " for judges"].concat();
        if self.spent == "calls" || self.no_room_for <= 0.0 {
            return budget + " is spent";
        }
        let verb = if unit.is_empty() { "cost" } else { "take" };
        let needed = double::to_text(two_digits(self.no_room_for));
        let (more, than, end) = match self.progress.calls {
            0 => ("", "", ": no call was made"),
            _ => (" more", "is left of ", ""),
        };
        ["one", more, " call would ", verb, " about ", &needed, unit, ", more than ", than, &budget, end]
            .concat()
    }

    /// What the budget is spent of: `calls`, `tokens` or `money`. Empty until [`LossReason::BudgetExceeded`] stops the run.
    #[must_use]
    pub fn spent(&self) -> &'static str {
        self.spent
    }

    pub(super) fn expected_cost(&self, task: &SampleTask) -> f64 {
        self.groups.get(task.group as usize).map_or(0.0, |group| group.cost(task.sample, task.expected()))
    }
}

/// An amount above 0, rounded up to two digits or an integer.
fn two_digits(amount: f64) -> f64 {
    let mut scale = 1.0;
    while amount * scale < 10.0 && scale < 1e12 {
        scale *= 10.0;
    }
    (amount * scale).ceil() / scale
}
