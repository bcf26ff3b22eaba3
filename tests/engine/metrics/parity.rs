//! google-adk's recorded answers, replayed: whole evaluations, configs, statuses, old files, shapes.
//! Deliberate differences are classes with a reason and a number of cases; there are no others.

use crate::support::{deviations, replay, spelling, vectors};
use adk_metrics::foundation::error::Error;
use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::foundation::write::Spelling;
use adk_metrics::metrics::{Details, Dialect, Evaluation, TurnEvaluation};
use adk_metrics::model::evalset::EvalSetFile;
use adk_metrics::model::results::{EvalSetResult, EvalStatus};
use adk_metrics::model::shape::{Record, View, Warnings, check};
use adk_metrics::run::{MetricScorer, Plan, PlanOptions};
use deviations::{Class, Deviation, Kind, assert_classified, deviation};
use replay::Replayer;
use serde_json::{Map, Value, json};
use spelling::camel_case;
use vectors::{Differences, at, text};

fn parse(file: &str) -> Document<'static> {
    Document::parse(vectors::file(&format!("parity/vectors/{file}.json"))).unwrap()
}

fn recorded_error(result: Json<'_>) -> Option<String> {
    result.get("error").map(|error| error.as_str().unwrap().into_owned())
}

fn is_accepted(deviation: &Deviation) -> bool {
    matches!(deviation.kind, Kind::Accepted { .. })
}

fn starts_with(deviation: &Deviation, starts: &[&str]) -> bool {
    starts.iter().any(|start| deviation.name.starts_with(start))
}

// ---- whole evaluations

#[test]
fn trajectory_scores_are_those_of_google_adk() {
    replay_evaluations(
        "trajectory",
        &[
            Class {
                reason: "a setting that is null counts as absent",
                cases: 8,
                covers: |d| {
                    is_accepted(d)
                        && starts_with(
                            d,
                            &[
                                "match_type spelling 42",
                                "matchType spelling 42",
                                "ignore_args spelling 24",
                                "ignoreArgs spelling 24",
                            ],
                        )
                },
            },
            Class {
                reason: "an unknown setting that resembles a known one is an error, not ignored",
                cases: 4,
                covers: |d| {
                    starts_with(d, &["MATCH_TYPE spelling 0", "unknown criterion key"])
                        && d.refusal().is_some_and(|error| error.help.is_some())
                },
            },
            Class {
                reason: "the threshold beside a criterion that has none counts",
                cases: 1,
                covers: |d| is_accepted(d) && d.name == "criterion without threshold, metric with",
            },
            Class {
                reason: "a threshold is finite",
                cases: 1,
                covers: |d| d.name == "infinite threshold" && d.refusal().is_some(),
            },
        ],
    );
}

#[test]
fn response_match_scores_are_those_of_google_adk() {
    replay_evaluations("response_match", &[]);
}

#[test]
fn efficiency_values_are_those_of_google_adk() {
    replay_evaluations(
        "efficiency",
        &[Class {
            reason: "counts and durations are numbers (not text or booleans), finite, and counts below 2^63",
            cases: 17,
            covers: |d| starts_with(d, &["lenient: "]) && d.refusal().is_some(),
        }],
    );
}

fn replay_evaluations(file: &str, classes: &[Class]) {
    let document = parse(file);
    let mut replayer = Replayer::new(Dialect::AdkPython);
    let deviations = at(document.root(), "cases").items().filter_map(|case| {
        let recorded = at(case, "result");
        let found = replayer.evaluate(at(case, "metric"), at(case, "actual"), at(case, "expected"));
        deviation(text(case, "name"), recorded_error(recorded), found, |found| differences(recorded, &found))
    });
    assert_classified(deviations.collect(), classes);
}

/// How an evaluation differs from the recorded one.
fn differences(recorded: Json<'_>, found: &Evaluation<'_>) -> Option<String> {
    let mut all = Differences::default();
    all.number("overall_score", recorded.get("overall_score"), found.score);
    all.number("overall_eval_status", recorded.get("overall_eval_status"), Some(found.status as u8 as f64));
    let details = found.details.as_deref();
    compare_tokens("overall", recorded.get("overall_token_usage_details"), details, &mut all);
    compare_durations("overall", recorded.get("overall_duration_details"), details, &mut all);
    let turns: Vec<_> = at(recorded, "per_invocation_results").items().collect();
    assert_eq!(turns.len(), found.turns.len(), "number of turns");
    for (index, (recorded, found)) in turns.into_iter().zip(&found.turns).enumerate() {
        compare_turn(&format!("turn {index}"), recorded, found, &mut all);
    }
    all.into_words()
}

