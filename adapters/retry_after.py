"""How long a vendor asks us to wait: the header in both its forms, the same in a body, absurd values capped."""

import math
import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from groundwire.adapters.classify import search
from groundwire.adapters.spec import RetryAfterSpec

_DURATION = re.compile(r"\s*(\d{1,12}(?:\.\d{1,9})?)\s*(ms|s|sec|seconds?)?\s*", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?")


def retry_after_s(
    spec: RetryAfterSpec, headers: Mapping[str, str], document: Any, text: str, *, now_s: float, cap_s: float
) -> float | None:
    """Seconds to wait, between 0 and `cap_s`, or None when the vendor did not say or can't be understood."""
    wish = _from_headers(headers, now_s)
    if wish is None and spec.header is not None and (found := _NUMBER.search(headers.get(spec.header.lower(), ""))):
        wish = float(found[0])
    if wish is None:
        wish = _from_body(spec, document, text)
    if wish is None or math.isnan(wish) or wish < 0:
        return None
    return min(wish, cap_s)


def _from_headers(headers: Mapping[str, str], now_s: float) -> float | None:
    millis = headers.get("retry-after-ms")
    if millis is not None and (match := _DURATION.fullmatch(millis)):
        return float(match[1]) / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    # A header that is there twice arrives as one, with commas; an HTTP date has a comma too.
    if all(matches := [_DURATION.fullmatch(part) for part in value.split(",")]):
        return max(_seconds(match) for match in matches if match)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now_s)


def _from_body(spec: RetryAfterSpec, document: Any, text: str) -> float | None:
    for expression in spec.paths:
        value = search(expression, document)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, str) and (match := _DURATION.fullmatch(value)):
            return _seconds(match)
    if spec.text is not None and (found := re.search(spec.text, text, re.IGNORECASE)):
        match = _DURATION.fullmatch(found.group(1))
        return _seconds(match) if match else None
    return None


def _seconds(match: re.Match[str]) -> float:
    return float(match[1]) / (1000 if (match[2] or "").lower() == "ms" else 1)
