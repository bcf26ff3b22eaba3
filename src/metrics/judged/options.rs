//! `judge_model_options` of a config, read and checked. The format is google-adk's, with its defaults and
//! leniencies.

use crate::foundation::error::{ErrorCode, Result};
use crate::foundation::json::{Json, JsonKind};
use crate::judge::provider::{THINKING, is_name, is_parameter, parameters};
use crate::model::config::{MetricConfig, either, invalid_criterion, refuse_misspelt, settings};
use crate::model::shape::whole;

/// `judge_model_options` of a config.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeModelOptions {
    /// The model; google-adk's default is `gemini-2.5-flash`.
    pub model: String,
    /// The names of the judges of a panel. Each is asked for the configured number of samples.
    pub panel: Vec<String>,
    /// The model's settings, as JSON with the names of Gemini's `GenerateContentConfig`.
    pub config: Option<String>,
    /// The most samples per question of all judges together, at least 1.
    pub samples: u32,
    /// The most calls of the metric in flight, if the config limits them.
    pub parallelism_limit: Option<u32>,
}

settings! {
    /// The judge's model, by its name at its provider.
    pub(crate) MODEL: &'static str = "gemini-2.5-flash", "judge_model" | "judgeModel";
    /// Several models that vote, two to nine of them: each is asked `num_samples` times, and the majority or the median of all replies counts.
    MODELS: Vec<String> = Vec::new(), "judge_models" | "judgeModels";
    /// Sampling settings of the judge's model.
    CONFIG: Option<String> = None, "judge_model_config" | "judgeModelConfig";
    /// The most samples asked of a question, 1 to 1000. Asking stops as soon as the others cannot change the verdict.
    SAMPLES: u32 = 5, "num_samples" | "numSamples";
    /// The most calls of this metric at a time, 1 to 1000. Without it the run's concurrency decides; in google-adk it is 1.
    PARALLELISM: Option<u32> = None, "parallelism_limit" | "parallelismLimit";
}

impl JudgeModelOptions {
    /// Reads the options. Those of the criterion override those of the metric.
    pub(super) fn read(metric_config: &MetricConfig<'_, '_>) -> Result<Self> {
        let in_criterion = metric_config
            .criterion
            .and_then(|criterion| either(criterion, ["judge_model_options", "judgeModelOptions"]));
        let mut options = Self {
            model: MODEL.default.to_owned(),
            panel: MODELS.default,
            config: CONFIG.default,
            samples: SAMPLES.default,
            parallelism_limit: PARALLELISM.default,
        };
        for json in [metric_config.judge_model_options, in_criterion].into_iter().flatten() {
            options.take(json).map_err(invalid_criterion)?;
            if either(json, MODEL.keys).is_some() && either(json, MODELS.keys).is_some() {
                let message = "`judge_model` has no effect beside `judge_models`";
                metric_config.warnings.add(json, message.to_owned());
            }
        }
        // The host refuses a panel of others than the criterion names.
        if options.panel.is_empty() {
            options.panel = metric_config.judging.panel.to_vec();
        }
        if !options.panel.is_empty() {
            options.model = options.panel.join(", ");
            options.samples = (options.samples * options.panel.len() as u32).min(MAX_COUNT);
        }
        Ok(options)
    }

    fn take(&mut self, json: Json<'_>) -> Result<()> {
        if json.is_null() {
            return Ok(());
        }
        if json.kind() != JsonKind::Object {
            return Err(json.expected("an object with the judge's options"));
        }
        let mut known = Vec::new();
        for setting in SETTINGS {
            known.push(setting.keys);
        }
        let known = known.as_flattened();
        refuse_twice(json, known)?;
        for (key, value) in json.entries() {
            if !known.contains(&&*key) {
                let message = ["a judge has no option `", &key, "`"].concat();
                refuse_misspelt(value, &key, known, &message)?;
                let help = "There are judge_model, judge_models, judge_model_config, num_samples and parallelism_limit";
                return Err(value.error(ErrorCode::InvalidCriterion, message).with_help(help));
            }
        }
        let keys = [MODEL.keys, MODELS.keys, CONFIG.keys, SAMPLES.keys, PARALLELISM.keys];
        let [model, models, config, samples, limit] = keys.map(|keys| either(json, keys));
        if let Some(model) = model {
            self.model = name_of(model)?;
            self.panel.clear();
        }
        if let Some(models) = models {
            self.panel.clear();
            for model in models.items() {
                let name = name_of(model)?;
                if self.panel.contains(&name) {
                    return Err(model.error(ErrorCode::InvalidCriterion, "a panel asks each model once"));
                }
                self.panel.push(name);
            }
            if !(2..=9).contains(&self.panel.len()) {
                let error = models.error(ErrorCode::InvalidCriterion, "a panel has two to nine models");
                return Err(error.with_help("Name a single one as `judge_model`"));
            }
        }
        if let Some(config) = config {
            if config.kind() != JsonKind::Object {
                return Err(config.expected("an object with the model's settings"));
            }
            refuse_http_options(config)?;
            check_model_config(config)?;
            self.config = Some(config.raw().to_owned());
        }
        if let Some(samples) = samples {
            self.samples = count(samples)?;
        }
        if let Some(limit) = limit {
            self.parallelism_limit = Some(count(limit)?);
        }
        Ok(())
    }
}

