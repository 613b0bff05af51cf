"""`<home>/run/up.json`: how commands find the Groundwire that runs on a state folder, and the lock that keeps it the only one."""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import psutil
from filelock import FileLock, Timeout

RUN_FOLDER = "run"
FILE_NAME = "up.json"
HOLDER_NAME = "up.holder.json"
LOCK_NAME = "up.lock"

# Less room than this is none: the roles would come up only to say so one after the other.
PROBE_BYTES = 64 * 1024

# Process ids are used again: a process that began this much later is another one.
SAME_START_S = 2.0


class AlreadyRunning(Exception):  # noqa: N818 - it is what happened, as in the message
    """Another `up` runs on this state folder."""


class HomeUnwritable(Exception):  # noqa: N818
    """The state folder can't be written. The message says which and why."""


@dataclass(frozen=True, slots=True)
class RunFile:
    """What runs here. `sandbox` is its address when the vendors are stand-ins; `embedded` when the broker is ours."""

    pid: int
    started_at: float
    brokers: str
    embedded: bool
    sandbox: str | None = None

    @classmethod
    def read(cls, home: Path) -> "RunFile | None":
        """The one that runs on this home; None when nothing does, also when a killed one left its file behind."""
        try:
            document = json.loads((home / RUN_FOLDER / FILE_NAME).read_text())
            found = cls(**document)
        except (OSError, ValueError, TypeError):
            return None
        return found if is_alive(found.pid, found.started_at) else None

    def write(self, home: Path) -> None:
        """Whole or not at all: a reader never sees half of it."""
        path = home / RUN_FOLDER / FILE_NAME
        _write_whole(path, json.dumps(asdict(self), indent=2))

    @classmethod
    def of_this_process(cls, brokers: str, *, embedded: bool, sandbox: str | None) -> Self:
        started_at = psutil.Process().create_time()
        return cls(os.getpid(), started_at, brokers, embedded, sandbox)

    @staticmethod
    def remove(home: Path) -> None:
        with contextlib.suppress(OSError):
            (home / RUN_FOLDER / FILE_NAME).unlink()


def is_starting(home: Path) -> bool:
    """Whether an `up` holds this home and is not ready yet.

    Looked up in a file: to try the lock would, for a moment, turn away the `up` that wants it.
    """
    if RunFile.read(home) is not None:
        return False
    try:
        holder = json.loads((home / RUN_FOLDER / HOLDER_NAME).read_text())
        return is_alive(int(holder["pid"]), float(holder["started_at"]))
    except (OSError, ValueError, TypeError, KeyError):
        return False


@contextlib.contextmanager
def sole_occupant(home: Path) -> Iterator[None]:
    """Hold the home's lock while the block runs; the kernel gives it back however the process ends.

    Raises AlreadyRunning, HomeUnwritable.
    """
    folder = home / RUN_FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe.{os.getpid()}"
        try:
            probe.write_bytes(bytes(PROBE_BYTES))  # an empty file has room on a full disk
        finally:
            probe.unlink(missing_ok=True)
        lock = FileLock(folder / LOCK_NAME)
        lock.acquire(timeout=0)
    except Timeout:
        running = RunFile.read(home)
        who = f" (process {running.pid}, broker {running.brokers})" if running else ""
        raise AlreadyRunning(
            f"another `groundwire up` runs on state folder {home}{who}. Use it, end it, or give this one another folder: "
            "--home or GROUNDWIRE_HOME"
        ) from None
    except OSError as error:
        raise HomeUnwritable(
            f"the state folder {home} can't be written: {error.strerror or error}. Give another one: --home or GROUNDWIRE_HOME"
        ) from None
    holder = folder / HOLDER_NAME
    try:
        with contextlib.suppress(OSError):  # it only lets commands say more; a full disk is told of by what needs it
            _write_whole(holder, json.dumps({"pid": os.getpid(), "started_at": psutil.Process().create_time()}))
        yield
    finally:
        with contextlib.suppress(OSError):
            holder.unlink()
        lock.release()


def _write_whole(path: Path, text: str) -> None:
    staged = path.with_suffix(f".{os.getpid()}.tmp")
    staged.write_text(text)
    staged.replace(path)


def is_alive(pid: int, started_at: float) -> bool:
    """Whether the process that had this id at that start is still there. Ids are used again."""
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - started_at) < SAME_START_S
    except psutil.Error:
        return False
