//! What the agent did: conversations to evaluate, from any supported file.
//!
//! Supported are an evalset of actual conversations (old forms too), ADK's evalset results, inference results, and
//! sessions or the events of one. The events of a session are grouped into turns as google-adk does, written as
//! inference results, and then read like any other inference results.

use std::borrow::Cow;

use super::evalset::{EvalCase, EvalSet, EvalSetFile, RepeatedIds, UNITS_PER_CASE};
use super::forms::{other_file, other_item};
use super::invocation::{Invocation, Turns};
use super::old_evalset::is_old;
use super::results::{EvalCaseResult, EvalSetResult, EvalStatus};
use super::session::{Event, Session, turns_of};
use super::shape::{List, Type, View, Warnings, check_paced, record};
use crate::foundation::error::{ErrorCode, Result};
use crate::foundation::json::{Document, Items, Json, JsonKind, MAX_BYTES};
use crate::foundation::pace::{Pace, at_once};
use crate::foundation::write::{Spelling, Writer, quoted};

/// One run of a case.
#[derive(Clone, Debug, Default)]
pub struct ActualRun<'a> {
    /// The case it belongs to, if the file says so.
    pub eval_id: Option<Cow<'a, str>>,
    /// The turns; none if the run failed.
    pub turns: Option<Turns<'a>>,
    /// The turns of a failed run, up to the failure. They are shown, but never scored.
    pub before_failure: Option<Turns<'a>>,
    /// The session.
    pub session_id: Option<Cow<'a, str>>,
    /// The user.
    pub user_id: Option<Cow<'a, str>>,
    /// Why the run failed or was skipped.
    pub error_message: Option<Cow<'a, str>>,
    /// Whether the agent was not run at all.
    pub is_skipped: bool,
}

/// A file of actual runs.
pub struct ActualFile<'t> {
    document: Document<'t>,
    kind: FileKind,
    /// Whether the positions in the document are those in the file.
    pub in_place: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum FileKind {
    EvalSet,
    Results,
    /// An object with a list of inference results.
    Inferences,
    /// The list alone.
    InferenceList,
    /// One inference result.
    Inference,
    Sessions,
    Session,
    /// The events of one session.
    Events,
}

record! {
    /// What an agent did in one case, in the format of ADK's inference.
    pub struct InferenceResult<'a> called "an inference result" {
        /// The app.
        app_name: Option<Cow<'a, str>> = "app_name" | "appName";
        /// The evalset.
        eval_set_id: Option<Cow<'a, str>> = "eval_set_id" | "evalSetId";
        /// The case.
        eval_case_id: Option<Cow<'a, str>> = "eval_case_id" | "evalCaseId";
        /// The case, under another name.
        eval_id: Option<Cow<'a, str>> = "eval_id" | "evalId";
        /// The turns.
        inferences: Option<List<'a, Invocation<'a>>> = "inferences" | "inferences";
        /// The session.
        session_id: Option<Cow<'a, str>> = "session_id" | "sessionId";
        /// The user.
        user_id: Option<Cow<'a, str>> = "user_id" | "userId";
        /// 2 or `FAILURE` if the run failed; 0 with an error message if the agent was not run.
        status: Option<Json<'a>> = "status" | "status" => STATUS;
        /// Why it failed.
        error_message: Option<Cow<'a, str>> = "error_message" | "errorMessage";
        /// Warnings for the user from the program that wrote the file, such as what traces do not contain.
        warnings: List<'a, Cow<'a, str>> = "warnings" | "warnings" default;
    }
}

/// How a run ended. 0 is google-adk's `UNKNOWN`.
const STATUS: Type = Type::Special(
    |json| match EvalStatus::read(json) {
        Some(EvalStatus::Passed | EvalStatus::Failed) => Ok(()),
        None if json.as_f64() == Some(0.0) => Ok(()),
        _ => Err(json.expected("a status: 1 or 2")),
    },
    |json| json.raw().into(),
);

record! {
    /// A list of inference results.
    pub struct InferenceResults<'a> called "a list of inference results" {
        /// The results.
        inference_results: List<'a, InferenceResult<'a>> = "inference_results" | "inferenceResults" default;
    } unknown_keys Kept
}

impl<'t> ActualFile<'t> {
    /// Reads what the agent did from a file of any supported form. `name` is the id of an evalset in an old form, which
    /// has none.
    ///
    /// # Errors
    /// `invalid_input` with the path and line of what does not fit.
    pub fn read(document: Document<'t>, name: &str, warnings: &Warnings) -> Result<Self> {
        at_once(Self::read_paced(document, name, warnings, &Pace::unbroken()))
    }

