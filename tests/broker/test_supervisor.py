"""Everything on one machine: started together, found by its run file, kept running, gone together."""

import asyncio
import contextlib
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.settings import EmbeddedBrokerSettings, KafkaSettings, Settings
from groundwire.schemas.topics import DEAD_LETTERS, EVENTS, REPLIES, REQUESTS
from groundwire.streams.runtime.publisher import Publisher
from groundwire.streams.runtime.runfile import AlreadyRunning, RunFile
from groundwire.streams.runtime.supervisor import RoleFailed, Supervisor
from groundwire.streams.runtime.topics_admin import BrokerUnreachable
from tests.broker.topic_ends import count, eventually, put, take

LIGHT = ("lake-writer",)
PATIENCE_S = 90.0

SUPERVISES_AND_SAYS_WHO = """
import asyncio, json, os, sys
from pathlib import Path
from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.supervisor import Supervisor
settings = Settings(home=Path(sys.argv[1]))
supervisor = Supervisor(lambda environ: settings, os.environ, say=lambda name, line: None, roles=["lake-writer"])
def ready(running, settings):
    print(json.dumps([child.pid for child in supervisor._roles] + [supervisor._broker.pid]), flush=True)
asyncio.run(supervisor.run(asyncio.Event(), ready))
"""

FETCHES_NOTHING_THE_FIRST_TIME = """
import asyncio, os, pathlib, sys
marker = pathlib.Path(os.environ["WAS_STUCK"])
if "--supervised" in sys.orig_argv and not marker.exists():
    marker.touch()
    import aiokafka
    async def getmany(self, *partitions, timeout_ms=0, max_records=None):
        await asyncio.sleep(timeout_ms / 1000)
        return {}
    aiokafka.AIOKafkaConsumer.getmany = getmany
"""


class Up:
    """A running supervisor of a few roles."""

    def __init__(self, supervisor: Supervisor, lines: list[tuple[str, str]]) -> None:
        self.supervisor = supervisor
        self.lines = lines
        self.running: RunFile | None = None
        self.settings: Settings | None = None

    @property
    def brokers(self) -> Settings:
        assert self.settings is not None
        return self.settings

    def child(self, name: str) -> psutil.Process:
        (found,) = (child for child in self.supervisor._roles if child.name == name)
        assert found.pid is not None
        return psutil.Process(found.pid)

    def pids(self) -> list[int]:
        children = [child.pid for child in self.supervisor._roles]
        broker = self.supervisor._broker.pid if self.supervisor._broker is not None else None
        return [pid for pid in (*children, broker) if pid is not None]


