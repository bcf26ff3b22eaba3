//! How one metric asks its judge: options and prompts from its config, and the rendering of prompts. The same
//! for all cases.

use std::borrow::Cow;

use super::{JudgeModelOptions, MAX_PROMPT_BYTES, Question};
use crate::foundation::error::Result;
use crate::judge::prompt::{Prompt, PromptValue, Template};
use crate::metrics::transcript;
use crate::model::config::MetricConfig;

/// How one metric asks its judge.
pub struct JudgeConfig {
    /// The metric's name.
    pub name: String,
    /// The threshold.
    pub threshold: f64,
    /// `judge_model_options` of the config.
    pub options: JudgeModelOptions,
    /// The prompts with their templates: this project's, or the user's.
    pub prompts: Vec<(&'static Prompt, Template<'static>)>,
    /// Whether Vertex AI's evaluation service is asked instead of a judge.
    pub vertex: bool,
    /// Whether the whole conversation is judged at once, as part of its last turn.
    pub whole_conversation: bool,
    /// Whether a failure of the judge fails the metric.
    pub raises: bool,
}

impl JudgeConfig {
    /// Reads the judge's options and the user's templates.
    ///
    /// # Errors
    /// `invalid_criterion` for unusable options, `threshold_required`; `invalid_input` for unusable templates.
    pub(in crate::metrics) fn read(
        metric_config: &MetricConfig<'_, '_>,
        prompts: &[&'static Prompt],
    ) -> Result<Box<Self>> {
        let threshold = metric_config.threshold()?;
        let mut with_templates = Vec::new();
        for prompt in prompts {
            let own = metric_config.judging.prompts.iter().find(|(id, _)| id == prompt.id);
            let template = match own {
                Some((_, text)) => prompt.replaced_by(text.clone())?,
                None => prompt.template(),
            };
            with_templates.push((*prompt, template));
        }
        Ok(Box::new(Self {
            name: metric_config.name.to_owned(),
            threshold,
            options: JudgeModelOptions::read(metric_config)?,
            prompts: with_templates,
            vertex: false,
            whole_conversation: false,
            raises: false,
        }))
    }

    /// A question with the prompt at an index, for one sample.
    pub(in crate::metrics) fn question(&self, prompt: usize) -> Question {
        let mut question = Question::new();
        if let Some((prompt, _)) = self.prompts.get(prompt) {
            question.purpose = prompt.purpose;
            question.wanted = prompt.wanted;
        }
        question
    }

    /// Renders the prompt at an index. All values are foreign text, so all are fenced.
    pub(in crate::metrics) fn render(&self, prompt: usize, values: &PromptValues<'_>) -> PromptText {
        let bytes: usize = values.0.iter().map(|(_, text)| text.len()).sum();
        if bytes > MAX_PROMPT_BYTES {
            return PromptText { text: String::new(), bytes, schema: None };
        }
        let mut fenced = Vec::new();
        for (name, text) in &values.0 {
            fenced.push(PromptValue { name, text, is_fenced: true });
        }
        match self.prompts.get(prompt) {
            Some((prompt, template)) => PromptText {
                schema: prompt.schema.map(Cow::Borrowed),
                ..PromptText::new(prompt.render(template, &fenced))
            },
            None => PromptText::new(String::new()),
        }
    }
}

/// The values of a prompt's variables.
#[derive(Default)]
pub(in crate::metrics) struct PromptValues<'v>(Vec<(&'static str, Cow<'v, str>)>);

impl<'v> PromptValues<'v> {
    pub(in crate::metrics) fn add(&mut self, name: &'static str, text: Cow<'v, str>) {
        self.0.push((name, text));
    }

    /// Replaces empty values by a marker that says there is none.
    pub(in crate::metrics) fn name_absent(&mut self) {
        for (_, text) in &mut self.0 {
            if text.is_empty() {
                *text = transcript::NONE.into();
            }
        }
    }
}

/// The text of a rendered prompt.
pub struct PromptText {
    /// The text; empty if it is too long.
    pub(super) text: String,
    /// Its length.
    pub(super) bytes: usize,
    /// The JSON Schema of the reply, if it has one.
    pub(super) schema: Option<Cow<'static, str>>,
}

impl PromptText {
    pub(in crate::metrics) fn new(text: String) -> Self {
        let bytes = text.len();
        let text = if bytes > MAX_PROMPT_BYTES { String::new() } else { text };
        Self { text, bytes, schema: None }
    }

    /// With a schema made for what is asked about.
    pub(in crate::metrics) fn with_schema(self, schema: String) -> Self {
        Self { schema: Some(schema.into()), ..self }
    }
}
