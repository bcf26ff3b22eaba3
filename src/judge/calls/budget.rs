//! Whether the budget of [`Calls`] allows another call, and what it is spent of.

use super::task::{Expected, SampleTask};
use super::{Budget, Calls, LossReason, Usage};
use crate::foundation::double;

impl Calls {
    /// Which budget does not allow another call that takes this.
    pub(super) fn spent_by(&self, expected: Expected) -> Option<&'static str> {
        let Budget { calls, tokens, cost } = self.options.budget;
        let is_over = |used: f64, more: f64, most: Option<f64>| {
            most.is_some_and(|most| used >= most || used + more > most)
        };
        let used = self.progress.usage.total() as f64 + self.reserved.tokens;
        let spent = self.progress.cost + self.reserved.cost;
        let limits = [
            ("calls", calls.is_some_and(|most| self.progress.calls >= most)),
            ("tokens", is_over(used, expected.tokens, tokens.map(|most| most as f64))),
            ("money", is_over(spent, expected.cost, cost)),
        ];
        limits.into_iter().find_map(|(what, is_spent)| is_spent.then_some(what))
    }

    /// Ends the run for its budget.
    ///
    /// # Arguments
    ///
    /// * `expected`: What the call would take that it has no room for; 0 if nothing of it is left.
    pub(super) fn stop_for_budget(&mut self, spent: &'static str, expected: Expected) {
        self.spent = spent;
        self.no_room_for = if spent == "money" { expected.cost } else { expected.tokens };
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

    /// What a call for a sample takes if its reply is as long as those before on average.
    pub(super) fn expected(&self, task: &SampleTask) -> Expected {
        let output_tokens = self.progress.usage.output_tokens / u64::from(self.charges.max(1));
        let usage = Usage { input_tokens: u64::from(task.tokens), output_tokens };
        let cost = self.groups.get(task.group as usize).map_or(0.0, |group| group.cost(task.sample, usage));
        Expected { tokens: usage.total() as f64, cost }
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
