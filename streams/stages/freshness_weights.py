"""How much each sign of an English question weighs: a logistic model whose coefficients are a file that can be read and refitted.

`freshness_weights.json` is the shipped one; `freshness.weights` names another. docs/guide/freshness.md says how they are made.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

SHIPPED = "freshness_weights.json"


class FreshnessWeights(BaseModel):
    """`threshold` is the probability of changing with time from which an answer is not taken for static."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str
    made_of: str
    threshold: float = Field(gt=0, lt=1)
    bias: float
    weights: dict[str, float]

    def probability(self, signs: Iterable[str]) -> float:
        """That the answer depends on when one asks."""
        weights = self.weights
        total = self.bias + sum(weights.get(sign, 0.0) for sign in signs)
        return 1 / (1 + math.exp(-total))

    def weighed(self, signs: Iterable[str]) -> list[tuple[str, float]]:
        """The signs that have a weight, the heaviest first."""
        found = [(sign, self.weights[sign]) for sign in signs if sign in self.weights]
        return sorted(found, key=lambda pair: (-abs(pair[1]), pair[0]))


def load_weights(path: Path | None = None) -> FreshnessWeights:
    """The weights of a file, or the shipped ones. Raises ValueError, naming the file, when it can't be used."""
    if path is None:
        return _shipped()
    try:
        return FreshnessWeights.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ValueError(f"freshness.weights: {path} can't be read: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ValueError(f"freshness.weights: {path}: {where}: {first['msg']}") from None


@lru_cache(maxsize=1)
def _shipped() -> FreshnessWeights:
    text = resources.files(__package__).joinpath(SHIPPED).read_text(encoding="utf-8")
    return FreshnessWeights.model_validate_json(text)
