"""The rows that are the same for every vendor: what goes wrong on a line, at a gateway, in a body and in single rows.

Each row spoils the vendor's happy fixture in one way. Where a vendor differs, its own fixtures say so.
"""

import asyncio
import copy
import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from groundwire.adapters.call import CallOutcome, MappedResult, ProviderCall
from groundwire.adapters.fixtures import ANSWERED_AT, PLANTED_KEY, Fixture, fixture_provider, load_fixture
from groundwire.adapters.http import HttpAnswer
from groundwire.adapters.registry import load_specs

HERE = Path(__file__).parent
SPECS, _ = load_specs([])
HAPPY: dict[str, Fixture] = {name: load_fixture(HERE / "fixtures" / name / "happy.yaml") for name in SPECS}
SHAPES: dict[str, dict[str, str]] = yaml.safe_load((HERE / "shapes.yaml").read_text())
VENDORS = sorted(SPECS)
SHAPED = sorted(SHAPES)
KEYED = [name for name in VENDORS if SPECS[name].keys.env]
JSON = "application/json"


LOOP = asyncio.Runner()  # one loop for all: two thousand new ones would take longer than the tests


def ask(name: str, answer: HttpAnswer, depth: int | None = None) -> tuple[CallOutcome, list[MappedResult]]:
    """The outcome of a call that brings this answer, and its results. No key may be in either."""
    happy = HAPPY[name]
    own = happy.call.as_call()
    call = ProviderCall(own.query, depth or own.depth, own.language, own.country, own.freshness, own.filters)
    provider = fixture_provider(SPECS[name], answer, [], happy.options)
    outcome = LOOP.run(provider.call(call, 5.0))
    results: list[MappedResult] = []
    if outcome.body is not None and outcome.outcome == "ok":
        results = provider.results(outcome.body, call, int(ANSWERED_AT.timestamp() * 1000))
    assert len(results) == outcome.results
    assert PLANTED_KEY not in repr(outcome) + repr(results)
    return outcome, results


def body_of(name: str) -> Any:
    return copy.deepcopy(HAPPY[name].answer.json_body)


def packed(name: str, **kwargs: Any) -> bytes:
    return json.dumps(body_of(name), **kwargs).encode()


def reply(status: int, body: bytes = b"", kind: str = JSON, **headers: str) -> HttpAnswer:
    return HttpAnswer(
        status, {"content-type": kind, **{key.replace("_", "-"): value for key, value in headers.items()}}, body
    )


# ---- bodies in a 200 ---------------------------------------------------------------------------------------------------

