"""Events and records to fill a lake with."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groundwire.lake.events.writer import EventWriter
from groundwire.schemas.event import AttemptEvent, RequestEvent
from groundwire.schemas.record import InboundRecord
from groundwire.schemas.settings import LakeSettings

# 2026-12-05, 10:00 UTC.
MORNING_MS = 1_796_464_800_000
DAY_MS = 86_400_000


def request_event(number: int, **changes: Any) -> RequestEvent:
    at_ms = changes.pop("at_ms", MORNING_MS + 1000 * number)
    known: dict[str, Any] = {
        "event_id": f"request-{number}",
        "request_id": f"id-{number}",
        "reply_id": f"reply-{number}",
        "tenant": "default",
        "route": "default",
        "query": f"How high is mountain {number}?",
        "normalized_query": f"how high is mountain {number}",
        "language": None,
        "freshness": "slow",
        "depth": 5,
        "status": "grounded",
        "provider": "serper",
        "cache_outcome": "miss",
        "cache_age_s": None,
        "similarity": None,
        "probability": None,
        "matched_query": None,
        "cost_micro_usd": 1000,
        "saved_micro_usd": None,
        "results": 5,
        "context_tokens": 400,
        "total_ms": 310.0,
        "queue_ms": 1.0,
        "normalize_ms": 0.5,
        "lookup_ms": 2.0,
        "fetch_ms": 300.0,
        "unify_ms": 3.0,
        "attempts": 1,
        "requested_at_ms": at_ms,
        "completed_at_ms": at_ms + 310,
        "metadata": {},
    }
    return RequestEvent(**{**known, **changes})


def hit_event(number: int, **changes: Any) -> RequestEvent:
    """A request answered from the exact cache."""
    hit = {
        "cache_outcome": "exact",
        "cache_age_s": 12.0,
        "cost_micro_usd": 0,
        "saved_micro_usd": 1000,
        "attempts": 0,
        "fetch_ms": None,
        "unify_ms": None,
        "total_ms": 4.0,
    }
    return request_event(number, **{**hit, **changes})


def error_event(number: int, kind: str = "invalid_request", **changes: Any) -> RequestEvent:
    """A caller's mistake."""
    error = {
        "status": "error",
        "provider": None,
        "cache_outcome": None,
        "cost_micro_usd": 0,
        "results": 0,
        "context_tokens": 0,
        "attempts": 0,
        "error_kind": kind,
        "total_ms": 1.0,
        "lookup_ms": None,
        "fetch_ms": None,
        "unify_ms": None,
    }
    return request_event(number, **{**error, **changes})


def attempt_event(number: int, **changes: Any) -> AttemptEvent:
    at_ms = changes.pop("at_ms", MORNING_MS + 1000 * number)
    known: dict[str, Any] = {
        "event_id": f"attempt-{number}",
        "request_id": f"id-{number}",
        "attempt_id": f"attempt-{number}",
        "provider": "serper",
        "attempt": 0,
        "outcome": "ok",
        "reason": None,
        "status_code": 200,
        "latency_ms": 300.0,
        "cost_micro_usd": 1000,
        "cost_source": "answer",
        "cost_detail": None,
        "hedged": False,
        "depth": 5,
        "results": 5,
        "bytes": 8000,
        "started_at_ms": at_ms,
        "tenant": "default",
    }
    return AttemptEvent(**{**known, **changes})


def records(
    events: Sequence[RequestEvent | AttemptEvent], *, partition: int = 0, first: int = 0
) -> list[InboundRecord]:
    """Events as they stand in one partition of the events topic, one after the other from an offset on."""
    return [record(event.encode(), partition=partition, offset=first + index) for index, event in enumerate(events)]


def record(value: bytes | None, *, partition: int = 0, offset: int = 0) -> InboundRecord:
    return InboundRecord("search.events.v1", partition, offset, None, value, (), MORNING_MS)


def land(lake: Path, batch: Sequence[InboundRecord], **settings: Any) -> None:
    """Write a batch that no record of is refused of."""
    with EventWriter(lake, LakeSettings(**settings)) as writer:
        assert writer.write(batch) == []


def parquet_files(lake: Path, table: str = "requests") -> list[Path]:
    return sorted((lake / table).rglob("*.parquet"))
