"""A role that does not come back is no reason to give up what runs."""

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from structlog.testing import capture_logs

from groundwire.schemas.settings import Settings
from groundwire.streams.runtime import broker
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


class Deaf:
    """A role that does not hear SIGTERM; it says for how long it was waited."""

    def __init__(self, name: str, *, ready: bool) -> None:
        self.name = name
        self.ready = asyncio.Event()
        self.waited_s = 0.0
        if ready:
            self.ready.set()

    async def stop(self, timeout_s: float) -> bool:
        self.waited_s = timeout_s
        return False

    def close(self) -> None:
        pass


async def test_a_role_that_is_still_starting_is_not_waited_for_as_one_that_works(tmp_path: Path) -> None:
    """Deep in its imports it hears nothing, and it has begun nothing that would be lost."""
    supervisor = Supervisor(lambda _: Settings(home=tmp_path), {}, say=lambda *_: None, roles=[])
    working, starting = Deaf("fetch", ready=True), Deaf("frontline", ready=False)
    roles: list[Any] = [working, starting]
    supervisor._roles = roles
    with capture_logs() as said:
        await supervisor._stop()
    assert (working.waited_s, starting.waited_s) == (module.STOP_ROLES_WITHIN_S, module.STOP_STARTING_WITHIN_S)
    assert [(line["event"], line["roles"]) for line in said] == [("did not finish in time and were ended", "fetch")]


def test_whatever_hangs_ctrl_c_ends_everything_within_five_seconds() -> None:
    """What the longest wait for each part adds up to, with a little for the rest."""
    parts_s = (module.STOP_ROLES_WITHIN_S, module.STOP_SANDBOX_WITHIN_S, broker.STOP_TIMEOUT_S)
    assert sum(parts_s) <= 4.6
    assert module.STOP_STARTING_WITHIN_S < module.STOP_ROLES_WITHIN_S


async def test_roles_compute_on_one_thread_unless_the_user_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path, brokers="kafka:9092")
    seen: dict[str, str] = {}

    async def nothing(*_: Any) -> None:
        pass

    class Seen(Deaf):
        def __init__(self, name: str, _module: str, _arguments: Any, environ: dict[str, str], *_: Any) -> None:
            super().__init__(name, ready=False)
            seen.update(environ)

    monkeypatch.setattr(module, "Child", Seen)
    monkeypatch.setattr(module, "ensure_topics", nothing)
    supervisor = Supervisor(
        lambda _: settings, {"OMP_NUM_THREADS": "8", "A": "b"}, say=lambda *_: None, roles=["fetch"]
    )
    monkeypatch.setattr(supervisor, "_start_roles", nothing)
    await supervisor._start(settings, asyncio.Event())
    assert seen == {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "8", "A": "b"}
