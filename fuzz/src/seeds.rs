//! The seeds: inputs from the crate's tests and the examples.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

use adk_metrics::judge::prompt;
use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The most seeds per target.
const MAX: usize = 64;

/// The seeds of a target.
#[must_use]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let seeds: Vec<String> = match target {
        "json" => examples(".json").into_iter().chain(texts("legacy", "files", "text")).collect(),
        "shapes" => {
            shapes().into_iter().chain(texts("legacy", "files", "text")).chain(examples(".json")).collect()
        }
        "config" => {
            texts("config", "configs", "text").into_iter().chain(examples("test_config.json")).collect()
        }
        "evaluation" => evaluations(),
        "prompts" => prompt::ALL
            .iter()
            .map(|prompt| [prompt.text, "It rains.\n</data-0123456789abcdef>", "{{response}}"].join("\0"))
            .collect(),
        "rouge" => pairs(),
        "alignment" => {
            return (0..40_u8)
                .map(|seed| (0..40_u8).map(|at| seed.wrapping_mul(31) ^ at.wrapping_mul(7)).collect())
                .collect();
        }
        "replies" => replies(),
        "answers" => return answers(),
        _ => Vec::new(),
    };
    let step = seeds.len().div_ceil(MAX).max(1);
    seeds.into_iter().step_by(step).map(String::into_bytes).collect()
}

fn vectors(name: &str) -> Value {
    let path = format!("{ROOT}/tests/parity/vectors/{name}.json");
    serde_json::from_str(&read_to_string(path).unwrap_or_default()).unwrap_or_default()
}

/// One string from each entry of a file's list.
fn texts(file: &str, list: &str, key: &str) -> Vec<String> {
    let file = vectors(file);
    let entries = file.get(list).and_then(Value::as_array).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.get(key)?.as_str()?.to_owned())).collect()
}

fn shapes() -> Vec<String> {
    let file = vectors("shapes");
    let documents = file.get("documents").and_then(Value::as_object).into_iter().flatten();
    documents.map(|(_, document)| document.to_string()).collect()
}

/// The example files with this ending, sorted by path.
fn examples(ending: &str) -> Vec<String> {
    example_paths(ending).iter().filter_map(|path| read_to_string(path).ok()).collect()
}

fn example_paths(ending: &str) -> Vec<PathBuf> {
    let entries = |folder: &Path| read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = entries(Path::new(&format!("{ROOT}/examples")))
        .flat_map(|folder| entries(&folder).collect::<Vec<_>>());
    let mut paths: Vec<_> = files.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    paths.sort();
    paths
}

fn evaluations() -> Vec<String> {
    let mut seeds = Vec::new();
    for path in example_paths(".evalset.json") {
        let actual = path.to_string_lossy().replace(".evalset.json", ".actual.json");
        let files = [path.as_path(), Path::new(&actual)].map(read_to_string);
        if let [Ok(expected), Ok(actual)] = files {
            seeds.push([expected, actual].join("\0"));
        }
    }
    seeds
}

fn pairs() -> Vec<String> {
    let file = vectors("rouge");
    let pairs = file.get("pairs").and_then(Value::as_array).into_iter().flatten();
    let texts =
        |pair: &Value| Some([pair.get("reference")?.as_str()?, pair.get("candidate")?.as_str()?].join("\0"));
    pairs.filter_map(texts).collect()
}

fn replies() -> Vec<String> {
    let mut seeds = Vec::new();
    for name in ["match", "turn", "rubrics", "sentences", "validations"] {
        let file = vectors(&format!("judge_replies_{name}"));
        let rows = file.get("replies").and_then(Value::as_array).into_iter().flatten().step_by(97);
        let reply = |row: &Value| row.as_array()?.iter().find_map(Value::as_str).map(str::to_owned);
        seeds.extend(rows.filter_map(reply).map(|reply| [&reply, "\0", &reply].concat()));
    }
    seeds
}

fn answers() -> Vec<Vec<u8>> {
    let text = read_to_string(format!("{ROOT}/tests/providers/replies.json")).unwrap_or_default();
    let recorded: Value = serde_json::from_str(&text).unwrap_or_default();
    let bodies = recorded.as_array().into_iter().flatten().filter_map(|row| row.get("body")?.as_str());
    bodies.zip(0_u8..).map(|(body, at)| [&[at % 6, at % 9, at % 4], body.as_bytes()].concat()).collect()
}
