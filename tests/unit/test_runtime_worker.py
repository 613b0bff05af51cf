"""A worker gets its settings from its supervisor without a file, secrets included, and says what stands in its way."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import structlog
from pydantic import SecretStr

from groundwire.adapters.registry import Registry
from groundwire.schemas.settings import KafkaSettings, ProviderSettings, Settings
from groundwire.streams.agents.announce import announce_providers
from groundwire.streams.runtime import worker
from groundwire.streams.runtime.logs import configure_logging
from groundwire.streams.runtime.worker import EXIT_CRASHED, EXIT_MISUSE, decode_settings, encode_settings, run_role


def test_settings_survive_the_way_to_a_child_with_their_secrets() -> None:
    settings = Settings(
        home=Path("/h"),
        brokers="a:1",
        kafka=KafkaSettings(sasl_username="u", sasl_password=SecretStr("pw")),
        providers={"exa": ProviderSettings(api_keys=[SecretStr("k1"), SecretStr("k2")], base_url="http://x")},
        routes={"mine": ["exa"]},
    )
    line = encode_settings(settings)
    assert "\n" not in line
    back = decode_settings(line)
    assert back == settings
    assert back.kafka.sasl_password is not None
    assert back.kafka.sasl_password.get_secret_value() == "pw"
    assert [key.get_secret_value() for key in back.providers["exa"].api_keys] == ["k1", "k2"]


def test_a_broker_that_is_not_there_is_misuse_and_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_role("unify", Settings(brokers="127.0.0.1:1"), {}) == EXIT_MISUSE
    printed = capsys.readouterr()
    assert "no broker answers at 127.0.0.1:1" in printed.out + printed.err
    assert "Traceback" not in printed.out + printed.err


def test_no_brokers_at_all_is_misuse() -> None:
    assert run_role("unify", Settings(), {}) == EXIT_MISUSE


def test_a_role_that_crashes_says_so_with_its_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def crash(*_: object) -> int:
        await asyncio.sleep(0)
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(worker, "_run", crash)
    assert run_role("unify", Settings(brokers="a:1"), {}) == EXIT_CRASHED
    printed = capsys.readouterr()
    assert "of all things" in printed.out + printed.err


def test_readiness_is_told_to_the_supervisor_and_nothing_else_is(capsys: pytest.CaptureFixture[str]) -> None:
    worker._report("unify", {"event": "providers", "usable": "exa"})
    worker._report("unify", {"event": "ready", "role": "unify"})
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [{"event": "ready"}]


@pytest.fixture
def logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.mark.usefixtures("logging_as_it_was")
def test_beside_one_supervisor_the_providers_are_said_once(tmp_path: Path) -> None:
    """By fetch, which asks them; on a machine of its own the frontline says it as well."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: wrong\n")
    settings = Settings(routes={"none": ["serper"]}, provider_path=[tmp_path])
    said = {"frontline": io.StringIO(), "fetch": io.StringIO(), "alone": io.StringIO()}
    for role, stream in said.items():
        on_event = None if role == "alone" else partial(worker._report, role)
        configure_logging(settings.log, stream=stream, on_event=on_event)
        announce_providers(Registry.load(settings, {}), settings)
        structlog.get_logger("groundwire").info("something else")
    assert len(said["frontline"].getvalue().splitlines()) == 1
    for role in ("fetch", "alone"):
        assert all(event in said[role].getvalue() for event in worker.SAID_BY_FETCH_TOO)


def test_wrong_settings_in_the_environment_are_misuse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_WINDOW__FETCH", "none")
    assert worker.main(["unify"]) == EXIT_MISUSE
    assert "window.fetch" in capsys.readouterr().err


def test_a_role_that_does_not_exist_is_turned_away() -> None:
    with pytest.raises(SystemExit) as caught:
        worker.main(["librarian"])
    assert caught.value.code == 2
