//! The options of a run. What users gave was checked before it crosses; here it becomes what the engine takes.

use serde::Deserialize;

use super::Entries;
use crate::foundation::error::Result;
use crate::judge::calls;
use crate::judge::prompt;
use crate::metrics::{Dialect, Explain};
use crate::model::config::JudgeOverrides;
use crate::run::{JudgeOptions, Options, PlanOptions};
use crate::wasm::whole;

/// The options of a run. Numbers may be infinite: then there is no limit.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("x-read" = true)))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct RunOptions {
    #[serde(with = "DialectName")]
    dialect: Dialect,
    #[serde(with = "ExplainName")]
    explain: Explain,
    /// The most metrics of the user's own, and the most calls of judges, at a time.
    concurrency: f64,
    /// How long one of them may take, in milliseconds.
    timeout_ms: Option<f64>,
    early_stop: bool,
    /// Whether Vertex AI scores what google-adk leaves to it.
    vertex: bool,
    /// The model to ask, whatever criteria name.
    judge_model: Option<String>,
    /// Where the random waiting times start from.
    seed: f64,
    /// Prompts of the user's own, by the names of those that they replace.
    prompts: Entries,
    retry: RetryLimits,
    budget: RunBudget,
    /// The metrics that the host computes.
    custom: Vec<String>,
    /// The cases to run; all if absent.
    eval_ids: Option<Vec<String>>,
    /// What stands for the id of an evalset in an old form.
    eval_set_name: String,
    /// Whether a config without criteria is meant.
    count_only: bool,
}

/// How failed calls are tried again; the engine's defaults for what is absent.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("x-read" = true)))]
#[serde(rename_all = "camelCase")]
struct RetryLimits {
    attempts: Option<f64>,
    initial_delay_ms: Option<f64>,
    max_delay_ms: Option<f64>,
    base: Option<f64>,
    jitter: Option<f64>,
}

/// What the judges of a run may use.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("x-read" = true)))]
#[serde(rename_all = "camelCase")]
struct RunBudget {
    calls: Option<f64>,
    tokens: Option<f64>,
    /// In the unit of the prices.
    cost: Option<f64>,
    time_ms: Option<f64>,
    /// By model.
    prices: Option<Entries<Prices>>,
}

/// The prices of a million tokens.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TokenPrices"))]
#[serde(rename_all = "camelCase")]
struct Prices {
    input_per_million: f64,
    output_per_million: f64,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Dialect", rename_all = "kebab-case")]
enum DialectName {
    AdkPython,
    AdkTs,
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Explain", rename_all = "camelCase")]
enum ExplainName {
    None,
    Failures,
    All,
}

impl RunOptions {
    /// What a plan is made by.
    pub(in crate::wasm) fn plan_options(&self) -> PlanOptions<'_> {
        let judging = JudgeOverrides { prompts: &self.prompts.0, vertex: self.vertex };
        PlanOptions { custom: &self.custom, judging, count_only: self.count_only }
    }

    /// Reads every template that the user gave, also those that no metric of this run asks for.
    ///
    /// # Errors
    /// What is wrong with a template.
    pub(in crate::wasm) fn check_prompts(&self) -> Result<()> {
        for (id, text) in &self.prompts.0 {
            if let Some(prompt) = prompt::ALL.iter().find(|prompt| prompt.id == id) {
                prompt.replaced_by(text.as_str())?;
            }
        }
        Ok(())
    }

    /// The cases to run; all if absent.
    pub(in crate::wasm) fn eval_ids(&self) -> Option<&[String]> {
        self.eval_ids.as_deref()
    }

    /// What stands for the id of an evalset in an old form.
    pub(in crate::wasm) fn eval_set_name(&self) -> &str {
        &self.eval_set_name
    }

    /// What a run is driven by.
    pub(in crate::wasm) fn into_run(self) -> Options {
        let judges = self.judges();
        Options {
            dialect: self.dialect,
            explain: self.explain,
            concurrency: usize::try_from(whole(self.concurrency)).unwrap_or(usize::MAX),
            timeout_ms: self.timeout_ms.and_then(limit),
            early_stop: self.early_stop,
            judges,
            same_turns: true,
        }
    }

    fn judges(&self) -> JudgeOptions {
        let Self { retry, budget, .. } = self;
        let default = calls::CallOptions::default();
        let of_model = |(model, prices): &(String, Prices)| (model.clone(), calls::Prices::from(prices));
        JudgeOptions {
            model: self.judge_model.clone(),
            prices: budget.prices.iter().flat_map(|prices| &prices.0).map(of_model).collect(),
            calls: calls::CallOptions {
                concurrency: small(self.concurrency),
                seed: whole(self.seed),
                retry: retry.over(default.retry),
                timeout_ms: self.timeout_ms.and_then(limit).unwrap_or(default.timeout_ms),
                run_timeout_ms: budget.time_ms.unwrap_or(default.run_timeout_ms),
                budget: calls::Budget {
                    calls: budget.calls.and_then(limit).map(small),
                    tokens: budget.tokens.and_then(limit).map(whole),
                    cost: budget.cost.and_then(limit),
                },
            },
        }
    }
}

impl RetryLimits {
    /// Infinite waits are as long as numbers go: a share of them that is left to chance has to be a number.
    fn over(&self, default: calls::RetryOptions) -> calls::RetryOptions {
        let or = |given: Option<f64>, default: f64| given.unwrap_or(default).min(f64::MAX);
        calls::RetryOptions {
            attempts: self.attempts.map_or(default.attempts, small),
            initial_delay_ms: or(self.initial_delay_ms, default.initial_delay_ms),
            max_delay_ms: or(self.max_delay_ms, default.max_delay_ms),
            base: or(self.base, default.base),
            jitter: or(self.jitter, default.jitter),
        }
    }
}

impl From<&Prices> for calls::Prices {
    fn from(&Prices { input_per_million, output_per_million }: &Prices) -> Self {
        // Nothing times infinity would be no number.
        let [input_per_million, output_per_million] =
            [input_per_million, output_per_million].map(|price| price.min(f64::MAX));
        Self { input_per_million, output_per_million }
    }
}

/// A limit that limits something.
fn limit(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

fn small(number: f64) -> u32 {
    u32::try_from(whole(number)).unwrap_or(u32::MAX)
}
