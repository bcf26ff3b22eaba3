"""Cases for response_match_score as a whole evaluator."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

from invocations import ABSENT
from invocations import Keys
from invocations import content
from invocations import invocation
from oracle import Case
from sample_texts import SENTENCES

from google.adk.evaluation import final_response_match_v1 as reference

METRIC = "response_match_score"
TEXTS = [sentence for group in SENTENCES.values() for sentence in group]


def turn(keys: Keys, response) -> dict:
    return invocation(keys, final_response=response)


def metric(threshold, as_criterion: bool) -> dict:
    value = {"threshold": threshold}
    return {"metric_name": METRIC} | ({"criterion": value} if as_criterion else value)


def fmeasure(expected: str, actual: str) -> float:
    return reference._calculate_rouge_1_scores(actual, expected).fmeasure


def cases() -> Iterator[Case]:
    rng = random.Random(METRIC)
    yield from conversations(rng)
    yield from response_shapes(rng)
    yield from threshold_edges(rng)
    yield from threshold_sources(rng)
    yield from unusable_input(rng)


def conversations(rng: random.Random) -> Iterator[Case]:
    """One to six turns of real-looking answers, some missing."""

    def response(text: str):
        if rng.random() < 0.06:
            return rng.choice([ABSENT, None])
        lines = text.split(" ")
        cut = rng.randint(0, len(lines))
        parts = [text] if rng.random() < 0.6 else [" ".join(lines[:cut]), " ".join(lines[cut:])]
        return content(*parts, role=rng.choice([ABSENT, "model", "user", None]))

    for n in range(650):
        keys = Keys(rng.choice(Keys.STYLES), rng)
        expected = [rng.choice(TEXTS) for _ in range(rng.randint(1, 6))]
        actual = [text if rng.random() < 0.3 else mingled(rng, text) for text in expected]
        yield Case(
            f"conversation {n}",
            metric(rng.choice([0, 0.2, 0.5, 0.8, 1.0]), rng.random() < 0.5),
            [turn(keys, response(text)) for text in actual],
            [turn(keys, response(text)) for text in expected],
        )


def mingled(rng: random.Random, text: str) -> str:
    words = text.split(" ") + rng.choice(TEXTS).split(" ")
    return " ".join(rng.sample(words, rng.randint(0, len(words))))


def response_shapes(rng: random.Random) -> Iterator[Case]:
    """Every shape of a response against every other."""
    thought = {"text": "beta", "thought": True}
    shapes = {
        "absent": ABSENT,
        "null": None,
        "empty object": {},
        "parts null": {"parts": None},
        "no parts": {"parts": []},
        "role only": {"role": "model"},
        "one part": content("alpha beta"),
        "two parts": content("alpha", "beta"),
        "empty part between": content("alpha", "", "beta"),
        "null text between": content("alpha", {"text": None}, "beta"),
        "blank part": content(" "),
        "split word": content("alp", "ha beta"),
        "thought": content("alpha", thought),
        "thought only": content(thought),
        "call between": content("alpha", {"function_call": {"name": "f", "args": {}}}, "beta"),
        "camelCase call": content({"functionCall": {"name": "f"}}, "alpha beta"),
        "call only": content({"function_call": {"name": "f"}}),
        "image": content({"inline_data": {"mime_type": "image/png", "data": "aGk="}}, "alpha"),
        "code": content({"executable_code": {"code": "alpha", "language": "PYTHON"}}, "beta"),
        "explicit nulls": content(
            {"text": "alpha beta", "function_call": None, "inline_data": None, "thought": None}
        ),
        "user role": content("alpha beta", role="user"),
        "odd role": content("alpha beta", role="critic"),
        "repeated": content("alpha alpha alpha beta"),
    }
    for (left, actual), (right, expected) in itertools.product(shapes.items(), repeat=2):
        keys = Keys(rng.choice(Keys.STYLES), rng)
        yield Case(
            f"{left} against {right}",
            metric(0.5, True),
            [turn(keys, actual)],
            [turn(keys, expected)],
        )


def threshold_edges(rng: random.Random) -> Iterator[Case]:
    """The threshold at the score, and one representable number to either side."""
    keys = Keys("snake", rng)
    for n in range(60):
        expected = [rng.choice(TEXTS) for _ in range(rng.randint(1, 4))]
        actual = [mingled(rng, text) for text in expected]
        total = 0.0
        for pair in zip(expected, actual):
            total += fmeasure(*pair)
        score = total / len(expected)
        edges = {"at": score, "above": math.nextafter(score, 2), "below": math.nextafter(score, -1)}
        for label, threshold in edges.items():
            yield Case(
                f"threshold {label} the score {n}",
                metric(threshold, True),
                [turn(keys, content(text)) for text in actual],
                [turn(keys, content(text)) for text in expected],
            )


def threshold_sources(rng: random.Random) -> Iterator[Case]:
    keys = Keys("snake", rng)
    sources = {
        "criterion wins over threshold": {"threshold": 0.9, "criterion": {"threshold": 0.1}},
        "threshold zero": {"threshold": 0},
        "criterion threshold zero": {"criterion": {"threshold": 0}},
        "threshold null": {"threshold": None},
        "no threshold": {},
        "criterion without threshold": {"criterion": {}},
        "unknown criterion key": {"criterion": {"threshold": 0.5, "stemmer": True}},
        "threshold as text": {"threshold": "0.5"},
    }
    for label, fields in sources.items():
        yield Case(
            label,
            {"metric_name": METRIC, **fields},
            [turn(keys, content("alpha beta"))],
            [turn(keys, content("alpha gamma"))],
        )


def unusable_input(rng: random.Random) -> Iterator[Case]:
    keys = Keys("snake", rng)
    answer = turn(keys, content("alpha"))
    for actual, expected in itertools.product(range(4), repeat=2):
        yield Case(
            f"{actual} actual turns, {expected} expected",
            metric(0.5, False),
            [answer] * actual,
            [answer] * expected,
        )
    for actual in range(3):
        yield Case(
            f"{actual} actual turns, no expected conversation",
            metric(0.5, False),
            [answer] * actual,
            None,
        )
