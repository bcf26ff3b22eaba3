//! Shared by the five metrics that google-adk delegates to Vertex AI, which have a file each.
//!
//! Each has two backends. With Vertex AI's options, its evaluation service computes the score, with one request
//! per turn or one for the whole conversation. Otherwise a judge is asked with a rubric of this project, and
//! the samples decide by majority, where a tie counts as the worse result, or by their mean. A conversation
//! scores the mean of its turns; metrics of whole conversations store their only result in the last turn.

use super::judged::{
    Answer, Ballot, JudgeConfig, Judged, JudgedCase, JudgedTurn, PromptText, PromptValues, Purpose, Question,
    Questions, RubricSums, average, judged_turn, plain_mean,
};
use super::{
    Case, Details, Evaluation, NO_TURNS, RubricFinding, Scoring, TurnEvaluation, reference, same_length,
    transcript,
};
use crate::foundation::error::Result;
use crate::judge::prompt::Prompt;
use crate::judge::provider::vertex_evaluate::{self, Instance};
use crate::judge::reply::{self, ShownText};
use crate::judge::votes::{Vote, VotingRule};
use crate::model::config::MetricConfig;
use crate::model::invocation::Invocation;

/// What distinguishes these metrics.
pub(super) struct VertexMetric {
    pub(super) prompt: &'static Prompt,
    /// The smallest and the largest score.
    pub(super) range: [f64; 2],
    pub(super) by_majority: bool,
    pub(super) needs_reference: bool,
}

impl VertexMetric {
    /// The values of a metric that scores from 0 to 1.
    pub(super) const fn from_zero_to_one(prompt: &'static Prompt) -> Self {
        Self { prompt, range: [0.0, 1.0], by_majority: false, needs_reference: false }
    }
}

struct VertexScored {
    spec: &'static VertexMetric,
    judge_config: Box<JudgeConfig>,
}

/// Builds one of the metrics.
pub(super) fn build(
    metric_config: &MetricConfig<'_, '_>,
    spec: &'static VertexMetric,
) -> Result<Box<dyn Judged>> {
    let mut judge_config = JudgeConfig::read(metric_config, &[spec.prompt])?;
    judge_config.vertex = metric_config.judging.vertex;
    judge_config.raises = judge_config.vertex;
    judge_config.whole_conversation = spec.prompt.shows_conversation();
    Ok(Box::new(VertexScored { spec, judge_config }))
}

impl VertexScored {
    fn is_panel(&self) -> bool {
        !self.judge_config.options.panel.is_empty()
    }

    /// The body of a request to Vertex AI's evaluation service.
    fn body(&self, case: &Case<'_>, turn: JudgedTurn<'_>) -> String {
        let metric = self.spec.prompt.id;
        let body = if self.judge_config.whole_conversation {
            vertex_evaluate::body(metric, Instance::Conversation(&transcript::for_vertex(case.actual)))
        } else {
            let prompt = turn.actual.user_content().text();
            let reference = turn.expected.map(Invocation::final_text);
            let response = turn.actual.final_text();
            let reference = reference.as_deref();
            vertex_evaluate::body(metric, Instance::Turn { prompt: &prompt, reference, response: &response })
        };
        body.unwrap_or_default()
    }

    /// What a judge is shown.
    fn values<'a>(&self, case: &Case<'a>, turn: JudgedTurn<'a>) -> PromptValues<'a> {
        let mut values = PromptValues::default();
        if self.judge_config.whole_conversation {
            values.add("conversation", transcript::whole_conversation_text(case.actual).into());
            values.add("agents", transcript::agents(&mut case.actual.iter()).into());
        } else {
            values.add("user_prompt", turn.actual.user_content().text());
            values.add("response", turn.actual.final_text());
        }
        if let Some(expected) = turn.expected {
            values.add("reference", expected.final_text());
        }
        values
    }

    /// The result of a turn by Vertex AI: its score, and its remarks stored as google-adk stores them.
    fn turn_by_vertex<'a>(&self, answers: &[&Answer], scoring: &Scoring) -> TurnEvaluation<'a> {
        let reply = answers.first().and_then(|answer| answer.replies.first());
        let found = reply.and_then(|reply| vertex_evaluate::parse(&reply.text)).unwrap_or_default();
        let mut turn = judged_turn(found.score, self.judge_config.threshold, answers, scoring);
        if turn.score.is_none()
            && let Some(error) = &found.error
        {
            turn.reason = Some(error.clone().into());
        }
        let mut findings = Vec::new();
        for rubric in found.rubrics {
            let score = Some(if rubric.met { 1.0 } else { 0.0 });
            findings.push(RubricFinding { rubric_id: rubric.id, rationale: rubric.reasoning, score });
        }
        for (id, text) in [("explanation", found.explanation), ("error", found.error)] {
            remark(&mut findings, id, text);
        }
        turn.details = Details::from_rubrics(findings);
        turn
    }

