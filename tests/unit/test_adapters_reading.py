"""Bytes to text to JSON, decompression with a cap, and keys taken out of what is read."""

import base64
import gzip
import json
import zlib
from urllib.parse import quote, quote_plus

import pytest

from groundwire.adapters.decoding import Decoder, NotDecodable, TooLarge
from groundwire.adapters.errors import BadAnswer
from groundwire.adapters.reading import decode_text, looks_like_html, read_json
from groundwire.adapters.redaction import REDACTED, Redactor, known_secrets
from groundwire.adapters.retry_after import retry_after_s
from groundwire.adapters.spec import RetryAfterSpec


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("ü".encode(), "", "ü"),
        ("ü".encode(), "application/json; charset=iso-8859-1", "ü"),
        ("ü".encode("latin-1"), "application/json; charset=utf-8", "ü"),
        ("ü".encode("latin-1"), "application/json", "ü"),
        ("가".encode("euc-kr"), 'text/html; charset="euc-kr"', "가"),
        ("가".encode("euc-kr"), "text/html; charset=no-such", "°¡"),
        (b"\xef\xbb\xbf{}", "", "{}"),
        ("é".encode("utf-16"), "", "é"),
        ("é".encode("utf-32"), "", "é"),
        (b"\xff\xfe\x00", "", "\ufffd"),
        (b"\x81\x8d", "", "\ufffd\ufffd"),
        (b"", "", ""),
    ],
)
def test_a_body_is_utf_8_unless_it_can_not_be(body: bytes, content_type: str, text: str) -> None:
    assert decode_text(body, content_type) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "an empty body"),
        (" \n\ufeff ", "an empty body"),
        ("<!DOCTYPE html><p>", "HTML instead of JSON"),
        ("  <html>", "HTML instead of JSON"),
        ("<?xml version='1.0'?><html>", "HTML instead of JSON"),
        ("hello", "plain text instead of JSON"),
        ('{"a": "b', "JSON cut off after 8 characters"),
        ('{"a": [1, 2', "JSON cut off after 11 characters"),
        ('{"a": 1,}', "broken JSON: "),
        ("{'a': 1}", "broken JSON: "),
        ('{"a": 1} trailing words', "broken JSON: Extra data"),
        ("[" * 100_000, "JSON nested too deeply"),
        ("[" + "9" * 5000 + "]", "JSON with a number that is too long"),
    ],
)
def test_what_is_no_json_is_called_by_its_name(text: str, said: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        read_json(text)
    assert str(caught.value).startswith(said)


def test_json_is_read_forgivingly_where_nothing_is_lost() -> None:
    assert read_json('\ufeff \n{"a": NaN, "b": -Infinity}') == {"a": None, "b": None}


def test_html_is_told_from_text() -> None:
    assert looks_like_html("\n<head>")
    assert not looks_like_html("a < b")
    assert not looks_like_html('{"a": "<html>"}')


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP", "deflate"])
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_compressed_data_is_unpacked_in_any_pieces(encoding: str, step: int) -> None:
    packed = zlib.compress(b"hello " * 100) if encoding == "deflate" else gzip.compress(b"hello " * 100)
    decoder = Decoder(encoding, 1000)
    for start in range(0, len(packed), step):
        decoder.feed(packed[start : start + step])
    assert decoder.finish() == b"hello " * 100


def test_members_one_after_the_other_are_one_body() -> None:
    decoder = Decoder("gzip", 100)
    decoder.feed(gzip.compress(b"one ") + gzip.compress(b"two"))
    assert decoder.finish() == b"one two"


def test_what_comes_out_is_capped_while_it_comes_out() -> None:
    with pytest.raises(TooLarge):
        Decoder("gzip", 1000).feed(gzip.compress(b" " * 100_000_000))
    with pytest.raises(TooLarge):
        Decoder("", 3).feed(b"four")
    plain = Decoder("identity", 4)
    plain.feed(b"four")
    assert plain.finish() == b"four"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(NotDecodable, match="not asked for"):
        Decoder(encoding, 10)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_data_that_does_not_follow_its_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(NotDecodable, match="not what its content encoding says"):
        Decoder(encoding, 1000).feed(b"\xff\xff\xffnonsense")


def test_compressed_data_that_is_cut_off_is_refused_and_an_empty_body_is_not() -> None:
    decoder = Decoder("gzip", 1000)
    decoder.feed(gzip.compress(b"hello")[:-5])
    with pytest.raises(NotDecodable, match="cut off"):
        decoder.finish()
    assert Decoder("gzip", 10).finish() == b""


@pytest.mark.parametrize(
    "secret", ["sk-ant-0123456789", "a/b+c=d&e", "with space", 'quo"te-key', "ключ-ключ", "x<y>&z\"'"]
)
def test_a_secret_goes_in_whatever_form_it_comes(secret: str) -> None:
    redact = Redactor([secret])
    for form in (
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret),
        json.dumps(secret).replace("/", "\\/"),
        secret[::-1],
    ):
        assert secret not in redact(f"before {form} after")
        assert REDACTED in redact(f"before {form} after")
    for before in ("", "a", "ab", "abc", "user:"):
        packed = base64.b64encode(f"{before}{secret}:x".encode()).decode()
        assert REDACTED in redact(packed)
        assert REDACTED in redact(base64.urlsafe_b64encode(f"{before}{secret}:x".encode()).decode())


