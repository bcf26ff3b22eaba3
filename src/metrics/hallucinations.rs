//! `hallucinations_v1`: the share of sentences that the agent's context supports. Range 0 to 1. Requires no
//! reference. Asks a judge twice per step: to split the response into sentences, then to check each sentence
//! against the context. As in google-adk, the number of samples in the criterion is ignored.
//!
//! A step is a text by the agent: the final response and, with `evaluate_intermediate_nl_responses`, each text
//! part of each event. Its context is what the agent knew at that point. A step scores the share of `supported`
//! and `not_applicable` sentences among those with a known label, a turn the mean of its steps, and the
//! conversation the mean of its turns. These means are exact and rounded once.

use std::borrow::Cow;

use super::judged::{
    Answer, Ballot, JudgeConfig, Judged, JudgedCase, JudgedTurn, PromptText, PromptValues, Purpose, Question,
    Questions, RubricSums, Sentence, average, judged_turn, plain_mean,
};
use super::{Evaluation, Explain, MetricInfo, Scoring, TurnEvaluation, same_length, transcript};
use crate::foundation::double::exact_mean;
use crate::foundation::error::Result;
use crate::foundation::write::quote;
use crate::judge::prompt::{SEGMENTER, VALIDATOR, validations_schema};
use crate::judge::reply::{self, ShownText, Validation};
use crate::model::config::{MetricConfig, read_flag, settings};
use crate::model::content::Part;
use crate::model::invocation::{Invocation, InvocationEvent};

struct Hallucinations {
    judge_config: Box<JudgeConfig>,
    every_step: bool,
}

settings! {
    /// Whether intermediate responses are checked too, not only the final response.
    EVERY_STEP: bool = false, "evaluate_intermediate_nl_responses" | "evaluateIntermediateNlResponses";
}

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "hallucinations_v1",
    class: "HallucinationsV1Evaluator",
    description: "The share of sentences that the agent's context supports.",
    settings: &[SETTINGS],
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    let judge_config = JudgeConfig::read(metric_config, &[&SEGMENTER, &VALIDATOR])?;
    let every_step = metric_config.setting(EVERY_STEP, read_flag)?;
    Ok(Box::new(Hallucinations { judge_config, every_step }))
}

/// A text by the agent, and where its context ends.
struct AgentText<'a> {
    text: Cow<'a, str>,
    /// How many events precede it.
    events: usize,
    /// The event that contains the text, whose grounding metadata belongs to the context too.
    own: Option<InvocationEvent<'a>>,
}

impl Hallucinations {
    fn steps<'a>(&self, turn: Invocation<'a>) -> Vec<AgentText<'a>> {
        let mut steps = Vec::new();
        let mut count = 0;
        for event in transcript::events(turn) {
            if self.every_step {
                let parts = event.content().unwrap_or_default().all_parts();
                for text in parts.filter_map(Part::text).filter(|text| !text.is_empty()) {
                    steps.push(AgentText { text, events: count, own: Some(event) });
                }
            }
            count += 1;
        }
        let text = turn.final_text();
        if !text.is_empty() {
            steps.push(AgentText { text, events: count, own: None });
        }
        steps
    }

    fn context(turn: Invocation<'_>, step: &AgentText<'_>) -> String {
        let before = || transcript::events(turn).take(step.events);
        let mut happened = String::new();
        for event in before() {
            transcript::event_line(&mut happened, event);
        }
        let mut said = String::new();
        let words = turn.user_content().text();
        if !words.is_empty() {
            quote(&words, &mut said);
        }
        let mut context = String::new();
        for (title, text) in [
            ("Instructions of the developer:", transcript::instructions(&mut std::iter::once(turn))),
            ("The user's words:", said),
            ("Tools:", transcript::tools(&mut std::iter::once(turn))),
            ("Grounding metadata:", transcript::grounding(&mut before().chain(step.own))),
            ("What happened:", happened),
        ] {
            let text = if text.is_empty() { transcript::NONE } else { &text };
            transcript::line(&mut context, &[title, "\n", text, "\n"]);
        }
        context
    }
}

impl Judged for Hallucinations {
    fn judge_config(&self) -> &JudgeConfig {
        &self.judge_config
    }

    fn check(&self, case: &JudgedCase<'_>) -> Result<()> {
        same_length(&case.case)
    }

    fn ask(&self, _: &JudgedCase<'_>, turn: JudgedTurn<'_>, questions: &mut Questions<'_>) -> Result<()> {
        for index in 0..self.steps(turn.actual).len() {
            let question = questions.add(self.judge_config.question(0));
            question.step = index;
            question.verdicts = 0;
        }
        Ok(())
    }

