//! What a metric is that asks a judge.
//!
//! Such a metric is pure: it says what to ask ([`Judged::ask`], [`Judged::follow_up`]), what a reply
//! says ([`Judged::read`]) and what all replies come to ([`Judged::turn`], [`Judged::overall`]). Who is
//! asked, how often, how many at a time and what becomes of failures is the run's.

use std::borrow::Cow;

use super::rubrics::CaseRubrics;
use super::{Case, Evaluation, Explanation, NO_TURNS, Scoring, TurnEvaluation, material, mean};
use crate::foundation::error::{Error, ErrorCode, Result};
use crate::foundation::interner::Interner;
use crate::foundation::json::{Json, Kind};
use crate::foundation::sort::sort;
use crate::foundation::write::{Write, Writer, quoted};
use crate::judge::calls::Usage;
pub use crate::judge::prompt::Purpose;
use crate::judge::prompt::{Prompt, Template, Value, push_all};
use crate::judge::provider::{is_name, parameters};
use crate::judge::reply::Validation;
use crate::judge::votes::{Outcome, Rule, Verdict, Vote, Votes};
use crate::model::config::{Setup, either, invalid_criterion, refuse_misspelt, settings};
use crate::model::evalset::ConversationScenario;
use crate::model::invocation::Invocation;
use crate::model::results::EvalStatus;
use crate::model::shape::whole;

/// The characters of a reply that a reason quotes.
const LONGEST_QUOTE: usize = 200;

/// The longest prompt that a judge is asked, in bytes.
pub const LONGEST_PROMPT: usize = 4 << 20;

/// The most that the prompts of all calls under way may take, in bytes. It holds back calls, and refuses none.
pub const MOST_PROMPTS: usize = 64 << 20;

/// The most that the rubrics of all turns of a conversation may take, each turn having its own results, in bytes.
pub const MOST_RUBRICS: usize = 64 << 20;

/// A metric that asks a judge: what it makes of single turns, and of all of them.
pub trait Judged {
    /// How the judge is to be asked.
    fn asking(&self) -> &Asking;

