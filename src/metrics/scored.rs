//! What the five metrics have in common that google-adk leaves to Vertex AI; each has a file of its own.
//!
//! Each has two backends. With Vertex AI's options its evaluation service scores, one request a turn, or
//! one for the whole conversation. Otherwise a judge is asked with a rubric of this project, and the
//! samples decide by majority, a tie being the worse, or by their mean. A conversation scores the mean
//! of its turns; metrics of whole conversations put their one result on the last turn.

use std::borrow::Cow;

use super::judged::{Answer, Asking, Ballot, Judged, JudgedCase, Purpose, Question, turn_of};
use super::{
    Case, Details, Evaluation, NO_TURNS, RubricFinding, Scoring, TurnEvaluation, material, mean, reference,
    same_length,
};
use crate::judge::prompt::Prompt;
use crate::judge::provider::vertex_evaluate::{self, Instance};
use crate::judge::reply;
use crate::judge::votes::{Rule, Vote};
use crate::model::config::Setup;
use crate::model::error::Result;
use crate::model::invocation::Invocation;
use crate::model::results::EvalStatus;

/// What tells the metrics apart.
pub(super) struct Family {
    pub(super) prompt: &'static Prompt,
    /// The least and the greatest score.
    pub(super) range: [f64; 2],
    pub(super) by_majority: bool,
    pub(super) whole_conversation: bool,
    pub(super) needs_reference: bool,
}

impl Family {
    /// Of a metric that scores whole conversations from 0 to 1.
    pub(super) const fn of_conversations(prompt: &'static Prompt) -> Self {
        Self {
            prompt,
            range: [0.0, 1.0],
            by_majority: false,
            whole_conversation: true,
            needs_reference: false,
        }
    }
}

struct Scored {
    family: &'static Family,
    name: String,
    threshold: f64,
    asking: Asking,
}

/// Makes one of the metrics.
pub(super) fn build(setup: &Setup<'_, '_>, family: &'static Family) -> Result<Box<dyn Judged>> {
    let mut asking = Asking::read(setup, &[family.prompt])?;
    asking.vertex = setup.judging.vertex;
    Ok(Box::new(Scored { family, name: setup.name.into(), threshold: setup.threshold()?, asking }))
}

impl Scored {
    fn question(
        &self,
        case: &Case<'_>,
        turn: Invocation<'_>,
        expected: Option<Invocation<'_>>,
        scoring: &Scoring,
    ) -> Question {
        let user = turn.user_content().text();
        let response = turn.final_text();
        let expected = expected.map(Invocation::final_text);
        if self.asking.vertex {
            let data;
            let instance = if self.family.whole_conversation {
                data = material::for_vertex(case.actual);
                Instance::Conversation(&data)
            } else {
                Instance::Turn { prompt: &user, reference: expected.as_deref(), response: &response }
            };
            let body = vertex_evaluate::body(self.family.prompt.id, instance).unwrap_or_default();
            return Question::new(body, None);
        }
        let (conversation, agents);
        let mut values = vec![("user_prompt", &*user), ("response", &response)];
        if self.family.whole_conversation {
            conversation = material::dialogue(case.actual);
            agents = material::agents(&mut case.actual.iter());
            values = vec![("conversation", &*conversation), ("agents", &*agents)];
        }
        if let Some(expected) = &expected {
            values.push(("reference", expected));
        }
        let mut question = self.asking.ballot(&values, scoring);
        if !self.family.by_majority {
            question.rule = Rule::Every;
        }
        question
    }

    /// What Vertex AI says: its score, and what it says of it as google-adk stores that.
    fn turn_by_vertex<'a>(&self, answer: &Answer, scoring: &Scoring) -> TurnEvaluation<'a> {
        let reply = answer.replies.first();
        let found = reply.and_then(|reply| vertex_evaluate::parse(&reply.text)).unwrap_or_default();
        let mut turn = turn_of(found.score, self.threshold, &[answer], scoring);
        let mut findings = Vec::new();
        for rubric in found.rubrics {
            let score = Some(if rubric.met { 1.0 } else { 0.0 });
            findings.push(RubricFinding { rubric_id: rubric.id, rationale: rubric.reasoning, score });
        }
        if turn.score.is_none() && found.error.is_some() {
            turn.reason = found.error.clone().map(Cow::Owned);
        }
        for (id, text) in [("explanation", found.explanation), ("error", found.error)] {
            findings.extend(text.map(|text| remark(id, text)));
        }
        turn.details = (!findings.is_empty()).then(|| Box::new(Details::Rubrics(findings)));
        turn
    }

