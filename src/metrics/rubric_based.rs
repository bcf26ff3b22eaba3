//! What the three rubric metrics have in common; each has a file of its own.
//!
//! In force are the criterion's rubrics and those of the turn whose type is the metric's. A reply has
//! one vote on each rubric; a rubric is met if more samples say yes than no. A turn scores the mean of
//! its rubrics, a conversation the mean of all rubrics of all turns. A metric of whole conversations
//! asks once, and its result is that of the last turn.

use std::borrow::Cow;

use super::final_response_match::WITH_INTERMEDIATE;
use super::judged::{Answer, Asking, Ballot, Judged, JudgedCase, Question, RubricVotes, turn_of};
use super::{
    Details, Evaluation, NO_TURNS, RubricFinding, Scoring, TurnEvaluation, material, mean, same_length,
};
use crate::judge::prompt::{Prompt, list_rubrics};
use crate::judge::reply;
use crate::judge::votes::{Tally, Verdict, Vote};
use crate::model::config::{Setup, either, read_flag, settings};
use crate::model::error::{Error, ErrorCode, Result};
use crate::model::invocation::Invocation;
use crate::model::json::{Json, Kind};
use crate::model::results::EvalStatus;
use crate::model::write::quoted;

/// What tells the rubric metrics apart.
pub(super) struct Family {
    pub(super) prompt: &'static Prompt,
    /// The type of the rubrics of turns that count.
    pub(super) rubric_type: &'static str,
    pub(super) whole_conversation: bool,
}

struct RubricBased {
    family: &'static Family,
    threshold: f64,
    asking: Asking,
    with_intermediate: bool,
    rubrics: Vec<Known>,
}

/// A rubric in force: id and words.
#[derive(Clone)]
pub(super) struct Known {
    id: String,
    words: String,
}

settings! {
    /// The rubrics, each with an id of its own. They apply to every turn, besides those of the evalset
    /// whose `type` is the metric's.
    RUBRICS: Vec<Known> = Vec::new(), "rubrics" | "rubrics";
}

#[cfg(feature = "schema")]
impl crate::schema::settings::SettingType for Vec<Known> {
    fn schema(&self) -> serde_json::Value {
        crate::schema::settings::rubrics()
    }
}

/// Makes one of the metrics.
pub(super) fn build(setup: &Setup<'_, '_>, family: &'static Family) -> Result<Box<dyn Judged>> {
    Ok(Box::new(RubricBased {
        family,
        threshold: setup.threshold()?,
        asking: Asking::read(setup, &[family.prompt])?,
        with_intermediate: setup.setting(WITH_INTERMEDIATE, read_flag)?,
        rubrics: setup.setting(RUBRICS, rubrics)?,
    }))
}

/// Reads the rubrics of a criterion.
fn rubrics(list: Json<'_>) -> Result<Vec<Known>> {
    if list.kind() != Kind::Array {
        return Err(list.expected("an array of rubrics"));
    }
    let mut rubrics: Vec<Known> = Vec::new();
    for json in list.items() {
        let rubric = rubric(json)?;
        if rubrics.iter().any(|known| known.id == rubric.id) {
            return Err(json.locate(conflict(&rubric.id)));
        }
        rubrics.push(rubric);
    }
    Ok(rubrics)
}

fn rubric(json: Json<'_>) -> Result<Known> {
    const KEYS: [&str; 6] =
        ["rubric_id", "rubricId", "rubric_content", "rubricContent", "description", "type"];
    const CONTENT: [&str; 2] = ["text_property", "textProperty"];
    let id = either(json, ["rubric_id", "rubricId"]);
    let content = either(json, ["rubric_content", "rubricContent"]);
    let (Some(id), Some(content)) = (id, content) else {
        return Err(json.expected("a rubric: {\"rubric_id\": …, \"rubric_content\": {\"text_property\": …}}"));
    };
    no_others(json, &KEYS)?;
    no_others(content, &CONTENT)?;
    let words = either(content, CONTENT);
    let text = |json: Json<'_>| Ok(json.as_str().ok_or_else(|| json.expected("a text"))?.into_owned());
    Ok(Known { id: text(id)?, words: words.map_or(Ok(String::new()), text)? })
}

