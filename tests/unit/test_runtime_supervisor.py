"""A role that does not come back is no reason to give up what runs."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime import supervisor as module
from groundwire.streams.runtime.supervisor import RoleFailed, Supervisor


@pytest.mark.parametrize("occasion", ["past its limit", "ended by itself"])
async def test_a_role_that_is_slow_after_the_broker_was_replaced_does_not_end_everything(
    occasion: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path)
    supervisor = Supervisor(lambda _: settings, {}, say=lambda *_: None, roles=[])
    steps: list[str] = []

    async def step(name: str, *_: Any) -> Any:
        steps.append(name)
        return SimpleNamespace(put_into=lambda _settings: step("put back"), records=[], unfinished=0)

    async def too_slow(_stop: asyncio.Event) -> None:
        steps.append("start")
        raise RoleFailed("frontline was not ready within 180 s")

    monkeypatch.setattr(module, "take_out", lambda _settings: step("take out"))
    monkeypatch.setattr(supervisor, "_renew", lambda *_: step("renew"))
    monkeypatch.setattr(supervisor, "_start_roles", too_slow)
    broker: Any = SimpleNamespace(memory_mib=lambda: 65.0)
    if occasion == "past its limit":
        await supervisor._replace(broker, settings, asyncio.Event())
        assert steps == ["take out", "renew", "put back", "start"]
    else:
        await supervisor._recover(broker, settings, asyncio.Event())
        assert steps == ["renew", "start"]
    assert supervisor._replacing is False
