"""Partitions that were taken over: their records wait until what the last owner knew has been read again.

The rebalance itself does not wait: a broker that is slow to hand out the end of a log would hold up the whole group.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

log = structlog.get_logger(__name__)

Restore = Callable[[frozenset[int]], Awaitable[None]]


class TakenOver:
    """The partitions of one topic that this worker has, each with the reading again that its records wait for."""

    def __init__(self, restore: Restore) -> None:
        self._restore = restore
        self._restoring: dict[int, asyncio.Task[None]] = {}

    def assigned(self, numbers: frozenset[int]) -> None:
        """This worker has these partitions now, and begins to restore those it did not have before."""
        new = numbers - self._restoring.keys()
        if new:
            self._restoring |= dict.fromkeys(new, asyncio.create_task(self._guarded(new)))

    def revoked(self, numbers: frozenset[int]) -> None:
        """These went to somebody else: when they come back, what was done meanwhile has to be read again."""
        for number in numbers:
            self._restoring.pop(number, None)

    async def is_restored(self, number: int) -> bool:
        """Wait until a partition is restored. False: it is not this worker's any more, and its record is left to who has it."""
        while True:
            restoring = self._restoring.get(number)
            if restoring is None:
                return False
            if restoring.done():
                return True
            await asyncio.wait([restoring])

    async def _guarded(self, numbers: frozenset[int]) -> None:
        try:
            await self._restore(numbers)
        except Exception:
            log.exception("what the last owner knew could not be taken in; it goes on without", partitions=len(numbers))
