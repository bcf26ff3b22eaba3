//! What one poll returns to JavaScript: columns of numbers, since an array of doubles crosses the boundary a hundred times
//! faster than the same number of objects, and JSON for rare data.

use super::columns::{CONTINUED, CaseNumbers, Columns, Header, HostStep, SCORED, Table, to_u32};
use super::contract::{self, HttpCall, JudgeRequest, RawJson};
use super::to_value;
use crate::foundation::error::Error;
use crate::foundation::interner::Interner;
use crate::foundation::write::{Raw, Spelling, Write, Writer, quoted, to_json};
use crate::judge::provider::Failure;
use crate::metrics::{Details, Evaluation, Explanation};
use crate::model::evalset::SessionInput;
use crate::model::invocation::{Invocation, Turns};
use crate::model::shape::Record;
use crate::run::{CaseResult, CustomTask, JudgeCall, MetricScorer, Pairing, Run};

/// A batch is full when it has this many bytes of results. The last turn may exceed the limit.
const MAX_BATCH_BYTES: usize = 1 << 18;

/// How many bytes of JSON take JavaScript as long to read as a score or a number of a span.
const BYTES_PER_NUMBER: usize = 16;

/// What one poll returns: results of cases, judge calls and tasks for the host.
#[derive(Default)]
pub(super) struct Batch {
    columns: Columns,
    /// The judge calls to make.
    calls: js_sys::Array,
    reason_numbers: Interner<'static>,
    /// How long to wait for answers at most.
    wait_until: Option<f64>,
    /// What the host does next.
    next: HostStep,
    table: Table,
}

/// A task for the host, as JSON.
struct HostTask<'t, 'a> {
    task: CustomTask,
    run: &'t Run<'a>,
    in_place: InPlace,
}

impl Write for HostTask<'_, '_> {
    fn write(&self, out: &mut Writer) {
        let Pairing { case, run } = self.task.pairing;
        let given = self.run.cases().get(case);
        let actual = run.and_then(|run| self.run.runs().get(run)?.turns);
        let expected = given.and_then(|case| case.turns);
        let scenario = given.and_then(|case| case.case.conversation_scenario()).map(to_camel_json);
        let mut object = out.object();
        object.entry("id", &self.task.id.0);
        object.entry("metric", &to_u32(self.task.metric));
        object.entry("case", &to_u32(case));
        object.entry("run", &run.map(to_u32));
        object.entry("actual", &host_turns(actual, self.in_place.actual));
        object.entry("expected", &host_turns(expected, self.in_place.expected));
        object.entry("scenario", &scenario.as_deref().map(Raw));
        object.end();
    }
}

/// An invocation: its span in the input, or its JSON.
struct HostTurn<'a> {
    turn: Invocation<'a>,
    in_place: bool,
}

impl Write for HostTurn<'_> {
    fn write(&self, out: &mut Writer) {
        if self.in_place {
            let (start, end) = self.turn.json().span();
            [start, end].as_slice().write(out);
        } else {
            out.raw(&to_camel_json(self.turn));
        }
    }
}

