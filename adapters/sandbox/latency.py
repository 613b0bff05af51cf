"""How long a vendor takes: log-normal, as search APIs do; seeded, so that a run can be repeated."""

import math
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class LatencyShape:
    """`median_ms` 0: at once. `sigma` 0: always the median; 0.35 puts the 99th percentile at 2.3 times the median."""

    median_ms: float = 300.0
    sigma: float = 0.35


class Latency:
    """One shape for all vendors, and others for those that are slower or quicker."""

    def __init__(self, shape: LatencyShape, seed: int) -> None:
        self.shape = shape
        self.by_vendor: dict[str, LatencyShape] = {}
        self._random = Random(seed)

    def draw_s(self, vendor: str) -> float:
        """Seconds the next answer of this vendor takes."""
        shape = self.by_vendor.get(vendor, self.shape)
        if shape.median_ms <= 0:
            return 0.0
        return shape.median_ms / 1000 * math.exp(shape.sigma * self._random.gauss(0, 1))
