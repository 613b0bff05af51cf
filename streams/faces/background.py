"""Starting a whole Groundwire beside the program, and ending it: for the demo and the benches."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from groundwire.streams.faces.errors import CommandError
from groundwire.streams.runtime.runfile import RunFile

# Longer than the supervisor waits for its roles, whose message says more.
READY_TIMEOUT_S = 200.0


def start_up(
    home: Path, *arguments: str, environ: Mapping[str, str] | None = None
) -> tuple[subprocess.Popen[bytes], RunFile]:
    """Start `groundwire up` with these arguments on a state folder and wait until it is ready.

    Its output goes to `<home>/up.log`. Raises CommandError with the last lines of it.
    """
    home.mkdir(parents=True, exist_ok=True)
    log = home / "up.log"
    variables = {**os.environ, **(environ or {}), "GROUNDWIRE_HOME": str(home)}
    variables.pop("GROUNDWIRE_BROKERS", None)
    command: Sequence[str] = [sys.executable, "-m", "groundwire.streams.faces.cli", "up", *arguments]
    with log.open("wb") as sink:
        process = subprocess.Popen(command, stdout=sink, stderr=subprocess.STDOUT, env=variables)  # noqa: S603 - ourselves
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        running = RunFile.read(home)
        if running is not None:
            return process, running
        if process.poll() is not None:
            break
        time.sleep(0.05)
    stop(process)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
    raise CommandError(f"Groundwire could not start (log: {log}):\n{tail}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End what was started, by its id."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
    if process.poll() is None:
        process.kill()
        process.wait()
