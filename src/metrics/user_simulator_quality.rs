//! `per_turn_user_simulator_quality_v1`: the share of user turns that follow the conversation plan.
//! Range 0 to 1; needs the scenario of the conversation; asks a judge.
//!
//! The first turn is right if it says the starting prompt. Every other is a vote of the judge's
//! samples on that message, given the plan, the persona and what was said before. One more vote is on
//! ending the conversation where it ended; if that was wrong, it stands for the last turn. The score is the
//! sum of the turns that pass, divided by the number of all turns, unscored ones included.

use std::borrow::Cow;

use super::judged::{Answer, Asking, Ballot, Judged, JudgedCase, Question, turn_of};
use super::{Evaluation, NO_TURNS, Scoring, TurnEvaluation, material};
use crate::judge::prompt::{Behavior, DEFAULT_PERSONA, PERSONAS, USER_TURN, custom_persona, persona};
use crate::judge::reply::{trim, turn_validity};
use crate::model::config::{Setup, either, settings};
use crate::model::error::{Error, ErrorCode, Result};
use crate::model::evalset::ConversationScenario;
use crate::model::json::Json;
use crate::model::results::EvalStatus;
use crate::model::write::quoted;

struct UserSimulatorQuality {
    threshold: f64,
    asking: Asking,
    stop_signal: Cow<'static, str>,
}

settings! {
    /// What a simulated user writes to end the conversation.
    STOP_SIGNAL: Cow<'static, str> = Cow::Borrowed("</finished>"), "stop_signal" | "stopSignal";
}

pub(super) fn build(setup: &Setup<'_, '_>) -> Result<Box<dyn Judged>> {
    let read =
        |json: Json<'_>| Ok(Cow::Owned(json.as_str().ok_or_else(|| json.expected("a text"))?.into_owned()));
    Ok(Box::new(UserSimulatorQuality {
        threshold: setup.threshold()?,
        asking: Asking::read(setup, &[&USER_TURN])?,
        stop_signal: setup.setting(STOP_SIGNAL, read)?,
    }))
}

fn scenario<'a>(case: &JudgedCase<'a>) -> Result<ConversationScenario<'a>> {
    case.scenario.ok_or_else(|| {
        let message =
            "`per_turn_user_simulator_quality_v1` judges a simulated user, and the case has no scenario";
        Error::new(ErrorCode::ScenarioRequired, message)
            .with_help("Give the case a `conversation_scenario`, or leave this metric out")
    })
}

/// How the simulated user is to behave.
fn behaviour(scenario: ConversationScenario<'_>, stop_signal: &str) -> Result<String> {
    let Some(given) = scenario.user_persona() else { return Ok(DEFAULT_PERSONA.into()) };
    if let Some(id) = given.as_str() {
        return persona(&id).ok_or_else(|| {
            let message = ["there is no persona ", &quoted(&id)].concat();
            given.error(ErrorCode::InvalidInput, message).with_help(
                ["There are ", &PERSONAS.join(", "), "; others are spelled out as an object"].concat(),
            )
        });
    }
    let mut behaviors = Vec::new();
    for json in given.get("behaviors").unwrap_or(Json::NULL).items() {
        let violations = either(json, ["violation_rubrics", "violationRubrics"]).unwrap_or(Json::NULL);
        behaviors.push(Behavior {
            name: text(json, "name"),
            description: text(json, "description"),
            violations: violations.items().filter_map(Json::as_str).collect(),
        });
    }
    Ok(custom_persona(&text(given, "description"), &behaviors, stop_signal))
}

fn text<'a>(object: Json<'a>, key: &str) -> Cow<'a, str> {
    object.get(key).and_then(Json::as_str).unwrap_or_default()
}

impl Judged for UserSimulatorQuality {
    fn asking(&self) -> &Asking {
        &self.asking
    }