def test_a_key_in_json_inside_json_is_taken_out_too() -> None:
    secret = 'sl/ash"quote'
    redact = Redactor([secret])
    for inner in (json.dumps({"key": secret}), json.dumps({"key": secret}).replace("/", "\\/")):
        for outer in (json.dumps({"error": inner}), json.dumps({"error": inner}).replace("/", "\\/")):
            assert secret not in json.dumps(json.loads(json.loads(redact(outer))["error"])).replace('\\"', '"')


def test_a_word_is_no_secret_and_nothing_else_is_touched() -> None:
    redact = Redactor(["short", "", "long-enough"])
    assert redact("a short text") == "a short text"
    assert repr(redact) == "Redactor(…)"
    assert Redactor([])("text") == "text"


def test_secrets_are_collected_in_order_once() -> None:
    environ = {"A": " two ", "B": "", "C": "one"}
    assert known_secrets(environ, ["A", "B", "C", "D"], ["one", " "]) == ["one", "two"]


SPEC = RetryAfterSpec(paths=["wait", "deep[0].delay"], text=r"after (\d+)s", header="X-Reset")


@pytest.mark.parametrize(
    ("headers", "document", "text", "wait"),
    [
        ({}, None, "", None),
        ({"retry-after": "3"}, {"wait": 9}, "", 3.0),
        ({"retry-after": "1.5 seconds"}, None, "", 1.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, None, "", 0.25),
        ({"retry-after": "250ms"}, None, "", 0.25),
        ({"x-reset": "1, 99999"}, None, "", 1.0),
        ({"x-reset": "none"}, {"wait": 4}, "", 4.0),
        ({}, {"wait": 4}, "", 4.0),
        ({}, {"wait": "7s"}, "", 7.0),
        ({}, {"wait": "soon", "deep": [{"delay": "23s"}]}, "", 23.0),
        ({}, {"wait": True}, "please retry after 12s", 12.0),
        ({}, {"wait": -1}, "", None),
        ({}, {"wait": float("nan")}, "", None),
        ({}, {"wait": 1e18}, "", 60.0),
        ({"retry-after": "Tue, 01 Dec 2026 09:00:05 GMT"}, None, "", 5.0),
        ({"retry-after": "Tue, 01 Dec 2026 09:00:05"}, None, "", 5.0),
        ({"retry-after": "99 Foo"}, None, "", None),
    ],
)
def test_a_wait_is_found_where_the_vendor_puts_it(
    headers: dict[str, str], document: object, text: str, wait: float | None
) -> None:
    found = retry_after_s(SPEC, headers, document, text, now_s=1_796_115_600, cap_s=60)
    assert found == wait
