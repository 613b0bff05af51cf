"""The segments of a view, as its writer sees them: where rows go, and how the files are kept few and dense."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pyarrow as pa
from lancedb.index import BTree

from groundwire.lake.cache.errors import store_errors
from groundwire.lake.cache.layout import POSITIONS, PUT, SEGMENT_SCHEMA, first_seq, segment_name
from groundwire.lake.cache.store import Store

# A compaction rewrites a segment, so this bounds what one costs: 0.6 s of CPU and 70 MiB of memory.
SEGMENT_ROWS = 16_384
SEGMENT_BYTES = 64 * 1024 * 1024
# Readers look at least once a second; after this long none is still reading an old version.
KEPT_VERSIONS = timedelta(seconds=60)
# More versions than this, and old enough ones among them, are worth clearing away: their files are dead weight.
_MANY_VERSIONS = 3
# Small files worth a compaction when the time for it has come: a read of a segment of 32 takes 10 ms, of one of 400 70 ms.
_COMPACT_AT_COMMITS = 32
# So many are not left until the time has come.
CROWDED_AT_COMMITS = 128
# Deleted rows, as a share, from which a compaction is worth its while.
_COMPACT_AT_DELETED = 0.2
# Below this a scan of the numbers is as fast as an index on them.
_INDEX_ROWS = 1_000


@dataclass(slots=True)
class _State:
    """What the writer remembers of a segment since it was opened."""

    rows: int
    bytes: int
    commits: int
    deleted: int = 0
    indexed: bool = False
    cleared_at: float = 0.0


class Segments:
    """All segments of a store, oldest first; the last one takes rows. Not thread-safe: the writer's guard is around it."""

    def __init__(self, store: Store, names: Sequence[str]) -> None:
        self._store = store
        self._states: dict[str, _State] = {name: self._look_at(name) for name in names}

    def __len__(self) -> int:
        return len(self._states)

    @property
    def names(self) -> list[str]:
        return list(self._states)

    @property
    def sealed(self) -> list[str]:
        """Those that take no rows any more."""
        return list(self._states)[:-1]

    def scan(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all rows, oldest segment first."""
        return pa.concat_tables([self._store.read(name, columns) for name in self._states])

    @property
    def crowded(self) -> bool:
        """Whether the segment that takes rows lies in so many files that reading it slows lookups down."""
        active = self._active()
        return active is not None and self._states[active].commits >= CROWDED_AT_COMMITS

    def matches(self, condition: str) -> bool:
        """Whether there are entries that match: cheaper to know than a delete that finds nothing."""
        return any(self._store.read(name, ["seq"], f"kind = {PUT} AND ({condition})").num_rows for name in self._states)

    def append(self, rows: Sequence[dict[str, Any]]) -> None:
        """Add rows in one commit; into a new segment when the last one is full. Raises OSError, ViewDamaged."""
        table = pa.Table.from_pylist(list(rows), schema=SEGMENT_SCHEMA)
        active = self._active()
        if active is None or self._is_full(active, len(rows), table.nbytes):
            name = segment_name(rows[0]["seq"])
            self._store.create(name, SEGMENT_SCHEMA, table)
            self._states[name] = _State(rows=len(rows), bytes=table.nbytes, commits=1)
            return
        self._store.add(active, table)
        state = self._states[active]
        state.rows += len(rows)
        state.bytes += table.nbytes
        state.commits += 1

    def delete(self, condition: str) -> int:
        """Delete entries that match; returns how many."""
        return sum(self._delete(name, f"kind = {PUT} AND ({condition})") for name in self._states)

    def delete_seqs(self, seqs: Sequence[int]) -> int:
        """Delete rows by their sequence numbers, each in the one segment that has it; returns how many."""
        return sum(
            self._delete(name, f"seq IN ({', '.join(map(str, mine))})") for name, mine in self._by_segment(sorted(seqs))
        )

    def tidy(self, name: str) -> None:
        """Bring one segment into shape, if it needs it: drop it when empty, compact, index."""
        state = self._states.get(name)
        if state is None:
            return
        sealed = name != next(reversed(self._states))
        if sealed and not self._has_entries(name, state):
            self._store.drop(name)
            del self._states[name]
            return
        wants_index = not state.indexed and state.rows >= _INDEX_ROWS
        deleted_much = state.deleted > _COMPACT_AT_DELETED * max(state.rows, 1)
        many_files = state.commits > (1 if sealed else _COMPACT_AT_COMMITS)
        if not (many_files or deleted_much or wants_index):
            self._clear_versions(name, state)
            return
        self._drop_old_positions(name)
        table = self._store.table(name)
        with store_errors(self._store.folder(name)):
            if wants_index:
                table.create_index("seq", config=BTree())
            table.optimize(cleanup_older_than=KEPT_VERSIONS)
        self._states[name] = self._look_at(name)

    def sparse(self, share: float) -> str | None:
        """A sealed segment of which little is left, or None."""
        for name in self.sealed:
            state = self._states[name]
            if state.rows < share * SEGMENT_ROWS and state.bytes < share * SEGMENT_BYTES:
                return name
        return None

    def drop(self, name: str) -> None:
        self._store.drop(name)
        del self._states[name]

    def _clear_versions(self, name: str, state: _State) -> None:
        """Give back the room of what a compaction replaced, once nobody reads it any more."""
        due = time.monotonic() - state.cleared_at > KEPT_VERSIONS.total_seconds()
        if due and self._store.versions(name) > _MANY_VERSIONS:
            with store_errors(self._store.folder(name)):
                self._store.table(name).optimize(cleanup_older_than=KEPT_VERSIONS)
            state.cleared_at = time.monotonic()

    def _delete(self, name: str, condition: str) -> int:
        deleted = self._store.delete(name, condition)
        self._states[name].deleted += deleted
        self._states[name].rows -= deleted
        return deleted

    def _active(self) -> str | None:
        return next(reversed(self._states), None)

    def _is_full(self, name: str, rows: int, size: int) -> bool:
        state = self._states[name]
        return state.rows > 0 and (state.rows + rows > SEGMENT_ROWS or state.bytes + size > SEGMENT_BYTES)

    def _look_at(self, name: str) -> _State:
        folder = self._store.folder(name)
        table = self._store.table(name)
        with store_errors(folder):
            stats = table.stats()
            indexed = bool(list(table.list_indices()))
        fragments = int(stats["fragment_stats"]["num_fragments"])
        return _State(
            rows=int(stats["num_rows"]),
            bytes=int(stats["total_bytes"]),
            commits=fragments,
            indexed=indexed,
            cleared_at=time.monotonic(),
        )

    def _has_entries(self, name: str, state: _State) -> bool:
        """A sealed segment always keeps the positions it ended with, so no rows at all is not the test."""
        if state.rows > 64:
            return True
        return bool(self._store.read(name, ["seq"], f"kind = {PUT}").num_rows)

    def _drop_old_positions(self, name: str) -> None:
        newest = self._store.read(name, ["seq"], f"kind = {POSITIONS}")["seq"].to_pylist()
        if len(newest) > 1:
            self._store.delete(name, f"kind = {POSITIONS} AND seq < {max(newest)}")

    def _by_segment(self, seqs: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
        names = self.names
        starts = [first_seq(name) or 0 for name in names]
        for at, name in enumerate(names):
            end = starts[at + 1] if at + 1 < len(starts) else None
            mine = [seq for seq in seqs if seq >= starts[at] and (end is None or seq < end)]
            if mine:
                yield name, mine
