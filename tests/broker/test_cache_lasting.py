"""What was paid for stays paid for: under a disk that takes nothing more, and when everything is started again."""

import asyncio
import resource
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from tests.broker.system import RawClient, Up

QUESTIONS = [f"which lighthouse stands on island number {number}" for number in range(40)]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    system = Up(
        tmp_path_factory.mktemp("lasting") / "home", environ={"GROUNDWIRE_CACHE__SEMANTIC__ENABLED": "false"}
    ).start()
    yield system
    assert system.stop() == 0, system.output()[-3000:]


def cache_writer(up: Up) -> psutil.Process:
    [found] = [
        child for child in psutil.Process(up.run_file["pid"]).children() if "cache-writer" in " ".join(child.cmdline())
    ]
    return found


async def ask_until_hit(client: RawClient, question: str, patience_s: float = 30) -> dict[str, Any]:
    async with asyncio.timeout(patience_s):
        while True:
            reply = await client.ask(question)
            if reply["cache"]["outcome"] == "exact":
                return reply
            await asyncio.sleep(0.2)


async def test_a_disk_that_takes_nothing_more_costs_new_hits_only_and_they_come_when_there_is_room(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        await client.ask("kept before")
        await ask_until_hit(client, "kept before")
        writer = cache_writer(up)
        before = writer.rlimit(psutil.RLIMIT_FSIZE)
        writer.rlimit(psutil.RLIMIT_FSIZE, (64, before[1]))
        try:
            asked = await client.ask("asked while there is no room")
            assert (asked["status"], asked["cache"]["outcome"]) == ("grounded", "miss")

            async with asyncio.timeout(20):
                while "the store can't be written" not in up.output():
                    await asyncio.sleep(0.1)
            assert (await client.ask("kept before"))["cache"]["outcome"] == "exact"
            assert (await client.ask("asked while there is no room, too"))["status"] == "grounded"
            # A disk that is too small for one file is not damage: nothing is set aside.
            assert not (up.home / "cache" / "damaged").exists()
            assert psutil.pid_exists(writer.pid)
        finally:
            writer.rlimit(psutil.RLIMIT_FSIZE, (resource.RLIM_INFINITY, before[1]))
        for question in ("asked while there is no room", "asked while there is no room, too", "kept before"):
            assert (await ask_until_hit(client, question))["cost_micro_usd"] == 0
    stats = up.command("cache", "stats", "--json")
    assert '"entries": 3' in stats.stdout


async def test_everything_asked_again_at_once_right_after_a_start_is_a_hit(up: Up) -> None:
    async with RawClient(up.brokers) as client:
        first = await asyncio.gather(*(client.ask(question) for question in QUESTIONS))
        assert {reply["status"] for reply in first} == {"grounded"}
        await asyncio.gather(*(ask_until_hit(client, question) for question in QUESTIONS))
    assert up.stop() == 0
    up.log.unlink()  # it says that the first one is ready
    up.start()
    async with RawClient(up.brokers) as client:
        again = await asyncio.gather(*(client.ask(question) for question in QUESTIONS))
    assert [reply["cache"]["outcome"] for reply in again] == ["exact"] * len(QUESTIONS)
    assert [reply["cost_micro_usd"] for reply in again] == [0] * len(QUESTIONS)
    assert [reply["results"] for reply in again] == [reply["results"] for reply in first]
