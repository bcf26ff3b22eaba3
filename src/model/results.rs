//! Results of a run, as ADK stores them.

use std::borrow::Cow;

use super::invocation::Invocation;
use super::shape::{List, Type, View, record};
use crate::foundation::json::Json;

/// The status of an evaluation. Files contain the integers; old files the words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EvalStatus {
    /// The score reaches the threshold.
    Passed = 1,
    /// The score does not reach the threshold.
    Failed = 2,
    /// There is no score; the result says why.
    #[default]
    NotEvaluated = 3,
    /// The metric is informational: its value neither passes nor fails.
    Informational = 4,
}

impl EvalStatus {
    /// Every status with the word in old files; then other words, of recorded runs.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Passed, "PASSED"),
        (Self::Failed, "FAILED"),
        (Self::NotEvaluated, "NOT_EVALUATED"),
        (Self::Informational, "INFORMATIONAL"),
        (Self::Passed, "SUCCESS"),
        (Self::Passed, "COMPLETED"),
        (Self::Failed, "FAILURE"),
    ];

    /// PASSED if the score reaches the threshold, NOT_EVALUATED without a score.
    #[must_use]
    pub fn from_score(score: Option<f64>, threshold: f64) -> Self {
        match score {
            Some(score) if score >= threshold => Self::Passed,
            Some(_) => Self::Failed,
            None => Self::NotEvaluated,
        }
    }

    /// The status of a case: FAILED if a metric failed, else PASSED if one passed, else NOT_EVALUATED.
    #[must_use]
    pub fn from_metrics(metrics: impl IntoIterator<Item = Self>) -> Self {
        let mut status = Self::NotEvaluated;
        for metric in metrics {
            match metric {
                Self::Failed => return Self::Failed,
                Self::Passed => status = Self::Passed,
                Self::NotEvaluated | Self::Informational => {}
            }
        }
        status
    }
}

impl EvalStatus {
    /// The status in JSON: its number, or its word in any case.
    pub(super) fn read(json: Json<'_>) -> Option<Self> {
        let number = json.as_f64();
        let word = json.as_str();
        let is_it = |(status, name): &&(Self, &str)| {
            number == Some(f64::from(*status as u8))
                || word.as_deref().is_some_and(|word| word.eq_ignore_ascii_case(name))
        };
        Self::ALL.iter().find(is_it).map(|(status, _)| *status)
    }

    fn digit(self) -> &'static str {
        match self {
            Self::Passed => "1",
            Self::Failed => "2",
            Self::NotEvaluated => "3",
            Self::Informational => "4",
        }
    }
}

impl<'a> View<'a> for EvalStatus {
    const TYPE: Type = Type::Special(
        |json| match Self::read(json) {
            Some(_) => Ok(()),
            None => Err(json.expected("a status: 1, 2, 3 or 4")),
        },
        |json| <Self as View<'_>>::from_json(json).digit().into(),
    );

    fn from_json(json: Json<'a>) -> Self {
        Self::read(json).unwrap_or_default()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for EvalStatus {
    fn schema_name() -> Cow<'static, str> {
        "EvalStatus".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "1 passed, 2 failed, 3 not evaluated, 4 informational.",
            "enum": [1, 2, 3, 4],
        })
    }
}

record! {
    /// The results of an evalset.
    pub struct EvalSetResult<'a> called "evalset results" {
        /// Identifies the result.
        eval_set_result_id: Cow<'a, str> = "eval_set_result_id" | "evalSetResultId";
        /// Its name, fit for a file.
        eval_set_result_name: Option<Cow<'a, str>> = "eval_set_result_name" | "evalSetResultName";
        /// The evalset.
        eval_set_id: Cow<'a, str> = "eval_set_id" | "evalSetId";
        /// The results of its cases.
        eval_case_results: List<'a, EvalCaseResult<'a>> = "eval_case_results" | "evalCaseResults" default;
        /// When it was made, in seconds since 1970.
        creation_timestamp: f64 = "creation_timestamp" | "creationTimestamp" default;
    } unknown_keys Kept
}

record! {
    /// The results of one run of a case.
    pub struct EvalCaseResult<'a> called "a case result" {
        /// The old name of the evalset.
        eval_set_file: Option<Cow<'a, str>> = "eval_set_file" | "evalSetFile";
        /// The evalset.
        eval_set_id: Cow<'a, str> = "eval_set_id" | "evalSetId" default;
        /// The case.
        eval_id: Cow<'a, str> = "eval_id" | "evalId" default;
        /// FAILED if a metric failed, else PASSED if one passed, else NOT_EVALUATED.
        final_eval_status: EvalStatus = "final_eval_status" | "finalEvalStatus";
        /// Each metric's result for the whole conversation.
        overall_eval_metric_results: List<'a, EvalMetricResult<'a>> = "overall_eval_metric_results" | "overallEvalMetricResults" default;
        /// Each metric's result for each turn.
        eval_metric_result_per_invocation: List<'a, EvalMetricResultPerInvocation<'a>> = "eval_metric_result_per_invocation" | "evalMetricResultPerInvocation" default;
        /// The session of the run.
        session_id: Cow<'a, str> = "session_id" | "sessionId" default;
        /// The session itself.
        session_details: Option<Json<'a>> = "session_details" | "sessionDetails" => Type::Object;
        /// The user of the run.
        user_id: Option<Cow<'a, str>> = "user_id" | "userId";
    } unknown_keys Kept
}

