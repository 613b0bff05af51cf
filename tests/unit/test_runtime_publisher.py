"""`publish` returns when the broker has confirmed, whatever happens in between: the producer under it is scripted here."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka.errors import (
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    OutOfOrderSequenceNumber,
    ProducerClosed,
)
from aiokafka.structs import RecordMetadata, TopicPartition

from groundwire.schemas.record import OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import REPLIES, REQUESTS
from groundwire.streams.runtime import publisher as module
from groundwire.streams.runtime.publisher import Publisher, PublishRefused

Script = Callable[[bytes], Exception | None]


class Cluster:
    """What a broker knows of its topics."""

    def __init__(self, counts: dict[str, int]) -> None:
        self.counts = counts

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        return set(range(self.counts[topic])) if topic in self.counts else None


class Client:
    """aiokafka's client, as far as the publisher needs one: what it was asked for by name it knows after a refresh."""

    def __init__(self, broker: dict[str, int]) -> None:
        self._broker = broker
        self._asked: set[str] = set()
        self.cluster = Cluster({})
        self.listings = 0

    def add_topic(self, topic: str) -> None:
        self._asked.add(topic)

    async def set_topics(self, topics: list[str]) -> None:
        self._asked = set(topics)
        await self.force_metadata_update()

    async def force_metadata_update(self) -> bool:
        self.cluster.counts = {name: count for name, count in self._broker.items() if name in self._asked}
        return True

    async def fetch_all_metadata(self) -> Cluster:
        self.listings += 1
        return Cluster(dict(self._broker))


class Producer:
    """Confirms what the script does not object to. `at_send`: the objection comes when the record is handed over."""

    def __init__(self, broker: dict[str, int], script: Script, at_send: Script) -> None:
        self.client = Client(broker)
        self.sent: list[tuple[str, bytes, int | None]] = []
        self.confirmed: list[bytes] = []
        self.stopped = False
        self._script, self._at_send = script, at_send

    async def send(
        self, topic: str, value: bytes, *, key: bytes | None, partition: int | None, headers: list[Any]
    ) -> "asyncio.Future[RecordMetadata]":
        objection = self._at_send(value)
        if objection is not None:
            raise objection
        self.sent.append((topic, value, partition))
        future: asyncio.Future[RecordMetadata] = asyncio.get_running_loop().create_future()
        objection = self._script(value)
        if objection is not None:
            future.set_exception(objection)
        else:
            self.confirmed.append(value)
            place = TopicPartition(topic, partition or 0)
            future.set_result(RecordMetadata(*place, place, len(self.confirmed) - 1, None, 0, 0))
        return future

    async def stop(self) -> None:
        self.stopped = True