@contextlib.asynccontextmanager
async def up(settings: Settings, **options: Any) -> AsyncIterator[Up]:
    """Ready when the block begins; all gone, and that within 5 s, when it ends."""
    lines: list[tuple[str, str]] = []

    def load(environ: Mapping[str, str]) -> Settings:
        return settings

    options = {"roles": LIGHT, **options}
    supervisor = Supervisor(load, os.environ, say=lambda name, line: lines.append((name, line)), **options)
    one = Up(supervisor, lines)
    stop, ready = asyncio.Event(), asyncio.Event()

    def on_ready(running: RunFile, with_settings: Settings) -> None:
        one.running, one.settings = running, with_settings
        ready.set()

    task = asyncio.create_task(supervisor.run(stop, on_ready))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait({task, waiting}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    assert ready.is_set(), lines
    pids = one.pids()
    try:
        yield one
        pids = one.pids()
    finally:
        stop.set()
        await asyncio.wait_for(task, 60)
    assert not [pid for pid in pids if is_alive(pid)]
    assert RunFile.read(settings.home) is None


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", kafka=KafkaSettings(session_timeout_s=2, rebalance_timeout_s=2))


async def test_what_is_started_is_found_and_works_and_a_second_one_is_turned_away(settings: Settings) -> None:
    async with up(settings, sandbox=["--median-ms", "0"]) as one:
        found = RunFile.read(settings.home)
        assert found == one.running
        assert found is not None
        assert found.embedded
        assert found.brokers == one.brokers.brokers
        assert str(found.sandbox).startswith("http://127.0.0.1:")

        async def its_lines_are_passed_on() -> bool:
            return any("ready" in line for name, line in one.lines if name == "lake-writer")

        await eventually(its_lines_are_passed_on)
        with pytest.raises(AlreadyRunning, match=found.brokers):
            async with up(settings):
                pass
        assert is_alive(one.child("lake-writer").pid)


async def test_a_role_that_is_killed_is_started_again(settings: Settings) -> None:
    async with up(settings) as one:
        first = one.child("lake-writer")
        first.send_signal(signal.SIGKILL)

        async def another_one_is_ready() -> bool:
            (child,) = one.supervisor._roles
            return child.pid != first.pid and child.ready.is_set()

        await eventually(another_one_is_ready, PATIENCE_S)


async def test_a_role_that_sits_idle_with_lag_ends_itself_and_its_successor_reads_on(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first process has a Kafka client that brings nothing, as in aiokafka #1154."""
    (tmp_path / "sitecustomize.py").write_text(FETCHES_NOTHING_THE_FIRST_TIME)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("WAS_STUCK", str(tmp_path / "was-stuck"))
    kafka = settings.kafka.model_copy(update={"idle_with_lag_s": 1.2})
    async with up(settings.model_copy(update={"kafka": kafka})) as one:
        first = one.child("lake-writer").pid
        await put(one.brokers, EVENTS.name, [b"no event at all"])

        async def read_by_the_second() -> bool:
            return await count(one.brokers, DEAD_LETTERS) == 1

        await eventually(read_by_the_second, PATIENCE_S)
        assert one.child("lake-writer").pid != first
        said = [line for name, line in one.lines if name == "lake-writer"]
        assert any("1 records wait and none was read" in line for line in said), said


async def test_a_broker_that_ends_by_itself_is_replaced_and_the_roles_start_anew_with_it(settings: Settings) -> None:
    async with up(settings) as one:
        broker, before = one.supervisor._broker, one.child("lake-writer").pid
        assert broker is not None
        assert broker.pid is not None
        os.kill(broker.pid, signal.SIGKILL)

        async def all_there_again() -> bool:
            (child,) = one.supervisor._roles
            return broker.alive and child.pid != before and child.ready.is_set()

        await eventually(all_there_again, PATIENCE_S)
        await put(one.brokers, REQUESTS.name, [b"x"])
        assert await count(one.brokers, REQUESTS) == 1


async def test_past_its_memory_limit_the_broker_is_replaced_and_what_nobody_has_finished_is_carried_over(
    settings: Settings,
) -> None:
    settings = settings.model_copy(update={"embedded": EmbeddedBrokerSettings(memory_limit_mib=64)})
    async with up(settings) as one:
        broker = one.supervisor._broker
        assert broker is not None
        first_pid, address = broker.pid, broker.address
        # Nobody reads requests here: they are unfinished. One reply is young, the many large ones are old.
        await put(one.brokers, REQUESTS.name, [b"request %d" % n for n in range(5)], headers=[("correlation-id", b"7")])
        await put(one.brokers, EVENTS.name, [b"no event at all"])
        await put(one.brokers, REPLIES.name, [b"young reply"])
        old_ms = int(time.time() * 1000) - 120_000
        await put(one.brokers, REPLIES.name, [os.urandom(1_000_000) for _ in range(90)], timestamp_ms=old_ms)

        async def replaced_and_ready() -> bool:
            (child,) = one.supervisor._roles
            return broker.pid not in (None, first_pid) and not one.supervisor._replacing and child.ready.is_set()

        await eventually(replaced_and_ready, PATIENCE_S)
        assert broker.address == address
        assert broker.memory_mib() < 64
        requests = await take(one.brokers, REQUESTS.name, 5)
        assert sorted(record.value for record in requests) == [b"request %d" % n for n in range(5)]
        assert all(record.headers == (("correlation-id", b"7"),) for record in requests)
        assert [record.value for record in await take(one.brokers, REPLIES.name, 1)] == [b"young reply"]
        assert await count(one.brokers, REPLIES) == 1
        assert await count(one.brokers, DEAD_LETTERS) == 1, "the lake writer's dead letter is still there"
        publisher = Publisher(one.brokers, "test")
        await publisher.start(idempotent=False)
        assert await publisher.partitions(REQUESTS.name) == REQUESTS.partitions
        await publisher.publish([OutboundRecord(REQUESTS.name, b"k", b"v")])
        await publisher.stop()


async def test_a_role_that_can_not_start_is_one_message_with_its_last_words(settings: Settings) -> None:
    with pytest.raises(RoleFailed, match=r"librarian ended at once \(code 2\).*invalid choice"):
        async with up(settings, roles=("librarian",)):
            pass
    assert RunFile.read(settings.home) is None


async def test_a_broker_of_the_operators_that_is_not_there_is_one_message(settings: Settings) -> None:
    with pytest.raises(BrokerUnreachable, match="no broker answers"):
        async with up(settings.model_copy(update={"brokers": "127.0.0.1:1"})):
            pass


async def test_a_sandbox_that_can_not_start_is_one_message(settings: Settings) -> None:
    with pytest.raises(RoleFailed, match="sandbox ended at once"):
        async with up(settings, sandbox=["--no-such-option"]):
            pass


async def test_a_stop_while_starting_ends_everything_without_a_complaint(settings: Settings) -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, complaint: complaints.append(complaint))
    supervisor = Supervisor(lambda environ: settings, os.environ, say=lambda *_: None, roles=LIGHT)
    stop = asyncio.Event()
    task = asyncio.create_task(supervisor.run(stop, lambda *_: None))

    async def roles_are_there() -> bool:
        return any(child.running for child in supervisor._roles)

    await eventually(roles_are_there, PATIENCE_S)
    pids = [child.pid for child in supervisor._roles if child.pid is not None]
    stop.set()
    await asyncio.wait_for(task, 60)
    assert not [pid for pid in pids if is_alive(pid)]
    gc.collect()
    assert complaints == []


async def test_children_end_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SUPERVISES_AND_SAYS_WHO, str(tmp_path / "home")], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    pids = json.loads(await asyncio.to_thread(process.stdout.readline))
    assert all(is_alive(pid) for pid in pids)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()

    async def all_gone() -> bool:
        return not any(is_alive(pid) for pid in pids)

    await eventually(all_gone)
    assert RunFile.read(tmp_path / "home") is None
