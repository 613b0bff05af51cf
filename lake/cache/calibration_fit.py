"""Fitting the curves, and choosing from labelled pairs the threshold whose false hits stay below a stated bound.

The ranking of candidates (the curve's weights) is fitted once, on open data, and shipped. An owner's pairs then only move the
curve's height and steepness and choose the threshold, so that the statement about false hits does not depend on what was
fitted: thresholds are tested from the strictest on, each by the exact binomial bound, and the last that holds before the first
that fails is taken (fixed-sequence testing; Angelopoulos et al., Learn then Test, 2021).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from groundwire.lake.cache.calibration import (
    FEATURE_SIGNS,
    Calibration,
    Curve,
    features_of,
    is_soft,
)
from groundwire.lake.cache.verifier import Verdict, verify

CONFIDENCE = 0.95
# What reading tells of each feature before any pair is seen, in units of the logistic scale. Open pairs that pass the
# verifier are nearly all right, so that they alone would make every feature harmless.
_EXPECTED = {
    "similarity": 0.5, "margin": 0.3, "light": -0.3, "moved": -0.2, "joined": -0.1, "relaxed": -0.3, "extra": -0.8,
    "stretched": -0.8, "possessed": -0.5, "short": -0.5,
}  # fmt: skip
_FEWEST_TO_REFIT = 30
_PRIOR_PAIRS = 20.0
_STEPS = 200
_FLATTEST = 0.05
_MOST_POINTS = 60


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A pair of questions: would the answer to `stored` have served `asked`? `similarity` is the cosine of their vectors."""

    asked: str
    stored: str
    same: bool
    similarity: float
    margin: float | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """What a threshold does to the pairs. `upper_bound` is of the share of hits that are wrong."""

    threshold: float
    hits: int
    false_hits: int
    precision: float
    recall: float
    upper_bound: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """The outcome of `calibrate`.

    `upper_bound` is of the share of wrong hits: it holds with `confidence` for the true share, and for what a second sample
    as large as this one will show. `certified` says whether it is at most the rate that was asked for.
    """

    calibration: Calibration
    points: tuple[Point, ...]
    chosen: Point
    upper_bound: float
    confidence: float
    max_false_hit_rate: float
    certified: bool
    note: str

    def to_json(self) -> dict[str, Any]:
        """A document for scripts: the curve, the choice, the statement."""
        return {
            "pairs_note": self.note,
            "max_false_hit_rate": self.max_false_hit_rate,
            "confidence": self.confidence,
            "certified": self.certified,
            "threshold": self.chosen.threshold,
            "hits": self.chosen.hits,
            "false_hits": self.chosen.false_hits,
            "precision": self.chosen.precision,
            "recall": self.chosen.recall,
            "upper_bound": self.upper_bound,
            "curve": [
                {
                    "threshold": point.threshold,
                    "hits": point.hits,
                    "false_hits": point.false_hits,
                    "precision": point.precision,
                    "recall": point.recall,
                    "upper_bound": point.upper_bound,
                }
                for point in self.points
            ],
        }


def upper_bound(wrong: int, of: int, confidence: float = CONFIDENCE) -> float:
    """The exact binomial (Clopper–Pearson) upper bound of a rate seen as `wrong` out of `of`; 1.0 of nothing."""
    if of == 0 or wrong >= of:
        return 1.0
    low, high = wrong / of, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(wrong, of, middle) > 1 - confidence:
            low = middle
        else:
            high = middle
    return high


def next_sample_bound(wrong: int, of: int, confidence: float = CONFIDENCE) -> float:
    """The share of wrong ones that a second sample of `of` will not exceed, given `wrong` in the first.

    Exact: were there more in the second, the first would have got so few of all of them with at most 1 − confidence.
    """
    if of == 0:
        return 1.0
    more = wrong
    while more < of and _few_in_first(wrong, wrong + more + 1, of) > 1 - confidence:
        more += 1
    return more / of


def fit(pairs: Iterable[LabelledPair], limits: Mapping[str, tuple[float, float]], made_from: str) -> Calibration:
    """Fit a curve for each language group on pairs that pass the verifier.

    `limits`: for each group the lowest cosine, and the lowest for pairs that passed softly. Thresholds start at 0.5 and are
    chosen by `calibrate` or by hand.
    """
    rows: dict[str, list[tuple[dict[str, float], bool]]] = {group: [] for group in limits}
    for pair in pairs:
        verdict = verify(pair.asked, pair.stored, pair.language)
        group = verdict.language if verdict.language in limits else "other"
        least = limits[group][1 if is_soft(verdict) else 0]
        if verdict.passed and pair.similarity >= least:
            rows[group].append((features_of(verdict, pair.similarity, pair.margin), pair.same))
    curves = {group: _fit_curve(rows[group], *limits[group]) for group in limits}
    return Calibration(curves, made_from)


