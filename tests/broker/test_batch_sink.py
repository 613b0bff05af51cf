"""A batch is durable before it is committed; a disk that refuses delays, a record that breaks is put aside, nothing is lost."""

import asyncio
import collections
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from groundwire.schemas.dead_letter import DeadLetter
from groundwire.schemas.record import InboundRecord, RecordError
from groundwire.schemas.settings import Settings
from groundwire.schemas.topics import DEAD_LETTERS, TopicSpec
from groundwire.streams.runtime.sink import BatchSink, Refusal
from tests.broker.topic_ends import committed, count, eventually, new_role, new_topics, put, running, take

SettingsFor = Callable[[str], Settings]


class Store:
    """What a sink writes to: keeps batches, and does as told before it takes one."""

    def __init__(self) -> None:
        self.batches: list[list[bytes | None]] = []
        self.troubles: list[Exception] = []
        self.breaks_on: bytes | None = None
        self.refuses: bytes | None = None

    @property
    def rows(self) -> collections.Counter[bytes | None]:
        return collections.Counter(value for batch in self.batches for value in batch)

    async def write(self, records: Sequence[InboundRecord]) -> list[Refusal]:
        if self.troubles:
            raise self.troubles.pop(0)
        if any(record.value == self.breaks_on for record in records):
            raise ValueError("can't put that into a column")
        self.batches.append([record.value for record in records])
        return [(r, RecordError("poison", "not an event", "event_id")) for r in records if r.value == self.refuses]


@pytest.fixture
def settings(broker: str, settings_for: SettingsFor) -> Settings:
    return settings_for(broker)


def sink(settings: Settings, topic: TopicSpec, store: Store, role: str | None = None, **options: Any) -> BatchSink:
    options = {"linger_s": 0.05, "max_rows": 1_000, **options}
    return BatchSink(role or new_role(), settings, topic, store.write, **options)


async def stored(store: Store, rows: int) -> None:
    async def enough() -> bool:
        return store.rows.total() >= rows

    await eventually(enough)


