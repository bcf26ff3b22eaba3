"""Writes vectors.json: what scipy and statsmodels find for random data. `pip install scipy statsmodels`."""

import json
import math

import numpy as np
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint, samplesize_confint_proportion

rng = np.random.default_rng(7)


def clustered():
    """A mean by least squares with the standard error CR2 and its degrees of freedom, by their matrices."""
    found = []
    for _ in range(60):
        groups = [
            [round(float(rng.normal(centre, 0.2)), 6) for _ in range(rng.integers(1, 7))]
            for centre in rng.normal(0.6, 0.3, rng.integers(2, 30))
        ]
        values = np.concatenate(groups)
        names = np.concatenate([[at] * len(group) for at, group in enumerate(groups)])
        ones = np.ones((len(values), 1))
        bread = np.linalg.inv(ones.T @ ones)
        residual = np.eye(len(values)) - ones @ bread @ ones.T
        mean = float((bread @ ones.T @ values)[0])
        error, vectors = 0.0, []
        for at in range(len(groups)):
            own = names == at
            # The inverse root of the variance that residuals of this group have.
            roots, base = np.linalg.eigh(residual[np.ix_(own, own)])
            adjust = base @ np.diag(roots**-0.5) @ base.T
            score = bread @ ones[own].T @ adjust
            error += float((score @ (values[own] - mean))[0]) ** 2
            vectors.append((residual[:, own] @ score.T)[:, 0])
        of_variance = np.linalg.eigvalsh(np.array(vectors) @ np.array(vectors).T)
        freedom = float(of_variance.sum() ** 2 / (of_variance**2).sum())
        half = float(stats.t.ppf(0.975, freedom)) * math.sqrt(error)
        found.append({"groups": groups, "value": mean, "low": mean - half, "high": mean + half})
    return found


def variances():
    """Between and within groups of one size, by scipy's analysis of variance."""
    found = []
    for _ in range(40):
        size = int(rng.integers(2, 6))
        groups = [[round(float(rng.normal(centre, 0.3)), 6) for _ in range(size)] for centre in rng.normal(0.5, 0.4, 12)]
        ratio = stats.f_oneway(*groups).statistic
        within = float(np.mean([np.var(group, ddof=1) for group in groups]))
        found.append({"groups": groups, "within": within, "between": max(0.0, within * (ratio - 1) / size)})
    return found


def wilson():
    found = []
    for _ in range(200):
        count = int(rng.integers(1, 400))
        passed = int(rng.integers(0, count + 1))
        confidence = float(rng.choice([0.8, 0.9, 0.95, 0.99]))
        low, high = proportion_confint(passed, count, 1 - confidence, method="wilson")
        found.append({"passed": passed, "count": count, "confidence": confidence, "low": low, "high": high})
    return found


def passes():
    """By counting all draws without replacement."""
    found = []
    for runs in range(1, 9):
        for passed in range(runs + 1):
            for k in range(1, runs + 1):
                draws = math.comb(runs, k)
                some = 1 - math.comb(runs - passed, k) / draws
                found.append({"runs": runs, "passed": passed, "k": k, "some": some, "every": math.comb(passed, k) / draws})
    return found


def quantiles():
    return [
        {"confidence": level, "freedom": freedom, "student": stats.t.ppf((1 + level) / 2, freedom)}
        for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
        for freedom in (1, 2, 3, 7, 30, 200, 5000)
    ]


def signs():
    found = []
    for _ in range(100):
        better, worse = (int(n) for n in rng.integers(0, 60, 2))
        chance = float(mcnemar([[0, better], [worse, 0]], exact=True).pvalue)
        found.append({"better": better, "worse": worse, "chance": min(1.0, chance)})
    return found


def corrections():
    found = []
    for _ in range(40):
        chances = [float(chance) for chance in rng.uniform(0, 0.3, rng.integers(1, 12))]
        found.append({"chances": chances, "corrected": multipletests(chances, method="holm")[1].tolist()})
    return found


def differences():
    """Tests of pairs, and which true difference they find with a chance of 80%, by the noncentral distribution."""
    found = []
    for _ in range(60):
        count = int(rng.integers(5, 40))
        values = [round(float(one), 6) for one in rng.normal(rng.normal(0, 0.1), 0.3, count)]
        size = TTestPower().solve_power(nobs=count, alpha=0.05, power=0.8) * float(np.std(values, ddof=1))
        chance = max(float(stats.ttest_1samp(values, 0).pvalue), 2.0 ** (1 - count))
        found.append({"values": values, "chance": chance, "detectable": size})
    return found


def needed():
    """How many cases, each run once, an interval of a share takes."""
    found = []
    for _ in range(60):
        share, reach = float(rng.uniform(0.05, 0.95)), float(rng.uniform(0.01, 0.2))
        cases = float(samplesize_confint_proportion(share, reach, alpha=0.05, method="normal"))
        found.append({"share": share, "reach": reach, "cases": max(2, math.ceil(cases))})
    return found


vectors = {
    "by": f"scipy {scipy.__version__}, statsmodels {statsmodels.__version__}",
    "clustered": clustered(),
    "variances": variances(),
    "wilson": wilson(),
    "passes": passes(),
    "signs": signs(),
    "corrections": corrections(),
    "differences": differences(),
    "needed": needed(),
    "quantiles": quantiles(),
}
with open("vectors.json", "w", encoding="utf-8") as file:
    json.dump(vectors, file)
    file.write("\n")
