"""What may be committed: only the contiguous prefix of finished records, partition by partition.

Records are begun in the order of the log and finish in any order. Faust's own commit goes past a record that is still in
work when later ones are acked first (faust-streaming #606), which would lose it in a crash, so the offsets that are
committed come from here. Pure: knows neither Faust nor Kafka.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

Partition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Ticket:
    """One record in work. `generation` tells an assignment from an earlier one of the same partition."""

    partition: Partition
    offset: int
    generation: int


@dataclass(slots=True)
class _Progress:
    generation: int
    pending: deque[int] = field(default_factory=deque)  # begun, in the log's order; the first one is unfinished
    finished: set[int] = field(default_factory=set)  # finished behind an unfinished one
    next_offset: int | None = None  # everything before it is finished; None until something is
    last_begun: int = -1
    committed: int | None = None


class ContiguousAcks:
    """Tracks the records in work of every assigned partition.

    Offsets may have gaps (transaction markers, compaction, retention): only records that were begun are waited for.
    """

    def __init__(self) -> None:
        self._progress: dict[Partition, _Progress] = {}
        self._generation = 0

    def assign(self, partitions: Iterable[Partition]) -> None:
        """Start afresh with these partitions: what an earlier assignment had in work no longer counts."""
        self._generation += 1
        for partition in partitions:
            self._progress[partition] = _Progress(self._generation)

    def revoke(self, partitions: Iterable[Partition]) -> None:
        """Forget these partitions: records of theirs that finish later are ignored."""
        for partition in partitions:
            self._progress.pop(partition, None)

    def begin(self, partition: Partition, offset: int) -> Ticket | None:
        """A record goes into work. None: it must not, because the partition is not ours or the record was begun already."""
        progress = self._progress.get(partition)
        if progress is None or offset <= progress.last_begun:
            return None
        progress.last_begun = offset
        progress.pending.append(offset)
        return Ticket(partition, offset, progress.generation)

    def begin_next(self, partition: Partition, offset: int) -> Ticket | None:
        """A record goes into work before it was read back from the log. None: it must not, because it is not surely the next
        one of its partition; then it is begun when it is read."""
        progress = self._progress.get(partition)
        if progress is None or progress.last_begun < 0 or offset != progress.last_begun + 1:
            return None
        return self.begin(partition, offset)

    def done(self, ticket: Ticket) -> bool:
        """A record is finished. True: it counts. False: it belongs to an assignment that is over, or was done before."""
        progress = self._progress.get(ticket.partition)
        if progress is None or progress.generation != ticket.generation:
            return False
        pending, finished, offset = progress.pending, progress.finished, ticket.offset
        if not pending or offset < pending[0] or offset in finished:
            return False
        if offset != pending[0]:
            finished.add(offset)
            return True
        pending.popleft()
        while pending and pending[0] in finished:
            finished.discard(pending.popleft())
        progress.next_offset = pending[0] if pending else progress.last_begun + 1
        return True

    def committable(self) -> dict[Partition, int]:
        """Next offset to read, for every partition where it moved since `committed` last heard of it."""
        return {
            partition: progress.next_offset
            for partition, progress in self._progress.items()
            if progress.next_offset is not None and progress.next_offset != progress.committed
        }

    def committed(self, offsets: dict[Partition, int]) -> None:
        """The broker has these offsets now."""
        for partition, offset in offsets.items():
            progress = self._progress.get(partition)
            if progress is not None:
                progress.committed = offset

    def in_work(self, partitions: Iterable[Partition] | None = None) -> int:
        """How many records are begun and not finished, in these partitions or in all."""
        chosen = self._progress if partitions is None else partitions
        return sum(
            len(progress.pending) - len(progress.finished)
            for partition in chosen
            if (progress := self._progress.get(partition)) is not None
        )
