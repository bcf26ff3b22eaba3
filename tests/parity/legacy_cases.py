"""Old-form eval files: a list of rows (`*.test.json`), a list of cases (`*.evalset.json`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oracle import number
from oracle import to_json


@dataclass
class OldFile:
    """One old file, and what the reference is told beside it."""

    name: str
    form: str  # "rows" is read by AgentEvaluator, "cases" by the eval sets manager
    text: str
    initial_session: dict | None = None
    criteria: dict | None = None


FULL = {
    "query": "Turn off device_2 in the Bedroom.",
    "expected_tool_use": [
        {"tool_name": "set_device_info", "tool_input": {"location": "Bedroom", "on": False, "n": 1.0}}
    ],
    "expected_intermediate_agent_responses": [
        {"author": "device_agent", "text": "Switching it off."},
        {"author": "log_agent", "text": ""},
    ],
    "reference": "I have turned device_2 off.\n",
}

ROWS: dict[str, dict] = {
    "full": FULL,
    "query and reference": {"query": "Hi", "reference": "Hello"},
    "query only": {"query": "Hi"},
    "no reference": {"query": "Hi", "expected_tool_use": []},
    "no tools": {"query": "Hi", "expected_tool_use": [], "reference": "Hello"},
    "empty texts": {"query": "", "expected_tool_use": [], "reference": ""},
    "no query": {"expected_tool_use": [], "reference": "Hello"},
    "null query": {"query": None, "expected_tool_use": [], "reference": "Hello"},
    "number as query": {"query": 7, "expected_tool_use": [], "reference": "Hello"},
    "null reference": {"query": "Hi", "expected_tool_use": [], "reference": None},
    "null tools": {"query": "Hi", "expected_tool_use": None, "reference": "Hello"},
    "null responses": {
        "query": "Hi", "expected_tool_use": [], "reference": "Hello",
        "expected_intermediate_agent_responses": None,
    },
    "tool without input": {
        "query": "Hi", "expected_tool_use": [{"tool_name": "f"}], "reference": "Hello",
    },
    "null tool input": {
        "query": "Hi", "expected_tool_use": [{"tool_name": "f", "tool_input": None}], "reference": "Hello",
    },
    "empty tool input": {
        "query": "Hi", "expected_tool_use": [{"tool_name": "f", "tool_input": {}}], "reference": "Hello",
    },
    "list as tool input": {
        "query": "Hi", "expected_tool_use": [{"tool_name": "f", "tool_input": [1]}], "reference": "Hello",
    },
    "tool without name": {
        "query": "Hi", "expected_tool_use": [{"tool_input": {}}], "reference": "Hello",
    },
    "null tool name": {
        "query": "Hi", "expected_tool_use": [{"tool_name": None, "tool_input": {}}], "reference": "Hello",
    },
    "tool with extra keys": {
        "query": "Hi", "reference": "Hello",
        "expected_tool_use": [
            {"tool_name": "f", "tool_input": {"a": 1}, "mock_tool_output": "x", "id": "c1"}
        ],
    },
    "camelCase": {"query": "Hi", "expectedToolUse": [], "reference": "Hello"},
    "numbers kept": {
        "query": "Hi", "reference": "Hello",
        "expected_tool_use": [{"tool_name": "f", "tool_input": {
            "big": 2**64 + 1, "whole": 1.0, "zero": -0.0, "exponent": number("1E2"), "nested": [{"k": None}],
        }}],
    },
    "response without author": {
        "query": "Hi", "expected_tool_use": [], "reference": "Hello",
        "expected_intermediate_agent_responses": [{"text": "x"}],
    },
    "response without text": {
        "query": "Hi", "expected_tool_use": [], "reference": "Hello",
        "expected_intermediate_agent_responses": [{"author": "a"}],
    },
    "response as text": {
        "query": "Hi", "expected_tool_use": [], "reference": "Hello",
        "expected_intermediate_agent_responses": ["x"],
    },
    "extra keys": {
        "query": "Hi", "expected_tool_use": [], "reference": "Hello", "agent": "a", "evaluate": False,
    },
    "unicode": {"query": "ทดสอบ 😀", "expected_tool_use": [], "reference": "é\u2028"},
}

SESSIONS: dict[str, object] = {
    "full": {"state": {"city": "Rome", "n": 1.0}, "app_name": "home", "user_id": "u1"},
    "empty": {},
    "state only": {"state": {"n": 1}},
    "names only": {"app_name": "home", "user_id": "u1"},
    "null": None,
    "null state": {"state": None, "app_name": "home"},
    "null names": {"app_name": None, "user_id": None},
    "extra keys": {"app_name": "home", "user_id": "u1", "session_id": "s1", "x": 1},
    "camelCase": {"appName": "home", "userId": "u1"},
    "list": [],
}


def files() -> Iterator[OldFile]:
    for name, row in ROWS.items():
        yield OldFile(f"rows: {name}", "rows", to_json([row]))
        yield OldFile(f"rows: full, then {name}", "rows", to_json([FULL, row]))
        yield OldFile(f"cases: {name}", "cases", to_json([{"name": "c1", "data": [row]}]))
    yield from _criteria()
    yield from _sessions()
    yield from _whole_files()


def _criteria() -> Iterator[OldFile]:
    """The first row must carry what the configured metrics need."""
    for criteria in (
        {}, {"response_match_score": 0.8}, {"tool_trajectory_avg_score": 1.0},
        {"response_evaluation_score": 3}, {"safety_v1": 1}, {"final_response_match_v2": 0.5},
    ):
        for name in ("query only", "query and reference", "no reference", "no query"):
            label = ", ".join(criteria) or "no criteria"
            yield OldFile(f"rows: {name}, {label}", "rows", to_json([ROWS[name]]), criteria=criteria)


def _sessions() -> Iterator[OldFile]:
    for name, session in SESSIONS.items():
        case = {"name": "c1", "data": [FULL], "initial_session": session}
        yield OldFile(f"cases: initial session {name}", "cases", to_json([case]))
        if isinstance(session, dict):
            yield OldFile(f"rows: initial session {name}", "rows", to_json([FULL]), session)


def _whole_files() -> Iterator[OldFile]:
    case = {"name": "c1", "data": [FULL]}
    documents = {
        "no cases": [],
        "no rows": [{"name": "c1", "data": []}],
        "two cases": [case, {"name": "c2", "data": [ROWS["no tools"], FULL]}],
        "same name twice": [case, case],
        "no name": [{"data": [FULL]}],
        "null name": [{"name": None, "data": [FULL]}],
        "number as name": [{"name": 1, "data": [FULL]}],
        "no data": [{"name": "c1"}],
        "null data": [{"name": "c1", "data": None}],
        "extra keys": [{**case, "description": "d", "eval_id": "e"}],
        "list of rows": [FULL],
        "list of lists of rows": [[FULL]],
        "one object": case,
        "texts": ["c1"],
        "null": None,
        "eval set": {"eval_set_id": "s", "eval_cases": [
            {"eval_id": "c1", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]}]},
        "eval set without id": {"eval_cases": []},
        "camelCase eval set": {"evalSetId": "s", "evalCases": []},
    }
    for name, document in documents.items():
        for form in ("cases", "rows"):
            yield OldFile(f"{form}: file of {name}", form, to_json(document))
    for name, text in {
        "empty file": "", "broken": "[{", "byte order mark": "\ufeff" + to_json([case]),
    }.items():
        yield OldFile(f"cases: {name}", "cases", text)
