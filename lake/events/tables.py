"""The lake's two tables: their columns, types and order. Contract §4.

Columns are only ever added, at the end: a file of an older version lacks the newer ones and reads as null there.
"""

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

TableName = Literal["requests", "attempts"]

TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `time` is the column whose UTC day is the folder a row lies in; `repetitive` are the columns whose
    values repeat so much that a dictionary makes them small."""

    name: TableName
    schema: pa.Schema
    time: str
    repetitive: tuple[str, ...]


REQUESTS = Table(
    name="requests",
    schema=pa.schema(
        [
            ("request_id", pa.string()),
            ("reply_id", pa.string()),
            ("tenant", pa.string()),
            ("route", pa.string()),
            ("query", pa.string()),
            ("normalized_query", pa.string()),
            ("language", pa.string()),
            ("freshness", pa.string()),
            ("depth", pa.int32()),
            ("status", pa.string()),
            ("provider", pa.string()),
            ("cache_outcome", pa.string()),
            ("cache_age_s", pa.float64()),
            ("similarity", pa.float64()),
            ("probability", pa.float64()),
            ("matched_query", pa.string()),
            ("cost_micro_usd", pa.int64()),
            ("saved_micro_usd", pa.int64()),
            ("results", pa.int32()),
            ("context_tokens", pa.int32()),
            ("total_ms", pa.float64()),
            ("queue_ms", pa.float64()),
            ("normalize_ms", pa.float64()),
            ("lookup_ms", pa.float64()),
            ("fetch_ms", pa.float64()),
            ("unify_ms", pa.float64()),
            ("attempts", pa.int32()),
            ("requested_at", TIME),
            ("completed_at", TIME),
            ("metadata", pa.string()),
            ("event_id", pa.string()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("error_kind", pa.string()),
        ]
    ),
    time="requested_at",
    repetitive=(
        "tenant",
        "route",
        "language",
        "freshness",
        "depth",
        "status",
        "provider",
        "cache_outcome",
        "cost_micro_usd",
        "saved_micro_usd",
        "results",
        "attempts",
        "metadata",
        "topic",
        "partition",
        "error_kind",
    ),
)

ATTEMPTS = Table(
    name="attempts",
    schema=pa.schema(
        [
            ("request_id", pa.string()),
            ("attempt_id", pa.string()),
            ("provider", pa.string()),
            ("attempt", pa.int32()),
            ("outcome", pa.string()),
            ("reason", pa.string()),
            ("status_code", pa.int32()),
            ("latency_ms", pa.float64()),
            ("cost_micro_usd", pa.int64()),
            ("cost_source", pa.string()),
            ("hedged", pa.bool_()),
            ("depth", pa.int32()),
            ("results", pa.int32()),
            ("bytes", pa.int64()),
            ("started_at", TIME),
            ("tenant", pa.string()),
            ("event_id", pa.string()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("cost_detail", pa.string()),
        ]
    ),
    time="started_at",
    repetitive=(
        "provider",
        "attempt",
        "outcome",
        "reason",
        "status_code",
        "cost_micro_usd",
        "cost_source",
        "depth",
        "results",
        "tenant",
        "topic",
        "partition",
        "cost_detail",
    ),
)

TABLES: dict[TableName, Table] = {"requests": REQUESTS, "attempts": ATTEMPTS}
