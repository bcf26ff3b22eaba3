//! `per_turn_user_simulator_quality_v1`: the share of user turns that follow the conversation plan. Range 0 to
//! 1. Requires the scenario of the conversation. Asks a judge.
//!
//! The first turn is valid if it is the starting prompt. On every other message the judge's samples vote, given
//! the plan, the persona and the messages so far. One more vote is on ending the conversation where it ended;
//! if that was wrong, it replaces the result of the last turn. The score is the sum of the turns that pass,
//! divided by the number of all turns, unscored ones included.

use std::borrow::Cow;

use super::judged::{
    Answer, Ballot, JudgeConfig, Judged, JudgedCase, JudgedTurn, MAX_PROMPT_BYTES, PromptText, PromptValues,
    Question, Questions, RubricSums, judged_turn,
};
use super::{Evaluation, MetricInfo, NO_TURNS, Scoring, TurnEvaluation, transcript};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::Json;
use crate::foundation::write::quoted;
use crate::judge::prompt::{Behavior, DEFAULT_PERSONA, PERSONAS, USER_TURN, custom_persona, persona};
use crate::judge::reply::{ShownText, occurrences, trim, turn_validity};
use crate::model::config::{MetricConfig, either, settings};
use crate::model::evalset::ConversationScenario;
use crate::model::results::EvalStatus;

struct UserSimulatorQuality {
    judge_config: Box<JudgeConfig>,
    stop_signal: Cow<'static, str>,
}

settings! {
    /// What a simulated user writes to end the conversation.
    STOP_SIGNAL: Cow<'static, str> = Cow::Borrowed("</finished>"), "stop_signal" | "stopSignal";
}

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "per_turn_user_simulator_quality_v1",
    class: "PerTurnUserSimulatorQualityV1",
    description: "The share of user turns that follow the conversation plan.",
    #[cfg(feature = "schema")]
    vote_words: Some(["valid", "invalid"]),
    settings: &[SETTINGS],
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    let read = |json: Json<'_>| {
        json.as_str().map(|text| text.into_owned().into()).ok_or_else(|| json.expected("a string"))
    };
    let mut judge_config = JudgeConfig::read(metric_config, &[&USER_TURN])?;
    judge_config.raises = true;
    let stop_signal = metric_config.setting(STOP_SIGNAL, read)?;
    Ok(Box::new(UserSimulatorQuality { judge_config, stop_signal }))
}

fn scenario<'a>(case: &JudgedCase<'a>) -> Result<ConversationScenario<'a>> {
    case.scenario.ok_or_else(|| {
        let message =
            "`per_turn_user_simulator_quality_v1` judges a simulated user, and the case has no scenario";
        Error::new(ErrorCode::ScenarioRequired, message)
            .with_help("Give the case a `conversation_scenario`, or leave this metric out")
    })
}

/// The placeholder for the stop signal in a persona.
const STOP_SIGNAL_MARK: &str = "stop_signal";

/// How the simulated user is supposed to behave.
fn behaviour(scenario: ConversationScenario<'_>, stop_signal: &str) -> Result<String> {
    let Some(given) = scenario.user_persona() else { return Ok(DEFAULT_PERSONA.to_owned()) };
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
    let description = text(given, "description");
    let mut marks = occurrences(&description, STOP_SIGNAL_MARK);
    for Behavior { name, description, violations } in &behaviors {
        for text in [name, description].into_iter().chain(violations) {
            marks += occurrences(text, STOP_SIGNAL_MARK);
        }
    }
    if marks.saturating_mul(stop_signal.len()) > MAX_PROMPT_BYTES {
        let message = "the persona is too long with the stop signal filled in";
        return Err(Error::new(ErrorCode::LimitExceeded, message).with_help("Shorten `stop_signal`"));
    }
    Ok(custom_persona(&description, &behaviors, stop_signal))
}

fn text<'a>(object: Json<'a>, key: &str) -> Cow<'a, str> {
    object.get(key).and_then(Json::as_str).unwrap_or_default()
}

impl Judged for UserSimulatorQuality {
    fn judge_config(&self) -> &JudgeConfig {
        &self.judge_config
    }

