"""What a view holds, for `cache stats` and doctor: read once, from the files, without the reader's memory tier."""

import time
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from groundwire.lake.cache.errors import ViewDamaged, store_errors
from groundwire.lake.cache.layout import INDEX_PREFIX, PUT
from groundwire.lake.cache.store import Store
from groundwire.schemas.settings import Settings

_COLUMNS = ["seq", "key_hash", "provider", "freshness", "stored_at_ms", "expires_at_ms", "model"]
_AGES_S: Mapping[str, float] = {"hour": 3600, "day": 86_400, "week": 604_800, "month": 2_592_000}


class CacheTable(BaseModel):
    """One table of the view. `indexed` counts the rows its index knows: the numbers of a segment, the vectors else."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    rows: int
    indexed: int
    bytes: int


class CacheStats(BaseModel):
    """Live entries, counted. `superseded` and `ended` rows still take room until the next tidying.

    `ages` counts entries up to an hour, day, week, month old, each without those before it, and older ones.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    entries: int
    semantic_entries: int
    superseded: int
    ended: int
    providers: dict[str, int]
    freshness: dict[str, int]
    models: dict[str, int]
    ages: dict[str, int]
    oldest_age_s: float | None
    newest_age_s: float | None
    segments: int
    tables: list[CacheTable]
    bytes: int


def cache_stats(settings: Settings, now_ms: int | None = None) -> CacheStats:
    """Read the whole view's small columns. Raises ViewDamaged, OSError."""
    now_ms = now_ms if now_ms is not None else time.time_ns() // 1_000_000
    store = Store(settings.cache_path)
    try:
        segments = [name for name in store.segments() if store.versions(name)]
        parts = [store.read(name, _COLUMNS, f"kind = {PUT}") for name in segments]
        tables = [_table(store, name) for name in store.table_names() if store.versions(name)]
    finally:
        store.close()
    rows = pa.concat_tables(parts).sort_by([("key_hash", "ascending"), ("seq", "ascending")]) if parts else None
    if rows is None or not rows.num_rows:
        newest = live = pa.table({name: [] for name in _COLUMNS})
    else:
        hashes = rows["key_hash"].to_numpy()
        newest = rows.filter(pa.array(np.append(hashes[1:] != hashes[:-1], True)))
        live = newest.filter(pc.greater(newest["expires_at_ms"], now_ms))
    ages_s = (now_ms - live["stored_at_ms"].to_numpy().astype(np.float64)) / 1000
    return CacheStats(
        path=str(settings.cache_path),
        entries=live.num_rows,
        semantic_entries=live.num_rows - live["model"].null_count,
        superseded=(rows.num_rows if rows is not None else 0) - newest.num_rows,
        ended=newest.num_rows - live.num_rows,
        providers=_counts(live["provider"]),
        freshness=_counts(live["freshness"]),
        models=_counts(live["model"].drop_null()),
        ages=_by_age(ages_s),
        oldest_age_s=round(float(ages_s.max()), 1) if len(ages_s) else None,
        newest_age_s=round(float(ages_s.min()), 1) if len(ages_s) else None,
        segments=len(segments),
        tables=tables,
        bytes=sum(table.bytes for table in tables),
    )


def view_health(settings: Settings) -> tuple[bool, str]:
    """Whether the view can be read, and one line about it."""
    try:
        stats = cache_stats(settings)
    except (ViewDamaged, OSError) as error:
        return False, f"the cache view can't be read: {error}"
    return True, f"{stats.entries:,} live entries in {stats.path}, {stats.bytes / 1024**2:,.1f} MiB"


def _table(store: Store, name: str) -> CacheTable:
    table, folder = store.table(name), store.folder(name)
    with store_errors(folder):
        indices = [
            index for index in table.list_indices() if index.name == "seq_idx" or index.name.startswith(INDEX_PREFIX)
        ]
        indexed = sum(index.num_indexed_rows for index in indices)
        rows = table.count_rows()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return CacheTable(name=name, rows=rows, indexed=min(indexed, rows), bytes=size)


def _by_age(ages_s: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> dict[str, int]:
    counts, before = {}, 0
    for name, limit_s in _AGES_S.items():
        up_to = int((ages_s <= limit_s).sum())
        counts[name] = up_to - before
        before = up_to
    return {**counts, "older": len(ages_s) - before}


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    counted = [(item["values"], item["counts"]) for item in pc.value_counts(column).to_pylist()]
    return dict(sorted(counted, key=lambda pair: -pair[1]))