    fn turn_by_judge<'a>(&self, answers: &[&Answer], scoring: &Scoring) -> TurnEvaluation<'a> {
        // The text of a reply that agrees with the result, if there is one.
        let mut scores = Vec::new();
        let mut ballots = Vec::new();
        for answer in answers {
            for reply in &answer.replies {
                if let Some(score) = reply.ballot.score {
                    scores.push(score);
                    ballots.push(&reply.ballot);
                }
            }
        }
        let score = match answers.first() {
            Some(answer) if self.spec.by_majority => answer.majority(),
            Some(answer) if answer.is_settled() && self.is_panel() => answer.votes.median(),
            Some(answer) if answer.is_settled() => plain_mean(&scores),
            _ => None,
        };
        let mut turn = judged_turn(score, self.judge_config.threshold, answers, scoring);
        if score.is_some() {
            let ballot = ballots.iter().find(|ballot| ballot.score == score).or(ballots.first());
            let why = ballot.and_then(|ballot| ballot.rationales.first().cloned().flatten());
            let mut findings = Vec::new();
            remark(&mut findings, "explanation", why);
            turn.details = Details::from_rubrics(findings);
        }
        turn
    }
}

/// Adds a remark about a result, stored as google-adk does: as a rubric without a score.
fn remark(findings: &mut Vec<RubricFinding>, id: &str, text: Option<String>) {
    if text.is_some() {
        findings.push(RubricFinding { rubric_id: id.to_owned(), rationale: text, score: None });
    }
}

impl Judged for VertexScored {
    fn judge_config(&self) -> &JudgeConfig {
        &self.judge_config
    }

    fn check(&self, case: &JudgedCase<'_>) -> Result<()> {
        if self.spec.needs_reference {
            reference(&self.judge_config.name, &case.case)?;
        }
        same_length(&case.case)
    }

    fn ask(&self, _: &JudgedCase<'_>, _: JudgedTurn<'_>, questions: &mut Questions<'_>) -> Result<()> {
        let question = if self.judge_config.vertex {
            questions.add(Question::new())
        } else {
            let question = questions.ballot();
            if !self.spec.by_majority {
                question.rule = match question.rule {
                    VotingRule::Majority { early_stop } if self.is_panel() => {
                        VotingRule::Median { early_stop }
                    }
                    _ => VotingRule::Every,
                };
            }
            question
        };
        question.purpose = Purpose::Score;
        Ok(())
    }

    fn prompt(&self, case: &JudgedCase<'_>, question: &Question, _: Option<&Answer>) -> PromptText {
        match case.turn(question.invocation) {
            Some(turn) if self.judge_config.vertex => PromptText::new(self.body(&case.case, turn)),
            Some(turn) => self.judge_config.render(0, &self.values(&case.case, turn)),
            None => PromptText::new(String::new()),
        }
    }

    fn read(&self, _: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot {
        if self.judge_config.vertex {
            let score = vertex_evaluate::parse(reply).and_then(|found| found.score);
            return Ballot { score, ..Ballot::default() };
        }
        let [least, greatest] = self.spec.range;
        let found = reply::score(reply, &ShownText::from_prompt(&question.prompt));
        let found = found.filter(|found| (least..=greatest).contains(&found.score));
        let Some(found) = found else { return Ballot { votes: vec![Vote::Unscored], ..Ballot::default() } };
        let score = match self.spec.by_majority {
            true if found.score > 0.5 => 1.0,
            true => 0.0,
            false => found.score,
        };
        let explanation = Some(found.explanation).filter(|text| !text.is_empty());
        Ballot { rationales: vec![explanation], ..Ballot::from_score(score) }
    }

    fn turn<'a>(
        &self,
        _: &JudgedCase<'a>,
        _: JudgedTurn<'a>,
        answers: &[&Answer],
        scoring: &Scoring,
    ) -> Result<TurnEvaluation<'a>> {
        let (mut turn, scored_by) = if self.judge_config.vertex {
            (self.turn_by_vertex(answers, scoring), "vertex")
        } else {
            (self.turn_by_judge(answers, scoring), "judge")
        };
        if let Some(explanation) = &mut turn.explanation {
            explanation.scored_by = Some(scored_by.into());
        }
        Ok(turn)
    }

    fn overall(&self, _: &[Answer], _: RubricSums, _: &Scoring, evaluation: &mut Evaluation<'_>) {
        if !self.judge_config.whole_conversation {
            return average(evaluation, plain_mean);
        }
        match evaluation.turns.last() {
            Some(last) => {
                evaluation.score = last.score;
                evaluation.reason = last.reason.clone();
                evaluation.details = last.details.clone();
            }
            None => evaluation.reason = Some(NO_TURNS.into()),
        }
    }
}
