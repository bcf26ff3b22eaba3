"""Writes the rules around the scores: config, statuses, legacy and shapes.

    python rules_vectors.py [config] [statuses] [legacy] [shapes]

Without names all four files are written.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import config_cases
import legacy_cases
import oracle
import shape_cases

from google.adk.evaluation import agent_evaluator
from google.adk.evaluation import llm_as_judge_utils
from google.adk.evaluation.agent_evaluator import AgentEvaluator
from google.adk.evaluation.eval_config import EvalConfig
from google.adk.evaluation.eval_config import get_eval_metrics_from_config
from google.adk.evaluation.eval_config import get_evaluation_criteria_or_default
from google.adk.evaluation.eval_metrics import EvalMetric
from google.adk.evaluation.eval_metrics import EvalMetricResult
from google.adk.evaluation.eval_metrics import EvalStatus
from google.adk.evaluation.eval_result import EvalSetResult
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.local_eval_service import LocalEvalService
from google.adk.evaluation.local_eval_sets_manager import load_eval_set_from_file
from google.adk.evaluation.metric_evaluator_registry import MetricEvaluatorRegistry
from google.adk.evaluation.metric_evaluator_registry import register_custom_metrics_from_config


def write_config() -> None:
    def row(name: str, text: str) -> dict:
        try:
            config = EvalConfig.model_validate_json(text)
            metrics = get_eval_metrics_from_config(config)
        except Exception as error:  # a refusal is part of the vector
            return {"name": name, "text": text, "result": {"error": oracle.describe_error(error)}}
        return {"name": name, "text": text, "result": described_metrics(config, metrics)}

    rows = [row(name, text) for name, text in config_cases.texts()]
    rows.append(default_config())
    count = oracle.write_rows(oracle.VECTORS / "config.json", "configs", rows)
    print(f"  {count:,} configs")


def default_config() -> dict:
    config = get_evaluation_criteria_or_default(None)
    metrics = get_eval_metrics_from_config(config)
    return {"name": "no config file", "text": None, "result": described_metrics(config, metrics)}


def described_metrics(config: EvalConfig, metrics: list[EvalMetric]) -> dict:
    registry = register_custom_metrics_from_config(config, oracle.registry().fork())
    return {"metrics": [describe_metric(metric, registry) for metric in metrics]}


def describe_metric(metric: EvalMetric, registry: MetricEvaluatorRegistry) -> dict:
    """The metric as configured, and the evaluator's refusal of it if there is one."""
    described = {
        "metric_name": metric.metric_name,
        "threshold": metric.threshold,
        "criterion": metric.criterion.model_dump() if metric.criterion else None,
        "custom_function_path": metric.custom_function_path,
    }
    try:
        registry.get_evaluator(metric)
    except Exception as error:  # a refusal is part of the vector
        described["evaluator_error"] = oracle.describe_error(error)
    return oracle.spell_non_finite(described)


def write_statuses() -> None:
    head = {"case": list(case_statuses()), "agent_evaluator": list(agent_evaluator_verdicts())}
    count = oracle.write_rows(
        oracle.VECTORS / "statuses.json", "threshold", threshold_statuses(), head
    )
    print(f"  {len(head['case']):,} cases, {len(head['agent_evaluator']):,} verdicts, {count:,} pairs")


def case_statuses() -> Iterator[list]:
    """[statuses of the metrics, final status] for every list of up to four."""
    for length in range(5):
        for statuses in itertools.product(EvalStatus, repeat=length):
            results = [SimpleNamespace(eval_status=status) for status in statuses]
            final = LocalEvalService._generate_final_eval_status(None, results)
            yield [[status.value for status in statuses], final.value]


def threshold_statuses() -> Iterator[list]:
    """[score or null, threshold, status] at, above and below equality."""
    rng = random.Random("statuses")
    scores = [0.0, -0.0, 1.0, 0.5, 1 / 3, 2 / 3, 0.1 + 0.2, 0.3, 5e-324, 1e300, -1.0]
    scores += [rng.random() for _ in range(60)] + [rng.randint(0, 7) / 7 for _ in range(20)]
    for score in scores:
        for threshold in (score, math.nextafter(score, math.inf), math.nextafter(score, -math.inf), 0, 0.8, 1):
            yield [score, threshold, llm_as_judge_utils.get_eval_status(score, threshold).value]
    for threshold in (0, 0.5, 1):
        yield [None, threshold, llm_as_judge_utils.get_eval_status(None, threshold).value]


def agent_evaluator_verdicts() -> Iterator[dict]:
    """What AgentEvaluator reports for the pooled results of one metric."""
    rng = random.Random("agent_evaluator")
    for _ in range(200):
        threshold = rng.choice([0.0, 0.1, 0.3, 0.5, 0.65, 0.8, 1.0])
        scores = [
            rng.choice([None, 0.0, 1.0, 0.1, threshold, rng.random()])
            for _ in range(rng.randint(1, 7))
        ]
        lower_is_better = rng.random() < 0.2
        results = [[score, _status(score, threshold, lower_is_better)] for score in scores]
        yield {"threshold": threshold, "results": results, "failures": _failures(threshold, results)}


