//! The options of a run. TypeScript validates what users passed; here it is converted to the engine's types.

use serde::{Deserialize, Serialize};

use super::Entries;
use crate::foundation::error::Result;
use crate::judge::calls;
use crate::judge::evidence::Prior;
use crate::judge::prompt;
use crate::metrics::{Dialect, Explain};
use crate::model::config::JudgeOverrides;
use crate::run::{self, JudgeOptions, Options, PlanOptions};
use crate::wasm::saturating_u64;

/// The options of a run. An infinite number means no limit.
///
/// Users set the options with an `x-option`: `evaluator` options in every function that scores, `request` options for
/// whole evalsets. The package's types, checks, defaults and help are generated from these declarations.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("x-read" = true)))]
#[serde(rename_all = "camelCase")]
pub(in crate::wasm) struct RunOptions {
    /// Which package's scores to reproduce.
    #[serde(with = "DialectName")]
    #[cfg_attr(feature = "schema", schemars(
        title = "Whose scores",
        extend("x-option" = "evaluator", "x-default" = "adk-python")
    ))]
    dialect: Dialect,
    /// Which results get an `explanation`; the others cost nothing.
    #[serde(with = "ExplainName")]
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "evaluator", "x-default" = "all")))]
    explain: Explain,
    /// Maximum number of judge calls in progress at the same time, and of calls of your own metrics.
    #[cfg_attr(feature = "schema", schemars(
        title = "Calls at a time",
        range(min = 1),
        extend("x-option" = "evaluator", "x-default" = calls::CallOptions::default().concurrency)
    ))]
    concurrency: f64,
    /// Timeout of one call, in milliseconds, without the time that your own code takes in between.
    /// Default: 120,000 for judges, no limit for metrics of your own.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "evaluator", "exclusiveMinimum" = 0)))]
    timeout_ms: Option<f64>,
    /// Whether a vote ends when the missing samples cannot change it.
    #[cfg_attr(feature = "schema", schemars(
        title = "Stop asking when a verdict is settled",
        extend("x-option" = "evaluator", "x-default" = true)
    ))]
    early_stop: bool,
    /// What a vote may end on before its verdict is certain.
    risk: Option<Risk>,
    /// Whether Vertex AI scores what google-adk leaves to it.
    vertex: bool,
    /// The model to ask instead of those in the criteria.
    judge_model: Option<String>,
    /// The names of the judges of a panel, instead of those in the criteria; empty for a single judge.
    panel: Vec<String>,
    /// What delays are drawn from: the same seed gives the same ones. Default: a random one.
    #[cfg_attr(feature = "schema", schemars(
        range(min = 0),
        extend("x-option" = "evaluator", "multipleOf" = 1)
    ))]
    seed: f64,
    /// Prompts of your own, by the engine's names of those that they replace.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "evaluator")))]
    prompts: Entries,
    /// How failed calls of judges are tried again.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "evaluator")))]
    retry: RetryOptions,
    /// What the run may spend on judges. Default: no limit.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "evaluator")))]
    budget: Budget,
    /// The metrics that the host computes.
    custom: Vec<String>,
    /// The cases to evaluate, by eval id. Default: all.
    // They may be many, so `EvalRunReader` reads them itself, in slices.
    #[cfg(feature = "schema")]
    #[schemars(extend("x-option" = "request", "tsType" = "readonly string[]"))]
    #[expect(dead_code, reason = "only its schema is used")]
    eval_ids: Option<Vec<String>>,
    /// The case that was selected, if it is the only one: a single session that names no case is its run.
    selected_case: Option<String>,
    /// What an evalset in an old form, which has no id, is called.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "request", "x-default" = "evalset")))]
    eval_set_name: String,
    /// Whether to report counts, tokens and seconds alone. Without it a config needs a criterion.
    #[cfg_attr(feature = "schema", schemars(extend("x-option" = "request", "x-default" = false)))]
    count_only: bool,
}

/// What a vote may end on before its verdict is certain.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Risk {
    /// How likely all samples may decide otherwise.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0), range(max = 0.5)))]
    risk: f64,
    /// How samples vote.
    prior: Option<VotePrior>,
}

/// How likely the samples of a question vote yes: a beta distribution.
#[derive(Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(in crate::wasm) struct VotePrior {
    /// As many votes for it count before any vote.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    positive: f64,
    /// As many votes against it.
    #[cfg_attr(feature = "schema", schemars(extend("exclusiveMinimum" = 0)))]
    negative: f64,
}

/// How failed calls are tried again.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct RetryOptions {
    /// How often a sample is asked in all. Rate limits do not count while there are replies.
    #[cfg_attr(feature = "schema", schemars(
        range(min = 1),
        extend("multipleOf" = 1, "x-default" = calls::RetryOptions::default().attempts)
    ))]
    attempts: Option<f64>,
    /// The longest wait after the first failure, in milliseconds; 500 at most after a broken connection, or while other
    /// calls are answered.
    #[cfg_attr(feature = "schema", schemars(
        range(min = 0),
        extend("x-default" = calls::RetryOptions::default().initial_delay_ms)
    ))]
    initial_delay_ms: Option<f64>,
    /// The longest wait after any failure, in milliseconds, unless the server asks for more.
    #[cfg_attr(feature = "schema", schemars(
        range(min = 0),
        extend("x-default" = calls::RetryOptions::default().max_delay_ms)
    ))]
    max_delay_ms: Option<f64>,
    /// How much longer each wait is than the one before.
    #[cfg_attr(feature = "schema", schemars(
        range(min = 1),
        extend("x-default" = calls::RetryOptions::default().base)
    ))]
    base: Option<f64>,
    /// The share of a wait that is left to chance, from 0 to 1.
    #[cfg_attr(feature = "schema", schemars(
        range(min = 0, max = 1),
        extend("x-default" = calls::RetryOptions::default().jitter)
    ))]
    jitter: Option<f64>,
}

