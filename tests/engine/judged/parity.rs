//! The six judged metrics beside google-adk, given the same replies: scores, statuses and the
//! score of each rubric, compared exactly. Where a result may differ on purpose, a vector says so.

use crate::support::judging;
use adk_metrics::foundation::json::Document;
use adk_metrics::metrics::judged::Question;
use adk_metrics::metrics::{Details, Dialect, Evaluation, Explain, RubricFinding};
use adk_metrics::model::evalset::ConversationScenario;
use adk_metrics::model::invocation::{Invocation, Turns};
use adk_metrics::model::shape::{List, Type, View, Warnings, check};
use adk_metrics::run::{Options, Plan, PlanOptions, Run};
use serde_json::{Value, json};

const METRICS: [&str; 6] = [
    "final_response_match_v2",
    "rubric_based_final_response_quality_v1",
    "rubric_based_tool_use_quality_v1",
    "rubric_based_multi_turn_trajectory_quality_v1",
    "hallucinations_v1",
    "per_turn_user_simulator_quality_v1",
];

fn vectors(metric: &str) -> Vec<Value> {
    let path = format!("{}/tests/parity/vectors/judged_{metric}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn flag(vector: &Value, name: &str) -> bool {
    vector[name].as_bool().unwrap_or(false)
}

fn checked<'t>(value: &Value, of: &Type) -> Option<Document<'t>> {
    if value.is_null() {
        return None;
    }
    let mut document = Document::parse(value.to_string()).unwrap();
    check(&mut document, of, &Warnings::default()).unwrap();
    Some(document)
}

/// How to run a vector.
#[derive(Clone, Copy, Default)]
struct Manner {
    ask_all: bool,
    backwards: bool,
    quiet: bool,
}

struct Outcome {
    result: Value,
    asked: u32,
}

fn evaluate(vector: &Value, manner: Manner) -> Outcome {
    let warnings = Warnings::default();
    let mut metric = Document::parse(vector["metric"].to_string()).unwrap();
    let Ok(plan) = Plan::from_metric(&mut metric, PlanOptions::default(), &warnings) else {
        return Outcome { result: json!({ "raises": true }), asked: 0 };
    };
    let conversation = &<List<'_, Invocation<'_>>>::TYPE;
    let actual = checked(&vector["actual"], conversation).unwrap();
    let expected = checked(&vector["expected"], conversation);
    let scenario = checked(&vector["scenario"], &ConversationScenario::TYPE);
    let options = Options {
        dialect: Dialect::AdkPython,
        explain: if manner.quiet { Explain::None } else { Explain::All },
        early_stop: !manner.ask_all,
        same_turns: false,
        ..Options::default()
    };
    let turns =
        |document| -> Turns<'_> { List::<Invocation<'_>>::from_json(Document::root(document)).into() };
    let mut run = Run::from_conversation(
        turns(&actual),
        expected.as_ref().map(turns),
        scenario.as_ref().map(|document| View::from_json(document.root())),
        plan,
        options,
    );
    let replies = &vector["replies"];
    let judge = |question: &Question, sample: u32| {
        let purpose = question.purpose.as_str();
        let key = format!("{}/{}/{purpose}/{sample}", question.invocation, question.step);
        let reply = replies.get(&key).unwrap_or_else(|| panic!("no reply {key} in {vector}"));
        reply.as_str().map(str::to_owned)
    };
    let (results, asked) = judging::drive(&mut run, &judge, manner.backwards);
    let [case] = results.as_slice() else { panic!("one case") };
    let [evaluation] = case.metrics.as_slice() else { panic!("one metric, not {case:?}") };
    Outcome { result: as_json(evaluation), asked }
}

fn as_json(evaluation: &Evaluation<'_>) -> Value {
    if evaluation.error.is_some() {
        return json!({ "raises": true });
    }
    let result = |score: Option<f64>, status, details: Option<&Details>, reason: Option<&str>| {
        assert_eq!(score.is_none(), reason.is_some(), "a reason if and only if there is no score");
        json!({ "score": score, "status": status, "rubrics": rubrics(details) })
    };
    let turns: Vec<Value> = evaluation
        .turns
        .iter()
        .map(|turn| result(turn.score, turn.status as u8, turn.details.as_deref(), turn.reason.as_deref()))
        .collect();
    let details = evaluation.details.as_deref();
    let mut whole = result(evaluation.score, evaluation.status as u8, details, evaluation.reason.as_deref());
    whole["turns"] = turns.into();
    whole
}

/// By id, since the reference lists rubrics in the order in which replies name them.
fn rubrics(details: Option<&Details>) -> Value {
    let Some(Details::Rubrics(findings)) = details else { return Value::Null };
    let mut list: Vec<&RubricFinding> = findings.iter().collect();
    list.sort_by(|a, b| a.rubric_id.cmp(&b.rubric_id));
    list.iter().map(|found| json!([found.rubric_id, found.score, found.rationale])).collect()
}

