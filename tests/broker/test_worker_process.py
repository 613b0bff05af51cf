"""A role as a process: settings in on stdin, readiness out on stdout, gone with 0 when told or when its supervisor is gone."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable

import pytest

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.broker import EmbeddedBroker
from groundwire.streams.runtime.topics_admin import ensure_topics
from groundwire.streams.runtime.worker import encode_settings

SettingsFor = Callable[[str], Settings]
PATIENCE_S = 60.0


async def start(settings: Settings, role: str = "lake-writer") -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "groundwire.streams.runtime.worker", role, "--supervised"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert process.stdin is not None
    process.stdin.write(encode_settings(settings).encode() + b"\n")
    return process


async def ready(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)
    assert json.loads(line) == {"event": "ready"}


@pytest.fixture
async def settings(broker: str, settings_for: SettingsFor) -> Settings:
    found = settings_for(broker)
    await ensure_topics(found)
    return found


async def test_it_says_ready_in_one_line_and_ends_with_0_when_told(settings: Settings) -> None:
    process = await start(settings)
    await ready(process)
    process.send_signal(signal.SIGTERM)
    _, log = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode == 0
    lines = [line for line in log.decode().splitlines() if " ready " in line]
    assert len(lines) == 1
    assert "role=lake-writer" in lines[0]


async def test_it_ends_when_its_supervisor_lets_go(settings: Settings) -> None:
    process = await start(settings)
    await ready(process)
    assert process.stdin is not None
    process.stdin.close()
    assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0


async def test_missing_topics_are_one_message_with_the_command_that_makes_them(
    own_broker: EmbeddedBroker, settings_for: SettingsFor
) -> None:
    process = await start(settings_for(own_broker.address))
    _, log = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode == 2
    (line,) = log.decode().strip().splitlines()
    assert "topics are missing: search.requests.v1" in line
    assert "groundwire topics create" in line