/// What a run may spend on judges. When any of it is spent, the run ends with what is scored so far.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct Budget {
    /// Calls, repeated ones included.
    #[cfg_attr(feature = "schema", schemars(title = "Most calls", range(min = 0), extend("multipleOf" = 1)))]
    calls: Option<f64>,
    /// Tokens, of prompts and replies.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    tokens: Option<f64>,
    /// Money, in the currency of `prices`.
    #[cfg_attr(feature = "schema", schemars(title = "Most money", range(min = 0)))]
    cost: Option<f64>,
    /// Time from start to end, in milliseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    time_ms: Option<f64>,
    /// Prices by the name of the model; needed for `cost`.
    prices: Option<Entries<Prices>>,
}

/// What a model costs, in a currency of your choice.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct Prices {
    /// A million tokens of prompts.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    input_per_million: f64,
    /// A million tokens of replies, thoughts included.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    output_per_million: f64,
}

/// Which package's scores to reproduce: google-adk's (the default), or those of `@iqai/adk` 0.5.9.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("x-names" = ["google-adk", "@iqai/adk 0.5.9"])))]
#[serde(remote = "Dialect", rename_all = "kebab-case")]
enum DialectName {
    AdkPython,
    AdkTs,
}

/// Which results get an `explanation`.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Explain", rename_all = "camelCase")]
enum ExplainName {
    None,
    Failures,
    All,
}

impl RunOptions {
    /// The options for planning a run.
    pub(in crate::wasm) fn plan_options(&self) -> PlanOptions<'_> {
        let judging = JudgeOverrides { prompts: &self.prompts.0, vertex: self.vertex, panel: &self.panel };
        PlanOptions { custom: &self.custom, judging, count_only: self.count_only }
    }

    /// Validates all of the user's prompt templates, including those that no metric of this run uses.
    ///
    /// # Errors
    /// The error in a template.
    pub(in crate::wasm) fn check_prompts(&self) -> Result<()> {
        for (id, text) in &self.prompts.0 {
            if let Some(prompt) = prompt::ALL.iter().find(|prompt| prompt.id == id) {
                prompt.replaced_by(text.as_str())?;
            }
        }
        Ok(())
    }

    /// The id of an evalset in an old form, which has none.
    pub(in crate::wasm) fn eval_set_name(&self) -> &str {
        &self.eval_set_name
    }

    /// The options for making a run.
    pub(in crate::wasm) fn into_run(self) -> Options {
        let judges = self.judges();
        Options {
            dialect: self.dialect,
            explain: self.explain,
            concurrency: usize::try_from(saturating_u64(self.concurrency)).unwrap_or(usize::MAX),
            timeout_ms: self.timeout_ms.and_then(finite_limit),
            early_stop: self.early_stop,
            risk: self.risk.map(|Risk { risk, prior }| run::Risk {
                most: risk,
                prior: prior.map(|VotePrior { positive, negative }| Prior { positive, negative }),
            }),
            judges,
            same_turns: true,
            selected_case: self.selected_case,
        }
    }

    fn judges(&self) -> JudgeOptions {
        let Self { retry, budget, .. } = self;
        let default = calls::CallOptions::default();
        let model_prices = |(model, prices): &(String, Prices)| (model.clone(), calls::Prices::from(prices));
        JudgeOptions {
            model: self.judge_model.clone(),
            prices: budget.prices.iter().flat_map(|prices| &prices.0).map(model_prices).collect(),
            calls: calls::CallOptions {
                concurrency: saturating_u32(self.concurrency),
                seed: saturating_u64(self.seed),
                retry: retry.over(default.retry),
                timeout_ms: self.timeout_ms.and_then(finite_limit).unwrap_or(default.timeout_ms),
                run_timeout_ms: budget.time_ms.unwrap_or(default.run_timeout_ms),
                budget: calls::Budget {
                    calls: budget.calls.and_then(finite_limit).map(saturating_u32),
                    tokens: budget.tokens.and_then(finite_limit).map(saturating_u64),
                    cost: budget.cost.and_then(finite_limit),
                },
            },
        }
    }
}

impl RetryOptions {
    /// Infinite delays become the largest finite ones, since jitter computed from infinity would be NaN.
    fn over(&self, default: calls::RetryOptions) -> calls::RetryOptions {
        let or = |given: Option<f64>, default: f64| given.unwrap_or(default).min(f64::MAX);
        calls::RetryOptions {
            attempts: self.attempts.map_or(default.attempts, saturating_u32),
            initial_delay_ms: or(self.initial_delay_ms, default.initial_delay_ms),
            max_delay_ms: or(self.max_delay_ms, default.max_delay_ms),
            base: or(self.base, default.base),
            jitter: or(self.jitter, default.jitter),
        }
    }
}

impl From<Prior> for VotePrior {
    fn from(Prior { positive, negative }: Prior) -> Self {
        Self { positive, negative }
    }
}

impl From<&Prices> for calls::Prices {
    fn from(&Prices { input_per_million, output_per_million }: &Prices) -> Self {
        // Zero tokens times an infinite price would be NaN.
        let [input_per_million, output_per_million] =
            [input_per_million, output_per_million].map(|price| price.min(f64::MAX));
        Self { input_per_million, output_per_million }
    }
}

/// A limit; `None` if it is infinite, which means no limit.
fn finite_limit(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}

fn saturating_u32(number: f64) -> u32 {
    u32::try_from(saturating_u64(number)).unwrap_or(u32::MAX)
}
