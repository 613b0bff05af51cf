"""A Kafka record as the stages see it, and the base of every model that is a record's value."""

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Headers = tuple[tuple[str, bytes], ...]

# A path may hold a key that a stranger chose, as long as a record may be.
MAX_PATH_CHARACTERS = 128


@dataclass(frozen=True, slots=True)
class InboundRecord:
    """One record as it was read. `timestamp_ms` is Unix milliseconds; `value` is None for a tombstone."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class OutboundRecord:
    """One record to be published. `partition` None means: placed by key."""

    topic: str
    key: bytes | None
    value: bytes
    headers: Headers = field(default=())
    partition: int | None = None


class RecordError(ValueError):
    """A record's value can't be read.

    `kind` is one of the contract's error kinds (`invalid_json`, `invalid_request`, `too_large`) or, on internal topics,
    `poison` and `future_version`; `field` is the path of the first offending field, or None.
    """

    def __init__(self, kind: str, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.field = field


class Record(BaseModel):
    """Base of the values on internal topics: frozen, strict about types, closed to unknown fields, versioned.

    A reader refuses a record of a version it does not know instead of guessing, so that a rolling upgrade can't corrupt
    anything: the record goes to the dead letters and can be replayed by a newer worker.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, ser_json_inf_nan="null")

    VERSION: ClassVar[int] = 1

    version: int = Field(default=1, ge=1)

    def encode(self) -> bytes:
        """UTF-8 JSON, the value of a record."""
        return self.model_dump_json().encode()

    @classmethod
    def decode(cls, value: bytes | None) -> Self:
        """Read a record's value.

        Raises RecordError (`poison` or `future_version`) with a message fit for a dead letter: it names the field, never
        the content.
        """
        if value is None:
            raise RecordError("poison", f"{cls.__name__}: the record has no value (tombstone)")
        try:
            record = cls.model_validate_json(value)
        except ValidationError as error:
            version = _stated_version(value)
            if version is not None and version > cls.VERSION:
                raise _future(cls, version) from None
            first = error.errors(include_input=False, include_url=False)[0]
            path = field_path(first["loc"])[:MAX_PATH_CHARACTERS]
            raise RecordError("poison", f"{cls.__name__}: {path or 'value'}: {first['msg']}", path or None) from None
        if record.version > cls.VERSION:
            raise _future(cls, record.version)
        return record


def _future(model: type[Record], version: int) -> RecordError:
    return RecordError(
        "future_version",
        f"{model.__name__} of version {version}, and this worker reads up to version {model.VERSION}: "
        "upgrade the workers, then replay this dead letter",
        "version",
    )


def _stated_version(value: bytes) -> int | None:
    try:
        document: Any = json.loads(value)
    except (ValueError, RecursionError):
        return None
    version = document.get("version") if isinstance(document, dict) else None
    return version if isinstance(version, int) and not isinstance(version, bool) else None


def field_path(location: tuple[int | str, ...]) -> str:
    """A pydantic error location as a path: ('filters', 'topic') → 'filters.topic', ('providers', 0) → 'providers[0]'."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path