class Bench:
    """A publisher on scripted producers, each taking its place in `producers` when it is connected."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.broker = {REQUESTS.name: 8, REPLIES.name: 8}
        self.producers: list[Producer] = []
        self.scripts: list[tuple[Script, Script]] = []
        self.publisher = Publisher(Settings(brokers="k:1"), "test")
        monkeypatch.setattr(self.publisher, "_connect", self._connect)
        monkeypatch.setattr(module, "NEW_PRODUCER_BACKOFF_S", 0)
        monkeypatch.setattr(module, "METADATA_POLL_S", 0)

    async def _connect(self) -> Producer:
        script, at_send = self.scripts.pop(0) if self.scripts else (nothing, nothing)
        producer = Producer(self.broker, script, at_send)
        await producer.client.set_topics(list(self.broker))
        self.producers.append(producer)
        return producer

    async def start(self, script: "Script | None" = None, at_send: "Script | None" = None) -> Publisher:
        self.scripts.append((script or nothing, at_send or nothing))
        await self.publisher.start()
        return self.publisher


def nothing(_: bytes) -> Exception | None:
    return None


def once(error: Exception, value: bytes = b"x") -> Script:
    left = [error]
    return lambda seen: left.pop() if seen == value and left else None


def record(value: bytes = b"x", **fields: Any) -> OutboundRecord:
    return OutboundRecord(fields.pop("topic", REQUESTS.name), key=b"k", value=value, **fields)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


@pytest.mark.parametrize("error", [KafkaTimeoutError(), KafkaConnectionError()], ids=["timed out", "connection lost"])
async def test_an_unknown_outcome_is_sent_again_until_it_is_confirmed(bench: Bench, error: Exception) -> None:
    publisher = await bench.start(once(error))
    await publisher.publish([record(b"a"), record(b"x"), record(b"b")])
    (producer,) = bench.producers
    assert producer.confirmed == [b"a", b"b", b"x"], "only what was not confirmed is sent again"


async def test_an_error_at_handing_over_is_tried_again_too(bench: Bench) -> None:
    publisher = await bench.start(at_send=once(KafkaTimeoutError()))
    await publisher.publish([record(b"x")])
    assert bench.producers[0].confirmed == [b"x"]


async def test_a_producer_the_broker_no_longer_knows_is_replaced_once_for_all_who_wait(bench: Bench) -> None:
    publisher = await bench.start(lambda _: OutOfOrderSequenceNumber())
    await asyncio.gather(*(publisher.publish([record(b"%d" % number)]) for number in range(5)))
    first, second = bench.producers
    assert first.stopped
    assert sorted(second.confirmed) == [b"0", b"1", b"2", b"3", b"4"]


async def test_a_replacement_that_can_not_connect_at_once_goes_on_trying(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher = await bench.start(once(OutOfOrderSequenceNumber()))
    connect, refusals = publisher._connect, [KafkaConnectionError(), OSError()]

    async def reluctant() -> Any:
        if refusals:
            raise refusals.pop()
        return await connect()

    monkeypatch.setattr(publisher, "_connect", reluctant)
    await publisher.publish([record(b"x")])
    assert bench.producers[1].confirmed == [b"x"]


async def test_a_record_that_is_too_large_is_refused_and_those_beside_it_go_out(bench: Bench) -> None:
    publisher = await bench.start(once(MessageSizeTooLargeError()))
    with pytest.raises(PublishRefused, match=f"1 bytes for {REQUESTS.name}"):
        await publisher.publish([record(b"a"), record(b"x"), record(b"b")])
    assert bench.producers[0].confirmed == [b"a", b"b"]


async def test_a_partition_that_is_gone_is_looked_up_again(bench: Bench) -> None:
    publisher = await bench.start(at_send=once(AssertionError("Unrecognized partition")))
    assert await publisher.partitions(REQUESTS.name) == 8
    bench.broker[REQUESTS.name] = 2
    await bench.producers[0].client.force_metadata_update()
    await publisher.publish([record(b"x", partition=7)])
    ((_, value, partition),) = bench.producers[0].sent
    assert value == b"x"
    assert partition in (0, 1)


async def test_equal_keys_are_placed_alike_and_as_aiokafka_would(bench: Bench) -> None:
    from aiokafka.partitioner import DefaultPartitioner

    publisher = await bench.start()
    await publisher.publish([record(b"a"), record(b"b")])
    placed = {partition for _, _, partition in bench.producers[0].sent}
    assert placed == {DefaultPartitioner()(b"k", list(range(8)), list(range(8)))}


async def test_a_topic_nobody_has_is_asked_for_twice_and_then_remembered_as_absent(bench: Bench) -> None:
    publisher = await bench.start()
    for _ in range(3):
        await publisher.publish([record(b"x", topic="search.replies.nobody")])
    assert [topic for topic, _, _ in bench.producers[0].sent] == [REPLIES.name] * 3
    assert bench.producers[0].client.listings == 2


async def test_a_topic_that_was_made_lately_is_found(bench: Bench) -> None:
    publisher = await bench.start()
    bench.broker["search.replies.new"] = 3
    await publisher.publish([record(b"x", topic="search.replies.new")])
    assert [topic for topic, _, _ in bench.producers[0].sent] == ["search.replies.new"]
    assert await publisher.partitions("search.replies.new") == 3


async def test_a_broker_that_can_not_be_asked_for_its_topics_is_waited_for(bench: Bench) -> None:
    publisher = await bench.start()
    client = bench.producers[0].client
    listed, troubles = client.fetch_all_metadata, [KafkaError("away"), KafkaError("away"), KafkaError("away")]

    async def troubled() -> Cluster:
        if troubles:
            raise troubles.pop()
        return await listed()

    client.fetch_all_metadata = troubled  # type: ignore[method-assign]
    bench.broker["search.replies.new"] = 3
    await publisher.publish([record(b"x", topic="search.replies.new")])
    assert [topic for topic, _, _ in bench.producers[0].sent] == ["search.replies.new"]


async def test_our_own_topics_are_waited_for_and_never_redirected(bench: Bench) -> None:
    del bench.broker[REQUESTS.name]
    publisher = await bench.start()
    publishing = asyncio.create_task(publisher.publish([record(b"x")]))
    for _ in range(50):
        await asyncio.sleep(0)
    assert not publishing.done()
    bench.broker[REQUESTS.name] = 8
    await asyncio.wait_for(publishing, 10)
    assert [topic for topic, _, _ in bench.producers[0].sent] == [REQUESTS.name]


async def test_after_a_stop_nothing_is_taken_any_more(bench: Bench) -> None:
    publisher = await bench.start()
    await publisher.stop()
    assert bench.producers[0].stopped
    with pytest.raises(ProducerClosed):
        await publisher.publish([record()])
    with pytest.raises(ProducerClosed):
        await publisher.partitions(REQUESTS.name)
    await publisher.publish([])
