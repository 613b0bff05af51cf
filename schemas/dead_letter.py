"""`search.dead-letters.v1`: records nobody could read, with the reason and where they came from. Nothing is thrown away."""

import base64

from pydantic import Field

from groundwire.schemas.record import Headers, InboundRecord, Record

# What is kept of a record that is itself the problem (a 1 MB request): enough to see what it was. Everything is bounded,
# the headers and the key too: a dead letter the broker refuses for its size would come back for ever.
MAX_KEPT_BYTES = 512 * 1024
MAX_KEPT_KEY_BYTES = 64 * 1024
MAX_KEPT_HEADERS_BYTES = 128 * 1024
MAX_MESSAGE_CHARACTERS = 2_000
MAX_FIELD_CHARACTERS = 256


class DeadLetter(Record):
    """One refused record. `value_base64` is null for a tombstone; `truncated` says that of value, key or headers only the
    beginning was kept."""

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
        value, key = record.value, record.key
        headers = _fitting(record.headers)
        return cls(
            dead_letter_id=f"{record.topic}-{record.partition}-{record.offset}",
            reason=reason,
            message=message[:MAX_MESSAGE_CHARACTERS],
            field=None if field is None else field[:MAX_FIELD_CHARACTERS],
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            timestamp_ms=record.timestamp_ms,
            key_base64=None if key is None else _base64(key[:MAX_KEPT_KEY_BYTES]),
            value_base64=None if value is None else _base64(value[:MAX_KEPT_BYTES]),
            value_bytes=0 if value is None else len(value),
            truncated=(
                len(value or b"") > MAX_KEPT_BYTES
                or len(key or b"") > MAX_KEPT_KEY_BYTES
                or len(headers) < len(record.headers)
            ),
            headers=[(name, _base64(content)) for name, content in headers],
            stage=stage,
            refused_at_ms=now_ms,
        )


def _fitting(headers: Headers) -> Headers:
    """The first headers, as many as there is room for. A name may take six times its length in JSON."""
    room = MAX_KEPT_HEADERS_BYTES
    for index, (name, content) in enumerate(headers):
        room -= 6 * len(name.encode()) + len(content or b"")
        if room < 0:
            return headers[:index]
    return headers


def _base64(content: bytes | None) -> str:
    """A header's value may be null on the wire; it comes back empty."""
    return base64.b64encode(content or b"").decode()
