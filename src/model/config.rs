//! Eval configs: which metrics, and what each has to reach.

use std::borrow::Cow;

use super::double;
use super::error::{Error, ErrorCode, Result, suggestion};
use super::json::{Json, Kind};
use super::read::{At, Read, object, record};
use super::write::{Write, Writer};

/// The criteria that apply where no config is given, as in ADK.
pub const DEFAULT_CONFIG: &str =
    r#"{"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}}"#;

record! {
    /// A metric with its settings.
    pub struct EvalMetric<'a> {
        /// The metric.
        metric_name: Cow<'a, str> = "metric_name" | "metricName";
        /// What the score has to reach.
        threshold: Option<Threshold> = "threshold" | "threshold";
        /// The metric's settings; its `threshold` wins over the metric's.
        criterion: Option<Json<'a>> = "criterion" | "criterion" => object;
        /// Settings of the judge model; the criterion's win.
        judge_model_options: Option<Json<'a>> = "judge_model_options" | "judgeModelOptions" => object;
        /// Where google-adk finds a metric written by the user.
        custom_function_path: Option<Cow<'a, str>> = "custom_function_path" | "customFunctionPath";
    }
}

/// What a score has to reach: a finite number. Also read from numbers in text, and from `true` for 1
/// and `false` for 0, as google-adk does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Threshold(pub f64);

impl Threshold {
    fn of(json: Json<'_>) -> Option<Self> {
        let number = match json.kind() {
            Kind::True => Some(1.0),
            Kind::False => Some(0.0),
            Kind::Number => json.as_f64(),
            _ => json.as_str().and_then(|text| double::read(text.trim())),
        };
        number.filter(|number: &f64| number.is_finite()).map(Self)
    }
}

impl<'a> Read<'a> for Threshold {
    fn read(at: At<'a, '_>) -> Result<Self> {
        Self::of(at.json).ok_or_else(|| invalid_criterion(at.expected("a number")))
    }
}

impl Write for Threshold {
    fn write(&self, out: &mut Writer) {
        self.0.write(out);
    }
}

record! {
    struct EvalConfig<'a> {
        criteria: Option<Json<'a>> = "criteria" | "criteria" => object;
        custom_metrics: Option<Json<'a>> = "custom_metrics" | "customMetrics" => object;
        user_simulator_config: Option<Json<'a>> = "user_simulator_config" | "userSimulatorConfig" => object;
        live_model_config: Option<Json<'a>> = "live_model_config" | "liveModelConfig" => object;
    }
}

/// What a config says of one metric: what a metric is made from.
#[derive(Clone, Copy)]
pub struct Setup<'a, 'p, 's> {
    /// The metric's name, in lower case if the config names it as ADK-TS's enum does.
    pub name: &'s str,
    /// The threshold beside the criterion.
    pub threshold: Option<f64>,
    /// The criterion, an object.
    pub criterion: Option<At<'a, 'p>>,
    /// The place that names the metric.
    pub place: At<'a, 'p>,
}

impl<'a> Setup<'a, '_, '_> {
    /// The threshold in force: the criterion's, else the metric's.
    ///
    /// # Errors
    /// `invalid_criterion` if it is not a number, `threshold_required` if there is none.
    pub fn threshold(&self) -> Result<f64> {
        let of_criterion = match self.criterion.and_then(|at| Some((at, at.json.get("threshold")?))) {
            Some((at, json)) if !json.is_null() => Some(at.entry("threshold", json).read::<Threshold>()?.0),
            _ => None,
        };
        of_criterion.or(self.threshold).ok_or_else(|| {
            self.place
                .error(ErrorCode::ThresholdRequired, format!("the metric `{}` needs a threshold", self.name))
                .with_help(format!("For example: {{\"{}\": 0.8}}", self.name))
        })
    }

