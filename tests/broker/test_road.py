"""The whole road on the embedded broker, driven from outside: requests in, replies, events and the vendors' invoice out."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import Client, StdioServerParameters

from groundwire.schemas.settings import Settings
from groundwire.streams.faces.mcp import build_server
from tests.broker.system import GROUNDWIRE, RawClient, Up


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    system = Up(tmp_path_factory.mktemp("road") / "home", environ={"GROUNDWIRE_LAKE__FLUSH_INTERVAL_S": "0.3"}).start()
    yield system
    code = system.stop()
    assert code == 0, system.output()[-3000:]


def billed(up: Up) -> int:
    return int(up.sandbox("/_control/invoice")["total_micro_usd"])


async def test_a_question_is_answered_and_asking_again_costs_nothing(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        before = billed(up)
        first = await client.ask("how does photosynthesis work", depth=3)
        assert first["status"] == "grounded"
        assert 1 <= len(first["results"]) <= 3
        assert first["cache"]["outcome"] == "miss"
        assert first["cost_micro_usd"] == billed(up) - before > 0
        assert [attempt["outcome"] for attempt in first["attempts"]][-1] == "ok"
        for result in first["results"]:
            assert result["url"] in first["context"]
        await asyncio.sleep(0.5)
        second = await client.ask("  How does   photosynthesis work? ", depth=3)
        assert second["cache"]["outcome"] == "exact"
        assert second["results"] == first["results"]
        assert (second["cost_micro_usd"], second["attempts"]) == (0, [])
        assert second["saved_micro_usd"] == first["cost_micro_usd"]
        assert second["cache"]["age_s"] >= 0 and second["cache"]["expires_at"]
        assert billed(up) - before == first["cost_micro_usd"]


async def test_another_wording_hits_and_a_reversed_direction_does_not(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        await client.ask("flights from new york to london")
        await asyncio.sleep(0.5)
        reworded = await client.ask("flights to london from new york")
        reversed_ = await client.ask("flights from london to new york")
    assert reworded["cache"]["outcome"] == "semantic", reworded["cache"]
    assert reworded["cache"]["matched_query"] == "flights from new york to london"
    assert reworded["cache"]["similarity"] >= 0.8 and reworded["cache"]["reason"]
    assert reversed_["cache"]["outcome"] == "miss"


async def test_the_next_provider_answers_when_the_first_is_down_and_none_means_ungrounded(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        try:
            up.sandbox("/_control/off", {"vendor": "serper"})
            fallback = await client.ask(
                "what is the boiling point of water at high altitude", providers=["serper", "tavily"]
            )
            up.sandbox("/_control/off", {"vendor": "tavily"})
            nobody = await client.ask("who wrote the first novel ever", providers=["serper", "tavily"])
        finally:
            for vendor in ("serper", "tavily"):
                up.sandbox("/_control/on", {"vendor": vendor})
    assert fallback["provider"] == "tavily"
    assert [(a["provider"], a["outcome"] == "ok") for a in fallback["attempts"]] == [
        ("serper", False),
        ("tavily", True),
    ]
    assert (nobody["status"], nobody["context"], nobody["results"]) == ("ungrounded", "", [])
    assert len(nobody["attempts"]) == 2


async def test_equal_requests_at_once_cost_one_call(up: Up) -> None:
    before = billed(up)
    async with RawClient(up.brokers) as client:
        replies = await asyncio.gather(*(client.ask("why is the sky blue at noon") for _ in range(40)))
    outcomes = [reply["cache"]["outcome"] for reply in replies]
    assert outcomes.count("miss") == 1
    assert set(outcomes) <= {"miss", "coalesced", "exact"}
    assert {reply["status"] for reply in replies} == {"grounded"}
    assert len({json.dumps(reply["results"]) for reply in replies}) == 1
    assert billed(up) - before == sum(reply["cost_micro_usd"] for reply in replies)


async def test_live_questions_skip_the_semantic_tier_and_modes_are_obeyed(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        only = await client.ask("a question nobody asked before, surely", cache="only")
        assert (only["status"], only["cache"]["outcome"], only["attempts"]) == ("ungrounded", "miss", [])
        bypass = await client.ask("what is a consumer group", cache="bypass")
        assert bypass["cache"]["outcome"] == "bypass"
        await asyncio.sleep(0.5)
        after_bypass = await client.ask("what is a consumer group")
        assert after_bypass["cache"]["outcome"] == "miss", "bypass must not have written"
        await asyncio.sleep(0.5)
        refreshed = await client.ask("what is a consumer group", cache="refresh")
        assert refreshed["cache"]["outcome"] == "miss"
        live = await client.ask("what is a consumer group now please", freshness="live")
        assert live["cache"]["outcome"] == "miss"


@pytest.mark.parametrize(
    ("correlation", "topic", "partition"),
    [
        (("correlation-id", b"\x00\xff ours"), ("reply-topic", b"search.replies.v1"), ("reply-partition", b"3")),
        (
            ("kafka_correlationId", bytes(range(16))),
            ("kafka_replyTopic", b"search.replies.v1"),
            ("kafka_replyPartition", (5).to_bytes(4, "big")),
        ),
        (("correlation_id", b"fast"), ("reply_to", b"search.replies.v1"), None),
    ],
)
async def test_each_header_dialect_comes_back_as_it_came(
    up: Up, correlation: tuple[str, bytes], topic: tuple[str, bytes], partition: tuple[str, bytes] | None
) -> None:
    trace = ("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    headers = [header for header in (correlation, topic, partition, trace) if header is not None]
    async with RawClient(up.brokers) as client:
        await client.publish(b'{"query": "what is parquet"}', headers=headers)
        _, back, record = await client.reply(lambda _, returned: correlation in returned)
    assert trace in back
    assert not {name for name, _ in back} & {"reply-topic", "kafka_replyTopic", "reply_to"}
    if partition is not None:
        assert record.partition == (3 if partition[0] == "reply-partition" else 5)


async def test_a_request_past_its_deadline_is_answered_at_once_and_never_fetched(up: Up) -> None:
    before = billed(up)
    async with RawClient(up.brokers) as client:
        past = str(int(time.time() * 1000) - 5_000).encode()
        reply, _, _ = await client.ask_raw(b'{"query": "too late to ask this"}', headers=[("deadline", past)])
    assert reply["status"] == "ungrounded"
    assert reply["warnings"]
    assert billed(up) == before


async def test_events_reach_the_lake_and_the_report_equals_the_invoice(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        await client.ask("how do vector databases work")
    deadline = time.monotonic() + 20
    report: dict[str, Any] = {}
    while time.monotonic() < deadline:
        done = up.command("report", "--json")
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        if report["cost_micro_usd"] == billed(up):
            break
        await asyncio.sleep(0.5)
    assert report["cost_micro_usd"] == billed(up)
    assert sum(one["cost_micro_usd"] for one in report["providers"].values()) == billed(up)
    assert report["requests"] > 10
    files = list(Path(up.home / "lake" / "requests").glob("date=*/*.parquet"))
    assert files


def test_the_commands_say_what_they_found(up: Up) -> None:
    up.command("search", "how", "does", "photosynthesis", "work")
    time.sleep(0.5)
    again = up.command("search", "how", "does", "photosynthesis", "work")
    assert again.returncode == 0, again.stderr
    assert "exact hit" in again.stdout and "saved" in again.stdout
    as_json = up.command("search", "--json", "how", "does", "photosynthesis", "work")
    assert json.loads(as_json.stdout)["status"] == "grounded"
    found = up.command("doctor", "--json")
    document = json.loads(found.stdout)
    assert document["ok"], document
    assert json.loads(up.command("cache", "stats", "--json").stdout)["entries"] > 0
    assert "serper" in up.command("providers", "list").stdout


def test_a_second_up_on_the_same_state_folder_is_one_clear_message(up: Up) -> None:
    second = up.command("up", "--sandbox")
    assert second.returncode == 2
    assert str(up.home) in second.stderr
    assert "Traceback" not in second.stderr


def test_purging_forgets_the_answer(up: Up) -> None:
    up.command("search", "tallest mountain on earth")
    time.sleep(0.5)
    assert "exact hit" in up.command("search", "tallest mountain on earth").stdout
    purged = up.command("cache", "purge", "--query", "tallest mountain on earth")
    assert purged.returncode == 0, purged.stderr
    time.sleep(1)
    assert "miss" in up.command("search", "tallest mountain on earth").stdout


async def test_a_crashed_worker_is_started_again(up: Up) -> None:
    assert up.process is not None
    children = psutil.Process(up.process.pid).children(recursive=True)
    fetch = next(child for child in children if child.cmdline()[-2:] == ["fetch", "--supervised"])
    os.kill(fetch.pid, signal.SIGKILL)
    async with RawClient(up.brokers) as client:
        reply = await client.ask("what happens to a request when its worker dies", timeout_s=60, patience_s=80)
    assert reply["status"] == "grounded"


async def test_an_agent_searches_through_the_mcp_tool(up: Up) -> None:
    server = StdioServerParameters(
        command=GROUNDWIRE[0], args=[*GROUNDWIRE[1:], "mcp"], env=up.environ, cwd=str(up.home)
    )
    async with Client(server, read_timeout_seconds=60) as agent:
        tools = (await agent.list_tools()).tools
        assert [tool.name for tool in tools] == ["web_search"]
        assert tools[0].output_schema is not None
        found = await agent.call_tool("web_search", {"query": "what is the tallest mountain on earth", "depth": 2})
        assert not found.is_error
        answer = found.structured_content
        assert answer is not None and answer["status"] == "grounded"
        assert 1 <= len(answer["results"]) <= 2
        text = found.content[0].text
        assert text == answer["context"] and answer["results"][0]["url"] in text
        refused = await agent.call_tool("web_search", {"query": "x", "freshness": "now"})
        assert refused.is_error


async def test_the_mcp_tool_says_what_to_start_when_nothing_runs(tmp_path: Path) -> None:
    server = build_server(Settings(home=tmp_path))
    async with Client(server) as agent:
        found = await agent.call_tool("web_search", {"query": "anybody there"})
    assert found.is_error
    assert "groundwire up" in found.content[0].text
