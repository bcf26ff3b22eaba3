//! `tests/vectors/proposed.json`: scores worked out from the rules of the metrics rather than
//! recorded, one table for this test and for `tests/package/proposed.test.mjs`.

use crate::support::{replay, vectors};
use adk_metrics::foundation::json::{Document, Json};
use adk_metrics::metrics::{Dialect, Evaluation};
use replay::Replayer;
use vectors::{Differences, at, text};

#[test]
fn scores_are_those_that_the_rules_give() {
    let document = Document::parse(vectors::file("vectors/proposed.json")).unwrap();
    let mut wrong = Vec::new();
    let mut replayed = 0;
    for dialect in [Dialect::AdkPython, Dialect::AdkTs] {
        let mut replayer = Replayer::new(dialect);
        for case in at(document.root(), "cases").items().filter(|case| holds_for(dialect, *case)) {
            let found = replayer.evaluate(at(case, "metric"), at(case, "actual"), at(case, "expected"));
            let differences = match found {
                Ok(found) => differences(at(case, "result"), &found),
                Err(error) => Some(format!("; {error:?}")),
            };
            wrong.extend(
                differences.map(|differences| format!("{} ({dialect:?}){differences}", text(case, "name"))),
            );
            replayed += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(replayed > 150, "only {replayed} cases");
}

/// A case without dialects holds for google-adk's alone.
fn holds_for(dialect: Dialect, case: Json<'_>) -> bool {
    let name = match dialect {
        Dialect::AdkPython => "adk-python",
        Dialect::AdkTs => "adk-ts",
    };
    match case.get("dialects") {
        Some(dialects) => dialects.items().any(|one| one.as_str().as_deref() == Some(name)),
        None => dialect == Dialect::AdkPython,
    }
}

fn differences(wanted: Json<'_>, found: &Evaluation<'_>) -> Option<String> {
    let mut all = Differences::default();
    all.number("score", wanted.get("overallScore"), found.score);
    all.number("status", wanted.get("overallEvalStatus"), Some(f64::from(found.status as u8)));
    let turns: Vec<_> = at(wanted, "perInvocationResults").items().collect();
    assert_eq!(turns.len(), found.turns.len(), "number of turns");
    for (index, (wanted, found)) in turns.into_iter().zip(&found.turns).enumerate() {
        all.number(&format!("turn {index} score"), wanted.get("score"), found.score);
        all.number(
            &format!("turn {index} status"),
            wanted.get("evalStatus"),
            Some(f64::from(found.status as u8)),
        );
    }
    all.into_words()
}
