//! Eval configs: the metrics with their thresholds and settings.

use std::borrow::Cow;

use super::shape::{Type, View, Warnings, check, did_you_mean, record};
use crate::foundation::double;
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::{Document, Json, JsonKind};
use crate::foundation::suggestion::suggestion;

/// The default criteria, which apply without a config, as in ADK.
pub const DEFAULT_CONFIG: &str =
    r#"{"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}"#;

record! {
    /// A metric with its settings.
    pub struct EvalMetric<'a> called "a metric" {
        /// The metric.
        metric_name: Cow<'a, str> = "metric_name" | "metricName";
        /// The lowest score that passes.
        threshold: Option<Threshold> = "threshold" | "threshold";
        /// The metric's settings. Its `threshold` takes precedence over that of the metric.
        criterion: Option<Json<'a>> = "criterion" | "criterion" => Type::Object;
        /// Settings of the judge model. Those of the criterion take precedence.
        judge_model_options: Option<Json<'a>> = "judge_model_options" | "judgeModelOptions" => Type::Object;
        /// The import path at which google-adk finds a custom metric.
        custom_function_path: Option<Cow<'a, str>> = "custom_function_path" | "customFunctionPath";
    }
}

/// A threshold: a finite number. As in google-adk, numeric strings are accepted too, and `true` and `false` for
/// 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Threshold(pub f64);

impl Threshold {
    fn read(json: Json<'_>) -> Option<Self> {
        let number = match json.kind() {
            JsonKind::True => Some(1.0),
            JsonKind::False => Some(0.0),
            JsonKind::Number => json.as_f64(),
            _ => json.as_str().and_then(|text| double::read(text.trim())),
        };
        number.filter(|number: &f64| number.is_finite()).map(Self)
    }
}

impl<'a> View<'a> for Threshold {
    const TYPE: Type = Type::Special(
        |json| match Self::read(json) {
            Some(_) => Ok(()),
            None => Err(invalid_criterion(json.expected("a number"))),
        },
        |json| json.raw().into(),
    );

    fn from_json(json: Json<'a>) -> Self {
        Self::read(json).unwrap_or(Self(0.0))
    }
}

record! {
    /// A config file.
    pub struct EvalConfig<'a> called "an eval config" {
        /// Metrics by name, each with its threshold or criterion.
        criteria: Option<Json<'a>> = "criteria" | "criteria" => Type::Object;
        /// The import paths at which google-adk finds custom metrics.
        custom_metrics: Option<Json<'a>> = "custom_metrics" | "customMetrics" => Type::Object;
        /// How a user is simulated.
        user_simulator_config: Option<UserSimulatorConfig<'a>> = "user_simulator_config" | "userSimulatorConfig";
        /// How google-adk runs live models.
        live_model_config: Option<Json<'a>> = "live_model_config" | "liveModelConfig" => Type::Object;
    } unknown_keys Kept
}

record! {
    /// How a user is simulated in cases with a scenario.
    pub struct UserSimulatorConfig<'a> called "`user_simulator_config`" {
        /// The kind of simulator; google-adk has `llm_backed`.
        r#type: Option<Cow<'a, str>> = "type" | "type";
        /// The model that plays the user.
        model: Option<Cow<'a, str>> = "model" | "model";
        /// Its sampling settings.
        model_configuration: Option<Json<'a>> = "model_configuration" | "modelConfiguration" => Type::Object;
        /// The most turns, the starting prompt included; -1 for no limit.
        max_allowed_invocations: Option<i64> = "max_allowed_invocations" | "maxAllowedInvocations";
        /// A custom prompt.
        custom_instructions: Option<Cow<'a, str>> = "custom_instructions" | "customInstructions";
        /// Whether the model is shown tool calls and their responses.
        include_function_calls: Option<bool> = "include_function_calls" | "includeFunctionCalls";
    }
}

