//! Shared by the three rubric metrics, which have a file each.
//!
//! The rubrics that apply are the criterion's, and those of the turn whose type is the metric's. A reply has
//! one vote per rubric; if it answers a rubric repeatedly, the worst verdict counts. A rubric is met if more
//! samples say yes than no. A turn scores the mean of its rubrics, a conversation the mean of all rubrics of
//! all turns. A metric of whole conversations asks once, and its result is that of the last turn.

use std::borrow::Cow;

use super::final_response_match::WITH_INTERMEDIATE;
use super::judged::{
    Answer, Ballot, JudgeConfig, Judged, JudgedCase, JudgedTurn, PromptText, PromptValues, Question,
    Questions, RubricSums, RubricVotes, judged_turn, plain_mean,
};
use super::{Details, Evaluation, NO_TURNS, RubricFinding, Scoring, TurnEvaluation, same_length, transcript};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::json::{Json, JsonKind};
use crate::foundation::sort::groups;
use crate::foundation::write::quoted;
use crate::judge::prompt::{Prompt, list_rubrics, rubrics_schema};
use crate::judge::reply::{self, ShownText};
use crate::judge::votes::{Tally, Verdict, Vote};
use crate::model::config::{KnownSetting, MetricConfig, either, read_flag, settings};
use crate::model::rubric::{Rubric, RubricContent};
use crate::model::shape::Shape;

/// What distinguishes the rubric metrics.
pub(super) struct RubricMetric {
    pub(super) prompt: &'static Prompt,
    /// The type that rubrics of turns must have to apply.
    pub(super) rubric_type: &'static str,
}

struct RubricBased {
    metric: &'static RubricMetric,
    judge_config: Box<JudgeConfig>,
    with_intermediate: bool,
    rubrics: Vec<ActiveRubric>,
}

/// A rubric that applies.
#[derive(Clone)]
pub(super) struct ActiveRubric {
    id: String,
    words: String,
}

settings! {
    /// The rubrics, each with an id of its own. They apply to every turn, besides those of the evalset
    /// whose `type` is the metric's.
    RUBRICS: Vec<ActiveRubric> = Vec::new(), "rubrics" | "rubrics";
}

#[cfg(feature = "schema")]
impl crate::schema::settings::SettingType for Vec<ActiveRubric> {
    fn schema(&self) -> serde_json::Value {
        crate::schema::settings::rubrics()
    }
}

/// The settings that all rubric metrics read.
pub(super) const ALL_SETTINGS: &[&[KnownSetting]] = &[SETTINGS, super::final_response_match::SETTINGS];

/// Builds a rubric metric.
pub(super) fn build(
    metric_config: &MetricConfig<'_, '_>,
    metric: &'static RubricMetric,
) -> Result<Box<dyn Judged>> {
    let mut judge_config = JudgeConfig::read(metric_config, &[metric.prompt])?;
    judge_config.whole_conversation = metric.prompt.shows_conversation();
    let with_intermediate = metric_config.setting(WITH_INTERMEDIATE, read_flag)?;
    let rubrics = metric_config.setting(RUBRICS, rubrics)?;
    metric_config.warnings.read_rubric_types.set(true);
    Ok(Box::new(RubricBased { metric, judge_config, with_intermediate, rubrics }))
}

/// Reads the rubrics of a criterion.
fn rubrics(list: Json<'_>) -> Result<Vec<ActiveRubric>> {
    if list.kind() != JsonKind::Array {
        return Err(list.expected("an array of rubrics"));
    }
    let mut rubrics: Vec<ActiveRubric> = Vec::new();
    for json in list.items() {
        rubrics.push(rubric(json)?);
    }
    match repeated(&rubrics) {
        Some((at, known)) => Err(list.items().nth(at).unwrap_or(list).locate(conflict(&known.id))),
        None => Ok(rubrics),
    }
}

/// The first rubric whose id an earlier one has.
fn repeated(rubrics: &[ActiveRubric]) -> Option<(usize, &ActiveRubric)> {
    let ids: Vec<&str> = rubrics.iter().map(|known| &*known.id).collect();
    let at = groups(&ids).into_iter().enumerate().find_map(|(at, group)| (group < at).then_some(at))?;
    Some((at, rubrics.get(at)?))
}

fn rubric(json: Json<'_>) -> Result<ActiveRubric> {
    let needed = |snake, camel| {
        let message = || ["a rubric needs `", snake, "`"].concat();
        either(json, [snake, camel]).ok_or_else(|| json.error(ErrorCode::InvalidCriterion, message()))
    };
    let id = needed("rubric_id", "rubricId")?;
    let content = needed("rubric_content", "rubricContent")?;
    no_others(json, &Rubric::SHAPE)?;
    no_others(content, &RubricContent::SHAPE)?;
    let words = either(content, ["text_property", "textProperty"]);
    let text = |json: Json<'_>| json.as_str().map(Cow::into_owned).ok_or_else(|| json.expected("a string"));
    Ok(ActiveRubric { id: text(id)?, words: words.map_or(Ok(String::new()), text)? })
}

