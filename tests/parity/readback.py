"""Says whether google-adk can read files that we wrote.

    python readback.py FILE.evalset_result.json …
    python readback.py --evalset FILE …
    python readback.py --inferences FILE …

Prints a line per file. Exits 0 if every file was read, 1 if one was refused,
2 if this is not the google-adk of requirements.txt.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import logging
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

from reference import required_versions

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

REFERENCE_VERSION = required_versions()["google-adk"]


def read_result(path: Path) -> str:
    """Reads an eval set result directly and the way `adk web` lists old runs."""
    from google.adk.evaluation.eval_result import EvalSetResult
    from google.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager

    direct = EvalSetResult.model_validate_json(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as agents:
        history = Path(agents, "app", ".adk", "eval_history")
        history.mkdir(parents=True)
        shutil.copy(path, history / "run.evalset_result.json")
        managed = LocalEvalSetResultsManager(agents).get_eval_set_result("app", "run")
    if managed != direct:
        raise ValueError("the results manager reads something else than the model")
    return f"eval set result {direct.eval_set_result_id}, {len(direct.eval_case_results)} cases"


def read_eval_set(path: Path) -> str:
    """Reads an eval set directly and the way `adk eval` loads one."""
    from google.adk.evaluation.eval_set import EvalSet
    from google.adk.evaluation.local_eval_sets_manager import load_eval_set_from_file

    direct = EvalSet.model_validate_json(path.read_text(encoding="utf-8"))
    if load_eval_set_from_file(str(path), "eval-set") != direct:
        raise ValueError("the loader reads something else than the model")
    return f"eval set {direct.eval_set_id}, {len(direct.eval_cases)} cases"


def read_inferences(path: Path) -> str:
    """Reads what an agent did, as it comes out of google-adk's own inference."""
    from google.adk.evaluation.base_eval_service import InferenceResult
    from pydantic import TypeAdapter

    results = TypeAdapter(list[InferenceResult]).validate_json(path.read_text(encoding="utf-8"))
    return f"{len(results)} inference results of {len({result.eval_case_id for result in results})} cases"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evalset", action="store_true", help="the files are eval sets")
    parser.add_argument("--inferences", action="store_true", help="the files are inference results")
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()

    try:
        version = importlib.metadata.version("google-adk")
    except importlib.metadata.PackageNotFoundError:
        version = "missing"
    if version != REFERENCE_VERSION:
        print(f"google-adk is {version}, not {REFERENCE_VERSION}", file=sys.stderr)
        return 2

    read = read_eval_set if arguments.evalset else read_inferences if arguments.inferences else read_result
    refused = 0
    for path in arguments.files:
        try:
            print(f"read     {path}: {read(path)}")
        except Exception as error:  # whatever the reference raises is a refusal
            refused += 1
            print(f"refused  {path}: {type(error).__name__}: {' '.join(str(error).split())}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
