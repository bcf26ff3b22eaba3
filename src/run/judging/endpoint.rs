//! Judges with an endpoint: their questions become HTTP requests, and the raw answers are read here. Unused when the host
//! asks its own judges.

use super::super::{MetricScorer, Millis, Run};
use super::JudgeReply;
use crate::foundation::json::Document;
use crate::judge::evidence::Prior;
use crate::judge::provider::{Endpoint, Failure, HostAnswer, HttpRequest, Query, Reply, Request};
use crate::metrics::judged::Judged;

impl Run<'_> {
    /// Sets the server that answers for the judge of a metric.
    pub fn set_endpoint(&mut self, metric: usize, endpoint: Endpoint) {
        if let Some(entry) = self.judges.endpoints.get_mut(metric) {
            *entry = Some(endpoint);
        }
    }

    /// Sets the model that the judge of a metric asks, if it differs from that of the options or the criterion. It
    /// determines the price of the calls.
    pub fn set_asked_model(&mut self, metric: usize, model: &str) {
        let scorer = self.plan.metrics.get(metric).map(|metric| &metric.scorer);
        let (Some(group), Some(MetricScorer::Judge(judged))) = (self.judges.groups.get(metric), scorer)
        else {
            return;
        };
        let prices = self.options.judges.prices_of(model, &judged.judge_config().options.panel);
        self.judges.calls.set_prices(*group, prices);
    }

    /// The settings of a metric's criterion that would not be sent to this server, one sentence for each.
    #[must_use]
    pub fn settings_not_sent(&self, metric: usize, mut endpoint: Endpoint) -> Vec<String> {
        let scorer = self.plan.metrics.get(metric).map(|metric| &metric.scorer);
        let Some(MetricScorer::Judge(judged)) = scorer else { return Vec::new() };
        let judge_config = judged.judge_config();
        // Vertex AI's evaluation service takes no settings.
        let config = judge_config.options.config.as_deref().filter(|_| !judge_config.vertex);
        let Some(config) = config.and_then(|config| Document::parse(config).ok()) else { return Vec::new() };
        endpoint.model.get_or_insert_with(|| self.judge_model(judged.as_ref()).to_owned());
        endpoint.warnings(config.root())
    }

    /// The HTTP request of a call; `None` if the host asks the judge itself.
    ///
    /// # Errors
    /// As [`Endpoint::ask`].
    pub fn http_request(&self, call: u32) -> Option<Result<HttpRequest, Box<Failure>>> {
        self.with_question(call, |endpoint, asked| endpoint.ask(asked))
    }

    /// Accepts the answer to [`Run::http_request`] and returns what it says; `None` if it is no longer needed.
    /// `token` is the access token that the host sent with the request.
    pub fn handle_answer(
        &mut self,
        now: Millis,
        call: u32,
        answer: HostAnswer<'_>,
        token: Option<String>,
    ) -> Option<Result<Reply, Box<Failure>>> {
        let taken = self.with_question(call, |endpoint, asked| match token {
            None => endpoint.take(asked, answer),
            Some(_) => Endpoint { bearer: token, ..endpoint.clone() }.take(asked, answer),
        })?;
        match &taken {
            Ok(Reply { text, usage, .. }) => {
                let reply = JudgeReply { text: text.clone(), usage: *usage };
                self.handle_reply(now, call, reply, false);
            }
            Err(failed) => self.handle_failure(now, call, failed),
        }
        Some(taken)
    }

    /// Calls `work` with the endpoint and the query of a call in flight.
    fn with_question<T>(&self, call: u32, work: impl FnOnce(&Endpoint, Query<'_>) -> T) -> Option<T> {
        let number = self.judges.question_for_call(call)?;
        let about = self.judges.asked.get(number as usize)?;
        let endpoint = self.judges.endpoints.get(about.metric)?.as_ref()?;
        let MetricScorer::Judge(judged) = &self.plan.metrics.get(about.metric)?.scorer else { return None };
        let question = self.question_numbered(number)?;
        let judge_config = judged.judge_config();
        if judge_config.vertex {
            return Some(work(endpoint, Query::Evaluation(&question.prompt)));
        }
        let config = judge_config.options.config.as_deref().and_then(|config| Document::parse(config).ok());
        let request = Request {
            model: self.judge_model(judged.as_ref()),
            system: None,
            prompt: &question.prompt,
            response_schema: question.schema.as_deref(),
            config: config.as_ref().map(Document::root),
        };
        Some(work(endpoint, Query::Question(request)))
    }

    /// The model that a metric asks at this endpoint.
    fn endpoint_model<'m>(&'m self, metric: &'m dyn Judged, endpoint: Option<&'m Endpoint>) -> &'m str {
        endpoint.and_then(|endpoint| endpoint.model.as_deref()).unwrap_or_else(|| self.judge_model(metric))
    }

    /// The model that a metric's calls name, the endpoint's model included. `metric` is its index in the plan.
    #[must_use]
    pub fn asked_model<'m>(&'m self, metric: usize, judged: &'m dyn Judged) -> &'m str {
        self.endpoint_model(judged, self.judges.endpoints.get(metric).and_then(Option::as_ref))
    }

    /// The model that the options or the criterion choose for a metric.
    #[must_use]
    pub fn judge_model<'m>(&'m self, metric: &'m dyn Judged) -> &'m str {
        self.options.judges.model_for(metric)
    }

    /// How the samples of a metric vote, where votes may end on that and it is known.
    #[must_use]
    pub fn vote_prior(&self, metric: usize) -> Option<Prior> {
        self.judges.learning.get(metric)?.as_ref()?.prior()
    }
}
