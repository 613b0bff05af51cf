"""From a vendor's honest answer and a fault to the answer that is sent. How it is sent is delivery.py's business."""

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from functools import lru_cache

from groundwire.adapters.sandbox.faults import HONEST, OWN_BILL, Fault
from groundwire.adapters.sandbox.vendor import PLAIN, Vendor
from groundwire.adapters.sandbox.wire import Answer, Asked, Refusal, html_page

HUGE_BYTES = 20_000_000
BOMB_BYTES = 256_000_000


def spoil(vendor: Vendor, asked: Asked, honest: Answer, fault: Fault) -> Answer:
    """The answer after the fault, with what is billed for it."""
    answer = _spoiled(vendor, asked, honest, fault)
    headers = {**answer.headers, **fault.headers}
    if fault.retry_after is not None:
        headers["Retry-After"] = fault.retry_after
    if fault.retry_after_date_s is not None:
        moment = asked.now + timedelta(seconds=fault.retry_after_date_s)
        headers["Retry-After"] = format_datetime(moment, usegmt=True)
    free = fault.kind not in HONEST if fault.billed is None else not fault.billed
    billed = answer.micro_usd if fault.kind in OWN_BILL and fault.billed is None else honest.micro_usd
    return replace(answer, headers=headers, query=honest.query, micro_usd=None if free else billed)


def _spoiled(vendor: Vendor, asked: Asked, honest: Answer, fault: Fault) -> Answer:
    match fault.kind:
        case "status":
            return vendor.failure(fault.status or 500)
        case "auth":
            return vendor.error(vendor.auth)
        case "quota":
            return vendor.error(vendor.quota)
        case "rate_limit":
            return vendor.error(vendor.rate)
        case "masked":
            return vendor.masked(asked)
        case "key_echo":
            key = vendor.key(asked)
            message = f"The key {key} may not be used here (Authorization: Bearer {key})."
            return vendor.error(Refusal(fault.status or vendor.auth.status, message, vendor.auth.code))
        case "empty_results":
            return vendor.answer(replace(asked, empty=True))
        case "html":
            status = fault.status or 200
            title = "Checking your browser" if status == 200 else f"{status} {PLAIN.get(status, 'Error')}"
            return Answer(status, html_page(title, "gateway"), "text/html; charset=utf-8")
        case "raw":
            return Answer(fault.status or 200, (fault.body or "").encode(), fault.content_type or "application/json")
        case "empty_body":
            return Answer(fault.status or 200, b"", honest.content_type)
        case "redirect":
            location = fault.location or "https://elsewhere.example/search"
            return Answer(fault.status or 302, b"", "text/plain", {"Location": location})
    return _distorted(honest, fault)


def _distorted(honest: Answer, fault: Fault) -> Answer:
    """Faults that need nothing but the vendor's own answer."""
    body = honest.body
    packed = {**honest.headers, "Content-Encoding": "gzip"}
    match fault.kind:
        case "wrong_types":
            return replace(honest, body=_turned(body, _other_type))
        case "null_values":
            return replace(honest, body=_turned(body, _null))
        case "truncated":
            return replace(honest, body=body[: len(body) * 2 // 3])
        case "huge":
            size = HUGE_BYTES if fault.size_bytes is None else fault.size_bytes
            return replace(honest, body=b" " * max(0, size - len(body)) + body)
        case "gzip":
            return replace(honest, body=gzip.compress(body, 6), headers=packed)
        case "gzip_bomb":
            return replace(
                honest, body=_bomb(BOMB_BYTES if fault.size_bytes is None else fault.size_bytes), headers=packed
            )
    return honest  # slow, drip, hang, reset, close: the answer is right, its delivery isn't


@lru_cache(maxsize=2)
def _bomb(size: int) -> bytes:
    """White space that is a thousandth of its size on the wire."""
    packer = zlib.compressobj(9, wbits=31)
    block = b" " * min(size, 1_000_000)
    packed = [packer.compress(block) for _ in range(size // len(block))] if block else []
    return b"".join([*packed, packer.compress(b"{}"), packer.flush()])


def _turned(body: bytes, turn: Callable[[object], object]) -> bytes:
    try:
        value = json.loads(body)
    except ValueError:
        return body
    return json.dumps(_turn(value, turn), ensure_ascii=False).encode()


def _turn(value: object, turn: Callable[[object], object]) -> object:
    if isinstance(value, dict):
        return {name: _turn(inner, turn) for name, inner in value.items()}
    if isinstance(value, list):
        return [_turn(inner, turn) for inner in value]
    return turn(value)


def _null(_: object) -> None:
    return None


def _other_type(value: object) -> object:
    if isinstance(value, str):
        return len(value)
    return [str(value)]