fn host_turns(turns: Option<Turns<'_>>, in_place: bool) -> Option<Vec<HostTurn<'_>>> {
    turns.map(|turns| turns.iter().map(|turn| HostTurn { turn, in_place }).collect())
}

/// The length of a text in UTF-16 code units.
fn utf16_length(text: &str) -> u32 {
    to_u32(if text.is_ascii() { text.len() } else { text.encode_utf16().count() })
}

/// A record as JSON in `camelCase`.
fn to_camel_json<'a, T: Record<'a>>(record: T) -> String {
    record.to_json(Spelling::Camel)
}

/// Whether JavaScript can read the invocations from the input bytes by their spans.
#[derive(Clone, Copy)]
pub(super) struct InPlace {
    pub(super) actual: bool,
    pub(super) expected: bool,
}

impl Batch {
    /// The address of the table of columns. Valid as long as the batch is not changed.
    pub(super) fn table(&mut self) -> *const f64 {
        let header = Header {
            wait_until: self.wait_until.unwrap_or(f64::NAN),
            next: f64::from(self.next as u8),
            calls: self.calls.length().into(),
        };
        self.table.fill(header, &self.columns)
    }

    pub(super) fn wait(&mut self, until: Option<f64>) {
        self.wait_until = until;
    }

    pub(super) fn finish_run(&mut self) {
        self.next = HostStep::Finished;
    }

    pub(super) fn pause(&mut self) {
        self.next = HostStep::More;
    }

    #[cold]
    pub(super) fn add_task(&mut self, run: &Run<'_>, task: CustomTask, in_place: InPlace) {
        self.columns.tasks.push(&to_json(&HostTask { task, run, in_place }, Spelling::Camel));
    }

    /// Adds a judge call, with the HTTP request if the metric has an endpoint.
    ///
    /// # Errors
    /// The failure if the HTTP request cannot be made.
    #[cold]
    pub(super) fn add_call(&mut self, run: &Run<'_>, given: &JudgeCall) -> Result<(), Box<Failure>> {
        let JudgeCall { call, metric, pairing } = *given;
        let (Some(question), Some(planned)) = (run.question(given), run.plan().metrics.get(metric)) else {
            return Ok(());
        };
        let MetricScorer::Judge(judged) = &planned.scorer else { return Ok(()) };
        let http = run.http_request(call.id).transpose()?.map(HttpCall::from);
        let eval_id = run.cases().get(pairing.case).map(|case| &*case.eval_id).filter(|id| !id.is_empty());
        let request = JudgeRequest {
            id: format!("{}.{}", call.question, call.sample),
            metric_name: &planned.name,
            purpose: question.purpose.as_str(),
            eval_id,
            invocation_index: to_u32(question.invocation),
            step_index: to_u32(question.step),
            sample_index: call.sample,
            model: run.asked_model(metric, judged.as_ref()),
            prompt: &question.prompt,
            response_schema: question.schema.as_deref().map(RawJson),
            generation_config: judged.judge_config().options.config.as_deref().map(RawJson),
        };
        let call = contract::JudgeCall {
            call: call.id,
            metric: to_u32(metric),
            case: to_u32(pairing.case),
            run: pairing.run.map(to_u32),
            digest: &question.digest,
            request,
            http,
        };
        // Serialising these types cannot fail.
        self.calls.push(&to_value(&call).unwrap_or_default());
        Ok(())
    }

    /// Removes and returns the calls to make.
    pub(super) fn take_calls(&mut self) -> js_sys::Array {
        std::mem::take(&mut self.calls)
    }

    pub(super) fn add_abort(&mut self, call: u32) {
        self.columns.aborts.push(call);
    }

    pub(super) fn case_count(&self) -> usize {
        self.columns.cases.len() / CaseNumbers::LENGTH
    }

    /// Whether JavaScript needs a few milliseconds to read it.
    pub(super) fn is_full(&self) -> bool {
        let Columns { notes, explanations, texts, scores, spans, .. } = &self.columns;
        notes.bytes() + explanations.len() + texts.bytes() + (scores.len() + spans.len()) * BYTES_PER_NUMBER
            >= MAX_BATCH_BYTES
    }

    /// Adds the results of a case from the turn `first` on until the batch is full. Returns the turn with which the next
    /// batch continues, if there are more.
    pub(super) fn add_case(
        &mut self,
        run: &Run<'_>,
        result: &CaseResult<'_>,
        first: usize,
        in_place: InPlace,
    ) -> Option<usize> {
        let case = run.cases().get(result.pairing.case);
        let actual = result.pairing.run.and_then(|index| run.runs().get(index));
        // The turns are shown whether or not the run can be scored.
        let turns = actual.and_then(|run| run.turns.or(run.before_failure)).unwrap_or_default();
        let is_scored = result.failure.is_none();
        let session = actual.and_then(|run| run.session_id.as_deref());
        let expected_user = case.and_then(|case| case.case.session_input()).map(SessionInput::user_id);
        let user = actual.and_then(|run| run.user_id.as_deref()).or(expected_user.as_deref());
        for id in [case.map(|case| case.eval_id.as_ref()), session, user] {
            let id = id.unwrap_or_default();
            self.columns.ids.push_str(id);
            self.columns.id_lengths.push(utf16_length(id));
        }
        if first == 0 {
            if let Some(failure) = &result.failure {
                self.push_note(-1 - i64::from(to_u32(self.case_count())), &CaseFailure(failure));
            } else {
                self.add_overall_slots(result);
            }
        }
        let mut expected = case.and_then(|case| case.turns).unwrap_or_default().iter().skip(first);
        let mut next = first;
        for turn in turns.iter().skip(first) {
            self.add_span(Some(turn), in_place.actual);
            self.add_span(expected.next(), in_place.expected);
            if is_scored {
                self.add_turn_slots(result, next);
            }
            next += 1;
            if self.is_full() {
                break;
            }
        }
        let is_cut = next < turns.len();
        let numbers = CaseNumbers {
            index: to_u32(result.pairing.case),
            run: result.pairing.run.map_or(0, |run| to_u32(run) + 1),
            status: result.status as u32,
            turns: to_u32(next - first),
            flags: (u32::from(is_scored) * SCORED) | (u32::from(is_cut) * CONTINUED),
        };
        self.columns.cases.extend(numbers.numbers());
        is_cut.then_some(next)
    }

    fn add_span(&mut self, invocation: Option<Invocation<'_>>, in_place: bool) {
        let Some(invocation) = invocation else {
            self.columns.spans.extend([0, 0]);
            return;
        };
        if in_place {
            let (start, end) = invocation.json().span();
            self.columns.spans.extend([start, end]);
        } else {
            self.columns.spans.extend([u32::MAX, u32::MAX]);
            self.columns.texts.push(&to_camel_json(invocation));
        }
    }

    fn add_overall_slots(&mut self, result: &CaseResult<'_>) {
        for Evaluation { score, status, reason, details, error, .. } in &result.metrics {
            self.add_slot(*score, *status as u8, reason.as_deref());
            self.add_note(details.as_deref(), error.as_ref());
        }
    }

    fn add_turn_slots(&mut self, result: &CaseResult<'_>, turn: usize) {
        for metric in &result.metrics {
            match metric.turns.get(turn) {
                Some(found) => {
                    self.add_slot(found.score, found.status as u8, found.reason.as_deref());
                    self.add_note(found.details.as_deref(), None);
                    if let Some(explanation) = found.explanation.as_deref() {
                        self.add_explanation(explanation);
                    }
                }
                None => self.add_slot(None, metric.status as u8, metric.reason.as_deref()),
            }
        }
    }

    fn add_slot(&mut self, score: Option<f64>, status: u8, reason: Option<&str>) {
        self.columns.scores.push(score.unwrap_or(f64::NAN));
        self.columns.statuses.push(status);
        let number = reason.map_or(0, |reason| self.reason_number(reason));
        self.columns.reasons.push(number);
    }

    fn reason_number(&mut self, reason: &str) -> u32 {
        let known = self.reason_numbers.find(reason);
        let number = known.unwrap_or_else(|| {
            self.columns.reason_texts.push(&quoted(reason));
            self.reason_numbers.intern(reason.to_owned().into())
        });
        to_u32(number) + 1
    }

    /// Adds a note to the slot that was added last.
    fn add_note(&mut self, details: Option<&Details>, error: Option<&Error>) {
        if details.is_some() || error.is_some() {
            let slot = i64::from(to_u32(self.columns.scores.len())) - 1;
            self.push_note(slot, &Note { details, error });
        }
    }

    /// Adds an explanation to the slot that was added last.
    fn add_explanation(&mut self, explanation: &Explanation<'_>) {
        let json = to_json(explanation, Spelling::Camel);
        self.columns.explained.extend([to_u32(self.columns.scores.len() - 1), utf16_length(&json)]);
        self.columns.explanations.push_str(&json);
    }

    fn push_note(&mut self, slot: i64, note: &dyn Write) {
        self.columns.notes.push(&format!("[{slot},{}]", to_json(note, Spelling::Camel)));
    }
}

/// Why a case could not be scored: the error, and the reason in its result.
struct CaseFailure<'n>(&'n Error);

impl Write for CaseFailure<'_> {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.entry("error", self.0);
        object.entry("reason", &self.0.to_string());
        object.end();
    }
}

/// The details and the error of a slot.
struct Note<'n> {
    details: Option<&'n Details>,
    error: Option<&'n Error>,
}

impl Write for Note<'_> {
    fn write(&self, out: &mut Writer) {
        let mut object = out.object();
        object.field("details", "details", &self.details);
        object.field("error", "error", &self.error);
        object.end();
    }
}
