"""The one table of topics. topology.md shows it to people; a test keeps the two equal."""

from dataclasses import dataclass

from groundwire.schemas.cache_write import CacheWrite
from groundwire.schemas.dead_letter import DeadLetter
from groundwire.schemas.event import AttemptEvent, RequestEvent
from groundwire.schemas.lookup import Fetch, Lookup
from groundwire.schemas.payload import Payload
from groundwire.schemas.reply import SearchReply
from groundwire.schemas.request import SearchRequest

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@dataclass(frozen=True, slots=True)
class TopicSpec:
    """One topic. `partitions` is the default; `retention_ms` what the log keeps; `max_bytes` the largest record.

    `writers` and `readers` are roles (`worker ROLE`), or `producer` / `consumer` for the world outside.
    """

    name: str
    key: str
    partitions: int
    retention_ms: int
    max_bytes: int
    models: tuple[type, ...]
    writers: tuple[str, ...]
    readers: tuple[str, ...]
    purpose: str


MIB = 1024 * 1024

REQUESTS = TopicSpec(
    name="search.requests.v1",
    key="anything or none",
    partitions=8,
    retention_ms=7 * DAY_MS,
    max_bytes=2 * MIB,  # above the 64 KiB a request may have: a record too large is answered, not bounced at the door
    models=(SearchRequest,),
    writers=("producer",),
    readers=("frontline",),
    purpose="what is asked",
)
LOOKUPS = TopicSpec(
    name="search.lookups.v1",
    key="cache key",
    partitions=8,
    retention_ms=DAY_MS,
    max_bytes=MIB,
    models=(Lookup,),
    writers=("frontline",),
    readers=("frontline",),
    purpose="normalized requests, equal ones on one partition",
)
FETCHES = TopicSpec(
    name="search.fetches.v1",
    key="cache key",
    partitions=8,
    retention_ms=DAY_MS,
    max_bytes=MIB,
    models=(Fetch,),
    writers=("frontline",),
    readers=("fetch",),
    purpose="misses, on their way to the vendors",
)
PAYLOADS = TopicSpec(
    name="search.payloads.v1",
    key="cache key",
    partitions=8,
    retention_ms=7 * DAY_MS,
    max_bytes=8 * MIB,
    models=(Payload,),
    writers=("fetch",),
    readers=("unify", "fetch"),
    purpose="raw paid answers, and the marks of calls begun",
)
REPLIES = TopicSpec(
    name="search.replies.v1",
    key="request_id",
    partitions=8,
    retention_ms=DAY_MS,
    max_bytes=2 * MIB,
    models=(SearchReply,),
    writers=("frontline", "unify"),
    readers=("consumer",),
    purpose="the answers",
)
CACHE_WRITES = TopicSpec(
    name="search.cache-writes.v1",
    key="cache key",
    partitions=8,
    retention_ms=30 * DAY_MS,
    max_bytes=2 * MIB,
    models=(CacheWrite,),
    writers=("frontline", "unify"),
    readers=("cache-writer",),
    purpose="the cache's log: every node's LanceDB is a view of it",
)
EVENTS = TopicSpec(
    name="search.events.v1",
    key="request_id",
    partitions=4,
    retention_ms=7 * DAY_MS,
    max_bytes=MIB,
    models=(RequestEvent, AttemptEvent),
    writers=("frontline", "fetch", "unify"),
    readers=("lake-writer",),
    purpose="one event a request, one a vendor call",
)
DEAD_LETTERS = TopicSpec(
    name="search.dead-letters.v1",
    key="dead_letter_id",
    partitions=1,
    retention_ms=30 * DAY_MS,
    max_bytes=2 * MIB,
    models=(DeadLetter,),
    writers=("frontline", "fetch", "unify", "cache-writer", "lake-writer"),
    readers=("operator",),
    purpose="records nobody could read, with reason and origin",
)

TOPICS: tuple[TopicSpec, ...] = (
    REQUESTS,
    LOOKUPS,
    FETCHES,
    PAYLOADS,
    REPLIES,
    CACHE_WRITES,
    EVENTS,
    DEAD_LETTERS,
)
ROLES = ("frontline", "fetch", "unify", "cache-writer", "lake-writer")
