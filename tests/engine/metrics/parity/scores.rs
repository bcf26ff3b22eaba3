//! Scores.

use super::*;

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
    let found = if let Some(Details::TokenUsage(tokens)) = found { *tokens } else { TokensByKind::default() };
    for (key, value) in [
        ("total_tokens", found.total_tokens),
        ("input_tokens", found.input_tokens),
        ("prompt_tokens", found.prompt_tokens),
        ("cached_tokens", found.cached_tokens),
        ("tool_use_tokens", found.tool_use_tokens),
        ("output_tokens", found.output_tokens),
        ("candidates_tokens", found.candidates_tokens),
        ("reasoning_tokens", found.reasoning_tokens),
    ] {
        all.number(&format!("{what} {key}"), recorded.and_then(|json| json.get(key)), value);
    }
}

fn compare_durations(what: &str, recorded: Option<Json<'_>>, found: Option<&Details>, all: &mut Differences) {
    let found =
        if let Some(Details::Duration(seconds)) = found { *seconds } else { SecondsByKind::default() };
    for (key, value) in [
        ("total_seconds", found.total_seconds),
        ("model_seconds", found.model_seconds),
        ("tool_seconds", found.tool_seconds),
        ("framework_seconds", found.framework_seconds),
    ] {
        all.number(&format!("{what} {key}"), recorded.and_then(|json| json.get(key)), value);
    }
}
