"""Scripted faults: which call they hit, what they make of the answer, and what is billed for it."""

import gzip
import json
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from pydantic import ValidationError

from groundwire.adapters.sandbox.faults import Fault, FaultBook
from groundwire.adapters.sandbox.library import Library
from groundwire.adapters.sandbox.spoiling import spoil
from groundwire.adapters.sandbox.vendors.searxng import SearXNG
from groundwire.adapters.sandbox.vendors.serper import Serper
from groundwire.adapters.sandbox.wire import Answer, Asked

VENDORS = frozenset({"serper", "exa"})
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
SERPER = Serper(Library())
ASKED = Asked("POST", "/search", headers={"x-api-key": "sk-secret"}, body=b'{"q": "kafka consumer groups"}', now=NOW)
HONEST = SERPER.answer(ASKED)


def book() -> FaultBook:
    return FaultBook(VENDORS, seed=1)


def spoiled(kind: Any, **fields: Any) -> Answer:
    return spoil(SERPER, ASKED, HONEST, Fault(vendor="serper", kind=kind, **fields))


# --- which call


def test_a_rule_hits_as_often_as_it_says_and_only_its_vendor() -> None:
    faults = book()
    faults.add(Fault(vendor="serper", kind="html", times=2))
    assert faults.draw("exa", None) is None
    assert [bool(faults.draw("serper", None)) for _ in range(3)] == [True, True, False]


def test_rules_are_tried_in_the_order_they_came() -> None:
    faults = book()
    faults.add(Fault(vendor="*", kind="html", times=1))
    faults.add(Fault(vendor="serper", kind="reset"))
    drawn = [faults.draw("serper", None) for _ in range(2)]
    assert [fault.kind for fault in drawn if fault] == ["html", "reset"]


def test_a_rule_can_wait_for_a_query() -> None:
    faults = book()
    faults.add(Fault(vendor="*", kind="html", query_contains="tea"))
    assert faults.draw("exa", "coffee") is None
    assert faults.draw("exa", None) is None
    assert faults.draw("exa", "green tea")


def test_chance_is_repeatable() -> None:
    runs = []
    for _ in range(2):
        faults = book()
        faults.add(Fault(vendor="*", kind="html", probability=0.3))
        runs.append([bool(faults.draw("exa", None)) for _ in range(200)])
    assert runs[0] == runs[1]
    assert 30 < sum(runs[0]) < 90


def test_a_vendor_is_switched_off_and_on() -> None:
    faults = book()
    faults.switch_off("serper")
    faults.switch_off("exa", status=503)
    off = faults.draw("serper", None), faults.draw("exa", None)
    assert [(fault.kind, fault.status) for fault in off if fault] == [("close", None), ("status", 503)]
    assert faults.as_dict()["off"] == ["exa", "serper"]
    faults.switch_on("*")
    assert faults.draw("serper", None) is None
    faults.switch_off("*")
    faults.switch_on("exa")
    assert faults.draw("exa", None) is None
    assert faults.draw("serper", None)


def test_rules_are_cleared_by_vendor_by_number_or_all() -> None:
    faults = book()
    first, second, third = (faults.add(Fault(vendor=name, kind="html")) for name in ("serper", "exa", "exa"))
    assert faults.clear(number=second.number) == 1
    assert faults.clear(vendor="serper") == 1
    assert [rule["id"] for rule in faults.as_dict()["rules"]] == [third.number]  # type: ignore[attr-defined]
    assert first.number != third.number
    assert faults.clear() == 1
    faults.switch_off("exa")
    faults.reset()
    assert faults.draw("exa", None) is None


def test_an_unknown_vendor_or_field_is_refused() -> None:
    with pytest.raises(KeyError, match="there are: exa, serper"):
        book().add(Fault(vendor="nobody", kind="html"))
    with pytest.raises(KeyError, match="nobody"):
        book().switch_off("nobody")
    with pytest.raises(ValidationError):
        Fault.model_validate({"vendor": "exa", "kind": "explode"})
    with pytest.raises(ValidationError):
        Fault.model_validate({"vendor": "exa", "kind": "html", "statuss": 500})