    /// As [`ActualFile::read`], in slices.
    ///
    /// # Errors
    /// As [`ActualFile::read`].
    pub async fn read_paced(
        document: Document<'t>,
        name: &str,
        warnings: &Warnings,
        pace: &Pace,
    ) -> Result<Self> {
        let (mut document, unwrapped) = document.unwrapped_paced(pace).await?;
        let kind = kind_of(document.root())?;
        let ty = match kind {
            FileKind::EvalSet => return read_eval_set_runs(document, unwrapped, name, warnings, pace).await,
            FileKind::Results => EvalSetResult::TYPE,
            FileKind::Inferences => InferenceResults::TYPE,
            FileKind::InferenceList => <List<'_, InferenceResult<'_>>>::TYPE,
            FileKind::Inference => InferenceResult::TYPE,
            FileKind::Sessions => <List<'_, Session<'_>>>::TYPE,
            FileKind::Session => Session::TYPE,
            FileKind::Events => <List<'_, Event<'_>>>::TYPE,
        };
        check_paced(&mut document, &ty, warnings, pace).await?;
        if let FileKind::Session | FileKind::Sessions | FileKind::Events = kind {
            let inferences = write_inferences(document.root(), kind, pace).await;
            let mut document = Document::rewritten(inferences, pace).await?;
            check_paced(&mut document, &<List<'_, InferenceResult<'_>>>::TYPE, warnings, pace).await?;
            return Ok(Self { document, kind: FileKind::InferenceList, in_place: false });
        }
        let file = Self { document, kind, in_place: !unwrapped };
        file.forward_warnings(warnings, pace).await;
        Ok(file)
    }

    /// Passes on the warnings that inference results contain.
    async fn forward_warnings(&self, warnings: &Warnings, pace: &Pace) {
        let root = self.document.root();
        let results = match self.kind {
            FileKind::Inferences => InferenceResults::from_json(root).inference_results().json(),
            FileKind::InferenceList => root,
            FileKind::Inference => {
                add_warnings_of(InferenceResult::from_json(root), root, warnings);
                return;
            }
            _ => return,
        };
        for result in results.items() {
            pace.count(UNITS_PER_CASE).await;
            add_warnings_of(InferenceResult::from_json(result), root, warnings);
        }
    }

    /// The runs in the file.
    #[must_use]
    pub fn runs(&self) -> ActualRuns<'_> {
        let root = self.document.root();
        let (list, read): (Json<'_>, fn(Json<'_>) -> ActualRun<'_>) = match self.kind {
            FileKind::EvalSet => {
                (EvalSet::from_json(root).eval_cases().json(), |case| EvalCase::from_json(case).into())
            }
            FileKind::Results => (EvalSetResult::from_json(root).eval_case_results().json(), |case| {
                EvalCaseResult::from_json(case).into()
            }),
            FileKind::Inference => return ActualRuns { items: root.alone(), read: inference_run },
            FileKind::Inferences => {
                (InferenceResults::from_json(root).inference_results().json(), inference_run)
            }
            FileKind::InferenceList | FileKind::Session | FileKind::Sessions | FileKind::Events => {
                (root, inference_run)
            }
        };
        ActualRuns { items: list.items(), read }
    }
}

/// An iterator over the runs in a file.
#[derive(Clone, Copy)]
pub struct ActualRuns<'a> {
    items: Items<'a>,
    read: fn(Json<'_>) -> ActualRun<'_>,
}

impl<'a> Iterator for ActualRuns<'a> {
    type Item = ActualRun<'a>;

    fn next(&mut self) -> Option<ActualRun<'a>> {
        Some((self.read)(self.items.next()?))
    }
}

fn add_warnings_of(result: InferenceResult<'_>, root: Json<'_>, warnings: &Warnings) {
    for warning in result.warnings().iter() {
        warnings.add(root, warning.into_owned());
    }
}

fn inference_run(json: Json<'_>) -> ActualRun<'_> {
    InferenceResult::from_json(json).into()
}

/// Converts a session, several sessions or the events of one to a list of inference results.
async fn write_inferences(root: Json<'_>, kind: FileKind, pace: &Pace) -> String {
    let mut out = Writer::new(Spelling::Snake);
    out.reserve(root.raw().len().saturating_mul(2).min(MAX_BYTES));
    let mut list = out.begin_array();
    match kind {
        FileKind::Events => write_inference(None, List::from_json(root), list.begin_item(), pace).await,
        FileKind::Sessions => {
            for session in List::<Session<'_>>::from_json(root).iter() {
                write_inference(Some(session), session.events(), list.begin_item(), pace).await;
            }
        }
        _ => {
            let session = Session::from_json(root);
            write_inference(Some(session), session.events(), list.begin_item(), pace).await;
        }
    }
    list.end();
    out.into_text()
}

