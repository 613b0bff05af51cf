"""The one process that writes a view: takes batches of the cache's log and applies them.

Order of one batch, and why a kill at any moment is harmless:

    1. the batch is reduced: of several puts of a key the last one stands, a purge forgets puts before it
    2. rows through which an older answer of a key would come back are deleted
    3. rows that a purge matches are deleted
    4. everything new and the positions in the log are appended in one commit

Before 4 is done the positions still point at the batch, and applying it again gives the same view; after it they point
behind it. Deleting twice is deleting once.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import structlog
from filelock import FileLock, Timeout

from groundwire.lake.cache.embedder import too_long
from groundwire.lake.cache.errors import EmbedderUnavailable, ViewDamaged, WriterBusy, os_error
from groundwire.lake.cache.keys import KeyIndex, hash64
from groundwire.lake.cache.layout import (
    INDEX_COLUMNS,
    POSITIONS,
    PUT,
    SEGMENT_SCHEMA,
    Vector,
    deleted_row,
    first_seq,
    positions_row,
    put_row,
    read_positions,
    vector_of,
)
from groundwire.lake.cache.purge import matches, quoted, where
from groundwire.lake.cache.recovery import recover
from groundwire.lake.cache.segments import Segments
from groundwire.lake.cache.store import Store
from groundwire.lake.cache.vector_table import VectorTable
from groundwire.schemas.cache_write import CacheEntry, CacheWrite, Purge
from groundwire.schemas.settings import Settings

log = structlog.get_logger(__name__)

LOCK_NAME = "writer.lock"
# A sealed segment with less of its entries left than this is written again with the newest ones.
_SPARSE = 0.25
# Deleting rows by their numbers: an expression of a few hundred kilobytes is still read in milliseconds.
_SEQS_AT_ONCE = 4_096
_CLOSE_WAIT_S = 2.0


@dataclass(frozen=True, slots=True)
class Opened:
    """What opening found. `message` is for the log, or None when all was well."""

    entries: int
    message: str | None


@dataclass
class _Reduced:
    """A batch as it acts on the view."""

    puts: dict[int, CacheEntry] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    purges: list[Purge] = field(default_factory=list)


class VectorSource(Protocol):
    """What a writer needs of an embedder. `embed_now` raises EmbedderUnavailable."""

    @property
    def model(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    def embed_now(self, text: str) -> list[float]: ...


class CacheWriter:
    """Applies the cache's log to the view of one home. Its methods block: call them on a thread of their own."""

    def __init__(self, settings: Settings, embedder: VectorSource | None = None, *, log_id: str = "") -> None:
        """`log_id` names the log the positions belong to (a broker's cluster id): positions of another log are forgotten.

        `embedder` makes vectors for entries that come without one; without it those stay out of the semantic tier.
        """
        self._settings = settings
        self._embedder = embedder
        self._log_id = log_id
        self._store = Store(settings.cache_path)
        self._vectors = None if embedder is None else VectorTable(self._store, embedder.model, embedder.dimensions)
        self._lock = FileLock(settings.cache_path / LOCK_NAME)
        self._guard = threading.RLock()
        self._background: threading.Thread | None = None
        self._segments = Segments(self._store, [])
        self._index = KeyIndex()
        self._superseded: list[int] = []
        self._positions: dict[int, int] = {}
        self._next_seq = 0
        self._unsure = False
        self._said_no_model = False

    def open(self) -> Opened:
        """Take the writer lock and read where the view stands. What can't be read is set aside.

        Raises WriterBusy when another process has the lock, OSError when the folder can't be written.
        """
        path = self._settings.cache_path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise WriterBusy(f"another process writes the cache view in {path}; this one stands by") from None
        except OSError as error:
            raise os_error(error.errno or 0, path) from error
        try:
            with self._guard:
                recovery = recover(self._store)
                self._read_state(recovery.segments, recovery.trusted)
                if recovery.damaged:
                    # Said at once: a crash before the next batch must not bring back positions that lead.
                    self._append([], self._positions, deleted=True)
                if self._vectors is not None:
                    self._vectors.drop_other_models()
                return Opened(len(self._index), recovery.message)
        except BaseException:
            self._lock.release()
            raise

    def positions(self) -> dict[int, int]:
        """Next offset to read, by partition. Partitions the view knows nothing of are missing."""
        return dict(self._positions)

    def apply(self, batch: Sequence[tuple[int, int, CacheWrite | None]]) -> None:
        """Apply changes in order: (partition, next offset, change). A change of None only moves the position.

        On return everything is durable. Raises OSError (apply the same batch again when there is room) and ViewDamaged
        (open a new writer).
        """
        if not batch:
            return
        with self._changing():
            reduced = self._reduce(batch, _now_ms())
            deleted = self._forget(reduced)
            positions = {**self._positions, **{partition: offset for partition, offset, _ in batch}}
            self._append(list(reduced.puts.values()), positions, deleted=deleted)

    def expire(self, now_ms: int) -> int:
        """Delete entries whose time is over. Readers see ends by themselves; this gives the room back. Returns how many."""
        with self._changing():
            self._delete_superseded()
            over_ms = self._over_ms(now_ms)
            _, seqs, ends = self._index.columns()
            over = seqs[ends <= over_ms].tolist()
            deleted = sum(
                self._segments.delete_seqs(over[start : start + _SEQS_AT_ONCE])
                for start in range(0, len(over), _SEQS_AT_ONCE)
            )
            self._index.fold(ended_before_ms=over_ms)
            return deleted

    def enforce_terms(self, max_age_s: Mapping[str, int], now_ms: int) -> int:
        """Delete entries that their vendor's storage terms no longer allow: provider → seconds (0: nothing may be kept).

        Returns how many. Terms may have become stricter since an entry was stored.
        """
        conditions = [
            f"(provider = {quoted(provider)} AND stored_at_ms <= {now_ms - seconds * 1000})"
            for provider, seconds in max_age_s.items()
        ]
        if not conditions:
            return 0
        with self._changing():
            if not self._segments.matches(" OR ".join(conditions)):
                return 0
            deleted = self._delete_visibly(" OR ".join(conditions))
            if deleted:
                self._append([], self._positions, deleted=True)
            return deleted

    @property
    def crowded(self) -> bool:
        """Whether so many small files have come that lookups feel it. Cheap."""
        return self._segments.crowded

    def thin_out(self) -> None:
        """Compact the segment that takes rows, if it is crowded: what `optimize` does, but now. Under 2 s."""
        with self._changing():
            if self._segments.crowded:
                self._segments.tidy(self._segments.names[-1])

    def optimize(self, *, wait: bool = False) -> None:
        """Compact segments, one at a time, and bring the index on vectors up to date beside the writing.

        Returns when the segments are done (under 2 s for each that needs it); with `wait`, when the index is, too.
        """
        for name in self._segments.names:
            with self._changing():
                self._delete_superseded()
                self._segments.tidy(name)
        with self._changing():
            self._fold_sparse()
        if self._vectors is None:
            return
        if self._background is None or not self._background.is_alive():
            self._background = threading.Thread(
                target=self._update_vectors, args=(self._vectors,), name="cache-vectors", daemon=True
            )
            self._background.start()
        if wait:
            self._background.join()

    def close(self) -> None:
        """Give the lock back. An index build in the background is left to itself: until its commit it changes nothing."""
        if self._background is not None:
            self._background.join(_CLOSE_WAIT_S)
        self._store.close()
        self._lock.release()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """One change at a time. After one that failed half-way, what is there is read again before the next."""
        with self._guard:
            if self._unsure:
                names = self._store.segments()
                self._read_state(names, names)
            self._unsure = True
            yield
            self._unsure = False

    def _read_state(self, names: Sequence[str], trusted: Sequence[str]) -> None:
        self._segments = Segments(self._store, names)
        self._superseded = []
        self._positions = self._read_positions(trusted)
        # Counted from the microseconds of the clock: numbers that readers have seen never come again, whatever was lost.
        self._next_seq = time.time_ns() // 1000
        if not names:
            self._index = KeyIndex()
            self._append([], self._positions, deleted=False)
            return
        rows = self._segments.scan(INDEX_COLUMNS)
        seqs = rows["seq"].to_numpy()
        self._next_seq = max(self._next_seq, int(seqs.max(initial=0)) + 1)
        puts = rows["kind"].to_numpy() == PUT
        self._index = KeyIndex.build(
            rows["key_hash"].to_numpy()[puts], seqs[puts], rows["expires_at_ms"].to_numpy()[puts]
        )
        self._superseded = seqs[puts][~np.isin(seqs[puts], self._index.columns()[1])].tolist()

    def _read_positions(self, names: Sequence[str]) -> dict[int, int]:
        for name in reversed(names):
            rows = self._store.read(name, ["seq", "body"], f"kind = {POSITIONS}").sort_by("seq").to_pylist()
            if rows:
                try:
                    log_id, positions = read_positions(rows[-1]["body"])
                except (ValueError, KeyError, TypeError) as error:
                    raise ViewDamaged(f"{name}: its positions can't be read: {error}") from error
                return positions if log_id == self._log_id else {}
        return {}

    def _reduce(self, batch: Sequence[tuple[int, int, CacheWrite | None]], now_ms: int) -> _Reduced:
        reduced = _Reduced()
        for _, _, change in batch:
            if change is None:
                continue
            if change.entry is not None:
                key = hash64(change.entry.cache_key)
                reduced.puts.pop(key, None)
                if change.entry.expires_at_ms > self._over_ms(now_ms):
                    reduced.puts[key] = change.entry
                    reduced.gone.discard(key)
                else:
                    reduced.gone.add(key)
            if change.purge is not None:
                reduced.purges.append(change.purge)
                for key in [key for key, entry in reduced.puts.items() if matches(change.purge, entry)]:
                    del reduced.puts[key]
                    reduced.gone.add(key)
        reduced.gone = {key for key in reduced.gone if self._index.get(key) is not None}
        return reduced

    def _forget(self, reduced: _Reduced) -> bool:
        """Delete what a batch purges or replaces by nothing; True when readers have to read all keys anew."""
        conditions = [f"({where(purge)})" for purge in reduced.purges]
        if reduced.gone:
            conditions.append(f"key_hash IN ({', '.join(map(str, sorted(reduced.gone)))})")
        return bool(conditions) and self._delete_visibly(" OR ".join(conditions)) > 0

    def _delete_visibly(self, condition: str) -> int:
        # An older answer under the deleted one must not come to light again.
        self._delete_superseded()
        deleted = self._segments.delete(condition)
        if deleted:
            rows = self._segments.scan(INDEX_COLUMNS)
            puts = rows["kind"].to_numpy() == PUT
            self._index = KeyIndex.build(
                rows["key_hash"].to_numpy()[puts], rows["seq"].to_numpy()[puts], rows["expires_at_ms"].to_numpy()[puts]
            )
        return deleted

    def _delete_superseded(self) -> None:
        while self._superseded:
            self._segments.delete_seqs(self._superseded[-_SEQS_AT_ONCE:])
            del self._superseded[-_SEQS_AT_ONCE:]

    def _append(self, entries: Sequence[CacheEntry], positions: dict[int, int], *, deleted: bool) -> None:
        rows = [deleted_row(self._next_seq)] if deleted else []
        begin = self._next_seq + len(rows)
        rows += [put_row(begin + at, entry, self._vector(entry)) for at, entry in enumerate(entries)]
        self._commit(rows, positions)

    def _commit(self, rows: list[dict[str, Any]], positions: dict[int, int]) -> None:
        """Append rows, numbered from the next number on, and the positions behind them."""
        seq = self._next_seq + len(rows)
        self._segments.append([*rows, positions_row(seq, self._log_id, positions)])
        for row in rows:
            if row["kind"] == PUT:
                older = self._index.get(row["key_hash"])
                if older is not None:
                    self._superseded.append(older.seq)
                self._index.put(row["key_hash"], row["seq"], row["expires_at_ms"])
        self._next_seq = seq + 1
        self._positions = positions

    def _fold_sparse(self) -> None:
        """Write the last entries of a sealed segment again, as if they had just come, and drop it.

        A crash between the two leaves them twice, the newer one standing.
        """
        name = self._segments.sparse(_SPARSE)
        if name is None:
            return
        seqs = set(self._index.columns()[1].tolist())
        found = self._store.read(name, SEGMENT_SCHEMA.names, f"kind = {PUT}").sort_by("seq").to_pylist()
        rows = [row for row in found if row["seq"] in seqs]
        for at, row in enumerate(rows):
            row["seq"] = self._next_seq + at
        superseded = len(self._superseded)
        self._commit(rows, self._positions)
        del self._superseded[superseded:]
        self._segments.drop(name)

    def _update_vectors(self, vectors: VectorTable) -> None:
        with self._guard:
            sealed = {name: first_seq(after) or 0 for name, after in pairwise(self._segments.names)}
            live_seqs = self._index.columns()[1].copy()
        try:
            vectors.update(sealed, live_seqs)
        except (OSError, ViewDamaged) as error:
            log.warning("the index on vectors could not be brought up to date; tried again later", error=str(error))

    def _over_ms(self, now_ms: int) -> int:
        """Entries that end by then are over: also as a stale answer, where such are allowed."""
        return now_ms - self._settings.cache.stale_if_error_s * 1000

    def _vector(self, entry: CacheEntry) -> Vector | None:
        if not entry.semantic or too_long(entry.normalized_query):
            return None
        given = vector_of(entry)
        if self._embedder is None or (given is not None and given.model == self._embedder.model):
            return given
        try:
            vector = np.asarray(self._embedder.embed_now(entry.normalized_query), "<f2")
        except EmbedderUnavailable as error:
            if not self._said_no_model:
                self._said_no_model = True
                log.warning("entries without a vector stay out of the semantic tier", error=str(error))
            return given
        return Vector(self._embedder.model, vector.tobytes())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
