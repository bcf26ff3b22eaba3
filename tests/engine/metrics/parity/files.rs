//! Old files, and what google-adk accepts and refuses.

use super::*;

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
                && matches!(d.kind, DeviationKind::Otherwise(_))
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
                && matches!(&d.kind, DeviationKind::Otherwise(how) if how.contains("session_input"))
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
        covers: |d| matches!(d.kind, DeviationKind::Otherwise(_)) && d.name.contains("null reference"),
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
            matches!(&d.kind, DeviationKind::Accepted { recorded }
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
fn google_adks_rejections_are_reproduced_except_for_listed_leniencies() {
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