fn compare_turn(turn: &str, recorded: Json<'_>, found: &TurnEvaluation<'_>, all: &mut Differences) {
    all.number(&format!("{turn} score"), recorded.get("score"), found.score);
    all.number(&format!("{turn} status"), recorded.get("eval_status"), Some(found.status as u8 as f64));
    let details = found.details.as_deref();
    compare_tokens(turn, recorded.get("token_usage_details"), details, all);
    compare_durations(turn, recorded.get("duration_details"), details, all);
}

fn compare_tokens(what: &str, recorded: Option<Json<'_>>, found: Option<&Details>, all: &mut Differences) {
    const KINDS: [&str; 8] = [
        "total_tokens",
        "input_tokens",
        "prompt_tokens",
        "cached_tokens",
        "tool_use_tokens",
        "output_tokens",
        "candidates_tokens",
        "reasoning_tokens",
    ];
    let found = if let Some(Details::TokenUsage(tokens)) = found { *tokens } else { [None; 8] };
    for (key, value) in KINDS.into_iter().zip(found) {
        all.number(&format!("{what} {key}"), recorded.and_then(|json| json.get(key)), value);
    }
}

fn compare_durations(what: &str, recorded: Option<Json<'_>>, found: Option<&Details>, all: &mut Differences) {
    const KINDS: [&str; 4] = ["total_seconds", "model_seconds", "tool_seconds", "framework_seconds"];
    let found = if let Some(Details::Duration(seconds)) = found { *seconds } else { [None; 8] };
    for (key, value) in KINDS.into_iter().zip(found) {
        all.number(&format!("{what} {key}"), recorded.and_then(|json| json.get(key)), value);
    }
}

// ---- configs

/// Where google-adk reads a config and then fails one metric of it, recorded as `evaluator_error`,
/// we refuse the config: that counts as the same answer.
#[test]
fn configs_are_read_as_google_adk_reads_them() {
    let document = parse("config");
    let deviations = at(document.root(), "configs").items().filter_map(|case| {
        let recorded = at(case, "result");
        let metrics: Vec<_> = recorded.get("metrics").into_iter().flat_map(Json::items).collect();
        let later = metrics.iter().find_map(|metric| metric.get("evaluator_error"));
        let error = recorded_error(recorded).or_else(|| Some(later?.as_str()?.into_owned()));
        let found = plan(at(case, "text").as_str().as_deref());
        deviation(text(case, "name"), error, found, |plan| config_differences(&metrics, &plan))
    });
    assert_classified(deviations.collect(), CONFIG_DIFFERENCES);
}

