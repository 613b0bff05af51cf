"""Events to columns: a record's bytes become a row of one of the lake's tables."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any, Literal

import pyarrow as pa
from pydantic import Field, TypeAdapter, ValidationError

from groundwire.lake.events.tables import TIME, Table, TableName
from groundwire.schemas.event import AttemptEvent, RequestEvent
from groundwire.schemas.record import InboundRecord, RecordError

QueryText = Literal["full", "hash", "none"]
Event = RequestEvent | AttemptEvent

# The first moment and the one after the last that a `date=YYYY-MM-DD` folder can name.
EARLIEST_MS = 0
LATEST_MS = 253_402_300_800_000
_FIRST_DAY = date(1970, 1, 1)
_DAY_MS = 86_400_000

_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])

# Columns of the tables that are not fields of the event under the same name.
_QUERY_TEXTS = ("query", "normalized_query", "matched_query")
_TIMES = {
    "requested_at": "requested_at_ms",
    "completed_at": "completed_at_ms",
    "started_at": "started_at_ms",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One event with the record it came in."""

    record: InboundRecord
    event: Event

    @property
    def table(self) -> TableName:
        return "requests" if isinstance(self.event, RequestEvent) else "attempts"

    @property
    def day(self) -> int:
        """The UTC day of the row's folder, counted from 1970."""
        moment = self.event.requested_at_ms if isinstance(self.event, RequestEvent) else self.event.started_at_ms
        return moment // _DAY_MS


def day_name(day: int) -> str:
    """A day counted from 1970 as `YYYY-MM-DD`."""
    return (_FIRST_DAY + timedelta(days=day)).isoformat()


def read_row(record: InboundRecord) -> Row:
    """Read one record of the events topic. Raises RecordError (`poison`, `future_version`)."""
    try:
        event = _EVENT.validate_json(record.value or b"")
    except ValidationError:
        event = _model_of(record.value).decode(record.value)
    if event.version > event.VERSION:
        type(event).decode(record.value)  # raises, and says which version it is
    _refuse_impossible_times(event)
    return Row(record, event)


def _model_of(value: bytes | None) -> type[RequestEvent] | type[AttemptEvent]:
    """Which event a record that can't be read meant to be, so that the refusal names the right field."""
    if value is None:
        raise RecordError("poison", "event: the record has no value (tombstone)")
    try:
        document = json.loads(value)
    except (ValueError, RecursionError):
        raise RecordError("poison", "event: not JSON") from None
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind == "request":
        return RequestEvent
    if kind == "attempt":
        return AttemptEvent
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > max(RequestEvent.VERSION, AttemptEvent.VERSION):
        # A kind that a later version knows: reading on as the one with the version says so in its words.
        return RequestEvent
    raise RecordError("poison", "event: `kind` is neither `request` nor `attempt`", "kind")


def _refuse_impossible_times(event: Event) -> None:
    names = ("requested_at_ms", "completed_at_ms") if isinstance(event, RequestEvent) else ("started_at_ms",)
    for name in names:
        if not EARLIEST_MS <= getattr(event, name) < LATEST_MS:
            raise RecordError("poison", f"{type(event).__name__}: {name}: not a time between 1970 and 9999", name)


def to_arrow(table: Table, rows: Sequence[Row], query_text: QueryText) -> pa.Table:
    """Rows of one table as an Arrow table of exactly the contract's columns.

    Raises ArrowException or OverflowError when a number does not fit its column; `unfit` says whose.
    """
    events = [row.event.__dict__ for row in rows]
    arrays = []
    for field in table.schema:
        values = _column(field.name, events, rows, query_text)
        if field.type == TIME:
            arrays.append(pa.array([1000 * moment for moment in values], pa.int64()).cast(TIME))
        else:
            arrays.append(pa.array(values, field.type))
    return pa.Table.from_arrays(arrays, schema=table.schema)


def _column(name: str, events: Sequence[dict[str, Any]], rows: Sequence[Row], query_text: QueryText) -> Sequence[Any]:
    if name in _TIMES:
        moment = _TIMES[name]
        return [event[moment] for event in events]
    if name == "metadata":
        return [_json_text(event["metadata"]) for event in events]
    if name in _QUERY_TEXTS:
        return _texts([event[name] for event in events], query_text)
    if name == "topic":
        return [row.record.topic for row in rows]
    if name == "partition":
        return [row.record.partition for row in rows]
    if name == "offset":
        return [row.record.offset for row in rows]
    return [event[name] for event in events]


def _json_text(metadata: dict[str, str]) -> str:
    return json.dumps(metadata, ensure_ascii=False, sort_keys=True) if metadata else "{}"


def _texts(texts: list[str | None], query_text: QueryText) -> list[str | None]:
    if query_text == "full":
        return texts
    if query_text == "none":
        return [None] * len(texts)
    return [None if text is None else hashed(text) for text in texts]


def hashed(text: str) -> str:
    """A query's stand-in under `lake.query_text: hash`: equal texts stay countable, the words are gone.

    It hides a text from a reader of the lake, not from somebody who guesses it and hashes the guess.
    """
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def unfit(table: Table, rows: Sequence[Row], query_text: QueryText) -> list[tuple[Row, RecordError]]:
    """The rows that hold a number too large for its column, one by one; slow, for the rare batch that has one."""
    refused = []
    for row in rows:
        try:
            to_arrow(table, [row], query_text)
        except (pa.ArrowException, OverflowError) as error:
            message = f"{type(row.event).__name__}: a value does not fit its column: {str(error)[:200]}"
            refused.append((row, RecordError("poison", message)))
    return refused
