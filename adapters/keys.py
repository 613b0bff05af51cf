"""One provider's keys: the next one only when one is used up. A used-up key is not tried again while another is left."""

import time
from collections.abc import Callable, Sequence

QUOTA_REST_S = 15 * 60.0


class KeyRing:
    """Keys in the operator's order. The first that does not rest is used."""

    def __init__(self, keys: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._keys = list(keys)
        self._rests_until = [0.0] * len(self._keys)
        self._clock = clock

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"KeyRing({len(self._keys)} keys)"

    def current(self) -> str | None:
        """The key to use now; when all rest, the one that may be used again first."""
        if not self._keys:
            return None
        now = self._clock()
        for key, until in zip(self._keys, self._rests_until, strict=True):
            if until <= now:
                return key
        return self._keys[self._rests_until.index(min(self._rests_until))]

    def rest(self, key: str | None, seconds: float | None = None) -> None:
        """Lay a key aside: its quota is used up, or it was refused."""
        if key in self._keys:
            self._rests_until[self._keys.index(key)] = self._clock() + (seconds or QUOTA_REST_S)

    def has_fresh(self) -> bool:
        """Whether a key is left that does not rest."""
        now = self._clock()
        return any(until <= now for until in self._rests_until)

    def resting(self) -> int:
        now = self._clock()
        return sum(until > now for until in self._rests_until)
