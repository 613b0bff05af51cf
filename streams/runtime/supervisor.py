"""Everything on this machine: the broker, the roles and, if wanted, the sandbox, kept running until told to stop.

The embedded broker never gives memory back. When it has passed its limit, and nothing is under way (or it is far past it), it is
replaced by an empty one on the same port: the roles finish what they have begun and end, what nobody has finished is
carried over, and the roles start again. Producers and readers see a broker that was away for a moment.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import structlog
from aiokafka.errors import KafkaError

from groundwire.adapters.sandbox import sandbox_environment
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import ROLES
from groundwire.streams.runtime.broker import EmbeddedBroker
from groundwire.streams.runtime.carryover import take_out, unfinished
from groundwire.streams.runtime.child import Child, Say
from groundwire.streams.runtime.runfile import RunFile, sole_occupant
from groundwire.streams.runtime.topics_admin import ensure_topics
from groundwire.streams.runtime.worker import EXIT_MISUSE, encode_settings

log = structlog.get_logger(__name__)

WORKER = "groundwire.streams.runtime.worker"
SANDBOX = "groundwire.adapters.sandbox"
INVOICE_FILE = "sandbox-invoice.json"

# Matrices here are small, and roles share the machine: a thread for each core in each role would be in the others' way.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

# For a role that hangs: one that has ended is seen at once, and a machine that is busy is not broken.
READY_TIMEOUT_S = 180.0
SANDBOX_TIMEOUT_S = 20.0
# Ctrl-C to the end: the roles have most of 5 s, the broker and the sandbox the rest.
STOP_ROLES_WITHIN_S = 3.5
# A role that is still starting has begun nothing, and may be deep in its imports: it has the time to leave a group, no more.
STOP_STARTING_WITHIN_S = 2.0
STOP_SANDBOX_WITHIN_S = 0.5
# A replacement is not a stop: there the roles may finish what they have begun.
DRAIN_ROLES_WITHIN_S = 10.0
FIRST_RESTART_S = 0.5
LONGEST_RESTART_S = 15.0
HEALTHY_AFTER_S = 30.0
FAILED_STARTS = 3
WATCH_EVERY_S = 1.0
# Past the limit times this, a quiet moment is no longer waited for.
OVERDUE = 1.25


class RoleFailed(Exception):  # noqa: N818 - it is what happened, as in the message
    """A role, or the sandbox, can't be started. The message is what it said."""


