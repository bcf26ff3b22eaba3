"""Cases for the four efficiency metrics."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from invocations import ABSENT
from invocations import CARRIERS
from invocations import EMPTY_CARRIERS
from invocations import Keys
from invocations import call
from invocations import content
from invocations import intermediate_data
from invocations import invocation
from oracle import Case
from oracle import number

TOOL_CALLS = "tool_call_count_v1"
INFERENCE_CALLS = "inference_call_count_v1"
TOKENS = "token_usage_v1"
DURATION = "invocation_duration_v1"
METRICS = (TOOL_CALLS, INFERENCE_CALLS, TOKENS, DURATION)

TOKEN_FIELDS = (
    "prompt_token_count",
    "tool_use_prompt_token_count",
    "candidates_token_count",
    "thoughts_token_count",
    "cached_content_token_count",
)

# Seconds whose third decimal is decided by the exact value of the double:
# true ties (multiples of 1/16), near ties, and sizes where decimals run out.
SECONDS = [
    0, 0.0, -0.0, 1, 2.5, 0.0625, 0.1875, 0.3125, 0.4375, 0.5625, 1.0625, 2.1875, 1000.0625,
    0.0005, 0.0015, 0.0025, 0.0035, 0.0045, 1.0005, 1.0015, 2.6755, 1.005, 2.675, 0.1, 0.2,
    0.30000000000000004, 0.9995, 0.99949999, 9.9995, 59.9995, 123456.7895, 1e-4, 4.9e-4, 5e-4,
    5.1e-4, 5e-324, 1e15, 1e16, 1e22, 4503599627370497.5, 1e300, -1.0625, -0.0004, 12.3456789,
    number("3.000"), number("1E-1"),
]


def cases() -> Iterator[Case]:
    rng = random.Random("efficiency")
    yield from call_counts(rng)
    yield from inference_calls(rng)
    yield from token_fields(rng)
    yield from token_conversations(rng)
    yield from duration_values(rng)
    yield from duration_parts(rng)
    yield from duration_conversations(rng)
    yield from whole_conversations(rng)
    yield from configuration(rng)
    yield from lenient_numbers(rng)


def bare(name: str) -> dict:
    return {"metric_name": name}


def event(keys: Keys, **fields) -> dict:
    return keys.object(**({"author": "agent"} | fields))


def with_events(keys: Keys, events: list[dict], **fields) -> dict:
    data = keys.object(invocation_events=events)
    return invocation(keys, intermediate_data=data, **fields)


def call_counts(rng: random.Random) -> Iterator[Case]:
    for size in (0, 1, 2, 7):
        calls = [call("f", {"i": i}) for i in range(size)]
        for carrier in CARRIERS if calls else EMPTY_CARRIERS:
            for metric in (TOOL_CALLS, INFERENCE_CALLS, TOKENS):
                keys = Keys(rng.choice(Keys.STYLES), rng)
                data = intermediate_data(keys, rng, calls, carrier)
                yield Case(
                    f"{metric}: {size} calls in {carrier}",
                    bare(metric),
                    [invocation(keys, intermediate_data=data)],
                    None,
                )


def inference_calls(rng: random.Random) -> Iterator[Case]:
    usages = [ABSENT, None, {}, {"prompt_token_count": 3}, {"total_token_count": 5}]
    versions = [ABSENT, None, "", "gemini-2.5-flash"]
    for (i, usage), (j, version) in itertools.product(enumerate(usages), enumerate(versions)):
        for metric in (INFERENCE_CALLS, TOKENS):
            keys = Keys(rng.choice(Keys.STYLES), rng)
            yield Case(
                f"{metric}: usage {i}, model version {j}",
                bare(metric),
                [with_events(keys, [event(keys, usage_metadata=usage, model_version=version)])],
                None,
            )


def token_fields(rng: random.Random) -> Iterator[Case]:
    """Every combination of absent, zero and some for the five counts that matter."""
    for n, values in enumerate(itertools.product([ABSENT, 0, 7], repeat=len(TOKEN_FIELDS))):
        keys = Keys(rng.choice(Keys.STYLES), rng)
        counts = [
            rng.choice([None, ABSENT]) if value is ABSENT else value * rng.randint(1, 999)
            for value in values
        ]
        usage = keys.object(
            **dict(zip(TOKEN_FIELDS, counts)),
            total_token_count=rng.choice([ABSENT, 0, 12345]),
            traffic_type=rng.choice([ABSENT, None, "ON_DEMAND"]),
        )
        yield Case(
            f"token counts {n}",
            bare(TOKENS),
            [with_events(keys, [event(keys, usage_metadata=usage)])],
            None,
        )


def random_usage(keys: Keys, rng: random.Random) -> dict:
    largest = rng.choice([3, 1000, 10**6, 10**12])
    return keys.object(
        **{
            field: rng.choice([ABSENT, None, rng.randint(0, largest), rng.randint(0, largest)])
            for field in TOKEN_FIELDS
        },
        total_token_count=rng.choice([ABSENT, 1]),
    )


def random_turn(keys: Keys, rng: random.Random) -> dict:
    """A turn with any mix of timing, events, calls and usage."""
    timing = {
        field: rng.choice([ABSENT, None, round(rng.uniform(0, 9), 6), rng.choice(SECONDS)])
        for field in ("duration", "model_duration", "tool_duration")
    }
    if rng.random() < 0.2:
        calls = [call("f") for _ in range(rng.randint(0, 3))]
        carrier = rng.choice(CARRIERS if calls else EMPTY_CARRIERS)
        data = intermediate_data(keys, rng, calls, carrier)
        return invocation(keys, intermediate_data=data, **timing)
    events = [
        event(
            keys,
            content=rng.choice(
                [ABSENT, None, content("text"), content({keys("function_call"): call("f")})]
            ),
            usage_metadata=rng.choice([ABSENT, None, random_usage(keys, rng)]),
            model_version=rng.choice([ABSENT, ABSENT, "m"]),
        )
        for _ in range(rng.randint(0, 5))
    ]
    return with_events(keys, events, **timing)


def token_conversations(rng: random.Random) -> Iterator[Case]:
    for n in range(250):
        keys = Keys(rng.choice(Keys.STYLES), rng)
        turns = [
            with_events(
                keys,
                [event(keys, usage_metadata=random_usage(keys, rng)) for _ in range(rng.randint(0, 3))],
            )
            for _ in range(rng.randint(1, 5))
        ]
        yield Case(f"token conversation {n}", bare(TOKENS), turns, None)


def duration_values(rng: random.Random) -> Iterator[Case]:
    for n, seconds in enumerate([ABSENT, None, *SECONDS]):
        for turns in (1, 2, 3):
            keys = Keys(rng.choice(Keys.STYLES), rng)
            yield Case(
                f"duration value {n}, {turns} times",
                bare(DURATION),
                [invocation(keys, duration=seconds) for _ in range(turns)],
                None,
            )


def duration_parts(rng: random.Random) -> Iterator[Case]:
    choices = [ABSENT, None, 0, 0.25, 1.0625, 3.3]
    for n, (total, model, tool) in enumerate(itertools.product(choices, repeat=3)):
        keys = Keys(rng.choice(Keys.STYLES), rng)
        turn = invocation(keys, duration=total, model_duration=model, tool_duration=tool)
        yield Case(f"duration parts {n}", bare(DURATION), [turn], None)


def duration_conversations(rng: random.Random) -> Iterator[Case]:
    def seconds():
        return rng.choice(
            [ABSENT, rng.choice(SECONDS), rng.uniform(0, 30), round(rng.uniform(0, 2), 4),
             rng.randint(0, 64) / 16, rng.randint(0, 4000) / 2000]
        )

    for n in range(350):
        keys = Keys(rng.choice(Keys.STYLES), rng)
        turns = [
            invocation(keys, duration=seconds(), model_duration=seconds(), tool_duration=seconds())
            for _ in range(rng.randint(1, 6))
        ]
        yield Case(f"duration conversation {n}", bare(DURATION), turns, None)


def whole_conversations(rng: random.Random) -> Iterator[Case]:
    """The same conversations through all four metrics; expected never matters."""
    for n in range(90):
        keys = Keys(rng.choice(Keys.STYLES), rng)
        turns = [random_turn(keys, rng) for _ in range(rng.randint(0, 5))]
        expected = rng.choice([None, [], turns[:1], [invocation(keys)] * 2])
        for metric in METRICS:
            yield Case(f"{metric}: conversation {n}", bare(metric), turns, expected)


def configuration(rng: random.Random) -> Iterator[Case]:
    """A threshold or criterion is refused, whatever its value."""
    turn = invocation(Keys("snake", rng), duration=1.5)
    settings = {
        "nothing": {},
        "threshold null": {"threshold": None},
        "criterion null": {"criterion": None},
        "threshold": {"threshold": 5},
        "threshold zero": {"threshold": 0},
        "criterion": {"criterion": {"threshold": 5}},
    }
    for metric, (label, fields) in itertools.product(METRICS, settings.items()):
        yield Case(f"{metric} with {label}", bare(metric) | fields, [turn], None)
        yield Case(f"{metric} with {label}, no turns", bare(metric) | fields, [], None)


def lenient_numbers(rng: random.Random) -> Iterator[Case]:
    """Numbers spelled as the reference's reader happens to accept or refuse them."""
    keys = Keys("snake", rng)
    spellings = ["12", " 12 ", "1.5", "1e1", "", "x", "1_000", 12.0, 12.5, True, False, [], {},
                 10**19, 2**63, -5, number("1e400"), number("1E2"), "inf", "nan", "0x10"]
    for n, spelling in enumerate(spellings):
        usage = {"prompt_token_count": spelling}
        yield Case(
            f"lenient: token count spelling {n}",
            bare(TOKENS),
            [with_events(keys, [event(keys, usage_metadata=usage)])],
            None,
        )
        yield Case(
            f"lenient: duration spelling {n}",
            bare(DURATION),
            [invocation(keys, duration=spelling)],
            None,
        )
