"""What we rely on in Faust, and what we work around: an upgrade that changes either fails here, loudly.

Where a test says that Faust does something wrong and it fails, read streams/runtime/transport.py and acks.py: a workaround
may go.
"""

import inspect
from collections.abc import Iterable

import faust
import pytest
from faust.events import Event
from faust.transport.consumer import Consumer
from faust.transport.drivers import aiokafka as driver
from faust.types import TP, ConsumerMessage

from groundwire.streams.runtime.acks import ContiguousAcks

TOPIC = "t"
PLACE = TP(TOPIC, 0)


@pytest.fixture
async def app() -> faust.App:
    return faust.App("contract", broker="kafka://127.0.0.1:1", web_enabled=False)


@pytest.fixture
async def consumer(app: faust.App) -> Consumer:
    app.topics.acking_topics.add(TOPIC)
    return app.consumer


def message(offset: int, generation: int = 1) -> ConsumerMessage:
    return ConsumerMessage(TOPIC, 0, offset, 0.0, 0, [], None, b"", None, tp=PLACE, generation_id=generation)


def committed_after(consumer: Consumer, position: int, acked: Iterable[int]) -> int:
    """What Faust would commit when the group stands at `position` and these offsets are acked in this order."""
    consumer._committed_offset[PLACE] = position
    for offset in acked:
        consumer.ack(message(offset))
    return consumer._filter_committable_offsets([PLACE]).get(PLACE, position)


# ── what we work around


async def test_faust_commits_past_a_record_in_work_when_acks_come_out_of_order(consumer: Consumer) -> None:
    """faust-streaming #606: offset 10 is in work, 11 to 13 are acked, and 14 is committed. Hence acks.py."""
    assert committed_after(consumer, 10, [11, 12, 13]) == 14


async def test_our_tracker_does_not(consumer: Consumer) -> None:
    acks = ContiguousAcks()
    acks.assign([(TOPIC, 0)])
    tickets = {offset: acks.begin((TOPIC, 0), offset) for offset in range(10, 14)}
    for offset in (11, 12, 13):
        ticket = tickets[offset]
        assert ticket is not None
        acks.done(ticket)
    assert acks.committable() == {}


async def test_faust_commits_rightly_when_acks_come_in_order(consumer: Consumer) -> None:
    assert committed_after(consumer, 10, [10, 11]) == 12


async def test_faust_leaves_the_fetch_wait_to_nobody() -> None:
    """1500 ms stand in the call: on the embedded broker every hop would wait for half of it."""
    source = inspect.getsource(driver.AIOKafkaConsumerThread._create_worker_consumer)
    assert "fetch_max_wait_ms=1500" in source


async def test_faust_reads_in_a_thread_of_its_own(app: faust.App) -> None:
    """Two changes of thread for every fetch. Hence LoopConsumer."""
    assert isinstance(app.consumer, driver.ThreadDelegateConsumer)


async def test_faust_makes_tasks_for_every_record_it_delivers() -> None:
    assert "wait_first" in inspect.getsource(Consumer._drain_messages)


async def test_faust_ends_a_worker_over_a_commit_that_failed_once() -> None:
    assert "self.crash(exc)" in inspect.getsource(driver.AIOKafkaConsumerThread._commit)


# ── what we rely on


async def test_an_ack_is_synchronous(app: faust.App, consumer: Consumer) -> None:
    one = message(10)
    one.incref()
    event = Event(app, None, b"", {}, one)
    assert event.ack() is True
    assert one.acked


async def test_a_stream_without_acks_hands_out_events_and_acks_none(app: faust.App) -> None:
    assert app.stream(app.channel()).enable_acks is True
    stream = app.stream(app.channel()).noack()
    assert stream.enable_acks is False
    assert inspect.isasyncgen(stream.events())


async def test_an_app_brings_its_own_transport_and_a_transport_its_own_consumer_and_producer() -> None:
    class OwnTransport(driver.Transport):
        pass

    class OwnApp(faust.App):
        def _new_transport(self) -> OwnTransport:
            return OwnTransport(self.conf.broker_consumer, self)

    app = OwnApp("own", broker="kafka://127.0.0.1:1", web_enabled=False)
    assert isinstance(app.transport, OwnTransport)
    assert {"Consumer", "Producer"} <= set(vars(driver.Transport))


async def test_a_message_carries_the_generation_it_was_fetched_in() -> None:
    assert message(1, generation=7).generation_id == 7


async def test_suspended_flow_empties_the_queues_of_the_agents_and_lets_nothing_through(app: faust.App) -> None:
    queue = app.FlowControlQueue(maxsize=10, clear_on_resume=True)
    app.flow_control.resume()
    assert app.flow_control.is_active()
    queue.put_nowait("left over")
    app.flow_control.suspend()
    app.flow_control.clear()
    assert queue.empty()
    assert not app.flow_control.is_active()


async def test_partitions_are_told_to_the_consumer_before_anything_else_is_done_with_them() -> None:
    """Our consumer drains and commits in `on_partitions_revoked`, and starts the tracker in `on_partitions_assigned`."""
    for name in ("on_partitions_revoked", "on_partitions_assigned"):
        assert inspect.iscoroutinefunction(inspect.unwrap(getattr(Consumer, name)))


async def test_without_waiting_for_empty_streams_a_stopping_consumer_commits_once(app: faust.App) -> None:
    source = inspect.getsource(Consumer.on_stop)
    assert "stream_wait_empty" in source
    assert "commit_and_end_transactions" in source