async def test_records_are_stored_in_batches_and_committed(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    store = Store()
    one = sink(settings, topic, store, max_rows=40)
    async with running(one):
        await put(settings, topic.name, [b"%d" % n for n in range(100)])
        await stored(store, 100)
    assert store.rows == collections.Counter(b"%d" % n for n in range(100))
    assert max(len(batch) for batch in store.batches) <= 40
    assert len(store.batches) < 20, "in batches, not one by one"
    assert sum(await committed(settings, one.group, topic)) == 100


async def test_what_was_collected_is_written_when_told_to_stop(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    store = Store()
    one = sink(settings, topic, store, linger_s=60)
    async with running(one):
        await put(settings, topic.name, [b"a", b"b"])

        async def collected() -> bool:
            return len(one._batch) == 2

        await eventually(collected)
        assert store.batches == []
    assert store.rows == collections.Counter([b"a", b"b"])
    assert sum(await committed(settings, one.group, topic)) == 2


async def test_a_full_disk_is_waited_out_and_the_same_batch_goes_in(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    store = Store()
    store.troubles = [OSError(28, "No space left on device"), PermissionError("read-only")]
    async with running(sink(settings, topic, store)):
        await put(settings, topic.name, [b"a", b"b", b"c"])
        await stored(store, 3)
    assert store.rows == collections.Counter([b"a", b"b", b"c"])


async def test_a_stop_while_the_disk_is_full_commits_nothing_and_the_next_one_reads_it_again(
    settings: Settings,
) -> None:
    (topic,) = await new_topics(settings, 1)
    store, role = Store(), new_role()
    store.troubles = [OSError(28, "No space left on device")] * 1_000
    first = sink(settings, topic, store, role)
    async with running(first):
        await put(settings, topic.name, [b"a", b"b"])

        async def tried() -> bool:
            return len(store.troubles) < 1_000

        await eventually(tried)
    assert sum(await committed(settings, first.group, topic)) == 0
    store.troubles = []
    async with running(sink(settings, topic, store, role)):
        await stored(store, 2)
    assert store.rows == collections.Counter([b"a", b"b"])


async def letters(settings: Settings, topic: TopicSpec) -> list[DeadLetter]:
    there = await take(settings, DEAD_LETTERS.name, await count(settings, DEAD_LETTERS))
    return [letter for record in there if (letter := DeadLetter.decode(record.value)).topic == topic.name]


async def test_a_record_the_store_refuses_is_a_dead_letter_with_its_reason(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    store = Store()
    store.refuses = b"b"
    one = sink(settings, topic, store)
    async with running(one):
        await put(settings, topic.name, [b"a", b"b", b"c"])
        await stored(store, 3)
    (letter,) = await letters(settings, topic)
    assert (letter.reason, letter.message, letter.field, letter.stage) == (
        "poison",
        "not an event",
        "event_id",
        one.role,
    )
    assert sum(await committed(settings, one.group, topic)) == 3


async def test_a_record_that_breaks_its_batch_is_put_aside_and_the_others_go_in(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    store = Store()
    store.breaks_on = b"b"
    one = sink(settings, topic, store)
    async with running(one):
        await put(settings, topic.name, [b"a", b"b", b"c"])
        await stored(store, 2)
    assert store.rows == collections.Counter([b"a", b"c"])
    (letter,) = await letters(settings, topic)
    assert (letter.reason, letter.message) == ("crash", "ValueError: can't put that into a column")
    assert sum(await committed(settings, one.group, topic)) == 3


async def test_two_members_of_a_group_share_the_partitions(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    role, stores = new_role(), [Store(), Store()]
    async with running(sink(settings, topic, stores[0], role)):
        second = sink(settings, topic, stores[1], role)
        async with running(second):
            for round_ in range(40):
                await put(settings, topic.name, [b"%d-%d" % (round_, n) for n in range(8)])
                if stores[0].batches and stores[1].batches:
                    break
                await asyncio.sleep(0.2)
        total = 8 * (round_ + 1)

        async def all_committed() -> bool:
            return sum(await committed(settings, second.group, topic)) == total

        await eventually(all_committed)
    assert all(store.batches for store in stores)
    assert (stores[0].rows + stores[1].rows).keys() == {b"%d-%d" % (r, n) for r in range(round_ + 1) for n in range(8)}


async def test_a_store_that_knows_its_place_is_believed(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1, partitions=1)
    await put(settings, topic.name, [b"%d" % n for n in range(10)])
    role = new_role()
    first, second = Store(), Store()
    async with running(sink(settings, topic, first, role, positions=dict)):
        await stored(first, 10)
    # The group has committed 10, and the store has only 4 of them: its folder was put back from a backup.
    async with running(sink(settings, topic, second, role, positions=lambda: {0: 4})):
        await stored(second, 6)
    assert second.rows == collections.Counter(b"%d" % n for n in range(4, 10))


@pytest.mark.parametrize("positions", [{0: 3}, {0: 10_000}], ids=["inside the log", "beyond its end"])
async def test_a_place_in_an_earlier_log_means_nothing_in_this_one(
    positions: dict[int, int], settings: Settings
) -> None:
    """The embedded broker starts empty: where the group has committed nothing, the log is not the one the store knows."""
    (topic,) = await new_topics(settings, 1, partitions=1)
    await put(settings, topic.name, [b"%d" % n for n in range(10)])
    store = Store()
    async with running(sink(settings, topic, store, positions=lambda: positions)):
        await stored(store, 10)
    assert store.rows == collections.Counter(b"%d" % n for n in range(10))


async def test_every_node_reads_every_partition_under_a_group_of_its_own(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    role, stores = new_role(), [Store(), Store()]
    await put(settings, topic.name, [b"%d" % n for n in range(20)])
    nodes = [sink(settings, topic, stores[n], role, positions=dict, group_suffix=f".node{n}") for n in range(2)]
    async with running(nodes[0]), running(nodes[1]):
        await stored(stores[0], 20)
        await stored(stores[1], 20)
    assert stores[0].rows == stores[1].rows
    for node in nodes:
        assert sum(await committed(settings, node.group, topic)) == 20


async def test_chores_run_between_batches_and_one_that_fails_is_tried_again(settings: Settings) -> None:
    (topic,) = await new_topics(settings, 1)
    ran = 0

    async def chore() -> None:
        nonlocal ran
        ran += 1
        if ran == 1:
            raise RuntimeError("not now")

    store = Store()
    async with running(sink(settings, topic, store, positions=dict, chores=[(0.05, chore)])):

        async def twice() -> bool:
            return ran >= 2

        await eventually(twice)
        await put(settings, topic.name, [b"a"])
        await stored(store, 1)
