"""The reading side of the view: the exact tier and the nearest entries, in memory as far as possible.

Nothing here blocks the event loop: what is in memory is answered at once, LanceDB is asked by its asynchronous calls, and what
blocks runs on threads. A view that can't be
read (disk gone, folder not there yet) is a view without entries: every lookup misses, `failure` says why, and the reader
recovers by itself.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt
import structlog
from pydantic import ValidationError

from groundwire.lake.cache.bodies import Bodies, ReadTooSlow
from groundwire.lake.cache.errors import ViewDamaged
from groundwire.lake.cache.exact import RecentAnswers
from groundwire.lake.cache.follower import UNCOVERED_ROWS, Changes, Follower
from groundwire.lake.cache.keys import KeyIndex, hash64
from groundwire.lake.cache.layout import PUT, vectors_name
from groundwire.lake.cache.older import Coverage, OlderVectors
from groundwire.lake.cache.purge import quoted
from groundwire.lake.cache.store import Store
from groundwire.lake.cache.vectors import Candidate, VectorMemory
from groundwire.schemas.cache_write import CacheEntry
from groundwire.schemas.settings import Settings

_T = TypeVar("_T")

log = structlog.get_logger(__name__)

# Fewer rows than this are searched faster in place (0.2 ms) than handed to a thread.
_SEARCH_INLINE_ROWS = 4096
# Waiting costs less than paying again, but a disk that hangs must not hold a request up for ever.
_PATIENCE_S = 5.0
# The smallest answers are about this large: of the newest ones no more are read into memory at the start than may fit.
_SMALL_ANSWER_BYTES = 1024
# A facet where so many near rows are dead is about to be tidied by the writer.
_MOST_ASKED = 2_000
_SAY_AGAIN_S = 30.0
# A writer that starts at the same time may drop a segment under the first look; to begin without it would be to pay again.
_FIRST_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live entry near a vector."""

    entry: CacheEntry
    similarity: float


@dataclass(frozen=True, slots=True)
class ReaderStats:
    """What a reader holds in memory, for metrics. `failure` says why the view can't be read, or is None."""

    entries: int
    answers: int
    answer_bytes: int
    vectors: int
    vector_bytes: int
    index_bytes: int
    older_indexed: bool
    failure: str | None