/// Writes the events of a session as an inference result. Events that a runner emitted have no session.
async fn write_inference<'a>(
    session: Option<Session<'a>>,
    events: List<'a, Event<'a>>,
    out: &mut Writer,
    pace: &Pace,
) {
    let mut inference = out.object();
    if let Some(session) = session {
        inference.optional("eval_id", &session.eval_id());
        inference.optional("session_id", &session.id());
        inference.optional("user_id", &session.user_id());
    }
    let mut turns = inference.begin_array("inferences");
    for turn in turns_of(events, pace).await {
        pace.count(turns.item(&turn)).await;
    }
    turns.end();
    inference.end();
}

const WHAT_IT_IS: &str = "what the agent did: an evalset, evalset results, inference results or a session";

fn kind_of(root: Json<'_>) -> Result<FileKind> {
    let has = |json: Json<'_>, key: &str| json.get(key).is_some();
    if root.kind() == JsonKind::Array {
        let Some(first) = root.items().next() else { return Ok(FileKind::EvalSet) };
        let inference_keys = ["inferences", "eval_case_id", "evalCaseId", "status"];
        return Ok(if inference_keys.iter().any(|key| has(first, key)) {
            FileKind::InferenceList
        } else if has(first, "events") {
            FileKind::Sessions
        } else if has(first, "author") {
            FileKind::Events
        } else if is_old(first) {
            FileKind::EvalSet
        } else {
            return Err(other_item(first, WHAT_IT_IS).unwrap_or_else(|| first.expected(WHAT_IT_IS)));
        });
    }
    let kinds = [
        ("eval_case_results", FileKind::Results),
        ("evalCaseResults", FileKind::Results),
        ("inference_results", FileKind::Inferences),
        ("inferenceResults", FileKind::Inferences),
        ("inferences", FileKind::Inference),
        ("eval_case_id", FileKind::Inference),
        ("evalCaseId", FileKind::Inference),
        ("events", FileKind::Session),
        ("eval_cases", FileKind::EvalSet),
        ("evalCases", FileKind::EvalSet),
    ];
    match kinds.iter().find(|(key, _)| has(root, key)) {
        Some((_, kind)) => Ok(*kind),
        None => Err(other_file(root, WHAT_IT_IS).unwrap_or_else(|| root.expected(WHAT_IT_IS))),
    }
}

async fn read_eval_set_runs<'t>(
    document: Document<'t>,
    unwrapped: bool,
    name: &str,
    warnings: &Warnings,
    pace: &Pace,
) -> Result<ActualFile<'t>> {
    let read = EvalSetFile::read_with(document, name, warnings, RepeatedIds::Runs, pace).await;
    let EvalSetFile { document, in_place } = read?;
    for case in EvalSet::from_json(document.root()).eval_cases().iter() {
        pace.count(UNITS_PER_CASE).await;
        if case.conversation().is_none() {
            let message =
                format!("{} is a scenario; what the agent did needs a conversation", quoted(&case.eval_id()));
            return Err(case.0.error(ErrorCode::InvalidInput, message));
        }
    }
    Ok(ActualFile { document, kind: FileKind::EvalSet, in_place: in_place && !unwrapped })
}

impl<'a> From<EvalCase<'a>> for ActualRun<'a> {
    fn from(case: EvalCase<'a>) -> Self {
        let session = case.session_input();
        Self {
            eval_id: Some(case.eval_id()),
            turns: case.turns(),
            session_id: session.and_then(|session| session.session_id()),
            user_id: session.map(|session| session.user_id()).filter(|id| !id.is_empty()),
            ..Self::default()
        }
    }
}

impl<'a> From<EvalCaseResult<'a>> for ActualRun<'a> {
    fn from(case: EvalCaseResult<'a>) -> Self {
        let turns = Some(case.eval_metric_result_per_invocation().into());
        // A failed run has no metric results. Files do not store why it failed.
        let failed = case.final_eval_status() == EvalStatus::Failed
            && case.overall_eval_metric_results().iter().next().is_none();
        Self {
            eval_id: Some(case.eval_id()),
            turns: turns.filter(|_| !failed),
            before_failure: turns.filter(|_| failed),
            session_id: Some(case.session_id()),
            user_id: case.user_id(),
            error_message: failed.then_some("these results do not say why".into()),
            is_skipped: false,
        }
    }
}

impl<'a> From<InferenceResult<'a>> for ActualRun<'a> {
    fn from(inference: InferenceResult<'a>) -> Self {
        let failed = inference.status().map(EvalStatus::from_json) == Some(EvalStatus::Failed);
        let error_message = inference.error_message();
        let status = inference.status().and_then(Json::as_f64);
        let is_skipped = status == Some(0.0) && error_message.is_some();
        Self {
            eval_id: inference.eval_case_id().or_else(|| inference.eval_id()),
            turns: inference.inferences().filter(|_| !failed && !is_skipped).map(Turns::from),
            before_failure: inference.inferences().filter(|_| failed).map(Turns::from),
            session_id: inference.session_id(),
            user_id: inference.user_id(),
            error_message,
            is_skipped,
        }
    }
}
