"""Writes whole-evaluator vectors: trajectory.json, response_match.json, efficiency.json.

    python evaluator_vectors.py [trajectory] [response_match] [efficiency]

Without names all three files are written.
"""

from __future__ import annotations

import argparse

import efficiency_cases
import oracle
import response_cases
import trajectory_cases

CASES = {
    "trajectory": trajectory_cases.cases,
    "response_match": response_cases.cases,
    "efficiency": efficiency_cases.cases,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="|".join(CASES))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(CASES)
    if unknown:
        parser.error(f"no such vectors: {', '.join(sorted(unknown))}")
    oracle.require_reference()
    for name in arguments.names or CASES:
        oracle.write_cases(oracle.VECTORS / f"{name}.json", CASES[name]())


if __name__ == "__main__":
    main()
