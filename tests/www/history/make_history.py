"""Makes the folder of an agent with an eval history, as `adk eval` of google-adk leaves it; the model is scripted.

  pip install -r tests/parity/requirements.txt
  python make_history.py            writes ferry_desk/, all but its agent.py
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
AGENT = HERE / "ferry_desk"


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
    "agent.py": (AGENT / "agent.py").read_text(),
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
