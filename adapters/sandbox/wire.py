"""What a vendor is asked and what it answers, free of any HTTP library: vendors are plain functions of one to the other."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple


class Refusal(NamedTuple):
    """Why a vendor says no: the status, its own wording, and its own code where it has codes."""

    status: int
    message: str
    code: str | None = None


class RefusedError(Exception):
    """Raised inside a vendor; it becomes an answer in that vendor's error shape."""

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.refusal = Refusal(status, message, code)


@dataclass(frozen=True, slots=True)
class Asked:
    """One HTTP request as a vendor sees it. `path` starts after the vendor's own prefix; header names are lower case."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    origin: str = "http://127.0.0.1"
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    empty: bool = False
    """The vendor is to find nothing, whatever was asked: its own way of saying so is what a fault wants to see."""

    def json(self) -> Any:
        """The body. Raises ValueError when it is not JSON."""
        return json.loads(self.body)

    def bearer(self) -> str | None:
        scheme, _, key = self.headers.get("authorization", "").partition(" ")
        return key.strip() if scheme.lower() == "bearer" else None


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer. `micro_usd` is what the vendor bills for it; None: not billed.

    `is_call` False: not a call of the vendor's API (a redirect that was followed), so neither counted nor logged.
    """

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    query: str | None = None
    micro_usd: int | None = None
    is_call: bool = True


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def as_json(value: object) -> bytes:
    """UTF-8 JSON without padding, as vendors send it."""
    return _ENCODER.encode(value).encode(errors="replace")


def html_page(title: str, text: str) -> bytes:
    """What a gateway in front of a vendor answers when it means no API client."""
    return (
        f"<!DOCTYPE html>\n<html><head><title>{title}</title></head>"
        f"<body><center><h1>{title}</h1></center><hr><center>{text}</center></body></html>\n"
    ).encode()