    /// Whether the conversation can be judged at all.
    ///
    /// # Errors
    /// Where google-adk raises: no reference, no scenario, another number of turns.
    fn check(&self, case: &JudgedCase<'_>) -> Result<()>;

    /// Asks about one turn what needs no other answer.
    ///
    /// # Errors
    /// Where google-adk raises: no rubrics.
    fn ask(&self, case: &JudgedCase<'_>, turn: Turn<'_>, questions: &mut Questions<'_>) -> Result<()>;

    /// The words of a question, made when it is sent: few prompts exist at a time. A question that follows
    /// from an answer is given that too.
    fn prompt(&self, case: &JudgedCase<'_>, question: &Question, before: Option<&Answer>) -> PromptText;

    /// What the reply to one sample of a question says.
    fn read(&self, case: &JudgedCase<'_>, question: &Question, reply: &str) -> Ballot;

    /// The question that follows from an answered one.
    fn follow_up(&self, _answer: &Answer) -> Option<Question> {
        None
    }

    /// What the answers about one turn come to, which are in the order of their steps.
    ///
    /// # Errors
    /// Where google-adk raises.
    fn turn<'a>(
        &self,
        case: &JudgedCase<'a>,
        turn: Turn<'a>,
        answers: &[&Answer],
        scoring: &Scoring,
    ) -> Result<TurnEvaluation<'a>>;

    /// Adds up a turn's result, so that [`Judged::overall`] need not look at all of them again.
    fn add_up(&self, _turn: &TurnEvaluation<'_>, _sums: &mut RubricSums) {}

    /// What all turns come to, which stand in the evaluation: adds its score, reason and details.
    fn overall(
        &self,
        answers: &[Answer],
        sums: RubricSums,
        scoring: &Scoring,
        evaluation: &mut Evaluation<'_>,
    );
}

/// One turn of a conversation that is judged.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// Its place.
    pub index: usize,
    /// What happened.
    pub actual: Invocation<'a>,
    /// What was expected to, where that is known.
    pub expected: Option<Invocation<'a>>,
}

/// The questions about one conversation that need no other answer, while they are planned turn by turn.
pub struct Planning {
    turn: usize,
    /// What the rubrics of all turns take.
    rubrics: usize,
    /// What the simulated user's history takes.
    history: usize,
    list: Vec<Question>,
}

impl Planning {
    /// Begins with the first turn.
    ///
    /// # Errors
    /// Where google-adk raises.
    pub fn begin(judged: &dyn Judged, case: &JudgedCase<'_>) -> Result<Self> {
        judged.check(case)?;
        let asking = judged.asking();
        let turn = if asking.whole_conversation { case.turns.len().saturating_sub(1) } else { 0 };
        Ok(Self { turn, rubrics: 0, history: 0, list: Vec::new() })
    }

    /// Goes on for as long as there is work left to do. Says whether all turns are planned.
    ///
    /// # Errors
    /// Where google-adk raises.
    pub fn go_on(
        &mut self,
        judged: &dyn Judged,
        case: &JudgedCase<'_>,
        scoring: &Scoring,
        work: &mut Work,
    ) -> Result<bool> {
        while let Some(turn) = case.turns.get(self.turn).copied() {
            if work.is_done() {
                return Ok(false);
            }
            work.add(Work::OF_TURN);
            self.turn += 1;
            judged.ask(
                case,
                turn,
                &mut Questions { asking: judged.asking(), scoring, turn, planning: self, work },
            )?;
        }
        Ok(true)
    }

    /// The questions in the order of their turns.
    #[must_use]
    pub fn into_questions(self) -> Vec<Question> {
        self.list
    }
}

/// The result of all answers, while it is made turn by turn.
pub struct Conclusion<'a> {
    answers: Vec<Answer>,
    /// The places of the answers by turn and step.
    order: Vec<usize>,
    next: usize,
    evaluation: Evaluation<'a>,
    sums: RubricSums,
}

impl<'a> Conclusion<'a> {
    /// Of answers, which need not all be [settled](Answer::is_settled).
    #[must_use]
    pub fn of(answers: Vec<Answer>) -> Self {
        let mut order: Vec<usize> = (0..answers.len()).collect();
        let place =
            |at: &usize| answers.get(*at).map(|answer| (answer.question.invocation, answer.question.step));
        // Answers to second questions stand in the order in which they came.
        sort(&mut order, |a, b| place(a).cmp(&place(b)));
        Self { answers, order, next: 0, evaluation: Evaluation::default(), sums: RubricSums::default() }
    }

    /// Goes on for as long as there is work left to do. The result, once it is there.
    ///
    /// # Errors
    /// Where google-adk raises.
    pub fn go_on(
        &mut self,
        judged: &dyn Judged,
        case: &JudgedCase<'a>,
        scoring: &Scoring,
        work: &mut Work,
    ) -> Result<Option<Evaluation<'a>>> {
        let asking = judged.asking();
        let evaluation = &mut self.evaluation;
        if evaluation.turns.is_empty()
            && asking.raises
            && let Some(failure) = self.answers.iter().find_map(Answer::judge_failure)
        {
            return Err(failure.clone());
        }
        while let Some(turn) = case.turns.get(evaluation.turns.len()).copied() {
            if work.is_done() {
                return Ok(None);
            }
            work.add(Work::OF_TURN);
            let mut own: Vec<&Answer> = Vec::new();
            while let Some(answer) = self.order.get(self.next).and_then(|at| self.answers.get(*at))
                && answer.question.invocation == turn.index
            {
                work.add(answer.weight());
                own.push(answer);
                self.next += 1;
            }
            let turn = if own.is_empty() && asking.whole_conversation {
                TurnEvaluation::not_evaluated(material::ONLY_THE_LAST)
            } else {
                judged.turn(case, turn, &own, scoring)?
            };
            judged.add_up(&turn, &mut self.sums);
            evaluation.turns.push(turn);
        }
        let mut evaluation = std::mem::take(evaluation);
        judged.overall(&self.answers, std::mem::take(&mut self.sums), scoring, &mut evaluation);
        evaluation.status = EvalStatus::of_score(evaluation.score, asking.threshold);
        Ok(Some(evaluation))
    }
}

/// How much was done since the host last had its turn. A unit takes some nanoseconds: about as long as a byte
/// of a prompt takes to be put together, hashed and written.
#[derive(Default)]
pub struct Work(usize);

impl Work {
    /// What is done before the host has its turn: a few milliseconds' worth, where it is to have it after 25 at most.
    pub const PER_POLL: usize = 1 << 19;
    /// What a turn takes besides its texts.
    const OF_TURN: usize = 64;
    /// What a rubric takes each time that it is looked at.
    pub(super) const OF_RUBRIC: usize = 128;