fn no_others(object: Json<'_>, known: &[&str]) -> Result<()> {
    if object.kind() != Kind::Object {
        return Err(object.expected("an object"));
    }
    match object.entries().find(|(key, _)| !known.contains(&&**key)) {
        None => Ok(()),
        Some((key, value)) => {
            Err(value.error(ErrorCode::InvalidCriterion, ["a rubric has no field `", &key, "`"].concat()))
        }
    }
}

fn conflict(id: &str) -> Error {
    let message = ["the rubric id ", &quoted(id), " is given twice"].concat();
    Error::new(ErrorCode::RubricConflict, message).with_help("Give one of them another id")
}

impl RubricBased {
    /// The rubrics in force for a turn.
    fn of_turn(&self, case: &JudgedCase<'_>, turn: usize) -> Result<Vec<Known>> {
        let mut all = self.rubrics.clone();
        for rubric in case.rubrics.get(turn).into_iter().flatten() {
            if rubric.r#type().as_deref() != Some(self.family.rubric_type) {
                continue;
            }
            let id = rubric.rubric_id().into_owned();
            if all.iter().any(|known| known.id == id) {
                return Err(conflict(&id));
            }
            all.push(Known { id, words: rubric.words().unwrap_or_default().into_owned() });
        }
        if all.is_empty() {
            let message = ["there are no rubrics to judge turn ", &(turn + 1).to_string(), " by"].concat();
            let help = [
                "Give the criterion `rubrics`, or the case or its turns rubrics of the type ",
                self.family.rubric_type,
            ];
            return Err(Error::new(ErrorCode::RubricsRequired, message).with_help(help.concat()));
        }
        Ok(all)
    }

    fn question(
        &self,
        case: &JudgedCase<'_>,
        index: usize,
        turn: Invocation<'_>,
        scoring: &Scoring,
    ) -> Result<Question> {
        let rubrics = self.of_turn(case, index)?;
        let pairs: Vec<_> = rubrics.iter().map(|rubric| (&*rubric.id, &*rubric.words)).collect();
        let listed = list_rubrics(&pairs);
        let (user, response, steps, grounding, conversation, instructions, tools);
        let turns = case.case.actual;
        let mut values = vec![("rubrics", &*listed)];
        if self.family.whole_conversation {
            conversation = material::dialogue(turns);
            instructions = material::instructions(&mut turns.iter());
            tools = material::tools(&mut turns.iter());
            values.extend([
                ("conversation", &*conversation),
                ("instructions", &instructions),
                ("tools", &tools),
            ]);
        } else {
            user = turn.user_content().text();
            response = material::answer(turn, self.with_intermediate);
            steps = material::steps(turn);
            grounding = material::grounding(material::events(turn));
            instructions = material::instructions(&mut std::iter::once(turn));
            tools = material::tools(&mut std::iter::once(turn));
            values.extend([
                ("user_prompt", &*user),
                ("response", &response),
                ("steps", &steps),
                ("grounding", &grounding),
                ("instructions", &instructions),
                ("tools", &tools),
            ]);
        }
        for (_, text) in &mut values {
            if text.is_empty() {
                *text = material::NONE;
            }
        }
        Ok(Question { invocation: index, verdicts: rubrics.len(), ..self.asking.ballot(&values, scoring) })
    }

    /// What became of each rubric that some reply spoke of. The reason for a verdict is that of the first
    /// sample that voted for it.
    fn findings(rubrics: &[Known], answer: &Answer) -> Vec<RubricFinding> {
        let mut findings = Vec::new();
        for (index, rubric) in rubrics.iter().enumerate() {
            let (vote, score) = match answer.votes.verdict(index) {
                Some(Verdict::Positive) => (Vote::Positive, Some(1.0)),
                Some(Verdict::Negative) => (Vote::Negative, Some(0.0)),
                Some(Verdict::Unscored) => (Vote::Unscored, None),
                Some(Verdict::Absent) | None => continue,
            };
            let mut ballots = answer.replies.iter().map(|reply| &reply.ballot);
            let first = ballots.find(|ballot| ballot.votes.get(index) == Some(&vote));
            let rationale = first.and_then(|ballot| ballot.rationales.get(index).cloned().flatten());
            findings.push(RubricFinding { rubric_id: rubric.id.clone(), rationale, score });
        }
        findings
    }
}

impl Judged for RubricBased {
    fn asking(&self) -> &Asking {
        &self.asking
    }

