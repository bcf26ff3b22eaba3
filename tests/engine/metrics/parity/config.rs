//! Configs and statuses.

use super::*;

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