    /// Counts what is done.
    pub fn add(&mut self, units: usize) {
        self.0 = self.0.saturating_add(units);
    }

    /// Whether the host is to have its turn.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0 >= Self::PER_POLL
    }

    /// How much was done.
    #[must_use]
    pub fn units(&self) -> usize {
        self.0
    }
}

/// The questions about a conversation, while they are asked turn by turn.
pub struct Questions<'q> {
    asking: &'q Asking,
    pub(super) scoring: &'q Scoring,
    turn: Turn<'q>,
    planning: &'q mut Planning,
    work: &'q mut Work,
}

impl Questions<'_> {
    /// Asks by the first prompt for a majority over the samples that the config asks for.
    pub(super) fn ballot(&mut self) -> &mut Question {
        let (samples, early_stop) = (self.asking.options.samples, self.scoring.early_stop);
        let question = self.asking.question(0);
        let question = self.add(question);
        question.samples = samples;
        question.rule = Rule::Majority { early_stop };
        question
    }

    /// Asks a question about the turn.
    #[inline(never)]
    pub(super) fn add(&mut self, question: Question) -> &mut Question {
        let question = self.planning.list.push_mut(question);
        question.invocation = self.turn.index;
        question
    }

    /// Counts the rubrics of a turn, which its results repeat.
    ///
    /// # Errors
    /// `limit_exceeded` if those of all turns take too much.
    pub(super) fn count_rubrics(&mut self, number: usize, bytes: usize) -> Result<()> {
        self.work.add(number * Work::OF_RUBRIC);
        self.planning.rubrics += bytes + number * size_of::<RubricVotes>();
        if self.planning.rubrics > MOST_RUBRICS { Err(too_many_rubrics()) } else { Ok(()) }
    }

    /// Counts what a turn adds to the history that later prompts show. Returns what all have by then.
    pub(super) fn count_history(&mut self, bytes: usize) -> usize {
        self.work.add(bytes);
        self.planning.history += bytes;
        self.planning.history
    }
}

#[cold]
fn too_many_rubrics() -> Error {
    let limit = (MOST_RUBRICS >> 20).to_string();
    let message = ["the rubrics of all turns together take more than ", &limit, " MiB"].concat();
    Error::new(ErrorCode::LimitExceeded, message).with_help("Split the conversation into several cases")
}

/// What becomes of rubrics over all turns.
#[derive(Default)]
pub struct RubricSums {
    numbers: Interner<'static>,
    /// The scores of each rubric.
    pub(super) by_rubric: Vec<(String, Vec<f64>)>,
    /// All scores.
    pub(super) scores: Vec<f64>,
}

impl RubricSums {
    /// Adds what one turn found of a rubric.
    pub(super) fn add(&mut self, id: &str, score: Option<f64>) {
        let number = self.numbers.find(id).unwrap_or_else(|| {
            self.by_rubric.push((id.to_owned(), Vec::new()));
            self.numbers.intern(Cow::Owned(id.to_owned()))
        });
        self.scores.extend(score);
        if let Some((_, scores)) = self.by_rubric.get_mut(number) {
            scores.extend(score);
        }
    }
}

/// What a prompt shows, by the names of its variables.
#[derive(Default)]
pub(super) struct Values<'v>(Vec<(&'static str, Cow<'v, str>)>);

impl<'v> Values<'v> {
    #[inline(never)]
    pub(super) fn add(&mut self, name: &'static str, text: Cow<'v, str>) {
        self.0.push((name, text));
    }

    /// Says of what there is none that there is none.
    pub(super) fn name_absent(&mut self) {
        for (_, text) in &mut self.0 {
            if text.is_empty() {
                *text = material::NONE.into();
            }
        }
    }
}