    fn plan(&self, case: &JudgedCase<'_>, scoring: &Scoring) -> Result<Vec<Question>> {
        let number = same_length(&case.case)?;
        let mut questions = Vec::new();
        for (index, turn) in case.case.actual.iter().enumerate() {
            if !self.family.whole_conversation || index + 1 == number {
                questions.push(self.question(case, index, turn, scoring)?);
            }
        }
        Ok(questions)
    }

    fn read(&self, case: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot {
        let rubrics = self.of_turn(case, question.invocation).unwrap_or_default();
        let pairs: Vec<_> = rubrics.iter().map(|rubric| (&*rubric.id, &*rubric.words)).collect();
        let entries = reply::rubrics(reply);
        let mut ballot = Ballot {
            votes: vec![Vote::Absent; rubrics.len()],
            rationales: vec![None; rubrics.len()],
            ..Ballot::default()
        };
        for (rubric, entry) in reply::assign(&entries, &pairs) {
            let Some(entry) = entries.get(entry) else { continue };
            if let (Some(vote), Some(rationale)) =
                (ballot.votes.get_mut(rubric), ballot.rationales.get_mut(rubric))
            {
                *vote = match entry.verdict {
                    Some(true) => Vote::Positive,
                    Some(false) => Vote::Negative,
                    None => Vote::Unscored,
                };
                *rationale = Some(entry.rationale.clone());
            }
        }
        ballot.score = mean(ballot.votes.iter().filter_map(|vote| match vote {
            Vote::Positive => Some(1.0),
            Vote::Negative => Some(0.0),
            Vote::Unscored | Vote::Absent => None,
        }));
        ballot
    }

    fn conclude<'a>(
        &self,
        case: &JudgedCase<'a>,
        answers: &[Answer],
        scoring: &Scoring,
    ) -> Result<Evaluation<'a>> {
        let mut turns = Vec::new();
        let mut pooled: Vec<RubricFinding> = Vec::new();
        let actual = case.case.actual.len();
        for index in 0..actual {
            let Some(answer) = answers.iter().find(|answer| answer.question.invocation == index) else {
                turns.push(TurnEvaluation::not_evaluated(material::ONLY_THE_LAST));
                continue;
            };
            let rubrics = self.of_turn(case, index)?;
            let findings = if answer.is_settled() { Self::findings(&rubrics, answer) } else { Vec::new() };
            let score = mean(findings.iter().filter_map(|finding| finding.score));
            let mut turn = turn_of(score, self.threshold, &[answer], scoring);
            if let Some(explanation) = &mut turn.explanation {
                explanation.rubrics = Some(votes(rubrics, answer));
            }
            pooled.extend_from_slice(&findings);
            turn.details = (!findings.is_empty()).then(|| Box::new(Details::Rubrics(findings)));
            turns.push(turn);
        }
        let score = mean(pooled.iter().filter_map(|finding| finding.score));
        let reason = match (score, turns.last()) {
            (Some(_), _) => None,
            (None, None) => Some(Cow::Borrowed(NO_TURNS)),
            (None, Some(last)) => last.reason.clone(),
        };
        let details = (!pooled.is_empty()).then(|| Box::new(Details::Rubrics(overall(&pooled))));
        Ok(Evaluation {
            score,
            status: EvalStatus::of_score(score, self.threshold),
            reason,
            details,
            turns,
            ..Evaluation::default()
        })
    }
}

/// How the samples voted.
fn votes(rubrics: Vec<Known>, answer: &Answer) -> Vec<RubricVotes> {
    let mut votes = Vec::new();
    for (Known { id, words }, tally) in rubrics.into_iter().zip(answer.votes.tallies()) {
        let &Tally { positive, negative, unscored, .. } = tally;
        votes.push(RubricVotes { rubric_id: id, text: words, yes: positive, no: negative, unscored });
    }
    votes
}

/// The share of turns that meet each rubric.
fn overall(pooled: &[RubricFinding]) -> Vec<RubricFinding> {
    let mut shares: Vec<RubricFinding> = Vec::new();
    for finding in pooled {
        if shares.iter().all(|known| known.rubric_id != finding.rubric_id) {
            let same = pooled.iter().filter(|other| other.rubric_id == finding.rubric_id);
            shares.push(RubricFinding {
                rubric_id: finding.rubric_id.clone(),
                rationale: Some("The share of turns that meet it; each turn says why.".into()),
                score: mean(same.filter_map(|other| other.score)),
            });
        }
    }
    shares
}
