//! Configs.

use super::*;

// ---- configs

/// The names and thresholds of a config's metrics but the efficiency ones, or what is wrong with it.
fn config(text: &str) -> (Result<Vec<(String, f64)>>, Vec<String>) {
    let warnings = Warnings::default();
    let plan = Plan::from_config(
        &mut parse(text),
        PlanOptions { custom: &["mine".into()], ..PlanOptions::default() },
        &warnings,
    );
    let metrics = plan.map(|plan| {
        let own = plan.metrics.into_iter().filter_map(|metric| Some((metric.name, metric.threshold?)));
        own.collect()
    });
    (metrics, warnings.into_vec().iter().map(ToString::to_string).collect())
}

fn config_error(text: &str) -> String {
    config(text).0.unwrap_err().to_string()
}

#[test]
fn thresholds_come_bare_or_in_a_criterion_in_either_spelling() {
    let found = |threshold: f64| Ok(vec![("tool_trajectory_avg_score".to_owned(), threshold)]);
    for (value, threshold) in [
        ("0.5", 0.5),
        ("\" 0.5 \"", 0.5),
        ("true", 1.0),
        (r#"{"threshold": 0.5}"#, 0.5),
        (r#"{"threshold": "0.5", "match_type": "in-order", "ignore_args": true}"#, 0.5),
        (r#"{"threshold": 0, "matchType": 2, "ignoreArgs": "off"}"#, 0.0),
    ] {
        for name in ["tool_trajectory_avg_score", "TOOL_TRAJECTORY_AVG_SCORE"] {
            let text = format!(r#"{{"criteria": {{"{name}": {value}}}}}"#);
            assert_eq!(config(&text), (found(threshold), vec![]), "{text}");
        }
    }
}

#[test]
fn other_parts_of_a_config_are_accepted() {
    let text = r#"{"$schema": "x", "criteria": {"mine": 0.5}, "custom_metrics": {"mine": {"code_config": {"name": "f"}}},
        "userSimulatorConfig": {"model": "m"}, "live_model_config": null}"#;
    let (metrics, warnings) = config(text);
    assert_eq!(metrics, Ok(vec![("mine".to_owned(), 0.5)]));
    assert!(warnings.is_empty(), "{warnings:?}");
}

const NO_CRITERION: &str = "there is no criterion, so nothing could pass or fail (at $, line 1). \
    A config looks like {\"criteria\": {\"tool_trajectory_avg_score\": 1.0, \"response_match_score\": 0.8}}: \
    metrics by name, each with its threshold";

#[test]
fn a_config_without_a_criterion_is_refused() {
    for text in [
        "{}",
        r#"{"criteria": {}}"#,
        r#"{"criteria": null}"#,
        r#"{"metrics": {"response_match_score": 1}}"#,
        r#"{"user_simulator_config": {"model": "m"}}"#,
    ] {
        assert_eq!(config_error(text), NO_CRITERION, "{text}");
    }
    let mut counted = parse(r#"{"criteria": {}}"#);
    let plan_options = PlanOptions { count_only: true, ..PlanOptions::default() };
    assert!(Plan::from_config(&mut counted, plan_options, &Warnings::default()).is_ok());
}

#[test]
fn metrics_at_the_top_of_a_config_are_criteria() {
    let (metrics, warnings) = config(
        r#"{"TOOL_TRAJECTORY_AVG_SCORE": 1, "response_match_score": {"threshold": 0.5}, "mine": "0.25",
            "user_simulator_config": {}, "team": "x"}"#,
    );
    let found = |name: &str, threshold: f64| (name.to_owned(), threshold);
    assert_eq!(
        metrics,
        Ok(vec![
            found("tool_trajectory_avg_score", 1.0),
            found("response_match_score", 0.5),
            found("mine", 0.25)
        ])
    );
    assert_eq!(warnings, ["`team` is not a key of an eval config and is left out (at team, line 2)"]);
    assert_eq!(
        config_error(r#"{"response_match_scor": 1}"#),
        "there is no metric `response_match_scor` (at response_match_scor, line 1). \
         Did you mean `response_match_score`?"
    );
}

#[test]
fn a_metric_outside_of_criteria_is_rejected() {
    assert_eq!(
        config_error(r#"{"criteria": {"mine": 1}, "safety_v1": 1}"#),
        "the metric `safety_v1` is next to `criteria`, where no metric is read (at safety_v1, line 1). \
         Put it inside `criteria`"
    );
}

#[test]
fn a_misspelt_key_of_a_config_is_an_error() {
    for (text, message) in [
        (
            r#"{"criterion": {"mine": 1}}"#,
            "`criterion` is not a key of an eval config (at criterion, line 1). Did you mean `criteria`?",
        ),
        (
            r#"{"criteria": {"mine": 1}, "userSimulatorConfg": {}}"#,
            "`userSimulatorConfg` is not a key of an eval config (at userSimulatorConfg, line 1). \
             Did you mean `userSimulatorConfig`?",
        ),
        (
            r#"{"criteria": {"mine": 1}, "user_simulator_config": {"max_allowed_invocation": 3}}"#,
            "`max_allowed_invocation` is not a key of `user_simulator_config` \
             (at user_simulator_config.max_allowed_invocation, line 1). Did you mean `max_allowed_invocations`?",
        ),
        (
            r#"{"criteria": {"mine": 1}, "user_simulator_config": {"max_allowed_invocations": "3"}}"#,
            "expected a whole number, found the string \"3\" \
             (at user_simulator_config.max_allowed_invocations, line 1)",
        ),
        (
            r#"{"criteria": {"final_response_match_v2": {"threshold": 1, "judge_model_options":
                {"judge_model_config": {"temprature": 0}}}}}"#,
            "a model has no setting `temprature` (at \
             criteria.final_response_match_v2.judge_model_options.judge_model_config.temprature, line 2). \
             Did you mean `temperature`?",
        ),
    ] {
        assert_eq!(config_error(text), message);
    }
    let unknown = r#"{"criteria": {"mine": 1}, "user_simulator_config": {"mood": "bad"}}"#;
    assert_eq!(
        config(unknown).1,
        ["`mood` is not a key of `user_simulator_config` and is left out \
          (at user_simulator_config.mood, line 1)"]
    );
}

#[test]
fn metrics_of_ones_own_keep_their_names_and_hide_those_of_the_engine() {
    let names = |text| {
        let custom = ["mine".into(), "BLEU".into(), "safety_v1".into()];
        let plan_options = PlanOptions { custom: &custom, ..PlanOptions::default() };
        let plan = Plan::from_config(&mut parse(text), plan_options, &Warnings::default()).unwrap();
        let hosted = plan.metrics.into_iter().filter(|metric| matches!(metric.scorer, MetricScorer::Host));
        hosted.map(|metric| metric.name).collect::<Vec<_>>()
    };
    let text = r#"{"criteria": {"BLEU": 0.5, "MINE": 0.5, "safety_v1": 1, "response_match_score": 1}}"#;
    assert_eq!(names(text), ["BLEU", "mine", "safety_v1"]);
}

#[test]
fn a_metric_of_custom_metrics_has_to_be_registered_under_any_name() {
    for name in ["yours", "response_match_score"] {
        let text = format!(
            r#"{{"criteria": {{"{name}": 0.5}}, "custom_metrics": {{"{name}": {{"code_config": {{"name": "a.b.c"}}}}}}}}"#
        );
        assert_eq!(
            config_error(&text),
            format!(
                "the function `a.b.c` of the metric `{name}` is not registered (at custom_metrics.{name}, line 1). \
                 Register the metric, or allow its JavaScript module (loadCustomMetrics, --metrics)"
            )
        );
    }
    let elsewhere =
        r#"{"criteria": {"mine": 1}, "custom_metrics": {"yours": {"code_config": {"name": "a.b"}}}}"#;
    assert_eq!(config(elsewhere).0, Ok(vec![("mine".to_owned(), 1.0)]));
    assert!(config_error(r#"{"criteria": {"mines": 1}}"#).ends_with("Did you mean `mine`?"));
}

#[test]
fn a_file_may_name_its_schema_and_a_value_in_it_may_not() {
    let set = r#"{"$schema": "x", "eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": []}], "schema": "x"}"#;
    assert_eq!(
        eval_set_warnings(set),
        ["`schema` is not a key of an evalset and is left out (at schema, line 1)"]
    );
    let turn = r#"{"$schema": "x", "user_content": {}}"#;
    let set =
        format!(r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{turn}]}}]}}"#);
    assert_eq!(eval_set_warnings(&set).len(), 1);
}

