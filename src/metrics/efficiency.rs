//! Shared by the four efficiency metrics, which are informational: their values neither pass nor fail.

use super::{Details, Evaluation, TurnEvaluation, mean};
use crate::foundation::error::{ErrorCode, Result};
use crate::foundation::write::{Write, Writer};
use crate::model::config::MetricConfig;
use crate::model::invocation::Invocation;
use crate::model::results::{DurationDetails, EvalStatus, TokenUsageDetails};

/// Fails if the config gives the metric a threshold or a criterion.
pub(super) fn informational(metric_config: &MetricConfig<'_, '_>) -> Result<()> {
    if metric_config.threshold.is_none() && metric_config.criterion.is_none() {
        return Ok(());
    }
    let message = format!("`{}` is only counted, so it takes no threshold", metric_config.name);
    Err(metric_config
        .location
        .error(ErrorCode::ThresholdNotSupported, message)
        .with_help("Leave it out of `criteria`: it is reported for every evaluation"))
}

/// The result with the mean of the turns that have a value.
pub(super) fn conclude_mean<'a>(turns: Vec<TurnEvaluation<'a>>, reason: &'static str) -> Evaluation<'a> {
    let score = mean(turns.iter().filter_map(|turn| turn.score));
    overall(score, reason, turns)
}

/// The result of a turn: its value, or the reason why there is none.
pub(super) fn reported<'a>(score: Option<f64>, reason: &'static str) -> TurnEvaluation<'a> {
    TurnEvaluation {
        score,
        status: EvalStatus::Informational,
        reason: score.is_none().then_some(reason.into()),
        ..TurnEvaluation::default()
    }
}

/// The result of a conversation: its value, or the reason why there is none.
fn overall<'a>(score: Option<f64>, reason: &'static str, turns: Vec<TurnEvaluation<'a>>) -> Evaluation<'a> {
    let reason = if turns.is_empty() { super::NO_TURNS } else { reason };
    Evaluation {
        score,
        status: EvalStatus::Informational,
        reason: score.is_none().then_some(reason.into()),
        turns,
        ..Evaluation::default()
    }
}

/// Amounts by kind. `None` is not zero: that kind was not reported.
pub(super) trait AmountsByKind: Copy + Default + PartialEq {
    /// Computes the amount of each kind. `compute` gets a function that selects the kind.
    fn from_kinds(compute: impl FnMut(fn(&Self) -> Option<f64>) -> Option<f64>) -> Self;

    /// The total of all kinds.
    fn total(&self) -> Option<f64>;
}

/// Declares amounts by kind, with the fields of a record of results.
macro_rules! amounts {
    ($(#[$meta:meta])* $name:ident, written as $record:ident, $total:ident $($(#[$kind_meta:meta])* $kind:ident)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name {
            /// The total.
            pub $total: Option<f64>,
            $( $(#[$kind_meta])* pub $kind: Option<f64>, )*
        }

        impl AmountsByKind for $name {
            fn from_kinds(compute: impl FnMut(fn(&Self) -> Option<f64>) -> Option<f64>) -> Self {
                let kinds: [fn(&Self) -> Option<f64>; _] = [|amounts| amounts.$total, $(|amounts| amounts.$kind),*];
                let [$total, $($kind),*] = kinds.map(compute);
                Self { $total, $($kind),* }
            }

            fn total(&self) -> Option<f64> {
                self.$total
            }
        }

        impl Write for $name {
            fn write(&self, out: &mut Writer) {
                let amounts = [(stringify!($total), self.$total), $((stringify!($kind), self.$kind)),*];
                let mut object = out.object();
                for (key, amount) in amounts {
                    if let Some(field) = $record::SHAPE.field(key) {
                        object.field(field.snake, field.camel, &amount);
                    }
                }
                object.end();
            }
        }
    };
}

amounts! {
    /// Tokens by kind. `None` is not zero: that kind was not reported.
    TokensByKind, written as TokenUsageDetails,
    total_tokens
    /// Prompt and tool use.
    input_tokens
    /// The prompt, cached tokens included.
    prompt_tokens
    /// The part of the prompt that came from a cache.
    cached_tokens
    /// Results of tools that the model called itself.
    tool_use_tokens
    /// Candidates and reasoning.
    output_tokens
    /// The answers.
    candidates_tokens
    /// Thoughts.
    reasoning_tokens
}

amounts! {
    /// Seconds by kind. `None` is not zero: that kind was not measured.
    SecondsByKind, written as DurationDetails,
    total_seconds
    /// Waiting for a model.
    model_seconds
    /// In tools while not waiting for a model.
    tool_seconds
    /// The rest.
    framework_seconds
}

/// How a metric with several kinds of amounts is computed.
pub(super) struct Measure<A> {
    /// The amounts of a turn.
    pub(super) turn_amounts: fn(Invocation<'_>) -> A,
    /// The average of one kind, given the reported amounts and the number of turns.
    pub(super) average: fn(&[f64], usize) -> Option<f64>,
    /// Wraps amounts as details.
    pub(super) details: fn(A) -> Details,
    /// Unwraps the amounts of such details.
    pub(super) amounts: fn(&Details) -> Option<&A>,
    /// The reason if there is no total.
    pub(super) reason: &'static str,
}

impl<A: AmountsByKind> Measure<A> {
    /// The result of a turn, with the total as its score.
    pub(super) fn turn<'a>(&self, turn: Invocation<'_>) -> TurnEvaluation<'a> {
        let amounts = (self.turn_amounts)(turn);
        TurnEvaluation { details: self.details(amounts), ..reported(amounts.total(), self.reason) }
    }

    /// The result of the conversation: the average of each kind.
    pub(super) fn conclude<'a>(&self, turns: Vec<TurnEvaluation<'a>>) -> Evaluation<'a> {
        let all: Vec<&A> =
            turns.iter().filter_map(|turn| turn.details.as_deref()).filter_map(self.amounts).collect();
        let averages = A::from_kinds(|kind| {
            let reported: Vec<f64> = all.iter().filter_map(|amounts| kind(amounts)).collect();
            (self.average)(&reported, turns.len())
        });
        Evaluation { details: self.details(averages), ..overall(averages.total(), self.reason, turns) }
    }

    /// The amounts as details; `None` if there are none.
    fn details(&self, amounts: A) -> Option<Box<Details>> {
        (amounts != A::default()).then(|| Box::new((self.details)(amounts)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::json::Document;
    use crate::foundation::write::{Spelling, to_json};
    use crate::model::shape::Shape;

    #[test]
    fn amounts_are_written_under_the_keys_of_their_record() {
        let check = |json: String, record: &Shape| {
            let document = Document::parse(json).unwrap();
            let keys: Vec<String> = document.root().entries().map(|(key, _)| key.into_owned()).collect();
            assert_eq!(keys, record.fields.iter().map(|field| field.snake).collect::<Vec<_>>());
        };
        let tokens = TokensByKind::from_kinds(|_| Some(1.0));
        check(to_json(&tokens, Spelling::Snake), &TokenUsageDetails::SHAPE);
        let seconds = SecondsByKind::from_kinds(|_| Some(1.0));
        check(to_json(&seconds, Spelling::Snake), &DurationDetails::SHAPE);
    }
}