record! {
    /// The results of one turn.
    pub struct EvalMetricResultPerInvocation<'a> called "the results of an invocation" {
        /// What the agent did.
        actual_invocation: Invocation<'a> = "actual_invocation" | "actualInvocation";
        /// What it was expected to do.
        expected_invocation: Option<Invocation<'a>> = "expected_invocation" | "expectedInvocation";
        /// Each metric's result.
        eval_metric_results: List<'a, EvalMetricResult<'a>> = "eval_metric_results" | "evalMetricResults" default;
    }
}

record! {
    /// What one metric found.
    pub struct EvalMetricResult<'a> called "a metric result" {
        /// The metric.
        metric_name: Cow<'a, str> = "metric_name" | "metricName";
        /// The lowest score that passes.
        threshold: Option<f64> = "threshold" | "threshold";
        /// The metric's settings.
        criterion: Option<Json<'a>> = "criterion" | "criterion" => Type::Object;
        /// The import path of a custom metric.
        custom_function_path: Option<Cow<'a, str>> = "custom_function_path" | "customFunctionPath";
        /// The score; absent if there is none.
        score: Option<f64> = "score" | "score";
        /// How the evaluation ended.
        eval_status: EvalStatus = "eval_status" | "evalStatus";
        /// What the score is made of.
        details: Option<EvalMetricResultDetails<'a>> = "details" | "details";
    } unknown_keys Ignored
}

record! {
    /// What a score is made of.
    pub struct EvalMetricResultDetails<'a> called "the details of a metric result" {
        /// The score of each rubric.
        rubric_scores: Option<List<'a, RubricScore<'a>>> = "rubric_scores" | "rubricScores";
        /// The tokens by kind.
        token_usage_details: Option<TokenUsageDetails<'a>> = "token_usage_details" | "tokenUsageDetails";
        /// The seconds by kind.
        duration_details: Option<DurationDetails<'a>> = "duration_details" | "durationDetails";
    }
}

record! {
    /// The score of one rubric.
    pub struct RubricScore<'a> called "a rubric score" {
        /// The rubric.
        rubric_id: Cow<'a, str> = "rubric_id" | "rubricId";
        /// Why it got this score.
        rationale: Option<Cow<'a, str>> = "rationale" | "rationale";
        /// 1 for yes, 0 for no; for a whole conversation, the share of turns with yes.
        score: Option<f64> = "score" | "score";
    }
}

/// A count or a duration, if it was reported.
type Amount = Option<f64>;

record! {
    /// Tokens by kind. Absent does not mean zero: that kind was not reported.
    pub struct TokenUsageDetails<'a> called "token usage details" {
        /// Input and output.
        total_tokens: Amount = "total_tokens" | "totalTokens";
        /// Prompt and tool use.
        input_tokens: Amount = "input_tokens" | "inputTokens";
        /// The prompt, cached tokens included.
        prompt_tokens: Amount = "prompt_tokens" | "promptTokens";
        /// The part of the prompt that came from a cache.
        cached_tokens: Amount = "cached_tokens" | "cachedTokens";
        /// Results of tools that the model called itself.
        tool_use_tokens: Amount = "tool_use_tokens" | "toolUseTokens";
        /// Candidates and reasoning.
        output_tokens: Amount = "output_tokens" | "outputTokens";
        /// The answers.
        candidates_tokens: Amount = "candidates_tokens" | "candidatesTokens";
        /// Thoughts.
        reasoning_tokens: Amount = "reasoning_tokens" | "reasoningTokens";
    } unknown_keys Kept
}

record! {
    /// Seconds by kind; the parts add up to the total. Absent does not mean zero: it was not measured.
    pub struct DurationDetails<'a> called "duration details" {
        /// The whole turn.
        total_seconds: Amount = "total_seconds" | "totalSeconds";
        /// Waiting for a model.
        model_seconds: Amount = "model_seconds" | "modelSeconds";
        /// In tools while not waiting for a model.
        tool_seconds: Amount = "tool_seconds" | "toolSeconds";
        /// The rest.
        framework_seconds: Amount = "framework_seconds" | "frameworkSeconds";
    } unknown_keys Kept
}
