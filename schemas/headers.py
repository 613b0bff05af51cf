"""Record headers: three dialects in, the same dialect back.

Existing request/reply clients work unmodified: our own names, Spring's `ReplyingKafkaTemplate`, and FastStream's. Where a
request speaks several at once, ours wins, then Spring's, then FastStream's (contract §1).
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from groundwire.schemas.record import Headers

Dialect = Literal["groundwire", "spring", "faststream"]

CORRELATION: dict[Dialect, str] = {
    "groundwire": "correlation-id",
    "spring": "kafka_correlationId",
    "faststream": "correlation_id",
}
REPLY_TOPIC: dict[Dialect, str] = {"groundwire": "reply-topic", "spring": "kafka_replyTopic", "faststream": "reply_to"}
REPLY_PARTITION: dict[Dialect, str] = {"groundwire": "reply-partition", "spring": "kafka_replyPartition"}
DEADLINE = "deadline"
TRACEPARENT = "traceparent"

# Any sane id is far below; a header can't be used to make every later record huge.
MAX_HEADER_BYTES = 1024


class ReturnAddress(BaseModel):
    """Where a reply goes and what it must carry. Travels with the request through every stage.

    `correlation` is the header's bytes as hexadecimal digits, so that any bytes at all come back byte for byte.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    correlation_name: str | None = None
    correlation_hex: str | None = None
    topic: str
    partition: int | None = None
    traceparent: str | None = None

    def headers(self) -> Headers:
        """The reply's headers: never a reply-topic header, which a FastStream consumer would answer."""
        headers: list[tuple[str, bytes]] = []
        if self.correlation_name is not None and self.correlation_hex is not None:
            headers.append((self.correlation_name, bytes.fromhex(self.correlation_hex)))
        if self.traceparent is not None:
            headers.append((TRACEPARENT, self.traceparent.encode("latin-1")))
        return tuple(headers)


class RequestHeaders(BaseModel):
    """What a request's headers say. `reply_topic` is as asked, not yet checked against the allow-list."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    correlation_name: str | None = None
    correlation_hex: str | None = None
    reply_topic: str | None = None
    reply_topic_field: str | None = None
    reply_partition: int | None = None
    deadline_ms: int | None = None
    traceparent: str | None = None
    warnings: tuple[str, ...] = ()

    def return_address(self, topic: str) -> ReturnAddress:
        return ReturnAddress(
            correlation_name=self.correlation_name,
            correlation_hex=self.correlation_hex,
            topic=topic,
            partition=self.reply_partition if topic == self.reply_topic else None,
            traceparent=self.traceparent,
        )


def read_headers(headers: Headers) -> RequestHeaders:
    """Read the headers of a request. Never raises: what can't be read is left out with a warning that names the header."""
    found: dict[str, bytes] = {}
    warnings: list[str] = []
    for name, value in headers:
        if value is not None and name not in found:
            if len(value) > MAX_HEADER_BYTES:
                warnings.append(f"header `{name[:64]}` is longer than {MAX_HEADER_BYTES:,} bytes and was left out")
            else:
                found[name] = value
    correlation_name = _first(found, CORRELATION)
    reply_field = _first(found, REPLY_TOPIC)
    reply_topic = _text(found, reply_field, warnings) if reply_field else None
    return RequestHeaders(
        correlation_name=correlation_name,
        correlation_hex=found[correlation_name].hex() if correlation_name else None,
        reply_topic=reply_topic,
        reply_topic_field=reply_field if reply_topic else None,
        reply_partition=_reply_partition(found, warnings),
        deadline_ms=_decimal(found, DEADLINE, warnings),
        traceparent=found[TRACEPARENT].decode("latin-1") if TRACEPARENT in found else None,
        warnings=tuple(warnings),
    )


def _first(found: dict[str, bytes], names: dict[Dialect, str]) -> str | None:
    return next((name for name in names.values() if name in found), None)


def _text(found: dict[str, bytes], name: str, warnings: list[str]) -> str | None:
    try:
        return found[name].decode("utf-8") or None
    except UnicodeDecodeError:
        warnings.append(f"header `{name}` is not UTF-8 and was left out")
        return None


def _decimal(found: dict[str, bytes], name: str, warnings: list[str]) -> int | None:
    if name not in found:
        return None
    text = found[name].decode("latin-1").strip()
    if text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text)
    warnings.append(f"header `{name}` is not a decimal number and was left out")
    return None


def _reply_partition(found: dict[str, bytes], warnings: list[str]) -> int | None:
    name = _first(found, REPLY_PARTITION)
    if name is None:
        return None
    if name == REPLY_PARTITION["groundwire"]:
        return _decimal(found, name, warnings)
    if len(found[name]) == 4:
        return int.from_bytes(found[name], "big", signed=True)
    warnings.append(f"header `{name}` is not four bytes and was left out: the reply is placed by key")
    return None
