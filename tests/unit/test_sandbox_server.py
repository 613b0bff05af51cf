"""The sandbox over HTTP: every vendor under its prefix, faults on the wire, the bill, and the control endpoints."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from groundwire.adapters.sandbox import Fault, Sandbox, sandbox_environment
from groundwire.adapters.sandbox.latency import Latency, LatencyShape

QUESTION = {"q": "kafka consumer groups"}
KEY = {"X-API-KEY": "sandbox-serper"}


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(median_ms=0) as running:
        yield running


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        yield session


async def serper(sandbox: Sandbox, client: aiohttp.ClientSession, **more: Any) -> tuple[int, bytes]:
    url = sandbox.base_url("serper") + "/search"
    async with client.post(url, json=QUESTION, headers=KEY, allow_redirects=False, **more) as response:
        return response.status, await response.read()


async def control(
    sandbox: Sandbox, client: aiohttp.ClientSession, method: str, path: str, **more: Any
) -> tuple[int, Any]:
    async with client.request(method, f"{sandbox.address}/_control/{path}", **more) as response:
        return response.status, await response.json()


async def test_vendors_stand_under_their_names_on_loopback(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    assert sandbox.address.startswith("http://127.0.0.1:")
    status, body = await serper(sandbox, client)
    assert status == 200
    assert json.loads(body)["organic"][0]["title"] == "Kafka consumer groups explained"
    with pytest.raises(KeyError):
        sandbox.base_url("nobody")


async def test_an_unknown_vendor_is_named_with_those_there_are(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    async with client.get(sandbox.address + "/nobody/search") as response:
        assert response.status == 404
        assert "serper" in (await response.json())["error"]


async def test_a_root_vendor_is_served_without_its_prefix(client: aiohttp.ClientSession) -> None:
    async with Sandbox(median_ms=0, root="serper") as sandbox:
        async with client.post(sandbox.address + "/search", json=QUESTION, headers=KEY) as response:
            assert response.status == 200
        assert sandbox.calls.count("serper") == 1


async def test_the_environment_points_every_vendor_here(sandbox: Sandbox) -> None:
    variables = sandbox_environment(sandbox.address + "/")
    for name in sandbox.vendors:
        assert variables[f"GROUNDWIRE_PROVIDERS__{name.upper()}__BASE_URL"] == sandbox.base_url(name)
    keys = [value for name, value in variables.items() if "_KEY" in name]
    assert len(keys) == 14
    assert all(key.startswith("sandbox-") for key in keys)
    assert variables["BRIGHTDATA_ZONE"]


async def test_calls_are_counted_and_billed(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    for _ in range(3):
        await serper(sandbox, client)
    sandbox.faults.add(Fault(vendor="serper", kind="quota", times=1))
    await serper(sandbox, client)
    assert (await control(sandbox, client, "GET", "invoice"))[1] == {
        "total_micro_usd": 3_000,
        "providers": {"serper": {"calls": 4, "billed_calls": 3, "micro_usd": 3_000}},
    }
    _, calls = await control(
        sandbox, client, "GET", "calls", params={"vendor": "serper", "query": QUESTION["q"], "limit": "2"}
    )
    assert calls["count"] == 4
    assert [(call["status"], call["fault"]) for call in calls["calls"]] == [(400, "quota"), (200, None)]


async def test_a_client_that_left_is_billed_all_the_same(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    sandbox.latency.by_vendor["serper"] = LatencyShape(200, 0)
    with pytest.raises(asyncio.TimeoutError):
        await serper(sandbox, client, timeout=aiohttp.ClientTimeout(total=0.05))
    assert sandbox.calls.count("serper") == 1
    for _ in range(100):
        if sandbox.invoice.total_micro_usd:
            break
        await asyncio.sleep(0.02)
    assert sandbox.invoice.total_micro_usd == 1_000


async def test_a_redirect_that_is_followed_is_no_call(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    url = sandbox.base_url("gemini") + "/v1beta/models/gemini-3-flash:generateContent"
    asked = {"contents": [{"parts": [{"text": QUESTION["q"]}]}], "tools": [{"google_search": {}}]}
    async with client.post(url, json=asked, headers={"x-goog-api-key": "k"}) as response:
        answer = await response.json()
    uri = answer["candidates"][0]["groundingMetadata"]["groundingChunks"][0]["web"]["uri"]
    async with client.get(uri, allow_redirects=False) as response:
        assert response.headers["Location"].startswith("https://streamnotes.example/")
    assert sandbox.invoice.line("gemini").calls == sandbox.calls.count("gemini") == 1


async def test_equal_requests_get_equal_bytes_and_another_key_its_own_answer(
    sandbox: Sandbox, client: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundwire.adapters.sandbox.server.KEPT_ANSWERS", 1)
    first = await serper(sandbox, client)
    async with client.post(
        sandbox.base_url("serper") + "/search", json=QUESTION, headers={"X-API-KEY": "invalid"}
    ) as other:
        assert other.status == 403
    assert await serper(sandbox, client) == first


# --- faults on the wire


@pytest.mark.parametrize("kind", ["hang", "close", "reset"])
async def test_a_broken_connection_is_broken(sandbox: Sandbox, client: aiohttp.ClientSession, kind: Any) -> None:
    sandbox.faults.add(Fault(vendor="serper", kind=kind, times=1, seconds=0.1))
    with pytest.raises(aiohttp.ClientError):
        await serper(sandbox, client)
    assert sandbox.invoice.total_micro_usd == 0
    assert (await serper(sandbox, client))[0] == 200


async def test_a_hanging_vendor_lets_go_when_its_client_leaves(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    sandbox.faults.add(Fault(vendor="serper", kind="hang", times=1))
    with pytest.raises(asyncio.TimeoutError):
        await serper(sandbox, client, timeout=aiohttp.ClientTimeout(total=0.05))
    for _ in range(100):
        if sandbox.calls.newest():
            break
        await asyncio.sleep(0.02)
    assert [(call.status, call.fault) for call in sandbox.calls.newest()] == [(None, "hang")]


async def test_a_reset_comes_after_half_the_body(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    whole = (await serper(sandbox, client))[1]
    sandbox.faults.add(Fault(vendor="serper", kind="reset", times=1))
    url = sandbox.base_url("serper") + "/search"
    async with client.post(url, json=QUESTION, headers=KEY) as response:
        assert response.status == 200
        assert int(response.headers["Content-Length"]) == len(whole)
        assert await response.content.readexactly(100) == whole[:100]
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


async def test_a_dripping_answer_is_whole_in_the_end(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    whole = await serper(sandbox, client)
    sandbox.faults.add(Fault(vendor="serper", kind="drip", times=1, seconds=0.005))
    began = time.monotonic()
    assert await serper(sandbox, client) == whole
    assert time.monotonic() - began >= 20 * 0.005
    assert sandbox.invoice.total_micro_usd == 2_000


async def test_a_client_may_leave_a_dripping_answer(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    sandbox.faults.add(Fault(vendor="serper", kind="drip", times=1, seconds=0.02))
    with pytest.raises(asyncio.TimeoutError):
        await serper(sandbox, client, timeout=aiohttp.ClientTimeout(total=0.05))
    assert (await serper(sandbox, client))[0] == 200


async def test_a_slow_answer_takes_that_much_longer(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    sandbox.faults.add(Fault(vendor="serper", kind="slow", times=1, seconds=0.15))
    began = time.monotonic()
    assert (await serper(sandbox, client))[0] == 200
    assert time.monotonic() - began >= 0.15


async def test_a_packed_answer_says_so(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    sandbox.faults.add(Fault(vendor="serper", kind="gzip", times=1))
    assert (await serper(sandbox, client))[1][:2] == b"\x1f\x8b"


# --- control


async def test_faults_are_scripted_over_http(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    rules = [
        {"vendor": "serper", "kind": "status", "status": 503, "times": 1},
        {"vendor": "*", "kind": "rate_limit", "retry_after": "2"},
    ]
    status, made = await control(sandbox, client, "POST", "faults", json=rules)
    assert (status, len(made["ids"])) == (201, 2)
    assert (await serper(sandbox, client))[0] == 503
    assert (await serper(sandbox, client))[0] == 429
    listed = (await control(sandbox, client, "GET", "faults"))[1]["rules"]
    assert [(rule["fired"], rule["left"]) for rule in listed] == [(1, 0), (1, None)]
    assert (await control(sandbox, client, "DELETE", "faults", params={"id": str(made["ids"][0])}))[1] == {"removed": 1}
    assert (await control(sandbox, client, "DELETE", "faults"))[1] == {"removed": 1}
    assert (await serper(sandbox, client))[0] == 200


async def test_a_vendor_is_switched_off_over_http(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    await control(sandbox, client, "POST", "off", json={"vendor": "serper"})
    with pytest.raises(aiohttp.ClientError):
        await serper(sandbox, client)
    await control(sandbox, client, "POST", "off", json={"vendor": "serper", "status": 503})
    assert (await serper(sandbox, client))[0] == 503
    assert (await control(sandbox, client, "POST", "on", json={"vendor": "serper"}))[1]["off"] == []
    assert (await serper(sandbox, client))[0] == 200


async def test_latency_is_set_for_all_or_for_one(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    await control(sandbox, client, "POST", "latency", json={"median_ms": 40, "sigma": 0})
    await control(sandbox, client, "POST", "latency", json={"median_ms": 0, "vendor": "exa"})
    assert sandbox.latency.draw_s("serper") == 0.04
    assert sandbox.latency.draw_s("exa") == 0


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("faults", {"vendor": "nobody", "kind": "html"}, "no vendor 'nobody'"),
        ("faults", {"vendor": "exa", "kind": "explode"}, "kind"),
        ("faults", {"vendor": "exa", "kind": "html", "statuss": 500}, "statuss"),
        ("off", {}, "vendor"),
        ("off", {"vendor": "nobody"}, "no vendor"),
        ("on", {"vendor": "nobody"}, "no vendor"),
        ("latency", {"median_ms": -1}, "median_ms"),
        ("latency", {"median_ms": 1, "vendor": "nobody"}, "no vendor"),
    ],
)
async def test_a_wrong_order_is_explained(
    sandbox: Sandbox, client: aiohttp.ClientSession, path: str, body: Any, said: str
) -> None:
    status, answer = await control(sandbox, client, "POST", path, json=body)
    assert status == 400
    assert said in answer["error"]


async def test_broken_json_and_odd_numbers_are_explained_too(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    assert (await control(sandbox, client, "POST", "faults", data=b"{"))[0] == 400
    assert (await control(sandbox, client, "DELETE", "faults", params={"id": "x"}))[0] == 400
    assert (await control(sandbox, client, "GET", "calls", params={"limit": "x"}))[0] == 400


async def test_reset_starts_over(sandbox: Sandbox, client: aiohttp.ClientSession) -> None:
    await serper(sandbox, client)
    sandbox.faults.add(Fault(vendor="*", kind="html"))
    assert (await control(sandbox, client, "POST", "reset"))[1] == {"reset": True}
    assert (await control(sandbox, client, "GET", "invoice"))[1] == {"total_micro_usd": 0, "providers": {}}
    assert (await serper(sandbox, client))[0] == 200
    assert sandbox.calls.count() == 1


# --- latency, start and stop


def test_latency_is_log_normal_around_its_median_and_repeatable() -> None:
    one, other = (Latency(LatencyShape(300, 0.35), seed=7) for _ in range(2))
    drawn = sorted(one.draw_s("serper") for _ in range(2_000))
    assert drawn == sorted(other.draw_s("serper") for _ in range(2_000))
    assert 0.28 < drawn[1_000] < 0.32
    assert 0.55 < drawn[1_980] < 0.85
    assert Latency(LatencyShape(0, 0.35), seed=7).draw_s("serper") == 0


async def test_a_taken_port_is_said_and_leaves_nothing_behind(sandbox: Sandbox, tmp_path: Path) -> None:
    port = int(sandbox.address.rsplit(":", 1)[1])
    second = Sandbox(port=port, invoice_file=tmp_path / "invoice.log")
    with pytest.raises(OSError, match="address already in use"):
        await second.start()
    await second.stop()


async def test_stopping_does_not_wait_for_calls_that_hang(client: aiohttp.ClientSession) -> None:
    async with Sandbox(median_ms=0) as sandbox:
        sandbox.faults.add(Fault(vendor="serper", kind="hang"))
        asked = asyncio.create_task(serper(sandbox, client))
        while not sandbox.calls.count():
            await asyncio.sleep(0.01)
        began = time.monotonic()
    assert time.monotonic() - began < 5
    with pytest.raises(aiohttp.ClientError):
        await asked
