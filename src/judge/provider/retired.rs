//! Models that a provider retires without rejecting calls to them: another model answers.

use super::{Endpoint, Provider};

/// A model, its retirement date, and the model that answers afterwards.
struct Retirement {
    provider: Provider,
    model: &'static str,
    date: &'static str,
    successor: &'static str,
}

/// Source: <https://ai.google.dev/gemini-api/docs/deprecations>, in November 2026.
const RETIREMENTS: [Retirement; 2] = [
    Retirement {
        provider: Provider::Gemini,
        model: "gemini-2.5-flash",
        date: "1 December 2026",
        successor: "gemini-3.5-flash-lite",
    },
    Retirement {
        provider: Provider::Gemini,
        model: "gemini-2.5-pro",
        date: "1 December 2026",
        successor: "gemini-3.8-flash",
    },
];

impl Endpoint {
    /// A warning about a model for which the provider (not a custom server) lets another model answer.
    ///
    /// ```
    /// use adk_metrics::judge::provider::{Endpoint, Provider};
    ///
    /// let gemini = Endpoint::new(Provider::Gemini);
    /// assert!(gemini.retirement("gemini-2.5-flash").is_some_and(|warning| warning.contains("1 December 2026")));
    /// assert_eq!(gemini.retirement("gemini-3.5-flash-lite"), None);
    /// ```
    #[must_use]
    pub fn retirement(&self, model: &str) -> Option<String> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let retired = |known: &&Retirement| {
            known.provider == self.provider && self.base_url.is_none() && known.model == model
        };
        let Retirement { date, successor, .. } = RETIREMENTS.iter().find(retired)?;
        Some(format!(
            "the {} API retires {model} on {date}: from then on {successor} answers in its place, at its own prices, and \
             verdicts may change",
            self.provider.label()
        ))
    }
}
