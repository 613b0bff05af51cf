"""The vectors a reader does not hold in memory: asked of the table that the writer keeps under an index."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from groundwire.lake.cache.errors import store_errors
from groundwire.lake.cache.layout import INDEX_PREFIX
from groundwire.lake.cache.store import Store
from groundwire.lake.cache.vectors import Candidate

# Of the index's lists, how many are looked through: at a million vectors 8 of 244 find the nearest one in 997 of 1,000 cases
# when it lies at cosine 0.85, and always at 0.95.
_LISTS = 8
# Rows the index finds by its coarse measure, of which the nearest by the exact one are wanted.
_MEASURED_AGAIN = 32


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the table has: everything up to `last_seq`, of each facet from `first_seqs` on. `indexed`: the index knows all."""

    last_seq: int = -1
    first_seqs: dict[int, int] = field(default_factory=dict)
    indexed: bool = False


class OlderVectors:
    """Reads one model's table of vectors. Its methods block and are for threads."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self.name = name

    def coverage(self) -> Coverage:
        """Look at the newest version of the table. Raises OSError, ViewDamaged."""
        if not self._store.folder(self.name).is_dir():
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

    def nearest(
        self, facet_hash: int, vector: npt.NDArray[np.float32], count: int, *, indexed: bool
    ) -> list[Candidate]:
        """The nearest rows of a facet, nearest first, dead ones among them."""
        table = self._store.table(self.name)
        with store_errors(self._store.folder(self.name)):
            query = (
                table.search(vector, vector_column_name="vector")
                .distance_type("cosine")
                .where(f"facet_hash = {facet_hash}")
                .select(["seq", "key_hash", "normalized_query", "_distance"])
                .limit(max(count, _MEASURED_AGAIN))
            )
            if indexed:
                # The index keeps one bit a dimension: the rows it finds are measured again by their vectors.
                query = query.nprobes(_LISTS).refine_factor(1).fast_search()
            rows = query.to_arrow()
        columns = (rows[name].to_pylist() for name in ("_distance", "seq", "key_hash", "normalized_query"))
        return [Candidate(1.0 - distance, seq, key, text) for distance, seq, key, text in zip(*columns, strict=True)]
