"""Requests that can't be served: an error reply where the sender can be told, a dead letter where the record is unreadable."""

import json
from typing import Any

from groundwire.schemas.headers import RequestHeaders
from groundwire.schemas.record import InboundRecord, OutboundRecord, RecordError
from groundwire.schemas.reply import ErrorKind, Latency, ReplyError, SearchReply
from groundwire.schemas.request import MAX_REQUEST_BYTES
from groundwire.streams.stages.address import Destination
from groundwire.streams.stages.dead_letters import dead_letter
from groundwire.streams.stages.events import request_event
from groundwire.streams.stages.identity import bytes_hash, named_by_place, place_of, reply_id
from groundwire.streams.stages.moments import iso_utc
from groundwire.streams.stages.reply import reply_record

# Records that hold nothing a reader could use. A request that was read and found wrong is answered, and that is all.
_UNREADABLE = frozenset({"invalid_json", "too_large"})


def refuse(
    record: InboundRecord,
    error: RecordError,
    headers: RequestHeaders,
    destination: Destination,
    *,
    requested_at_ms: int,
    now_ms: int,
) -> list[OutboundRecord]:
    """The records that say no: error reply with its event, and a dead letter for what is unreadable or not allowed.

    An unreadable record is answered only when its headers say that somebody waits (a correlation id or a reply topic).
    """
    said = _what_it_said(record.value)
    # A tombstone, or JSON that is no object, is invalid and unreadable at once.
    unreadable = error.kind in _UNREADABLE or said is None
    outputs: list[OutboundRecord] = []
    if not unreadable or headers.correlation_name is not None or headers.reply_topic is not None:
        outputs += _error_reply(
            record, error, said or {}, headers, destination, requested_at_ms=requested_at_ms, now_ms=now_ms
        )
    if unreadable or error.kind == "not_allowed":
        outputs.append(dead_letter(record, error, stage="normalize", now_ms=now_ms))
    return outputs


def _error_reply(
    record: InboundRecord,
    error: RecordError,
    said: dict[str, Any],
    headers: RequestHeaders,
    destination: Destination,
    *,
    requested_at_ms: int,
    now_ms: int,
) -> list[OutboundRecord]:
    own_id = _text(said.get("request_id"), 128)
    request_id = own_id or place_of(record)
    content = bytes_hash(record.value) if own_id else named_by_place(bytes_hash(record.value), record)
    tenant = _text(said.get("tenant"), 64) or "default"
    kind: ErrorKind = error.kind  # type: ignore[assignment]  # RecordError's kinds on this topic are the contract's
    reply = SearchReply(
        request_id=request_id,
        # `error` keeps the refusal of a record apart from a reply to the same bytes that is not one.
        reply_id=reply_id(tenant, request_id, f"error {kind} {content}"),
        status="error",
        query=_text(said.get("query"), 10_000),
        normalized_query=None,
        freshness=None,
        results=[],
        context="",
        provider=None,
        cache=None,
        cost_micro_usd=0,
        saved_micro_usd=None,
        latency_ms=Latency(total=float(now_ms - requested_at_ms), queue=float(now_ms - requested_at_ms)),
        attempts=[],
        error=ReplyError(kind=kind, message=error.message, field=error.field),
        warnings=[*headers.warnings, *destination.warnings],
        metadata=_metadata(said.get("metadata")),
        completed_at=iso_utc(now_ms),
    )
    return [
        reply_record(reply, destination.address),
        request_event(reply, tenant=tenant, requested_at_ms=requested_at_ms, completed_at_ms=now_ms),
    ]


def _what_it_said(value: bytes | None) -> dict[str, Any] | None:
    """The record as an object, for its id and tenant; None when it is no JSON object, or too large to look into."""
    if value is None or len(value) > MAX_REQUEST_BYTES:
        return None
    try:
        document = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _text(value: object, most: int) -> str | None:
    """A string fit to be echoed: not too long, and made of whole characters."""
    if not isinstance(value, str) or not 0 < len(value) <= most:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _metadata(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > 16:
        return {}
    fit = all(_text(name, 65_536) is not None and (text == "" or _text(text, 65_536)) for name, text in value.items())
    return dict(value) if fit else {}