def _status(score: float | None, threshold: float, lower_is_better: bool) -> int:
    if score is None:
        return EvalStatus.NOT_EVALUATED.value
    passed = score <= threshold if lower_is_better else score >= threshold
    return (EvalStatus.PASSED if passed else EvalStatus.FAILED).value


def _failures(threshold: float, results: list[list]) -> list[str]:
    (invocation,) = oracle.read_invocations([{"user_content": {}}])
    pooled = [
        agent_evaluator._EvalMetricResultWithInvocation(
            actual_invocation=invocation,
            eval_metric_result=EvalMetricResult(
                metric_name="metric", threshold=threshold, score=score, eval_status=EvalStatus(status)
            ),
        )
        for score, status in results
    ]
    return AgentEvaluator._process_metrics_and_get_failures({"metric": pooled}, False, "agent")


def write_legacy() -> None:
    def row(old: legacy_cases.OldFile) -> dict:
        try:
            result = {"eval_set": normalised(convert(old))}
        except Exception as error:  # a refusal is part of the vector
            result = {"error": oracle.describe_error(error)}
        return {
            "name": old.name,
            "form": old.form,
            "text": old.text,
            "initial_session": old.initial_session,
            "criteria": old.criteria,
            "result": oracle.spell_non_finite(result),
        }

    rows = (row(old) for old in legacy_cases.files())
    count = oracle.write_rows(oracle.VECTORS / "legacy.json", "files", rows)
    print(f"  {count:,} files")


def convert(old: legacy_cases.OldFile) -> EvalSet:
    """Reads an old file where google-adk reads that form, from a fixed name."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        if old.form == "cases":
            path = Path("old.evalset.json")
            path.write_text(old.text, encoding="utf-8")
            return load_eval_set_from_file(str(path), "old")
        path = Path("old.test.json")
        path.write_text(old.text, encoding="utf-8")
        if old.criteria is None:
            config = AgentEvaluator.find_config_for_test_file(os.fspath(path))
        else:
            config = EvalConfig(criteria=old.criteria)
        return AgentEvaluator._load_eval_set_from_file(
            os.fspath(path), config, old.initial_session or {}
        )


def normalised(eval_set: EvalSet) -> dict:
    """The eval set as JSON without nulls, random ids and times of day."""
    dumped = eval_set.model_dump(mode="json", exclude_none=True)
    _forget_time(dumped)
    for case in dumped["eval_cases"]:
        _forget_time(case)
        for invocation in case.get("conversation", []):
            _forget_time(invocation)
            if invocation["invocation_id"]:
                invocation["invocation_id"] = "<random>"
    if len(dumped["eval_set_id"]) == 36:
        dumped["eval_set_id"] = dumped["name"] = "<random>"
    return dumped


def _forget_time(dumped: dict) -> None:
    if dumped["creation_timestamp"]:
        dumped["creation_timestamp"] = "<now>"


READERS = {"eval_set": EvalSet, "eval_set_result": EvalSetResult}


def write_shapes() -> None:
    rows = []
    for name, document in shape_cases.DOCUMENTS.items():
        original = read_document(name, document)
        for edit in shape_cases.edits(document):
            result = edit_outcome(name, original, shape_cases.apply(document, edit), edit["edit"])
            rows.append({"document": name, **edit, "result": result})
    count = oracle.write_rows(
        oracle.VECTORS / "shapes.json", "edits", rows, {"documents": shape_cases.DOCUMENTS}
    )
    print(f"  {count:,} edits")


def read_document(name: str, document: dict) -> str:
    """The document as the reference writes it again after reading it."""
    return READERS[name].model_validate_json(oracle.to_json(document)).model_dump_json()


def edit_outcome(name: str, original: str, edited: dict, edit: str) -> str:
    """"refused", "accepted", or for an extra or respelled key what became of it."""
    try:
        read = read_document(name, edited)
    except Exception:  # validation, or a persona that does not exist
        return "refused"
    match edit:
        case "extra":
            return "kept" if shape_cases.EXTRA_VALUE in read else "ignored"
        case "camel":
            return "accepted" if read == original else "ignored"
        case _:
            return "accepted"


WRITERS = {
    "config": write_config,
    "statuses": write_statuses,
    "legacy": write_legacy,
    "shapes": write_shapes,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="|".join(WRITERS))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(WRITERS)
    if unknown:
        parser.error(f"no such vectors: {', '.join(sorted(unknown))}")
    oracle.require_reference()
    for name in arguments.names or WRITERS:
        WRITERS[name]()


if __name__ == "__main__":
    main()
