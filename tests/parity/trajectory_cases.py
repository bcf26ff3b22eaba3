"""Cases for tool_trajectory_avg_score."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

from invocations import ABSENT
from invocations import CARRIERS
from invocations import EMPTY_CARRIERS
from invocations import Keys
from invocations import call
from invocations import intermediate_data
from invocations import invocation
from oracle import Case
from oracle import number

METRIC = "tool_trajectory_avg_score"
MATCH_TYPES = ("EXACT", "IN_ORDER", "ANY_ORDER")

ARGUMENTS = [
    None, True, False, 0, 1, -1, 2, 0.0, -0.0, 1.0, 1.5, 0.1, 0.30000000000000004, 0.3,
    number("-0"), number("1e0"), number("1E2"), 100, number("0.10"), number("1e-400"),
    2**53, 2**53 + 1, float(2**53), 2**63 - 1, 2**63, 2**64, 2**64 + 1, float(2**64),
    -(2**63) - 1, 10**22, 1e22, 10**23, 1e23, 10**30, 1e30, -(10**30), -1e30,
    number("1e400"), number("-1e400"), number("9e999"), 10**400, int(float(10**300)), 1e300,
    5e-324, "", "1", "1.0", "true", "null", "a", "A", "a ", "é", "e\u0301", "ﬁ", "fi", "\u0000", "😀",
    [], [1], [1.0], [True], [1, 2], [2, 1], [None], [[]], [{}], ["1"], [2**53 + 1],
    {}, {"a": 1}, {"a": 1.0}, {"a": True}, {"a": None}, {"A": 1}, {"b": 1},
    {"a": 1, "b": [2, {"c": None}]}, {"b": [2.0, {"c": None}], "a": 1},
    {"é": 1}, {"e\u0301": 1}, {"": ""}, {"tool_name": 1}, {"toolName": 1},
]

MATCH_TYPE_SPELLINGS = [
    "EXACT", "exact", "Exact", " exact ", "IN_ORDER", "in_order", "In_Order", "in-order",
    "IN-ORDER", "in order", "In Order", "ANY_ORDER", "any_order", "any-order", "any order",
    "Any-Order", "\tany order\n", "ın_order", "exact\u001f", "\u3000exact", "\ufeffexact",
    0, 1, 2, 1.0, 2.0, True, False, 3, -1, 0.5, "0", "1", "2", "", "inorder", "in__order",
    "IN\u00a0ORDER", "in_order_", "INORDER", "unordered", "MatchType.EXACT", None, [], {}, ["EXACT"],
]

IGNORE_ARGS_SPELLINGS = [
    True, False, 1, 0, 1.0, 0.0, "true", "false", "True", "FALSE", "yes", "no", "on", "off",
    "y", "n", "t", "f", "1", "0", " true", "", 2, 0.5, None, [], "maybe",
]


def criterion_metric(threshold=1.0, **extras) -> dict:
    return {"metric_name": METRIC, "criterion": {"threshold": threshold, **extras}}


def spelled_metric(keys: Keys, threshold: float, match_type, ignore_args: bool) -> dict:
    return {
        "metric_name": METRIC,
        "criterion": keys.object(
            threshold=threshold, match_type=match_type, ignore_args=ignore_args
        ),
    }


def turn(keys: Keys, rng: random.Random, calls: list[dict], carrier: str | None = None) -> dict:
    choices = CARRIERS if calls else EMPTY_CARRIERS
    data = intermediate_data(keys, rng, calls, carrier or rng.choice(choices))
    return invocation(keys, intermediate_data=data)


def cases() -> Iterator[Case]:
    rng = random.Random(METRIC)
    yield from argument_equality(rng)
    yield from call_shapes(rng)
    yield from carriers(rng)
    yield from match_type_spellings(rng)
    yield from thresholds(rng)
    yield from unusable_input(rng)
    yield from random_trajectories(rng)
    yield from long_trajectories(rng)


def argument_equality(rng: random.Random) -> Iterator[Case]:
    """Every pair of argument values, sometimes nested, both ways round."""
    indexed = list(enumerate(ARGUMENTS))
    for (i, left), (j, right) in itertools.combinations_with_replacement(indexed, 2):
        keys = Keys(rng.choice(Keys.STYLES), rng)
        wrap = rng.choice([lambda v: v, lambda v: v, lambda v: [v], lambda v: {"k": [v, 0]}])
        sides = [wrap(left), wrap(right)]
        if rng.random() < 0.5:
            sides.reverse()
        yield Case(
            f"argument {i} against argument {j}",
            spelled_metric(keys, 1.0, rng.choice(MATCH_TYPES), False),
            [turn(keys, rng, [call(args={"value": sides[0]})])],
            [turn(keys, rng, [call(args={"value": sides[1]})])],
        )


def call_shapes(rng: random.Random) -> Iterator[Case]:
    """Calls that differ in what is absent, null or empty, and in fields that do not count."""
    shapes = [
        call(), call(args=None), call(args={}), call(args={"a": None}), call(args={"a": 1}),
        call(args={"a": 1, "b": 2}), call(args={"b": 2, "a": 1}), call(args={"a": 1}, id="call-1"),
        call(args={"a": 1}, id="call-2"), call(args={"a": 1}, id=None), call(name="Lookup"),
        call(name=""), call(name=None), call(name=ABSENT), call(name="lookup "), call(name="検索"),
        {"name": "lookup", "args": {"a": 1}, "partialArgs": None, "willContinue": None},
    ]
    indexed = list(enumerate(shapes))
    for (i, left), (j, right) in itertools.product(indexed, repeat=2):
        for ignore_args in (False, True):
            keys = Keys(rng.choice(Keys.STYLES), rng)
            yield Case(
                f"call shape {i} against {j}, ignore_args {ignore_args}",
                spelled_metric(keys, 1.0, rng.choice(MATCH_TYPES), ignore_args),
                [turn(keys, rng, [left])],
                [turn(keys, rng, [right])],
            )


def carriers(rng: random.Random) -> Iterator[Case]:
    """The same calls, or none, in every carrier on both sides."""
    calls = [call("a", {"x": 1}), call("b"), call("a", {"x": 2})]
    sides = [(carrier, calls) for carrier in CARRIERS]
    sides += [(carrier, []) for carrier in EMPTY_CARRIERS]
    for (left, actual), (right, expected) in itertools.product(sides, repeat=2):
        for match_type in MATCH_TYPES:
            keys = Keys(rng.choice(Keys.STYLES), rng)
            yield Case(
                f"{match_type}: {len(actual)} calls in {left} against {len(expected)} in {right}",
                spelled_metric(keys, 1.0, match_type, False),
                [turn(keys, rng, actual, left)],
                [turn(keys, rng, expected, right)],
            )


def match_type_spellings(rng: random.Random) -> Iterator[Case]:
    """Each spelling over three conversations that tell the match types apart."""
    keys = Keys("snake", rng)
    a, b, c = call("a"), call("b"), call("c")
    conversations = {"same": ([a, b], [a, b]), "more": ([a, c, b], [a, b]), "swapped": ([b, a], [a, b])}
    for key, spellings in (
        ("match_type", MATCH_TYPE_SPELLINGS),
        ("matchType", MATCH_TYPE_SPELLINGS),
        ("MATCH_TYPE", ["ANY_ORDER"]),
    ):
        for i, spelling in enumerate(spellings):
            for label, (actual, expected) in conversations.items():
                yield Case(
                    f"{key} spelling {i}, {label} calls",
                    criterion_metric(**{key: spelling}),
                    [turn(keys, rng, actual, "tool_uses")],
                    [turn(keys, rng, expected, "tool_uses")],
                )
    for label, (actual, expected) in conversations.items():
        yield Case(
            f"match_type and matchType disagree, {label} calls",
            criterion_metric(match_type="EXACT", matchType="ANY_ORDER"),
            [turn(keys, rng, actual, "tool_uses")],
            [turn(keys, rng, expected, "tool_uses")],
        )
    for key in ("ignore_args", "ignoreArgs"):
        for i, spelling in enumerate(IGNORE_ARGS_SPELLINGS):
            yield Case(
                f"{key} spelling {i}",
                criterion_metric(**{key: spelling}),
                [turn(keys, rng, [call("a", {"x": 1})], "tool_uses")],
                [turn(keys, rng, [call("a", {"x": 2})], "tool_uses")],
            )


def thresholds(rng: random.Random) -> Iterator[Case]:
    """Where the threshold comes from, and statuses at and beside equality."""
    keys = Keys("snake", rng)
    hit, miss = [call("a")], [call("b")]
    for turns in range(1, 6):
        for hits in range(turns + 1):
            mean = hits / turns
            above = math.nextafter(mean, 2)
            for i, threshold in enumerate((0, 0.0, mean, above, 0.1 + 0.2, 1 / 3, 1, 1.5, -1)):
                yield Case(
                    f"{hits} of {turns} turns match, threshold {i}",
                    criterion_metric(threshold),
                    [turn(keys, rng, hit if t < hits else miss, "tool_uses") for t in range(turns)],
                    [turn(keys, rng, hit, "tool_uses") for _ in range(turns)],
                )
    sources = {
        "threshold alone": {"threshold": 0.5},
        "criterion wins over threshold": {"threshold": 0.9, "criterion": {"threshold": 0.5}},
        "threshold null": {"threshold": None},
        "no threshold": {},
        "criterion null": {"criterion": None, "threshold": 0.5},
        "criterion without threshold": {"criterion": {"match_type": "EXACT"}},
        "criterion without threshold, metric with": {"threshold": 0.5, "criterion": {}},
        "threshold as text": {"threshold": "0.5"},
        "threshold true": {"threshold": True},
        "threshold not a number": {"threshold": "half"},
        "unknown metric key": {"threshold": 0.5, "thresold": 1},
        "camelCase metric": {"threshold": 0.5, "customFunctionPath": None},
        "unknown criterion key": {"criterion": {"threshold": 0.5, "match_typ": "IN_ORDER"}},
        "judge options are ignored": {"criterion": {"threshold": 0.5, "judge_model_options": {"x": 1}}},
        "infinite threshold": {"threshold": number("1e400")},
    }
    for label, fields in sources.items():
        yield Case(
            label,
            {"metric_name": METRIC, **fields},
            [turn(keys, rng, hit, "tool_uses"), turn(keys, rng, miss, "tool_uses")],
            [turn(keys, rng, hit, "tool_uses"), turn(keys, rng, hit, "tool_uses")],
        )


def unusable_input(rng: random.Random) -> Iterator[Case]:
    """Missing and mismatched conversations."""
    keys = Keys("snake", rng)
    for match_type in MATCH_TYPES:
        metric = criterion_metric(0.5, match_type=match_type)
        for actual, expected in itertools.product(range(4), repeat=2):
            yield Case(
                f"{match_type}: {actual} actual turns, {expected} expected",
                metric,
                [turn(keys, rng, [call("a")]) for _ in range(actual)],
                [turn(keys, rng, [call("a")]) for _ in range(expected)],
            )
        for actual in range(3):
            yield Case(
                f"{match_type}: {actual} actual turns, no expected conversation",
                metric,
                [turn(keys, rng, [call("a")]) for _ in range(actual)],
                None,
            )
    yield Case("metric that does not exist", {"metric_name": "tool_trajectory", "threshold": 1}, [], [])


def random_trajectories(rng: random.Random) -> Iterator[Case]:
    """Short sequences over few names and arguments, so that near misses are common."""
    arguments = [ABSENT, {}, {"x": 1}, {"x": 1.0}, {"x": 2}, {"x": 1, "y": [1]}]

    def calls(most: int) -> list[dict]:
        return [
            call(rng.choice("ab"), rng.choice(arguments[: rng.randint(1, 6)]))
            for _ in range(rng.randint(0, most))
        ]

    def related(expected: list[dict]) -> list[dict]:
        actual = list(expected)
        for _ in range(rng.randint(0, 2)):
            actual.insert(rng.randint(0, len(actual)), call(rng.choice("abc"), rng.choice(arguments)))
        if rng.random() < 0.4:
            rng.shuffle(actual)
        if actual and rng.random() < 0.2:
            actual.pop(rng.randrange(len(actual)))
        return actual

    for n in range(900):
        keys = Keys(rng.choice(Keys.STYLES), rng)
        expected = [calls(4) for _ in range(rng.randint(1, 3))]
        actual = [related(item) if rng.random() < 0.8 else calls(5) for item in expected]
        yield Case(
            f"random trajectory {n}",
            spelled_metric(keys, rng.choice([0, 0.5, 1]), rng.choice(MATCH_TYPES), rng.random() < 0.3),
            [turn(keys, rng, item) for item in actual],
            [turn(keys, rng, item) for item in expected],
        )


def long_trajectories(rng: random.Random) -> Iterator[Case]:
    """Hundreds of calls: repeated, permuted, one short, one changed."""
    keys = Keys("snake", rng)
    for size in (60, 200):
        base = [call(f"t{i % 7}", {"i": i % 5}) for i in range(size)]
        shuffled = rng.sample(base, size)
        changed = base[:-1] + [call("t0", {"i": -1})]
        variants = {"same": base, "shuffled": shuffled, "short": base[1:], "changed": changed,
                    "doubled": [c for c in base for _ in range(2)]}
        for (label, actual), match_type in itertools.product(variants.items(), MATCH_TYPES):
            yield Case(
                f"{match_type}: {size} calls, {label}",
                criterion_metric(1, match_type=match_type),
                [turn(keys, rng, actual, "tool_uses")],
                [turn(keys, rng, base, "one_event")],
            )
