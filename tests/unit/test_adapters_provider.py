"""`Provider.call`: one outcome of whatever happens, no key in it, and the money right."""

import asyncio
import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from groundwire.adapters.call import ProviderCall
from groundwire.adapters.errors import BadAnswer, WireError
from groundwire.adapters.http import CannedTransport, HttpAnswer, HttpRequest
from groundwire.adapters.provider import Provider
from groundwire.adapters.registry import Registry
from groundwire.adapters.spec import ProviderSpec
from groundwire.adapters.specfile import load_spec_file
from groundwire.schemas.request import Filters
from groundwire.schemas.settings import Settings

GOOD = HttpAnswer(200, {"content-type": "application/json"}, b'{"rows": [{"url": "https://a.example/", "t": "A"}]}')

FILE = """
name: acme
title: Acme
about: a made-up vendor
keys: {env: [ACME_KEY]}
options:
  mode: {about: how, default: plain, choices: [plain, rich]}
request:
  base_url: https://api.acme.example
  path: /v1/search
  headers: {X-Key: "{key}"}
  body: {q: "{query}", n: "{depth}", mode: "{option.mode}"}
limits: {max_depth: 10, max_query_chars: 50}
answer: {recognise: [rows], results: rows, url: url, title: t, body: [b]}
outcomes:
  - {status: [402], outcome: quota}
price:
  stated: {path: credits, unit_usd: "0.002"}
  rates:
    - {when: {mode: rich}, usd_per_1000: "6"}
    - {usd_per_1000: "3"}
rate: {requests_per_s: 4, max_concurrency: 2}
timeout_s: 3
storage:
  {allowed: true, max_ttl_s: 100, shareable: true, terms_url: "https://acme.example/terms", as_of: "2026-11-01", basis: terms}
"""


class Line:
    """A network of one vendor: answers are given out in order, the last one again and again."""

    def __init__(self, *answers: HttpAnswer | BaseException) -> None:
        self.answers = list(answers)
        self.sent: list[HttpRequest] = []

    def __call__(self, request: HttpRequest) -> HttpAnswer:
        self.sent.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


def call(query: str = "q", depth: int = 5, **filters: Any) -> ProviderCall:
    return ProviderCall(query, depth, None, None, "slow", Filters(**filters))


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> ProviderSpec:
    file = tmp_path_factory.mktemp("providers") / "acme.yaml"
    file.write_text(FILE)
    return load_spec_file(file)


def acme(spec: ProviderSpec, line: Line, environ: dict[str, str] | None = None, **own: Any) -> Provider:
    settings = Settings.model_validate({"providers": {"acme": own}})
    environ = {"ACME_KEY": "planted-key-1"} if environ is None else environ
    registry = Registry.of({"acme": spec}, [], settings, environ, transport=CannedTransport(line))
    assert registry.problems == []
    return registry.get("acme")


async def test_an_answer_becomes_an_outcome_with_its_results(spec: ProviderSpec) -> None:
    line = Line(GOOD)
    provider = acme(spec, line)
    outcome = await provider.call(call(), 1.0)
    assert (outcome.outcome, outcome.results, outcome.cost.micro_usd, outcome.cost.source) == (
        "ok",
        1,
        3000,
        "price_list",
    )
    assert outcome.body_bytes == len(GOOD.body)
    assert outcome.latency_ms > 0
    assert line.sent[0].headers["x-key"] == "planted-key-1"
    assert json.loads(line.sent[0].body or b"") == {"q": "q", "n": 5, "mode": "plain"}
    assert provider.results(outcome.body or "", call(), 0)[0].title == "A"


async def test_what_the_answer_states_goes_before_the_list(spec: ProviderSpec) -> None:
    body = b'{"rows": [], "credits": 2}'
    outcome = await acme(spec, Line(HttpAnswer(200, {}, body))).call(call(), 1.0)
    assert (outcome.outcome, outcome.cost.micro_usd, outcome.cost.source) == ("empty", 4000, "answer")


@pytest.mark.parametrize(
    ("own", "environ", "reason"),
    [
        ({}, {}, "no key: set ACME_KEY"),
        ({}, {"ACME_KEY": "  "}, "no key: set ACME_KEY"),
        ({"enabled": False}, {"ACME_KEY": "k-123456"}, "switched off"),
        ({"options": {"mode": "odd"}}, {"ACME_KEY": "k-123456"}, "option mode is `odd`; choose one of plain, rich"),
        ({"options": {"speed": "1"}}, {"ACME_KEY": "k-123456"}, "no option `speed`; there are mode"),
    ],
)
async def test_what_is_missing_is_said_and_nothing_is_called(
    spec: ProviderSpec, own: dict[str, Any], environ: dict[str, str], reason: str
) -> None:
    line = Line(GOOD)
    provider = acme(spec, line, environ, **own)
    outcome = await provider.call(call(), 1.0)
    assert provider.unavailable() == reason
    assert provider.unfit(call()) == reason
    assert (outcome.outcome, outcome.reason, outcome.cost.micro_usd) == ("skipped", reason, 0)
    assert line.sent == []