#[test]
fn settings_of_a_model_have_their_types() {
    let refused = |setting: &str| {
        config_error(&format!(
            r#"{{"criteria": {{"safety_v1": {{"threshold": 1, "judge_model_options":
                {{"judge_model_config": {{{setting}}}}}}}}}}}"#
        ))
    };
    for (setting, expected) in [
        (r#""temperature": "hot""#, "expected a number from 0 to 2, found the string \"hot\""),
        (r#""presence_penalty": "low""#, "expected a number, found the string \"low\""),
        (r#""temperature": -0.1"#, "expected a number from 0 to 2, found the number -0.1"),
        (r#""temperature": 5"#, "expected a number from 0 to 2, found the number 5"),
        (r#""top_p": 1.5"#, "expected a number from 0 to 1, found the number 1.5"),
        (r#""topP": -1"#, "expected a number from 0 to 1, found the number -1"),
        (r#""topP": "0.5""#, "expected a number from 0 to 1, found the string \"0.5\""),
        (r#""top_k": -1"#, "expected a whole number from 0 to 2147483647, found the number -1"),
        (r#""topK": 1.5"#, "expected a whole number from 0 to 2147483647, found the number 1.5"),
        (
            r#""max_output_tokens": 1e12"#,
            "expected a whole number from 1 to 2147483647, found the number 1e12",
        ),
        (r#""max_output_tokens": 1.5"#, "expected a whole number from 1 to 2147483647, found the number 1.5"),
        (r#""maxOutputTokens": -5"#, "expected a whole number from 1 to 2147483647, found the number -5"),
        (r#""max_output_tokens": 0"#, "expected a whole number from 1 to 2147483647, found the number 0"),
        (
            r#""max_output_tokens": "5""#,
            "expected a whole number from 1 to 2147483647, found the string \"5\"",
        ),
        (
            r#""candidate_count": 2"#,
            "expected 1, since only the first candidate is read and all are paid for, found the number 2",
        ),
        (r#""logprobs": -1"#, "expected a whole number from 0 to 2147483647, found the number -1"),
        (r#""seed": 0.5"#, "expected a whole number, found the number 0.5"),
        (r#""stopSequences": ["END", 5]"#, "expected an array of strings, found an array"),
        (
            r#""thinking_config": {"thinking_budget": -2}"#,
            "expected -1 or a whole number from 0 up, found the number -2",
        ),
        (r#""responseLogprobs": 1"#, "expected true or false, found the number 1"),
        (r#""stop_sequences": "END""#, "expected an array of strings, found the string \"END\""),
        (r#""cachedContent": []"#, "expected a string, found an array"),
        (r#""thinking_config": true"#, "expected an object, found true"),
    ] {
        assert!(refused(setting).starts_with(expected), "{}", refused(setting));
    }
    let fitting = r#"{"criteria": {"safety_v1": {"threshold": 1, "judge_model_options": {"judge_model_config":
        {"temperature": 2, "seed": -5000000000, "candidateCount": 1, "topK": 40.0, "labels": null, "system_instruction": ["a"], "mine": {}}}}}}"#;
    assert!(config(fitting).0.is_ok());
}

#[test]
fn an_option_of_a_judge_has_one_spelling() {
    for (options, twice) in [
        (r#"{"num_samples": 1, "numSamples": 9}"#, "`numSamples` is also given as `num_samples`"),
        (r#"{"numSamples": null, "num_samples": 9}"#, "`num_samples` is also given as `numSamples`"),
        (
            r#"{"judge_model_config": {"maxOutputTokens": 5, "max_output_tokens": 9}}"#,
            "`max_output_tokens` is also given as `maxOutputTokens`",
        ),
        (
            r#"{"judge_model_config": {"thinkingConfig": {"thinking_budget": 5, "thinkingBudget": 9}}}"#,
            "`thinkingBudget` is also given as `thinking_budget`",
        ),
    ] {
        let error = config_error(&format!(
            r#"{{"criteria": {{"safety_v1": {{"threshold": 1, "judge_model_options": {options}}}}}}}"#
        ));
        assert!(error.starts_with(twice) && error.ends_with("Leave one of them out"), "{error}");
    }
}

#[test]
fn a_model_has_a_name() {
    for (options, found) in [
        (r#"{"judge_model": " "}"#, "the string \" \""),
        (r#"{"judge_model": "openai/"}"#, "the string \"openai/\""),
        (r#"{"judge_models": ["a", " "]}"#, "the string \" \""),
    ] {
        let error = config_error(&format!(
            r#"{{"criteria": {{"safety_v1": {{"threshold": 1, "judge_model_options": {options}}}}}}}"#
        ));
        assert!(error.starts_with(&format!("expected the name of a model, found {found}")), "{error}");
    }
}

#[test]
fn settings_that_cannot_be_used_are_errors_with_advice() {
    for (criteria, message) in [
        (
            r#"{"tool_trajectory_avg_score": {}}"#,
            "the metric `tool_trajectory_avg_score` needs a threshold (at criteria.tool_trajectory_avg_score, line 1). \
             For example: {\"tool_trajectory_avg_score\": 0.8}",
        ),
        (
            r#"{"response_match_scor": 1}"#,
            "there is no metric `response_match_scor` (at criteria.response_match_scor, line 1). \
             Did you mean `response_match_score`?",
        ),
        (
            r#"{"wholly_else": 1}"#,
            "there is no metric `wholly_else` (at criteria.wholly_else, line 1). \
             Register a metric of your own under this name (on the command line: --metrics), or leave it out",
        ),
        (
            r#"{"tool_trajectory_avg_score": {"threshold": 1, "match_typ": "EXACT"}}"#,
            "`tool_trajectory_avg_score` has no setting `match_typ` \
             (at criteria.tool_trajectory_avg_score.match_typ, line 1). Did you mean `match_type`?",
        ),
        (
            r#"{"tool_trajectory_avg_score": {"threshold": 1, "match_type": "sorted"}}"#,
            "expected EXACT, IN_ORDER or ANY_ORDER, found the string \"sorted\" \
             (at criteria.tool_trajectory_avg_score.match_type, line 1)",
        ),
        (
            r#"{"response_match_score": [0.5]}"#,
            "expected a threshold: a number, or an object with `threshold`, found an array \
             (at criteria.response_match_score, line 1)",
        ),
        (
            r#"{"response_match_score": {"threshold": "high"}}"#,
            "expected a number, found the string \"high\" (at criteria.response_match_score.threshold, line 1)",
        ),
        (
            r#"{"token_usage_v1": 100}"#,
            "`token_usage_v1` is only counted, so it takes no threshold \
             (at criteria.token_usage_v1, line 1). Leave it out of `criteria`: it is reported for every evaluation",
        ),
        (
            r#"{"final_response_match_v2": {"threshold": 1, "num_samples": 3}}"#,
            "`final_response_match_v2` has no setting `num_samples` \
             (at criteria.final_response_match_v2.num_samples, line 1). Put it inside `judge_model_options`",
        ),
        (
            r#"{"safety_v1": {"threshold": 1, "judge_model_options": {"judge_models": ["gpt-5"]}}}"#,
            "a panel has two to nine models (at criteria.safety_v1.judge_model_options.judge_models, line 1). \
             Name a single one as `judge_model`",
        ),
        (
            r#"{"safety_v1": {"threshold": 1, "judge_model_options": {"judge_models": ["gpt-5", "gpt-5"]}}}"#,
            "a panel asks each model once (at criteria.safety_v1.judge_model_options.judge_models[1], line 1)",
        ),
        (
            r#"{"safety_v1": {"threshold": 1, "judge_model_options":
                {"judge_model_config": {"thinking_config": {"thinking_levl": "LOW"}}}}}"#,
            "a model has no setting `thinking_levl` (at criteria.safety_v1.judge_model_options.\
             judge_model_config.thinking_config.thinking_levl, line 2). Did you mean `thinkingLevel`?",
        ),
        (
            r#"{"final_response_match_v2": {"threshold": 1, "include_intermediate_responses": true}}"#,
            "`final_response_match_v2` has no setting `include_intermediate_responses` \
             (at criteria.final_response_match_v2.include_intermediate_responses, line 1). \
             Did you mean `include_intermediate_responses_in_final`?",
        ),
        (
            r#"{"rubric_based_tool_use_quality_v1": {"threshold": 1, "rubrics": [{"rubric_id": "a"}]}}"#,
            "a rubric needs `rubric_content` (at criteria.rubric_based_tool_use_quality_v1.rubrics[0], line 1)",
        ),
    ] {
        assert_eq!(config_error(&format!(r#"{{"criteria": {criteria}}}"#)), message);
    }
}

#[test]
fn settings_that_are_ignored_are_warned_of() {
    let text = r#"{"criteria": {"tool_trajectory_avg_score":
        {"threshold": 1, "colour": "red", "match_type": "EXACT", "matchType": "ANY_ORDER"}}}"#;
    let (metrics, warnings) = config(text);
    assert!(metrics.is_ok());
    assert_eq!(
        warnings,
        [
            "`match_type` is also given as `matchType`, which counts (at criteria.tool_trajectory_avg_score, line 2)",
            "`tool_trajectory_avg_score` has no setting `colour`; it is ignored \
             (at criteria.tool_trajectory_avg_score.colour, line 2)",
        ]
    );
}