fn no_others(object: Json<'_>, shape: &Shape) -> Result<()> {
    if object.kind() != JsonKind::Object {
        return Err(object.expected("an object"));
    }
    match object.entries().find(|(key, _)| shape.field(key).is_none()) {
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
    /// The rubrics that apply to a turn.
    fn rubrics_for_turn(&self, case: &JudgedCase<'_>, turn: usize) -> Vec<ActiveRubric> {
        let mut all = self.rubrics.clone();
        for rubric in case.rubrics.for_turn(turn) {
            if rubric.r#type().as_deref() != Some(self.metric.rubric_type) {
                continue;
            }
            all.push(ActiveRubric {
                id: rubric.rubric_id().into_owned(),
                words: rubric.property().unwrap_or_default().into_owned(),
            });
        }
        all
    }

    /// # Errors
    /// If no rubric applies, or two have the same id.
    fn check_rubrics(&self, all: &[ActiveRubric], turn: usize) -> Result<()> {
        if all.len() > self.rubrics.len()
            && let Some((_, known)) = repeated(all)
        {
            return Err(conflict(&known.id));
        }
        if all.is_empty() {
            let message =
                ["there are no rubrics to judge turn ", &(turn as u64 + 1).to_string(), " by"].concat();
            let help = [
                "Give the criterion `rubrics`, or the case or its turns rubrics of the type ",
                self.metric.rubric_type,
            ];
            return Err(Error::new(ErrorCode::RubricsRequired, message).with_help(help.concat()));
        }
        Ok(())
    }

    /// Adds what the judge is shown besides the rubrics.
    fn add_prompt_values<'a>(
        &self,
        case: &JudgedCase<'a>,
        turn: JudgedTurn<'a>,
        values: &mut PromptValues<'a>,
    ) {
        let (turn, turns) = (turn.actual, case.case.actual);
        if self.judge_config.whole_conversation {
            values.add("conversation", transcript::whole_conversation_text(turns).into());
            values.add("instructions", transcript::instructions(&mut turns.iter()).into());
            values.add("tools", transcript::tools(&mut turns.iter()).into());
        } else {
            values.add("user_prompt", turn.user_content().text());
            values.add("response", transcript::answer(turn, self.with_intermediate).into());
            values.add("steps", transcript::steps(turn).into());
            values.add("grounding", transcript::grounding(&mut transcript::events(turn)).into());
            values.add("instructions", transcript::instructions(&mut std::iter::once(turn)).into());
            values.add("tools", transcript::tools(&mut std::iter::once(turn)).into());
        }
    }

    /// The result for each rubric that a reply mentions. The rationale is that of the first sample that voted
    /// for the verdict.
    fn findings(rubrics: &[ActiveRubric], answer: &Answer) -> Vec<RubricFinding> {
        let mut findings = Vec::new();
        for (index, rubric) in rubrics.iter().enumerate() {
            let vote = match answer.votes.verdict(index) {
                Some(Verdict::Positive) => Vote::Positive,
                Some(Verdict::Negative) => Vote::Negative,
                Some(Verdict::Unscored) => Vote::Unscored,
                Some(Verdict::Absent) | None => continue,
            };
            let mut ballots = answer.replies.iter().map(|reply| &reply.ballot);
            let first = ballots.find(|ballot| ballot.votes.get(index) == Some(&vote));
            let rationale = first.and_then(|ballot| ballot.rationales.get(index).cloned().flatten());
            findings.push(RubricFinding { rubric_id: rubric.id.clone(), rationale, score: vote.score() });
        }
        findings
    }
}

impl Judged for RubricBased {
    fn judge_config(&self) -> &JudgeConfig {
        &self.judge_config
    }

    fn check(&self, case: &JudgedCase<'_>) -> Result<()> {
        same_length(&case.case)
    }

    fn ask(&self, case: &JudgedCase<'_>, turn: JudgedTurn<'_>, questions: &mut Questions<'_>) -> Result<()> {
        let rubrics = self.rubrics_for_turn(case, turn.index);
        let bytes = rubrics.iter().map(|rubric| rubric.id.len() + rubric.words.len()).sum();
        questions.count_rubrics(rubrics.len(), bytes)?;
        self.check_rubrics(&rubrics, turn.index)?;
        questions.ballot().verdicts = rubrics.len();
        Ok(())
    }