async def test_a_query_over_the_vendors_own_limit_is_not_cut(spec: ProviderSpec) -> None:
    line = Line(GOOD)
    provider = acme(spec, line)
    outcome = await provider.call(call("w" * 51), 1.0)
    assert provider.unfit(call("w" * 51)) == "the query has 51 characters; Acme takes at most 50"
    assert (outcome.outcome, line.sent) == ("skipped", [])
    assert provider.unfit(call("w" * 50)) is None


async def test_a_filter_that_nobody_can_apply_skips_the_vendor(spec: ProviderSpec) -> None:
    provider = acme(spec, Line(GOOD))
    assert provider.unfit(call(published_after="2026-01-01")) == "can't filter by date, and its results have none"
    assert provider.unfit(call(topic="news")) == "has no news search"
    assert provider.unfit(call(safe_search="strict")) == "has no safe search at level `strict`"
    assert provider.unfit(call(safe_search="off")) is None
    assert provider.unfit(call(topic="general")) is None


async def test_a_domain_filter_is_applied_here_and_more_is_asked_for(spec: ProviderSpec) -> None:
    rows = [
        {"url": f"https://{host}/x"}
        for host in ("b.example", "www.a.example", "sub.a.example", "nota.example", "a.example.evil.example")
    ]
    line = Line(HttpAnswer(200, {}, json.dumps({"rows": rows}).encode()))
    provider = acme(spec, line)
    wanted = call(include_domains=["a.example"])
    outcome = await provider.call(wanted, 1.0)
    assert json.loads(line.sent[0].body or b"")["n"] == 10  # as many as the same price buys
    found = provider.results(outcome.body or "", wanted, 0)
    assert [result.url for result in found] == ["https://www.a.example/x", "https://sub.a.example/x"]


async def test_results_that_all_fail_the_filter_are_empty_and_say_so(spec: ProviderSpec) -> None:
    outcome = await acme(spec, Line(GOOD)).call(call(exclude_domains=["a.example"]), 1.0)
    assert (outcome.outcome, outcome.reason) == ("empty", "none of 1 results passes the filters")


async def test_a_language_that_is_not_used_is_a_warning(spec: ProviderSpec) -> None:
    provider = acme(spec, Line(GOOD))
    asked = ProviderCall("q", 5, "ko", "KR", "slow", Filters())
    assert provider.warnings(asked) == [
        "acme: language is not used; this provider has no such option",
        "acme: country is not used; this provider has no such option",
    ]
    assert provider.warnings(call()) == []


async def test_the_operators_settings_win(spec: ProviderSpec) -> None:
    line = Line(GOOD)
    provider = acme(
        spec,
        line,
        base_url="http://127.0.0.1:9/gate/",
        timeout_s=9,
        requests_per_s=1,
        max_concurrency=7,
        options={"mode": "rich"},
        storage={"allowed": False},
    )
    await provider.call(call(), 1.0)
    assert line.sent[0].url == "http://127.0.0.1:9/gate/v1/search"
    assert (provider.timeout_s, provider.requests_per_s, provider.max_concurrency) == (9, 1, 7)
    assert provider.price_micro_usd(call()) == 6000
    assert provider.storage.allowed is False
    assert provider.storage.terms_url == "https://acme.example/terms"


async def test_the_files_defaults_hold_without_settings(spec: ProviderSpec) -> None:
    provider = acme(spec, Line(GOOD))
    assert (provider.timeout_s, provider.requests_per_s, provider.max_concurrency) == (3, 4, 2)
    assert (provider.storage.allowed, provider.storage.max_ttl_s, provider.storage.shareable) == (True, 100, True)
    assert provider.storage.read_on == "2026-11-01"
    assert provider.clamp_depth(20) == 10
    assert provider.clamp_depth(3) == 3


async def test_a_password_in_the_address_becomes_a_header_and_is_never_seen(spec: ProviderSpec) -> None:
    line = Line(HttpAnswer(500, {}, b"no entry for hunter2-hunter2"))
    provider = acme(spec, line, base_url="https://me:hunter2-hunter2@proxy.example/x")
    outcome = await provider.call(call(), 1.0)
    assert line.sent[0].url == "https://proxy.example/x/v1/search"
    assert line.sent[0].headers["authorization"] == "Basic bWU6aHVudGVyMi1odW50ZXIy"
    assert "hunter2" not in repr(outcome)


async def test_an_operators_own_price_holds_for_the_list_and_scales_what_is_stated_in_units(spec: ProviderSpec) -> None:
    provider = acme(spec, Line(GOOD), price_micro_usd=1500)
    assert provider.price_micro_usd(call()) == 1500
    stated = HttpAnswer(200, {}, b'{"rows": [], "credits": 2}')
    assert (await acme(spec, Line(stated), price_micro_usd=1500).call(call(), 1.0)).cost.micro_usd == 2000