UNREADABLE: dict[str, Callable[[str], HttpAnswer]] = {
    "html": lambda _: reply(200, b"<!DOCTYPE html><html><title>Just a moment...</title></html>", "text/html"),
    "html_called_json": lambda _: reply(200, b"\n<html><head></head></html>"),
    "xml_page": lambda _: reply(200, b'<?xml version="1.0"?><html></html>', "text/html"),
    "plain_text": lambda _: reply(200, b"upstream connect error", "text/plain"),
    "cut_off_json": lambda name: reply(200, packed(name)[: len(packed(name)) * 2 // 3]),
    "cut_off_by_one": lambda name: reply(200, packed(name)[:-1]),
    "empty_body": lambda _: reply(200),
    "blank_body": lambda _: reply(200, b" \r\n "),
    "null": lambda _: reply(200, b"null"),
    "number": lambda _: reply(200, b"42"),
    "text": lambda _: reply(200, b'"oops"'),
    "empty_list": lambda _: reply(200, b"[]"),
    "empty_object": lambda _: reply(200, b"{}"),
    "another_object": lambda _: reply(200, b'{"hello": "world"}'),
    "deep_nesting": lambda _: reply(200, b"[" * 100_000),
    "endless_number": lambda _: reply(200, b'{"n": ' + b"9" * 6000 + b"}"),
    "broken_gzip": lambda _: reply(200, b"\x1f\x8b nonsense", content_encoding="gzip"),
    "cut_off_gzip": lambda name: reply(200, gzip.compress(packed(name))[:-9], content_encoding="gzip"),
    "unasked_encoding": lambda name: reply(200, packed(name), content_encoding="br"),
    "accepted_202": lambda name: reply(202, b"{}"),
    "no_content_204": lambda _: reply(204),
    "partial_206": lambda name: reply(206, packed(name)),
    "redirect_301": lambda _: reply(301, b"", location="https://elsewhere.example/"),
    "redirect_302": lambda _: reply(302, b"", location="/login"),
    "not_modified_304": lambda _: reply(304),
}


@pytest.mark.parametrize("row", UNREADABLE)
@pytest.mark.parametrize("name", VENDORS)
def test_what_can_not_be_read_is_a_bad_answer_never_an_empty_one(name: str, row: str) -> None:
    outcome, _ = ask(name, UNREADABLE[row](name))
    assert outcome.outcome == "bad_answer"
    assert outcome.reason
    assert outcome.cost.micro_usd in (None, 0) or outcome.cost.source == "answer"


SAME: dict[str, Callable[[str], HttpAnswer]] = {
    "byte_order_mark": lambda name: reply(200, b"\xef\xbb\xbf" + packed(name)),
    "utf_16": lambda name: reply(200, packed(name).decode().encode("utf-16")),
    "gzip": lambda name: reply(200, gzip.compress(packed(name)), content_encoding="gzip"),
    "deflate": lambda name: reply(200, zlib.compress(packed(name)), content_encoding="deflate"),
    "deflate_without_wrapper": lambda name: reply(200, zlib.compress(packed(name))[2:-4], content_encoding="deflate"),
    "latin_1_label_on_utf_8": lambda name: reply(200, packed(name, ensure_ascii=False), f"{JSON}; charset=ISO-8859-1"),
    "wrong_content_type": lambda name: reply(200, packed(name), "text/html"),
    "no_content_type": lambda name: HttpAnswer(200, {}, packed(name)),
    "unknown_fields": lambda name: reply(200, json.dumps({**body_of(name), "zz_new": {"a": [1, None]}}).encode()),
    "blank_space_around": lambda name: reply(200, b"\n\n " + packed(name, indent=1) + b"\n"),
    "status_203": lambda name: reply(203, packed(name)),
}


@pytest.mark.parametrize("row", SAME)
@pytest.mark.parametrize("name", VENDORS)
def test_what_is_only_packed_otherwise_is_the_same_answer(name: str, row: str) -> None:
    plain = ask(name, reply(200, packed(name)))
    other = ask(name, SAME[row](name))
    assert other[1] == plain[1]
    assert len(plain[1]) > 0
    assert other[0].cost == plain[0].cost


@pytest.mark.parametrize("name", VENDORS)
def test_latin_1_that_calls_itself_utf_8_is_still_read(name: str) -> None:
    text = json.dumps(body_of(name), ensure_ascii=False).encode("cp1252", "replace")
    outcome, results = ask(name, reply(200, text, f"{JSON}; charset=utf-8"))
    assert outcome.outcome == "ok"
    assert len(results) == HAPPY[name].expect.count


# ---- statuses ----------------------------------------------------------------------------------------------------------

PAGE = b"<html><head><title>Gateway</title></head><body>nginx</body></html>"
STATUSES: dict[str, tuple[HttpAnswer, str]] = {
    "401": (reply(401, b'{"x": 1}'), "auth"),
    "403": (reply(403, b'{"x": 1}'), "auth"),
    "407": (reply(407), "auth"),
    "402": (reply(402, b'{"x": 1}'), "quota"),
    "408": (reply(408), "timeout"),
    "413": (reply(413), "bad_answer"),
    "418": (reply(418, b"short and stout", "text/plain"), "bad_answer"),
    "425": (reply(425), "rate_limited"),
    "429": (reply(429), "rate_limited"),
    "429_html": (reply(429, PAGE, "text/html"), "rate_limited"),
    "451": (reply(451), "bad_answer"),
    "500": (reply(500, b'{"error": "boom"}'), "server_error"),
    "500_broken": (reply(500, b'{"error": "bo'), "server_error"),
    "502_html": (reply(502, PAGE, "text/html"), "server_error"),
    "503": (reply(503), "server_error"),
    "504": (reply(504, PAGE, "text/html"), "server_error"),
    "520": (reply(520), "server_error"),
    "529": (reply(529), "server_error"),
    "400": (reply(400, b'{"x": 1}'), "rejected"),
    "422": (reply(422, b'{"x": 1}'), "rejected"),
}


@pytest.mark.parametrize("row", STATUSES)
@pytest.mark.parametrize("name", VENDORS)
def test_a_status_is_one_outcome_and_costs_nothing(name: str, row: str) -> None:
    answer, expected = STATUSES[row]
    outcome, _ = ask(name, answer)
    assert outcome.outcome == expected
    assert outcome.status_code == answer.status
    assert (outcome.cost.micro_usd, outcome.cost.source) == (0, "price_list")
    assert outcome.body is None


@pytest.mark.parametrize("name", [name for name in VENDORS if name != "searxng"])
def test_a_gateways_page_with_a_400_is_not_the_callers_mistake(name: str) -> None:
    assert ask(name, reply(400, PAGE, "text/html"))[0].outcome == "bad_answer"


WAITS: dict[str, tuple[str, float | None]] = {
    "seconds": ("2", 2.0),
    "zero": ("0", 0.0),
    "date": ("Tue, 01 Dec 2026 09:00:10 GMT", 10.0),
    "date_gone_by": ("Tue, 01 Dec 2026 08:00:00 GMT", 0.0),
    "absurd": ("999999999999", 30.0),
    "far_date": ("Wed, 01 Dec 2038 09:00:00 GMT", 30.0),
    "twice": ("2, 7", 7.0),
    "words": ("soon", None),
    "negative": ("-5", None),
    "nothing": ("", None),
}


@pytest.mark.parametrize("name", VENDORS)
def test_retry_after_is_understood_and_capped(name: str) -> None:
    for row, (header, expected) in WAITS.items():
        outcome, _ = ask(name, reply(429, b"", retry_after=header))
        assert (row, outcome.outcome, outcome.retry_after_s) == (row, "rate_limited", expected)


@pytest.mark.parametrize("status", [401, 500, 200])
@pytest.mark.parametrize("name", KEYED)
def test_a_key_that_is_echoed_is_taken_out(name: str, status: int) -> None:
    message = f"key {PLANTED_KEY}, Authorization: Bearer {PLANTED_KEY}, ?key={PLANTED_KEY}&q=1"
    body = {"error": {"message": message, "detail": message}, "message": message, "detail": message}
    outcome, _ = ask(name, reply(status, json.dumps(body).encode(), x_brd_err_msg=message))
    assert outcome.outcome != "ok"
    assert PLANTED_KEY not in repr(outcome)


@pytest.mark.parametrize("name", KEYED)
def test_a_key_inside_a_good_answer_is_taken_out_of_body_and_results(name: str) -> None:
    text = packed(name).decode().replace("https://", f"https://k-{PLANTED_KEY}.", 1)
    outcome, _ = ask(name, reply(200, text.encode()))
    assert PLANTED_KEY not in (outcome.body or "")


# ---- rows --------------------------------------------------------------------------------------------------------------


def spoiled(name: str, spoil: Callable[[list[Any], dict[str, str]], None]) -> HttpAnswer:
    """The happy answer with its rows changed in place."""
    body, shape = rows_alone(name), SHAPES[name]
    spoil(rows_in(body, shape["rows"]), shape)
    return reply(200, json.dumps(body).encode())


def rows_alone(name: str) -> Any:
    """The happy body with one list of rows only."""
    body = body_of(name)
    if "beside" in SHAPES[name]:
        put(body, SHAPES[name]["beside"], None, drop=True)
    return body


def rows_in(body: Any, path: str) -> list[Any]:
    for step in path.split("."):
        body = body[step]
    assert isinstance(body, list)
    return body


def put(body: Any, path: str, value: Any, *, drop: bool = False) -> None:
    *way, last = path.split(".")
    for step in way:
        body = body[step]
    if drop:
        body.pop(last)
    else:
        body[last] = value


def row(shape: dict[str, str], number: int, **values: Any) -> dict[str, Any]:
    """A row with an address of its own and what the test is about; `index` is for vendors that number theirs."""
    fields = {"url": f"https://page.example/{number}", "title": f"Title {number}", "body": f"Body {number}", **values}
    return {"index": number, **{shape[key]: value for key, value in fields.items() if value is not MISSING}}


MISSING = object()
NO_TEXT: dict[str, Any] = {"missing": MISSING, "null": None, "number": 5, "list": [], "object": {"a": 1}, "blank": "  "}


@pytest.mark.parametrize("field", ["title", "body"])
@pytest.mark.parametrize("name", SHAPED)
def test_a_row_without_a_text_is_kept(name: str, field: str) -> None:
    def spoil(rows: list[Any], shape: dict[str, str]) -> None:
        rows[:] = [row(shape, number, **{field: value}) for number, value in enumerate(NO_TEXT.values(), 1)]

    outcome, results = ask(name, spoiled(name, spoil), depth=10)
    assert outcome.outcome == "ok"
    assert [result.url for result in results] == [f"https://page.example/{n}" for n in range(1, len(NO_TEXT) + 1)]
    assert dict(zip(NO_TEXT, (getattr(result, field) for result in results), strict=True)) == dict.fromkeys(NO_TEXT, "")


NO_URL: dict[str, Any] = {
    "missing": MISSING,
    "null": None,
    "number": 5,
    "blank": "",
    "relative": "/a",
    "script": "javascript:alert(1)",
    "mail": "mailto:a@b.example",
    "no_host": "https://",
    "bad_port": "http://a.example:99999/",
    "words": "not an address",
    "data": "data:text/html,x",
    "object": {"href": "x"},
}


@pytest.mark.parametrize("name", SHAPED)
def test_a_row_without_a_usable_address_is_left_out_and_the_others_stay(name: str) -> None:
    def spoil(rows: list[Any], shape: dict[str, str]) -> None:
        bad = [row(shape, 2, url=value, title=kind) for kind, value in NO_URL.items()]
        rows[:] = [row(shape, 1), *bad, row(shape, 3)]

    _, results = ask(name, spoiled(name, spoil), depth=20)
    assert [result.title for result in results] == ["Title 1", "Title 3"]


@pytest.mark.parametrize("name", SHAPED)
def test_rows_without_a_single_usable_address_are_a_bad_answer(name: str) -> None:
    def spoil(rows: list[Any], shape: dict[str, str]) -> None:
        rows[:] = [row(shape, 1, url=None), row(shape, 2, url=7)]

    outcome, _ = ask(name, spoiled(name, spoil))
    assert outcome.outcome == "bad_answer"
    assert "none with a usable address" in (outcome.reason or "")


@pytest.mark.parametrize("name", SHAPED)
def test_things_that_are_no_rows_are_passed_over(name: str) -> None:
    def spoil(rows: list[Any], shape: dict[str, str]) -> None:
        rows[:] = ["a text", None, row(shape, 1), 5, [], row(shape, 2)]

    assert len(ask(name, spoiled(name, spoil))[1]) == 2


@pytest.mark.parametrize("name", SHAPED)
def test_a_list_of_no_rows_at_all_is_a_bad_answer(name: str) -> None:
    def spoil(rows: list[Any], shape: dict[str, str]) -> None:
        rows[:] = ["a", "b", 5]

    assert ask(name, spoiled(name, spoil))[0].outcome == "bad_answer"


@pytest.mark.parametrize("value", [{"0": "x"}, "rows", 3, True])
@pytest.mark.parametrize("name", SHAPED)
def test_rows_of_the_wrong_type_are_a_bad_answer(name: str, value: Any) -> None:
    body = rows_alone(name)
    put(body, SHAPES[name]["rows"], value)
    assert ask(name, reply(200, json.dumps(body).encode()))[0].outcome == "bad_answer"


@pytest.mark.parametrize("value", ["[]", "null"])
@pytest.mark.parametrize("name", SHAPED)
def test_an_empty_list_or_null_is_an_empty_answer(name: str, value: str) -> None:
    body = rows_alone(name)
    put(body, SHAPES[name]["rows"], json.loads(value))
    expected = "server_error" if SHAPES[name]["missing_list"] == "server_error" else "empty"
    assert ask(name, reply(200, json.dumps(body).encode()))[0].outcome == expected


@pytest.mark.parametrize("name", SHAPED)
def test_a_missing_list_is_empty_only_where_the_vendor_means_it_so(name: str) -> None:
    body = rows_alone(name)
    put(body, SHAPES[name]["rows"], None, drop=True)
    assert ask(name, reply(200, json.dumps(body).encode()))[0].outcome == SHAPES[name]["missing_list"]


TEXTS: dict[str, tuple[str, str]] = {
    "markup": ("<strong>Best</strong> <em>drill</em> &amp; bit", "Best drill & bit"),
    "entities": ("isn&#x27;t &quot;it&quot;&nbsp;&lt;now&gt;", 'isn\'t "it" <now>'),
    "escaped_twice": ("&amp;lt;b&amp;gt; &amp;amp;", "&lt;b&gt; &amp;"),
    "escaped_markup": ("&lt;b&gt;bold&lt;/b&gt;", "<b>bold</b>"),
    "code": ("a List<String> & b < c", "a List<String> & b < c"),
    "script": ("x<script>alert(1)</script>y", "xy"),
    "cjk": ("東京タワー、서울 타워", "東京タワー、서울 타워"),
    "rtl": ("\u202eשלום\u202c \u200fعالم", "שלום عالم"),
    "emoji": ("👨‍👩‍👧 ☕️ fin", "👨‍👩‍👧 ☕️ fin"),
    "combining": ("Zu\u0308rich cafe\u0301", "Zu\u0308rich cafe\u0301"),
    "zero_width": ("in\u200bvis\u2060ible\ufeff", "invisible"),
    "hidden_tags": ("ok\U000e0069\U000e0067\U000e006e", "ok"),
    "control": ("a\u0000b\u001bc\u0007", "abc"),
    "blanks": ("  a\u00a0\u2003 b\t c ", "a b c"),
    "half_a_pair": ("a\ud83db", "ab"),
}


@pytest.mark.parametrize("field", ["title", "body"])
@pytest.mark.parametrize("name", SHAPED)
def test_texts_come_out_clean(name: str, field: str) -> None:
    def spoil(rows: list[Any], shape: dict[str, str]) -> None:
        rows[:] = [row(shape, number, **{field: raw}) for number, (raw, _) in enumerate(TEXTS.values(), 1)]

    body = spoiled(name, spoil)
    call = ProviderCall("q", len(TEXTS), None, None, "slow", HAPPY[name].call.filters)
    provider = fixture_provider(SPECS[name], body, [])
    results = provider.results(body.body.decode(), call, int(ANSWERED_AT.timestamp() * 1000))
    found = dict(zip(TEXTS, (getattr(result, field) for result in results), strict=True))
    assert found == {kind: clean for kind, (_, clean) in TEXTS.items()}


@pytest.mark.parametrize("name", SHAPED)
def test_one_page_is_one_result_however_it_is_written(name: str) -> None:
    twins = [
        "https://page.example/a",
        "http://www.page.example/a/",
        "https://PAGE.example/a?utm_source=x&gclid=1",
        "https://page.example/a#part",
        "https://page.example/a?srsltid=AfmB#:~:text=word",
    ]

    def spoil(rows: list[Any], shape: dict[str, str]) -> None:
        rows[:] = [row(shape, number, url=url) for number, url in enumerate([*twins, "https://page.example/b"], 1)]

    _, results = ask(name, spoiled(name, spoil), depth=5)
    assert [result.url for result in results] == ["https://page.example/a", "https://page.example/b"]


@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize("name", SHAPED)
def test_more_rows_than_asked_for_are_cut_and_fewer_are_fine(name: str, count: int) -> None:
    def spoil(rows: list[Any], shape: dict[str, str]) -> None:
        rows[:] = [row(shape, number) for number in range(1, count + 1)]

    assert len(ask(name, spoiled(name, spoil), depth=3)[1]) == min(3, count)


DATES: dict[str, tuple[Any, str | None]] = {
    "day": ("2026-11-02", "2026-11-02"),
    "with_zone": ("2026-11-02T08:00:00+09:00", "2026-11-02T08:00:00+09:00"),
    "without_zone": ("2026-11-02T08:00:00", "2026-11-02T08:00:00"),
    "english": ("3 days ago", "2026-11-28"),
    "spanish": ("hace 3 días", "2026-11-28"),
    "korean": ("3일 전", "2026-11-28"),
    "japanese": ("3 日前", "2026-11-28"),
    "future": ("2027-03-01", None),
    "two_readings": ("03/04/2026", None),
    "number": (1764579600, None),
    "null": (None, None),
    "words": ("recently", None),
}


@pytest.mark.parametrize("name", [name for name in SHAPED if "date" in SHAPES[name]])
def test_a_date_is_iso_when_it_is_certain_and_missing_when_not(name: str) -> None:
    def spoil(rows: list[Any], shape: dict[str, str]) -> None:
        rows[:] = [{**row(shape, n), shape["date"]: raw} for n, (raw, _) in enumerate(DATES.values(), 1)]

    _, results = ask(name, spoiled(name, spoil), depth=20)
    found = dict(zip(DATES, (result.published_at for result in results), strict=True))
    assert found == {kind: expected for kind, (_, expected) in DATES.items()}


@pytest.mark.parametrize("value", ["missing", "1", "-1", "null", "true", "[]"])
@pytest.mark.parametrize("name", [name for name in SHAPED if "cost" in SHAPES[name]])
def test_a_cost_that_is_no_amount_is_not_believed(name: str, value: str) -> None:
    body = body_of(name)
    stated = {"missing": None, "1": "1", "-1": -1, "null": None, "true": True, "[]": []}[value]
    put(body, SHAPES[name]["cost"], stated, drop=value == "missing")
    outcome, _ = ask(name, reply(200, json.dumps(body).encode()))
    assert outcome.cost.source == "price_list"
    assert (outcome.cost.micro_usd or 0) > 0


def test_the_matrix_is_as_large_as_it_claims() -> None:
    everywhere = len(UNREADABLE) + len(SAME) + len(STATUSES) + len(WAITS)
    assert len(VENDORS) >= 16
    assert everywhere >= 25
