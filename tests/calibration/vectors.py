"""Writes vectors.json: what well-known packages find for random data.

pip install scipy statsmodels scikit-learn krippendorff ppi-python
"""

import json
from importlib.metadata import version

import krippendorff
import numpy as np
import ppi_py
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa

rng = np.random.default_rng(11)


def kappas():
    """statsmodels' value and standard error, by Fisher's transformation; scikit-learn agrees on the value."""
    found = []
    for _ in range(30):
        categories = int(rng.choice([2, 5]))
        n = int(rng.integers(12, 120))
        people = rng.integers(0, categories, n)
        judge = np.where(rng.random(n) < 0.6, people, rng.integers(0, categories, n))
        table = np.zeros((categories, categories))
        np.add.at(table, (judge, people), 1)
        for squared in (False, True):
            result = cohens_kappa(table, wt="quadratic" if squared else None)
            other = cohen_kappa_score(judge, people, weights="quadratic" if squared else None, labels=range(categories))
            assert abs(result.kappa - other) < 1e-12
            if not result.std_kappa > 0:
                continue
            half = stats.norm.ppf(0.975) * result.std_kappa / (1 - result.kappa**2)
            low, high = np.tanh(np.arctanh(result.kappa) + np.array([-half, half]))
            found.append(
                {
                    "judge": judge.tolist(),
                    "people": people.tolist(),
                    "categories": categories,
                    "squared": squared,
                    "value": result.kappa,
                    "low": low,
                    "high": high,
                }
            )
    return found


def alphas():
    found = []
    for _ in range(30):
        categories = int(rng.choice([2, 5]))
        truth = rng.integers(0, categories, 15)
        data = np.array([np.where(rng.random(15) < 0.7, truth, rng.integers(0, categories, 15)) for _ in range(3)], dtype=float)
        data[rng.random(data.shape) < 0.25] = np.nan
        units = [[int(one) for one in column if not np.isnan(one)] for column in data.T]
        for level in ("nominal", "ordinal"):
            value = krippendorff.alpha(reliability_data=data, value_domain=list(range(categories)), level_of_measurement=level)
            found.append({"units": units, "categories": categories, "ordinal": level == "ordinal", "value": value})
    return found


def alpha_intervals():
    """scipy's percentile bootstrap of krippendorff's alpha, with T. C. Hesterberg's tails for few cases."""
    found = []
    for _ in range(8):
        categories = int(rng.choice([2, 5]))
        count = int(rng.integers(15, 60))
        truth = rng.integers(0, categories, count)
        data = np.array([np.where(rng.random(count) < 0.75, truth, rng.integers(0, categories, count)) for _ in range(3)])
        level = "nominal" if categories == 2 else "ordinal"
        ours = {"value_domain": list(range(categories)), "level_of_measurement": level}
        reach = np.sqrt(count / (count - 1)) * stats.t.ppf(0.975, count - 1)
        result = stats.bootstrap(
            (np.arange(count),),
            lambda drawn, data=data, ours=ours: krippendorff.alpha(reliability_data=data[:, drawn], **ours),
            n_resamples=9999,
            vectorized=False,
            method="percentile",
            confidence_level=1 - 2 * stats.norm.sf(reach),
            rng=rng,
        )
        low, high = result.confidence_interval
        found.append({"units": data.T.tolist(), "categories": categories, "ordinal": level == "ordinal", "low": low, "high": high})
    return found


def mcnemars():
    found = []
    for _ in range(40):
        first, second = (int(one) for one in rng.integers(0, int(rng.choice([6, 40, 2000])), 2))
        p = mcnemar([[10, first], [second, 10]], exact=True).pvalue
        assert abs(p - stats.binomtest(first, first + second).pvalue) < 1e-9 if first + second else True
        found.append({"first": first, "second": second, "p": min(1.0, p) if first + second else 1.0})
    return found


def powered():
    """The mean by ppi_py, with its own choice of lambda."""
    found = []
    for _ in range(30):
        n, more = int(rng.integers(10, 80)), int(rng.integers(5, 300))
        truth = (rng.random(n + more) < rng.uniform(0.2, 0.8)).astype(float)
        judge = np.where(rng.random(n + more) < rng.uniform(0.6, 0.95), truth, 1 - truth)
        labels, own, others = truth[:n], judge[:n], judge[n:]
        value = float(ppi_py.ppi_mean_pointestimate(labels, own, others)[0])
        low, high = (float(end[0]) for end in ppi_py.ppi_mean_ci(labels, own, others, alpha=0.05))
        # With Student's distribution, which is wider for few labels.
        half = (high - low) / 2 * stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975)
        low, high = value - half, value + half
        found.append({"labels": labels.tolist(), "judge": own.tolist(), "others": others.tolist(), "value": value, "low": low, "high": high})
    return found


def corrected():
    """The formulas of arXiv 2511.21140, written down once more."""
    found = []
    z = stats.norm.ppf(0.975)
    for _ in range(60):
        n, m0, m1 = (int(one) for one in rng.integers(5, 300, 3))
        p = rng.binomial(n, rng.uniform(0.1, 0.9)) / n
        q0, q1 = rng.binomial(m0, rng.uniform(0.6, 1)) / m0, rng.binomial(m1, rng.uniform(0.6, 1)) / m1
        if q0 + q1 <= 1.05:
            continue
        one = {"n": n, "m0": m0, "m1": m1, "p": p, "q0": q0, "q1": q1, "value": float(np.clip((p + q0 - 1) / (q0 + q1 - 1), 0, 1))}
        p, q0, q1 = (n * p + z**2 / 2) / (n + z**2), (m0 * q0 + 1) / (m0 + 2), (m1 * q1 + 1) / (m1 + 2)
        n, m0, m1 = n + z**2, m0 + 2, m1 + 2
        rate = (p + q0 - 1) / (q0 + q1 - 1)
        shift = 2 * z**2 * (rate * q1 * (1 - q1) / m1 - (1 - rate) * q0 * (1 - q0) / m0)
        half = z * np.sqrt(p * (1 - p) / n + (1 - rate) ** 2 * q0 * (1 - q0) / m0 + rate**2 * q1 * (1 - q1) / m1) / (q0 + q1 - 1)
        found.append({**one, "low": float(np.clip(rate + shift - half, 0, 1)), "high": float(np.clip(rate + shift + half, 0, 1))})
    return found


def majorities():
    """Of beta-binomial votes, by scipy."""
    found = []
    for _ in range(30):
        chance, correlation, samples = float(rng.uniform(0.05, 0.95)), float(rng.uniform(0, 0.95)), int(rng.integers(1, 16))
        if correlation < 0.05:
            correlation, law = 0.0, stats.binom(samples, chance)
        else:
            scale = (1 - correlation) / correlation
            law = stats.betabinom(samples, chance * scale, (1 - chance) * scale)
        found.append({"chance": chance, "correlation": correlation, "samples": samples, "value": float(law.sf(samples // 2))})
    return found


packages = ["scipy", "statsmodels", "scikit-learn", "krippendorff", "ppi-python"]
vectors = {
    "by": ", ".join(f"{name} {version(name)}" for name in packages),
    "kappas": kappas(),
    "alphas": alphas(),
    "mcnemars": mcnemars(),
    "powered": powered(),
    "corrected": corrected(),
    "majorities": majorities(),
    "alpha_intervals": alpha_intervals(),
}
with open("vectors.json", "w", encoding="utf-8") as file:
    json.dump(vectors, file)
    file.write("\n")
