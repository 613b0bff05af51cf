"""The one process that writes a view: takes batches of the cache's log and applies them.

Order of one batch, and why a kill at any moment is harmless:

    1. the batch is reduced: of several puts of a key the last one stands, a purge forgets puts before it
    2. rows that an older version of a key would come back through are deleted
    3. rows that a purge matches are deleted
    4. everything new and the positions in the log are appended in one commit

Before 4 is done the positions still point at the batch, and applying it again gives the same view; after it they point
behind it. Deleting twice is deleting once.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from filelock import FileLock, Timeout

from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.errors import ViewDamaged, WriterBusy, os_error
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
    segment_name,
    vector_of,
)
from groundwire.lake.cache.purge import matches, where
from groundwire.lake.cache.store import Store
from groundwire.schemas.cache_write import CacheEntry, CacheWrite, Purge
from groundwire.schemas.settings import Settings

LOCK_NAME = "writer.lock"


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


class CacheWriter:
    """Applies the cache's log to the view of one home. Its methods block: call them on a thread of their own."""

    def __init__(self, settings: Settings, embedder: Embedder | None = None, *, log: str = "") -> None:
        """`log` names the log the positions belong to (a broker's cluster id): positions of another log are forgotten.

        `embedder` makes vectors for entries that come without one; without it they stay out of the semantic tier.
        """
        self._settings = settings
        self._embedder = embedder
        self._log = log
        self._store = Store(settings.cache_path)
        self._lock = FileLock(settings.cache_path / LOCK_NAME)
        self._guard = threading.RLock()
        self._index = KeyIndex()
        self._superseded: list[int] = []
        self._positions: dict[int, int] = {}
        self._next_seq = 0

    def open(self) -> Opened:
        """Take the writer lock and read where the view stands.

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
            return self._read_state()
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
        with self._guard:
            now_ms = time.time_ns() // 1_000_000
            reduced = self._reduce(batch, now_ms)
            deleted = self._delete(reduced)
            positions = {**self._positions, **{partition: offset for partition, offset, _ in batch}}
            self._append(reduced.puts, positions, deleted=deleted)

    def expire(self, now_ms: int) -> int:
        """Delete entries whose time is over. Readers see ends by themselves; this gives the room back. Returns how many."""
        with self._guard:
            self._delete_superseded()
            over_ms = now_ms - self._settings.cache.stale_if_error_s * 1000
            condition = f"kind = {PUT} AND expires_at_ms <= {over_ms}"
            deleted = sum(self._store.delete(name, condition) for name in self._store.segments())
            self._index.fold(ended_before_ms=over_ms)
            return deleted

    def optimize(self) -> None:
        """Compact."""
        with self._guard:
            self._delete_superseded()
            for name in self._store.segments():
                self._store.table(name).optimize()

    def close(self) -> None:
        """Give the lock back."""
        self._store.close()
        self._lock.release()

    def _read_state(self) -> Opened:
        segments = self._store.segments()
        if not segments:
            self._next_seq = time.time_ns() // 1000
            self._store.create(segment_name(self._next_seq), SEGMENT_SCHEMA)
            self._index, self._positions = KeyIndex(), {}
            return Opened(0, None)
        tables = [self._store.read(name, INDEX_COLUMNS) for name in segments]
        rows = pa.concat_tables(tables)
        seqs = rows["seq"].to_numpy()
        self._next_seq = max(int(seqs.max(initial=0)) + 1, first_seq(segments[-1]) or 0)
        puts = rows["kind"].to_numpy() == PUT
        hashes, ends = rows["key_hash"].to_numpy()[puts], rows["expires_at_ms"].to_numpy()[puts]
        self._index = KeyIndex.build(hashes, seqs[puts], ends)
        live = set(self._index.columns()[1].tolist())
        self._superseded = [seq for seq in seqs[puts].tolist() if seq not in live]
        self._positions = self._read_positions(segments)
        return Opened(len(self._index), None)

    def _read_positions(self, segments: list[str]) -> dict[int, int]:
        for name in reversed(segments):
            rows = self._store.read(name, ["seq", "body"], f"kind = {POSITIONS}").sort_by("seq").to_pylist()
            if rows:
                try:
                    log, positions = read_positions(rows[-1]["body"])
                except (ValueError, KeyError, TypeError) as error:
                    raise ViewDamaged(f"{name}: its positions can't be read: {error}") from error
                return positions if log == self._log else {}
        return {}

    def _reduce(self, batch: Sequence[tuple[int, int, CacheWrite | None]], now_ms: int) -> _Reduced:
        reduced = _Reduced()
        over_ms = now_ms - self._settings.cache.stale_if_error_s * 1000
        for _, _, change in batch:
            if change is None:
                continue
            if change.entry is not None:
                key = hash64(change.entry.cache_key)
                reduced.puts.pop(key, None)
                if change.entry.expires_at_ms > over_ms:
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

    def _delete(self, reduced: _Reduced) -> bool:
        conditions = [f"({where(purge)})" for purge in reduced.purges]
        if reduced.gone:
            conditions.append(f"key_hash IN ({', '.join(map(str, sorted(reduced.gone)))})")
        if not conditions:
            return False
        self._delete_superseded()
        condition = f"kind = {PUT} AND ({' OR '.join(conditions)})"
        deleted = sum(self._store.delete(name, condition) for name in self._store.segments())
        if deleted:
            self._read_index()
        return deleted > 0

    def _read_index(self) -> None:
        rows = pa.concat_tables([self._store.read(name, INDEX_COLUMNS) for name in self._store.segments()])
        puts = rows["kind"].to_numpy() == PUT
        self._index = KeyIndex.build(
            rows["key_hash"].to_numpy()[puts], rows["seq"].to_numpy()[puts], rows["expires_at_ms"].to_numpy()[puts]
        )

    def _delete_superseded(self) -> None:
        if not self._superseded:
            return
        condition = f"seq IN ({', '.join(map(str, self._superseded))})"
        for name in self._store.segments():
            self._store.delete(name, condition)
        self._superseded = []

    def _append(self, puts: Mapping[int, CacheEntry], positions: dict[int, int], *, deleted: bool) -> None:
        seq = self._next_seq
        rows = []
        for entry in puts.values():
            rows.append(put_row(seq, entry, self._vector(entry)))
            seq += 1
        if deleted:
            rows.append(deleted_row(seq))
            seq += 1
        rows.append(positions_row(seq, self._log, positions))
        segment = self._store.segments()[-1]
        self._store.add(segment, pa.Table.from_pylist(rows, schema=SEGMENT_SCHEMA))
        for row in rows:
            if row["kind"] == PUT:
                older = self._index.get(row["key_hash"])
                if older is not None:
                    self._superseded.append(older.seq)
                self._index.put(row["key_hash"], row["seq"], row["expires_at_ms"])
        self._next_seq = seq + 1
        self._positions = positions

    def _vector(self, entry: CacheEntry) -> Vector | None:
        if not entry.semantic:
            return None
        given = vector_of(entry)
        if self._embedder is None or (given is not None and given.model == self._embedder.model):
            return given
        import numpy as np

        vector = np.asarray(self._embedder.embed_now(entry.normalized_query), "<f2")
        return Vector(self._embedder.model, vector.tobytes())
