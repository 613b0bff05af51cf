"""`<home>/run/fetch-<pid>.json`: what a fetch worker's guards look like, for commands on the same machine and state folder.

A breaker lives in the memory of the worker that calls the vendor. Each worker writes it down every few seconds; who reads it
knows how many workers there are, and that there may be more on other machines.
"""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import structlog

from groundwire.streams.runtime.runfile import RUN_FOLDER, is_alive

log = structlog.get_logger(__name__)

WRITE_EVERY_S = 2.0
# A worker that has not written for this long hangs: what it wrote says nothing about now.
STALE_AFTER_S = 15.0


@dataclass(frozen=True, slots=True)
class Seen:
    """One provider as one worker sees it: its breaker (`closed`, `open`, `half_open`) and the calls under way."""

    breaker: str
    under_way: int


Guards = Mapping[str, Seen]
"""Provider → how it is seen."""


async def keep_written(home: Path, look: Callable[[], Guards]) -> None:
    """Write this process's guards every `WRITE_EVERY_S` until cancelled, then take the file away. A folder that can't be written
    is said once: nothing but `providers list` misses it."""
    file = home / RUN_FOLDER / f"fetch-{os.getpid()}.json"
    started_at = psutil.Process().create_time()
    failed = False
    await asyncio.to_thread(_sweep, home)
    try:
        while True:
            try:
                await asyncio.to_thread(_write, file, started_at, look())
                failed = False
            except OSError as error:
                if not failed:
                    log.warning("the state of the breakers can't be written down", file=str(file), error=str(error))
                failed = True
            await asyncio.sleep(WRITE_EVERY_S)
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)


def read_guards(home: Path) -> list[Guards]:
    """What each fetch worker that is alive and well on this home has written. Files of dead ones are passed over."""
    found: list[Guards] = []
    for file in sorted(_files(home)):
        try:
            document = json.loads(file.read_text())
            guards = {name: Seen(**seen) for name, seen in document["providers"].items()}
            fresh = time.time() - document["at"] < STALE_AFTER_S
            alive = is_alive(document["pid"], document["started_at"])
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            continue
        if fresh and alive:
            found.append(guards)
    return found


def _files(home: Path) -> Iterator[Path]:
    return (home / RUN_FOLDER).glob("fetch-[0-9]*.json")


def _sweep(home: Path) -> None:
    """Take away what killed workers left."""
    for file in _files(home):
        number = file.stem.removeprefix("fetch-")
        if number.isdecimal() and not psutil.pid_exists(int(number)):
            with contextlib.suppress(OSError):
                file.unlink()


def _write(file: Path, started_at: float, guards: Guards) -> None:
    """Whole or not at all."""
    document = {
        "pid": os.getpid(),
        "started_at": started_at,
        "at": time.time(),
        "providers": {name: asdict(seen) for name, seen in guards.items()},
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    staged = file.with_suffix(".tmp")
    staged.write_text(json.dumps(document))
    staged.replace(file)