/// How a judge is asked by one metric.
pub struct Asking {
    /// The metric's name.
    pub name: String,
    /// The threshold in force.
    pub threshold: f64,
    /// What a config says of the judge.
    pub options: JudgeOptions,
    /// The prompts with their templates: the project's, or the user's.
    pub prompts: Vec<(&'static Prompt, Template<'static>)>,
    /// Whether Vertex AI's evaluation service is asked rather than a judge.
    pub vertex: bool,
    /// Whether the last turn is asked about for the whole conversation.
    pub whole_conversation: bool,
    /// Whether a judge that fails is an error.
    pub raises: bool,
}

impl Asking {
    /// Reads what a config says of the judge, and takes the user's templates where there are some.
    ///
    /// # Errors
    /// `invalid_criterion` for unusable options, `threshold_required`; `invalid_input` for unusable
    /// templates.
    pub(super) fn read(setup: &Setup<'_, '_>, prompts: &[&'static Prompt]) -> Result<Box<Self>> {
        let threshold = setup.threshold()?;
        let mut with_templates = Vec::new();
        for prompt in prompts {
            let own = setup.judging.prompts.iter().find(|(id, _)| id == prompt.id);
            let template = match own {
                Some((_, text)) => prompt.replaced_by(text.clone())?,
                None => prompt.template(),
            };
            with_templates.push((*prompt, template));
        }
        Ok(Box::new(Self {
            name: setup.name.to_owned(),
            threshold,
            options: JudgeOptions::read(setup)?,
            prompts: with_templates,
            vertex: false,
            whole_conversation: false,
            raises: false,
        }))
    }

    /// A question by the prompt with a place in the list, asked of one sample.
    pub(super) fn question(&self, prompt: usize) -> Question {
        let mut question = Question::new(None);
        if let Some((prompt, _)) = self.prompts.get(prompt) {
            question.purpose = prompt.purpose;
            question.schema = Some(prompt.schema);
            question.wanted = prompt.wanted;
        }
        question
    }

    /// The prompt with a place in the list. All values come from elsewhere, so all are fenced.
    pub(super) fn render(&self, prompt: usize, values: &Values<'_>) -> PromptText {
        let bytes: usize = values.0.iter().map(|(_, text)| text.len()).sum();
        if bytes > LONGEST_PROMPT {
            return PromptText { text: String::new(), bytes };
        }
        let mut fenced = Vec::new();
        for (name, text) in &values.0 {
            fenced.push(Value { name, text, is_fenced: true });
        }
        let prompt = self.prompts.get(prompt);
        PromptText::of(prompt.map(|(prompt, template)| prompt.render(template, &fenced)).unwrap_or_default())
    }
}

/// A prompt.
pub struct PromptText {
    /// Its words; none if it is too long.
    text: String,
    /// How long it is.
    bytes: usize,
}

impl PromptText {
    pub(super) fn of(text: String) -> Self {
        let bytes = text.len();
        if bytes > LONGEST_PROMPT { Self { text: String::new(), bytes } } else { Self { text, bytes } }
    }
}

/// What a config says of a judge.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeOptions {
    /// The model; google-adk's default is `gemini-2.5-flash`.
    pub model: String,
    /// Its settings, as JSON with the names of Gemini's `GenerateContentConfig`.
    pub config: Option<String>,
    /// The most samples to ask of a question, at least 1.
    pub samples: u32,
    /// The most calls of the metric in flight, where the config says so.
    pub parallelism_limit: Option<u32>,
}

settings! {
    /// The judge's model, by its name at its provider.
    MODEL: &'static str = "gemini-2.5-flash", "judge_model" | "judgeModel";
    /// Sampling settings of the judge's model.
    CONFIG: Option<String> = None, "judge_model_config" | "judgeModelConfig";
    /// The most samples asked of a question, 1 to 1000. Asking stops as soon as the others cannot change the verdict.
    SAMPLES: u32 = 5, "num_samples" | "numSamples";
    /// The most calls of this metric at a time, 1 to 1000. Without it the run's concurrency decides; in google-adk it is 1.
    PARALLELISM: Option<u32> = None, "parallelism_limit" | "parallelismLimit";
}