class Supervisor:
    """`load` gives the settings for an environment: the sandbox's address is known only when it runs.

    `sandbox`: arguments for the sandbox process, or None for the real vendors. `say` gets each line that a child writes.
    """

    def __init__(
        self,
        load: Callable[[Mapping[str, str]], Settings],
        environ: Mapping[str, str],
        *,
        say: Say,
        sandbox: Sequence[str] | None = None,
        roles: Sequence[str] = ROLES,
    ) -> None:
        self._load = load
        self._environ = dict(environ)
        self._say = say
        self._sandbox_arguments = sandbox
        self._role_names = roles
        self._sandbox: Child | None = None
        self._broker: EmbeddedBroker | None = None
        self._roles: list[Child] = []
        self._replacing = False

    async def run(self, stop: asyncio.Event, on_ready: Callable[[RunFile, Settings], None]) -> None:
        """Start, say so through `on_ready`, and keep it running until `stop` is set.

        Raises AlreadyRunning, HomeUnwritable, BrokerUnavailable, BrokerUnreachable, ConfigurationError, RoleFailed.
        """
        settings = self._load(self._environ)
        with sole_occupant(settings.home):
            try:
                settings = await self._start(settings, stop)
                if stop.is_set():
                    return
                running = RunFile.of_this_process(
                    settings.brokers or "", embedded=self._broker is not None, sandbox=self._sandbox_address()
                )
                running.write(settings.home)
                on_ready(running, settings)
                await self._keep_running(settings, stop)
            finally:
                RunFile.remove(settings.home)
                await self._stop()

    # ── starting

    async def _start(self, settings: Settings, stop: asyncio.Event) -> Settings:
        if self._sandbox_arguments is not None:
            address = await self._start_sandbox(settings, self._sandbox_arguments)
            self._environ = {**sandbox_environment(address), **self._environ}
            settings = self._load(self._environ)
        if not settings.brokers:
            self._broker = EmbeddedBroker(settings.home, settings.embedded)
            settings = settings.model_copy(update={"brokers": self._broker.start()})
        await ensure_topics(settings)
        line = encode_settings(settings)
        environ = {**ONE_THREAD, **self._environ}
        self._roles = [
            Child(role, WORKER, [role, "--supervised"], environ, self._say, line) for role in self._role_names
        ]
        await self._start_roles(stop)
        return settings

    async def _start_sandbox(self, settings: Settings, arguments: Sequence[str]) -> str:
        invoice = settings.home / "run" / INVOICE_FILE
        arguments = ["--json", "--with-parent", "--invoice", str(invoice), *arguments]
        self._sandbox = Child("sandbox", SANDBOX, arguments, self._environ, self._say)
        await self._sandbox.start()
        await self._wait_ready(self._sandbox, SANDBOX_TIMEOUT_S)
        # Started again after a crash, it has to be where it was.
        address = self._sandbox_address() or ""
        port = address.rstrip("/").rpartition(":")[2]
        self._sandbox.command_again([*arguments, "--port", port])
        return address

    def _sandbox_address(self) -> str | None:
        return None if self._sandbox is None else str(self._sandbox.report.get("address"))

    async def _start_roles(self, stop: asyncio.Event) -> None:
        """All at once; returns when all are ready, or `stop` was set."""
        await asyncio.gather(*(child.start() for child in self._roles))
        stopping: asyncio.Future[Any] = asyncio.ensure_future(stop.wait())
        waiting: asyncio.Future[Any] = asyncio.gather(*(self._wait_ready(one, READY_TIMEOUT_S) for one in self._roles))
        try:
            await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                waiting.result()
        finally:
            waiting.cancel()
            stopping.cancel()
            await asyncio.gather(waiting, stopping, return_exceptions=True)  # unheard, they would complain on stderr

    async def _wait_ready(self, child: Child, timeout_s: float) -> None:
        """Start it again a few times if it ends by itself; misuse is final at once. Raises RoleFailed."""
        deadline = time.monotonic() + timeout_s
        for attempt in range(1, FAILED_STARTS + 1):
            ready = asyncio.ensure_future(child.ready.wait())
            ended = asyncio.ensure_future(child.ended())
            try:
                await asyncio.wait(
                    {ready, ended}, timeout=max(0.0, deadline - time.monotonic()), return_when=asyncio.FIRST_COMPLETED
                )
                if child.ready.is_set():
                    return
                if not ended.done():
                    raise RoleFailed(f"{child.name} was not ready within {timeout_s:g} s. {_last_words(child)}")
                if ended.result() == EXIT_MISUSE or attempt == FAILED_STARTS:
                    raise RoleFailed(f"{child.name} ended at once (code {ended.result()}). {_last_words(child)}")
            finally:
                ready.cancel()
                ended.cancel()
            await asyncio.sleep(FIRST_RESTART_S)
            await child.start()

    # ── running

    async def _keep_running(self, settings: Settings, stop: asyncio.Event) -> None:
        children = [*self._roles, *([self._sandbox] if self._sandbox is not None else [])]
        keepers = [asyncio.create_task(self._keep(child)) for child in children]
        if self._broker is not None:
            keepers.append(asyncio.create_task(self._watch_broker(self._broker, settings, stop)))
        stopping = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait({*keepers, stopping}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (*keepers, stopping):
                task.cancel()
            await asyncio.gather(*keepers, stopping, return_exceptions=True)

    async def _keep(self, child: Child) -> None:
        """Start it again whenever it ends by itself, more slowly each time it ends soon."""
        pause_s = FIRST_RESTART_S
        while True:
            code = await child.ended()
            if self._replacing:
                await asyncio.sleep(WATCH_EVERY_S)
                continue
            if time.monotonic() - child.started_at > HEALTHY_AFTER_S:
                pause_s = FIRST_RESTART_S
            log.warning(f"{child.name} ended by itself and is started again", code=code, in_s=pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_RESTART_S)
            if not self._replacing:
                await child.start()

    async def _watch_broker(self, broker: EmbeddedBroker, settings: Settings, stop: asyncio.Event) -> None:
        limit = settings.embedded.memory_limit_mib
        while True:
            await asyncio.sleep(WATCH_EVERY_S)
            if not broker.alive:
                await self._recover(broker, settings, stop)
            elif broker.memory_mib() > limit and (
                broker.memory_mib() > limit * OVERDUE or await self._is_quiet(settings)
            ):
                await self._replace(broker, settings, stop)

    async def _is_quiet(self, settings: Settings) -> bool:
        with contextlib.suppress(KafkaError, OSError):
            return await unfinished(settings) == 0
        return False

    async def _replace(self, broker: EmbeddedBroker, settings: Settings, stop: asyncio.Event) -> None:
        """Drain, carry over, replace, start again."""
        began, before = time.monotonic(), broker.memory_mib()
        self._replacing = True
        try:
            await asyncio.gather(*(child.stop(DRAIN_ROLES_WITHIN_S) for child in self._roles))
            carry = await take_out(settings)
            await self._renew(broker, settings)
            await carry.put_into(settings)
            await self._start_again(stop)
        finally:
            self._replacing = False
        log.warning(
            "the embedded broker had reached its memory limit and was replaced; for lasting load use a real Kafka",
            was_mib=round(before),
            carried_over=len(carry.records),
            unfinished=carry.unfinished,
            seconds=round(time.monotonic() - began, 1),
        )

    async def _recover(self, broker: EmbeddedBroker, settings: Settings, stop: asyncio.Event) -> None:
        """The broker has ended by itself. The roles start anew with it: their places in its log mean nothing in the next."""
        log.error("the embedded broker ended; an empty one takes its place, and what it held is lost")
        self._replacing = True
        try:
            await asyncio.gather(*(child.stop(0) for child in self._roles))
            await self._renew(broker, settings)
            await self._start_again(stop)
        finally:
            self._replacing = False

    async def _start_again(self, stop: asyncio.Event) -> None:
        """What was running is not given up for a role that does not come back in time: its keeper goes on trying."""
        try:
            await self._start_roles(stop)
        except RoleFailed as error:
            log.error("not every role is back after the broker was replaced; it goes on being tried", error=str(error))

    async def _renew(self, broker: EmbeddedBroker, settings: Settings) -> None:
        broker.restart()
        await ensure_topics(settings, fresh_broker=True)

    # ── stopping

    async def _stop(self) -> None:
        working = [child.ready.is_set() for child in self._roles]
        in_time = await asyncio.gather(
            *(
                child.stop(STOP_ROLES_WITHIN_S if works else STOP_STARTING_WITHIN_S)
                for child, works in zip(self._roles, working, strict=True)
            )
        )
        late = [
            child.name for child, works, ended in zip(self._roles, working, in_time, strict=True) if works and not ended
        ]
        if late:
            log.warning("did not finish in time and were ended", roles=", ".join(late))
        if self._sandbox is not None:
            await self._sandbox.stop(STOP_SANDBOX_WITHIN_S)
        if self._broker is not None:
            self._broker.stop()
        for child in (*self._roles, *([self._sandbox] if self._sandbox is not None else [])):
            child.close()


def _last_words(child: Child) -> str:
    return child.last_lines[-1] if child.last_lines else "It said nothing."
