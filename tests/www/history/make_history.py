"""Makes the folder of an agent with an eval history, as `adk eval` of google-adk leaves it; the model is scripted.

  pip install -r tests/parity/requirements.txt
  python make_history.py            writes ferry_desk/
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
AGENT = HERE / "ferry_desk"

CODE = '''import os

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


def departures(port: str) -> dict:
    """When ferries leave a port."""
    return {"times": ["08:15", "17:40"]}


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response is None and "ferry" in (last.text or ""):
            call = types.FunctionCall(name="departures", args={"port": os.environ.get("FERRY_PORT", "Kiel")})
            part = types.Part(function_call=call)
        elif last.function_response is not None:
            part = types.Part(text="Ferries leave at 08:15 and 17:40.")
        else:
            part = types.Part(text="You are welcome.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


root_agent = LlmAgent(name="ferry_desk", model=Scripted(model="scripted"), tools=[departures])
'''


def turn(question: str, answer: str, calls: list) -> dict:
    return {
        "invocation_id": "",
        "user_content": {"parts": [{"text": question}], "role": "user"},
        "final_response": {"parts": [{"text": answer}], "role": "model"},
        "intermediate_data": {"tool_uses": calls, "intermediate_responses": []},
    }


CALL = {"name": "departures", "args": {"port": "Kiel"}}
TURNS = [
    turn("When does the ferry leave Kiel?", "Ferries leave at 08:15 and 17:40.", [CALL]),
    turn("Thank you!", "You are welcome.", []),
]


def eval_set(eval_set_id: str, eval_id: str) -> dict:
    session = {"app_name": "ferry_desk", "user_id": "user", "state": {}}
    case = {"eval_id": eval_id, "conversation": TURNS, "session_input": session}
    return {"eval_set_id": eval_set_id, "name": eval_set_id, "eval_cases": [case]}


FILES = {
    "agent.py": CODE,
    "__init__.py": "from . import agent\n",
    "timetable.evalset.json": eval_set("timetable", "from_kiel"),
    "polite.test.json": eval_set("5c1e1a3e-8a0f-4a53-9b4e-0d3c86b6f9a1", "politely_from_kiel"),
    "old.test.json": [
        {
            "name": "from_kiel_of_old",
            "data": [
                {
                    "query": "When does the ferry leave Kiel?",
                    "expected_tool_use": [{"tool_name": "departures", "tool_input": {"port": "Kiel"}}],
                    "expected_intermediate_agent_responses": [],
                    "reference": "Ferries leave at 08:15 and 17:40.",
                }
            ],
        }
    ],
    "test_config.json": {"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}},
}


def evaluate(what: str, port: str) -> None:
    command = pathlib.Path(sys.executable).parent / "adk"
    environment = os.environ | {"FERRY_PORT": port}
    subprocess.run([command, "eval", AGENT, what], cwd=AGENT, env=environment, check=False)


def main() -> None:
    shutil.rmtree(AGENT, ignore_errors=True)
    AGENT.mkdir()
    for name, content in FILES.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
        (AGENT / name).write_text(text)
    # First an agent that looks up another port, then one that has been corrected.
    evaluate("timetable", "Oslo")
    for what in ["timetable", "polite.test.json", "old.test.json"]:
        evaluate(what, "Kiel")
    for folder in AGENT.rglob("__pycache__"):
        shutil.rmtree(folder)


main()