impl JudgeOptions {
    /// The criterion's options win over the metric's.
    fn read(setup: &Setup<'_, '_>) -> Result<Self> {
        let of_criterion = setup
            .criterion
            .and_then(|criterion| either(criterion, ["judge_model_options", "judgeModelOptions"]));
        let mut options = Self {
            model: MODEL.default.to_owned(),
            config: CONFIG.default,
            samples: SAMPLES.default,
            parallelism_limit: PARALLELISM.default,
        };
        for json in [setup.judge_model_options, of_criterion].into_iter().flatten() {
            options.take(json).map_err(invalid_criterion)?;
        }
        Ok(options)
    }

    fn take(&mut self, json: Json<'_>) -> Result<()> {
        if json.is_null() {
            return Ok(());
        }
        if json.kind() != Kind::Object {
            return Err(json.expected("an object with the judge's options"));
        }
        let mut known = Vec::new();
        for setting in SETTINGS {
            known.push(setting.keys);
        }
        let known = known.as_flattened();
        for (key, value) in json.entries() {
            if !known.contains(&&*key) {
                let message = ["a judge has no option `", &key, "`"].concat();
                refuse_misspelt(value, &key, known, &message)?;
                let help = "There are judge_model, judge_model_config, num_samples and parallelism_limit";
                return Err(value.error(ErrorCode::InvalidCriterion, message).with_help(help));
            }
        }
        let keys = [MODEL.keys, CONFIG.keys, SAMPLES.keys, PARALLELISM.keys];
        let [model, config, samples, limit] = keys.map(|keys| either(json, keys));
        if let Some(model) = model {
            let name = model.as_str().filter(|name| !name.is_empty());
            self.model = name.ok_or_else(|| model.expected("the name of a model"))?.into_owned();
        }
        if let Some(config) = config {
            if config.kind() != Kind::Object {
                return Err(config.expected("an object with the model's settings"));
            }
            refuse_http_options(config)?;
            check_model_config(config)?;
            self.config = Some(config.raw().to_owned());
        }
        if let Some(samples) = samples {
            self.samples = count(samples)?;
        }
        if let Some(limit) = limit {
            self.parallelism_limit = Some(count(limit)?);
        }
        Ok(())
    }
}

/// Refuses a setting of the model that resembles a known one. Others may be for the provider; where they are not sent, a
/// warning says so.
fn check_model_config(config: Json<'_>) -> Result<()> {
    let known: Vec<&str> = parameters().collect();
    for (key, value) in config.entries().filter(|(_, value)| !value.is_null()) {
        let is_same = |name: &&str| is_name(&key, name);
        if !known.iter().any(is_same) {
            refuse_misspelt(value, &key, &known, &["a model has no setting `", &key, "`"].concat())?;
        }
    }
    Ok(())
}

/// A number of samples or calls, also in text, and `true` for 1, as google-adk does. 1000 is more than
/// anyone can pay for.
fn count(json: Json<'_>) -> Result<u32> {
    let of_text = || json.as_str().and_then(|text| text.trim().parse().ok());
    let of_true = || json.as_bool().filter(|flag| *flag).map(i64::from);
    let number = whole(json).or_else(of_text).or_else(of_true).filter(|number| (1..=1000).contains(number));
    number
        .and_then(|number| u32::try_from(number).ok())
        .ok_or_else(|| json.expected("a whole number from 1 to 1000"))
}

/// The conversation that a judge is asked about.
#[derive(Clone)]
pub struct JudgedCase<'a> {
    /// Both sides.
    pub case: Case<'a>,
    /// The scenario that a simulated user followed.
    pub scenario: Option<ConversationScenario<'a>>,
    /// The rubrics of each actual turn.
    pub rubrics: CaseRubrics<'a>,
    /// The turns that happened, each with the one that was expected in its place; once they are lined up.
    turns: Vec<Turn<'a>>,
}

impl<'a> JudgedCase<'a> {
    /// What is known of a conversation.
    #[must_use]
    pub fn new(case: Case<'a>, scenario: Option<ConversationScenario<'a>>, rubrics: CaseRubrics<'a>) -> Self {
        Self { case, scenario, rubrics, turns: Vec::new() }
    }

    /// Puts both sides beside each other, for a judge.
    #[must_use]
    pub fn lined_up(mut self) -> Self {
        let mut expected = self.case.expected.unwrap_or_default().iter();
        for (index, actual) in self.case.actual.iter().enumerate() {
            self.turns.push(Turn { index, actual, expected: expected.next() });
        }
        self
    }

