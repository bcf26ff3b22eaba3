//! `hallucinations_v1`: the share of sentences that the agent's context supports. Range 0 to 1; no
//! reference; asks a judge, twice a step: to cut the answer into sentences, then to check each
//! against the context. The number of samples in the criterion is not read, as in google-adk.
//!
//! A step is a text that the agent gave: the final response, and with
//! `evaluate_intermediate_nl_responses` each text part of each event. Its context is what the agent
//! knew by then. A step scores the share of its sentences labelled `supported` or `not_applicable`
//! among those with a known label, a turn the mean of its steps, the conversation the mean of its
//! turns; these means are exact, rounded once.

use std::borrow::Cow;

use super::judged::{Answer, Asking, Ballot, Judged, JudgedCase, Purpose, Question, Sentence, turn_of};
use super::{Evaluation, NO_TURNS, Scoring, TurnEvaluation, material, mean, same_length};
use crate::judge::prompt::{SEGMENTER, VALIDATOR};
use crate::judge::reply::{self, Validation};
use crate::model::config::{Setup, read_flag, settings};
use crate::model::content::Part;
use crate::model::double::exact_mean;
use crate::model::error::Result;
use crate::model::invocation::{Invocation, InvocationEvent};
use crate::model::order::sort;
use crate::model::results::EvalStatus;
use crate::model::write::quote;

struct Hallucinations {
    threshold: f64,
    asking: Asking,
    every_step: bool,
}

settings! {
    /// Whether what the agent said on the way is checked too, and not its final response alone.
    EVERY_STEP: bool = false, "evaluate_intermediate_nl_responses" | "evaluateIntermediateNlResponses";
}

pub(super) fn build(setup: &Setup<'_, '_>) -> Result<Box<dyn Judged>> {
    Ok(Box::new(Hallucinations {
        threshold: setup.threshold()?,
        asking: Asking::read(setup, &[&SEGMENTER, &VALIDATOR])?,
        every_step: setup.setting(EVERY_STEP, read_flag)?,
    }))
}

/// A text of the agent's, and what it knew by then.
struct Step<'a> {
    text: Cow<'a, str>,
    /// How many events came before.
    events: usize,
    /// The event that the text belongs to, whose grounding metadata counts too.
    own: Option<InvocationEvent<'a>>,
}

impl Hallucinations {
    fn steps<'a>(&self, turn: Invocation<'a>) -> Vec<Step<'a>> {
        let mut steps = Vec::new();
        let mut count = 0;
        for event in material::events(turn) {
            if self.every_step {
                let parts = event.content().unwrap_or_default().all_parts();
                for text in parts.filter_map(Part::text).filter(|text| !text.is_empty()) {
                    steps.push(Step { text, events: count, own: Some(event) });
                }
            }
            count += 1;
        }
        let text = turn.final_text();
        if !text.is_empty() {
            steps.push(Step { text, events: count, own: None });
        }
        steps
    }

    fn context(turn: Invocation<'_>, step: &Step<'_>) -> String {
        let before = || material::events(turn).take(step.events);
        let mut happened = String::new();
        for event in before() {
            material::happening(&mut happened, event);
        }
        let mut said = String::new();
        let words = turn.user_content().text();
        if !words.is_empty() {
            quote(&words, &mut said);
        }
        let mut context = String::new();
        for (title, text) in [
            ("Instructions of the developer:", material::instructions(&mut std::iter::once(turn))),
            ("The user's words:", said),
            ("Tools:", material::tools(&mut std::iter::once(turn))),
            ("Grounding metadata:", material::grounding(before().chain(step.own))),
            ("What happened:", happened),
        ] {
            let text = if text.is_empty() { material::NONE } else { &text };
            material::line(&mut context, &[title, "\n", text, "\n"]);
        }
        context
    }
}

impl Judged for Hallucinations {
    fn asking(&self) -> &Asking {
        &self.asking
    }

    fn plan(&self, case: &JudgedCase<'_>, _: &Scoring) -> Result<Vec<Question>> {
        same_length(&case.case)?;
        let mut questions = Vec::new();
        for (invocation, turn) in case.case.actual.iter().enumerate() {
            for (index, step) in self.steps(turn).iter().enumerate() {
                let question = self.asking.question(0, &[("response", &step.text)]);
                questions.push(about(invocation, index, Purpose::Segment, question));
            }
        }
        Ok(questions)
    }

