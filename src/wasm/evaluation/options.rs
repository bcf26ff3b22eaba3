//! The options of a run, as TypeScript wrote them. Apart, because they are read once, before there is a run.

use crate::foundation::error::{Error, Result};
use crate::foundation::json::Document;
use crate::judge::calls::Prices;
use crate::judge::prompt;
use crate::metrics::{Dialect, Explain};
use crate::model::config::JudgeOverrides;
use crate::run::{JudgeOptions, Options, PlanOptions};
use crate::wasm::{OptionsReader, unusable};

pub(super) struct RunOptions {
    pub(super) run: Options,
    /// The metrics that the host computes.
    pub(super) custom: Vec<String>,
    /// Prompts of the user's own, by id.
    pub(super) prompts: Vec<(String, String)>,
    /// Whether Vertex AI scores what google-adk leaves to it.
    pub(super) vertex: bool,
    /// Whether a config without criteria is meant.
    pub(super) count_only: bool,
    /// The cases to run; all if absent.
    pub(super) cases: Option<Vec<String>>,
    /// What stands for the id of an evalset in an old form.
    pub(super) name: String,
}

impl RunOptions {
    pub(super) fn read(json: Vec<u8>) -> Result<Self> {
        let document = Document::from_bytes(json)?;
        let given = OptionsReader(document.root());
        let dialect = match given.text("dialect")?.as_deref() {
            Some("adk-python") => Dialect::AdkPython,
            Some("adk-ts") => Dialect::AdkTs,
            _ => return Err(unusable("dialect", "a dialect")),
        };
        let explain = match given.text("explain")?.as_deref() {
            Some("none") => Explain::None,
            Some("failures") => Explain::Failures,
            Some("all") => Explain::All,
            _ => return Err(unusable("explain", "`none`, `failures` or `all`")),
        };
        let concurrency = given.whole("concurrency")?.ok_or_else(|| unusable("concurrency", "given"))?;
        let timeout_ms = given.number("timeoutMs")?;
        let run = Options {
            dialect,
            explain,
            concurrency: usize::try_from(concurrency).unwrap_or(usize::MAX),
            timeout_ms,
            early_stop: given.flag("earlyStop")?.unwrap_or(true),
            judges: judge_settings(given, concurrency, timeout_ms)?,
            same_turns: true,
        };
        let prompts: Vec<_> =
            given.texts("promptIds")?.into_iter().zip(given.texts("promptTexts")?).collect();
        check_templates(&prompts)?;
        Ok(Self {
            run,
            custom: given.texts("custom")?,
            prompts,
            vertex: given.flag("vertex")?.unwrap_or_default(),
            count_only: given.flag("countOnly")?.unwrap_or_default(),
            cases: given.field("cases").map(|_| given.texts("cases")).transpose()?,
            name: given.text("name")?.unwrap_or_default(),
        })
    }

    pub(super) fn plan_options(&self) -> PlanOptions<'_> {
        let judging = JudgeOverrides { prompts: &self.prompts, vertex: self.vertex };
        PlanOptions { custom: &self.custom, judging, count_only: self.count_only }
    }
}

/// Reads every template that the user gave, also those that no metric of this run asks for.
fn check_templates(prompts: &[(String, String)]) -> Result<()> {
    for (id, text) in prompts {
        if let Some(prompt) = prompt::ALL.iter().find(|prompt| prompt.id == id) {
            prompt.replaced_by(text.as_str())?;
        }
    }
    Ok(())
}

fn judge_settings(
    given: OptionsReader<'_>,
    concurrency: u64,
    timeout_ms: Option<f64>,
) -> Result<JudgeOptions> {
    let mut settings = JudgeOptions { model: given.text("judgeModel")?, ..JudgeOptions::default() };
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let calls = &mut settings.calls;
    calls.concurrency = small(concurrency);
    calls.seed = given.whole("seed")?.unwrap_or_default();
    let retry = &mut calls.retry;
    retry.attempts = given.whole("attempts")?.map_or(retry.attempts, small);
    let take = |key, place: &mut f64| {
        if let Some(number) = given.number(key)? {
            *place = number;
        }
        Ok::<_, Error>(())
    };
    take("initialDelayMs", &mut retry.initial_delay_ms)?;
    take("maxDelayMs", &mut retry.max_delay_ms)?;
    take("base", &mut retry.base)?;
    take("jitter", &mut retry.jitter)?;
    take("timeMs", &mut calls.run_timeout_ms)?;
    calls.timeout_ms = timeout_ms.unwrap_or(calls.timeout_ms);
    calls.budget.calls = given.whole("maxCalls")?.map(small);
    calls.budget.tokens = given.whole("maxTokens")?;
    calls.budget.cost = given.number("maxCost")?;
    let prices = given.list("prices")?;
    for (model, prices) in given.texts("pricedModels")?.into_iter().zip(prices.chunks(2)) {
        let price = |at: usize| prices.get(at).and_then(|price| price.as_f64()).unwrap_or_default();
        settings.prices.push((model, Prices { input_per_million: price(0), output_per_million: price(1) }));
    }
    Ok(settings)
}