def calibrate(
    pairs: Sequence[LabelledPair],
    *,
    max_false_hit_rate: float = 0.01,
    confidence: float = CONFIDENCE,
    base: Calibration | None = None,
    made_from: str = "an owner's pairs",
) -> Fitted:
    """Refit the curves' height and steepness on labelled pairs and choose the loosest threshold that holds the rate.

    Where the pairs are too few to show that rate, the shipped threshold stays and the bound that they do show is stated.
    Raises ValueError when there are no pairs, or none that are the same.
    """
    if not any(pair.same for pair in pairs):
        raise ValueError("no pair is labelled the same: there is nothing a cache could find")
    start = base or Calibration.shipped()
    judged = [_Judged(pair, verify(pair.asked, pair.stored, pair.language)) for pair in pairs]
    refitted = replace(start, curves=_moved(start, judged), made_from=made_from)
    scored = sorted((_scored(row, refitted) for row in judged if row.usable(start)), key=lambda row: -row.probability)
    same = sum(pair.same for pair in pairs)
    points = tuple(_points(scored, same, confidence))
    certified = _certified(points, max_false_hit_rate, confidence)
    chosen = certified or _as_it_is(scored, same, confidence)
    curves = dict(refitted.curves)
    if certified:
        curves = {group: replace(curve, threshold=certified.threshold) for group, curve in curves.items()}
    # The test of thresholds shows the rate that was asked for, not the lower one that the chosen threshold happens to have.
    shown = max_false_hit_rate if certified else chosen.upper_bound
    bound = max(shown, next_sample_bound(chosen.false_hits, chosen.hits, confidence))
    note = (
        f"{len(pairs)} pairs, {same} the same; at {confidence:.0%} confidence at most {bound:.2%} of hits are wrong"
        if certified
        else f"{chosen.hits} hits are too few to show at most {max_false_hit_rate:.2%} wrong ones: "
        f"what they show is at most {bound:.2%} ({_needed(max_false_hit_rate, confidence)} hits without a wrong one would)"
    )
    statement = {
        "proven": certified is not None, "false_hit_rate_at_most": round(bound, 5), "confidence": confidence,
        "hits": chosen.hits, "false_hits": chosen.false_hits,
    }  # fmt: skip
    calibration = Calibration(curves, made_from, statement)
    return Fitted(calibration, points, chosen, bound, confidence, max_false_hit_rate, certified is not None, note)


@dataclass(frozen=True, slots=True)
class _Scored:
    probability: float
    threshold: float
    same: bool


def _scored(row: "_Judged", calibration: Calibration) -> _Scored:
    curve = calibration.curve_for(row.verdict)
    return _Scored(curve.probability(row.features), curve.threshold, row.pair.same)


@dataclass(frozen=True, slots=True)
class _Judged:
    pair: LabelledPair
    verdict: Verdict

    @property
    def features(self) -> dict[str, float]:
        return features_of(self.verdict, self.pair.similarity, self.pair.margin)

    def usable(self, calibration: Calibration) -> bool:
        curve = calibration.curve_for(self.verdict)
        least = curve.min_similarity_soft if is_soft(self.verdict) else curve.min_similarity
        return self.verdict.passed and self.pair.similarity >= least


def _fit_curve(rows: Sequence[tuple[dict[str, float], bool]], least: float, least_soft: float) -> Curve:
    """Logistic regression with a ridge and the signs that a weight may have, by projected Newton steps."""
    names = list(FEATURE_SIGNS)
    x = np.array([[1.0, *(features.get(name, 0.0) for name in names)] for features, _ in rows] or [[1.0]])
    y = np.array([float(same) for _, same in rows] or [1.0])
    signs = np.array([0, *(FEATURE_SIGNS[name] for name in names)][: x.shape[1]])
    expected = np.array([0.0, *(_EXPECTED[name] for name in names)][: x.shape[1]])
    ridge = np.array([0.05, *([_PRIOR_PAIRS] * (x.shape[1] - 1))])
    weights = _newton(x, y, signs, expected, ridge)
    return Curve(
        intercept=float(weights[0]),
        weights={name: float(weight) for name, weight in zip(names, weights[1:], strict=False)},
        threshold=0.5,
        min_similarity=least,
        min_similarity_soft=least_soft,
    )


