"""`search.dead-letters.v1`: records nobody could read, with the reason and where they came from. Nothing is thrown away."""

import base64

from pydantic import Field

from groundwire.schemas.record import InboundRecord, Record

# What is kept of a record that is itself the problem (a 1 MB request): enough to see what it was.
MAX_KEPT_BYTES = 512 * 1024


class DeadLetter(Record):
    """One refused record. `value_base64` is null for a tombstone; `truncated` says that only the beginning was kept."""

    dead_letter_id: str = Field(description="`topic-partition-offset` of the refused record: the same for every copy.")
    reason: str
    message: str
    field: str | None = None
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key_base64: str | None
    value_base64: str | None
    value_bytes: int
    truncated: bool
    headers: list[tuple[str, str]] = Field(default_factory=list, description="Name and base64 of the value.")
    stage: str
    refused_at_ms: int

    @classmethod
    def of(
        cls, record: InboundRecord, *, stage: str, reason: str, message: str, now_ms: int, field: str | None = None
    ) -> "DeadLetter":
        value = record.value
        return cls(
            dead_letter_id=f"{record.topic}-{record.partition}-{record.offset}",
            reason=reason,
            message=message,
            field=field,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            timestamp_ms=record.timestamp_ms,
            key_base64=None if record.key is None else _base64(record.key),
            value_base64=None if value is None else _base64(value[:MAX_KEPT_BYTES]),
            value_bytes=0 if value is None else len(value),
            truncated=value is not None and len(value) > MAX_KEPT_BYTES,
            headers=[(name, _base64(content)) for name, content in record.headers],
            stage=stage,
            refused_at_ms=now_ms,
        )


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
