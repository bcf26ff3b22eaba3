"""Edits of one complete document: which shapes the reference's readers accept.

The edits are made at every object of the document: a key that nobody knows, and
for every key it has: left out, null, spelled in camelCase, or of another type.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

EXTRA_KEY = "x_extra"
EXTRA_VALUE = "x-extra-value"

_CONTENT = {"role": "user", "parts": [{"text": "Hi", "thought": False}]}
_EVENTS = {
    "invocation_events": [
        {
            "author": "agent",
            "content": {
                "role": "model",
                "parts": [{"function_call": {"id": "c1", "name": "f", "args": {"a": 1}}}],
            },
            "grounding_metadata": {"web_search_queries": ["q"]},
            "usage_metadata": {"prompt_token_count": 1, "candidates_token_count": 2},
            "model_version": "m",
        }
    ]
}
_TOOL_USES = {
    "tool_uses": [{"id": "c1", "name": "f", "args": {"a": 1}}],
    "tool_responses": [{"id": "c1", "name": "f", "response": {"ok": True}}],
    "intermediate_responses": [["agent", [{"text": "One moment."}]]],
}
_RUBRIC = {
    "rubric_id": "r1",
    "rubric_content": {"text_property": "Polite."},
    "description": "d",
    "type": "TOOL_USE_QUALITY",
}
_APP = {
    "agent_details": {
        "agent": {"name": "agent", "instructions": "Be brief.", "tool_declarations": [{"x": 1}]}
    }
}


def _invocation(intermediate_data: dict) -> dict:
    return {
        "invocation_id": "i1",
        "user_content": _CONTENT,
        "final_response": {"role": "model", "parts": [{"text": "Hello"}]},
        "intermediate_data": intermediate_data,
        "creation_timestamp": 1.5,
        "duration": 2.5,
        "model_duration": 1.5,
        "tool_duration": 0.5,
        "rubrics": [_RUBRIC],
        "app_details": _APP,
    }


EVAL_SET = {
    "eval_set_id": "s1",
    "name": "n",
    "description": "d",
    "eval_cases": [
        {
            "eval_id": "c1",
            "conversation": [_invocation(_TOOL_USES), _invocation(_EVENTS)],
            "session_input": {
                "app_name": "a", "user_id": "u", "session_id": "s", "state": {"k": 1},
            },
            "creation_timestamp": 1.5,
            "rubrics": [_RUBRIC],
            "final_session_state": {"k": 2},
        },
        {
            "eval_id": "c2",
            "conversation_scenario": {
                "starting_prompt": "Hi",
                "conversation_plan": "Ask.",
                "user_persona": {
                    "id": "P",
                    "description": "d",
                    "behaviors": [
                        {
                            "name": "b",
                            "description": "d",
                            "behavior_instructions": ["i"],
                            "violation_rubrics": ["v"],
                        }
                    ],
                },
            },
            "creation_timestamp": 1.5,
        },
    ],
    "creation_timestamp": 1.5,
}

_METRIC_RESULT = {
    "metric_name": "response_match_score",
    "threshold": 0.5,
    "criterion": {"threshold": 0.5},
    "custom_function_path": "f",
    "score": 0.75,
    "eval_status": 1,
    "details": {
        "rubric_scores": [{"rubric_id": "r1", "rationale": "r", "score": 1.0}],
        "token_usage_details": {"total_tokens": 3.0},
        "duration_details": {"total_seconds": 2.5},
    },
}
EVAL_SET_RESULT = {
    "eval_set_result_id": "r1",
    "eval_set_result_name": "n",
    "eval_set_id": "s1",
    "eval_case_results": [
        {
            "eval_set_file": "f",
            "eval_set_id": "s1",
            "eval_id": "c1",
            "final_eval_status": 1,
            "eval_metric_results": [],
            "overall_eval_metric_results": [_METRIC_RESULT],
            "eval_metric_result_per_invocation": [
                {
                    "actual_invocation": _invocation(_EVENTS),
                    "expected_invocation": _invocation(_TOOL_USES),
                    "eval_metric_results": [_METRIC_RESULT],
                }
            ],
            "session_id": "s",
            "session_details": {
                "id": "s", "app_name": "a", "user_id": "u", "state": {"k": 1}, "events": [],
                "last_update_time": 1.5,
            },
            "user_id": "u",
        }
    ],
    "creation_timestamp": 1.5,
}

DOCUMENTS = {"eval_set": EVAL_SET, "eval_set_result": EVAL_SET_RESULT}

# Objects whose keys are the user's own.
FREE_FORM = {"args", "response", "state", "final_session_state", "agent_details"}


def objects(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """Paths of all objects, the free-form ones left out but what they name kept."""
    if isinstance(value, dict):
        if not (path and path[-1] in FREE_FORM):
            yield path
        for key, item in value.items():
            if path and path[-1] in FREE_FORM - {"agent_details"}:
                return
            yield from objects(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from objects(item, (*path, index))


def edits(document: dict) -> Iterator[dict]:
    """Every edit as `{path, edit, key}`; `apply` carries one out."""
    for path in objects(document):
        yield {"path": list(path), "edit": "extra", "key": EXTRA_KEY}
        for key, value in at(document, path).items():
            for edit in ("remove", "null", "wrong_type"):
                yield {"path": list(path), "edit": edit, "key": key}
            if "_" in key:
                yield {"path": list(path), "edit": "camel", "key": key}


def apply(document: dict, edit: dict) -> dict:
    """A copy of `document` with one edit made."""
    edited = copy.deepcopy(document)
    target, key = at(edited, edit["path"]), edit["key"]
    match edit["edit"]:
        case "extra":
            target[key] = EXTRA_VALUE
        case "remove":
            del target[key]
        case "null":
            target[key] = None
        case "wrong_type":
            target[key] = [7] if isinstance(target[key], (str, int, float)) else "seven"
        case "camel":
            target[camel(key)] = target.pop(key)
    return edited


def camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.capitalize() for word in rest)


def at(document: Any, path: Any) -> Any:
    for step in path:
        document = document[step]
    return document