def _newton(
    x: npt.NDArray[np.float64],
    y: npt.NDArray[np.float64],
    signs: npt.NDArray[np.int_],
    expected: npt.NDArray[np.float64],
    ridge: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Weights of the likeliest logistic curve with those signs, drawn towards `expected` by `ridge`; damped Newton steps."""

    def loss(weights: npt.NDArray[np.float64]) -> float:
        z = x @ weights
        return float(np.sum(np.logaddexp(0, z) - y * z) + 0.5 * np.sum(ridge * (weights - expected) ** 2))

    weights = expected.copy()
    best = loss(weights)
    for _ in range(_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (y - p) - ridge * (weights - expected)
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(ridge), gradient)
        size = 1.0
        while size > 1e-6:
            moved = weights + size * step
            moved = np.where(signs > 0, np.maximum(moved, 0), np.where(signs < 0, np.minimum(moved, 0), moved))
            if (found := loss(moved)) < best - 1e-12:
                break
            size /= 2
        else:
            return weights
        weights, best = moved, found
    return weights


def _moved(start: Calibration, judged: Sequence[_Judged]) -> dict[str, Curve]:
    """Each curve with its height and steepness fitted to the pairs of its group, drawn towards the shipped one."""
    curves = dict(start.curves)
    for group, curve in start.curves.items():
        rows = [row for row in judged if row.usable(start) and start.curve_for(row.verdict) is curve]
        if len(rows) < _FEWEST_TO_REFIT:
            continue
        z = np.array([_logit(curve.probability(row.features)) for row in rows])
        y = np.array([float(row.pair.same) for row in rows])
        slope, height = _platt(z, y)
        curves[group] = replace(
            curve,
            intercept=slope * curve.intercept + height,
            weights={name: slope * weight for name, weight in curve.weights.items()},
        )
    return curves


def _platt(z: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Slope and height that bring scores on to the labels, drawn towards leaving them as they are."""
    x = np.column_stack([z, np.ones(len(z))])
    found = _newton(x, y, np.array([1, 0]), np.array([1.0, 0.0]), np.array([_PRIOR_PAIRS, 1.0]))
    return max(_FLATTEST, float(found[0])), float(found[1])


def _points(scored: Sequence[_Scored], same: int, confidence: float) -> Iterable[Point]:
    """Thresholds from the strictest to the loosest, at most some sixty of them."""
    step = max(1, len(scored) // _MOST_POINTS)
    false = 0
    for at, row in enumerate(scored, start=1):
        false += not row.same
        last_of_its_score = at == len(scored) or scored[at].probability < row.probability
        if last_of_its_score and (at % step == 0 or at == len(scored)):
            yield _point(row.probability, at, false, same, confidence)


def _point(threshold: float, hits: int, false: int, same: int, confidence: float) -> Point:
    bound = upper_bound(false, hits, confidence)
    precision = 1 - false / hits if hits else 1.0
    return Point(
        math.floor(threshold * 1e6) / 1e6, hits, false, precision, (hits - false) / same if same else 0.0, bound
    )


def _certified(points: Sequence[Point], rate: float, confidence: float) -> Point | None:
    """The loosest threshold before the first that does not hold the rate; None when the pairs show it for none."""
    chosen: Point | None = None
    for point in points:
        # With so few hits no threshold could show the rate, whatever it does: testing starts where one could.
        if point.hits < _needed(rate, confidence):
            continue
        if point.upper_bound > rate:
            break
        chosen = point
    return chosen


def _as_it_is(scored: Sequence[_Scored], same: int, confidence: float) -> Point:
    """What each curve's own threshold does to the pairs."""
    hits = [row for row in scored if row.probability >= row.threshold]
    lowest = min((row.threshold for row in scored), default=1.0)
    return _point(lowest, len(hits), sum(not row.same for row in hits), same, confidence)


def _needed(rate: float, confidence: float) -> int:
    """How many hits without a wrong one show that a rate holds."""
    return math.ceil(math.log(1 - confidence) / math.log(1 - rate)) if 0 < rate < 1 else 1


def _logit(probability: float) -> float:
    bounded = min(max(probability, 1e-12), 1 - 1e-12)
    return math.log(bounded / (1 - bounded))


def _at_most(wrong: int, of: int, rate: float) -> float:
    """P(at most `wrong` of `of`) for independent draws at `rate`."""
    if rate <= 0:
        return 1.0
    if rate >= 1:
        return 0.0
    logs = [_log_choose(of, k) + k * math.log(rate) + (of - k) * math.log1p(-rate) for k in range(wrong + 1)]
    top = max(logs)
    return math.exp(top) * sum(math.exp(value - top) for value in logs)


def _few_in_first(few: int, total: int, of: int) -> float:
    """P(the first of two samples of `of` got at most `few` of `total` wrong ones)."""
    whole = _log_choose(2 * of, of)
    return sum(
        math.exp(_log_choose(total, k) + _log_choose(2 * of - total, of - k) - whole)
        for k in range(max(0, total - of), few + 1)
        if of - k >= 0 and total - k <= of
    )


def _log_choose(n: int, k: int) -> float:
    if not 0 <= k <= n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