    /// One of the turns.
    pub(super) fn turn(&self, index: usize) -> Option<Turn<'a>> {
        self.turns.get(index).copied()
    }
}

/// Which server is asked, and with which headers, is the judge's own business: a file that could say it
/// would send prompts and keys wherever it likes.
fn refuse_http_options(config: Json<'_>) -> Result<()> {
    let refused = |key: &str| key.replace('_', "").eq_ignore_ascii_case("httpoptions");
    let Some((_, value)) = config.entries().find(|(key, _)| refused(key)) else { return Ok(()) };
    let message = "a config cannot say which server is asked or how: `http_options` is refused";
    let help = "Remove it, and give address and headers to the judge in code or by its environment variables";
    Err(value.error(ErrorCode::InvalidCriterion, message).with_help(help))
}

/// One question for a judge, asked of one or several samples.
#[derive(Clone, Debug)]
pub struct Question {
    /// What it is for.
    pub purpose: Purpose,
    /// The turn it is about.
    pub invocation: usize,
    /// The step of the turn, where a turn has several; 0 otherwise.
    pub step: usize,
    /// The prompt, while a call is under way; for Vertex AI's evaluation service the body of the request.
    pub prompt: String,
    /// How long the prompt is, in bytes, as far as that is known. Beyond [`LONGEST_PROMPT`] nothing is asked.
    pub bytes: usize,
    /// The place of the answer that it follows from, if it does.
    pub follows: Option<usize>,
    /// The JSON Schema of a structured reply.
    pub schema: Option<&'static str>,
    /// What a reply has to hold to be read, in words; empty where the reply is no judge's.
    pub wanted: &'static str,
    /// The most samples to ask.
    pub samples: u32,
    /// On how many verdicts a reply votes.
    pub verdicts: usize,
    /// How the votes make a result.
    pub rule: Rule,
}

impl Question {
    /// One sample, one verdict, about the first turn.
    pub(super) fn new(schema: Option<&'static str>) -> Self {
        Self {
            bytes: 0,
            follows: None,
            purpose: Purpose::Verdict,
            invocation: 0,
            step: 0,
            prompt: String::new(),
            schema,
            wanted: "",
            samples: 1,
            verdicts: 1,
            rule: Rule::Every,
        }
    }
}

impl Question {
    /// Takes the words that it asks by.
    pub fn take_prompt(&mut self, PromptText { text, bytes }: PromptText) {
        self.prompt = text;
        self.bytes = bytes;
    }

    /// Why the question cannot be asked, if so.
    #[must_use]
    pub fn refusal(&self) -> Option<Error> {
        (self.bytes > LONGEST_PROMPT).then(|| {
            let (bytes, most) = (self.bytes.to_string(), LONGEST_PROMPT.to_string());
            let message = ["the prompt has ", &bytes, " bytes; at most ", &most, " are asked"].concat();
            Error::new(ErrorCode::LimitExceeded, message)
        })
    }
}

/// What one reply says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ballot {
    /// A vote for each verdict of the question.
    pub votes: Vec<Vote>,
    /// What the reply is worth; of rubrics the mean.
    pub score: Option<f64>,
    /// Why, verdict by verdict.
    pub rationales: Vec<Option<String>>,
    /// The sentences of a segmenter.
    pub sentences: Vec<String>,
    /// The labels of a validator.
    pub validations: Vec<Validation>,
}

impl Ballot {
    /// Of a reply that says yes, no, or nothing that can be read.
    pub(super) fn of_label(label: Option<bool>) -> Self {
        let vote = Vote::of(label);
        Self { votes: vec![vote], score: vote.score(), ..Self::default() }
    }

    /// Of a reply that gives a score; above 0.5 it is a vote for.
    pub(super) fn of_score(score: f64) -> Self {
        Self { score: Some(score), ..Self::of_label(Some(score > 0.5)) }
    }
}

/// The reply to one sample.
#[derive(Clone, Debug)]
pub struct SampleReply {
    /// Which sample.
    pub sample: u32,
    /// What the judge wrote.
    pub text: String,
    /// What it cost, where that is known.
    pub usage: Option<Usage>,
    /// Whether it came from a cache.
    pub cached: bool,
    /// What it says.
    pub ballot: Ballot,
}