class CacheReader:
    """Reads the view of one home. All methods belong to the event loop that started it."""

    def __init__(self, settings: Settings, model: str | None = None, dimensions: int = 0) -> None:
        """`model` and `dimensions` are the embedder's; without them there is no semantic tier."""
        self._settings = settings
        self._store = Store(settings.cache_path)
        self._older = None if model is None else OlderVectors(self._store, vectors_name(model, dimensions), dimensions)
        self._memory_rows = settings.cache.semantic.memory_rows
        self._follower = Follower(self._store, self._older, model, dimensions, self._memory_rows)
        self._index = KeyIndex()
        self._memory_bytes = settings.cache.memory_mib * 1024 * 1024
        self._answers = RecentAnswers(self._memory_bytes)
        self._bodies = Bodies(self._store, self._answers, self._follower.segment_of, self._open, self._renew)
        self._vectors = VectorMemory(dimensions)
        self._vectors_from = 0
        self._coverage = Coverage()
        self._threads = ThreadPoolExecutor(max_workers=3, thread_name_prefix="cache-view")
        self._task: asyncio.Task[None] | None = None
        self._looking = asyncio.Lock()
        self._looks = 0
        self._said_at = 0.0
        self.failure: str | None = None

    async def start(self) -> None:
        """Read what is there, then follow. Never fails: a view that can't be read is empty until it can."""
        for _ in range(_FIRST_LOOKS):
            await self.refresh()
            if self.failure is None:
                break
            await asyncio.sleep(self._settings.cache.poll_interval_s)
        self._task = asyncio.create_task(self._follow(), name="cache-view")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self._bodies.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._store.close()

    async def refresh(self) -> None:
        """Look for changes now."""
        async with self._looking:
            try:
                changes = await self._on_thread(self._follower.look)
            except Exception as error:  # whatever half a file makes a reader stumble over: the next look starts anew
                self._failed(error)
                return
            finally:
                self._looks += 1
            self.failure = None
            if changes is not None:
                self._take(changes)

    def stats(self) -> ReaderStats:
        """What is held now. Cheap."""
        return ReaderStats(
            entries=len(self._index),
            answers=len(self._answers),
            answer_bytes=self._answers.bytes,
            vectors=len(self._vectors),
            vector_bytes=self._vectors.bytes,
            index_bytes=self._index.bytes,
            older_indexed=self._coverage.indexed,
            failure=self.failure,
        )

    async def exact(
        self, cache_key: str, now_ms: int, *, stale_s: int = 0, patience_s: float = _PATIENCE_S
    ) -> CacheEntry | None:
        """The entry of a key, if it lives (or ended at most `stale_s` ago). The entry carries no embedding.

        One that is not read from the disk within `patience_s` is None too.
        """
        key_hash = hash64(cache_key)
        place = self._index.get(key_hash)
        if place is None or place.expires_at_ms + stale_s * 1000 <= now_ms:
            return None
        entry = await self._entry(key_hash, place.seq, patience_s)
        return entry if entry is not None and entry.cache_key == cache_key else None

    async def nearest(self, facet: str, vector: list[float], k: int, now_ms: int) -> list[Neighbour]:
        """The live entries of a facet nearest to a vector, nearest first."""
        found = []
        for candidate in await self.candidates(facet, vector, k, now_ms):
            entry = await self.entry(candidate, facet)
            if entry is not None:
                found.append(Neighbour(entry, candidate.similarity))
        return found

    async def candidates(self, facet: str, vector: list[float], k: int, now_ms: int) -> list[Candidate]:
        """The same without the entries themselves, which cost a read each."""
        if k < 1 or self._older is None:
            return []
        facet_hash, asked = hash64(facet), np.asarray(vector, np.float32)
        search_newer = self._search(partial(self._newer, facet_hash, asked), k, now_ms)
        if self._coverage.first_seqs.get(facet_hash, self._vectors_from) >= self._vectors_from:
            return await search_newer
        search_older = self._search(partial(self._from_index, self._older, facet_hash, asked), k, now_ms)
        older, newer = await asyncio.gather(search_older, search_newer)
        found = {row.seq: row for row in (*older, *newer)}
        return sorted(found.values(), key=lambda row: -row.similarity)[:k]

    async def entry(self, candidate: Candidate, facet: str) -> CacheEntry | None:
        """A candidate's entry, or None when it can't be read or is of another facet."""
        entry = await self._entry(candidate.key_hash, candidate.seq, _PATIENCE_S)
        found = entry is not None and entry.facet == facet and entry.normalized_query == candidate.query
        return entry if found else None

    async def get(self, normalized_query: str, now_ms: int) -> list[CacheEntry]:
        """All live entries of a text, whatever their provider, depth and locale; newest first."""
        bodies = await self._on_thread(partial(self._read_bodies, f"normalized_query = {quoted(normalized_query)}"))
        found = []
        for seq, key_hash, body in bodies:
            place = self._index.get(key_hash)
            if place is not None and place.seq == seq and place.expires_at_ms > now_ms:
                entry = _decoded(body)
                if entry is not None:
                    found.append(entry)
        return sorted(found, key=lambda entry: entry.stored_at_ms, reverse=True)

    async def _search(
        self, search: Callable[[int], Awaitable[list[Candidate]]], k: int, now_ms: int
    ) -> list[Candidate]:
        """The `k` nearest live rows; more are asked for while many near ones are superseded, purged or over."""
        wanted = 2 * k
        while True:
            rows = await search(wanted)
            live = [row for row in rows if self._lives(row, now_ms)]
            if len(live) >= k or len(rows) < wanted or wanted > _MOST_ASKED:
                return live[:k]
            wanted *= 4

    async def _newer(self, facet_hash: int, asked: npt.NDArray[np.float32], count: int) -> list[Candidate]:
        snapshot = self._vectors.snapshot(facet_hash)
        if snapshot is None:
            return []
        if len(snapshot) <= _SEARCH_INLINE_ROWS:
            return snapshot.nearest(asked, count)
        return await self._on_thread(partial(snapshot.nearest, asked, count))

    async def _from_index(
        self, older: OlderVectors, facet_hash: int, asked: npt.NDArray[np.float32], count: int
    ) -> list[Candidate]:
        try:
            await self._open(older.name)
            return await older.nearest(facet_hash, asked, count, indexed=self._coverage.indexed)
        except (OSError, ViewDamaged) as error:
            self._failed(error)
            return []

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._settings.cache.poll_interval_s)
            if self._follower.changed():
                await self.refresh()

    def _take(self, changes: Changes) -> None:
        if changes.reset:
            self._vectors.clear()  # answers stay: a number never names another answer
        if changes.index is not None:
            self._index = changes.index
        for key_hash, seq, expires_at_ms in changes.puts:
            self._index.put(key_hash, seq, expires_at_ms)
        for seq, body in changes.bodies:
            self._answers.put(seq, body)
        if changes.vectors_from is not None:
            self._vectors_from = changes.vectors_from
        for rows in changes.vectors:
            self._vectors.add(rows.vectors, rows.seqs, rows.keys, rows.facets, rows.queries)
        if changes.coverage is not None:
            self._coverage = changes.coverage
        self._trim_vectors()
        if changes.reset:
            self._bodies.warm(self._newest())

    def _newest(self) -> list[int]:
        """The live entries that may fit into memory, newest first."""
        _, seqs, ends = self._index.columns()
        live = seqs[ends > time.time_ns() // 1_000_000]
        count = self._memory_bytes // _SMALL_ANSWER_BYTES
        if count < len(live):
            live = np.partition(live, len(live) - count)[-count:]
        return cast(list[int], np.sort(live)[::-1].tolist())

    def _trim_vectors(self) -> None:
        """Let go of the oldest vectors that the table has, in few large steps."""
        too_many = len(self._vectors) - self._memory_rows
        if too_many <= self._memory_rows // 4:
            return
        first = self._vectors.newest(self._memory_rows)
        if too_many < UNCOVERED_ROWS:
            first = min(first, self._coverage.last_seq + 1)
        if first > self._vectors_from:
            self._vectors.trim(first)
            self._vectors_from = first

    def _lives(self, row: Candidate, now_ms: int) -> bool:
        place = self._index.get(row.key_hash)
        return place is not None and place.seq == row.seq and place.expires_at_ms > now_ms

    async def _entry(self, key_hash: int, seq: int, patience_s: float) -> CacheEntry | None:
        looks = self._looks
        body = await self._body(seq, patience_s)
        if body is None:
            # The writer may have put it elsewhere, or replaced it, since the last look.
            if looks == self._looks:
                await self.refresh()
            place = self._index.get(key_hash)
            if place is not None and place.seq != seq:
                body = await self._body(place.seq, patience_s)
        return None if body is None else _decoded(body)

    async def _body(self, seq: int, patience_s: float) -> str | None:
        try:
            return await self._bodies.get(seq, patience_s)
        except (OSError, ViewDamaged) as error:
            self._failed(error)
            return None

    async def _open(self, name: str) -> None:
        """Opening a table reads files and blocks; once open it stays so."""
        if not self._store.is_open(name):
            await self._on_thread(partial(self._store.table, name))

    async def _renew(self, name: str) -> None:
        async with self._looking:
            await self._on_thread(partial(self._store.latest, name))

    def _read_bodies(self, where: str) -> list[tuple[int, int, str]]:
        found: list[tuple[int, int, str]] = []
        for name in self._store.segments():
            rows = self._store.read(name, ["seq", "key_hash", "body"], f"kind = {PUT} AND {where}")
            found.extend(zip(*(rows[column].to_pylist() for column in ("seq", "key_hash", "body")), strict=True))
        return found

    async def _on_thread(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _failed(self, error: Exception) -> None:
        self.failure = str(error)
        now = time.monotonic()
        if now - self._said_at > _SAY_AGAIN_S:
            self._said_at = now
            if isinstance(error, ReadTooSlow):
                log.warning("an answer was not read from the cache view in time; its lookup misses", error=self.failure)
            else:
                log.warning("the cache view can't be read; every lookup misses until it can", error=self.failure)


def _decoded(body: str) -> CacheEntry | None:
    try:
        return CacheEntry.model_validate_json(body)
    except ValidationError:  # written by a newer version with fields this one does not know
        return None
