"""How fast each provider answers, for the moment from which waiting longer than usual begins."""

from collections import deque

_SAMPLES = 200


class Latencies:
    """The newest latencies of one provider's answers, in milliseconds."""

    def __init__(self, min_samples: int) -> None:
        self._min_samples = min_samples
        self._samples: deque[float] = deque(maxlen=_SAMPLES)

    def ended(self, latency_ms: float) -> None:
        self._samples.append(latency_ms)

    def p95_ms(self) -> float | None:
        """None while there are too few samples."""
        if len(self._samples) < self._min_samples:
            return None
        ordered = sorted(self._samples)
        return ordered[min(int(len(ordered) * 0.95), len(ordered) - 1)]