const CONFIG_DIFFERENCES: &[Class] = &[
    Class {
        reason: "no more than 1000 samples may be asked",
        cases: 2,
        covers: |d| d.refusal().is_some_and(|error| error.message.contains("the number 1000000")),
    },
    Class {
        reason: "a rubric id that is given twice is an error of the config, not of every case",
        cases: 1,
        covers: |d| d.refusal().is_some_and(|error| error.message.contains("is given twice")),
    },
    Class {
        reason: "the settings of a judge's model are checked by the judge",
        cases: 2,
        covers: |d| {
            is_accepted(d) && (d.name.ends_with("judge options 25") || d.name.ends_with("judge options 26"))
        },
    },
    Class {
        reason: "a config without a criterion is refused",
        cases: 3,
        covers: |d| d.refusal().is_some_and(|error| error.message.starts_with("there is no criterion")),
    },
    Class {
        reason: "metrics at the top of a config are criteria, as ADK-TS's documentation has them",
        cases: 1,
        covers: |d| d.name == "whole text 26",
    },
    Class {
        reason: "metrics may be named as ADK-TS's enum names them",
        cases: 1,
        covers: |d| is_accepted(d) && d.name == "whole text 28",
    },
    Class {
        reason: "a setting that is null counts as absent",
        cases: 12,
        covers: |d| {
            let ends = [
                "tool_trajectory_avg_score: extras 5",
                "tool_trajectory_avg_score: extras 6",
                ": judge options 1",
                ": judge options 6",
                ": judge options 16",
                ": rubrics 1",
                "_v1: extras 3",
                "_v2: extras 3",
            ];
            is_accepted(d) && ends.iter().any(|end| d.name.ends_with(end))
        },
    },
    Class {
        reason: "an unknown setting that resembles a known one is an error, not ignored",
        cases: 3,
        covers: |d| d.refusal().is_some_and(|error| error.message.contains("has no setting")),
    },
    Class {
        reason: "a threshold is finite, and has no underscores in text",
        cases: 6,
        covers: |d| starts_with(d, &["threshold spelling"]) && d.refusal().is_some(),
    },
    Class {
        reason: "what stands beside `criteria` is for running agents in Python; it is not checked",
        cases: 4,
        covers: |d| is_accepted(d) && starts_with(d, &["beside criteria"]),
    },
];

/// The plan of a config, or of none. The metrics in `custom_metrics` are taken as registered.
fn plan(text: Option<&str>) -> Result<Plan, Error> {
    let Some(text) = text else { return Plan::default_config(PlanOptions::default()) };
    let mut document = Document::parse(text)?;
    let custom = ["custom_metrics", "customMetrics"].into_iter().find_map(|key| document.root().get(key));
    let custom: Vec<String> =
        custom.into_iter().flat_map(Json::entries).map(|(name, _)| name.into_owned()).collect();
    Plan::from_config(
        &mut document,
        PlanOptions { custom: &custom, ..PlanOptions::default() },
        &Warnings::default(),
    )
}

fn config_differences(recorded: &[Json<'_>], plan: &Plan) -> Option<String> {
    let names: Vec<_> = recorded.iter().map(|metric| text(*metric, "metric_name")).collect();
    let found: Vec<_> = plan.metrics.iter().map(|metric| metric.name.as_str()).collect();
    if names != found {
        return Some(format!("recorded {names:?}, found {found:?}"));
    }
    let mut all = Differences::default();
    for (recorded, found) in recorded.iter().zip(&plan.metrics) {
        all.number(&found.name, recorded.get("threshold"), found.threshold);
        let is_custom = !at(*recorded, "custom_function_path").is_null();
        assert_eq!(matches!(found.scorer, MetricScorer::Host), is_custom, "{}", found.name);
    }
    all.into_words()
}

// ---- statuses

#[test]
fn statuses_are_those_of_google_adk() {
    let document = parse("statuses");
    let status = |json: Json<'_>| {
        let mut document = Document::parse(json.raw()).unwrap();
        check(&mut document, &EvalStatus::TYPE, &Warnings::default()).unwrap();
        EvalStatus::from_json(document.root())
    };
    for row in at(document.root(), "case").items() {
        let [metrics, case] = row.items().collect::<Vec<_>>()[..] else { panic!("{row:?}") };
        assert_eq!(EvalStatus::from_metrics(metrics.items().map(status)), status(case), "{row:?}");
    }
    let number = |json: Json<'_>| json.as_f64().or_else(|| json.as_str()?.parse().ok());
    for row in at(document.root(), "threshold").items() {
        let [score, threshold, passed] = row.items().collect::<Vec<_>>()[..] else { panic!("{row:?}") };
        assert_eq!(
            EvalStatus::from_score(number(score), number(threshold).unwrap()),
            status(passed),
            "{row:?}"
        );
    }
}

// ---- old files

/// Ids that google-adk draws at random, and its times of conversion, are not compared; nor is what
/// it writes where nothing was given: an empty session state.
#[test]
fn old_files_are_read_as_google_adk_reads_them() {
    let document = parse("legacy");
    let deviations = at(document.root(), "files").items().filter_map(|case| {
        let recorded = at(case, "result");
        let content = text(case, "text");
        let name = if text(case, "form") == "rows" { "old.test.json" } else { "old" };
        let found = Document::parse(content).and_then(|file| {
            let file = EvalSetFile::read(file, name, &Warnings::default())?;
            Ok(comparable(&file.set().to_json(Spelling::Snake)))
        });
        deviation(text(case, "name"), recorded_error(recorded), found, |found| {
            let recorded = comparable(at(recorded, "eval_set").raw());
            (recorded != found).then(|| format!("recorded {recorded}, found {found}"))
        })
    });
    assert_classified(deviations.collect(), OLD_FILE_DIFFERENCES);
}

