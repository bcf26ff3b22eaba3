"""Writes inspect_vectors.json: what inspect_ai finds for random data. `pip install inspect_ai numpy`."""

import json
from importlib.metadata import version

import numpy as np
from inspect_ai.scorer import SampleScore, Score, ci_wilson, pass_at, pass_k, stderr

rng = np.random.default_rng(19)


def passes():
    """pass@k and pass^k of the runs of a case."""
    found = []
    for _ in range(120):
        runs = int(rng.integers(1, 13))
        passed = int(rng.integers(0, runs + 1))
        k = int(rng.integers(1, runs + 1))
        scores = [Score(value=1.0 if at < passed else 0.0) for at in range(runs)]
        some, every = (reduce(k)(scores).value for reduce in (pass_at, pass_k))
        found.append({"runs": runs, "passed": passed, "k": k, "some": some, "every": every})
    return found


def samples(groups):
    return [
        SampleScore(score=Score(value=value), sample_id=f"{case}.{run}", sample_metadata={"case": str(case)})
        for case, group in enumerate(groups)
        for run, value in enumerate(group)
    ]


def errors():
    """The standard error of a mean score that respects cases, each of which ran equally often."""
    found = []
    for _ in range(60):
        runs = rng.integers(1, 6)
        groups = [
            [round(float(one), 6) for one in rng.normal(centre, 0.2, runs)]
            for centre in rng.normal(0.6, 0.3, rng.integers(2, 25))
        ]
        found.append({"groups": groups, "error": stderr(cluster="case")(samples(groups))})
    return found


def intervals():
    """Wilson's interval of a pass rate of cases that were run once."""
    found = []
    for _ in range(60):
        count = int(rng.integers(1, 120))
        passed = int(rng.integers(0, count + 1))
        level = float(rng.choice([0.8, 0.9, 0.95, 0.99]))
        ends = ci_wilson(level)(samples([[1.0 if at < passed else 0.0] for at in range(count)]))
        found.append({"passed": passed, "count": count, "confidence": level, "low": ends["lower"], "high": ends["upper"]})
    return found


vectors = {"by": f"inspect_ai {version('inspect_ai')}", "passes": passes(), "errors": errors(), "intervals": intervals()}
with open("inspect_vectors.json", "w", encoding="utf-8") as file:
    json.dump(vectors, file)
    file.write("\n")
