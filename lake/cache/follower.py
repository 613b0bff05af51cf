"""How a reader keeps up with a view that another process writes: what changed since it last looked."""

import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from groundwire.lake.cache.errors import ViewDamaged
from groundwire.lake.cache.keys import KeyIndex
from groundwire.lake.cache.layout import (
    DELETED,
    INDEX_COLUMNS,
    PUT,
    SEGMENT_SCHEMA,
    VECTOR_COLUMNS,
    first_seq,
    segment_name,
    unpacked,
    with_vectors,
)
from groundwire.lake.cache.older import Coverage, OlderVectors
from groundwire.lake.cache.store import Store

_TAIL_COLUMNS = [*INDEX_COLUMNS, "body", *(name for name in VECTOR_COLUMNS if name not in INDEX_COLUMNS)]
# File times are coarse: a commit this shortly after the last look may carry the same time.
_COARSE_CLOCK_S = 0.05
# Even a folder whose times say nothing is looked at this often.
_LOOK_ANYWAY_S = 1.0
# Vectors the table does not have yet are held in memory, but not without end: its writer may have no model.
UNCOVERED_ROWS = 3 * 16_384

_NOTHING = SEGMENT_SCHEMA.empty_table().select(_TAIL_COLUMNS)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class VectorRows:
    """Vectors of entries, in rising order of their sequence numbers."""

    vectors: npt.NDArray[np.float32]
    seqs: Ints
    keys: Ints
    facets: Ints
    queries: list[str]


@dataclass(slots=True)
class Changes:
    """What a look found. `index` replaces everything known about keys; the rest is to be added."""

    index: KeyIndex | None = None
    reset: bool = False
    puts: list[tuple[int, int, int]] = field(default_factory=list)
    bodies: list[tuple[int, str]] = field(default_factory=list)
    vectors: list[VectorRows] = field(default_factory=list)
    vectors_from: int | None = None
    coverage: Coverage | None = None