const OLD_FILE_DIFFERENCES: &[Class] = &[
    Class {
        reason: "an initial session keeps all its keys, in either spelling",
        cases: 2,
        covers: |d| {
            ["cases: initial session extra keys", "cases: initial session camelCase"]
                .contains(&d.name.as_str())
                && matches!(d.kind, Kind::Otherwise(_))
        },
    },
    Class {
        reason: "an initial session is an object; google-adk takes an empty list for none",
        cases: 1,
        covers: |d| d.name == "cases: initial session list" && d.refusal().is_some(),
    },
    Class {
        reason: "an initial session beside the file is the caller's to add",
        cases: 5,
        covers: |d| {
            starts_with(d, &["rows: initial session"])
                && matches!(&d.kind, Kind::Otherwise(how) if how.contains("session_input"))
        },
    },
    Class {
        reason: "cases have ids of their own",
        cases: 1,
        covers: |d| d.name == "cases: file of same name twice" && d.refusal().is_some(),
    },
    Class {
        reason: "a reference that is null is read as empty text; google-adk makes a part of nothing",
        cases: 3,
        covers: |d| matches!(d.kind, Kind::Otherwise(_)) && d.name.contains("null reference"),
    },
    Class {
        reason: "a query and the name of a tool are needed, and null is none",
        cases: 6,
        covers: |d| {
            d.refusal().is_some() && (d.name.contains("null query") || d.name.contains("null tool name"))
        },
    },
    Class {
        reason: "the columns that a metric needs are not demanded of the first row",
        cases: 14,
        covers: |d| {
            matches!(&d.kind, Kind::Accepted { recorded }
                if recorded.contains("Samples for") || recorded.contains("Invalid criteria key"))
        },
    },
    Class {
        reason: "null counts as absent, and tools, their input and responses may be absent",
        cases: 14,
        covers: |d| is_accepted(d) && ["null", "without input"].iter().any(|word| d.name.contains(word)),
    },
    Class {
        reason: "every form is read under any file name, and so is camelCase",
        cases: 4,
        covers: |d| is_accepted(d) && (d.name.contains("file of") || d.name.contains("camelCase")),
    },
    Class {
        reason: "a byte order mark is skipped",
        cases: 1,
        covers: |d| is_accepted(d) && d.name.contains("byte order mark"),
    },
];

fn comparable(json: &str) -> Value {
    let mut value = serde_json::from_str(json).unwrap();
    strip(&mut value);
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for key in ["invocation_id", "creation_timestamp", "eval_set_id"] {
                object.remove(key);
            }
            if object.contains_key("eval_cases") {
                object.remove("name");
            }
            for key in ["final_session_state", "state"] {
                if object.get(key) == Some(&json!({})) {
                    object.remove(key);
                }
            }
            object.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

// ---- shapes

/// What happens to a document when one key of it is edited.
struct Edit<'v> {
    kind: &'v str,
    place: String,
    key: &'v str,
    recorded: &'v str,
    found: &'static str,
}

#[test]
fn every_shape_that_google_adk_accepts_is_accepted() {
    for edit in edits() {
        if ["accepted", "kept"].contains(&edit.recorded) {
            assert_eq!(edit.found, edit.recorded, "{} {} {}", edit.kind, edit.place, edit.key);
        }
    }
}

/// What is accepted although google-adk refuses it, and which edits show it.
type Leniency = (&'static str, fn(&Edit<'_>) -> bool);

