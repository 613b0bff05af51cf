"""How fast and how wide one provider may be asked, by this worker's share of all fetch partitions.

A limit holds over all workers without shared state: each takes the part of it that its partitions are of all, so the parts
add up to the whole, also after a rebalance.
"""

import asyncio

from groundwire.streams.stages.ports import Clock


class RateLimit:
    """A token bucket: `per_s` calls a second over all workers, with a burst of one second's worth. None: no limit."""

    def __init__(self, per_s: float | None, clock: Clock) -> None:
        self._per_s = per_s
        self._share = 1.0
        self._clock = clock
        self._tokens = self._burst()
        self._at = clock.monotonic()

    def set_share(self, share: float) -> None:
        self._refill()
        self._share = share
        self._tokens = min(self._tokens, self._burst())

    def wait_s(self) -> float:
        """How long until the next call may begin; 0 when it may now."""
        if self._per_s is None:
            return 0.0
        self._refill()
        return max(1 - self._tokens, 0) / self._rate()

    def take(self) -> None:
        """Count one call, also one that is only going to begin after `wait_s`: those after it wait longer."""
        if self._per_s is not None:
            self._refill()
            self._tokens -= 1

    def give_back(self) -> None:
        """The call that was counted did not take place."""
        if self._per_s is not None:
            self._tokens += 1

    def _rate(self) -> float:
        return (self._per_s or 0.0) * self._share

    def _burst(self) -> float:
        # A burst of one call at the least, or a slow limit's small share would never let one pass.
        return max(self._rate(), 1.0)

    def _refill(self) -> None:
        now = self._clock.monotonic()
        self._tokens = min(self._tokens + (now - self._at) * self._rate(), self._burst())
        self._at = now


class ConcurrencyCap:
    """At most so many calls at once over all workers. None: no cap. First come, first served."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._share = 1.0
        self._under_way = 0
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def under_way(self) -> int:
        return self._under_way

    def set_share(self, share: float) -> None:
        self._share = share
        self._wake()

    def full(self) -> bool:
        return self._most is not None and self._under_way >= self._allowed()

    async def enter(self, wait_s: float) -> bool:
        """Take a place, waiting at most `wait_s`; False when none came free."""
        if not self.full() and not self._waiting:
            self._under_way += 1
            return True
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await asyncio.wait({place}, timeout=wait_s)
        except asyncio.CancelledError:
            if place.done():
                self.leave()
            else:
                self._waiting.remove(place)
            raise
        if place.done():
            return True
        self._waiting.remove(place)
        return False

    def leave(self) -> None:
        self._under_way -= 1
        self._wake()

    def _allowed(self) -> int:
        # One at the least: a cap smaller than the number of workers still lets each of them work.
        return max(int((self._most or 0) * self._share), 1)

    def _wake(self) -> None:
        while self._waiting and not self.full():
            place = self._waiting.pop(0)
            if not place.done():
                self._under_way += 1
                place.set_result(None)
