"""Lets google-adk evaluate the cases of cases.json with Vertex AI, which a loopback server plays.

Usage: python vertex_evaluate.py <server's URL>; prints the overall scores as a JSON list.
"""

import contextlib
import json
import os
import pathlib
import sys
import warnings

warnings.simplefilter("ignore")
os.environ["GOOGLE_API_KEY"] = "unused: the client is replaced"

with contextlib.redirect_stdout(sys.stderr):
    import agentplatform
    from google.adk.dependencies.vertexai import vertexai
    from google.adk.evaluation import safety_evaluator
    from google.adk.evaluation import vertex_ai_eval_facade as facade
    from google.adk.evaluation.eval_case import Invocation
    from google.oauth2.credentials import Credentials

METRICS = {
    "safety_v1": (
        facade._SingleTurnVertexAiEvalFacade,
        lambda: vertexai.types.PrebuiltMetric.SAFETY(version=safety_evaluator._VERTEX_SAFETY_SPEC_VERSION),
    ),
    "multi_turn_task_success_v1": (
        facade._MultiTurnVertexiAiEvalFacade,
        lambda: vertexai.types.RubricMetric.MULTI_TURN_TASK_SUCCESS,
    ),
    "multi_turn_trajectory_quality_v1": (
        facade._MultiTurnVertexiAiEvalFacade,
        lambda: vertexai.types.RubricMetric.MULTI_TURN_TRAJECTORY_QUALITY,
    ),
    "multi_turn_tool_use_quality_v1": (
        facade._MultiTurnVertexiAiEvalFacade,
        lambda: vertexai.types.RubricMetric.MULTI_TURN_TOOL_USE_QUALITY,
    ),
}


def score(url: str, case: dict) -> float | None:
    endpoint = case["endpoint"]
    invocations = [Invocation.model_validate(invocation) for invocation in case["invocations"]]
    evaluator_class, metric = METRICS[case["metric"]]
    evaluator = evaluator_class(threshold=0.5, metric_name=metric())
    evaluator._client = agentplatform.Client(
        project=endpoint["project"],
        location=endpoint["location"],
        credentials=Credentials(token=endpoint["bearer"]),
        http_options={"base_url": url},
    )
    expected = invocations if case.get("withReference") else None
    return evaluator.evaluate_invocations(invocations, expected).overall_score


cases = json.loads(pathlib.Path(__file__).with_name("cases.json").read_text("utf-8"))["evaluate"]
with contextlib.redirect_stdout(sys.stderr):
    scores = [score(sys.argv[1], case) for case in cases if "invocations" in case]
print(json.dumps(scores))