/// A setting of a criterion or of a judge: its key in both spellings, `[snake_case, camelCase]`, and its
/// default.
pub struct Setting<T> {
    /// The key.
    pub keys: [&'static str; 2],
    /// The value without the key.
    pub default: T,
}

/// A setting without its type, used to check the keys of an object and, with the feature `schema`, to make its
/// JSON Schema.
pub struct KnownSetting {
    /// The key in both spellings, `[snake_case, camelCase]`.
    pub keys: [&'static str; 2],
    /// The JSON Schema of its value, with a description.
    #[cfg(feature = "schema")]
    pub schema: fn() -> serde_json::Value,
}

/// Declares the settings of a metric once: a constant for each, and `SETTINGS` for all of them. Their doc
/// comments become descriptions in the JSON Schema.
macro_rules! settings {
    ($( $(#[doc = $doc:literal])+ $vis:vis $name:ident: $type:ty = $default:expr, $snake:literal | $camel:literal; )*) => {
        $(
            $(#[doc = $doc])+
            $vis const $name: $crate::model::config::Setting<$type> =
                $crate::model::config::Setting { keys: [$snake, $camel], default: $default };
        )*
        /// The settings that are read here.
        pub(crate) const SETTINGS: &[$crate::model::config::KnownSetting] = &[
            $( $crate::model::config::KnownSetting {
                keys: [$snake, $camel],
                #[cfg(feature = "schema")]
                schema: || $crate::schema::settings::described(&$name.default, &[$($doc),+]),
            }, )*
        ];
    };
}
pub(crate) use settings;

/// Settings that override the configs of metrics that ask a judge.
#[derive(Clone, Copy, Debug, Default)]
pub struct JudgeOverrides<'s> {
    /// The user's prompts: the id of a prompt, and the template that replaces it.
    pub prompts: &'s [(String, String)],
    /// Whether Vertex AI computes the metrics that google-adk delegates to it; otherwise a judge does.
    pub vertex: bool,
    /// The names of the judges of a panel; empty if one judge is asked.
    pub panel: &'s [String],
}

/// The keys that every criterion may have, `[snake_case, camelCase]`.
pub const COMMON_KEYS: [[&str; 2]; 3] = [
    ["threshold", "threshold"],
    ["judge_model_options", "judgeModelOptions"],
    ["include_intermediate_responses_in_final", "includeIntermediateResponsesInFinal"],
];

/// The config of one metric.
#[derive(Clone, Copy)]
pub struct MetricConfig<'a, 's> {
    /// The metric's name; in lower case if the config uses the names of ADK-TS's enum.
    pub name: &'s str,
    /// The name as written in the config.
    pub written: &'s str,
    /// The metric's entry in `custom_metrics`, which says where google-adk finds its function.
    pub custom: Option<Json<'a>>,
    /// The threshold outside the criterion.
    pub threshold: Option<f64>,
    /// The criterion, an object.
    pub criterion: Option<Json<'a>>,
    /// The judge's options outside the criterion.
    pub judge_model_options: Option<Json<'a>>,
    /// Overrides for metrics that ask a judge.
    pub judging: JudgeOverrides<'s>,
    /// Where the config names the metric, for errors.
    pub location: Json<'a>,
    /// Where warnings are collected.
    pub warnings: &'s Warnings,
}

impl<'a> MetricConfig<'a, '_> {
    /// The threshold that applies: the criterion's, otherwise the metric's.
    ///
    /// # Errors
    /// `invalid_criterion` if it is not a number, `threshold_required` if there is none.
    pub fn threshold(&self) -> Result<f64> {
        let in_criterion = match self.criterion.and_then(|criterion| criterion.get("threshold")) {
            Some(json) if !json.is_null() => match Threshold::read(json) {
                Some(threshold) => Some(threshold.0),
                None => return Err(invalid_criterion(json.expected("a number"))),
            },
            _ => None,
        };
        in_criterion.or(self.threshold).ok_or_else(|| {
            self.location
                .error(ErrorCode::ThresholdRequired, format!("the metric `{}` needs a threshold", self.name))
                .with_help(format!("For example: {{\"{}\": 0.8}}", self.name))
        })
    }

    /// Where that threshold is written.
    #[must_use]
    pub fn threshold_location(&self) -> Json<'a> {
        let written = |json: Json<'a>| json.get("threshold").filter(|json| !json.is_null());
        self.criterion.and_then(written).or_else(|| written(self.location)).unwrap_or(self.location)
    }

    /// Checks the keys of the criterion against the metric's settings and [`COMMON_KEYS`]. `of_judge` are the options
    /// of its judge, which belong one level deeper.
    ///
    /// # Errors
    /// `invalid_criterion` for an option of the judge and a key that resembles a known one. Other unknown keys only
    /// cause a warning.
    pub fn check_keys(&self, settings: &[&[KnownSetting]], of_judge: &[KnownSetting]) -> Result<()> {
        let Some(criterion) = self.criterion else { return Ok(()) };
        let mut known = COMMON_KEYS.to_vec();
        for setting in settings.iter().copied().flatten() {
            known.push(setting.keys);
        }
        for [snake, camel] in &known {
            if snake != camel && criterion.get(snake).is_some() && criterion.get(camel).is_some() {
                self.warnings.add(criterion, format!("`{snake}` is also given as `{camel}`, which counts"));
            }
        }
        let known = known.as_flattened();
        for (key, json) in criterion.entries().filter(|(key, _)| !known.contains(&&**key)) {
            let message = format!("`{}` has no setting `{key}`", self.name);
            if of_judge.iter().any(|option| option.keys.contains(&&*key)) {
                let error = json.error(ErrorCode::InvalidCriterion, message);
                return Err(error.with_help("Put it inside `judge_model_options`"));
            }
            refuse_misspelt(json, &key, known, &message)?;
            if let Some(whole) = known.iter().find(|name| key.len() > 5 && name.starts_with(&*key)) {
                let error = json.error(ErrorCode::InvalidCriterion, message);
                return Err(error.with_help(did_you_mean(whole)));
            }
            self.warnings.add(json, format!("{message}; it is ignored"));
        }
        Ok(())
    }

    /// Reads a setting of the criterion, or returns its default. If both spellings are present, google-adk
    /// reads the one in camelCase.
    ///
    /// # Errors
    /// `invalid_criterion` if `read` rejects the value.
    pub fn setting<T>(&self, setting: Setting<T>, read: impl Fn(Json<'a>) -> Result<T>) -> Result<T> {
        match self.given(setting.keys) {
            Some(json) => read(json).map_err(invalid_criterion),
            None => Ok(setting.default),
        }
    }

    fn given(&self, keys: [&str; 2]) -> Option<Json<'a>> {
        either(self.criterion?, keys)
    }
}

/// The value of a key in either spelling, `[snake_case, camelCase]`; the latter takes precedence. `None` for
/// `null`.
#[must_use]
pub fn either<'a>(object: Json<'a>, [snake, camel]: [&str; 2]) -> Option<Json<'a>> {
    object.get(camel).or_else(|| object.get(snake)).filter(|json| !json.is_null())
}

