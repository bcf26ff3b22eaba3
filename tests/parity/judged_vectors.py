"""Writes whole evaluations of the judged metrics, replies included: judged_<metric>.jsonl.

    python judged_vectors.py [--cases N] [metric …]

Without names all six files are written. The evaluators are google-adk's own; only the
judge model is scripted. Each line also says in which respects it is a case that we
decide otherwise on purpose, so that any other line can be compared for equality.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import random
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

import judge_replies
import oracle
from judged_cases import CASES, MATCH, TURN, Case, Reader, Rubric, is_json_with

from google.adk.evaluation import final_response_match_v2
from google.adk.evaluation import hallucinations_v1
from google.adk.evaluation.conversation_scenarios import ConversationScenario
from google.adk.evaluation.eval_metrics import EvalMetric
from google.adk.evaluation.eval_metrics import RubricScore
from google.adk.evaluation.evaluator import EvaluationResult
from google.adk.evaluation.evaluator import Evaluator
from google.adk.evaluation.rubric_based_evaluator import DefaultAutoRaterResponseParser
from google.adk.evaluation.rubric_based_evaluator import RubricBasedEvaluator
from google.adk.evaluation.simulation import per_turn_user_simulator_quality_v1
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.models.registry import LLMRegistry
from google.genai import types as genai_types

COUNT = 1350
JUDGE = "scripted-1"


class ScriptedJudge(BaseLlm):
    """Answers each prompt with what `answer` gives for it; null is a failed call."""

    answer: ClassVar[Callable[[str], str | None]]

    @classmethod
    def supported_models(cls) -> list[str]:
        return [r"scripted-.*"]

    async def generate_content_async(self, llm_request, stream=False):
        reply = ScriptedJudge.answer(llm_request.contents[0].parts[0].text)
        if reply is None:
            raise ConnectionError("the judge cannot be reached")
        yield LlmResponse(content=genai_types.Content(parts=[genai_types.Part(text=reply)]))


class Script:
    """Gives the replies of a case in the order in which the reference asks, and notes which were asked."""

    def __init__(self, case: Case):
        self._replies = case.replies
        self._questions = iter(case.replies)
        self.asked: set[str] = set()

    def verdict(self, _prompt: str) -> str | None:
        return self._give(next(self._questions))

    def hallucinations(self, evaluator: Evaluator) -> Callable[[str], str | None]:
        """Segmenter and validator are told apart by how their prompts begin."""
        opening = evaluator.segmenter_prompt.partition("{response}")[0].format()
        segments = iter([key for key in self._replies if "/segment/" in key])
        step = ""

        def answer(prompt: str) -> str | None:
            nonlocal step
            if prompt.startswith(opening):
                step = next(segments)
                return self._give(step)
            return self._give(step.replace("/segment/", "/validate/"))

        return answer

    def _give(self, key: str) -> str | None:
        if key in self.asked:
            raise AssertionError(f"{key} is asked twice")
        self.asked.add(key)
        return self._replies[key]


def with_judge(metric: dict) -> dict:
    """The metric with the scripted judge, which a vector does not name."""
    metric = copy.deepcopy(metric)
    criterion = metric["criterion"]
    name = "judgeModelOptions" if "judgeModelOptions" in criterion else "judge_model_options"
    options = criterion.setdefault(name, {})
    options.pop("judge_model", None)
    options["judgeModel"] = JUDGE
    return metric


def evaluate(case: Case) -> tuple[EvaluationResult | None, Evaluator | None]:
    """The reference's result, or nothing if it raises, and the evaluator unless it is refused.

    Everything is parsed from the JSON text that the vector holds, as google-adk reads files.
    """
    metric = EvalMetric.model_validate_json(oracle.to_json(with_judge(case.metric)))
    actual = oracle.read_invocations(case.actual)
    expected = None if case.expected is None else oracle.read_invocations(case.expected)
    scenario = case.scenario and ConversationScenario.model_validate_json(oracle.to_json(case.scenario))
    try:
        evaluator = oracle.registry().get_evaluator(metric)
    except ValueError:
        return None, None
    script = Script(case)
    is_hallucinations = isinstance(evaluator, hallucinations_v1.HallucinationsV1Evaluator)
    ScriptedJudge.answer = script.hallucinations(evaluator) if is_hallucinations else script.verdict
    try:
        result = asyncio.run(evaluator.evaluate_invocations(actual, expected, scenario))
    except (ValueError, IndexError, ConnectionError):
        return None, evaluator
    left = {key for key in case.replies.keys() - script.asked if "/validate/" not in key}
    if left:
        raise AssertionError(f"never asked: {sorted(left)}")
    return result, evaluator


def rubric_scores(scores: list[RubricScore] | None, with_rationale: bool) -> list[dict] | None:
    if scores is None:
        return None
    return [
        {"id": item.rubric_id, "score": item.score, "rationale": item.rationale if with_rationale else None}
        for item in scores
    ]


def outcome(result: EvaluationResult | None) -> dict:
    if result is None:
        return {"raises": True}
    described = {
        "score": result.overall_score,
        "status": result.overall_eval_status.value,
        "rubrics": rubric_scores(result.overall_rubric_scores, False),
        "turns": [
            {
                "score": turn.score,
                "status": turn.eval_status.value,
                "rubrics": rubric_scores(turn.rubric_scores, True),
            }
            for turn in result.per_invocation_results
        ],
    }
    return {"result": described}


def is_structured(metric: str, key: str, reply: str) -> bool:
    """Whether the reply may be readable as JSON where the reference finds nothing in it."""
    match metric, key.split("/")[2]:
        case "final_response_match_v2", _:
            label = final_response_match_v2._parse_critique(reply)
            return MATCH.is_structured(reply, judge_replies.score_of(label))
        case "per_turn_user_simulator_quality_v1", _:
            label = per_turn_user_simulator_quality_v1._parse_llm_response(reply)
            return TURN.is_structured(reply, judge_replies.score_of(label))
        case _, "segment":
            return is_json_with(reply, ["sentences"])
        case _, "validate":
            return not hallucinations_v1._parse_validation_results(reply) and is_json_with(reply, ["label"])
        case _:
            return not DefaultAutoRaterResponseParser().parse(reply) and is_json_with(reply, ["verdict"])


def rubric_flags(case: Case, evaluator: RubricBasedEvaluator) -> dict:
    asked = sorted({int(key.split("/")[0]) for key in case.replies})
    invocations = oracle.read_invocations(case.actual)
    in_force: dict[int, tuple[Rubric, ...]] = {}
    for turn in asked:
        evaluator.create_effective_rubrics_list(invocations[turn].rubrics)
        rubrics = evaluator.get_effective_rubrics_list()
        in_force[turn] = tuple(Rubric(rubric.rubric_id, rubric.rubric_content.text_property) for rubric in rubrics)
    readers = {rubrics: Reader(list(rubrics)) for rubrics in in_force.values()}
    last = in_force[asked[-1]] if asked else ()
    flags = {}
    if len(readers) > 1:
        flags["own_rubrics_differ"] = True
    for key, reply in case.replies.items():
        both = (in_force[int(key.split("/")[0])], last)
        if reply and any(readers[rubrics].is_repeated(reply) for rubrics in both):
            flags["repeated_entries"] = True
    return flags


def flags_of(case: Case, result: EvaluationResult | None, evaluator: Evaluator | None) -> dict:
    flags = {}
    if None in case.replies.values():
        flags["failed"] = True
    name = case.metric["metric_name"]
    if any(reply and is_structured(name, key, reply) for key, reply in case.replies.items()):
        flags["structured"] = True
    if result is not None and isinstance(evaluator, RubricBasedEvaluator):
        flags |= rubric_flags(case, evaluator)
    return flags


def row(case: Case, counts: Counter) -> str:
    result, evaluator = evaluate(case)
    flags = flags_of(case, result, evaluator)
    counts.update(f"flagged {flag}" for flag in flags)
    counts["raises" if result is None else result.overall_eval_status.name.lower()] += 1
    members: dict[str, Any] = {"metric": case.metric, "actual": case.actual, "expected": case.expected}
    if case.scenario is not None:
        members["scenario"] = case.scenario
    return oracle.to_json(members | {"replies": case.replies} | flags | outcome(result))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="|".join(CASES))
    parser.add_argument("--cases", type=int, default=COUNT)
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(CASES)
    if unknown:
        parser.error(f"no such metrics: {', '.join(sorted(unknown))}")
    oracle.require_reference()
    LLMRegistry.register(ScriptedJudge)
    for name in arguments.names or CASES:
        counts: Counter = Counter()
        cases = (CASES[name](random.Random(f"judged {name} {index}")) for index in range(arguments.cases))
        rows = [row(case, counts) for case in cases]
        oracle.write_text(oracle.VECTORS / f"judged_{name}.jsonl", "\n".join(rows) + "\n")
        print(f"  {len(rows):,} cases:", ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
