//! Whether the budget of [`Calls`] allows another call, and what it is spent of.

use super::task::SampleTask;
use super::{Budget, Calls, LossReason};

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

    pub(super) fn stop_for_budget(&mut self, spent: &'static str) {
        self.spent = spent;
        self.stop(LossReason::BudgetExceeded);
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