/// Rejects a key that resembles a known one.
pub(crate) fn refuse_misspelt(here: Json<'_>, key: &str, known: &[&str], message: &str) -> Result<()> {
    let Some(close) = suggestion(key, known.iter().copied()) else { return Ok(()) };
    let error = here.error(ErrorCode::InvalidCriterion, message);
    Err(error.with_help(did_you_mean(close)))
}

/// Turns an error into one about a criterion.
pub(crate) fn invalid_criterion(mut error: Error) -> Error {
    error.code = ErrorCode::InvalidCriterion;
    error
}

fn bare_threshold(json: Json<'_>) -> Result<f64> {
    match Threshold::read(json) {
        Some(threshold) => Ok(threshold.0),
        None => Err(invalid_criterion(json.expected("a threshold: a number, or an object with `threshold`"))),
    }
}

/// Reads a boolean as google-adk does: `true`, `false`, 1, 0, and words such as `yes` and `off`.
///
/// # Errors
/// `invalid_input` for anything else.
pub fn read_flag(json: Json<'_>) -> Result<bool> {
    let word = json.as_str().map(|word| word.to_ascii_lowercase());
    match (json.as_bool(), json.as_f64(), word.as_deref()) {
        (Some(flag), ..) => Ok(flag),
        (_, Some(1.0), _) | (.., Some("true" | "t" | "yes" | "y" | "on" | "1")) => Ok(true),
        (_, Some(0.0), _) | (.., Some("false" | "f" | "no" | "n" | "off" | "0")) => Ok(false),
        _ => Err(json.expected("true or false")),
    }
}

/// An example config, for users whose config has no criteria.
const EXAMPLE: &str = r#"A config looks like {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}: metrics by name, each with its threshold"#;

/// Keys of other kinds of files, and the help for each.
const OTHER_FILES: [(&[&str], &str); 2] = [
    (
        &["eval_cases", "evalCases", "conversation", "conversation_scenario"],
        "This looks like an evalset: give it as the evalset, not as the config",
    ),
    (
        &["eval_case_results", "evalCaseResults", "inference_results", "inferences", "events"],
        "This looks like what an agent did: give it as the actual runs (`actual`, `--actual`)",
    ),
];

