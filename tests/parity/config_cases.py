"""Eval config texts: what a `test_config.json` may hold, right and wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator

from oracle import number
from oracle import to_json

METRIC = "response_match_score"

METRIC_NAMES = [
    "tool_trajectory_avg_score", "response_evaluation_score", "response_match_score", "safety_v1",
    "final_response_match_v2", "rubric_based_final_response_quality_v1", "hallucinations_v1",
    "rubric_based_tool_use_quality_v1", "per_turn_user_simulator_quality_v1",
    "multi_turn_task_success_v1", "multi_turn_trajectory_quality_v1",
    "multi_turn_tool_use_quality_v1", "rubric_based_multi_turn_trajectory_quality_v1",
    "tool_call_count_v1", "inference_call_count_v1", "token_usage_v1", "invocation_duration_v1",
]

VALUES = [
    0, 1, 0.8, -1, 2.5, 1.0, -0.0, 10**20, number("1e400"), number("-1e400"), number("1E-1"), number("8e-1"),
    "0.8", "1", " 0.8 ", "+0.8", "-1", ".5", "5.", "1e-1", "1_0", "8e", "", "high", "inf", "Infinity", "nan",
    "0,8", "٠.٥", "0x1", True, False, None, [], [0.8], {}, {"threshold": 0.8}, {"threshold": 1},
    {"threshold": "0.8"}, {"threshold": True}, {"threshold": None}, {"threshold": "high"},
    {"threshold": {}}, {"Threshold": 0.8}, {"thresold": 0.8}, {"threshold": 0.8, "thresold": 0.9},
    {"threshold": 0.8, "unknown": {"a": [1, 1.0, None]}}, {"threshold": 0.8, "threshold ": 1},
]

JUDGE_OPTIONS = [
    {}, None, [], "gemini",
    {"judge_model": "gemini-2.0-flash"}, {"judgeModel": "gemini-2.0-flash"}, {"judge_model": None}, {"judge_model": 1},
    {"num_samples": 1}, {"numSamples": 3}, {"num_samples": 0}, {"num_samples": -1},
    {"num_samples": 2.0}, {"num_samples": 2.5}, {"num_samples": "3"}, {"num_samples": True},
    {"num_samples": None}, {"num_samples": 10**6},
    {"parallelism_limit": 4}, {"parallelismLimit": 4}, {"parallelism_limit": 0},
    {"judge_model_config": {}}, {"judge_model_config": None},
    {"judge_model_config": {"temperature": 0.5, "max_output_tokens": 100}},
    {"judgeModelConfig": {"temperature": 0, "maxOutputTokens": 100, "topP": 0.9}},
    {"judge_model_config": {"temprature": 0.5}}, {"judge_model_config": {"temperature": "hot"}},
    {"judge_model": "gemini-2.0-flash", "num_sample": 3}, {"model": "gemini-2.0-flash"}, {"unknown": None},
]

RUBRIC = {"rubric_id": "r1", "rubric_content": {"text_property": "Polite."}}
RUBRICS = [
    [], None, {}, [RUBRIC], [RUBRIC, RUBRIC], [{**RUBRIC, "rubric_id": "r2"}, RUBRIC],
    [{"rubricId": "r1", "rubricContent": {"textProperty": "Polite."}}],
    [{**RUBRIC, "description": "d", "type": "FINAL_RESPONSE_QUALITY"}],
    [{**RUBRIC, "description": None, "type": None}], [{**RUBRIC, "type": "anything"}],
    [{"rubric_id": "r1", "rubric_content": {}}], [{"rubric_id": "r1", "rubric_content": None}],
    [{"rubric_id": "r1", "rubric_content": {"text_property": None}}],
    [{"rubric_id": "r1"}], [{"rubric_content": {"text_property": "Polite."}}],
    [{"rubric_id": 1, "rubric_content": {"text_property": "Polite."}}],
    [{"rubric_id": "", "rubric_content": {"text_property": ""}}],
    [{**RUBRIC, "weight": 2}], [{"rubric_id": "r1", "rubric_content": {"text": "Polite."}}],
    ["Polite."],
]

EXTRAS = {
    "tool_trajectory_avg_score": [
        {"match_type": "IN_ORDER"}, {"matchType": "any order", "ignoreArgs": True},
        {"match_type": 2, "ignore_args": "yes"}, {"match_type": "1"}, {"match_type": "sorted"},
        {"match_type": None}, {"ignore_args": None}, {"ignore_args": "maybe"},
        {"match_typ": "IN_ORDER"},
    ],
    "hallucinations_v1": [
        {"evaluate_intermediate_nl_responses": True}, {"evaluateIntermediateNlResponses": True},
        {"evaluate_intermediate_nl_responses": "on"}, {"evaluate_intermediate_nl_responses": None},
    ],
    "per_turn_user_simulator_quality_v1": [
        {"stop_signal": "</done>"}, {"stopSignal": "</done>"}, {"stop_signal": ""},
        {"stop_signal": None}, {"stop_signal": 1},
    ],
    "final_response_match_v2": [
        {"include_intermediate_responses_in_final": True},
        {"includeIntermediateResponsesInFinal": True},
        {"include_intermediate_responses_in_final": "true"},
        {"include_intermediate_responses_in_final": None},
        {"include_intermediate_responses_in_final": 2},
        {"judge_model_options": {"num_samples": 2}, "judgeModelOptions": {"num_samples": 0}},
        {"judge_model_options": {"num_samples": 0}, "judgeModelOptions": {"num_samples": 2}},
    ],
}

BESIDE = [
    {}, {"custom_metrics": None}, {"custom_metrics": {}}, {"user_simulator_config": None},
    {"custom_metrics": {"mine": {"code_config": {"name": "math.fsum"}}}},
    {"customMetrics": {"mine": {"codeConfig": {"name": "math.fsum"}}}},
    {"custom_metrics": {"mine": {"code_config": {}}}}, {"custom_metrics": {"mine": {}}},
    {"custom_metrics": {"mine": {"code_config": {"name": "math.fsum", "args": []}}}},
    {"custom_metrics": {"mine": {"code_config": {"name": "math.fsum"}, "description": "d", "extra": 1}}},
    {"custom_metrics": {"other": {"code_config": {"name": "math.fsum"}}}},
    {"custom_metrics": {METRIC: {"code_config": {"name": "math.fsum"}}}},
    {"custom_metrics": {"mine": {"code_config": {"name": "math.fsum"}, "metric_info": {
        "metric_name": "x", "metric_value_info": {"interval": {"min_value": -1, "max_value": 1}}}}}},
    {"custom_metrics": {"mine": {"code_config": {"name": "math.fsum"}, "metric_info": {"metric_name": "x"}}}},
    {"user_simulator_config": {}}, {"user_simulator_config": {"model": "m"}},
    {"user_simulator_config": {"type": "llm_backed", "max_allowed_invocations": 5}},
    {"userSimulatorConfig": {"maxAllowedInvocations": 5, "anything": 1}},
    {"user_simulator_config": {"type": "unknown"}}, {"user_simulator_config": "llm_backed"},
    {"live_model_config": {"timeout_seconds": 10}}, {"liveModelConfig": {"timeoutSeconds": 10}},
    {"live_model_config": {"timeout_seconds": "soon"}}, {"live_model_config": {"x": 1}},
    {"unknown": 1}, {"Criteria": {"safety_v1": 1}}, {"$schema": "https://example.com/config.json"},
]

WHOLE = [
    "{}", "[]", "null", "1", '"x"', "", " ", "{", '{"criteria":{}}', '{"criteria":null}', '{"criteria":[]}',
    '{"criteria":"x"}', '{"criteria":{"a":1,"a":2}}', '{"criteria":{"a":1},"criteria":{"b":2}}',
    '{"criteria":{"":1}}', '{"criteria":{"mine":1,}}', '{"criteria":{"mine":1}} ', '{"criteria":{"mine":1}}x',
    '\ufeff{"criteria":{"mine":1}}', '{"criteria":{"mine":NaN}}', '{"criteria":{"mine":Infinity}}',
    '{"criteria":{"mine":01}}', '{"criteria":{"mine":1.}}', '{"criteria":{"mine":.5}}', '{/**/"criteria":{}}',
    '{"criteria":{"mine":+1}}', '{"response_match_score":0.8}', '{"metrics":{"response_match_score":0.8}}',
    '{"criteria":{"TOOL_TRAJECTORY_AVG_SCORE":1.0,"RESPONSE_MATCH_SCORE":0.5}}',
    '{"criteria":{"toolTrajectoryAvgScore":1.0}}',
    '{"criteria":{"safety_v1":1,"response_match_score":0.5,"tool_trajectory_avg_score":1}}',
    '{\n  "criteria": {\n    "response_match_score": 0.5,\n    "final_response_match_v2": {\n'
    '      "threshold": 0.5,\n      "judge_model_options": {"num_samples": 3}\n    }\n  }\n}\n',
]


def texts() -> Iterator[tuple[str, str]]:
    """(name, JSON text) of every config."""
    for i, text in enumerate(WHOLE):
        yield f"whole text {i}", text
    for name in METRIC_NAMES:
        for i, value in enumerate((0.5, "0.5", True, {"threshold": 0.5}, {})):
            yield f"{name}: value {i}", _config({name: value})
    yield "every metric", _config({name: 0.5 for name in METRIC_NAMES})
    for i, value in enumerate(VALUES):
        yield f"threshold spelling {i}", _config({METRIC: value})
    for name in ("final_response_match_v2", "hallucinations_v1", METRIC):
        for i, options in enumerate(JUDGE_OPTIONS):
            yield f"{name}: judge options {i}", _criterion(name, judge_model_options=options)
        yield f"{name}: camelCase judge options", _criterion(name, judgeModelOptions={"numSamples": 2})
    for name in ("rubric_based_final_response_quality_v1", METRIC):
        for i, rubrics in enumerate(RUBRICS):
            yield f"{name}: rubrics {i}", _criterion(name, rubrics=rubrics)
    for name, extras in EXTRAS.items():
        for i, extra in enumerate(extras):
            yield f"{name}: extras {i}", _criterion(name, **extra)
    for i, beside in enumerate(BESIDE):
        yield f"beside criteria {i}", to_json({"criteria": {"mine": 0.5, METRIC: 0.8}, **beside})
    yield "indented", json.dumps({"criteria": {METRIC: 0.8}}, indent=2)


def _config(criteria: dict) -> str:
    return to_json({"criteria": criteria})


def _criterion(name: str, **extras) -> str:
    return _config({name: {"threshold": 0.5, **extras}})
