"""The answer cache: a LanceDB view of `search.cache-writes.v1`, its exact and semantic tiers, and how long answers live."""

from groundwire.lake.cache.embedder import Embedder
from groundwire.lake.cache.errors import EmbedderUnavailable, ViewDamaged, WriterBusy
from groundwire.lake.cache.expiry import ttl_s
from groundwire.lake.cache.semantic import SemanticHit, SemanticTier
from groundwire.lake.cache.view import CacheReader, Neighbour
from groundwire.lake.cache.writer import CacheWriter

__all__ = [
    "CacheReader",
    "CacheWriter",
    "Embedder",
    "EmbedderUnavailable",
    "Neighbour",
    "SemanticHit",
    "SemanticTier",
    "ViewDamaged",
    "WriterBusy",
    "ttl_s",
]