# --- what becomes of the answer


def test_statuses_come_in_the_vendors_words() -> None:
    assert json.loads(spoiled("status").body) == {"message": "Internal Server Error", "statusCode": 500}
    assert json.loads(spoiled("auth").body) == {"message": "Unauthorized.", "statusCode": 403}
    assert json.loads(spoiled("quota").body) == {"message": "Not enough credits", "statusCode": 400}
    assert spoiled("rate_limit").status == 429


def test_retry_after_comes_in_any_form() -> None:
    assert spoiled("rate_limit", retry_after="soon").headers["Retry-After"] == "soon"
    dated = spoiled("status", status=503, retry_after_date_s=90).headers["Retry-After"]
    assert parsedate_to_datetime(dated) == NOW + timedelta(seconds=90)
    assert spoiled("status", status=503, headers={"X-Extra": "1"}).headers["X-Extra"] == "1"


def test_a_vendor_can_repeat_the_key_it_was_sent() -> None:
    answer = spoiled("key_echo", status=400)
    assert answer.status == 400
    assert b"sk-secret" in answer.body
    keyless = SearXNG(Library())
    asked = Asked("GET", "/search", params={"q": "x", "format": "json"}, now=NOW)
    echoed = spoil(keyless, asked, keyless.answer(asked), Fault(vendor="searxng", kind="key_echo"))
    assert echoed.status == 403


def test_types_are_turned_and_values_nulled() -> None:
    first = json.loads(spoiled("wrong_types").body)["organic"][0]
    assert isinstance(first["title"], int)
    assert isinstance(first["position"], list)
    assert json.loads(spoiled("null_values").body)["organic"][0]["link"] is None
    text = Answer(200, b"no json", "text/plain")
    assert spoil(SERPER, ASKED, text, Fault(vendor="serper", kind="wrong_types")).body == b"no json"


def test_bodies_are_cut_emptied_replaced_and_padded() -> None:
    with pytest.raises(ValueError):
        json.loads(spoiled("truncated").body)
    assert spoiled("empty_body").body == b""
    page = spoiled("html", status=502)
    assert (page.status, page.content_type) == (502, "text/html; charset=utf-8")
    assert b"502 Bad Gateway" in page.body
    assert b"Checking your browser" in spoiled("html").body
    raw = spoiled("raw", body="\ufeff{}", content_type="text/plain", status=202)
    assert (raw.status, raw.body, raw.content_type) == (202, "\ufeff{}".encode(), "text/plain")
    assert json.loads(spoiled("huge", size_bytes=50_000).body)["organic"]
    assert len(spoiled("huge").body) == 20_000_000


def test_compression_is_honest_or_a_bomb() -> None:
    packed = spoiled("gzip")
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == HONEST.body
    bomb = spoiled("gzip_bomb", size_bytes=5_000_000).body
    assert len(bomb) < 20_000
    assert len(zlib.decompressobj(31).decompress(bomb)) == 5_000_002


def test_redirects_lead_elsewhere() -> None:
    assert spoiled("redirect").headers["Location"] == "https://elsewhere.example/search"
    moved = spoiled("redirect", status=307, location="/other")
    assert (moved.status, moved.headers["Location"]) == (307, "/other")


# --- what is billed


@pytest.mark.parametrize("kind", ["slow", "drip", "gzip", "empty_results"])
def test_a_whole_answer_is_billed_as_ever(kind: str) -> None:
    assert spoiled(kind).micro_usd == 1_000


@pytest.mark.parametrize(
    "kind", ["status", "auth", "quota", "rate_limit", "masked", "key_echo", "html", "empty_body", "truncated", "wrong_types",
             "reset", "close", "hang", "redirect", "raw"]
)  # fmt: skip
def test_a_failure_is_free_unless_the_script_says_otherwise(kind: str) -> None:
    assert spoiled(kind).micro_usd is None
    assert spoiled(kind, billed=True).micro_usd == 1_000
    assert spoiled("slow", billed=False).micro_usd is None


def test_a_failure_keeps_the_query_it_was_asked() -> None:
    assert spoiled("status").query == "kafka consumer groups"
