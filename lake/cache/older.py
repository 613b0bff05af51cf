"""The vectors a reader does not hold in memory: asked of the table that the writer keeps under an index."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from groundwire.lake.cache.errors import store_errors
from groundwire.lake.cache.layout import INDEX_PREFIX, Found, unit_rows
from groundwire.lake.cache.store import Store
from groundwire.lake.cache.vectors import Candidate

# Of the index's lists, how many are looked through: at a million vectors 8 of 244 find the nearest one in 997 of 1,000 cases
# when it lies at cosine 0.85, and always at 0.95.
_LISTS = 8
# The index keeps one bit a dimension, so the order it finds rows in is rough: more are fetched and measured exactly.
_LEAST_FETCHED = 32


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the table has: everything up to `last_seq`, of each facet from `first_seqs` on. `indexed`: the index knows all."""

    last_seq: int = -1
    first_seqs: dict[int, int] = field(default_factory=dict)
    indexed: bool = False


class OlderVectors:
    """Reads one model's table of vectors."""

    def __init__(self, store: Store, name: str, dimensions: int) -> None:
        self._store = store
        self._dimensions = dimensions
        self.name = name

    def coverage(self) -> Coverage:
        """Look at the newest version of the table; blocks. Raises OSError, ViewDamaged."""
        if not self._store.versions(self.name):
            return Coverage()
        table = self._store.latest(self.name)
        rows = self._store.read(self.name, ["seq", "facet_hash"]).sort_by("seq")
        seqs = rows["seq"].to_numpy()
        facets, first = np.unique(rows["facet_hash"].to_numpy(), return_index=True)
        with store_errors(self._store.folder(self.name)):
            names = [index.name for index in table.list_indices() if index.name.startswith(INDEX_PREFIX)]
            stats = table.index_stats(names[-1]) if names else None
        return Coverage(
            last_seq=int(seqs.max(initial=-1)),
            first_seqs=dict(zip(facets.tolist(), seqs[first].tolist(), strict=True)),
            indexed=stats is not None and stats.num_unindexed_rows == 0,
        )

    async def nearest(
        self, facet_hash: int, vector: npt.NDArray[np.float32], count: int, *, indexed: bool
    ) -> list[Candidate]:
        """At least `count` of the nearest rows of a facet, if it has so many, nearest first, dead ones among them."""
        with store_errors(self._store.folder(self.name)):
            query = (
                self._store.asynchronous(self.name)
                .vector_search(vector)
                .distance_type("cosine")
                .where(f"facet_hash = {facet_hash}")
                .select(["found", "_distance"])
                .limit(max(count, _LEAST_FETCHED))
            )
            if indexed:
                query = query.nprobes(_LISTS).fast_search()
            rows = await query.to_arrow()
        found = [Found.decode(value, self._dimensions) for value in rows["found"].to_pylist()]
        packed = np.frombuffer(b"".join(one.packed for one in found), "<f2").reshape(-1, self._dimensions)
        similarities = unit_rows(packed) @ vector
        candidates = [
            Candidate(similarity, one.seq, one.key_hash, one.query)
            for one, similarity in zip(found, similarities.tolist(), strict=True)
        ]
        return sorted(candidates, key=lambda one: -one.similarity)
