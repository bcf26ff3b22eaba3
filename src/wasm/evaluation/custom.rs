//! The results of the user's own metrics, as they return them. Apart, because nothing about them can be relied on.

use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::model::results::EvalStatus;
use crate::run::{CustomEvaluation, CustomTurn};
use crate::wasm::OptionsReader;

/// What a metric of the user's found.
pub(super) fn evaluation(given: OptionsReader<'_>) -> Result<CustomEvaluation> {
    let turns = given.list("turns")?;
    Ok(CustomEvaluation {
        score: given.number("score")?,
        status: status(given)?,
        reason: given.text("reason")?,
        turns: turns.into_iter().map(|turn| custom_turn(OptionsReader(turn))).collect::<Result<_>>()?,
    })
}

fn custom_turn(given: OptionsReader<'_>) -> Result<CustomTurn> {
    Ok(CustomTurn { score: given.number("score")?, status: status(given)?, reason: given.text("reason")? })
}

fn status(given: OptionsReader<'_>) -> Result<Option<EvalStatus>> {
    let Some(number) = given.number("status")? else { return Ok(None) };
    let known = EvalStatus::ALL.iter().find(|(status, _)| f64::from(*status as u8) == number);
    known.map(|(status, _)| Some(*status)).ok_or_else(|| {
        let message = format!("the metric gave the status {}; statuses are 1 to 4", double::to_text(number));
        Error::new(ErrorCode::CustomMetricFailed, message)
    })
}

/// What is found without having the shape of a result.
pub(super) fn no_result(error: Error) -> Error {
    if error.code == ErrorCode::CustomMetricFailed {
        return error;
    }
    let message = format!("the metric gave no evaluation result: {}", error.message);
    Error::new(ErrorCode::CustomMetricFailed, message)
}
