"""Times google-adk's evaluators over evalsets and prints JSON for benches/js/google.mjs.

Usage: python bench.py manifest.json

The manifest names the datasets: {"rounds": n, "datasets": [{"name", "metric", "evalSet", "actual"}]}, the last two
being paths of evalset files. Printed is, per dataset, {"name", "version", "scores", "objects", "bytes"}: the score of
each case, and the seconds of each round, once over models in memory and once including reading them from JSON.
"""

import asyncio
import importlib.metadata
import inspect
import json
import pathlib
import sys
import time
import warnings

warnings.filterwarnings("ignore")

from google.adk.evaluation.eval_metrics import BaseCriterion, EvalMetric
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.metric_evaluator_registry import DEFAULT_METRIC_EVALUATOR_REGISTRY


async def evaluate(metric, eval_set, actual):
    """The score of each case, with one evaluator per case as google-adk's LocalEvalService makes it."""
    runs = {run.eval_id: run.conversation for run in actual.eval_cases}
    scores = []
    for case in eval_set.eval_cases:
        evaluator = DEFAULT_METRIC_EVALUATOR_REGISTRY.get_evaluator(metric)
        result = evaluator.evaluate_invocations(
            actual_invocations=runs[case.eval_id], expected_invocations=case.conversation
        )
        if inspect.isawaitable(result):
            result = await result
        scores.append(result.overall_score)
    return scores


def read(dataset):
    """The evalset and the runs, read from the bytes of their files."""
    return tuple(EvalSet.model_validate_json(dataset[key]) for key in ("evalSet", "actual"))


async def measure(dataset, rounds):
    metric = EvalMetric(
        metric_name=dataset["metric"]["metricName"],
        criterion=BaseCriterion(threshold=dataset["metric"]["threshold"]),
    )
    models = read(dataset)
    scores = await evaluate(metric, *models)
    seconds = {"objects": [], "bytes": []}
    for _ in range(rounds):
        start = time.perf_counter()
        await evaluate(metric, *models)
        seconds["objects"].append(time.perf_counter() - start)
        start = time.perf_counter()
        await evaluate(metric, *read(dataset))
        seconds["bytes"].append(time.perf_counter() - start)
    version = importlib.metadata.version("google-adk")
    return {"name": dataset["name"], "version": version, "scores": scores, **seconds}


async def main(path):
    manifest = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    results = []
    for dataset in manifest["datasets"]:
        for key in ("evalSet", "actual"):
            dataset[key] = pathlib.Path(dataset[key]).read_bytes()
        results.append(await measure(dataset, manifest["rounds"]))
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
