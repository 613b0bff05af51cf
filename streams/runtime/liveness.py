"""A consumer may sit idle after a broker's restart although there are records to read (aiokafka #1154). Then the worker ends
itself: whoever started it starts it again, and the new one reads on from the last commit.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


class IdleWithLag(Exception):  # noqa: N818 - it is what happened, as in the message
    """There is something to read, and nothing was read for too long."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen of a consumer at one moment. `lag`: records not read yet; `progress`: any number that grows with work."""

    lag: int
    progress: int


class LivenessProbe:
    """Decides from a row of sights whether the consumer is stuck."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._progress: int | None = None
        self._idle_since: float | None = None

    def is_stuck(self, sight: Sight | None, now: float) -> bool:
        """`sight` None: the broker does not answer, so nobody can tell, and it is not the consumer's fault."""
        if sight is None or sight.lag <= 0 or sight.progress != self._progress:
            self._progress = None if sight is None else sight.progress
            self._idle_since = None
            return False
        if self._idle_since is None:
            self._idle_since = now
        return now - self._idle_since >= self._limit_s


async def watch(look: Callable[[], Awaitable[Sight | None]], limit_s: float) -> None:
    """Look every now and then, for ever. Raises IdleWithLag when the consumer is stuck."""
    probe = LivenessProbe(limit_s)
    while True:
        await asyncio.sleep(limit_s / 6)
        sight = await look()
        if probe.is_stuck(sight, time.monotonic()):
            raise IdleWithLag(f"{sight.lag if sight else 0:,} records wait and none was read for {limit_s:g} s")