    fn plan(&self, case: &JudgedCase<'_>, scoring: &Scoring) -> Result<Vec<Question>> {
        let scenario = scenario(case)?;
        let turns = case.case.actual;
        let number = turns.len();
        if number == 0 {
            return Err(Error::new(ErrorCode::InvalidInput, NO_TURNS)
                .with_help("A simulated conversation has at least the turn with the starting prompt"));
        }
        let plan = scenario.conversation_plan();
        let persona = behaviour(scenario, &self.stop_signal)?;
        let mut questions = Vec::new();
        for index in 1..=number {
            let history = material::exchange(&mut turns.iter().take(index));
            let message = match turns.iter().nth(index) {
                Some(turn) => turn.user_content().text(),
                None => Cow::Borrowed(&*self.stop_signal),
            };
            let values = [
                ("conversation_plan", &*plan),
                ("conversation_history", &history),
                ("user_message", &message),
                ("persona", &persona),
                ("stop_signal", &self.stop_signal),
            ];
            questions.push(Question { invocation: index, ..self.asking.ballot(&values, scoring) });
        }
        Ok(questions)
    }

    fn read(&self, _: &JudgedCase<'_>, _: &Question, reply: &str) -> Ballot {
        Ballot::of_label(turn_validity(reply))
    }

    fn conclude<'a>(
        &self,
        case: &JudgedCase<'a>,
        answers: &[Answer],
        scoring: &Scoring,
    ) -> Result<Evaluation<'a>> {
        if let Some(failure) = answers.iter().find_map(Answer::judge_failure) {
            return Err(failure.clone());
        }
        let starting_prompt = scenario(case)?.starting_prompt();
        let mut turns = Vec::new();
        for (index, turn) in case.case.actual.iter().enumerate() {
            let about = answers.iter().find(|answer| answer.question.invocation == index);
            turns.push(match about {
                Some(answer) => turn_of(answer.majority(), self.threshold, &[answer], scoring),
                None if turn.user_content().all_parts().next().is_none() => {
                    TurnEvaluation::not_evaluated("the user said nothing")
                }
                None => {
                    let said = turn.user_content().text();
                    let is_right = trim(&said) == trim(&starting_prompt);
                    TurnEvaluation::scored(if is_right { 1.0 } else { 0.0 }, self.threshold)
                }
            });
        }
        let ending = answers.iter().find(|answer| answer.question.invocation == turns.len());
        if let (Some(answer), Some(last)) = (ending, turns.last_mut()) {
            let mut ending = turn_of(answer.majority(), self.threshold, &[answer], scoring);
            if ending.status == EvalStatus::Failed {
                if let Some(explanation) = &mut ending.explanation {
                    explanation.warnings.push(WRONG_ENDING.into());
                }
                *last = ending;
            } else if let Some(reason) = ending.reason.filter(|_| !answer.is_settled()) {
                // Whether the conversation ended in time decides over its last turn.
                *last = TurnEvaluation { reason: Some(reason), ..TurnEvaluation::default() };
            }
        }
        Ok(self.conversation(turns, answers))
    }
}

const WRONG_ENDING: &str =
    "this is the vote on ending the conversation after this turn, and stands for the vote on its message";

impl UserSimulatorQuality {
    fn conversation<'a>(&self, turns: Vec<TurnEvaluation<'a>>, answers: &[Answer]) -> Evaluation<'a> {
        if let Some(open) = answers.iter().find(|answer| !answer.is_settled()) {
            return Evaluation { reason: Some(open.why_unscored()), turns, ..Evaluation::default() };
        }
        let mut number = 0.0;
        let mut valid = 0.0;
        for turn in &turns {
            number += 1.0;
            if turn.status == EvalStatus::Passed {
                valid += turn.score.unwrap_or_default();
            }
        }
        let score = valid / number;
        Evaluation {
            score: Some(score),
            status: EvalStatus::of_score(Some(score), self.threshold),
            turns,
            ..Evaluation::default()
        }
    }
}