/// All that came of a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The votes.
    pub votes: Votes,
    /// The replies, by sample.
    pub replies: Vec<SampleReply>,
    /// Why a sample has no reply.
    pub failure: Option<Error>,
}

impl Answer {
    /// What it takes to put it into a result.
    fn weight(&self) -> usize {
        let verdicts = self.question.verdicts * Work::OF_RUBRIC;
        self.replies.iter().map(|reply| reply.text.len()).sum::<usize>() + verdicts
    }

    /// Whether the result of the question stands.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.votes.outcome() == Outcome::Settled
    }

    /// The score of a settled majority.
    pub(super) fn majority(&self) -> Option<f64> {
        match self.votes.verdict(0) {
            Some(Verdict::Positive) => Some(1.0),
            Some(Verdict::Negative) => Some(0.0),
            _ => None,
        }
    }

    /// Why there is no score: what failed, or that no reply said anything.
    pub(super) fn why_unscored(&self) -> Cow<'static, str> {
        match &self.failure {
            Some(failure) if !self.is_settled() => failure.to_string().into(),
            _ => self.unreadable().into(),
        }
    }

    /// That no reply could be read, with the first of them and what was expected.
    #[cold]
    fn unreadable(&self) -> String {
        let mut why = String::from("no reply of the judge could be read");
        if !self.question.wanted.is_empty() {
            push_all(&mut why, &[": expected ", self.question.wanted]);
        }
        if let Some(first) = self.replies.first() {
            let said = first.text.trim();
            let head: String = said.chars().take(LONGEST_QUOTE).collect();
            let more = if head.len() < said.len() { "…" } else { "" };
            let found = if self.question.wanted.is_empty() { ": " } else { ", found " };
            push_all(&mut why, &[found, &quoted(&[&head, more].concat())]);
        }
        why
    }

    /// The failure where it leaves the result open, if it is the judge's; not if the run was stopped.
    pub(super) fn judge_failure(&self) -> Option<&Error> {
        let of_judge = |error: &&Error| matches!(error.code, ErrorCode::JudgeFailed | ErrorCode::Timeout);
        self.failure.as_ref().filter(of_judge).filter(|_| !self.is_settled())
    }
}

/// The turn that a score makes, with what the judge said where that is wanted.
pub(super) fn turn_of<'a>(
    score: Option<f64>,
    threshold: f64,
    answers: &[&Answer],
    scoring: &Scoring,
) -> TurnEvaluation<'a> {
    let mut turn =
        TurnEvaluation { score, status: EvalStatus::of_score(score, threshold), ..TurnEvaluation::default() };
    if score.is_none() {
        turn.reason = answers.first().map(|answer| answer.why_unscored());
    }
    if scoring.explain.wants(turn.status) && !answers.is_empty() {
        turn.explanation =
            Some(Box::new(Explanation { samples: Some(Samples::of(answers)), ..Explanation::default() }));
    }
    turn
}

/// Scores a conversation by a mean of its turns that have a score. Without one the first turn says why.
pub(super) fn average(evaluation: &mut Evaluation<'_>, mean: fn(&[f64]) -> Option<f64>) {
    let mut scores = Vec::new();
    let mut why = None;
    for turn in &evaluation.turns {
        scores.extend(turn.score);
        why = why.or(turn.reason.as_ref());
    }
    evaluation.score = mean(&scores);
    if evaluation.score.is_none() {
        evaluation.reason = Some(why.cloned().unwrap_or(NO_TURNS.into()));
    }
}

/// The plain mean.
pub(super) fn plain_mean(scores: &[f64]) -> Option<f64> {
    mean(scores.iter().copied())
}

/// How often a judge was asked about a turn, and what it said.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct Samples {
    /// How many samples were asked.
    pub asked: u32,
    /// How many might have been.
    pub of: u32,
    /// What each said.
    pub votes: Vec<SampleVote>,
}

