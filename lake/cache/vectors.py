"""The newest vectors in memory, by facet: what the index of the store does not know yet, and what is asked for most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

_T = TypeVar("_T", bound=np.generic)

_FIRST_CAPACITY = 64


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored question near the asked one. Whether it still lives, the key index says."""

    similarity: float
    seq: int
    key_hash: int
    query: str


class _Facet:
    """Rows of one facet, in the order they came. Rows once written never change, so a snapshot may be searched elsewhere."""

    def __init__(self, dimensions: int) -> None:
        self.count = 0
        self.matrix: Floats = np.empty((_FIRST_CAPACITY, dimensions), np.float32)
        self.seqs: Ints = np.empty(_FIRST_CAPACITY, np.int64)
        self.keys: Ints = np.empty(_FIRST_CAPACITY, np.int64)
        self.queries: list[str] = []

    def add(self, rows: Floats, seqs: Ints, keys: Ints, queries: Sequence[str]) -> None:
        end = self.count + len(rows)
        if end > len(self.matrix):
            capacity = max(end, len(self.matrix) * 5 // 4)
            self.matrix = _grown(self.matrix, self.count, capacity)
            self.seqs = _grown(self.seqs, self.count, capacity)
            self.keys = _grown(self.keys, self.count, capacity)
        self.matrix[self.count : end] = rows
        self.seqs[self.count : end] = seqs
        self.keys[self.count : end] = keys
        self.queries.extend(queries)
        self.count = end

    def kept(self, keep: npt.NDArray[np.bool_]) -> "_Facet":
        """A copy with some of the rows."""
        fresh = _Facet(self.matrix.shape[1])
        fresh.add(
            self.matrix[: self.count][keep],
            self.seqs[: self.count][keep],
            self.keys[: self.count][keep],
            [query for query, wanted in zip(self.queries, keep.tolist(), strict=True) if wanted],
        )
        return fresh


def _grown(column: npt.NDArray[_T], count: int, capacity: int) -> npt.NDArray[_T]:
    larger = np.empty((capacity, *column.shape[1:]), column.dtype)
    larger[:count] = column[:count]
    return larger


@dataclass(frozen=True, slots=True)
class FacetSnapshot:
    """A facet as it was at one moment; may be searched on another thread."""

    matrix: Floats
    seqs: Ints
    keys: Ints
    queries: list[str]

    def __len__(self) -> int:
        return len(self.seqs)

    def nearest(self, vector: Floats, count: int) -> list[Candidate]:
        """The `count` nearest rows, nearest first, dead ones among them."""
        similarities = self.matrix @ vector
        count = min(count, len(similarities))
        top = np.argpartition(-similarities, count - 1)[:count] if count else np.empty(0, np.int64)
        top = top[np.argsort(-similarities[top], kind="stable")]
        return [
            Candidate(float(similarities[row]), int(self.seqs[row]), int(self.keys[row]), self.queries[row])
            for row in top.tolist()
        ]


class VectorMemory:
    """Vectors of length 1 by facet hash. Not thread-safe but for snapshots: one owner."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._facets: dict[int, _Facet] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def bytes(self) -> int:
        """Memory held, about."""
        return sum(facet.matrix.nbytes + 16 * len(facet.seqs) + 120 * facet.count for facet in self._facets.values())

    def add(self, rows: Floats, seqs: Ints, keys: Ints, facets: Ints, queries: Sequence[str]) -> None:
        """Rows in rising order of their sequence numbers."""
        for facet_hash in np.unique(facets).tolist():
            mine = np.flatnonzero(facets == facet_hash)
            facet = self._facets.setdefault(facet_hash, _Facet(self._dimensions))
            facet.add(rows[mine], seqs[mine], keys[mine], [queries[row] for row in mine.tolist()])
        self._count += len(rows)

    def snapshot(self, facet_hash: int) -> FacetSnapshot | None:
        facet = self._facets.get(facet_hash)
        if facet is None or not facet.count:
            return None
        end = facet.count
        return FacetSnapshot(facet.matrix[:end], facet.seqs[:end], facet.keys[:end], facet.queries)

    def newest(self, count: int) -> int:
        """The sequence number from which on the `count` newest rows lie."""
        if not self._count:
            return 0
        seqs = np.concatenate([facet.seqs[: facet.count] for facet in self._facets.values()])
        if count >= len(seqs):
            return int(seqs.min())
        return int(np.partition(seqs, len(seqs) - count - 1)[len(seqs) - count - 1]) + 1

    def trim(self, first_seq: int) -> None:
        """Forget rows before a sequence number."""
        for facet_hash, facet in list(self._facets.items()):
            keep = facet.seqs[: facet.count] >= first_seq
            if keep.all():
                continue
            if keep.any():
                self._facets[facet_hash] = facet.kept(keep)
            else:
                del self._facets[facet_hash]
        self._count = sum(facet.count for facet in self._facets.values())

    def clear(self) -> None:
        self._facets.clear()
        self._count = 0