    fn prompt(&self, case: &JudgedCase<'_>, question: &Question, before: Option<&Answer>) -> PromptText {
        let mut values = PromptValues::default();
        let mut asked = 0;
        if let Some(JudgedTurn { actual, .. }) = case.turn(question.invocation)
            && let Some(step) = self.steps(actual).into_iter().nth(question.step)
        {
            let Some(before) = before else {
                values.add("response", step.text);
                return self.judge_config.render(0, &values);
            };
            values.add("context", Self::context(actual, &step).into());
            let sentences = before.replies.first().map(|reply| &*reply.ballot.sentences);
            let mut listed = String::new();
            for sentence in sentences.unwrap_or_default() {
                transcript::line(&mut listed, &["<sentence>"]);
                push_sentence(&mut listed, sentence);
                listed.push_str("</sentence>");
                asked += 1;
            }
            values.add("sentences", listed.into());
        }
        self.judge_config.render(1, &values).with_schema(validations_schema(asked))
    }

    fn read(&self, _: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot {
        let transcript = ShownText::from_prompt(&question.prompt);
        if question.purpose == Purpose::Segment {
            return Ballot { sentences: reply::sentences(reply, &transcript), ..Ballot::default() };
        }
        let validations = reply::validations(reply, &transcript);
        Ballot { score: share(&validations), validations, ..Ballot::default() }
    }

    fn follow_up(&self, answer: &Answer) -> Option<Question> {
        let &Question { purpose, invocation, step, .. } = &answer.question;
        let sentences = &answer.replies.first()?.ballot.sentences;
        if purpose != Purpose::Segment || sentences.is_empty() {
            return None;
        }
        let question = self.judge_config.question(1);
        Some(Question { invocation, step, verdicts: 0, ..question })
    }

    fn turn<'a>(
        &self,
        _: &JudgedCase<'a>,
        _: JudgedTurn<'a>,
        answers: &[&Answer],
        scoring: &Scoring,
    ) -> Result<TurnEvaluation<'a>> {
        if answers.is_empty() {
            return Ok(TurnEvaluation::not_evaluated("the turn has no answer to check"));
        }
        let mut scores = Vec::new();
        let mut failed = None;
        let mut sentences = Vec::new();
        let mut warnings = Vec::new();
        for answer in answers {
            warnings.extend(miscount(answers, answer));
            if answer.failure.is_some() {
                failed.get_or_insert(answer);
            }
            for reply in &answer.replies {
                scores.extend(reply.ballot.score);
                for found in &reply.ballot.validations {
                    sentences.push(Sentence::from_validation(found.clone(), answer.question.step));
                }
            }
        }
        let mut turn = judged_turn(exact_mean(&scores), self.judge_config.threshold, answers, scoring);
        if turn.score.is_none() {
            turn.reason = Some(match failed {
                Some(answer) => answer.why_unscored(),
                None if sentences.is_empty() => {
                    // A segmenter that found sentences is followed by a validator.
                    let is_empty = |answer: &&&Answer| {
                        answer.replies.first().is_none_or(|reply| reply.ballot.sentences.is_empty())
                    };
                    answers.iter().find(is_empty).map_or_else(Cow::default, |answer| answer.why_unscored())
                }
                None => "the judge gave no sentence a label that counts".into(),
            });
        }
        if let Some(explanation) = &mut turn.explanation {
            explanation.sentences = Some(sentences);
        }
        if !warnings.is_empty() && scoring.explain != Explain::None {
            turn.explanation.get_or_insert_default().warnings.append(&mut warnings);
        }
        Ok(turn)
    }

    fn overall(&self, _: &[Answer], _: RubricSums, _: &Scoring, evaluation: &mut Evaluation<'_>) {
        average(evaluation, exact_mean);
    }
}

/// Adds a sentence. A tag of its own would end it, and what follows would take the labels of other sentences.
fn push_sentence(listed: &mut String, sentence: &str) {
    for (at, part) in sentence.split('<').enumerate() {
        if at > 0 {
            let name = part.trim_start_matches(|c: char| c == '/' || c.is_whitespace());
            let is_tag = name.get(..8).is_some_and(|name| name.eq_ignore_ascii_case("sentence"));
            listed.push_str(if is_tag { "&lt;" } else { "<" });
        }
        listed.push_str(part);
    }
}

/// Warns if a validator labelled another number of sentences than it was given. google-adk scores the labelled
/// ones, which may omit relevant sentences or include foreign ones.
fn miscount(answers: &[&Answer], answer: &Answer) -> Option<Cow<'static, str>> {
    let Question { purpose, step, .. } = answer.question;
    if purpose != Purpose::Validate {
        return None;
    }
    // Answers are sorted by step, and the validator's follows the segmenter's.
    let segmented = answers.get(answers.partition_point(|other| other.question.step < step))?;
    let given = segmented.replies.first()?.ballot.sentences.len();
    let labelled = answer.replies.first()?.ballot.validations.len();
    let sentences = if given == 1 { "sentence" } else { "sentences" };
    (labelled != given).then(|| {
        format!("the judge was given {given} {sentences} and labelled {labelled}; only those count").into()
    })
}

/// The share of supported sentences among those with a known label.
fn share(validations: &[Validation]) -> Option<f64> {
    let mut scores = Vec::new();
    for supported in validations.iter().filter_map(Validation::is_supported) {
        scores.push(if supported { 1.0 } else { 0.0 });
    }
    plain_mean(&scores)
}