/// What one sample said.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct SampleVote {
    /// Which sample.
    pub sample_index: u32,
    /// What it was asked for: `verdict`, `segment`, `validate` or `score`.
    pub purpose: Cow<'static, str>,
    /// The answer within the turn that it is about, where a metric asks about several.
    pub step_index: Option<u32>,
    /// What it is worth, a mean if it speaks of several rubrics; absent if the reply could not be read,
    /// or is about sentences.
    pub score: Option<f64>,
    /// What the judge wrote.
    pub reply: String,
    /// What it cost.
    pub usage: Option<SampleUsage>,
    /// Whether it came from a cache.
    pub cached: Option<bool>,
}

/// The tokens of one reply.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct SampleUsage {
    /// Tokens of the prompt.
    pub input_tokens: f64,
    /// Tokens of the reply.
    pub output_tokens: f64,
}

impl Samples {
    /// Those of the answers about one turn.
    fn of(answers: &[&Answer]) -> Self {
        let mut samples = Self::default();
        for answer in answers {
            samples.asked += answer.votes.asked();
            samples.of += answer.question.samples;
            for reply in &answer.replies {
                samples.votes.push(SampleVote {
                    sample_index: reply.sample,
                    purpose: answer.question.purpose.as_str().into(),
                    step_index: later_step(answer.question.step),
                    score: reply.ballot.score,
                    reply: reply.text.clone(),
                    usage: reply.usage.map(SampleUsage::from),
                    cached: reply.cached.then_some(true),
                });
            }
        }
        samples
    }
}

/// The number of a step, unless it is the first.
fn later_step(step: usize) -> Option<u32> {
    u32::try_from(step).ok().filter(|step| *step > 0)
}

impl From<Usage> for SampleUsage {
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
    fn from(usage: Usage) -> Self {
        Self { input_tokens: usage.input_tokens as f64, output_tokens: usage.output_tokens as f64 }
    }
}

impl Write for Samples {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("asked", &self.asked);
        object.entry("of", &self.of);
        object.entry("votes", &self.votes);
        object.end();
    }
}

impl Write for SampleVote {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("sampleIndex", &self.sample_index);
        object.entry("purpose", &self.purpose);
        object.optional("stepIndex", &self.step_index);
        object.optional("score", &self.score);
        object.entry("reply", &self.reply);
        object.optional("usage", &self.usage);
        object.optional("cached", &self.cached);
        object.end();
    }
}

impl Write for SampleUsage {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("inputTokens", &self.input_tokens);
        object.entry("outputTokens", &self.output_tokens);
        object.end();
    }
}

/// How the samples voted on one rubric.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct RubricVotes {
    /// The rubric.
    pub rubric_id: String,
    /// The property in words.
    pub text: String,
    /// Samples that found it met.
    pub yes: u32,
    /// Samples that did not.
    pub no: u32,
    /// Samples that spoke of it and said neither.
    pub unscored: u32,
}

impl Write for RubricVotes {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("rubricId", &self.rubric_id);
        object.entry("text", &self.text);
        for (key, count) in [("yes", self.yes), ("no", self.no), ("unscored", self.unscored)] {
            object.entry(key, &count);
        }
        object.end();
    }
}

/// What a judge says of one sentence.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "camelCase"))]
pub struct Sentence {
    /// The sentence.
    pub text: String,
    /// `supported`, `unsupported`, `contradictory`, `disputed` or `not_applicable`.
    pub label: String,
    /// Why.
    pub rationale: String,
    /// What in the context supports it.
    pub supporting_excerpt: Option<String>,
    /// What in the context contradicts it.
    pub contradicting_excerpt: Option<String>,
    /// The answer within the turn that it is part of, where a metric asks about several.
    pub step_index: Option<u32>,
}

impl Sentence {
    /// What a judge said about an answer of a turn.
    pub(super) fn of(found: Validation, step: usize) -> Self {
        Self {
            text: found.sentence,
            label: found.label,
            rationale: found.rationale,
            supporting_excerpt: found.supporting_excerpt,
            contradicting_excerpt: found.contradicting_excerpt,
            step_index: later_step(step),
        }
    }
}

impl Write for Sentence {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("text", &self.text);
        object.entry("label", &self.label);
        object.entry("rationale", &self.rationale);
        object.optional("supportingExcerpt", &self.supporting_excerpt);
        object.optional("contradictingExcerpt", &self.contradicting_excerpt);
        object.optional("stepIndex", &self.step_index);
        object.end();
    }
}
