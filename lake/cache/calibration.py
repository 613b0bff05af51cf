"""From similarity and the verifier's verdict to the decision whether a semantic candidate is served.

The verifier decides what can be decided by reading; what is left is a probability from the similarity of the vectors, the
distance to the second-best candidate and what the verifier let pass. It is a logistic curve for each language group whose
coefficients are fitted (`calibration_fit.py`) and kept in a JSON file; more similarity can only raise it, more that was let
pass can only lower it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from groundwire.lake.cache.verifier import Verdict, verify

_SHIPPED = "coefficients.json"
VERSION = 1
# The verifier's features that a curve may use, each with the sign its weight may have.
FEATURE_SIGNS: Mapping[str, int] = {
    "similarity": 1,
    "margin": 1,
    "light": -1,
    "moved": -1,
    "joined": -1,
    "relaxed": -1,
    "extra": -1,
    "stretched": -1,
    "possessed": -1,
    "short": -1,
}
# Where the curves take similarity from: near the top of the scale a hundredth counts.
_SIMILARITY_ZERO = 0.90
_SIMILARITY_UNIT = 0.05
_MARGIN_CAP = 0.2


class CalibrationUnusable(Exception):  # noqa: N818 - names a state one can act on
    """A calibration file that can't be read: fit it again, or leave it out to use the shipped one."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a candidate is served, and why. `probability` is that of its answer being right."""

    hit: bool
    similarity: float
    probability: float
    reason: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Curve:
    """The logistic curve of one language group, and what a candidate needs beyond the verifier's pass.

    `min_similarity` is the lowest cosine the curve was fitted for; `min_similarity_soft` the lowest for candidates that
    only passed because an open question bears a word more or another mood (features `extra` and `stretched`).
    `threshold` is the probability from which on a candidate is served.
    """

    intercept: float
    weights: Mapping[str, float]
    threshold: float
    min_similarity: float
    min_similarity_soft: float

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability that the stored answer is right, given `features` as `features_of` makes them."""
        z = self.intercept + sum(weight * features.get(name, 0.0) for name, weight in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))


@dataclass(frozen=True, slots=True)
class Calibration:
    """Decides about semantic candidates. `curves` are keyed by language group: `en`, `ko`, `other`."""

    curves: Mapping[str, Curve]
    made_from: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def shipped(cls) -> "Calibration":
        """The calibration that comes with the package."""
        return _shipped()

    @classmethod
    def load(cls, path: Path) -> "Calibration":
        """A calibration that an owner fitted on their own pairs. Raises CalibrationUnusable with what is wrong."""
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CalibrationUnusable(f"{path} can't be used as a calibration: {error}") from error

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Calibration":
        """Read what `to_json` wrote. Raises KeyError, TypeError or ValueError."""
        if document.get("version") != VERSION:
            raise ValueError(f"version {document.get('version')!r}, this release reads {VERSION}")
        curves = {
            group: Curve(
                intercept=float(curve["intercept"]),
                weights={str(name): float(weight) for name, weight in curve["weights"].items()},
                threshold=float(curve["threshold"]),
                min_similarity=float(curve["min_similarity"]),
                min_similarity_soft=float(curve["min_similarity_soft"]),
            )
            for group, curve in document["curves"].items()
        }
        if "other" not in curves:
            raise ValueError("the curve `other`, for languages without rules, is missing")
        unknown = {name for curve in curves.values() for name in curve.weights} - set(FEATURE_SIGNS)
        if unknown:
            raise ValueError(f"unknown features {', '.join(sorted(unknown))}")
        return cls(curves, str(document.get("made_from", "")), dict(document.get("statement", {})))

    def to_json(self) -> dict[str, Any]:
        """A document for `load`."""
        return {
            "version": VERSION,
            "made_from": self.made_from,
            "statement": dict(self.extra),
            "curves": {
                group: {
                    "intercept": round(curve.intercept, 4),
                    "weights": {name: round(weight, 4) for name, weight in curve.weights.items()},
                    "threshold": round(curve.threshold, 4),
                    "min_similarity": curve.min_similarity,
                    "min_similarity_soft": curve.min_similarity_soft,
                }
                for group, curve in self.curves.items()
            },
        }

    def decide(
        self,
        asked: str,
        stored: str,
        similarity: float,
        *,
        margin: float | None = None,
        min_similarity: float,
        min_probability: float | None = None,
        language: str | None = None,
    ) -> Decision:
        """Decide whether the answer stored for `stored` is served for `asked`.

        `similarity` is the cosine of their vectors, `margin` its distance to the second-best candidate (None: not known).
        `min_similarity` is the operator's or the caller's; the curve's own limits hold as well, so it can only tighten.
        `min_probability` replaces the curve's threshold.
        """
        verdict = verify(asked, stored, language)
        curve = self.curve_for(verdict)
        probability = curve.probability(features_of(verdict, similarity, margin)) if verdict.passed else 0.0
        least = max(min_similarity, curve.min_similarity_soft if is_soft(verdict) else curve.min_similarity)
        needed = curve.threshold if min_probability is None else min_probability
        if not verdict.passed:
            reason = verdict.reason
        elif similarity < least:
            reason = f"similarity {similarity:.3f} below {least:.3f}: {verdict.reason}"
        elif probability < needed:
            reason = f"probability {probability:.3f} below {needed:.3f}: {verdict.reason}"
        else:
            return Decision(True, similarity, probability, f"similarity {similarity:.3f}; {verdict.reason}", verdict)
        return Decision(False, similarity, probability, reason, verdict)

    def curve_for(self, verdict: Verdict) -> Curve:
        """The curve of the language a pair is in."""
        return self.curves.get(verdict.language) or self.curves["other"]


def is_soft(verdict: Verdict) -> bool:
    """Whether a pair passed only because an open question bears a word more or another mood."""
    return bool(verdict.features.get("extra") or verdict.features.get("stretched"))


def features_of(verdict: Verdict, similarity: float, margin: float | None) -> dict[str, float]:
    """What the curves see of a pair: the verifier's features, similarity and margin on their own scales."""
    words = verdict.features.get("words", 0.0)
    return {
        **verdict.features,
        "similarity": (similarity - _SIMILARITY_ZERO) / _SIMILARITY_UNIT,
        "margin": 0.0 if margin is None else max(0.0, min(_MARGIN_CAP, margin)) / _MARGIN_CAP,
        "short": 1.0 if words <= 1 else 0.0,
    }


@lru_cache(maxsize=1)
def _shipped() -> Calibration:
    text = resources.files("groundwire.lake.cache").joinpath(_SHIPPED).read_text(encoding="utf-8")
    return Calibration.from_json(json.loads(text))