    fn read(&self, _: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot {
        if question.purpose == Purpose::Segment {
            return Ballot { sentences: reply::sentences(reply), ..Ballot::default() };
        }
        let validations = reply::validations(reply);
        Ballot { score: share(&validations), validations, ..Ballot::default() }
    }

    fn follow_up(&self, case: &JudgedCase<'_>, answer: &Answer) -> Option<Question> {
        let &Question { purpose, invocation, step: index, .. } = &answer.question;
        let sentences = &answer.replies.first()?.ballot.sentences;
        if purpose != Purpose::Segment || sentences.is_empty() {
            return None;
        }
        let turn = case.case.actual.iter().nth(invocation)?;
        let steps = self.steps(turn);
        let context = Self::context(turn, steps.get(index)?);
        let mut listed = String::new();
        for sentence in sentences {
            material::line(&mut listed, &["<sentence>", sentence, "</sentence>"]);
        }
        let question = self.asking.question(1, &[("context", &context), ("sentences", &listed)]);
        Some(about(invocation, index, Purpose::Validate, question))
    }

    fn conclude<'a>(
        &self,
        case: &JudgedCase<'a>,
        answers: &[Answer],
        scoring: &Scoring,
    ) -> Result<Evaluation<'a>> {
        let mut turns = Vec::new();
        for index in 0..case.case.actual.len() {
            let mut own: Vec<_> =
                answers.iter().filter(|answer| answer.question.invocation == index).collect();
            // Answers to second questions stand in the order in which they came.
            sort(&mut own, |a, b| a.question.step.cmp(&b.question.step));
            turns.push(self.turn(&own, scoring));
        }
        let scores: Vec<f64> = turns.iter().filter_map(|turn| turn.score).collect();
        let score = exact_mean(&scores);
        let first = turns.iter().find_map(|turn| turn.reason.clone());
        Ok(Evaluation {
            score,
            status: EvalStatus::of_score(score, self.threshold),
            reason: if score.is_some() { None } else { first.or(Some(NO_TURNS.into())) },
            turns,
            ..Evaluation::default()
        })
    }
}

impl Hallucinations {
    fn turn<'a>(&self, answers: &[&Answer], scoring: &Scoring) -> TurnEvaluation<'a> {
        if answers.is_empty() {
            return TurnEvaluation::not_evaluated("the turn has no answer to check");
        }
        let mut ballots: Vec<_> = Vec::new();
        for answer in answers {
            ballots.extend(answer.replies.iter().map(|reply| &reply.ballot));
        }
        let scores: Vec<f64> = ballots.iter().filter_map(|ballot| ballot.score).collect();
        let mut turn = turn_of(exact_mean(&scores), self.threshold, answers, scoring);
        if turn.score.is_none() {
            let failed = answers.iter().find(|answer| answer.failure.is_some());
            turn.reason = Some(match failed {
                Some(answer) => answer.why_unscored(),
                None if ballots.iter().all(|ballot| ballot.sentences.is_empty()) => {
                    "the judge found no sentence in the answer".into()
                }
                None => "the judge labelled no sentence".into(),
            });
        }
        if let Some(explanation) = &mut turn.explanation {
            let mut sentences = Vec::new();
            for answer in answers {
                for reply in &answer.replies {
                    for found in &reply.ballot.validations {
                        sentences.push(Sentence::of(found.clone(), answer.question.step));
                    }
                }
            }
            explanation.sentences = Some(sentences);
        }
        turn
    }
}

/// A question about a step, on which nobody votes.
fn about(invocation: usize, step: usize, purpose: Purpose, question: Question) -> Question {
    Question { purpose, invocation, step, verdicts: 0, ..question }
}

/// The share of supported sentences among those with a known label.
fn share(validations: &[Validation]) -> Option<f64> {
    let labels = validations.iter().filter_map(Validation::is_supported);
    mean(labels.map(|supported| if supported { 1.0 } else { 0.0 }))
}
