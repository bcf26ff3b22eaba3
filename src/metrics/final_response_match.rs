//! `final_response_match_v2`: whether the final response says what the expected one says. Range 0 to 1.
//! Requires a reference. Asks a judge.
//!
//! The judge's samples vote on each turn: it scores 1 if more samples say valid than invalid, 0 otherwise, and
//! has no score if no reply could be read. The conversation's score is the mean of the turns that have one. As
//! in google-adk, the judge is shown the user content of the expected turn. In the `adk-ts` dialect a turn
//! scores the share of valid votes among the readable ones.

use super::judged::{
    Answer, Ballot, JudgeConfig, Judged, JudgedCase, JudgedTurn, PromptText, PromptValues, Question,
    Questions, RubricSums, average, judged_turn, plain_mean,
};
use super::{Dialect, Evaluation, MetricInfo, Scoring, TurnEvaluation, reference, same_length, transcript};
use crate::foundation::error::Result;
use crate::judge::prompt::FINAL_RESPONSE_MATCH;
use crate::judge::reply::{ShownText, final_response_match};
use crate::judge::votes::VotingRule;
use crate::model::config::{MetricConfig, read_flag, settings};

struct FinalResponseMatch {
    judge_config: Box<JudgeConfig>,
    with_intermediate: bool,
}

settings! {
    /// Whether intermediate responses, before and between tool calls, count as part of the final response.
    pub(super) WITH_INTERMEDIATE: bool = false,
        "include_intermediate_responses_in_final" | "includeIntermediateResponsesInFinal";
}

pub(super) const INFO: MetricInfo = MetricInfo {
    name: "final_response_match_v2",
    class: "FinalResponseMatchV2Evaluator",
    description: "Whether the final response says what the expected one says: the share of turns in which a judge finds it valid.",
    #[cfg(feature = "schema")]
    vote_words: Some(["valid", "invalid"]),
    requires_reference: true,
    settings: &[SETTINGS],
    ..MetricInfo::judged(build)
};

fn build(metric_config: &MetricConfig<'_, '_>) -> Result<Box<dyn Judged>> {
    let judge_config = JudgeConfig::read(metric_config, &[&FINAL_RESPONSE_MATCH])?;
    let with_intermediate = metric_config.setting(WITH_INTERMEDIATE, read_flag)?;
    Ok(Box::new(FinalResponseMatch { judge_config, with_intermediate }))
}

impl Judged for FinalResponseMatch {
    fn judge_config(&self) -> &JudgeConfig {
        &self.judge_config
    }

    fn check(&self, case: &JudgedCase<'_>) -> Result<()> {
        reference(&self.judge_config.name, &case.case)?;
        same_length(&case.case)
    }

    fn ask(&self, _: &JudgedCase<'_>, _: JudgedTurn<'_>, questions: &mut Questions<'_>) -> Result<()> {
        let dialect = questions.scoring.dialect;
        let question = questions.ballot();
        if dialect == Dialect::AdkTs {
            question.rule = VotingRule::Every;
        }
        Ok(())
    }

    fn prompt(&self, case: &JudgedCase<'_>, question: &Question, _: Option<&Answer>) -> PromptText {
        let mut values = PromptValues::default();
        if let Some(turn) = case.turn(question.invocation) {
            let expected = turn.expected.unwrap_or_default();
            values.add("user_prompt", expected.user_content().text());
            values.add("reference", transcript::answer(expected, self.with_intermediate).into());
            values.add("response", transcript::answer(turn.actual, self.with_intermediate).into());
        }
        self.judge_config.render(0, &values)
    }

    fn read(&self, _: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot {
        Ballot::from_label(final_response_match(reply, &ShownText::from_prompt(&question.prompt)))
    }

    fn turn<'a>(
        &self,
        _: &JudgedCase<'a>,
        _: JudgedTurn<'a>,
        answers: &[&Answer],
        scoring: &Scoring,
    ) -> Result<TurnEvaluation<'a>> {
        let answer = answers.first();
        let score = match scoring.dialect {
            Dialect::AdkTs => answer
                .filter(|answer| answer.is_settled())
                .and_then(|answer| answer.votes.tallies().first()?.proportion()),
            Dialect::AdkPython => answer.and_then(|answer| answer.majority()),
        };
        Ok(judged_turn(score, self.judge_config.threshold, answers, scoring))
    }

    fn overall(&self, _: &[Answer], _: RubricSums, _: &Scoring, evaluation: &mut Evaluation<'_>) {
        average(evaluation, plain_mean);
    }
}
