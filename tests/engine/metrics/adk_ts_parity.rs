//! `@iqai/adk` 0.5.9's recorded answers, replayed in its dialect: `TrajectoryEvaluator` and
//! `RougeEvaluator`. Cases called `malformed/…` have inputs outside that package's own types and
//! are left out.

use crate::support::{deviations, replay, vectors};
use adk_metrics::foundation::error::ErrorCode;
use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::metrics::{Dialect, Evaluation};
use deviations::{Class, Deviation, DeviationKind, assert_classified, deviation};
use replay::Replayer;
use vectors::{Differences, at, text};

fn parse(file: &str) -> Document<'static> {
    Document::parse(vectors::file(&format!("adk-ts/{file}.json"))).unwrap()
}

fn cases<'a>(document: &'a Document<'_>) -> impl Iterator<Item = Json<'a>> {
    at(document.root(), "cases").items().filter(|case| !text(*case, "name").starts_with("malformed/"))
}

#[test]
fn scores_are_those_of_adk_ts() {
    let document = parse("vectors");
    let mut replayer = Replayer::new(Dialect::AdkTs);
    let deviations = cases(&document)
        .filter_map(|case| replay_case(&mut replayer, case, at(case, "actual"), at(case, "expected")));
    assert_classified(
        deviations.collect(),
        &[
            Class {
                reason: "a threshold is needed; without one ADK-TS fails every score",
                cases: 60,
                covers: |d| d.refusal().is_some_and(|error| error.code == ErrorCode::ThresholdRequired),
            },
            Class {
                reason: "`criterion.threshold` counts, which ADK-TS does not read: statuses, never scores",
                cases: 18,
                covers: |d| {
                    d.name.contains("criterion.threshold")
                        && matches!(&d.kind, DeviationKind::Otherwise(how) if !how.to_lowercase().contains("score:"))
                },
            },
        ],
    );
}

/// Their inputs are texts, for what only text can express.
#[test]
fn scores_of_raw_json_are_those_of_adk_ts() {
    let document = parse("vectors-text");
    let mut replayer = Replayer::new(Dialect::AdkTs);
    let deviations = cases(&document).filter_map(|case| {
        let sides = [text(case, "actualText"), text(case, "expectedText")].map(Document::parse);
        match sides {
            [Ok(actual), Ok(expected)] => replay_case(&mut replayer, case, actual.root(), expected.root()),
            [Err(error), _] | [_, Err(error)] => {
                deviation(text(case, "name"), recorded_error(case), Err::<(), _>(error), |()| None)
            }
        }
    });
    assert_classified(
        deviations.collect(),
        &[
            Class {
                reason: "a repeated key is an error; JavaScript takes the last",
                cases: 4,
                covers: |d| d.refusal().is_some_and(|error| error.message.contains("given twice")),
            },
            Class {
                reason: "half of a surrogate pair is an error",
                cases: 6,
                covers: |d| d.refusal().is_some_and(|error| error.message.contains("surrogate")),
            },
        ],
    );
}

fn recorded_error(case: Json<'_>) -> Option<String> {
    at(case, "result").get("error").map(|error| error.as_str().unwrap().into_owned())
}

fn replay_case(
    replayer: &mut Replayer,
    case: Json<'_>,
    actual: Json<'_>,
    expected: Json<'_>,
) -> Option<Deviation> {
    let found = replayer.evaluate(at(case, "metric"), actual, expected);
    deviation(text(case, "name"), recorded_error(case), found, |found| {
        differences(at(case, "result"), &found)
    })
}

fn differences(recorded: Json<'_>, found: &Evaluation<'_>) -> Option<String> {
    let mut all = Differences::default();
    all.number("overallScore", recorded.get("overallScore"), found.score);
    all.number("overallEvalStatus", recorded.get("overallEvalStatus"), Some(found.status as u8 as f64));
    let turns: Vec<_> = at(recorded, "perInvocationResults").items().collect();
    assert_eq!(turns.len(), found.turns.len(), "number of turns");
    for (index, (recorded, found)) in turns.into_iter().zip(&found.turns).enumerate() {
        all.number(&format!("turn {index} score"), recorded.get("score"), found.score);
        all.number(
            &format!("turn {index} status"),
            recorded.get("evalStatus"),
            Some(found.status as u8 as f64),
        );
    }
    all.into_words()
}
