"""Entries, settings and a tiny embedder for the tests of the cache view."""

import asyncio
import hashlib
import math
import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from groundwire.lake.cache.view import CacheReader
from groundwire.lake.cache.writer import CacheWriter
from groundwire.schemas.cache_write import CacheEntry, CacheWrite, Purge
from groundwire.schemas.lookup import Embedding
from groundwire.schemas.reply import Result
from groundwire.schemas.settings import CacheSettings, SemanticSettings, Settings

MODEL = "tiny"
DIMENSIONS = 64
NOW_MS = time.time_ns() // 1_000_000
DAY_MS = 86_400_000


def vector(text: str) -> list[float]:
    """A direction that depends on the text alone."""
    source = random.Random(hashlib.sha256(text.encode()).digest())
    values = [source.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = math.sqrt(sum(value * value for value in values))
    return [value / length for value in values]


class TinyEmbedder:
    """Stands in for Embedder."""

    model = MODEL
    dimensions = DIMENSIONS

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_now(self, text: str) -> list[float]:
        self.asked.append(text)
        return vector(text)


def settings_in(home: Path, **cache: Any) -> Settings:
    semantic = cache.pop("semantic", {})
    return Settings(
        home=home,
        cache=CacheSettings(**{"poll_interval_s": 0.01, **cache}, semantic=SemanticSettings(**semantic)),
    )


def entry(key: str, **fields: Any) -> CacheEntry:
    """An entry of the key; its question is the key too unless said otherwise."""
    domain = fields.pop("domain", "docs.example.org")
    query = fields.pop("query", key)
    with_vector = fields.pop("with_vector", True)
    defaults: dict[str, Any] = {
        "cache_key": key,
        "facet": "facet",
        "provider": "serper",
        "tenant": "default",
        "normalized_query": query,
        "freshness": "slow",
        "depth": 5,
        "results": [
            Result(
                index=1, title=f"About {key}", url=f"https://{domain}/{key}", body=f"What {key} is.", provider="serper"
            )
        ],
        "cost_micro_usd": 1000,
        "stored_at_ms": NOW_MS,
        "expires_at_ms": NOW_MS + DAY_MS,
        "payload_id": f"payload-{key}",
        "semantic": True,
        "embedding": Embedding.of(MODEL, vector(query)) if with_vector else None,
    }
    return CacheEntry(**{**defaults, **fields})


def put(key: str, **fields: Any) -> CacheWrite:
    return CacheWrite(kind="put", entry=entry(key, **fields))


def purge(**fields: Any) -> CacheWrite:
    return CacheWrite(kind="purge", purge=Purge(**{"requested_at_ms": NOW_MS + 1, **fields}))


def batch(*changes: CacheWrite | None, partition: int = 0, begin: int = 0) -> list[tuple[int, int, CacheWrite | None]]:
    """Changes as they stand in one partition of the log from offset `begin` on."""
    return [(partition, begin + at + 1, change) for at, change in enumerate(changes)]


def opened(settings: Settings, **options: Any) -> CacheWriter:
    writer = CacheWriter(settings, TinyEmbedder(), **options)  # type: ignore[arg-type]
    writer.open()
    return writer


async def keys_in(settings: Settings, keys: Iterable[str], now_ms: int = NOW_MS) -> set[str]:
    """Which of the keys a reader that starts now finds."""
    reader = CacheReader(settings, MODEL, DIMENSIONS)
    await reader.start()
    try:
        return {key for key in keys if await reader.exact(key, now_ms) is not None}
    finally:
        await reader.stop()


async def eventually(found: Callable[[], Any], timeout_s: float = 20.0) -> Any:
    """Wait until `found` (a function or coroutine function) gives something true, and give it back."""
    deadline = time.monotonic() + timeout_s
    while True:
        result = found()
        if asyncio.iscoroutine(result):
            result = await result
        if result:
            return result
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.01)