# ---- keys ----------------------------------------------------------------------------------------------------------------


async def test_a_key_whose_quota_is_gone_is_not_used_while_another_is_left(spec: ProviderSpec) -> None:
    line = Line(HttpAnswer(402, {}, b"{}"), HttpAnswer(401, {}, b"{}"), GOOD)
    provider = acme(spec, line, api_keys=["planted-key-2", "planted-key-3"])
    assert provider.key_count == 3
    assert [(await provider.call(call(), 1.0)).outcome for _ in range(4)] == ["quota", "auth", "ok", "ok"]
    used = [request.headers["x-key"] for request in line.sent]
    assert used == ["planted-key-2", "planted-key-3", "planted-key-1", "planted-key-1"]
    assert provider.has_another_key() is True


async def test_one_key_alone_is_tried_again(spec: ProviderSpec) -> None:
    provider = acme(spec, Line(HttpAnswer(402, {}, b"{}"), GOOD))
    assert [(await provider.call(call(), 1.0)).outcome for _ in range(2)] == ["quota", "ok"]
    assert provider.has_another_key() is False


@pytest.mark.parametrize("key", ["sk/ab+c==&d", "key with space", 'quo"te-key', "ünïcode-key"])
async def test_a_key_never_comes_back_however_it_is_echoed(spec: ProviderSpec, key: str) -> None:
    forms = [
        key,
        quote(key, safe=""),
        quote_plus(key),
        json.dumps(key)[1:-1],
        base64.b64encode(f"user:{key}".encode()).decode(),
        key.encode().hex(),
    ]
    line = Line(HttpAnswer(500, {}, json.dumps({"error": " | ".join(forms)}).encode()))
    outcome = await acme(spec, line, {"ACME_KEY": key}).call(call(), 1.0)
    for form in forms[:-2]:
        assert form not in repr(outcome)
    assert base64.b64encode(key.encode()).decode()[:8] not in repr(outcome)


async def test_a_key_that_no_header_can_carry_is_a_clear_reason_without_the_key(spec: ProviderSpec) -> None:
    line = Line(GOOD)
    outcome = await acme(spec, line, {"ACME_KEY": "line\nbreak-key"}).call(call(), 1.0)
    assert outcome.outcome == "skipped"
    assert "can't carry" in (outcome.reason or "")
    assert "break-key" not in repr(outcome)
    assert line.sent == []


async def test_nothing_that_is_printed_holds_a_key(spec: ProviderSpec) -> None:
    provider = acme(spec, Line(GOOD), api_keys=["planted-key-2"])
    shown = " ".join(
        repr(thing) for thing in (provider, provider.adapter, provider._keys, provider._redact, provider._http)
    )
    assert "planted" not in shown


# ---- the line breaks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "outcome", "micro_usd"),
    [
        (WireError("timeout", "no whole answer", reached=True), "timeout", None),
        (WireError("timeout", "no connection", reached=False), "timeout", 0),
        (WireError("transport", "refused", reached=False), "transport", 0),
        (WireError("transport", "closed", reached=True), "transport", None),
        (WireError("bad_answer", "more than 5 bytes", reached=True, status_code=200), "bad_answer", None),
    ],
)
async def test_what_may_have_been_billed_is_of_unknown_cost_and_what_can_not_is_free(
    spec: ProviderSpec, error: WireError, outcome: str, micro_usd: int | None
) -> None:
    found = await acme(spec, Line(error)).call(call(), 1.0)
    assert (found.outcome, found.cost.micro_usd) == (outcome, micro_usd)
    assert found.cost.source == ("unknown" if micro_usd is None else "price_list")
    assert found.body is None


async def test_an_error_that_nobody_foresaw_becomes_an_outcome_without_its_text(spec: ProviderSpec) -> None:
    found = await acme(spec, Line(RuntimeError("https://x/?key=planted-key-1"))).call(call(), 1.0)
    assert (found.outcome, found.reason) == ("bad_answer", "an error that was not foreseen (RuntimeError)")
    assert found.cost.micro_usd is None


async def test_being_cancelled_is_the_one_thing_that_is_raised(spec: ProviderSpec) -> None:
    provider = acme(spec, Line(asyncio.CancelledError()))
    with pytest.raises(asyncio.CancelledError):
        await provider.call(call(), 1.0)


async def test_without_time_nothing_is_called(spec: ProviderSpec) -> None:
    line = Line(GOOD)
    found = await acme(spec, line).call(call(), 0.0)
    assert (found.outcome, found.cost.micro_usd, line.sent) == ("skipped", 0, [])


async def test_results_of_a_stored_body_raise_one_error_only(spec: ProviderSpec) -> None:
    provider = acme(spec, Line(GOOD))
    for body in ("", "<html>", "[]", "{}", '{"rows": 5}', '{"rows": [1]}', "[" * 50_000):
        with pytest.raises(BadAnswer):
            provider.results(body, call(), 0)
