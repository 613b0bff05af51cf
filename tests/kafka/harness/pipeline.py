"""Roles as processes, by the commands an operator has, with vendors to ask and a lake to look into."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .processes import Process
from .vendors import GROUNDWIRE, Vendors

ROLES = ("frontline", "fetch", "unify", "cache-writer", "lake-writer")
READY_WITHIN_S = 120.0
ENDS_WITHIN_S = 10.0


def clean_environment() -> dict[str, str]:
    """This process's own variables without any setting of Groundwire's."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GROUNDWIRE_")}


class Pipeline:
    """Workers on one broker. A context manager: everything it started ends with it."""

    def __init__(
        self, folder: Path, brokers: str, *, median_ms: float = 50.0, settings: dict[str, str] | None = None
    ) -> None:
        """`settings` are more environment variables for every worker."""
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.brokers = brokers
        self.vendors = Vendors(folder, clean_environment(), median_ms=median_ms)
        self.environ = (
            clean_environment()
            | self.vendors.environ
            | {"GROUNDWIRE_BROKERS": brokers, "GROUNDWIRE_HOME": str(self.home)}
            | (settings or {})
        )
        self.workers: dict[str, list[Process]] = {role: [] for role in ROLES}
        self._started = 0

    @property
    def lake(self) -> Path:
        return self.home / "lake"

    def command(self, *arguments: str, environ: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        """One command of ours, run to its end, whatever that is."""
        return subprocess.run(
            [GROUNDWIRE, *arguments],
            env=self.environ | (environ or {}),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def json(self, *arguments: str) -> Any:
        """What a command prints with --json. Raises RuntimeError with its messages when it fails."""
        done = self.command(*arguments, "--json")
        if done.returncode != 0:
            raise RuntimeError(f"groundwire {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
        return json.loads(done.stdout)

    def create_topics(self) -> None:
        done = self.command("topics", "create")
        if done.returncode != 0:
            raise RuntimeError(f"topics create: {done.stdout}{done.stderr}")

    def begin(self, role: str, *, environ: dict[str, str] | None = None) -> Process:
        """Start one more worker of a role, without waiting for it."""
        self._started += 1
        worker = Process(
            f"{role}-{self._started}",
            [GROUNDWIRE, "worker", role],
            log=self.folder / f"{role}-{self._started}.log",
            environ=self.environ | (environ or {}),
            folder=self.folder,
        )
        self.workers[role].append(worker)
        return worker

    def start(self, *roles: str, environ: dict[str, str] | None = None) -> list[Process]:
        """Start one worker for each name, all at once, and wait until each has said that it is ready."""
        started = [self.begin(role, environ=environ) for role in roles]
        for worker in started:
            worker.wait_for("ready", READY_WITHIN_S)
        return started

    async def start_beside(self, *roles: str, environ: dict[str, str] | None = None) -> list[Process]:
        """`start` for a test that has something else running meanwhile."""
        started = [self.begin(role, environ=environ) for role in roles]
        await asyncio.gather(*(asyncio.to_thread(worker.wait_for, "ready", READY_WITHIN_S) for worker in started))
        return started

    def start_all(self) -> "Pipeline":
        self.create_topics()
        self.start(*ROLES)
        return self

    def replace(self, role: str, index: int = 0, *, environ: dict[str, str] | None = None) -> Process:
        """kill -9 a worker and start another in its place, as a supervisor would; does not wait for it."""
        self.workers[role].pop(index).kill()
        return self.begin(role, environ=environ)

    def stop(self, workers: Iterable[Process] | None = None) -> None:
        """SIGTERM to all at once; each has to end in the time that is promised, or TimeoutError."""
        chosen = list(workers) if workers is not None else [w for group in self.workers.values() for w in group]
        for worker in chosen:
            worker.ask_to_end()
        for worker in chosen:
            worker.terminate(ENDS_WITHIN_S)
        for group in self.workers.values():
            group[:] = [worker for worker in group if worker not in chosen]

    def lose_home(self) -> None:
        """The node's folder is gone."""
        shutil.rmtree(self.home)
        self.home.mkdir()

    def __enter__(self) -> "Pipeline":
        return self

    def __exit__(self, *_: object) -> None:
        for group in self.workers.values():
            for worker in group:
                worker.kill()
        self.vendors.process.kill()
