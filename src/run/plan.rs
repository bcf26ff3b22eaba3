//! The plan of a run: the metrics that a config asks for, and who computes them.

use std::rc::Rc;

use crate::foundation::double;
use crate::foundation::error::{ErrorCode, Result};
use crate::foundation::json::Document;
use crate::metrics::judged::Judged;
use crate::metrics::{
    AnyMetric, Interval, Metric, find, informational_metrics, metric_names, unknown_metric,
    unregistered_metric,
};
use crate::model::config::{
    DEFAULT_CONFIG, JudgeOverrides, MetricConfig, no_criterion, read_config, read_metric,
};
use crate::model::shape::Warnings;

/// The metrics of a run, in the order of their results.
pub struct Plan {
    /// The metrics.
    pub metrics: Vec<PlannedMetric>,
}

/// A metric with its settings.
pub struct PlannedMetric {
    /// Its name.
    pub name: String,
    /// The threshold; `None` for informational metrics.
    pub threshold: Option<f64>,
    /// Its criterion as JSON, if it has one.
    pub criterion: Option<String>,
    /// Who computes it.
    pub scorer: MetricScorer,
}

impl PlannedMetric {
    /// The name of what it measures, which legacy names of a metric of the engine share.
    fn measures(&self) -> &str {
        match self.scorer {
            MetricScorer::Host => &self.name,
            _ => find(&self.name).map_or(&self.name, |info| info.name),
        }
    }
}

/// Who computes a metric.
pub enum MetricScorer {
    /// The engine, without waiting for anyone.
    Engine(Rc<dyn Metric>),
    /// A judge model.
    Judge(Box<dyn Judged>),
    /// The host: a custom metric.
    Host,
}

/// The settings of a plan that are not part of the config.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanOptions<'t> {
    /// The names of the host's custom metrics. They may replace metrics of the engine.
    pub custom: &'t [String],
    /// Overrides for all metrics that ask a judge.
    pub judging: JudgeOverrides<'t>,
    /// Whether a config without criteria is intended: only the efficiency metrics are reported then.
    pub count_only: bool,
}

impl Plan {
    /// Reads the metrics of a config and adds the efficiency metrics, which every run has.
    ///
    /// # Errors
    /// What is wrong with the config, with its path and line.
    pub fn from_config(
        document: &mut Document<'_>,
        plan_options: PlanOptions<'_>,
        warnings: &Warnings,
    ) -> Result<Self> {
        let names: Vec<&str> = metric_names().chain(plan_options.custom.iter().map(String::as_str)).collect();
        let mut metrics = read_config(document, &names, plan_options.judging, warnings, |metric_config| {
            planned(&metric_config, plan_options.custom)
        })?;
        let location = document.root();
        if metrics.is_empty() && !plan_options.count_only {
            return Err(no_criterion(location));
        }
        if !metrics.is_empty() && plan_options.count_only {
            let message = "`countOnly` has no effect: there are criteria, which are scored";
            warnings.add(location, message.to_owned());
        }
        for (index, metric) in metrics.iter().enumerate() {
            if metrics.iter().take(index).any(|before| before.measures() == metric.measures()) {
                let criteria = location.get("criteria").unwrap_or(location);
                let message = ["the metric `", metric.measures(), "` is given twice"].concat();
                let help = "Leave one of the two out: `RESPONSE_MATCH_SCORE` and `response_match` are `response_match_score`";
                return Err(criteria.error(ErrorCode::InvalidCriterion, message).with_help(help));
            }
        }
        let informational: Vec<_> = informational_metrics()
            .map(|info| info.name)
            .filter(|name| metrics.iter().all(|metric| metric.name != *name))
            .collect();
        for name in informational {
            let metric_config = MetricConfig {
                name,
                written: name,
                custom: None,
                threshold: None,
                criterion: None,
                judge_model_options: None,
                judging: plan_options.judging,
                location,
                warnings,
            };
            metrics.push(planned(&metric_config, plan_options.custom)?);
        }
        Ok(Self { metrics })
    }

    /// The plan for runs without a config: google-adk's default criteria.
    ///
    /// # Errors
    /// None that a user can cause.
    pub fn default_config(plan_options: PlanOptions<'_>) -> Result<Self> {
        Self::from_config(&mut Document::parse(DEFAULT_CONFIG)?, plan_options, &Warnings::default())
    }

    /// Reads a single metric.
    ///
    /// # Errors
    /// What is wrong with its settings, with path and line.
    pub fn from_metric(
        document: &mut Document<'_>,
        plan_options: PlanOptions<'_>,
        warnings: &Warnings,
    ) -> Result<Self> {
        let metric = read_metric(document, plan_options.judging, warnings, |metric_config| {
            planned(&metric_config, plan_options.custom)
        })?;
        Ok(Self { metrics: vec![metric] })
    }
}

fn planned(metric_config: &MetricConfig<'_, '_>, custom: &[String]) -> Result<PlannedMetric> {
    let criterion = metric_config.criterion.map(|json| json.raw().to_owned());
    if let Some(name) =
        custom.iter().find(|known| [metric_config.written, metric_config.name].contains(&known.as_str()))
    {
        let (name, threshold) = (name.clone(), Some(metric_config.threshold()?));
        return Ok(PlannedMetric { name, threshold, criterion, scorer: MetricScorer::Host });
    }
    if let Some(location) = metric_config.custom.filter(|custom| !custom.is_null()) {
        return Err(location.locate(unregistered_metric(metric_config.written, location)));
    }
    let name = metric_config.name.to_owned();
    let info = find(metric_config.name)
        .ok_or_else(|| metric_config.location.locate(unknown_metric(metric_config.name, custom)))?;
    let scorer = match info.build(metric_config)? {
        AnyMetric::Plain(metric) => MetricScorer::Engine(metric.into()),
        AnyMetric::Judged(metric) => MetricScorer::Judge(metric),
    };
    let threshold = match metric_config.threshold() {
        Ok(threshold) => Some(threshold),
        Err(error) if error.code == ErrorCode::ThresholdRequired && !info.requires_threshold => None,
        Err(error) => return Err(error),
    };
    if let (Some(threshold), Some(interval)) = (threshold, info.interval) {
        check_range(metric_config, threshold, interval);
    }
    Ok(PlannedMetric { name, threshold, criterion, scorer })
}

/// Warns of a threshold that every score or no score reaches.
fn check_range(metric_config: &MetricConfig<'_, '_>, threshold: f64, interval: Interval) {
    if interval.takes_threshold(threshold) {
        return;
    }
    let Interval { min_value, max_value } = interval;
    let which = if threshold < min_value { "every" } else { "no" };
    let [threshold, min_value, max_value] = [threshold, min_value, max_value].map(double::to_text);
    let message = format!(
        "{which} score reaches the threshold {threshold} of `{}`, whose scores are from {min_value} to {max_value}",
        metric_config.written
    );
    let help = format!("Give it a threshold from {min_value} to {max_value}; with 0 it always passes");
    metric_config.warnings.add_with_help(metric_config.threshold_location(), message, help);
}
