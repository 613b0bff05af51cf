"""How long one attempt may take, so that the whole chain ends inside the request's deadline."""

from groundwire.streams.stages.ports import Clock

# An attempt with less time than this can't succeed, but it can be billed.
LEAST_ATTEMPT_S = 0.05

# Kept back for the way from here to the consumer: mapping the answer and two hops.
_RESERVE_S = 0.1
_RESERVE_SHARE = 0.1


class Deadline:
    """What is left of a request's time for vendors. Moments are Unix milliseconds, durations seconds."""

    def __init__(self, requested_at_ms: int, deadline_ms: int, clock: Clock) -> None:
        total_s = max(deadline_ms - requested_at_ms, 0) / 1000
        reserve_s = min(_RESERVE_S, total_s * _RESERVE_SHARE)
        self._ends_ms = deadline_ms - reserve_s * 1000
        self._clock = clock

    def left_s(self) -> float:
        """Never negative."""
        return max(self._ends_ms - self._clock.now_ms(), 0) / 1000

    def too_near(self) -> bool:
        return self.left_s() < LEAST_ATTEMPT_S


def attempt_timeout_s(left_s: float, provider_timeout_s: float, *, share: float, another_follows: bool) -> float:
    """The provider's own timeout, what is left, and only a share of that while another provider could still be asked."""
    return min(provider_timeout_s, left_s * share if another_follows else left_s)