class Follower:
    """Reads a view's changes. `changed` is cheap and may run anywhere; `look` blocks and is for one thread at a time."""

    def __init__(
        self, store: Store, older: OlderVectors | None, model: str | None, dimensions: int, memory_rows: int
    ) -> None:
        self._store = store
        self._older = older
        self._older_stamp: tuple[int, ...] | None = None
        self._model = model
        self._dimensions = dimensions
        self._memory_rows = memory_rows
        self._segments: list[str] = []
        self._readable: list[str] = []
        self._holds_something = False
        self._last_seq = -1
        self._count = 0
        self._version: int | None = None
        self._signature: object = None
        self._looked_at = 0.0

    def changed(self) -> bool:
        """Whether a look may find something: the folder or its newest segment has been touched, or it is time."""
        now = time.time()
        signature = self._stamp()
        recent = signature is not None and now - signature[-1] / 1e9 < _COARSE_CLOCK_S
        if signature == self._signature and not recent and now - self._looked_at < _LOOK_ANYWAY_S:
            return False
        self._signature = signature
        self._looked_at = now
        return True

    def segment_of(self, seq: int) -> str | None:
        """The segment a row is in, or None when no segment reaches so far back."""
        at = bisect_right(self._readable, segment_name(seq))
        return self._readable[at - 1] if at else None

    def look(self) -> Changes | None:
        """What changed since the last look, or None. Raises OSError and ViewDamaged; the next look then starts anew."""
        try:
            return self._look()
        except Exception:
            self._segments = []
            self._signature = None
            self._older_stamp = None
            raise

    def _look(self) -> Changes | None:
        # A segment that is just being made has no version yet.
        known = set(self._segments)
        segments = [name for name in self._store.segments() if name in known or self._store.versions(name)]
        if not segments:
            held, self._holds_something, self._segments = self._holds_something, False, []
            return Changes(index=KeyIndex(), reset=True, coverage=Coverage()) if held else None
        self._holds_something = True
        coverage = self._look_at_older()
        if not self._segments or self._segments[-1] not in segments:
            return self._everything(segments, coverage)
        changes = self._news(segments)
        changes.coverage = coverage
        return changes

    def _look_at_older(self) -> Coverage | None:
        """What the table of vectors covers, when it has changed since the last look."""
        if self._older is None:
            return None
        stamp = _stamp_of(self._versions(self._older.name))
        if stamp == self._older_stamp:
            return None
        coverage = self._older.coverage()
        self._older_stamp = stamp
        return coverage

    def _everything(self, segments: list[str], coverage: Coverage | None) -> Changes:
        for name in self._store.table_names():
            self._store.forget(name)
        self._last_seq = -1
        changes = Changes(reset=True, index=self._read_index(segments), coverage=coverage, vectors_from=0)
        covered = -1 if coverage is None else coverage.last_seq
        needed = self._memory_rows
        for name in reversed(segments):
            rows = self._vectors(self._store.read(name, VECTOR_COLUMNS, f"kind = {PUT} AND vector IS NOT NULL"))
            if rows is not None:
                changes.vectors.insert(0, rows)
                needed -= len(rows.seqs)
            begin = first_seq(name) or 0
            if needed <= 0 and (begin <= covered + 1 or needed < -UNCOVERED_ROWS) and name != segments[0]:
                changes.vectors_from = begin
                break
        self._segments = self._readable = segments
        self._count, self._version = self._store.count(segments[-1]), None
        return changes

    def _news(self, segments: list[str]) -> Changes:
        active = self._segments[-1]
        changes = Changes()
        deleted = False
        last_seq = self._last_seq
        for name in segments[segments.index(active) :]:
            known = (self._count, self._version) if name == active else (0, None)
            rows, count = self._since(name, last_seq, *known)
            if rows.num_rows:
                last_seq = max(last_seq, int(pc.max(rows["seq"]).as_py()))
                deleted = self._collect(rows, changes) or deleted
        for gone in set(self._segments) - set(segments):
            self._store.forget(gone)
        if deleted:
            changes.index = self._read_index(segments)
            changes.puts = []
        # Not further than the rows themselves were read: what the index knows beyond them comes with the next look.
        self._segments = self._readable = segments
        self._last_seq, self._count = last_seq, count
        return changes

    def _since(self, name: str, last_seq: int, known_rows: int, known_version: int | None) -> tuple[pa.Table, int]:
        """Rows after `last_seq`, and how many rows there are. New rows stand at the end of a segment."""
        self._version = self._store.latest(name).version
        if self._version == known_version:
            return _NOTHING, known_rows
        count = self._store.count(name)
        wanted = max(count - known_rows, 0) + 1
        while True:
            rows = self._store.tail(name, _TAIL_COLUMNS, wanted)
            seqs = rows["seq"].to_numpy()
            if wanted >= count or (len(seqs) and seqs.min() <= last_seq):
                break
            wanted *= 4
        fresh = np.sort(seqs[seqs > last_seq])
        begin = max(last_seq + 1, first_seq(name) or 0)
        if wanted < count and len(fresh) and (fresh[0] != begin or fresh[-1] - fresh[0] + 1 != len(fresh)):
            # Numbers are missing: rows were deleted meanwhile, or stand elsewhere. A filter finds all there are.
            rows = self._store.read(name, _TAIL_COLUMNS, f"seq > {last_seq}")
        return rows.filter(pc.greater(rows["seq"], last_seq)).sort_by("seq"), count

    def _collect(self, rows: pa.Table, changes: Changes) -> bool:
        kinds = rows["kind"].to_numpy()
        puts = rows.filter(pa.array(kinds == PUT))
        seqs = puts["seq"].to_pylist()
        changes.puts.extend(zip(puts["key_hash"].to_pylist(), seqs, puts["expires_at_ms"].to_pylist(), strict=True))
        changes.bodies.extend(zip(seqs, puts["body"].to_pylist(), strict=True))
        vectors = self._vectors(puts)
        if vectors is not None:
            changes.vectors.append(vectors)
        return bool((kinds == DELETED).any())

    def _vectors(self, rows: pa.Table) -> VectorRows | None:
        """The vectors among some rows that the reader's model made."""
        if self._model is None:
            return None
        rows = with_vectors(rows, self._model, self._dimensions)
        if not rows.num_rows:
            return None
        return VectorRows(
            unpacked(rows["vector"], self._dimensions),
            rows["seq"].to_numpy(),
            rows["key_hash"].to_numpy(),
            rows["facet_hash"].to_numpy(),
            rows["normalized_query"].to_pylist(),
        )

    def _read_index(self, segments: list[str]) -> KeyIndex:
        hashes, seqs, ends = [], [], []
        for rows in self._index_rows(segments):
            puts = rows["kind"].to_numpy() == PUT
            all_seqs = rows["seq"].to_numpy()
            if len(all_seqs):
                self._last_seq = max(self._last_seq, int(all_seqs.max()))
            hashes.append(rows["key_hash"].to_numpy()[puts])
            seqs.append(all_seqs[puts])
            ends.append(rows["expires_at_ms"].to_numpy()[puts])
        return KeyIndex.build(np.concatenate(hashes), np.concatenate(seqs), np.concatenate(ends))

    def _index_rows(self, segments: list[str]) -> Iterator[pa.Table]:
        for name in segments:
            try:
                self._store.latest(name)
                yield self._store.read(name, INDEX_COLUMNS)
            except ViewDamaged:
                if self._store.folder(name).is_dir():
                    raise
                self._store.forget(name)  # dropped between listing and reading: nothing in it was alive

    def _versions(self, name: str) -> Path:
        return self._store.folder(name) / "_versions"

    def _stamp(self) -> tuple[int, ...] | None:
        """The times of what changes when something is committed; the newest of them comes last."""
        stamps = [_stamp_of(self._store.path)]
        if self._segments:
            stamps.append(_stamp_of(self._versions(self._segments[-1])))
        if self._older is not None:
            stamps.append(_stamp_of(self._versions(self._older.name)) or (0, 0))
        if None in stamps:
            return None
        found = [stamp for stamp in stamps if stamp is not None]
        return (*(inode for inode, _ in found), *sorted(time_ns for _, time_ns in found))


def _stamp_of(folder: Path) -> tuple[int, int] | None:
    try:
        stat = folder.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns
