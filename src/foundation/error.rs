//! The error type: what is wrong, where in the input, and what the user can do about it.
//!
//! It replaces an enum of errors (`thiserror`): every error is shown to users with a path, a line and advice,
//! in Rust and in JavaScript alike. It is one pointer wide, so that results of fallible functions stay small.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::write::{Object, Write, Writer};

/// The kind of an [`Error`]. The names are stable: programs may match on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ErrorCode {
    /// The text is not JSON, or not UTF-8.
    InvalidJson,
    /// The text is JSON, but does not have the expected shape.
    InvalidInput,
    /// The input exceeds a stated limit on size, nesting or number of values.
    LimitExceeded,
    /// Neither a metric nor its criterion has a threshold.
    ThresholdRequired,
    /// An informational metric was given a threshold or a criterion.
    ThresholdNotSupported,
    /// No metric has this name.
    UnknownMetric,
    /// The criterion of a metric cannot be used.
    InvalidCriterion,
    /// The metric compares with a reference, and none was given.
    ReferenceRequired,
    /// Actual and expected conversations differ in their number of turns.
    LengthMismatch,
    /// No actual conversation belongs to an eval case.
    ActualMissing,
    /// Two different rubrics have the same id.
    RubricConflict,
    /// A metric needs rubrics, and there are none.
    RubricsRequired,
    /// A metric judges a simulated user, and the case has no scenario.
    ScenarioRequired,
    /// A call of a judge failed, or its reply cannot be used.
    JudgeFailed,
    /// The budget for judges is spent.
    BudgetExceeded,
    /// A custom metric failed.
    CustomMetricFailed,
    /// A time limit was exceeded.
    Timeout,
    /// The run was cancelled before this was scored.
    Cancelled,
}

impl ErrorCode {
    /// The name in JSON and JavaScript.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::InvalidInput => "invalid_input",
            Self::LimitExceeded => "limit_exceeded",
            Self::ThresholdRequired => "threshold_required",
            Self::ThresholdNotSupported => "threshold_not_supported",
            Self::UnknownMetric => "unknown_metric",
            Self::InvalidCriterion => "invalid_criterion",
            Self::ReferenceRequired => "reference_required",
            Self::LengthMismatch => "length_mismatch",
            Self::ActualMissing => "actual_missing",
            Self::RubricConflict => "rubric_conflict",
            Self::RubricsRequired => "rubrics_required",
            Self::ScenarioRequired => "scenario_required",
            Self::JudgeFailed => "judge_failed",
            Self::BudgetExceeded => "budget_exceeded",
            Self::CustomMetricFailed => "custom_metric_failed",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A boxed [`Diagnostic`], so that results stay small.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<Diagnostic>);

/// What is wrong with a user's input, as data.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Error"))]
pub struct Diagnostic {
    /// The kind of the error.
    pub code: ErrorCode,
    /// What is wrong: what was expected and what was found.
    pub message: String,
    /// Where in the input, as a JSON path such as `eval_cases[2].conversation[0].user_content`.
    pub path: Option<String>,
    /// The line of the input, counted from 1.
    pub line: Option<u32>,
    /// What the user can do about it.
    pub help: Option<String>,
}

impl Deref for Error {
    type Target = Diagnostic;

    fn deref(&self) -> &Diagnostic {
        &self.0
    }
}

impl DerefMut for Error {
    fn deref_mut(&mut self) -> &mut Diagnostic {
        &mut self.0
    }
}

impl Error {
    /// An error without a location.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Diagnostic { code, message: message.into(), path: None, line: None, help: None }))
    }

    /// Adds advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the JSON path, unless a more precise one is there already.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.path.get_or_insert_with(|| path.into());
        self
    }

    /// Adds the line, unless there is one already.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> Self {
        self.line.get_or_insert(line);
        self
    }
}

/// The same text as the package's `describe` (`pkg-template/src/errors.ts`); `tests/vectors/error-texts.json` holds both to it.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A message that ends in a full stop gets no second one before the help.
        let is_bare = self.path.is_none() && self.line.is_none() && self.help.is_some();
        f.write_str(self.message.strip_suffix('.').filter(|_| is_bare).unwrap_or(&self.message))?;
        match (&self.path, self.line) {
            (Some(path), Some(line)) => write!(f, " (at {path}, line {line})")?,
            (Some(path), None) => write!(f, " (at {path})")?,
            (None, Some(line)) => write!(f, " (at line {line})")?,
            (None, None) => {}
        }
        if let Some(help) = &self.help {
            write!(f, ". {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

impl Error {
    /// Writes the fields into an object that may have others.
    pub(crate) fn write_fields(&self, object: &mut Object<'_>) {
        object.entry("code", &self.code.as_str());
        object.entry("message", &self.message);
        object.field("path", "path", &self.path);
        object.field("line", "line", &self.line);
        object.field("help", "help", &self.help);
    }
}

impl Write for Error {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        self.write_fields(&mut object);
        object.end();
    }
}

/// The result of reading or scoring.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_where_and_what_to_do() {
        type Row = (serde_json::Map<String, serde_json::Value>, String);
        let rows: Vec<Row> =
            serde_json::from_str(include_str!("../../tests/vectors/error-texts.json")).unwrap();
        for (fields, text) in rows {
            let string = |key: &str| fields.get(key).and_then(|value| value.as_str()).map(str::to_owned);
            let mut error = Error::new(ErrorCode::InvalidInput, string("message").unwrap());
            error.path = string("path");
            error.line = fields.get("line").map(|line| line.as_u64().unwrap() as u32);
            error.help = string("help");
            assert_eq!(error.to_string(), text);
        }
    }
}
