"""Bright Data: the answer may be a text inside an envelope inside the answer, each with its own status.

`format: json` gives `{"status_code": 200, "headers": {…}, "body": "<JSON as a text>"}`; an outer 200 may hold an inner 4xx or 5xx
with the reason in a header. HTML in a 200 is a failure that older clients took for "no results" (brightdata-mcp#167).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from groundwire.adapters.adapter import Adapter
from groundwire.adapters.classify import Heard
from groundwire.adapters.errors import BadAnswer
from groundwire.adapters.mapping import type_name
from groundwire.adapters.reading import read_json

_MAX_LAYERS = 3


class BrightDataAdapter(Adapter):
    """Opens the envelopes; all else is the file's."""

    def document(self, text: str) -> Any:
        document = read_json(text)
        for _ in range(_MAX_LAYERS):
            if isinstance(document, str):  # JSON encoded twice
                document = read_json(document)
            elif _is_envelope(document):
                inner = document["body"]
                if not isinstance(inner, str | dict):
                    raise BadAnswer(f"`body` is {type_name(inner)} instead of a text")
                document = read_json(inner) if isinstance(inner, str) else inner
            else:
                return document
        raise BadAnswer(f"an envelope in an envelope, more than {_MAX_LAYERS} deep")

    def hear(self, status: int, headers: Mapping[str, str], text: str) -> Heard:
        """An inner answer that failed is the answer: its status, its headers, its body."""
        envelope = _envelope(text) if status == 200 else None
        if envelope is None:
            return super().hear(
                status, headers, _words(headers) or text if status != 200 and not text.strip() else text
            )
        inner_headers = envelope.get("headers")
        merged = {**headers, **(_texts(inner_headers) if isinstance(inner_headers, dict) else {})}
        body = envelope["body"] if isinstance(envelope["body"], str) else text
        heard = super().hear(envelope["status_code"], merged, body)
        if heard.status != 200 and heard.unreadable:
            return replace(heard, text=_words(merged) or body)
        return heard


def _envelope(text: str) -> dict[str, Any] | None:
    try:
        outer = read_json(text)
    except BadAnswer:
        return None
    status = outer["status_code"] if _is_envelope(outer) else None
    return outer if isinstance(status, int) and not isinstance(status, bool) else None


def _words(headers: Mapping[str, str]) -> str | None:
    """The reason of a failure, where it stands in a header."""
    return headers.get("x-brd-err-msg") or headers.get("x-brd-error")


def _is_envelope(document: Any) -> bool:
    return isinstance(document, dict) and "status_code" in document and "body" in document and "organic" not in document


def _texts(headers: Mapping[Any, Any]) -> dict[str, str]:
    """Inner headers as our own look: lower case; a header given several times is a list there."""
    found: dict[str, str] = {}
    for name, value in headers.items():
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str):
            found[str(name).lower()] = value
    return found


ADAPTER = BrightDataAdapter