    fn prompt(&self, case: &JudgedCase<'_>, question: &Question, _: Option<&Answer>) -> PromptText {
        let mut rubrics = self.rubrics_for_turn(case, question.invocation);
        let mut decided = question.decided.iter();
        rubrics.retain(|_| decided.next() != Some(&true));
        let mut values = PromptValues::default();
        values.add("rubrics", list_rubrics(&pairs(&rubrics)).into());
        if let Some(turn) = case.turn(question.invocation) {
            self.add_prompt_values(case, turn, &mut values);
        }
        values.name_absent();
        let ids: Vec<&str> = rubrics.iter().map(|rubric| &*rubric.id).collect();
        self.judge_config.render(0, &values).with_schema(rubrics_schema(&ids))
    }

    fn read(&self, case: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot {
        let rubrics = self.rubrics_for_turn(case, question.invocation);
        let mut entries = reply::rubrics(reply, &ShownText::from_prompt(&question.prompt));
        let mut ballot = Ballot::default();
        let mut decided = question.decided.iter();
        for _ in &rubrics {
            let is_asked = decided.next() != Some(&true);
            ballot.votes.push(if is_asked { Vote::Absent } else { Vote::NotAsked });
            ballot.rationales.push(None);
        }
        for (rubric, entry) in reply::assign(&entries, &pairs(&rubrics), &question.decided) {
            let (Some(vote), Some(rationale), Some(entry)) =
                (ballot.votes.get_mut(rubric), ballot.rationales.get_mut(rubric), entries.get_mut(entry))
            else {
                continue;
            };
            if *vote == Vote::NotAsked {
                continue;
            }
            let own = Vote::from_verdict(entry.verdict);
            // The worse verdict counts: the better one may be a quotation.
            let is_worse = match (*vote, own) {
                (Vote::Absent, _) | (Vote::Positive, Vote::Unscored) => true,
                (known, own) => own == Vote::Negative && known != own,
            };
            if is_worse {
                *rationale = Some(std::mem::take(&mut entry.rationale));
                *vote = own;
            }
        }
        let scores: Vec<f64> = ballot.votes.iter().filter_map(|vote| vote.score()).collect();
        ballot.score = plain_mean(&scores);
        ballot
    }

    fn turn<'a>(
        &self,
        case: &JudgedCase<'a>,
        turn: JudgedTurn<'a>,
        answers: &[&Answer],
        scoring: &Scoring,
    ) -> Result<TurnEvaluation<'a>> {
        let rubrics = self.rubrics_for_turn(case, turn.index);
        let mut findings = Vec::new();
        if let Some(answer) = answers.first().filter(|answer| answer.is_settled()) {
            findings = Self::findings(&rubrics, answer);
        }
        let mut turn = judged_turn(mean_score(&findings), self.judge_config.threshold, answers, scoring);
        if let (Some(explanation), Some(answer)) = (&mut turn.explanation, answers.first()) {
            explanation.rubrics = Some(votes(rubrics, answer));
        }
        turn.details = Details::from_rubrics(findings);
        Ok(turn)
    }

    fn add_up(&self, turn: &TurnEvaluation<'_>, sums: &mut RubricSums) {
        if let Some(Details::Rubrics(findings)) = turn.details.as_deref() {
            for finding in findings {
                sums.add(&finding.rubric_id, finding.score);
            }
        }
    }

    fn overall(&self, _: &[Answer], sums: RubricSums, _: &Scoring, evaluation: &mut Evaluation<'_>) {
        evaluation.score = plain_mean(&sums.scores);
        if evaluation.score.is_none() {
            evaluation.reason = match evaluation.turns.last() {
                Some(last) => last.reason.clone(),
                None => Some(NO_TURNS.into()),
            };
        }
        evaluation.details = Details::from_rubrics(shares(sums));
    }
}

/// The mean of the scores.
fn mean_score(findings: &[RubricFinding]) -> Option<f64> {
    let mut scores = Vec::new();
    for finding in findings {
        scores.extend(finding.score);
    }
    plain_mean(&scores)
}

/// Pairs of id and text, as the readers and writers of prompts take them.
fn pairs(rubrics: &[ActiveRubric]) -> Vec<(&str, &str)> {
    rubrics.iter().map(|rubric| (&*rubric.id, &*rubric.words)).collect()
}

/// How the samples voted on each rubric.
fn votes(rubrics: Vec<ActiveRubric>, answer: &Answer) -> Vec<RubricVotes> {
    let mut votes = Vec::new();
    for (ActiveRubric { id, words }, tally) in rubrics.into_iter().zip(answer.votes.tallies()) {
        let &Tally { positive, negative, unscored, .. } = tally;
        votes.push(RubricVotes { rubric_id: id, text: words, yes: positive, no: negative, unscored });
    }
    votes
}

/// The share of turns that meet each rubric.
fn shares(sums: RubricSums) -> Vec<RubricFinding> {
    let mut shares = Vec::new();
    for (rubric_id, scores) in sums.by_rubric {
        let rationale = Some("The share of turns that meet it; each turn says why.".to_owned());
        shares.push(RubricFinding { rubric_id, rationale, score: plain_mean(&scores) });
    }
    shares
}
