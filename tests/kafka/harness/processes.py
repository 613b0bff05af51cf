"""Child processes that never outlive the tests, with their output in a file and their memory in sight."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

# Linux: the kernel kills the child when the thread that started it ends, however it ends; then the child becomes the command.
# Not a preexec_fn: that runs Python between fork and exec, which can deadlock beside other threads.
_DIE_WITH_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""


def _tied_to_us(command: Sequence[str]) -> list[str]:
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT, str(os.getpid()), *command]


class Process:
    """One child process. Started by the constructor, on the main thread; output of both streams is appended to `log`."""

    def __init__(
        self, name: str, command: Sequence[str], *, log: Path, environ: Mapping[str, str], folder: Path | None = None
    ) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(f"{name} would end with the thread that started it: start it on the main thread")
        self.name = name
        self.log = log
        self.started_at = time.monotonic()
        self._log_start = log.stat().st_size if log.exists() else 0
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                _tied_to_us(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environ),
                cwd=folder,
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        return self._popen.poll()

    def running(self) -> bool:
        return self._popen.poll() is None

    def output(self) -> str:
        """What this process has written so far."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode("utf-8", "replace")

    def wait_for(self, text: str, timeout_s: float) -> float:
        """Wait until the output holds `text`; the seconds that took. Raises TimeoutError with the end of the output."""
        end = time.monotonic() + timeout_s
        while text not in self.output():
            if not self.running():
                raise RuntimeError(f"{self.name} ended with {self.returncode} before it said {text!r}:\n{self.tail()}")
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name} did not say {text!r} within {timeout_s:g} s:\n{self.tail()}")
            time.sleep(0.05)
        return time.monotonic() - self.started_at

    def wait_until_ended(self, timeout_s: float) -> None:
        """Raises TimeoutError when the process goes on."""
        try:
            self._popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{self.name} still runs after {timeout_s:g} s:\n{self.tail()}") from None

    def tail(self, lines: int = 25) -> str:
        return "\n".join(self.output().splitlines()[-lines:])

    def ask_to_end(self) -> None:
        if self.running():
            self._popen.terminate()

    def terminate(self, timeout_s: float = 15.0) -> float:
        """SIGTERM, and the seconds until the process had ended. Raises TimeoutError (after SIGKILL) when it did not."""
        begun = time.monotonic()
        if self.running():
            self._popen.terminate()
            try:
                self._popen.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.kill()
                raise TimeoutError(f"{self.name} ignored SIGTERM for {timeout_s:g} s:\n{self.tail()}") from None
        return time.monotonic() - begun

    def kill(self) -> None:
        """SIGKILL, the process and its own children: nothing is flushed, nobody says goodbye."""
        try:
            children = psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            children = []
        if self.running():
            self._popen.kill()
            self._popen.wait()
        for child in children:
            try:
                child.kill()
            except psutil.NoSuchProcess:
                continue

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def rss_mib(self) -> float:
        """Resident memory of the process, children not counted; 0.0 once it is gone."""
        try:
            return psutil.Process(self.pid).memory_info().rss / 2**20
        except psutil.NoSuchProcess:
            return 0.0
