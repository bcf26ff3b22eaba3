"""Records what google-adk makes of an agent's events, and what Python's `statistics.mean` gives.

    python make_vectors.py

Needs `pip install -r tests/parity/requirements.txt`. Writes recordings.jsonl (events and the invocation made of them) and
means.jsonl (numbers and their mean), one case a line.
"""

import json
import pathlib
import random
import statistics

from google.adk.evaluation.evaluation_generator import EvaluationGenerator
from google.adk.events.event import Event
from google.genai import types

HERE = pathlib.Path(__file__).parent


def random_part(rng):
    return rng.choices(
        [
            {"text": rng.choice(["a", "b c", ""])},
            {"text": "thinking", "thought": True},
            {"functionCall": {"name": "f", "args": {"x": rng.randint(0, 3)}, "id": "i"}},
            {"functionResponse": {"name": "f", "response": {"y": 1}, "id": "i"}},
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
            {"executableCode": {"code": "1", "language": "PYTHON"}},
        ],
        [35, 10, 20, 20, 5, 5, 5],
    )[0]


def random_event(rng):
    event = {"author": rng.choice(["a", "b", "user", "User"]), "invocationId": "inv"}
    if rng.random() < 0.9:
        event["content"] = {"role": "model", "parts": [random_part(rng) for _ in range(rng.randint(0, 3))]}
    if rng.random() < 0.4:
        event["usageMetadata"] = {"promptTokenCount": rng.randint(1, 9)}
    if rng.random() < 0.3:
        event["modelVersion"] = "m1"
    if rng.random() < 0.1:
        event["groundingMetadata"] = {"webSearchQueries": ["q"]}
    if rng.random() < 0.1:
        event["actions"] = {"skipSummarization": True}
    if rng.random() < 0.1:
        event["longRunningToolIds"] = rng.choice([[], ["i"]])
    return event


def invocation_of(events):
    user = types.Content(role="user", parts=[types.Part(text="hi")])
    session = [Event(author="user", invocation_id="inv", content=user)]
    session += [Event.model_validate(event) for event in events]
    (invocation,) = EvaluationGenerator.convert_events_to_eval_invocations(session)
    written = json.loads(invocation.model_dump_json(by_alias=True, exclude_none=True))
    return {key: written[key] for key in ("finalResponse", "intermediateData") if key in written}


def random_number(rng):
    return rng.choice(
        [
            rng.random(),
            rng.choice([0.0, 0.1, 0.2, 0.3, 0.7, 1.0]),
            rng.uniform(-5, 5),
            rng.random() * 2.0 ** rng.randint(-1074, -900),
            rng.random() * 2.0 ** rng.randint(900, 1023),
        ]
    )


def write(name, cases):
    lines = [json.dumps(case, separators=(",", ":"), ensure_ascii=False) for case in cases]
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


rng = random.Random(20130)
recordings = [[random_event(rng) for _ in range(rng.randint(0, 6))] for _ in range(400)]
write("recordings.jsonl", [{"events": events, "invocation": invocation_of(events)} for events in recordings])
means = [[random_number(rng) for _ in range(rng.randint(1, 9))] for _ in range(400)]
means += [[0.1] * 3, [5e-324], [5e-324, 0.0], [1.7976931348623157e308] * 3, [-0.0], [1e308, -1e308, 1e-300]]
write("means.jsonl", [{"numbers": numbers, "mean": statistics.mean(numbers)} for numbers in means])
