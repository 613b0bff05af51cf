"""The sandbox as a process: one line when it listens, a clean end, a bill that outlives a kill."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.adapters.sandbox import serve
from groundwire.adapters.sandbox.__main__ import main

COMMAND = [sys.executable, "-m", "groundwire.adapters.sandbox", "--median-ms", "0", "--json"]


class Process:
    """A running sandbox; `address` is what it printed."""

    def __init__(self, *flags: str) -> None:
        self.popen = subprocess.Popen([*COMMAND, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.popen.stdout is not None
        self.said: dict[str, Any] = json.loads(self.popen.stdout.readline())

    def search(self) -> None:
        headers = {"X-API-KEY": "sandbox", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.said['address']}/serper/search", b'{"q": "tea"}', headers)
        with urllib.request.urlopen(asked, timeout=10) as response:
            assert response.status == 200

    def invoice(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.said['address']}/_control/invoice", timeout=10) as response:
            answer: dict[str, Any] = json.load(response)
        return answer

    def end(self, number: int) -> tuple[int, str]:
        self.popen.send_signal(number)
        _, errors = self.popen.communicate(timeout=30)
        return self.popen.returncode, errors


@pytest.fixture
def started() -> Iterator[list[Process]]:
    running: list[Process] = []
    yield running
    for process in running:
        if process.popen.poll() is None:
            process.end(signal.SIGKILL)


def test_it_says_where_it_is_and_ends_cleanly(started: list[Process]) -> None:
    started.append(Process())
    assert started[0].said["environment"]["SERPER_API_KEY"] == "sandbox-serper"
    started[0].search()
    assert started[0].end(signal.SIGTERM) == (0, "")


def test_the_bill_outlives_a_kill(started: list[Process], tmp_path: Path) -> None:
    file = tmp_path / "invoice.log"
    started.append(Process("--invoice", str(file)))
    started[0].search()
    started[0].end(signal.SIGKILL)
    started.append(Process("--invoice", str(file)))
    started[1].search()
    assert started[1].invoice() == {
        "total_micro_usd": 2_000,
        "providers": {"serper": {"calls": 2, "billed_calls": 2, "micro_usd": 2_000}},
    }


def test_it_ends_with_the_process_that_started_it() -> None:
    script = (
        "import subprocess, sys\n"
        f"child = subprocess.Popen({[*COMMAND, '--with-parent']!r}, stdout=subprocess.PIPE, text=True)\n"
        "child.stdout.readline()\n"
        "print(child.pid)\n"
    )
    pid = int(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=90).stdout
    )
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").exists() and ") Z " in Path(f"/proc/{pid}/stat").read_text():
            return  # ended, and nobody here collects it
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the sandbox went on without its parent")


def test_a_taken_port_is_one_message_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port)]) == 2
    assert capsys.readouterr().err.startswith(f"The sandbox can't listen on 127.0.0.1:{port}: ")


def test_a_file_that_cannot_be_written_is_one_message_and_exit_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert serve(invoice_file=tmp_path) == 2
    assert capsys.readouterr().err.startswith(f"The sandbox can't keep its invoice in {tmp_path}: ")
