"""What a view holds, for `cache stats` and doctor: read once, from the files, without the reader's memory tier."""

import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from groundwire.lake.cache.errors import ViewDamaged
from groundwire.lake.cache.layout import PUT
from groundwire.lake.cache.store import Store
from groundwire.schemas.settings import Settings

_COLUMNS = ["seq", "key_hash", "provider", "freshness", "stored_at_ms", "expires_at_ms", "model"]


class CacheStats(BaseModel):
    """Live entries, counted. `superseded` and `ended` rows still take room until the next tidying."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    entries: int
    semantic_entries: int
    superseded: int
    ended: int
    providers: dict[str, int]
    freshness: dict[str, int]
    models: dict[str, int]
    oldest_age_s: float | None
    newest_age_s: float | None
    segments: int
    bytes: int


def cache_stats(settings: Settings, now_ms: int | None = None) -> CacheStats:
    """Read the whole view's small columns. Raises ViewDamaged, OSError."""
    now_ms = now_ms if now_ms is not None else time.time_ns() // 1_000_000
    store = Store(settings.cache_path)
    try:
        segments = store.segments()
        tables = [store.read(name, _COLUMNS, f"kind = {PUT}") for name in segments]
    finally:
        store.close()
    rows = pa.concat_tables(tables).sort_by("seq").to_pylist() if tables else []
    newest = {row["key_hash"]: row for row in rows}
    live = [row for row in newest.values() if row["expires_at_ms"] > now_ms]
    stored = [row["stored_at_ms"] for row in live]
    return CacheStats(
        path=str(settings.cache_path),
        entries=len(live),
        semantic_entries=sum(row["model"] is not None for row in live),
        superseded=len(rows) - len(newest),
        ended=len(newest) - len(live),
        providers=_counts(row["provider"] for row in live),
        freshness=_counts(row["freshness"] for row in live),
        models=_counts(row["model"] for row in live if row["model"] is not None),
        oldest_age_s=round((now_ms - min(stored)) / 1000, 1) if stored else None,
        newest_age_s=round((now_ms - max(stored)) / 1000, 1) if stored else None,
        segments=len(segments),
        bytes=_size(settings.cache_path),
    )


def view_health(settings: Settings) -> tuple[bool, str]:
    """Whether the view can be read, and one line about it."""
    try:
        stats = cache_stats(settings)
    except (ViewDamaged, OSError) as error:
        return False, f"the cache view can't be read: {error}"
    return True, f"{stats.entries:,} live entries in {stats.path}, {stats.bytes / 1024**2:,.1f} MiB"


def _counts(values: Iterable[str]) -> dict[str, int]:
    return dict(Counter(values).most_common())


def _size(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
