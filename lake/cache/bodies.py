"""Answers read from the segments: those that lookups wait for, many in one read, and the newest ones into memory at the start.

A read goes through every file of a segment that no compaction has taken in yet, whether it is for one answer or for many. So
there is one reader, and whoever comes while it reads is served by its next read, together with all others. With a read for
each lookup, 32 at once over 400 files took 1.8 s, longer than any of them waited, and all turned into vendor calls; one
read of those 32 takes 70 ms.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

import structlog

from groundwire.lake.cache.errors import ViewDamaged, store_errors
from groundwire.lake.cache.exact import RecentAnswers
from groundwire.lake.cache.store import Store

log = structlog.get_logger(__name__)

# A condition of so many numbers is read in a millisecond; the answers themselves are about 5 KB each.
_MOST_AT_ONCE = 256
# A read that takes so long is left to itself, so that one that is never answered does not stand in the way for ever.
_ABANDONED_AFTER_S = 30.0


class ReadTooSlow(TimeoutError):  # noqa: N818 - names a state one can act on
    """An answer was not read in the time its lookup had. The message says what was waited for."""


class Bodies:
    """Sequence number → an entry's JSON, from memory or from its segment. All methods belong to one event loop."""

    def __init__(
        self,
        store: Store,
        answers: RecentAnswers,
        segment_of: Callable[[int], str | None],
        open_table: Callable[[str], Awaitable[None]],
        renew_table: Callable[[str], Awaitable[None]],
    ) -> None:
        """`open_table` and `renew_table` (to its newest version) touch the disk without blocking the event loop."""
        self._store = store
        self._answers = answers
        self._segment_of = segment_of
        self._open_table = open_table
        self._renew_table = renew_table
        self._waiting: dict[int, asyncio.Future[str | None]] = {}
        self._reading: dict[int, asyncio.Future[str | None]] = {}
        self._reading_since: float | None = None
        self._reading_from = ""
        self._to_warm: list[int] = []
        self._task: asyncio.Task[None] | None = None

    async def get(self, seq: int, patience_s: float) -> str | None:
        """The entry's JSON, or None when the segments don't have it. Raises ReadTooSlow, OSError, ViewDamaged."""
        body = self._answers.get(seq)
        if body is not None:
            return body
        if self._reading_since is not None and time.monotonic() - self._reading_since > patience_s:
            raise self._too_slow(patience_s)  # a disk that hangs: nobody has to find that out again
        future = self._reading.get(seq) or self._waiting.get(seq)
        if future is None:
            future = self._waiting[seq] = asyncio.get_running_loop().create_future()
            self._go_on()
        try:
            async with asyncio.timeout(patience_s) as limit:
                return await asyncio.shield(future)
        except TimeoutError:
            if not limit.expired():
                raise
            raise self._too_slow(patience_s) from None

    def warm(self, seqs: Iterable[int]) -> None:
        """Read these into memory, the first ones first, until it is full. Lookups go before."""
        self._to_warm = list(reversed(list(seqs)))
        if self._to_warm:
            self._go_on()

    async def stop(self) -> None:
        self._to_warm = []
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for future in self._waiting.values():
            if not future.done():
                future.set_result(None)
        self._waiting = {}

    def _go_on(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._read_on(), name="cache-bodies")

    async def _read_on(self) -> None:
        """Read while anybody waits, then what is to be warmed."""
        while self._waiting or self._to_warm:
            if self._waiting:
                await self._serve()
            else:
                await self._warm_some()

    async def _serve(self) -> None:
        first = self._segment_of(next(iter(self._waiting)))
        together = [seq for seq in self._waiting if self._segment_of(seq) == first][:_MOST_AT_ONCE]
        self._reading = {seq: self._waiting.pop(seq) for seq in together}
        try:
            found = {} if first is None else await self._read(first, together)
        except Exception as error:
            for future in self._reading.values():
                if not future.done():
                    future.set_exception(error)
                    future.exception()  # whoever waited may have gone, and nobody else has to hear of it
        else:
            for seq, future in self._reading.items():
                if seq in found:
                    self._answers.put(seq, found[seq])
                if not future.done():
                    future.set_result(found.get(seq))
        finally:
            for future in self._reading.values():
                if not future.done():  # stopped in the middle
                    future.set_result(None)
            self._reading = {}

    async def _warm_some(self) -> None:
        seqs = [self._to_warm.pop() for _ in range(min(_MOST_AT_ONCE, len(self._to_warm)))]
        name = self._segment_of(seqs[0])
        mine = [seq for seq in seqs if self._segment_of(seq) == name]
        self._to_warm.extend(reversed(seqs[len(mine) :]))
        if name is None:
            return
        try:
            found = await self._read(name, mine)
        except Exception as error:  # nobody waits for it: a lookup that does will say what is wrong
            log.info("answers are read when they are asked for, not before", error=str(error))
            self._to_warm = []
            return
        for seq in mine:
            if seq in found and not self._answers.put_last(seq, found[seq]):
                self._to_warm = []
                return

    async def _read(self, name: str, seqs: list[int]) -> dict[int, str]:
        self._reading_since, self._reading_from = time.monotonic(), name
        try:
            async with asyncio.timeout(_ABANDONED_AFTER_S) as limit:
                await self._open_table(name)
                try:
                    found = await self._read_version(name, seqs)
                except ViewDamaged:
                    found = {}
                if len(found) < len(seqs):
                    # A compaction has replaced the files of the version this handle is at, or rows have come since.
                    await self._renew_table(name)
                    found |= await self._read_version(name, [seq for seq in seqs if seq not in found])
                return found
        except TimeoutError:
            if not limit.expired():
                raise
            raise self._too_slow(_ABANDONED_AFTER_S) from None
        finally:
            self._reading_since = None

    async def _read_version(self, name: str, seqs: list[int]) -> dict[int, str]:
        with store_errors(self._store.folder(name)):
            table = self._store.asynchronous(name)
            condition = f"seq IN ({', '.join(map(str, seqs))})"
            rows = await table.query().where(condition).select(["seq", "body"]).to_arrow()
        return dict(zip(rows["seq"].to_pylist(), rows["body"].to_pylist(), strict=True))

    def _too_slow(self, waited_s: float) -> ReadTooSlow:
        under_way = ""
        if self._reading_since is not None:
            since_s = time.monotonic() - self._reading_since
            under_way = f"; one read of {self._reading_from} has been under way for {since_s:.1f} s"
        return ReadTooSlow(
            f"{self._store.path}: the disk, or this machine, is too slow: an answer was not read within {waited_s:g} s"
            f"; {len(self._waiting)} more wait{under_way}"
        )