    /// Checks the keys of the criterion against those that the metric knows, besides those that
    /// every criterion may have. Keys come as `[snake_case, camelCase]`.
    ///
    /// # Errors
    /// `invalid_criterion` for a key that resembles a known one; other unknown keys are warned of.
    pub fn check_keys(&self, known: &[[&'static str; 2]]) -> Result<()> {
        const COMMON: [[&str; 2]; 2] = [
            ["threshold", "threshold"],
            ["include_intermediate_responses_in_final", "includeIntermediateResponsesInFinal"],
        ];
        let Some(at) = self.criterion else { return Ok(()) };
        let known = || COMMON.iter().chain(known).copied();
        for [snake, camel] in known() {
            if snake != camel && at.json.get(snake).is_some() && at.json.get(camel).is_some() {
                at.warn(format!("`{snake}` is also given as `{camel}`, which counts"));
            }
        }
        for (key, json) in at.json.entries().filter(|(key, _)| known().flatten().all(|name| name != key)) {
            let here = at.entry(&key, json);
            let message = format!("`{}` has no setting `{key}`", self.name);
            refuse_misspelt(&here, &key, known().flatten(), message.clone())?;
            here.warn(format!("{message}; it is ignored"));
        }
        Ok(())
    }

    /// Reads a setting of the criterion, or takes `default`. Of a setting in both spellings
    /// google-adk reads the one in camelCase.
    ///
    /// # Errors
    /// `invalid_criterion` if `read` does not accept it.
    pub fn setting<T>(
        &self,
        [snake, camel]: [&'static str; 2],
        default: T,
        read: impl Fn(&At<'a, '_>) -> Result<T>,
    ) -> Result<T> {
        let Some(at) = self.criterion else { return Ok(default) };
        let found = [camel, snake].into_iter().find_map(|key| Some((key, at.json.get(key)?)));
        match found {
            Some((key, json)) if !json.is_null() => read(&at.entry(key, json)).map_err(invalid_criterion),
            _ => Ok(default),
        }
    }
}

/// Refuses a key that resembles one of the known ones.
fn refuse_misspelt<'k>(
    here: &At<'_, '_>,
    key: &str,
    known: impl IntoIterator<Item = &'k str>,
    message: String,
) -> Result<()> {
    let Some(close) = suggestion(key, known) else { return Ok(()) };
    let error = here.error(ErrorCode::InvalidCriterion, message);
    Err(error.with_help(format!("Did you mean `{close}`?")))
}

fn invalid_criterion(error: Error) -> Error {
    Error { code: ErrorCode::InvalidCriterion, ..error }
}

fn bare_threshold(at: &At<'_, '_>) -> Result<Threshold> {
    Threshold::of(at.json)
        .ok_or_else(|| invalid_criterion(at.expected("a threshold: a number, or an object with `threshold`")))
}

/// Reads a yes or no as google-adk does: `true`, `false`, 1, 0, and words such as `yes` and `off`.
///
/// # Errors
/// `invalid_input` for anything else.
pub fn read_flag(at: &At<'_, '_>) -> Result<bool> {
    let word = at.json.as_str().map(|word| word.to_ascii_lowercase());
    match (at.json.as_bool(), at.json.as_f64(), word.as_deref()) {
        (Some(flag), ..) => Ok(flag),
        (_, Some(1.0), _) | (.., Some("true" | "t" | "yes" | "y" | "on" | "1")) => Ok(true),
        (_, Some(0.0), _) | (.., Some("false" | "f" | "no" | "n" | "off" | "0")) => Ok(false),
        _ => Err(at.expected("true or false")),
    }
}

/// Reads a config: calls `build` for every metric that it names, in order.
///
/// # Errors
/// `invalid_input` or `invalid_criterion` with path and line; whatever `build` says.
pub fn read_config<'a, M>(
    at: At<'a, '_>,
    mut build: impl FnMut(Setup<'a, '_, '_>) -> Result<M>,
) -> Result<Vec<M>> {
    let config: EvalConfig<'a> = at.read()?;
    let Some(criteria) = config.criteria else { return Ok(Vec::new()) };
    let list = at.entry("criteria", criteria);
    let mut metrics = Vec::new();
    for (key, json) in criteria.entries() {
        let place = list.entry(&key, json);
        let name = plain_name(&key);
        let metric = match json.kind() {
            Kind::Object => build(Setup { name: &name, threshold: None, criterion: Some(place), place })?,
            _ => build(Setup {
                name: &name,
                threshold: Some(bare_threshold(&place)?.0),
                criterion: None,
                place,
            })?,
        };
        metrics.push(metric);
    }
    Ok(metrics)
}

/// The keys of [`EvalMetric`] in both spellings.
const METRIC_KEYS: [&str; 8] = [
    "metric_name",
    "metricName",
    "threshold",
    "criterion",
    "judge_model_options",
    "judgeModelOptions",
    "custom_function_path",
    "customFunctionPath",
];

/// Reads one metric with its settings.
///
/// # Errors
/// As [`read_config`].
pub fn read_metric<'a, M>(at: At<'a, '_>, build: impl FnOnce(Setup<'a, '_, '_>) -> Result<M>) -> Result<M> {
    let metric: EvalMetric<'a> = at.read()?;
    for (key, json) in at.json.entries().filter(|(key, _)| !METRIC_KEYS.contains(&key.as_ref())) {
        refuse_misspelt(&at.entry(&key, json), &key, METRIC_KEYS, format!("a metric has no `{key}`"))?;
    }
    let name = plain_name(&metric.metric_name);
    let threshold = metric.threshold.map(|threshold| threshold.0);
    match metric.criterion.map(|json| at.entry("criterion", json)) {
        Some(criterion) => build(Setup { name: &name, threshold, criterion: Some(criterion), place: at }),
        None => build(Setup { name: &name, threshold, criterion: None, place: at }),
    }
}

/// ADK-TS's example config names metrics as its enum does: `RESPONSE_MATCH_SCORE`.
fn plain_name(name: &str) -> Cow<'_, str> {
    let shouts =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    if shouts { Cow::Owned(name.to_ascii_lowercase()) } else { Cow::Borrowed(name) }
}
