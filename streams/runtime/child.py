"""One child process of the supervisor: its lines passed on, its readiness noticed, its end awaited."""

import asyncio
import collections
import contextlib
import json
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence

# A line of a traceback or of JSON may be long; beyond this it is cut by the reader.
LINE_LIMIT_BYTES = 1024 * 1024
KEPT_LINES = 20

Say = Callable[[str, str], None]


class Child:
    """A process by name. stdin is held open for as long as the supervisor lives: a child ends when it closes."""

    def __init__(
        self,
        name: str,
        module: str,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        say: Say,
        first_line: str = "",
    ) -> None:
        self.name = name
        self.ready = asyncio.Event()
        self.report: dict[str, object] = {}
        self.last_lines: collections.deque[str] = collections.deque(maxlen=KEPT_LINES)
        self.started_at = 0.0
        self._module = module
        self._arguments = list(arguments)
        self._environ = dict(environ)
        self._say = say
        self._first_line = first_line
        self._process: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self.ready.clear()
        self.last_lines.clear()
        self.started_at = time.monotonic()
        self._process = process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", self._module, *self._arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environ,
            limit=LINE_LIMIT_BYTES,
            start_new_session=True,  # Ctrl-C reaches the supervisor alone, which ends its children in order
        )
        if self._first_line and process.stdin is not None:
            process.stdin.write(self._first_line.encode() + b"\n")
        self._readers = [
            asyncio.create_task(self._read(process.stdout, self._on_report)),
            asyncio.create_task(self._read(process.stderr, self._on_line)),
        ]

    def command_again(self, arguments: Sequence[str]) -> None:
        """Other arguments for the next start."""
        self._arguments = list(arguments)

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def ended(self) -> int:
        """The exit code, when it has one and everything it said was passed on."""
        if self._process is None:
            return 0
        code = await self._process.wait()
        with contextlib.suppress(TimeoutError):
            # A grandchild may hold the pipes open: what matters was said by then.
            await asyncio.wait_for(asyncio.shield(asyncio.gather(*self._readers)), 1.0)
        return code

    async def stop(self, timeout_s: float) -> bool:
        """Ask it to end, then make it. True when it ended by itself in time."""
        process = self._process
        if process is None or process.returncode is not None:
            return True
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), timeout_s)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            return False
        return True

    def close(self) -> None:
        """Let go of its pipes."""
        for reader in self._readers:
            reader.cancel()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def _read(self, stream: asyncio.StreamReader | None, take: Callable[[str], None]) -> None:
        if stream is None:
            return
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # longer than the limit
                continue
            if not line:
                return
            take(line.decode(errors="replace").rstrip())

    def _on_line(self, line: str) -> None:
        self.last_lines.append(line)
        self._say(self.name, line)

    def _on_report(self, line: str) -> None:
        try:
            report = json.loads(line)
        except ValueError:
            self._on_line(line)
            return
        self.report = report
        self.ready.set()
