//! `final_response_match_v2`: whether the final response says what the expected one says. Range 0 to 1;
//! compares with a reference; asks a judge.
//!
//! Each turn is a vote of the judge's samples: valid scores 1 if more samples say so than deny it, 0
//! otherwise; no score if no reply could be read. The conversation's score is the mean of the turns
//! that have one. The judge is shown the expected turn's user content, as in google-adk. In the
//! `adk-ts` dialect a turn scores the share of valid votes among those that could be read.

use super::judged::{Answer, Asking, Ballot, Judged, JudgedCase, Question, turn_of};
use super::{Dialect, Evaluation, NO_TURNS, Scoring, Surplus, material, pairs};
use crate::judge::prompt::FINAL_RESPONSE_MATCH;
use crate::judge::reply::final_response_match;
use crate::judge::votes::{Rule, Tally};
use crate::model::config::{Setup, read_flag, settings};
use crate::model::error::Result;

struct FinalResponseMatch {
    name: String,
    threshold: f64,
    asking: Asking,
    with_intermediate: bool,
}

settings! {
    /// Whether what the agent said on the way, before and between tool calls, counts as part of its final response.
    pub(super) WITH_INTERMEDIATE: bool = false,
        "include_intermediate_responses_in_final" | "includeIntermediateResponsesInFinal";
}

pub(super) fn build(setup: &Setup<'_, '_>) -> Result<Box<dyn Judged>> {
    Ok(Box::new(FinalResponseMatch {
        name: setup.name.into(),
        threshold: setup.threshold()?,
        asking: Asking::read(setup, &[&FINAL_RESPONSE_MATCH])?,
        with_intermediate: setup.setting(WITH_INTERMEDIATE, read_flag)?,
    }))
}

impl Judged for FinalResponseMatch {
    fn asking(&self) -> &Asking {
        &self.asking
    }

    fn plan(&self, case: &JudgedCase<'_>, scoring: &Scoring) -> Result<Vec<Question>> {
        let mut questions = Vec::new();
        for (index, (actual, expected)) in pairs(&self.name, &case.case, Surplus::Refused)?.enumerate() {
            let user_prompt = expected.user_content().text();
            let reference = material::answer(expected, self.with_intermediate);
            let response = material::answer(actual, self.with_intermediate);
            let values = [("user_prompt", &*user_prompt), ("reference", &reference), ("response", &response)];
            let mut question = self.asking.ballot(&values, scoring);
            question.invocation = index;
            if scoring.dialect == Dialect::AdkTs {
                question.rule = Rule::Every;
            }
            questions.push(question);
        }
        Ok(questions)
    }

    fn read(&self, _: &JudgedCase<'_>, _: &Question, reply: &str) -> Ballot {
        Ballot::of_label(final_response_match(reply))
    }

    fn conclude<'a>(
        &self,
        _: &JudgedCase<'a>,
        answers: &[Answer],
        scoring: &Scoring,
    ) -> Result<Evaluation<'a>> {
        let mut turns = Vec::new();
        for answer in answers {
            let score = match scoring.dialect {
                Dialect::AdkTs if answer.is_settled() => {
                    answer.votes.tallies().first().and_then(Tally::proportion)
                }
                Dialect::AdkTs => None,
                Dialect::AdkPython => answer.majority(),
            };
            turns.push(turn_of(score, self.threshold, &[answer], scoring));
        }
        Ok(Evaluation::of_judged(turns, self.threshold, NO_TURNS))
    }
}
