"""One role's Faust app: topics in, handlers, topics out, and the order in which that becomes a promise.

For every record:
1. it is begun in the tracker, in the order of its partition;
2. its handler runs, inside a window of so many at once; a handler that raises is a dead letter, not the end of the worker;
3. its outputs are published and confirmed by the broker;
4. only then it is done, and its offset may be committed once everything before it is done too.

A record that a handler publishes to a topic of the same app goes to its next handler when the broker has confirmed it, if
this worker is the one that would read it and has begun everything before it. It is then as if it had been read: the tracker
knows it, its copy from the log is passed over, and a crash repeats it from there.

A crash anywhere in between repeats the record; nothing is lost. After a rebalance a record that is still in work here and
comes back to this worker is not begun twice: the new assignment waits for the work under way.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from groundwire.schemas.dead_letter import DeadLetter
from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import DEAD_LETTERS
from groundwire.streams.runtime.acks import ContiguousAcks, Partition, Ticket
from groundwire.streams.runtime.connection import bootstrap_servers
from groundwire.streams.runtime.garbage import spare_what_stays
from groundwire.streams.runtime.liveness import Sight, watch
from groundwire.streams.runtime.publisher import Confirmed, Publisher, PublishRefused
from groundwire.streams.runtime.topics_admin import cluster_facts
from groundwire.streams.runtime.transport import Listener, TunedFaust, Tuning

log = structlog.get_logger(__name__)

Handler = Callable[[InboundRecord], Awaitable[Sequence[OutboundRecord]]]

GROUP_PREFIX = "groundwire."
COMMIT_INTERVAL_S = 0.5
# The embedded broker sleeps half of it when a fetch finds nothing, whatever comes meanwhile. A Kafka answers at once.
FETCH_WAIT_MS_EMBEDDED = 3
IDLE_FETCH_WAIT_MS_EMBEDDED = 30
FETCH_WAIT_MS = 500
# Of the rebalance timeout: what is left is for committing and joining again.
DRAIN_SHARE_OF_REBALANCE = 0.6
DRAIN_AT_STOP_S = 8.0
STOP_TIMEOUT_S = 1.5
MAX_POLL_RECORDS = 200
BUFFERED_PER_AGENT = 256


@dataclass(frozen=True, slots=True)
class _Agent:
    topic: str
    handler: Handler
    window: asyncio.Semaphore


class PipelineApp:
    """A role that reads topics, calls a handler for each record, and publishes what the handler gives back."""

    def __init__(self, role: str, settings: Settings) -> None:
        self.role = role
        self.group = GROUP_PREFIX + role
        self._settings = settings
        self._agents: dict[str, _Agent] = {}
        self._flows: Callable[[], bool] = lambda: False
        self._acks = ContiguousAcks()
        self._publisher = Publisher(settings, client_id=self.group)
        self._running: dict[tuple[str, int, int], asyncio.Task[None]] = {}
        self._on_assigned: list[Listener] = []
        self._on_revoked: list[Listener] = []
        self.ready = asyncio.Event()
        """Set when partitions were assigned for the first time."""

    def add_agent(self, topic: str, handler: Handler, window: int) -> None:
        """Read `topic` with at most `window` records in work at once."""
        self._agents[topic] = _Agent(topic, handler, asyncio.Semaphore(window))

    def on_rebalance(self, *, assigned: Listener | None = None, revoked: Listener | None = None) -> None:
        """Be told which partitions came (before their first record is read) and which are gone."""
        if assigned is not None:
            self._on_assigned.append(assigned)
        if revoked is not None:
            self._on_revoked.append(revoked)

    async def publish(self, records: Sequence[OutboundRecord]) -> None:
        """Publish, and return when the broker has confirmed. Raises PublishRefused."""
        await self._publisher.publish(records)

    async def partitions(self, topic: str) -> int | None:
        """How many partitions a topic has; None when there is no such topic."""
        return await self._publisher.partitions(topic)

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set, then finish what was begun, commit it and leave the group.

        Raises BrokerUnreachable, ConfigurationError; and whatever ended the Faust app, if something did.
        """
        facts = await cluster_facts(self._settings)
        app = self._build(embedded=facts.embedded)
        starting = asyncio.ensure_future(app.start())
        stopping = asyncio.ensure_future(stop.wait())
        watching: asyncio.Future[Any] = asyncio.ensure_future(self._watch(app, starting))
        try:
            await asyncio.wait({stopping, watching}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                watching.result()
        finally:
            stopping.cancel()
            watching.cancel()
            await self._stop(app, starting)
        if app.crash_reason is not None:
            raise app.crash_reason

    async def _watch(self, app: TunedFaust, starting: "asyncio.Future[Any]") -> None:
        """Returns when Faust ended by itself; raises when it could not start, or reads nothing although there is something."""
        await starting
        ended: asyncio.Future[Any] = asyncio.ensure_future(app.wait_until_stopped())
        look = partial(self._look, app)
        idle: asyncio.Future[Any] = asyncio.ensure_future(watch(look, self._settings.kafka.idle_with_lag_s))
        try:
            await asyncio.wait({ended, idle}, return_when=asyncio.FIRST_COMPLETED)
            if idle.done():
                idle.result()
        finally:
            ended.cancel()
            idle.cancel()

    async def _look(self, app: TunedFaust) -> Sight | None:
        """None also while a window is full: then reading on would be wrong, and what is in work has deadlines of its own."""
        if any(agent.window.locked() for agent in self._agents.values()):
            return None
        sight: Sight | None = await app.consumer.sight()
        return sight

    async def _stop(self, app: TunedFaust, starting: "asyncio.Future[Any]") -> None:
        if self.ready.is_set():
            app.consumer.stop_flow()
            app.flow_control.suspend()
            app.flow_control.clear()
            await self._drain(DRAIN_AT_STOP_S)
            await app.consumer.commit()
        starting.cancel()
        with contextlib.suppress(TimeoutError):  # a join under way, or a broker that is gone, is not waited for
            await asyncio.wait_for(app.stop(), STOP_TIMEOUT_S)
        log.info("stopped", role=self.role)

    def _build(self, *, embedded: bool) -> TunedFaust:
        kafka = self._settings.kafka
        waits_ms = (FETCH_WAIT_MS_EMBEDDED, IDLE_FETCH_WAIT_MS_EMBEDDED) if embedded else (FETCH_WAIT_MS, FETCH_WAIT_MS)
        if kafka.fetch_max_wait_ms is not None:
            waits_ms = (kafka.fetch_max_wait_ms, kafka.fetch_max_wait_ms)
        tuning = Tuning(
            settings=self._settings,
            group=self.group,
            fetch_wait_ms=waits_ms[0],
            idle_fetch_wait_ms=waits_ms[1],
            embedded=embedded,
            acks=self._acks,
            publisher=self._publisher,
            drain=self._drain_for_rebalance,
            on_assigned=self._assigned,
            on_revoked=self._revoked,
        )
        app = TunedFaust(
            tuning,
            broker=[f"kafka://{address}" for address in bootstrap_servers(self._settings)],
            web_enabled=False,
            topic_disable_leader=True,
            topic_allow_declare=False,
            stream_wait_empty=False,
            stream_buffer_maxsize=BUFFERED_PER_AGENT,
            stream_recovery_delay=0.0,
            broker_commit_interval=COMMIT_INTERVAL_S,
            broker_max_poll_records=MAX_POLL_RECORDS,
        )
        self._flows = app.flow_control.is_active
        for agent in self._agents.values():
            topic = app.topic(
                agent.topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw"
            )
            app.agent(topic, name=agent.topic)(self._reader(app, agent))
        return app

    def _reader(self, app: TunedFaust, agent: _Agent) -> Callable[[Any], Awaitable[None]]:
        async def read(stream: Any) -> None:
            async for event in stream.noack().events():
                await agent.window.acquire()
                message = event.message
                # A record fetched before a rebalance must not be begun after it: the ones before it are fetched again.
                ticket = None
                if message.generation_id == app.consumer_generation_id and app.flow_control.is_active():
                    ticket = self._acks.begin((message.topic, message.partition), message.offset)
                if ticket is None:
                    agent.window.release()
                    continue
                place = (message.topic, message.partition, message.offset)
                task = self._running.get(place)
                if task is None:
                    self._begin(agent, ticket, _inbound(message))
                else:
                    task.add_done_callback(partial(self._done, ticket, agent))

        return read

    def _begin(self, agent: _Agent, ticket: Ticket, record: InboundRecord) -> None:
        place = (record.topic, record.partition, record.offset)
        task = self._running[place] = asyncio.create_task(self._serve(agent, record))
        task.add_done_callback(partial(self._forget, place))
        task.add_done_callback(partial(self._done, ticket, agent))

    async def _go_ahead(self, confirmed: Sequence[Confirmed]) -> None:
        """Begin what was just published here and would be read here next."""
        for one in confirmed:
            agent = self._agents.get(one.topic)
            if agent is None or agent.window.locked() or not self._flows():
                continue
            ticket = self._acks.begin_next((one.topic, one.partition), one.offset)
            if ticket is not None:
                await agent.window.acquire()  # at once: it is not locked
                self._begin(agent, ticket, _read_back(one))

    async def _serve(self, agent: _Agent, record: InboundRecord) -> None:
        try:
            outputs = await agent.handler(record)
            if outputs:
                await self._go_ahead(await self._publisher.publish(outputs))
        except PublishRefused as refused:
            log.error("an output was refused by the broker", role=self.role, error=str(refused))
            await self._bury(record, "refused", str(refused))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise  # the worker ends: not done, so it is read again
            # Something inside the handler was cancelled and it let that through: left at that, its partition would stand.
            log.exception(
                "a handler let a cancellation through", role=self.role, topic=record.topic, offset=record.offset
            )
            await self._bury(record, "crash", f"{type(error).__name__}: {error}")
        except Exception as error:
            log.exception("a handler failed", role=self.role, topic=record.topic, offset=record.offset)
            await self._bury(record, "crash", f"{type(error).__name__}: {error}")

    async def _bury(self, record: InboundRecord, reason: str, message: str) -> None:
        letter = DeadLetter.of(
            record, stage=self.role, reason=reason, message=message[:2_000], now_ms=time.time_ns() // 1_000_000
        )
        key = letter.dead_letter_id.encode()
        await self._publisher.publish([OutboundRecord(DEAD_LETTERS.name, key=key, value=letter.encode())])

    def _forget(self, place: tuple[str, int, int], _task: "asyncio.Task[None]") -> None:
        self._running.pop(place, None)

    def _done(self, ticket: Ticket, agent: _Agent, task: "asyncio.Task[None]") -> None:
        agent.window.release()
        # Cancelled or failed to publish at the very end: not done, so it is read again.
        if not task.cancelled() and task.exception() is None:
            self._acks.done(ticket)

    async def _drain_for_rebalance(self) -> None:
        await self._drain(self._settings.kafka.rebalance_timeout_s * DRAIN_SHARE_OF_REBALANCE)

    async def _drain(self, timeout_s: float) -> None:
        running = list(self._running.values())
        if running:
            await asyncio.wait(running, timeout=timeout_s)

    async def _assigned(self, partitions: frozenset[Partition]) -> None:
        await self._tell(self._on_assigned, partitions)
        if not self.ready.is_set():
            spare_what_stays()
            self.ready.set()
            log.info("ready", role=self.role, partitions=len(partitions))

    async def _revoked(self, partitions: frozenset[Partition]) -> None:
        await self._tell(self._on_revoked, partitions)

    async def _tell(self, listeners: Sequence[Listener], partitions: frozenset[Partition]) -> None:
        for listener in listeners:
            try:
                await listener(partitions)
            except Exception:  # aiokafka would swallow it, and the partitions would never be read
                log.exception("a listener to rebalances failed", role=self.role)


def _inbound(message: Any) -> InboundRecord:
    return InboundRecord(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        key=message.key,
        value=message.value,
        headers=tuple(message.headers or ()),
        timestamp_ms=int(message.timestamp * 1000),
    )


def _read_back(confirmed: Confirmed) -> InboundRecord:
    """The record as it would be read from the log."""
    return InboundRecord(
        topic=confirmed.topic,
        partition=confirmed.partition,
        offset=confirmed.offset,
        key=confirmed.record.key,
        value=confirmed.record.value,
        headers=confirmed.record.headers,
        timestamp_ms=time.time_ns() // 1_000_000,
    )
