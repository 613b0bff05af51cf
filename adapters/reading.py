"""Bytes to text to JSON, forgivingly where nothing is lost by it, and saying what was there instead where it can't be done."""

import codecs
import json
import re
from typing import Any

from groundwire.adapters.errors import BadAnswer

_CHARSET = re.compile(r"charset=\"?([\w.:-]{1,40})", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
         (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?<(?:!doctype|html|head|body|title|h1|div|p|script|style|meta|center)\b", re.IGNORECASE
)


def decode_text(body: bytes, content_type: str) -> str:
    """Text of a body. JSON is UTF-8, whatever its label says; what is not falls back to the label, then to Latin-1's superset."""
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body.decode(encoding, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        pass
    declared = _CHARSET.search(content_type)
    if declared is not None and declared[1].lower() not in ("utf-8", "utf8"):
        try:
            return body.decode(declared[1])
        except (LookupError, UnicodeError):
            pass
    return body.decode("cp1252", "replace")


def read_json(text: str) -> Any:
    """The JSON in a text. Raises BadAnswer that says what is there instead; never repeats the content."""
    stripped = text.lstrip("\ufeff \t\r\n")
    if not stripped.strip():
        raise BadAnswer("an empty body")
    try:
        return json.loads(stripped, parse_constant=lambda _: None)
    except RecursionError:
        raise BadAnswer("JSON nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadAnswer(_what_it_is(stripped, error)) from None
    except ValueError:  # an integer of thousands of digits, refused by the interpreter
        raise BadAnswer("JSON with a number that is too long") from None


def looks_like_html(text: str) -> bool:
    return _HTML.match(text[:2000]) is not None


def _what_it_is(text: str, error: json.JSONDecodeError) -> str:
    if looks_like_html(text):
        return "HTML instead of JSON"
    if text[0] not in "{[":
        return "plain text instead of JSON"
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return f"JSON cut off after {len(text):,} characters"
    return f"broken JSON: {error.msg} at line {error.lineno}, column {error.colno}"