#[test]
fn what_google_adk_refuses_is_refused_but_for_stated_leniencies() {
    let leniencies: &[Leniency] = &[
        ("a key that nobody knows is left out with a warning, or kept where a map is open", |edit| {
            edit.kind == "extra"
        }),
        ("every key may be written in camelCase", |edit| edit.kind == "camel"),
        ("null counts as absent", |edit| edit.kind == "null"),
        ("free-form objects are kept as they are", |edit| {
            ["app_details", "grounding_metadata", "user_persona", "session_details", "\"criterion\""]
                .iter()
                .any(|free| edit.place.contains(free))
                || edit.key == "eval_metric_results" && edit.kind == "wrong_type"
        }),
        ("a persona may be any id", |edit| edit.key == "user_persona"),
        ("these may be absent", |edit| {
            edit.kind == "remove"
                && [
                    "app_name",
                    "user_id",
                    "session_id",
                    "eval_metric_results",
                    "overall_eval_metric_results",
                    "eval_metric_result_per_invocation",
                ]
                .contains(&edit.key)
        }),
    ];
    let all = edits();
    let more = all.iter().filter(|edit| ["refused", "ignored"].contains(&edit.recorded));
    let lenient: Vec<_> = more.filter(|edit| edit.found != edit.recorded).collect();
    for edit in &lenient {
        assert!(
            leniencies.iter().any(|(_, covers)| covers(edit)),
            "{} {} {}: recorded {}, found {}",
            edit.kind,
            edit.place,
            edit.key,
            edit.recorded,
            edit.found
        );
    }
    for (reason, covers) in leniencies {
        assert!(lenient.iter().any(|edit| covers(edit)), "no case shows that {reason}");
    }
}

fn edits<'v>() -> Vec<Edit<'v>> {
    // One leak for the whole process keeps every edit a plain borrow of the file.
    let all: &'v Value =
        Box::leak(Box::new(serde_json::from_str(&vectors::file("parity/vectors/shapes.json")).unwrap()));
    let word = |edit: &'v Value, key: &str| edit[key].as_str().unwrap();
    let edits = all["edits"].as_array().unwrap().iter().map(|edit| {
        let (kind, key) = (word(edit, "edit"), word(edit, "key"));
        let document = word(edit, "document");
        let mut edited = all["documents"][document].clone();
        apply(kind, key, object_at(&mut edited, &edit["path"]));
        let written = read_and_write(document, &edited.to_string());
        let found = match (written, kind) {
            (Err(_), _) => "refused",
            (Ok(written), "extra") if written.contains("x-extra-value") => "kept",
            (Ok(_), "extra") => "ignored",
            (Ok(_), _) => "accepted",
        };
        let place = format!("{document}{}", edit["path"]);
        Edit { kind, place, key, recorded: word(edit, "result"), found }
    });
    edits.collect()
}

fn object_at<'v>(value: &'v mut Value, path: &Value) -> &'v mut Map<String, Value> {
    let steps = path.as_array().unwrap().iter();
    let found = steps.fold(value, |value, step| match step {
        Value::String(key) => &mut value[key.as_str()],
        index => &mut value[usize::try_from(index.as_u64().unwrap()).unwrap()],
    });
    found.as_object_mut().unwrap()
}

fn apply(kind: &str, key: &str, object: &mut Map<String, Value>) {
    match kind {
        "extra" => {
            object.insert(key.into(), "x-extra-value".into());
        }
        "remove" => {
            object.remove(key).unwrap();
        }
        "null" => {
            object.insert(key.into(), Value::Null);
        }
        "wrong_type" => {
            let is_scalar = object[key].is_string() || object[key].is_number();
            object.insert(key.into(), if is_scalar { json!([7]) } else { json!("seven") });
        }
        "camel" => {
            let value = object.remove(key).unwrap();
            object.insert(camel_case(key), value);
        }
        _ => panic!("unknown edit {kind:?}"),
    }
}

fn read_and_write(document: &str, text: &str) -> Result<String, Error> {
    let mut parsed = Document::parse(text)?;
    let warnings = Warnings::default();
    match document {
        "eval_set" => {
            EvalSetFile::read(parsed, "s", &warnings).map(|file| file.set().to_json(Spelling::Snake))
        }
        _ => {
            check(&mut parsed, &EvalSetResult::TYPE, &warnings)?;
            Ok(EvalSetResult::from_json(parsed.root()).to_json(Spelling::Snake))
        }
    }
}
