"""The vectors of sealed segments in one table under an index: what the writer does with it, all of it derived data.

Segments carry the vectors too, so this table may lag (readers hold in memory what it does not have yet), be damaged or be
missing; it is made again from them.
"""

import shutil
import time
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import structlog
from lancedb.index import Bitmap, IvfRq

from groundwire.lake.cache.errors import ViewDamaged, store_errors
from groundwire.lake.cache.layout import (
    INDEX_PREFIX,
    PUT,
    VECTOR_COLUMNS,
    Found,
    first_seq,
    packed_rows,
    vectors_name,
    vectors_schema,
    with_vectors,
)
from groundwire.lake.cache.purge import quoted
from groundwire.lake.cache.segments import KEPT_VERSIONS
from groundwire.lake.cache.store import Store

log = structlog.get_logger(__name__)

# Fewer rows than this are scanned faster than an index is asked (12 ms at 10,000).
INDEX_ROWS = 8_192
# Lists of about this many vectors: smaller ones are found no faster and take much longer to lay out (measured at a million).
ROWS_PER_LIST = 4_096
# The lists are laid out for the rows there are; when so many times more have come, they are laid out anew.
_LAY_OUT_AGAIN = 2.0
_SAMPLES_PER_LIST = 64
_LAYOUT_ROUNDS = 15
_CLEAN_AT_DEAD = 0.2
_DELETE_AT_ONCE = 4_096


class VectorTable:
    """One model's vectors. Its methods take seconds at a million rows: they run beside the writer, not in its way."""

    def __init__(self, store: Store, model: str, dimensions: int) -> None:
        self.name = vectors_name(model, dimensions)
        self._store = store
        self._model = model
        self._dimensions = dimensions
        self._covered_to = -1
        self._cleared_at = time.monotonic()

    def update(self, sealed: Mapping[str, int], live_seqs: npt.NDArray[np.int64]) -> None:
        """Take in what the sealed segments have (name → first number behind it), drop what is dead, index the rest.

        Raises OSError.
        """
        try:
            self._update(sealed, live_seqs)
        except ViewDamaged as error:
            log.warning("the table of vectors can't be read; it is made again", table=self.name, error=str(error))
            self._store.forget(self.name)
            shutil.rmtree(self._store.folder(self.name), ignore_errors=True)
            self._covered_to = -1
            self._update(sealed, live_seqs)

    def drop_other_models(self) -> None:
        """Tables of models that are no longer used."""
        for name in self._store.table_names():
            if name != self.name and first_seq(name) is None and name.startswith("vectors__"):
                self._store.drop(name)

    def _update(self, sealed: Mapping[str, int], live_seqs: npt.NDArray[np.int64]) -> None:
        exists = self._store.folder(self.name).is_dir()
        seqs = self._store.read(self.name, ["seq"])["seq"].to_numpy() if exists else np.empty(0, np.int64)
        have = max(int(seqs.max(initial=-1)), self._covered_to)
        changed = False
        for name, end in sealed.items():
            if end <= have + 1:
                continue
            rows = self._rows_of(name, have)
            if rows.num_rows:
                if exists:
                    self._store.add(self.name, rows)
                else:
                    self._store.create(self.name, vectors_schema(self._dimensions), rows)
                    exists = True
                changed = True
            self._covered_to = end - 1
        dead = seqs[~np.isin(seqs, live_seqs)]
        if len(dead) > _CLEAN_AT_DEAD * len(seqs):
            for start in range(0, len(dead), _DELETE_AT_ONCE):
                chunk = ", ".join(map(str, dead[start : start + _DELETE_AT_ONCE].tolist()))
                self._store.delete(self.name, f"seq IN ({chunk})")
            changed = True
        if changed:
            self._index()
            self._cleared_at = time.monotonic()
        elif exists and time.monotonic() - self._cleared_at > KEPT_VERSIONS.total_seconds():
            self._clear_versions()

    def _clear_versions(self) -> None:
        """Give back the room of what a compaction or a new index replaced, once nobody reads it any more."""
        if self._store.versions(self.name) > 1:
            with store_errors(self._store.folder(self.name)):
                self._store.latest(self.name).optimize(cleanup_older_than=KEPT_VERSIONS)
        self._cleared_at = time.monotonic()

    def _rows_of(self, segment: str, after_seq: int) -> pa.Table:
        condition = f"kind = {PUT} AND seq > {after_seq} AND model = {quoted(self._model)}"
        rows = with_vectors(self._store.read(segment, VECTOR_COLUMNS, condition), self._model, self._dimensions)
        columns = (rows[name].to_pylist() for name in ("seq", "key_hash", "vector", "normalized_query"))
        found = [Found(*row).encode() for row in zip(*columns, strict=True)]
        values = pa.array(packed_rows(rows["vector"], self._dimensions).reshape(-1))
        return pa.table(
            {
                "seq": rows["seq"],
                "facet_hash": rows["facet_hash"],
                "vector": pa.FixedSizeListArray.from_arrays(values, self._dimensions),
                "found": pa.array(found, pa.binary()),
            },
            schema=vectors_schema(self._dimensions),
        )

    def _index(self) -> None:
        table = self._store.latest(self.name)
        with store_errors(self._store.folder(self.name)):
            rows = int(table.count_rows())
            names = [index.name for index in table.list_indices()]
            if rows < INDEX_ROWS:
                table.optimize(cleanup_older_than=KEPT_VERSIONS)
                return
            if "facet" not in names:
                table.create_index("facet_hash", config=Bitmap(), name="facet")
            current = next((name for name in names if name.startswith(INDEX_PREFIX)), None)
            laid_out_for = int(current.removeprefix(INDEX_PREFIX)) if current else 0
            if rows >= _LAY_OUT_AGAIN * laid_out_for:
                config = IvfRq(
                    distance_type="cosine",
                    num_partitions=max(1, rows // ROWS_PER_LIST),
                    sample_rate=_SAMPLES_PER_LIST,
                    max_iterations=_LAYOUT_ROUNDS,
                )
                table.create_index("vector", config=config, name=f"{INDEX_PREFIX}{rows}")
                if current:
                    table.drop_index(current)
            table.optimize(cleanup_older_than=KEPT_VERSIONS)
