"""Commands find what runs on a state folder, wait for what is starting, and say in a line that can be copied what to start."""

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from groundwire.schemas.settings import Settings
from groundwire.streams.faces.errors import CommandError
from groundwire.streams.faces.program import program
from groundwire.streams.faces.session import connected
from groundwire.streams.runtime.runfile import RunFile, sole_occupant


def test_brokers_that_are_named_are_taken_whatever_runs(tmp_path: Path) -> None:
    assert connected(Settings(home=tmp_path, brokers="kafka:9092")).brokers == "kafka:9092"


def test_nothing_running_is_one_message_that_says_what_to_start(tmp_path: Path) -> None:
    with pytest.raises(
        CommandError, match=r"nothing is running(?s:.*)groundwire up --sandbox(?s:.*)GROUNDWIRE_BROKERS"
    ):
        connected(Settings(home=tmp_path), patience_s=60)


def test_one_that_is_starting_is_waited_for_and_that_is_said_once(tmp_path: Path) -> None:
    said: list[str] = []
    with sole_occupant(tmp_path):
        running = RunFile.of_this_process("127.0.0.1:4711", embedded=True, sandbox=None)
        ready = threading.Timer(0.5, running.write, [tmp_path])
        ready.start()
        found = connected(Settings(home=tmp_path), patience_s=60, on_wait=said.append)
        ready.join()
    assert found.brokers == "127.0.0.1:4711"
    assert len(said) == 1
    assert "is starting" in said[0]


def test_one_that_does_not_get_ready_is_not_called_absent(tmp_path: Path) -> None:
    with sole_occupant(tmp_path), pytest.raises(CommandError, match=r"is starting.*not ready yet"):
        connected(Settings(home=tmp_path), patience_s=0)


def test_the_waiting_ends_when_the_one_that_was_starting_gives_up(tmp_path: Path) -> None:
    holding, let_go = threading.Event(), threading.Event()

    def start_and_fail() -> None:
        with sole_occupant(tmp_path):
            holding.set()
            let_go.wait(30)

    starting = threading.Thread(target=start_and_fail)
    starting.start()
    holding.wait(30)
    with pytest.raises(CommandError, match="nothing is running"):
        connected(Settings(home=tmp_path), patience_s=60, on_wait=lambda _: let_go.set())
    starting.join()


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    script = tmp_path / "bin" / "groundwire"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def test_a_command_that_is_not_on_path_is_named_as_it_was_typed(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", [str(installed), "up"])
    assert program() == str(installed)


def test_a_command_on_path_is_named_by_its_name(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(installed.parent) + os.pathsep + os.environ["PATH"])
    monkeypatch.setattr(sys, "argv", [str(installed), "up"])
    assert program() == "groundwire"


def test_another_command_of_that_name_on_path_is_not_taken_for_this_one(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "elsewhere" / "groundwire"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(installed.parent))
    monkeypatch.setattr(sys, "argv", [str(other), "up"])
    assert program() == str(other)


def test_run_as_a_module_it_is_named_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/some/where/cli/__main__.py", "up"])
    assert program() == "groundwire"