    fn turn_by_judge<'a>(&self, answer: &Answer, scoring: &Scoring) -> TurnEvaluation<'a> {
        let score = if self.family.by_majority {
            answer.majority()
        } else if answer.is_settled() {
            mean(answer.replies.iter().filter_map(|reply| reply.ballot.score))
        } else {
            None
        };
        let mut turn = turn_of(score, self.threshold, &[answer], scoring);
        // The words of a reply that agrees with the result, where one does.
        let mut ballots: Vec<_> = answer.replies.iter().map(|reply| &reply.ballot).collect();
        ballots.retain(|ballot| ballot.score.is_some());
        let told = ballots.iter().find(|ballot| ballot.score == score).or(ballots.first());
        let why = told.and_then(|ballot| ballot.rationales.first().cloned().flatten());
        turn.details = why
            .filter(|_| turn.score.is_some())
            .map(|why| Box::new(Details::Rubrics(vec![remark("explanation", why)])));
        turn
    }
}

/// Words about a result, kept as google-adk keeps them: as a rubric without a score.
fn remark(id: &str, text: String) -> RubricFinding {
    RubricFinding { rubric_id: id.into(), rationale: Some(text), score: None }
}

impl Judged for Scored {
    fn asking(&self) -> &Asking {
        &self.asking
    }

    fn plan(&self, case: &JudgedCase<'_>, scoring: &Scoring) -> Result<Vec<Question>> {
        let case = &case.case;
        if self.family.needs_reference {
            reference(&self.name, case)?;
        }
        let number = same_length(case)?;
        let mut questions = Vec::new();
        let mut expected = case.expected.into_iter().flat_map(|turns| turns.iter());
        for (index, turn) in case.actual.iter().enumerate() {
            let expected = expected.next();
            if !self.family.whole_conversation || index + 1 == number {
                let question = self.question(case, turn, expected, scoring);
                questions.push(Question { purpose: Purpose::Score, invocation: index, ..question });
            }
        }
        Ok(questions)
    }

    fn read(&self, _: &JudgedCase<'_>, _: &Question, reply: &str) -> Ballot {
        if self.asking.vertex {
            let score = vertex_evaluate::parse(reply).and_then(|found| found.score);
            return Ballot { score, ..Ballot::default() };
        }
        let [least, greatest] = self.family.range;
        let found = reply::score(reply).filter(|found| (least..=greatest).contains(&found.score));
        let Some(found) = found else { return Ballot { votes: vec![Vote::Unscored], ..Ballot::default() } };
        let score = match self.family.by_majority {
            true if found.score > 0.5 => 1.0,
            true => 0.0,
            false => found.score,
        };
        let explanation = Some(found.explanation).filter(|text| !text.is_empty());
        Ballot { rationales: vec![explanation], ..Ballot::of_score(score) }
    }

    fn conclude<'a>(
        &self,
        case: &JudgedCase<'a>,
        answers: &[Answer],
        scoring: &Scoring,
    ) -> Result<Evaluation<'a>> {
        let failure = answers.iter().find_map(Answer::judge_failure);
        if let Some(failure) = failure.filter(|_| self.asking.vertex) {
            return Err(failure.clone());
        }
        let scored_by = if self.asking.vertex { "vertex" } else { "judge" };
        let mut turns = Vec::new();
        for index in 0..case.case.actual.len() {
            let answer = answers.iter().find(|answer| answer.question.invocation == index);
            let mut turn = match answer {
                None => TurnEvaluation::not_evaluated(material::ONLY_THE_LAST),
                Some(answer) if self.asking.vertex => self.turn_by_vertex(answer, scoring),
                Some(answer) => self.turn_by_judge(answer, scoring),
            };
            if let Some(explanation) = &mut turn.explanation {
                explanation.scored_by = Some(scored_by.into());
            }
            turns.push(turn);
        }
        if !self.family.whole_conversation {
            return Ok(Evaluation::of_judged(turns, self.threshold, NO_TURNS));
        }
        let last = turns.last();
        let score = last.and_then(|turn| turn.score);
        Ok(Evaluation {
            score,
            status: EvalStatus::of_score(score, self.threshold),
            reason: last.map_or(Some(NO_TURNS.into()), |turn| turn.reason.clone()),
            details: last.and_then(|turn| turn.details.clone()),
            turns,
            ..Evaluation::default()
        })
    }
}