/// The error for a config without criteria.
#[must_use]
pub fn no_criterion(location: Json<'_>) -> Error {
    let message = "there is no criterion, so nothing could pass or fail";
    let is_like = |keys: &[&str]| keys.iter().any(|key| location.get(key).is_some());
    let help = OTHER_FILES.iter().find(|(keys, _)| is_like(keys)).map_or(EXAMPLE, |(_, help)| *help);
    location.error(ErrorCode::InvalidInput, message).with_help(help)
}

/// The criteria of a config: those in `criteria`, otherwise the metrics at the top level of the file, as in
/// ADK-TS's documentation.
///
/// `names` are the names of all metrics.
fn read_criteria<'a>(
    config: EvalConfig<'a>,
    names: &[&str],
    warnings: &Warnings,
) -> Result<Vec<(Cow<'a, str>, Json<'a>)>> {
    let is_meant = |key: &str| {
        let name = plain_name(key);
        names.contains(&&*name) || suggestion(&name, names.iter().copied()).is_some()
    };
    let others = config
        .0
        .entries()
        .filter(|(key, json)| EvalConfig::SHAPE.field(key).is_none() && key != "$schema" && !json.is_null());
    let (metrics, unknown): (Vec<_>, Vec<_>) = others.partition(|(key, _)| is_meant(key));
    for (key, json) in unknown {
        warnings.add(json, format!("`{key}` is not a key of {} and is left out", EvalConfig::SHAPE.name));
    }
    match (config.criteria(), metrics.first()) {
        (Some(criteria), None) => Ok(criteria.entries().collect()),
        (None, _) => Ok(metrics),
        (Some(_), Some((key, json))) => {
            let message = format!("the metric `{key}` is next to `criteria`, where no metric is read");
            Err(json.error(ErrorCode::InvalidCriterion, message).with_help("Put it inside `criteria`"))
        }
    }
}

/// Reads a config and calls `build` for every metric in it, in order. `names` are the names of all metrics.
///
/// # Errors
/// `invalid_input` or `invalid_criterion` with path and line; the errors of `build`.
pub fn read_config<M>(
    document: &mut Document<'_>,
    names: &[&str],
    judging: JudgeOverrides<'_>,
    warnings: &Warnings,
    mut build: impl FnMut(MetricConfig<'_, '_>) -> Result<M>,
) -> Result<Vec<M>> {
    check(document, &EvalConfig::TYPE, warnings)?;
    let config = EvalConfig::from_json(document.root());
    let mut metrics = Vec::new();
    for (key, location) in read_criteria(config, names, warnings)? {
        let name = &plain_name(&key);
        let custom = config.custom_metrics().and_then(|custom| custom.get(&key));
        let is_criterion = location.kind() == JsonKind::Object;
        let threshold = if is_criterion { None } else { Some(bare_threshold(location)?) };
        let criterion = is_criterion.then_some(location);
        let judge_model_options = None;
        metrics.push(build(MetricConfig {
            name,
            written: &key,
            custom,
            threshold,
            criterion,
            judge_model_options,
            judging,
            location,
            warnings,
        })?);
    }
    Ok(metrics)
}

/// Reads one metric with its settings.
///
/// # Errors
/// As [`read_config`].
pub fn read_metric<M>(
    document: &mut Document<'_>,
    judging: JudgeOverrides<'_>,
    warnings: &Warnings,
    build: impl FnOnce(MetricConfig<'_, '_>) -> Result<M>,
) -> Result<M> {
    check(document, &EvalMetric::TYPE, warnings)?;
    let location = document.root();
    let metric = EvalMetric::from_json(location);
    let name = metric.metric_name();
    let threshold = metric.threshold().map(|threshold| threshold.0);
    build(MetricConfig {
        name: &plain_name(&name),
        written: &name,
        custom: None,
        threshold,
        criterion: metric.criterion(),
        judge_model_options: metric.judge_model_options(),
        judging,
        location,
        warnings,
    })
}

/// Lower-cases names of ADK-TS's enum, which its example config uses: `RESPONSE_MATCH_SCORE`.
fn plain_name(name: &str) -> Cow<'_, str> {
    let shouts =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    if shouts { Cow::Owned(name.to_ascii_lowercase()) } else { Cow::Borrowed(name) }
}
