"""Builds invocations as JSON values in every spelling the reference reads.

`Keys` decides how field names are spelled; the builders never touch what is
inside tool arguments.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

ABSENT = object()
"""A field to leave out, as opposed to one that is null."""


class Keys:
    """Spells a snake_case field name: as it is, in camelCase, or at random."""

    STYLES = ("snake", "camel", "mixed")

    def __init__(self, style: str, rng: random.Random):
        self._style = style
        self._rng = rng

    def __call__(self, name: str) -> str:
        if self._style == "camel" or (self._style == "mixed" and self._rng.random() < 0.5):
            first, *rest = name.split("_")
            return first + "".join(word.capitalize() for word in rest)
        return name

    def object(self, **fields: Any) -> dict:
        """An object of the given fields without the absent ones."""
        return {self(k): v for k, v in fields.items() if v is not ABSENT}


def content(*parts: Any, role: Any = ABSENT) -> dict:
    """A content; a `str` part is a text part."""
    listed = [{"text": part} if isinstance(part, str) else part for part in parts]
    return {"parts": listed} | ({} if role is ABSENT else {"role": role})


def call(name: Any = "lookup", args: Any = ABSENT, id: Any = ABSENT) -> dict:
    """A tool call; `args` and `id` may be left out."""
    fields = {"id": id, "args": args, "name": name}
    return {k: v for k, v in fields.items() if v is not ABSENT}


def invocation(keys: Keys, **fields: Any) -> dict:
    """An invocation with some user text and the given fields."""
    return keys.object(**({"user_content": content("hi")} | fields))


EMPTY_CARRIERS = ("absent", "null", "object", "tool_uses", "events", "text_events")
CARRIERS = ("tool_uses", "one_event", "event_each", "busy_events")


def intermediate_data(keys: Keys, rng: random.Random, calls: list[dict], carrier: str) -> Any:
    """`calls` in one of `CARRIERS`, or for no calls also one of `EMPTY_CARRIERS`."""

    def event(**fields: Any) -> dict:
        return keys.object(**({"author": "agent"} | fields))

    wrapped = [{keys("function_call"): item} for item in calls]
    match carrier:
        case "absent":
            return ABSENT
        case "null":
            return None
        case "object":
            return {}
        case "tool_uses":
            return keys.object(tool_uses=calls)
        case "events":
            return keys.object(invocation_events=[])
        case "text_events":
            return keys.object(
                invocation_events=[
                    event(content=content("thinking")),
                    event(content=None),
                    event(),
                ]
            )
        case "one_event":
            return keys.object(invocation_events=[event(content=content(*wrapped))])
        case "event_each":
            return keys.object(
                invocation_events=[event(content=content(part, role="model")) for part in wrapped]
            )
        case "busy_events":
            return keys.object(invocation_events=list(_busy_events(keys, rng, event, wrapped)))
    raise ValueError(carrier)


def _busy_events(
    keys: Keys, rng: random.Random, event: Callable[..., dict], wrapped: list[dict]
) -> Iterator[dict]:
    """The calls in order, among text, tool responses and events without content."""
    yield event(content=content("let me see", role="model"))
    pending = list(wrapped)
    while pending:
        taken = [pending.pop(0) for _ in range(min(len(pending), rng.randint(1, 3)))]
        parts = [piece for part in taken for piece in (part, "and")]
        yield event(content=content(*parts, role="model"))
        response = {keys("function_response"): {"name": "lookup", "response": {"ok": True}}}
        yield event(author="tool", content=content(response, role="user"))
        yield event(content=rng.choice([None, {}, {"parts": None}, {"parts": []}]))
