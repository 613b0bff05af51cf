"""What a handler publishes to a topic of its own app is begun when it is confirmed, once, and only when it is surely next."""

import asyncio
from collections.abc import Sequence

from groundwire.schemas.record import InboundRecord, OutboundRecord
from groundwire.schemas.settings import Settings
from groundwire.streams.runtime.app import PipelineApp
from groundwire.streams.runtime.publisher import Confirmed, Publisher

FIRST, SECOND = ("first", 0), ("second", 0)


class Log(Publisher):
    """Confirms everything, at the next offset of one partition a topic."""

    def __init__(self, ends: dict[str, int]) -> None:
        self.ends = ends

    async def publish(self, records: Sequence[OutboundRecord]) -> list[Confirmed]:
        confirmed = []
        for record in records:
            at = self.ends.get(record.topic, 0)
            self.ends[record.topic] = at + 1
            confirmed.append(Confirmed(record, record.topic, 0, at))
        return confirmed


class Chain:
    """An app of two agents whose reading side is played by the test."""

    def __init__(self, *, ends: dict[str, int], window: int = 8, flows: bool = True) -> None:
        self.app = PipelineApp("chain", Settings())
        self.app._publisher = Log(ends)
        self.app._flows = lambda: flows
        self.seen: list[InboundRecord] = []
        self.app.add_agent("first", self._on, window)
        self.app.add_agent("second", self._note, window)
        self.app._acks.assign([FIRST, SECOND])

    async def _on(self, record: InboundRecord) -> Sequence[OutboundRecord]:
        return [OutboundRecord("second", record.key, record.value or b"", (("h", b"1"),))]

    async def _note(self, record: InboundRecord) -> Sequence[OutboundRecord]:
        self.seen.append(record)
        return []

    def begun(self, offset: int) -> None:
        """The second topic was read up to here before."""
        ticket = self.app._acks.begin(SECOND, offset)
        assert ticket is not None
        self.app._acks.done(ticket)

    async def one(self) -> None:
        ticket = self.app._acks.begin(FIRST, 0)
        assert ticket is not None
        record = InboundRecord("first", 0, 0, b"k", b"v", (), 1)
        self.app._begin(self.app._agents["first"], ticket, record)
        while self.app._running:
            await asyncio.gather(*self.app._running.values())
            await asyncio.sleep(0)


async def test_the_next_record_is_begun_at_once_and_its_copy_is_passed_over() -> None:
    chain = Chain(ends={"second": 5})
    chain.begun(4)
    await chain.one()
    (record,) = chain.seen
    assert (record.topic, record.partition, record.offset) == ("second", 0, 5)
    assert (record.key, record.value, record.headers) == (b"k", b"v", (("h", b"1"),))
    assert chain.app._acks.begin(SECOND, 5) is None, "the copy from the log"
    assert chain.app._acks.committable() == {FIRST: 1, SECOND: 6}


async def test_nothing_is_begun_past_a_record_that_was_not_read_yet() -> None:
    chain = Chain(ends={"second": 6})
    chain.begun(4)  # 5 is another worker's, and on its way
    await chain.one()
    assert chain.seen == []
    assert chain.app._acks.begin(SECOND, 5) is not None
    assert chain.app._acks.begin(SECOND, 6) is not None


async def test_nothing_is_begun_before_the_first_record_was_read_nor_while_partitions_move() -> None:
    fresh = Chain(ends={"second": 0})
    await fresh.one()
    assert fresh.seen == []
    halted = Chain(ends={"second": 5}, flows=False)
    halted.begun(4)
    await halted.one()
    assert halted.seen == []
    assert halted.app._acks.begin(SECOND, 5) is not None


async def test_a_full_window_is_not_overrun() -> None:
    chain = Chain(ends={"second": 5}, window=1)
    chain.begun(4)
    window = chain.app._agents["second"].window
    await window.acquire()
    await chain.one()
    assert chain.seen == []
    window.release()
    assert chain.app._acks.begin(SECOND, 5) is not None
