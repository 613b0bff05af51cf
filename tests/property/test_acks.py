"""The tracker's promise, for any order of completion, revoke and re-assign."""

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from groundwire.streams.runtime.acks import ContiguousAcks, Partition, Ticket

PARTITIONS: list[Partition] = [("t", 0), ("t", 1), ("u", 0)]


class Log:
    """The model of one partition: its records (with gaps), what is finished for good, and where the group goes on."""

    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.handled: set[int] = set()
        self.committed = 0
        self.read_up_to = 0  # of the present assignment

    def append(self, gap: int) -> None:
        self.offsets.append((self.offsets[-1] + 1 if self.offsets else 0) + gap)

    def next_to_read(self) -> int | None:
        return next((offset for offset in self.offsets if offset >= self.read_up_to), None)


class AcksMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.acks = ContiguousAcks()
        self.logs = {partition: Log() for partition in PARTITIONS}
        self.assigned: set[Partition] = set()
        self.open: list[Ticket] = []

    @initialize()
    def everything_is_assigned(self) -> None:
        self.partitions_are_assigned(set(PARTITIONS))

    @rule(partition=st.sampled_from(PARTITIONS), gaps=st.lists(st.integers(0, 3), min_size=1, max_size=5))
    def records_are_written(self, partition: Partition, gaps: list[int]) -> None:
        for gap in gaps:
            self.logs[partition].append(gap)

    @rule(partitions=st.sets(st.sampled_from(PARTITIONS)))
    def partitions_are_assigned(self, partitions: set[Partition]) -> None:
        self.acks.revoke(self.assigned)
        self.acks.assign(partitions)
        self.assigned = set(partitions)
        for partition in partitions:
            self.logs[partition].read_up_to = self.logs[partition].committed

    @rule(partition=st.sampled_from(PARTITIONS), count=st.integers(1, 5))
    def the_next_records_are_begun(self, partition: Partition, count: int) -> None:
        log = self.logs[partition]
        for _ in range(count):
            offset = log.next_to_read()
            if offset is None:
                return
            ticket = self.acks.begin(partition, offset)
            assert (ticket is not None) == (partition in self.assigned)
            if ticket is not None:
                log.read_up_to = offset + 1
                self.open.append(ticket)

    @rule(partition=st.sampled_from(PARTITIONS), back=st.integers(1, 4))
    def a_record_that_was_begun_is_not_begun_twice(self, partition: Partition, back: int) -> None:
        log = self.logs[partition]
        begun = [ticket.offset for ticket in self.open if ticket.partition == partition]
        if partition in self.assigned and begun and log.read_up_to > log.committed:
            assert self.acks.begin(partition, max(0, log.read_up_to - back)) is None

    @rule(partition=st.sampled_from(PARTITIONS), gap=st.integers(0, 3))
    def a_record_is_written_and_begun_before_it_is_read(self, partition: Partition, gap: int) -> None:
        log = self.logs[partition]
        caught_up = log.next_to_read() is None and log.read_up_to > log.committed and gap == 0
        log.append(gap)
        ticket = self.acks.begin_next(partition, log.offsets[-1])
        if ticket is not None:
            assert log.offsets[:-1] == [] or log.read_up_to > log.offsets[-2], "everything before it was begun"
            log.read_up_to = log.offsets[-1] + 1
            self.open.append(ticket)
        else:
            assert not (caught_up and partition in self.assigned and log.read_up_to == log.offsets[-1])

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def any_open_record_finishes(self, data: st.DataObject) -> None:
        ticket = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        self.logs[ticket.partition].handled.add(ticket.offset)
        self.acks.done(ticket)
        assert not self.acks.done(ticket), "a record counts once"

    @rule()
    def offsets_are_committed(self) -> None:
        offsets = self.acks.committable()
        assert set(offsets) <= self.assigned
        for partition, offset in offsets.items():
            assert offset > self.logs[partition].committed or offset == self.logs[partition].committed
            self.logs[partition].committed = offset
        self.acks.committed(offsets)
        assert self.acks.committable() == {}

    @invariant()
    def the_committed_offset_never_passes_an_unfinished_record(self) -> None:
        for partition, offset in self.acks.committable().items():
            log = self.logs[partition]
            unfinished = [record for record in log.offsets if record < offset and record not in log.handled]
            assert not unfinished, f"{partition} would commit {offset} past {unfinished}"

    @invariant()
    def the_count_of_records_in_work_is_right(self) -> None:
        for partition in PARTITIONS:
            assert self.acks.in_work([partition]) >= 0

    def teardown(self) -> None:
        """When everything is read and finishes, in whatever order, the committed offset reaches the end."""
        self.partitions_are_assigned(set(PARTITIONS))
        mine: list[Ticket] = []
        for partition, log in self.logs.items():
            while (offset := log.next_to_read()) is not None:
                ticket = self.acks.begin(partition, offset)
                assert ticket is not None
                log.read_up_to = offset + 1
                mine.append(ticket)
        for ticket in self.open:
            assert not self.acks.done(ticket), "a completion of an assignment that is over must not count"
        for ticket in reversed(mine):
            assert self.acks.done(ticket)
        self.offsets_are_committed()
        for log in self.logs.values():
            assert log.committed >= (log.offsets[-1] + 1 if log.offsets else 0)
        assert self.acks.in_work() == 0


AcksMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestAcks = AcksMachine.TestCase


@given(gaps=st.lists(st.integers(0, 2), min_size=1, max_size=12), data=st.data())
def test_only_the_contiguous_prefix_is_committable_in_any_order_of_completion(
    gaps: list[int], data: st.DataObject
) -> None:
    acks = ContiguousAcks()
    acks.assign([("t", 0)])
    offsets = [sum(gaps[: index + 1]) + index for index in range(len(gaps))]
    tickets = [acks.begin(("t", 0), offset) for offset in offsets]
    unfinished = set(offsets)
    for ticket in data.draw(st.permutations(tickets)):
        assert ticket is not None
        assert acks.done(ticket)
        unfinished.discard(ticket.offset)
        expected = min(unfinished) if unfinished else offsets[-1] + 1
        assert acks.committable().get(("t", 0), offsets[0]) == expected
    assert acks.in_work() == 0
