"""Killed at the exact worst moments, a worker loses nothing: what it had not committed is read again by the next one."""

import asyncio
import collections
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import TopicSpec
from groundwire.streams.runtime.failpoints import VARIABLE
from tests.broker.topic_ends import committed, count, eventually, new_role, new_topics, put, take

SettingsFor = Callable[[str], Settings]

ECHOES = """
import asyncio, signal, sys
from groundwire.schemas.record import OutboundRecord
from groundwire.streams.runtime.app import PipelineApp
from groundwire.streams.runtime.worker import decode_settings
source, target, role = sys.argv[1:]
async def echo(record):
    return [OutboundRecord(target, record.key, record.value)]
async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    app = PipelineApp(role, decode_settings(sys.stdin.readline()))
    app.add_agent(source, echo, window=4)
    await app.run(stop)
asyncio.run(main())
"""

LANDS = """
import asyncio, signal, sys
from groundwire.schemas.topics import REQUESTS
from groundwire.streams.runtime.sink import BatchSink
from groundwire.streams.runtime.worker import decode_settings
import dataclasses
source, target, role = sys.argv[1:]
async def write(records):
    with open(target, "a") as file:
        file.writelines(f"{record.value.decode()}\\n" for record in records)
    return []
async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    topic = dataclasses.replace(REQUESTS, name=source, partitions=4)
    await BatchSink(role, decode_settings(sys.stdin.readline()), topic, write, linger_s=0.05, max_rows=10).run(stop)
asyncio.run(main())
"""


@pytest.fixture
def settings(broker: str, settings_for: SettingsFor) -> Settings:
    return settings_for(broker)


def start(script: str, settings: Settings, *arguments: str, failpoints: str = "") -> "subprocess.Popen[bytes]":
    from groundwire.streams.runtime.worker import encode_settings

    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env={**os.environ, VARIABLE: failpoints},
    )
    assert process.stdin is not None
    process.stdin.write(encode_settings(settings).encode() + b"\n")
    process.stdin.close()
    return process


async def ended(process: "subprocess.Popen[bytes]") -> int:
    return await asyncio.wait_for(asyncio.to_thread(process.wait), 60)


@pytest.mark.parametrize("moment", ["before-publish:{target}@7", "after-publish:{target}@7"])
async def test_a_worker_killed_between_reading_and_committing_loses_nothing(moment: str, settings: Settings) -> None:
    source, target = await new_topics(settings, 2)
    role = new_role()
    values = {b"%d" % number for number in range(20)}
    killed = start(ECHOES, settings, source.name, target.name, role, failpoints=moment.format(target=target.name))
    await put(settings, source.name, sorted(values))
    assert await ended(killed) == -9
    successor = start(ECHOES, settings, source.name, target.name, role)
    try:

        async def all_committed() -> bool:
            return sum(await committed(settings, f"groundwire.{role}", source)) == len(values)

        await eventually(all_committed, 60)
    finally:
        successor.terminate()
        assert await ended(successor) == 0
    came = collections.Counter(
        record.value for record in await take(settings, target.name, await count(settings, target))
    )
    assert came.keys() == values
    assert came.total() <= 2 * len(values), "once by each of the two at the most"


async def test_a_sink_killed_between_durable_and_committed_writes_the_batch_again(
    settings: Settings, tmp_path: Path
) -> None:
    (source,) = await new_topics(settings, 1)
    role, file = new_role(), tmp_path / "landed"
    killed = start(LANDS, settings, source.name, str(file), role, failpoints=f"after-batch:{role}@2")
    await put(settings, source.name, [b"%d" % number for number in range(30)])
    assert await ended(killed) == -9
    successor = start(LANDS, settings, source.name, str(file), role)
    try:

        async def all_committed() -> bool:
            return sum(await committed(settings, f"groundwire.{role}", source)) == 30

        await eventually(all_committed, 60)
    finally:
        successor.terminate()
        assert await ended(successor) == 0
    assert _lines(file) == {str(number) for number in range(30)}


def _lines(file: Path) -> set[str]:
    return set(file.read_text().split())


async def test_two_workers_one_of_which_is_killed_in_the_middle_of_a_rebalance(settings: Settings) -> None:
    source, target = await new_topics(settings, 2)
    role = new_role()
    first = start(ECHOES, settings, source.name, target.name, role, failpoints="in-rebalance@2")
    await put(settings, source.name, [b"%d" % number for number in range(10)])
    await take(settings, target.name, 10)  # it has its partitions, and its second rebalance comes with the other one
    second = start(ECHOES, settings, source.name, target.name, role)
    try:
        assert await ended(first) == -9
        await put(settings, source.name, [b"%d" % number for number in range(10, 20)])
        await _all_committed(settings, role, source, 20)
    finally:
        second.terminate()
        assert await ended(second) == 0
    came = {record.value for record in await take(settings, target.name, await count(settings, target))}
    assert came == {b"%d" % number for number in range(20)}


async def _all_committed(settings: Settings, role: str, topic: TopicSpec, expected: int) -> None:
    async def holds() -> bool:
        return sum(await committed(settings, f"groundwire.{role}", topic)) == expected

    await eventually(holds, 60)
