//! Models that a provider retires without rejecting calls to them: another model answers.

use super::{Endpoint, Provider};

/// A model, its retirement date, also in milliseconds since 1970, and the model that answers afterwards.
struct Retirement {
    provider: Provider,
    model: &'static str,
    date: &'static str,
    since_ms: f64,
    successor: &'static str,
}

/// Source: <https://ai.google.dev/gemini-api/docs/deprecations>, in November 2026.
const RETIREMENTS: [Retirement; 2] = [
    Retirement {
        provider: Provider::Gemini,
        model: "gemini-2.5-flash",
        date: "1 December 2026",
        since_ms: 1_796_083_200_000.0,
        successor: "gemini-3.5-flash-lite",
    },
    Retirement {
        provider: Provider::Gemini,
        model: "gemini-2.5-pro",
        date: "1 December 2026",
        since_ms: 1_796_083_200_000.0,
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
    /// let said = |now_ms| gemini.retirement("gemini-2.5-flash", now_ms).unwrap_or_default();
    /// assert!(said(1_790_000_000_000.0).contains("retires gemini-2.5-flash on 1 December 2026: from then on"));
    /// assert!(said(1_800_000_000_000.0).contains("retired gemini-2.5-flash on 1 December 2026: since then"));
    /// assert_eq!(gemini.retirement("gemini-3.5-flash-lite", 0.0), None);
    /// ```
    #[must_use]
    pub fn retirement(&self, model: &str, now_ms: f64) -> Option<String> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let retired = |known: &&Retirement| {
            known.provider == self.provider && self.base_url.is_none() && known.model == model
        };
        let Retirement { date, since_ms, successor, .. } = RETIREMENTS.iter().find(retired)?;
        let (retires, from) =
            if now_ms < *since_ms { ("retires", "from then on") } else { ("retired", "since then") };
        Some(format!(
            "the {} API {retires} {model} on {date}: {from} {successor} answers in its place, at its own prices, and verdicts \
             may change",
            self.provider.label()
        ))
    }
}