/// The name of a model.
fn name_of(json: Json<'_>) -> Result<String> {
    // A provider alone is no name either.
    let name = json.as_str().filter(|name| !matches!(name.trim_end().bytes().last(), None | Some(b'/')));
    Ok(name.ok_or_else(|| json.expected("the name of a model"))?.into_owned())
}

/// Rejects a model setting of the wrong type, and one that resembles a known one. Other unknown settings may be meant
/// for the provider; a warning says so if they are not sent.
fn check_model_config(config: Json<'_>) -> Result<()> {
    let known: Vec<&str> = parameters().map(|(name, _)| name).collect();
    refuse_twice(config, &known)?;
    for (key, value) in config.entries().filter(|(_, value)| !value.is_null()) {
        if !is_parameter(&key, value)? {
            refuse_setting(&key, value, &known)?;
        } else if is_name(&key, "thinkingConfig") {
            refuse_twice(value, &THINKING)?;
            for (key, value) in value.entries() {
                if !THINKING.iter().any(|name| is_name(&key, name)) {
                    refuse_setting(&key, value, &THINKING)?;
                } else if is_name(&key, "thinkingBudget")
                    && !value.is_null()
                    && whole(value).is_none_or(|budget| budget < -1)
                {
                    return Err(value.expected("-1 or a whole number from 0 up"));
                }
            }
        }
    }
    Ok(())
}

/// Rejects a key that is there in two spellings: which of them counted would decide what is paid.
fn refuse_twice(object: Json<'_>, names: &[&str]) -> Result<()> {
    for name in names {
        let mut same = object.entries().filter(|(key, _)| is_name(key, name));
        if let (Some((before, _)), Some((key, value))) = (same.next(), same.next()) {
            let message = ["`", &key, "` is also given as `", &before, "`"].concat();
            return Err(value.error(ErrorCode::InvalidCriterion, message).with_help("Leave one of them out"));
        }
    }
    Ok(())
}

fn refuse_setting(key: &str, value: Json<'_>, known: &[&str]) -> Result<()> {
    refuse_misspelt(value, key, known, &["a model has no setting `", key, "`"].concat())
}

/// Only the judge may decide which server is asked and with which headers: a config that could do so could send
/// prompts and keys anywhere.
fn refuse_http_options(config: Json<'_>) -> Result<()> {
    let refused = |key: &str| key.replace('_', "").eq_ignore_ascii_case("httpoptions");
    let Some((_, value)) = config.entries().find(|(key, _)| refused(key)) else { return Ok(()) };
    let message = "a config cannot say which server is asked or how: `http_options` is refused";
    let help = "Remove it, and give address and headers to the judge in code or by its environment variables";
    Err(value.error(ErrorCode::InvalidCriterion, message).with_help(help))
}

const MAX_COUNT: u32 = 1000;

/// A number of samples or calls. As in google-adk, strings and `true` (for 1) are accepted too. 1000 is more
/// than anyone can afford.
fn count(json: Json<'_>) -> Result<u32> {
    let from_text = || json.as_str().and_then(|text| text.trim().parse().ok());
    let from_true = || json.as_bool().filter(|flag| *flag).map(i64::from);
    let number = whole(json)
        .or_else(from_text)
        .or_else(from_true)
        .filter(|number| (1..=i64::from(MAX_COUNT)).contains(number));
    number
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| json.expected("a whole number from 1 to 1000"))
}