/// The reference's result in the same words.
fn expected(vector: &Value) -> Value {
    if vector["raises"] == json!(true) || vector["result"]["raises"] == json!(true) {
        return json!({ "raises": true });
    }
    let result = &vector["result"];
    let one = |of: &Value, overall: bool| {
        let mut list = of["rubrics"].as_array().cloned().unwrap_or_default();
        list.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
        let words = json!("The share of turns that meet it; each turn says why.");
        let list: Vec<Value> = list
            .iter()
            .map(|rubric| {
                let rationale = if overall { words.clone() } else { rubric["rationale"].clone() };
                json!([rubric["id"], number(&rubric["score"]), rationale])
            })
            .collect();
        let list = if list.is_empty() { Value::Null } else { list.into() };
        json!({ "score": number(&of["score"]), "status": of["status"], "rubrics": list })
    };
    let mut whole = one(result, true);
    whole["turns"] = result["turns"].as_array().unwrap().iter().map(|turn| one(turn, false)).collect();
    whole
}

/// Python writes some scores as whole numbers.
fn number(value: &Value) -> Value {
    value.as_f64().map_or(Value::Null, Value::from)
}

/// google-adk raises where the first event of a turn is by an agent that `app_details` does not describe:
/// it looks for that agent's instructions. Here the prompt has those of the agents that are described.
fn names_an_unknown_agent(vector: &Value) -> bool {
    let is_unknown = |turn: &Value| {
        let author = turn["intermediate_data"]["invocation_events"][0]["author"].as_str();
        let agents = &turn["app_details"]["agent_details"];
        author.is_some_and(|author| agents.is_object() && agents.get(author).is_none())
    };
    vector["metric"]["metric_name"] == "rubric_based_final_response_quality_v1"
        && vector["actual"].as_array().unwrap().iter().any(is_unknown)
}

#[test]
fn each_metric_scores_as_google_adk_does_given_the_same_replies() {
    for metric in METRICS {
        let vectors = vectors(metric);
        let mut compared = 0;
        for (index, vector) in vectors.iter().enumerate() {
            let differs = ["own_rubrics_differ", "repeated_entries", "failed", "structured"];
            if differs.iter().any(|name| flag(vector, name)) {
                continue;
            }
            let found = evaluate(vector, Manner::default()).result;
            if names_an_unknown_agent(vector) {
                assert_eq!(expected(vector), json!({ "raises": true }), "{metric}, line {}", index + 1);
                assert_ne!(found, json!({ "raises": true }), "{metric}, line {}", index + 1);
                continue;
            }
            assert_eq!(found, expected(vector), "{metric}, line {}: {vector}", index + 1);
            compared += 1;
        }
        assert!(compared >= 1000, "{metric}: {compared} of {}", vectors.len());
    }
}

/// How many cases with each flag differ from what was recorded, by metric in the order of [`METRICS`].
/// A flag says that a result may differ, on purpose; each has an entry in docs/differences.md.
const DIFFERING: [(&str, [usize; 6]); 4] = [
    ("own_rubrics_differ", [0, 80, 77, 0, 0, 0]),
    ("repeated_entries", [0, 9, 10, 6, 0, 0]),
    ("failed", [47, 12, 22, 13, 1, 24]),
    ("structured", [9, 8, 8, 7, 9, 5]),
];

#[test]
fn no_more_cases_differ_than_are_known_to() {
    let mut found = DIFFERING.map(|(name, _)| (name, [0; 6]));
    for (metric, name) in METRICS.into_iter().enumerate() {
        for vector in vectors(name) {
            // The first flag that a case has stands for all.
            let counts = found.iter_mut().find(|(flag_name, _)| flag(&vector, flag_name));
            if let Some((_, counts)) = counts
                && !names_an_unknown_agent(&vector)
                && evaluate(&vector, Manner::default()).result != expected(&vector)
            {
                counts[metric] += 1;
            }
        }
    }
    assert_eq!(found, DIFFERING);
}

#[test]
fn early_stopping_changes_no_result() {
    for metric in METRICS {
        let (mut asked, mut of) = (0, 0);
        for (index, vector) in vectors(metric).iter().enumerate() {
            if flag(vector, "failed") {
                continue;
            }
            let all = evaluate(vector, Manner { ask_all: true, ..Manner::default() });
            for backwards in [false, true] {
                let some = evaluate(vector, Manner { backwards, quiet: backwards, ..Manner::default() });
                assert_eq!(some.result, all.result, "{metric}, line {}: {vector}", index + 1);
                assert!(some.asked <= all.asked);
                asked += some.asked;
                of += all.asked;
            }
        }
        assert!(asked < of || metric == "hallucinations_v1", "{metric}: {asked} of {of} calls");
    }
}