    fn check(&self, case: &JudgedCase<'_>) -> Result<()> {
        scenario(case)?;
        if case.case.actual.is_empty() {
            return Err(Error::new(ErrorCode::InvalidInput, NO_TURNS)
                .with_help("A simulated conversation has at least the turn with the starting prompt"));
        }
        behaviour(scenario(case)?, &self.stop_signal)?;
        Ok(())
    }

    /// Asks about the user's message after this turn.
    fn ask(&self, _: &JudgedCase<'_>, turn: JudgedTurn<'_>, questions: &mut Questions<'_>) -> Result<()> {
        let added = transcript::turns_text(&mut std::iter::once(turn.actual));
        let bytes = questions.count_history(added.len());
        let question = questions.ballot();
        question.invocation = turn.index + 1;
        question.bytes = bytes;
        Ok(())
    }

    fn prompt(&self, case: &JudgedCase<'_>, question: &Question, _: Option<&Answer>) -> PromptText {
        let next = question.invocation;
        let mut values = PromptValues::default();
        if let Ok(scenario) = scenario(case) {
            let message = match case.turn(next) {
                Some(turn) => turn.actual.user_content().text(),
                None => Cow::Borrowed(&*self.stop_signal),
            };
            values.add("conversation_plan", scenario.conversation_plan());
            let history = transcript::turns_text(&mut case.case.actual.iter().take(next));
            values.add("conversation_history", history.into());
            values.add("user_message", message);
            values.add("persona", behaviour(scenario, &self.stop_signal).unwrap_or_default().into());
            values.add("stop_signal", Cow::Borrowed(&*self.stop_signal));
        }
        self.judge_config.render(0, &values)
    }

    fn read(&self, _: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot {
        Ballot::from_label(turn_validity(reply, &ShownText::from_prompt(&question.prompt)))
    }

    fn turn<'a>(
        &self,
        case: &JudgedCase<'a>,
        turn: JudgedTurn<'a>,
        answers: &[&Answer],
        scoring: &Scoring,
    ) -> Result<TurnEvaluation<'a>> {
        if let Some(answer) = answers.first() {
            return Ok(judged_turn(answer.majority(), self.judge_config.threshold, answers, scoring));
        }
        let said = turn.actual.user_content();
        if said.all_parts().next().is_none() {
            return Ok(TurnEvaluation::not_evaluated("the user said nothing"));
        }
        let is_right = trim(&said.text()) == trim(&scenario(case)?.starting_prompt());
        Ok(TurnEvaluation::scored(if is_right { 1.0 } else { 0.0 }, self.judge_config.threshold))
    }

    fn overall(&self, answers: &[Answer], _: RubricSums, scoring: &Scoring, evaluation: &mut Evaluation<'_>) {
        let number = evaluation.turns.len();
        let ending = answers.iter().find(|answer| answer.question.invocation == number);
        if let (Some(answer), Some(last)) = (ending, evaluation.turns.last_mut()) {
            let mut ending = judged_turn(answer.majority(), self.judge_config.threshold, &[answer], scoring);
            if ending.status == EvalStatus::Failed {
                if let Some(explanation) = &mut ending.explanation {
                    explanation.warnings.push(WRONG_ENDING.into());
                }
                *last = ending;
            } else if let Some(reason) = ending.reason.filter(|_| !answer.is_settled()) {
                // The last turn has no result as long as it is unknown whether the conversation ended in time.
                *last = TurnEvaluation::not_evaluated(reason);
            }
        }
        if let Some(open) = answers.iter().find(|answer| !answer.is_settled()) {
            evaluation.reason = Some(open.why_unscored());
            return;
        }
        let mut number = 0.0;
        let mut valid = 0.0;
        for turn in &evaluation.turns {
            number += 1.0;
            if turn.status == EvalStatus::Passed {
                valid += turn.score.unwrap_or_default();
            }
        }
        evaluation.score = Some(valid / number);
    }
}

const WRONG_ENDING: &str =
    "this is the vote on ending the conversation after this turn, and stands for the vote on its message";
