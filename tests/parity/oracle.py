"""The reference, google-adk, as the vector scripts see it.

Everything the scripts share lives here: the check that the right reference is
running, the calls into it, and the writers that make a file byte-identical
whenever it is generated again.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.metadata
import inspect
import json
import logging
import math
import re
import sys
import unicodedata
import warnings
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)

from google.adk.evaluation.eval_case import Invocation  # noqa: E402
from google.adk.evaluation.eval_metrics import EvalMetric  # noqa: E402
from google.adk.evaluation.evaluator import EvaluationResult  # noqa: E402
from google.adk.evaluation.metric_evaluator_registry import (  # noqa: E402
    MetricEvaluatorRegistry,
)
from pydantic import BaseModel  # noqa: E402

from reference import required_versions  # noqa: E402

REQUIRED_VERSIONS = required_versions()
REQUIRED_PYTHON = (3, 11)
REQUIRED_UNICODE = "14.0.0"

VECTORS = Path(__file__).parent / "vectors"


def require_reference() -> None:
    """Exits unless the interpreter and the packages are the ones recorded."""
    faults = [
        f"{package} is {found}, vectors need {wanted}"
        for package, wanted in REQUIRED_VERSIONS.items()
        if (found := importlib.metadata.version(package)) != wanted
    ]
    if sys.version_info[:2] != REQUIRED_PYTHON:
        faults.append(f"Python is {sys.version.split()[0]}, vectors need 3.11")
    if unicodedata.unidata_version != REQUIRED_UNICODE:
        faults.append(
            f"Unicode is {unicodedata.unidata_version}, vectors need {REQUIRED_UNICODE}"
        )
    if faults:
        sys.exit("not the reference: " + "; ".join(faults))


def to_json(value: Any) -> str:
    """One line of JSON that keeps key order, 1 and 1.0, big integers and -0.0."""
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return _QUOTED_LITERAL.sub(r"\1", text)


_LITERAL = "\x00number:"
_QUOTED_LITERAL = re.compile(r'"\\u0000number:([^"]*)"')


def number(literal: str) -> str:
    """A stand-in that `to_json` writes as the bare number `literal`.

    For spellings that a Python number cannot hold: `1E2`, `-0`, `1e400`.
    """
    return _LITERAL + literal


def write_rows(path: Path, key: str, rows: Iterable[Any], head: dict | None = None) -> int:
    """Writes `{…head, key: rows}` with one row per line; returns the row count.

    A row is a JSON value, or a `str` that already is JSON text.
    """
    lines = [row if isinstance(row, str) else to_json(row) for row in rows]
    opening = "".join(f"{to_json(k)}:{to_json(v)},\n" for k, v in (head or {}).items())
    body = ",\n".join(lines)
    write_text(path, f"{{{opening}{to_json(key)}:[\n{body}\n]}}\n")
    return len(lines)


def write_text(path: Path, text: str) -> None:
    """Writes UTF-8 with LF line ends and says what was written."""
    data = text.encode("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    print(f"{path.name}: {len(data):,} bytes")


@dataclass
class Case:
    """One evaluation: a metric over a conversation, given as plain JSON values."""

    name: str
    metric: dict
    actual: list
    expected: list | None


def write_cases(path: Path, cases: Iterable[Case]) -> None:
    """Scores each case with the reference and writes `{"cases": […]}`."""
    names: set[str] = set()

    def row(case: Case) -> str:
        if case.name in names:
            raise AssertionError(f"two cases are named {case.name!r}")
        names.add(case.name)
        return to_json(
            {
                "name": case.name,
                "metric": case.metric,
                "actual": case.actual,
                "expected": case.expected,
                "result": evaluate(case),
            }
        )

    count = write_rows(path, "cases", (row(case) for case in cases))
    print(f"  {count:,} cases")


def evaluate(case: Case) -> dict:
    """What the reference's evaluator returns for `case`, or the error it raises.

    Every value is parsed from the JSON text that the vector file holds, the way
    google-adk reads files, so that no Python value reaches the evaluator that
    a reader of the vectors would not see.
    """
    try:
        metric = EvalMetric.model_validate_json(to_json(case.metric))
        actual = read_invocations(case.actual)
        expected = None if case.expected is None else read_invocations(case.expected)
        evaluator = registry().get_evaluator(metric)
        result = evaluator.evaluate_invocations(actual, expected)
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
    except Exception as error:  # any refusal is part of the vector
        return {"error": describe_error(error)}
    return spell_non_finite(describe_result(result))


def spell_non_finite(value: Any) -> Any:
    """`value` with infinities and NaN as the texts "Infinity", "-Infinity", "NaN"."""
    match value:
        case dict():
            return {key: spell_non_finite(item) for key, item in value.items()}
        case list():
            return [spell_non_finite(item) for item in value]
        case float() if not math.isfinite(value):
            return json.dumps(value)
        case _:
            return value


def read_invocations(invocations: list) -> list[Invocation]:
    return [Invocation.model_validate_json(to_json(item)) for item in invocations]


def describe_result(result: EvaluationResult) -> dict:
    """Scores, statuses and details, without the invocations themselves."""
    return {
        "overall_score": result.overall_score,
        "overall_eval_status": result.overall_eval_status.value,
        "per_invocation_results": [
            {"score": item.score, "eval_status": item.eval_status.value}
            | _details(
                token_usage_details=item.token_usage_details,
                duration_details=item.duration_details,
            )
            for item in result.per_invocation_results
        ],
    } | _details(
        overall_token_usage_details=result.overall_token_usage_details,
        overall_duration_details=result.overall_duration_details,
    )


def _details(**models: BaseModel | None) -> dict:
    return {
        name: model.model_dump(mode="json", exclude_none=True)
        for name, model in models.items()
        if model is not None
    }


@functools.cache
def registry() -> MetricEvaluatorRegistry:
    """The standard evaluators."""
    return MetricEvaluatorRegistry()


async def _awaited(result: Awaitable[EvaluationResult]) -> EvaluationResult:
    return await result


def describe_error(error: Exception) -> str:
    """`<class>: <message>`, the form in which vectors record a refusal."""
    return f"{type(error).__name__}: {error}"
